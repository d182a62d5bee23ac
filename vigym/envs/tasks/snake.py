"""Forward crawling of a snake that slips along its links more easily than across."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack
from vigym.envs.options import (
    MOST_LINKS,
    require,
    require_bool,
    require_positive,
    require_whole,
)
from vigym.envs.task import Array, Quantities, Start, Task
from vigym.envs.tasks.snake_common import (
    load_snake,
    snake_quantities,
    straight_start,
)
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.read.xml import parse_xml

LENGTH = 0.1  # of a link [m]
MASS = 0.15  # of a link [kg]
HALF_HEIGHT = 0.015  # of a link [m]
GRAVITY = 9.81  # [m/s^2]
ACTION_SCALE = 1.0  # target angle of an action of 1 [rad]
DRIVES = ("position", "torque")  # values of the option `drive`
MAX_SPEED, MAX_TURNING = 5.0, 30.0  # bounds of observations [m/s, rad/s]
MAX_ANGLE, MAX_RATE = 1.6, 60.0  # bounds of observed joint coordinates [rad, rad/s]


@dataclass(frozen=True, kw_only=True)
class Snake(Task):
    """Forward crawling of a snake that slips along its links more easily than across.

    ## Description

    A chain of flat links of 0.1 m lies on level ground, joined by vertical hinges with a motor
    each. Friction resists slip across the links more than slip along them, as scales or passive
    wheels do; this asymmetry propels a snake that bends in waves. With equal friction in both
    directions it hardly advances. With `skates` the middle of each link cannot slip sideways at
    all, as on a blade; the whole snake keeps two degrees of freedom in the plane, so its motors
    must be coordinated, and waves of prescribed angles jam: 0.1 m/s. With angles that follow the
    head (`vigym.control.skating`) it travels at the 0.59 m/s given by kinematics, after the start.

    The task is to travel along the world's x axis, fast and with little power. Waves of 0.6 rad
    that run from the head to the tail once a second (`examples/snake_gait.py`) propel the default
    snake at 0.5 m/s.

    ## Notes

    A link is a solid box of 0.1 m x 0.05 m x 0.03 m with the density of water, 0.15 kg. It touches
    the ground at two points half-way along, at its left and right edge. Joint limits are +-pi/2.
    With `self_collision` links that no joint connects touch each other, by a capsule of their
    length and width; else they pass through each other.

    `info` has `x_position` and `y_position` of the centre of mass [m], its velocities `x_velocity`
    and `y_velocity` [m/s], `travelled` and `speed`, those along the x axis [m, m/s], `heading`, the
    mean direction of the links from the x axis [rad], `turning`, their mean rate [rad/s], all at
    the end of the control step, `power` of the motors, mean over the step [W], and
    `cost_of_transport`, power over weight and speed. Observations are clipped to their bounds,
    `info` is not.

    ## Action Space

    For the default nine links. The motors are servos: torque = 3 N m/rad (target - angle) - 0.12
    N m s/rad rate, at most the effort. With `drive="torque"` actions are the torques, scaled by the
    effort.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-7 | motor targets in rad; effort of 0.5 N m | -1 | 1 | joint1 to joint8 | angle (rad) |

    ## Observation Space

    For the default nine links.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | cosine and sine of the heading | -1 | 1 | | ratio |
    | 2-3 | velocity of the centre of mass along x and y | -5 | 5 | | velocity (m/s) |
    | 4 | mean rate of the links | -30 | 30 | | rate (rad/s) |
    | 5-12 | joint angles | -1.6 | 1.6 | joint1 to joint8 | angle (rad) |
    | 13-20 | joint rates | -60 | 60 | joint1 to joint8 | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_power, both in `info`:

    - reward_forward: `forward_weight` times the speed along the x axis [m/s];
    - reward_power: minus `power_weight` times the mean power of the motors over the step [W].

    ## Starting State

    Straight along the x axis on the ground, at rest; the direction of the head [rad], joint angles
    [rad] and joint rates [rad/s] are uniform within +- `reset_noise_scale` of that.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `links` | int | 9 | number of links, at least 2 |
    | `friction_along` | float | 0.04 | coefficient along the links |
    | `friction_across` | float | 0.4 | coefficient across the links |
    | `skates` | bool | False | whether links cannot slip sideways |
    | `self_collision` | bool | False | whether links touch each other; several times slower |
    | `drive` | str | "position" | meaning of actions: "position" (targets) or "torque" |
    | `forward_weight` | float | 1.0 | weight of the speed |
    | `power_weight` | float | 0.02 | weight of the power |
    """

    grounded: ClassVar[bool] = True

    links: int = 9
    friction_along: float = 0.04
    friction_across: float = 0.4
    skates: bool = False
    self_collision: bool = False
    drive: str = "position"
    frame_skip: int = 4
    forward_weight: float = 1.0
    power_weight: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("links", self.links, 2, MOST_LINKS)
        require(self.drive in DRIVES, "drive", self.drive, f"one of {DRIVES}")
        for name in ("skates", "self_collision"):
            require_bool(name, getattr(self, name))
        for name in ("friction_along", "friction_across"):
            require_positive(name, getattr(self, name), "a coefficient")

    def mechanism(self) -> Mechanism:
        """Return the straight snake of `assets/snake`, or `assets/snake_touching`."""
        name = "snake_touching" if self.self_collision else "snake"
        robot = parse_xml(assets.path(name), "robot")
        along = self.friction_along
        friction = along, along if self.skates else self.friction_across  # a skate holds alone
        mechanism = load_snake(robot, self.links, friction, self.self_collision)
        for link in range(1, self.links + 1) if self.skates else ():
            place = (0.0, 0.0, -HALF_HEIGHT)
            mechanism.add_skate(f"skate{link}", f"link{link}", place, (0.0, 1.0, 0.0))
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the straight snake with noise."""
        return straight_start("link1:floating", self.links - 1, self.reset_noise_scale, rng)

    def targets(self, action: Array) -> Array | None:
        """Return target angles (..., links - 1) [rad], or None where actions are torques."""
        return ACTION_SCALE * action if self.drive == "position" else None

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return direction, velocity and joint coordinates."""
        joints = list(mechanism.joints)
        heading = {"cos(heading)": 1.0, "sin(heading)": 1.0}
        velocity = {"x_velocity": MAX_SPEED, "y_velocity": MAX_SPEED, "turning": MAX_TURNING}
        rates = {f"velocity({joint})": MAX_RATE for joint in joints}
        return heading | velocity | dict.fromkeys(joints, MAX_ANGLE) | rates

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position, velocity, direction and power of the snake."""
        return snake_quantities(sim, GRAVITY * MASS * self.links)

    def observe(self, quantities: Quantities) -> Array:
        """Return direction, velocity and joint coordinates (..., 5 + 2 (links - 1))."""
        heading = quantities["heading"]
        velocity = (quantities[name] for name in ("x_velocity", "y_velocity", "turning"))
        motion = stack(np.cos(heading), np.sin(heading), *velocity)
        angles = quantities["joint_positions"][..., 7:]
        rates = quantities["joint_velocities"][..., 6:]
        return np.concatenate((motion, angles, rates), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and power."""
        return {"forward": quantities["speed"], "power": -quantities["power"]}
