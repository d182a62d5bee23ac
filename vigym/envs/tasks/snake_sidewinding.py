"""Travel to its side with a snake whose joints turn sideways and up and down in turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import columns, upwards
from vigym.envs.task import Array, Quantities, Start, Task, require, require_positive
from vigym.envs.tasks.crawling import crawl, lying, pair_links, require_links
from vigym.mechanism.elements.shapes import Cylinder, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

# A module of the SEA snake (Rollinson et al., Design and architecture of a series elastic snake robot, IROS 2014).
LENGTH, DIAMETER, MASS = 0.064, 0.051, 0.205  # [m, m, kg]
EFFORT, RATE = 7.0, 33.0 * 2.0 * np.pi / 60.0  # of a joint [N m, rad/s]
LIMIT = np.pi / 2.0  # of a joint [rad]
GRAVITY = 9.81  # [m/s^2]
STIFFNESS, DAMPING = 10.0, 0.4  # of a motor [N m/rad, N m s/rad]
ARMATURE = 2e-3  # the motor's rotor seen through its gears [kg m^2]
REACH = 1.0  # angle that an action of 1 asks for [rad]
RADIUS = DIAMETER / 2.0  # [m]
SIDEWAYS, UPRIGHT = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)  # axes of the joints, in turn
ALONG = (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # turns the axis of a cylinder along the module
QUICK, WHIRL, BENT, FAST = 5.0, 30.0, 1.6, 60.0  # bounds of observed velocity [m/s], rates [rad/s], angles [rad], rates
COLOURS = ((0.16, 0.44, 0.76, 1.0), (0.12, 0.62, 0.58, 1.0))  # of the modules, in turn
HEAD, KNUCKLE = (0.95, 0.55, 0.15, 1.0), (0.35, 0.38, 0.42, 1.0)


@dataclass(frozen=True, kw_only=True)
class SnakeSidewinding(Task):
    """Travel to its side with a snake whose joints turn sideways and up and down in turn.

    ## Description

    Sixteen round modules lie on level ground with the same friction in every direction, joined by hinges whose axes are
    upright and level in turn. Such a snake cannot push itself off sideways as a planar one does; it has to lift parts
    of itself and put them down elsewhere. The snake lies along the x axis at the start; the task is to travel along a
    way, an angle from that axis, fast and with little power. The default is to the left, where sidewinding goes
    (`vigym.control.serpenoid`), at 0.2 m/s.

    ## Notes

    A module is 64 mm long, 51 mm thick and has 0.205 kg, as those of a published robot; inertias are those of a solid
    cylinder. It touches the ground with a ball of its thickness about its middle. Joints end at +-pi/2 and turn with
    33 rpm at most. With `self_collision` these balls touch each other, but for those of neighbours, and two modules are
    too close for a third to pass between them; else modules pass through each other.

    `info` has `x_position` and `y_position` of the centre of mass [m], its velocities `x_velocity` and `y_velocity`,
    `travelled` and `speed`, those along the way [m, m/s], and `sideways`, the speed to the left of it [m/s], `heading`,
    the mean direction of the modules from the way [rad], `turning`, their mean rate [rad/s], `vertical` in the axes of
    the head, all at the end of the control step, `power`, the mean of that of the motors over the step [W], and
    `cost_of_transport`, this over weight and speed.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    For the default sixteen modules. The motors are servos: torque = 10 N m/rad (target - angle) - 0.4 N m s/rad rate,
    at most the effort. Odd joints turn sideways, even ones up and down.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-14 | targets of the motors, 1 means 1 rad; effort of 7.0 N m | -1 | 1 | joint1 to joint15 | angle (rad) |

    ## Observation Space

    For the default sixteen modules.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | cosine and sine of the mean direction of the modules from the way | -1 | 1 | | ratio |
    | 2-3 | velocity of the centre of mass along the way and to its left | -5 | 5 | | velocity (m/s) |
    | 4 | mean rate of the modules about their own upright axes | -30 | 30 | | rate (rad/s) |
    | 5-7 | the vertical in the axes of the head | -1 | 1 | | ratio |
    | 8-22 | joint angles | -1.6 | 1.6 | joint1 to joint15 | angle (rad) |
    | 23-37 | joint rates | -60 | 60 | joint1 to joint15 | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_power, both in `info`:

    - reward_forward: `forward_weight` times the speed along the way [m/s];
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
    | `links` | int | 16 | number of modules, at least 2 |
    | `friction` | float | 0.5 | coefficient between snake and ground |
    | `self_collision` | bool | False | whether modules touch each other; steps cost several times as much |
    | `way` | float | 1.5 | direction of travel, from the x axis anticlockwise (rad) |
    | `forward_weight` | float | 1.0 | weight of the speed |
    | `power_weight` | float | 0.002 | weight of the power |
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

    links: int = 16
    friction: float = 0.5
    self_collision: bool = False
    way: float = 1.5
    frame_skip: int = 4
    forward_weight: float = 1.0
    power_weight: float = 0.002

    def __post_init__(self) -> None:
        super().__post_init__()
        require_links(self.links)
        require_positive("friction", self.friction, "a coefficient")
        require(isinstance(self.self_collision, bool), "self_collision", self.self_collision, "True or False")
        require(bool(np.isfinite(self.way)), "way", self.way, "a finite angle [rad]")

    def mechanism(self) -> Mechanism:
        """Build the straight snake."""
        return alternating_snake(self.links, self.friction, self.self_collision)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Lie straight, with noise."""
        return lying("link1:floating", self.links - 1, self.reset_noise_scale, rng)

    def targets(self, action: Array) -> Array:
        """Return the angles the joints are to take (..., links - 1) [rad]."""
        return REACH * action

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return direction, velocity, the vertical and the joints' coordinates."""
        joints = list(mechanism.joints)
        way = {"cos(heading)": 1.0, "sin(heading)": 1.0, "speed": QUICK, "sideways": QUICK, "turning": WHIRL}
        vertical = dict.fromkeys(("up_x", "up_y", "up_z"), 1.0)
        return way | vertical | dict.fromkeys(joints, BENT) | {f"velocity({joint})": FAST for joint in joints}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return where the snake is, how it goes, and the vertical in the axes of its head."""
        now = crawl(sim, GRAVITY * MASS * self.links, self.way)
        sideways = np.cos(self.way) * now["y_velocity"] - np.sin(self.way) * now["x_velocity"]
        return now | {"sideways": sideways, "vertical": upwards(sim.body_orientation("link1"))}

    def observe(self, now: Quantities) -> Array:
        """Return direction, velocity, the vertical and the joints' coordinates (..., 8 + 2 (links - 1))."""
        heading = now["heading"]
        way = columns(np.cos(heading), np.sin(heading), now["speed"], now["sideways"], now["turning"])
        joints = now["joint_positions"][..., 7:], now["joint_velocities"][..., 6:]
        return np.concatenate((way, now["vertical"], *joints), axis=-1)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and power."""
        return {"forward": now["speed"], "power": -now["power"]}


def alternating_snake(links: int, friction: float, self_collision: bool = False) -> Mechanism:
    """Return a straight chain of modules along x, the head in front; the first joint turns sideways."""
    mechanism = Mechanism(gravity=(0.0, 0.0, -GRAVITY), ground=True, name="snake_sidewinding")
    spin, tilt = MASS * RADIUS**2 / 2.0, MASS * (3.0 * RADIUS**2 + LENGTH**2) / 12.0
    for link in range(1, links + 1):
        name, centre = f"link{link}", np.array([LENGTH * (1 - link), 0.0, RADIUS])
        colour = HEAD if link == 1 else COLOURS[link % 2]
        tube = Cylinder(radius=RADIUS, length=0.8 * LENGTH, orientation=ALONG, rgba=colour)
        front = HEAD if link == 1 else KNUCKLE
        knuckle = Sphere(radius=0.8 * RADIUS, position=(LENGTH / 2.0, 0.0, 0.0), rgba=front)
        shapes: list[Shape] = [tube, knuckle]
        mechanism.add_body(name, MASS, (spin, tilt, tilt), centre, shapes=shapes)
        if self_collision:
            mechanism.add_collision(f"belly{link}", name, Sphere(radius=RADIUS), friction)
        else:
            mechanism.add_contact(f"belly{link}", name, (0.0, 0.0, 0.0), RADIUS, friction)
        if link > 1:
            joint, anchor = f"joint{link - 1}", centre + (LENGTH / 2.0, 0.0, 0.0)
            mechanism.add_joint(
                joint, "revolute", f"link{link - 1}", name, anchor, SIDEWAYS if link % 2 == 0 else UPRIGHT,
                (-LIMIT, LIMIT), effort=EFFORT, velocity=RATE, armature=ARMATURE,
            )  # fmt: skip
            mechanism.add_motor(joint, STIFFNESS, DAMPING)
    if self_collision:
        pair_links(mechanism)
    return mechanism
