"""Sideways travel of a snake whose joint axes are vertical and horizontal in turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack, world_up_in_body
from vigym.envs.options import (
    MOST_LINKS,
    is_number,
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

DIAMETER = 0.051  # of a module [m]
MASS = 0.205  # of a module [kg]
GRAVITY = 9.81  # [m/s^2]
ACTION_SCALE = 1.0  # target angle of an action of 1 [rad]
MAX_SPEED, MAX_TURNING = 5.0, 30.0  # bounds of observations [m/s, rad/s]
MAX_ANGLE, MAX_RATE = 1.6, 60.0  # bounds of observed joint coordinates [rad, rad/s]


@dataclass(frozen=True, kw_only=True)
class SnakeSidewinding(Task):
    """Sideways travel of a snake whose joint axes are vertical and horizontal in turn.

    ## Description

    Sixteen round modules lie on level ground with isotropic friction, joined by hinges whose axes
    are vertical and horizontal in turn. Such a snake cannot propel itself in the plane; it has to
    lift parts of itself and put them down elsewhere. The snake lies along the x axis at the start;
    the task is to travel in the direction `way`, an angle from that axis, fast and with little
    power. The default is to the left, the direction of sidewinding (`vigym.control.serpenoid`) at
    0.2 m/s.

    ## Notes

    A module is 64 mm long, 51 mm thick and has 0.205 kg, as in a published robot; inertias are
    those of a solid cylinder. It touches the ground with a ball of its thickness about its centre.
    Joint limits are +-pi/2 and 33 rpm. With `self_collision` these balls touch each other, except
    those of neighbours, which are too close for a third to pass between them; else modules pass
    through each other.

    `info` has `x_position` and `y_position` of the centre of mass [m], its velocities `x_velocity`
    and `y_velocity` [m/s], `travelled` and `speed`, those along the way [m, m/s], `sideways`, the
    velocity to the left of it [m/s], `heading`, the mean direction of the modules from the way
    [rad], `turning`, their mean rate [rad/s], `vertical` in the axes of the head, all at the end of
    the control step, `power` of the motors, mean over the step [W], and `cost_of_transport`, power
    over weight and speed. Observations are clipped to their bounds, `info` is not.

    ## Action Space

    For the default sixteen modules. The motors are servos: torque = 10 N m/rad (target - angle) -
    0.4 N m s/rad rate, at most the effort. Odd joints turn sideways, even ones up and down.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-14 | motor targets in rad; effort of 7.0 N m | -1 | 1 | joint1 to joint15 | angle (rad) |

    ## Observation Space

    For the default sixteen modules.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-1 | cosine and sine of the heading from the way | -1 | 1 | | ratio |
    | 2-3 | velocity of the centre of mass along the way and to its left | -5 | 5 | | rate (m/s) |
    | 4 | mean rate of the modules about their own vertical axes | -30 | 30 | | rate (rad/s) |
    | 5-7 | the vertical in the axes of the head | -1 | 1 | | ratio |
    | 8-22 | joint angles | -1.6 | 1.6 | joint1 to joint15 | angle (rad) |
    | 23-37 | joint rates | -60 | 60 | joint1 to joint15 | rate (rad/s) |

    ## Rewards

    reward = reward_forward + reward_power, both in `info`:

    - reward_forward: `forward_weight` times the speed along the way [m/s];
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
    | `links` | int | 16 | number of modules, at least 2 |
    | `friction` | float | 0.5 | coefficient between snake and ground |
    | `self_collision` | bool | False | whether modules touch each other; several times slower |
    | `way` | float | 1.5 | direction of travel, from the x axis anticlockwise (rad) |
    | `forward_weight` | float | 1.0 | weight of the speed |
    | `power_weight` | float | 0.002 | weight of the power |
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
        require_whole("links", self.links, 2, MOST_LINKS)
        require_positive("friction", self.friction, "a coefficient")
        require_bool("self_collision", self.self_collision)
        require(is_number(self.way), "way", self.way, "a finite angle [rad]")

    def mechanism(self) -> Mechanism:
        """Return the straight snake of `assets/snake_sidewinding`."""
        robot = parse_xml(assets.path("snake_sidewinding"), "robot")
        for collision in robot.element.iter("collision") if self.self_collision else ():
            del collision.attrib["touches"]  # other modules, too
        friction = self.friction, self.friction
        return load_snake(robot, self.links, friction, self.self_collision)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the straight snake with noise."""
        return straight_start("link1:floating", self.links - 1, self.reset_noise_scale, rng)

    def targets(self, action: Array) -> Array:
        """Return target angles (..., links - 1) [rad]."""
        return ACTION_SCALE * action

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return direction, velocity, vertical and joint coordinates."""
        joints = list(mechanism.joints)
        heading = {"cos(heading)": 1.0, "sin(heading)": 1.0}
        velocity = {"speed": MAX_SPEED, "sideways": MAX_SPEED, "turning": MAX_TURNING}
        vertical = dict.fromkeys(("up_x", "up_y", "up_z"), 1.0)
        rates = {f"velocity({joint})": MAX_RATE for joint in joints}
        return heading | velocity | vertical | dict.fromkeys(joints, MAX_ANGLE) | rates

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position, velocity, direction and power, and the vertical in head axes."""
        common = snake_quantities(sim, GRAVITY * MASS * self.links, self.way)
        cosine, sine = np.cos(self.way), np.sin(self.way)
        sideways = cosine * common["y_velocity"] - sine * common["x_velocity"]
        vertical = world_up_in_body(sim.body_orientation("link1"))
        return common | {"sideways": sideways, "vertical": vertical}

    def observe(self, quantities: Quantities) -> Array:
        """Return direction, velocity, vertical and joint coordinates (..., 8 + 2 (links - 1))."""
        heading = quantities["heading"]
        velocity = (quantities[name] for name in ("speed", "sideways", "turning"))
        motion = stack(np.cos(heading), np.sin(heading), *velocity)
        angles = quantities["joint_positions"][..., 7:]
        rates = quantities["joint_velocities"][..., 6:]
        return np.concatenate((motion, quantities["vertical"], angles, rates), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and power."""
        return {"forward": quantities["speed"], "power": -quantities["power"]}
