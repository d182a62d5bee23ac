"""What is said of a snake on the ground: where it is, how fast it goes and which way it points."""

import math

import numpy as np

from vigym.envs.arrays import cost_of_transport, parts
from vigym.envs.task import Array, Quantities, require
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

SLOWEST = 0.01  # a speed that is less than this counts as this in the cost of transport [m/s]


def crawl(sim: Simulator, weight: float, way: float = 0.0) -> Quantities:
    """Return position, velocity and direction of a chain of equal links.

    Args:
        sim: the simulator; all bodies are links, their x axes point to the head.
        weight: of the snake [N].
        way: direction of travel, from the world's x axis [rad].

    Returns:
        x_position, y_position: of the centre of mass [m]; x_velocity, y_velocity: its velocity [m/s], world's axes;
        travelled: along the way [m] and speed, its rate [m/s];
        heading: mean direction of the links' axes, from the way anticlockwise, in (-pi, pi] [rad];
        turning: mean rate of the links about their vertical axes [rad/s];
        power: sum of |torque x rate| of the motors, its mean over the last call of `step` [W], and cost_of_transport,
        it over weight and |speed|.
    """
    states = sim.body_states
    mean = parts(states.sum(axis=-2) / states.shape[-2])
    x, y, x_velocity, y_velocity = mean[0], mean[1], mean[7], mean[8]
    turns = states[..., 3:7]
    w, squares = turns[..., 0], turns * turns
    ahead = (1.0 - 2.0 * (squares[..., 2] + squares[..., 3])).sum(axis=-1)
    left = (2.0 * (turns[..., 1] * turns[..., 2] + w * turns[..., 3])).sum(axis=-1)
    cosine, sine = math.cos(way), math.sin(way)
    speed = cosine * x_velocity + sine * y_velocity
    power = sim.power
    return {
        "x_position": x,
        "y_position": y,
        "x_velocity": x_velocity,
        "y_velocity": y_velocity,
        "travelled": cosine * x + sine * y,
        "speed": speed,
        "heading": np.arctan2(cosine * left - sine * ahead, cosine * ahead + sine * left),
        "turning": mean[12],
        "power": power,
        "cost_of_transport": cost_of_transport(power, weight, speed, SLOWEST),
    }


def lying(name: str, joints: int, scale: float, rng: np.random.Generator) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return a start at the origin: a head that is turned and joints that are bent by noise.

    Args:
        name: of the joint that carries the head.
        joints: number of the others, joint1, joint2, ...
        scale: half width of the noise of direction and angles [rad] and of the joints' rates [rad/s].
        rng: source of it.
    """
    noise = rng.uniform(-scale, scale, (2, joints))
    half = 0.5 * rng.uniform(-scale, scale)
    pose = np.array([0.0, 0.0, 0.0, np.cos(half), 0.0, 0.0, np.sin(half)])
    angles, rates = ({f"joint{k + 1}": row[k] for k in range(joints)} for row in noise)
    return {name: pose} | angles, rates


def pair_links(mechanism: Mechanism) -> None:
    """Let all links of a chain touch each other that no joint holds together."""
    links = list(mechanism.bodies)
    for i, link in enumerate(links):
        for other in links[i + 2 :]:
            mechanism.add_pair(link, other)


def require_links(links: object) -> None:
    """Raise ValueError unless the option `links` is a whole number that leaves a joint."""
    whole = isinstance(links, int) and not isinstance(links, bool)
    require(whole and links >= 2, "links", links, "a whole number >= 2")  # type: ignore[operator]
