"""Common parts of the snakes: state quantities, initial states, files."""

import math
from dataclasses import replace

import numpy as np

from vigym.envs.arrays import cost_of_transport, unstack
from vigym.envs.robots.chains import repeat_links
from vigym.envs.task import Array, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_element
from vigym.urdf.read.xml import Node

MIN_SPEED = 0.01  # lower bound of the speed in the cost of transport [m/s]


def snake_quantities(sim: Simulator, weight: float, way: float = 0.0) -> Quantities:
    """Return position, velocity, direction and power of a chain of equal links.

    Args:
        sim: the simulator; all bodies are links, their x axes point to the head.
        weight: of the snake as built [N].
        way: direction of travel, from the world's x axis [rad].

    Returns:
        x_position, y_position: of the centre of mass [m].
        x_velocity, y_velocity: of the centre of mass, world axes [m/s].
        travelled: distance along the way [m].
        speed: rate of `travelled` [m/s].
        heading: mean direction of the links' axes, from the way anticlockwise, in (-pi, pi] [rad].
        turning: mean rate of the links about their vertical axes [rad/s].
        power: sum of |torque x rate| of the motors, mean over the last call of `step` [W].
        cost_of_transport: power over weight, with the factors of `randomization`, and |speed|.
    """
    states = sim.body_states
    mean = unstack(states.sum(axis=-2) / states.shape[-2])
    x, y = mean[0], mean[1]
    x_velocity, y_velocity = mean[7], mean[8]
    orientations = states[..., 3:7]
    w, squares = orientations[..., 0], orientations * orientations
    # x axes of the links, summed: components along the world's x and y axes
    axis_x = (1.0 - 2.0 * (squares[..., 2] + squares[..., 3])).sum(axis=-1)
    axis_y = (2.0 * (orientations[..., 1] * orientations[..., 2] + w * orientations[..., 3])).sum(
        axis=-1
    )
    cosine, sine = math.cos(way), math.sin(way)
    speed = cosine * x_velocity + sine * y_velocity
    power = sim.readings.power
    weight = weight * sim.parameters.weight_factor
    return {
        "x_position": x,
        "y_position": y,
        "x_velocity": x_velocity,
        "y_velocity": y_velocity,
        "travelled": cosine * x + sine * y,
        "speed": speed,
        "heading": np.arctan2(cosine * axis_y - sine * axis_x, cosine * axis_x + sine * axis_y),
        "turning": mean[12],
        "power": power,
        "cost_of_transport": cost_of_transport(power, weight, speed, MIN_SPEED),
    }


def straight_start(
    name: str, joints: int, scale: float, rng: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return joint positions and velocities of a straight snake at the origin, with noise.

    Args:
        name: of the joint that carries the head.
        joints: number of the others, joint1, joint2, ...
        scale: half width of the noise of direction and angles [rad] and of joint rates [rad/s].
        rng: random stream.
    """
    noise = rng.uniform(-scale, scale, (2, joints))
    half = 0.5 * rng.uniform(-scale, scale)
    pose = np.array([0.0, 0.0, 0.0, np.cos(half), 0.0, 0.0, np.sin(half)])
    angles, rates = ({f"joint{k + 1}": row[k] for k in range(joints)} for row in noise)
    return {name: pose} | angles, rates


def load_snake(
    robot: Node, links: int, friction: tuple[float, float], self_collision: bool
) -> Mechanism:
    """Return a snake on the ground.

    Args:
        robot: element of its file.
        links: number of links.
        friction: coefficients along and across the links.
        self_collision: whether links that no joint connects touch each other.
    """
    repeat_links(robot.element, links)
    mechanism = load_element(robot, ground=True, self_collision=self_collision)
    along, across = friction
    collisions = {
        name: replace(collision, friction=np.array((along, across, along)))
        for name, collision in mechanism.collisions.items()
    }
    return mechanism.with_replaced_elements(collisions=collisions)
