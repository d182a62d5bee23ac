"""Running of a piston engine at a commanded speed, through its dead centres."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import cosine, sine, stack, unstack, wrap_angle
from vigym.envs.options import require_positive
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities, Start, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

SWING = 0.5  # of the commanded speed about its mean, a share of that
MAX_RATE, MAX_CHANGE = 60.0, 20.0  # bounds of observations [rad/s, rad/s^2]
SPEED_MARGIN = 2.0  # error of the speed at which the reward is a tenth [rad/s]


@dataclass(frozen=True, kw_only=True)
class Engine(Task):
    """Running a piston engine at a commanded speed.

    ## Description

    Steam presses on either side of a piston, which turns a crank of 0.1 m by a connecting rod of
    0.35 m. Twice in a turn, in the dead centres, crank and rod lie in one line, and no force on
    the piston turns the crank: a flywheel of 80 kg carries it through. A dynamo brakes the crank by
    4 N m for each rad/s. The engine starts at rest and is to run at a commanded speed, slower and
    faster in turn, with little power.

    ## Notes

    The torque of the steam is its force times the `lever`, the piston's way for each radian of the
    crank. `vigym.control.kinematics.engine` has the lever in closed form. `Governor` there, by name
    `governor`, asks for a force in proportion to it.

    `info` has `crank_angle` in [-pi, pi) from level, upwards [rad], `crank_rate`, `command` and
    `speed_error`, their difference [rad/s], `command_rate` [rad/s^2], `piston`, its height above
    where a level crank holds it [m], and `power`, the steam's |force * rate|, mean over the control
    step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | force of the steam, upwards, scaled by 2400 N | -1 | 1 | cylinder | force (N) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | cosine of the crank's angle | -1 | 1 | crank | ratio |
    | 1 | sine of the crank's angle | -1 | 1 | crank | ratio |
    | 2 | rate of the crank | -60 | 60 | crank | rate (rad/s) |
    | 3 | commanded rate | -60 | 60 | | rate (rad/s) |
    | 4 | its rate of change | -20 | 20 | | rate (rad/s^2) |

    ## Rewards

    reward = reward_tracking + reward_power, both in `info`:

    - reward_tracking: `tracking_weight` times 1 at the commanded speed, 0.1 at an error of 2 rad/s;
    - reward_power: minus `power_weight` times the steam's mean power over the control step.

    ## Starting State

    At rest; the angle of the crank [rad] is uniform within +- `reset_noise_scale` of level, where
    steam turns it best. The command is `speed` (1 + sin(2 pi t / `period`) / 2).

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `speed` | float | 10.0 | mean of the commanded speed (rad/s) |
    | `period` | float | 8.0 | of the command (s) |
    | `tracking_weight` | float | 1.0 | weight of following the command |
    | `power_weight` | float | 0.0001 | weight of the steam's power (1/W) |
    | `reset_noise_scale` | float | 0.5 | half width of the noise (rad) |
    """

    timestep: float = 0.005
    frame_skip: int = 4
    speed: float = 10.0
    period: float = 8.0
    tracking_weight: float = 1.0
    power_weight: float = 1e-4
    reset_noise_scale: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("speed", self.speed, "rad/s")
        require_positive("period", self.period, "seconds")

    def mechanism(self) -> Mechanism:
        """Return the engine of `assets/engine`."""
        return load_urdf(assets.path("engine"), ground=True)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the crank about level; rod and piston follow."""
        return {"crank": rng.uniform(-self.reset_noise_scale, self.reset_noise_scale)}, {}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return crank and command."""
        crank = {"cos(crank)": 1.0, "sin(crank)": 1.0, "velocity(crank)": MAX_RATE}
        return {**crank, "command": MAX_RATE, "command_rate": MAX_CHANGE}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return crank, piston, command and power."""
        crank, _, piston, *_ = unstack(sim.joint_positions)
        crank_rate, *_ = unstack(sim.joint_velocities)
        rate = 2.0 * np.pi / self.period
        command = self.speed * (1.0 + SWING * np.sin(rate * sim.time))
        return {
            "crank_angle": wrap_angle(crank),
            "crank_rate": crank_rate,
            "piston": piston,
            "command": command,
            "command_rate": SWING * self.speed * rate * np.cos(rate * sim.time),
            "speed_error": crank_rate - command,
            "power": sim.readings.power,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return crank and command (..., 5)."""
        crank = quantities["crank_angle"]
        names = ("crank_rate", "command", "command_rate")
        return stack(cosine(crank), sine(crank), *(quantities[name] for name in names))

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of tracking and power."""
        tracking = tolerance(quantities["speed_error"], margin=SPEED_MARGIN)
        return {"tracking": tracking, "power": -quantities["power"]}
