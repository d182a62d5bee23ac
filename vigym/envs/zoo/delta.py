"""Meeting of an item on a conveyor belt with the gripper of a delta robot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import stack, unstack
from vigym.envs.task import Array, Start
from vigym.envs.zoo.follower import Follower
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

ITEM_HEIGHT = -1.11  # where the gripper takes an item, 10 mm above it [m]
UPSTREAM = -0.4  # y of an item at the start [m]


@dataclass(frozen=True, kw_only=True)
class Delta(Follower):
    """Meeting an item on a conveyor belt with a delta robot.

    ## Description

    Three motors above a belt turn arms of 0.524 m, each with a pair of parallel rods of 1.244 m
    to one platform: five closed loops keep it level. An item passes by on the belt. The gripper
    under the platform is to meet it, and to stay above it, as robots do that pack. Sizes are those
    of ABB's IRB 360-1/1600.

    ## Notes

    Motors track positions: torque = 3000 (target - angle) - 60 rate, at most 150 N m, implicit in
    the step. Nothing touches: the item moves on at the speed at which it starts.

    `vigym.control.kinematics.inverse.Inverse`, by name `inverse`, has the angles of the place in
    closed form.

    `info` has `place` of the gripper's end, `command`, the place 10 mm above the item (x, y, z from
    the middle of the motors) [m], its velocity `command_rate` [m/s], `error`, their distance over
    0.1 m, and `power`, the sum of |torque * rate| over the motors, mean over the control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | target, from -0.9 to 1.4; 0: level | -1 | 1 | motor_a | angle (rad) |
    | 1 | target, from -0.9 to 1.4; 0: level | -1 | 1 | motor_b | angle (rad) |
    | 2 | target, from -0.9 to 1.4; 0: level | -1 | 1 | motor_c | angle (rad) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-2 | angles of the arms, downwards | -1.4 | 1.4 | motors | angle (rad) |
    | 3-5 | rates of the arms | -20 | 20 | motors | rate (rad/s) |
    | 6-7 | x and y of the gripper's end | -1 | 1 | | distance (m) |
    | 8 | z of it | -2 | 2 | | distance (m) |
    | 9-10 | x and y of the item | -1 | 1 | belt | distance (m) |
    | 11 | z where the gripper takes it | -2 | 2 | | distance (m) |
    | 12-14 | velocity of the item | -1 | 1 | belt | rate (m/s) |

    ## Rewards

    reward = reward_tracking + reward_power, both in `info`:

    - reward_tracking: `tracking_weight` times 1 above the item, 0.1 at a distance of 0.1 m;
    - reward_power: minus `power_weight` times the motors' mean power over the control step.

    ## Starting State

    Arms [rad] are uniform within +- `reset_noise_scale` of level, at rest. The item is within that
    of the middle of the belt [m]; it is 0.4 m upstream and has a speed of `reset_noise_scale`
    [m/s], both within a third of that.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 100 control steps, 2 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `tracking_weight` | float | 1.0 | weight of meeting the item |
    | `power_weight` | float | 0.0001 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.3 | half width of the noise (rad, m, m/s) |
    """

    robot: ClassVar[str] = "delta"
    place_bounds: ClassVar[Mapping[str, float]] = {"x": 1.0, "y": 1.0, "z": 2.0}
    margins: ClassVar[tuple[float, ...]] = (0.1, 0.1, 0.1)
    most_rates: ClassVar[tuple[float, float]] = (20.0, 1.0)
    on_floor: ClassVar[bool] = False

    timestep: float = 0.005
    frame_skip: int = 4
    reset_noise_scale: float = 0.3
    power_weight: float = 1e-4

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return arms about level, and an item upstream that moves."""
        scale = self.reset_noise_scale
        *arms, x, upstream, speed = rng.uniform(-scale, scale, len(mechanism.motor_names) + 3)
        item = (x, UPSTREAM + upstream / 3.0)
        motors = dict(zip(mechanism.motor_names, arms, strict=True))
        return {**motors, "belt": item}, {"belt": (0.0, scale + speed / 3.0)}

    def place(self, sim: Simulator) -> Array:
        """Return the place of the gripper's end (..., 3) [m]."""
        return sim.body_position("tool")

    def command(self, sim: Simulator) -> tuple[Array, Array]:
        """Return the place above the item and its velocity (..., 3) [m, m/s]."""
        x, y, _ = unstack(sim.body_position("item"))
        vx, vy, _ = unstack(sim.body_velocity("item"))
        level = 0.0 * x
        return stack(x, y, level + ITEM_HEIGHT), stack(vx, vy, level)
