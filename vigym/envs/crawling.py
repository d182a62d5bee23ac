"""What is said of a snake on the ground: where it is, how fast it goes and which way it points."""

import numpy as np

from vigym.envs.expressions import cost_of_transport
from vigym.envs.task import Array, Quantities, require
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.simulator import Simulator

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
        power: sum of |torque x rate| of the motors [W] and cost_of_transport, it over weight and |speed|.
    """
    states = sim.body_states
    links = states.shape[-2]
    centre, velocity = states[..., 0:3].sum(axis=-2) / links, states[..., 7:10].sum(axis=-2) / links
    w, x, y, z = (states[..., k] for k in range(3, 7))
    ahead = (1.0 - 2.0 * (y * y + z * z)).sum(axis=-1)
    left = (2.0 * (x * y + w * z)).sum(axis=-1)
    cosine, sine = np.cos(way), np.sin(way)
    travelled = cosine * centre[..., 0] + sine * centre[..., 1]
    speed = cosine * velocity[..., 0] + sine * velocity[..., 1]
    power = np.asarray(sim.metrics()["power_mech"])
    return {
        "x_position": centre[..., 0],
        "y_position": centre[..., 1],
        "x_velocity": velocity[..., 0],
        "y_velocity": velocity[..., 1],
        "travelled": travelled,
        "speed": speed,
        "heading": np.arctan2(cosine * left - sine * ahead, cosine * ahead + sine * left),
        "turning": states[..., 12].sum(axis=-1) / links,
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
