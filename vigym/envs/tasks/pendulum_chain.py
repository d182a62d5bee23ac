"""Raising of the tip of a hanging chain of rods with a motor in every joint."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vigym import assets
from vigym.envs.options import MOST_LINKS
from vigym.envs.random_start import RandomStart
from vigym.envs.robots.chains import repeat_links, scale_chain
from vigym.envs.robots.joint_observation import JointObservation, joint_observation
from vigym.envs.task import Array, Quantities, Start, Task, require, require_whole
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_element
from vigym.urdf.read.xml import parse_xml

LENGTH, MASS = 1.0, 1.0  # of the whole chain, shared by its rods [m, kg]
GRAVITY = 9.81  # [m/s^2]
STRENGTH = 1.5  # effort over the torque that holds the chain below a joint horizontal
DAMPING = 0.1  # of a joint over its effort, which limits its rate to 10 rad/s [s/rad]
MAX_RATE = 60.0  # bound of the observed rates [rad/s]
JOINTS = ("revolute", "spherical")  # values of the option `joint`


@dataclass(frozen=True, kw_only=True)
class PendulumChain(Task):
    """Raising of the tip of a hanging chain of rods with a motor in every joint.

    ## Description

    Equal rods hang on each other, 1 m and 1 kg in total whatever their number. Every joint has a
    motor strong enough to hold the chain below it horizontal. With `joint="spherical"` the rods
    move in space and every joint has three motors, about the axes of the rod it carries.

    ## Notes

    `info` has `tip_height` above the hanging point [m] and all joint coordinates.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    For the default three rods with hinges; spherical joints have three actions each.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-2 | motors, scaled by the joints' efforts | -1 | 1 | joint1 to joint3 | torque (N m) |

    ## Observation Space

    For the default three rods with hinges; a spherical joint has a quaternion in place of cosine
    and sine, and three rates.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-2 | cosines of the joint angles | -1 | 1 | joint1 to joint3 | ratio |
    | 3-5 | sines of the joint angles | -1 | 1 | joint1 to joint3 | ratio |
    | 6-8 | joint rates | -60 | 60 | joint1 to joint3 | rate (rad/s) |
    | 9 | height of the tip above the hanging point | -1 | 1 | | distance (m) |

    ## Rewards

    reward = reward_height + reward_control, both in `info`:

    - reward_height: `height_weight` times the height of the tip, 0 hanging to 1 straight up;
    - reward_control: minus `control_weight` times the mean squared action.

    ## Starting State

    Hanging; angles [rad] and rates [rad/s] are uniform within +- `reset_noise_scale` of it, for
    spherical joints the components of the rotation vector.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `links` | int | 3 | number of rods |
    | `joint` | str | "revolute" | "revolute" or "spherical" |
    | `height_weight` | float | 1.0 | weight of the height |
    | `control_weight` | float | 0.05 | weight of the mean squared action |
    """

    links: int = 3
    joint: str = "revolute"
    frame_skip: int = 4
    height_weight: float = 1.0
    control_weight: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("links", self.links, 1, MOST_LINKS)
        require(self.joint in JOINTS, "joint", self.joint, f"one of {JOINTS}")

    def mechanism(self) -> Mechanism:
        """Return the hanging chain of `assets/pendulum_chain`, with other rods of the same sum."""
        file = parse_xml(assets.path("pendulum_chain"), "robot")
        robot = file.element
        rods = len(robot.findall("joint"))
        last = robot.findall("link")[-1]
        tip = last.findall("visual")[-1]
        last.remove(tip)
        repeat_links(robot, self.links)
        robot.findall("link")[-1].append(tip)
        scale_chain(robot, rods / self.links)
        length, mass = LENGTH / self.links, MASS / self.links
        for above, joint in enumerate(file.children("joint")):
            hanging = self.links - above  # rods from this one down
            effort = STRENGTH * GRAVITY * (hanging * mass) * (hanging * length) / 2.0
            joint.element.set("type", self.joint)
            joint.need("limit").element.set("effort", repr(float(effort)))
            joint.need("dynamics").element.set("damping", repr(float(DAMPING * effort)))
        return load_element(file)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the hanging chain with noise."""
        return self._start(rng, self.reset_noise_scale)

    @cached_property
    def _start(self) -> RandomStart:
        return RandomStart(self.built)

    @cached_property
    def _joints(self) -> JointObservation:
        return joint_observation(self.built, distance=LENGTH, velocity=MAX_RATE)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return all joint coordinates and the tip's height."""
        return self._joints.bounds | {"tip_height": LENGTH}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the tip's height."""
        last = f"link{self.links}"
        centre, orientation = sim.body_position(last), sim.body_orientation(last)
        # The rod hangs along its z axis, whose vertical component is 1 - 2 (x^2 + y^2).
        x, y = orientation[..., 1], orientation[..., 2]
        up = 1.0 - 2.0 * (x * x + y * y)
        return {"tip_height": centre[..., 2] - 0.5 * (LENGTH / self.links) * up}

    def observe(self, quantities: Quantities) -> Array:
        """Return joint coordinates and the tip's height (..., n_observations)."""
        return np.concatenate(
            (self._joints(quantities), quantities["tip_height"][..., None]), axis=-1
        )

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of the tip's height and of control."""
        return {
            "height": 0.5 + quantities["tip_height"] / (2.0 * LENGTH),
            "control": -(action * action).sum(axis=-1) / action.shape[-1],
        }
