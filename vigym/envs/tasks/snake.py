"""Crawl forwards with a snake that slips along its links more easily than across."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import columns
from vigym.envs.task import Array, Quantities, Start, Task, require, require_positive
from vigym.envs.tasks.crawling import crawl, lying, pair_links, require_links
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

LENGTH, WIDTH, HEIGHT = 0.1, 0.05, 0.03  # of a link [m]
DENSITY = 1000.0  # of a link, a solid box; that of water, as snakes have it [kg/m^3]
MASS = DENSITY * LENGTH * WIDTH * HEIGHT  # of a link [kg]
GRAVITY = 9.81  # [m/s^2]
EFFORT = 0.5  # of a joint, as of a small servo [N m]
STIFFNESS, DAMPING = 3.0, 0.12  # of its motor [N m/rad, N m s/rad]
ARMATURE = 1e-3  # the motor's rotor seen through its gears [kg m^2]
REACH = 1.0  # angle that an action of 1 asks for [rad]
LIMIT = np.pi / 2.0  # of a joint [rad]
DRIVES = ("position", "torque")  # what actions may be
QUICK, WHIRL, BENT, FAST = 5.0, 30.0, 1.6, 60.0  # bounds of observed velocity [m/s], rates [rad/s], angles [rad], rates
COLOURS = ((0.16, 0.44, 0.76, 1.0), (0.12, 0.62, 0.58, 1.0))  # of the links, in turn
HEAD, HINGE = (0.95, 0.55, 0.15, 1.0), (0.35, 0.38, 0.42, 1.0)
LYING = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # turns the axis of a capsule across the link
CLEAR = 2e-3  # what touches other links is so high above the ground [m]
FLANK = Capsule(
    radius=WIDTH / 2.0,
    length=LENGTH - WIDTH,
    position=(0.0, 0.0, (WIDTH - HEIGHT) / 2.0 + CLEAR),
    orientation=(0.5**0.5, 0.0, 0.5**0.5, 0.0),
)


@dataclass(frozen=True, kw_only=True)
class Snake(Task):
    """Crawl forwards with a snake that slips along its links more easily than across.

    ## Description

    A chain of flat links of 0.1 m lies on level ground, joined by upright hinges with a motor each. Friction resists
    slip across the links more than slip along them, as scales or passive wheels do; that is what a snake pushes itself
    off with when it bends in waves. With equal friction in both directions it hardly gets anywhere. With `skates` the
    middle of each link cannot slip sideways at all, as if it stood on a blade; two freedoms in the plane are left to
    the whole snake, so that its motors have to agree where it goes, and waves of prescribed angles jam: 0.1 m/s. With
    angles that follow the head (`vigym.control.skating`) it goes at the 0.59 m/s that kinematics tell, once under way.

    The task is to travel along the world's x axis, fast and with little power. Waves of 0.6 rad that run from the head
    to the tail once a second (`examples/snake_gait.py`) take the default snake along at 0.5 m/s.

    ## Notes

    A link is a solid box of 0.1 m x 0.05 m x 0.03 m with the density of water, 0.15 kg. It touches the ground with
    two points half-way along, at its left and right edge. Joints end at +-pi/2. With `self_collision` links that no
    joint holds together touch each other, by a capsule of their length and width; else they pass through each other.

    `info` has `x_position` and `y_position` of the centre of mass [m], its velocities `x_velocity` and `y_velocity`,
    `travelled` and `speed`, those along the x axis [m, m/s], `heading` of the links on average, from the x axis [rad],
    `turning`, their mean rate [rad/s], all at the end of the control step, `power`, the mean of that of the motors over
    the step [W], and `cost_of_transport`, this over weight and speed.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    For the default nine links. The motors are servos: torque = 3 N m/rad (target - angle) - 0.12 N m s/rad rate, at
    most the effort. With `drive="torque"` actions are the torques, scaled by the effort.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-7 | targets of the motors, 1 means 1 rad; effort of 0.5 N m | -1 | 1 | joint1 to joint8 | angle (rad) |

    ## Observation Space

    For the default nine links.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | cosine and sine of the heading | -1 | 1 | | ratio |
    | 2-3 | velocity of the centre of mass along and across the x axis | -5 | 5 | | velocity (m/s) |
    | 4 | mean rate of the links | -30 | 30 | | rate (rad/s) |
    | 5-12 | joint angles | -1.6 | 1.6 | joint1 to joint8 | angle (rad) |
    | 13-20 | joint rates | -60 | 60 | joint1 to joint8 | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_power, both in `info`:

    - reward_forward: `forward_weight` times the speed along the x axis [m/s];
    - reward_power: minus `power_weight` times the mean power of the motors over the control step [W].

    ## Starting State

    Straight along the x axis on the ground, at rest; the direction of the head [rad], the joints' angles [rad] and
    their rates [rad/s] are uniform within +- `reset_noise_scale` of that.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `links` | int | 9 | number of links, at least 2 |
    | `friction_along` | float | 0.04 | coefficient along the links |
    | `friction_across` | float | 0.4 | coefficient across the links |
    | `skates` | bool | False | whether no link slips sideways |
    | `self_collision` | bool | False | whether links touch each other; steps cost several times as much |
    | `drive` | str | "position" | what actions are: "position" (targets) or "torque" |
    | `forward_weight` | float | 1.0 | weight of the speed |
    | `power_weight` | float | 0.02 | weight of the power |
    | `timestep` | float | 0.01 | step of the integrator (s) |
    | `frame_skip` | int | 4 | integrator steps per control step |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (rad, rad/s) |
    | `randomization`, `observation_noise` | dict, float | None, 0.0 | off; see `vigym.envs.perturbations` |
    | `action_latency`, `pushes` | int, tuple | 0, None | off; see there |
    | `render_mode` | str | None | "rgb_array", "human" (window) or "browser" |
    | `width`, `height` | int | 640, 480 | size of pictures (pixels) |
    | `overlay` | tuple | () | what pictures show besides: "contacts" (forces), "energy" (bars) |
    | `shadow` | bool | True | whether bodies throw one on the floor in pictures |

    ## Version History

    - v0: first version.
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
        require_links(self.links)
        require(self.drive in DRIVES, "drive", self.drive, f"one of {DRIVES}")
        for name in ("skates", "self_collision"):
            require(isinstance(getattr(self, name), bool), name, getattr(self, name), "True or False")
        for name in ("friction_along", "friction_across"):
            require_positive(name, getattr(self, name), "a coefficient")

    def mechanism(self) -> Mechanism:
        """Build the straight snake."""
        friction = self.friction_along, self.friction_across
        return planar_snake(self.links, friction, self.skates, self.self_collision)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Lie straight, with noise."""
        return lying("link1:floating", self.links - 1, self.reset_noise_scale, rng)

    def targets(self, action: Array) -> Array | None:
        """Return the angles the joints are to take (..., links - 1) [rad], or None where actions are torques."""
        return REACH * action if self.drive == "position" else None

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return direction, velocity and the joints' coordinates."""
        joints = list(mechanism.joints)
        way = {"cos(heading)": 1.0, "sin(heading)": 1.0, "x_velocity": QUICK, "y_velocity": QUICK, "turning": WHIRL}
        return way | dict.fromkeys(joints, BENT) | {f"velocity({joint})": FAST for joint in joints}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return where the snake is and how it goes."""
        return crawl(sim, GRAVITY * MASS * self.links)

    def observe(self, now: Quantities) -> Array:
        """Return direction, velocity and the joints' coordinates (..., 5 + 2 (links - 1))."""
        heading = now["heading"]
        way = columns(np.cos(heading), np.sin(heading), now["x_velocity"], now["y_velocity"], now["turning"])
        return np.concatenate((way, now["joint_positions"][..., 7:], now["joint_velocities"][..., 6:]), axis=-1)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and power."""
        return {"forward": now["speed"], "power": -now["power"]}


def planar_snake(links: int, friction: tuple[float, float], skates: bool, self_collision: bool = False) -> Mechanism:
    """Return a straight chain of links along x, the head in front, the middle of the first link at the origin."""
    mechanism = Mechanism(gravity=(0.0, 0.0, -GRAVITY), ground=True, name="snake")
    inertia = [MASS * (a * a + b * b) / 12.0 for a, b in ((WIDTH, HEIGHT), (LENGTH, HEIGHT), (LENGTH, WIDTH))]
    belly = Capsule(radius=HEIGHT / 2.0, length=WIDTH, orientation=LYING)
    for link in range(1, links + 1):
        name, centre = f"link{link}", np.array([LENGTH * (1 - link), 0.0, HEIGHT / 2.0])
        colour, front = (HEAD, HEAD) if link == 1 else (COLOURS[link % 2], HINGE)
        body = Box(size=(LENGTH - WIDTH / 2.0, WIDTH, HEIGHT), rgba=colour)
        hinge = Cylinder(radius=WIDTH / 2.0, length=HEIGHT, position=(LENGTH / 2.0, 0.0, 0.0), rgba=front)
        mechanism.add_body(name, MASS, inertia, centre, shapes=[body, hinge])
        along, across = friction
        surface = along, along if skates else across  # what a skate holds needs no friction
        if self_collision:
            for side, place in (("left", WIDTH / 2.0), ("right", -WIDTH / 2.0)):
                mechanism.add_contact(f"belly{link} {side}", name, (0.0, place, 0.0), HEIGHT / 2.0, surface)
            mechanism.add_collision(f"flank{link}", name, FLANK, surface)
        else:
            mechanism.add_collision(f"belly{link}", name, belly, surface)
        if skates:
            mechanism.add_skate(f"skate{link}", name, (0.0, 0.0, -HEIGHT / 2.0), (0.0, 1.0, 0.0))
        if link > 1:
            anchor = centre + (LENGTH / 2.0, 0.0, 0.0)
            joint = f"joint{link - 1}"
            mechanism.add_joint(
                joint,
                "revolute",
                f"link{link - 1}",
                name,
                anchor,
                (0.0, 0.0, 1.0),
                (-LIMIT, LIMIT),
                effort=EFFORT,
                armature=ARMATURE,
            )
            mechanism.add_motor(joint, STIFFNESS, DAMPING)
    if self_collision:
        pair_links(mechanism)
    return mechanism
