"""Riding of waves by a Stewart platform."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.control.kinematics.stewart import LEVEL
from vigym.envs.arrays import stack, unstack
from vigym.envs.options import require_positive
from vigym.envs.task import Array, Start
from vigym.envs.zoo.follower import Follower
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

# surge, sway, heave, roll, pitch and yaw of the waves: amplitudes [m, rad], rates over the slowest
AMPLITUDES = np.array((0.08, 0.08, 0.15, 0.12, 0.12, 0.08))
RATES = np.array((1.0, 1.3, 1.6, 1.5, 1.2, 1.1))


@dataclass(frozen=True, kw_only=True)
class Stewart(Follower):
    """Riding waves on a Stewart platform.

    ## Description

    Six legs carry a platform with a cabin, 250 kg, by five closed loops. Spindles of up to 4 kN
    make the legs longer and shorter, by up to 0.35 m. The platform is to move like a small boat on
    waves, in all its six degrees of freedom, as simulators do in which one learns to steer.

    ## Notes

    Motors track positions: force = 400000 (target - stroke) - 10000 rate, at most 4 kN, implicit in
    the step. Each coordinate follows a sine of its own: 0.08 m of surge and sway, 0.15 m of
    heave, 0.12 rad of roll and pitch and 0.08 rad of yaw, 1 to 1.6 times in a `period`.

    `vigym.control.kinematics.inverse.Inverse`, by name `inverse`, has the lengths of the legs at a
    pose in closed form.

    `info` has `place`: surge, sway and heave of the platform from zero [m], roll, pitch and yaw
    about fixed axes [rad]; what they are to be, `command`, and its rate `command_rate`; `error`,
    the root of the sum of squared differences over 0.05 m or rad; and `power`, the sum of
    |force * rate| over the motors, mean over the control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-5 | targets, from -0.35 to 0.35 | -1 | 1 | leg_1 ... leg_6 | distance (m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-5 | strokes of the legs | -0.35 | 0.35 | leg_1 ... leg_6 | distance (m) |
    | 6-11 | rates of the legs | -5 | 5 | leg_1 ... leg_6 | rate (m/s) |
    | 12-14 | surge, sway, heave | -1 | 1 | | distance (m) |
    | 15-17 | roll, pitch, yaw | -1 | 1 | | angle (rad) |
    | 18-20 | surge, sway, heave that are commanded | -1 | 1 | | distance (m) |
    | 21-23 | roll, pitch, yaw that are commanded | -1 | 1 | | angle (rad) |
    | 24-26 | rates of the commanded places | -2 | 2 | | rate (m/s) |
    | 27-29 | rates of the commanded angles | -2 | 2 | | rate (rad/s) |

    ## Rewards

    reward = reward_tracking + reward_power, both in `info`:

    - reward_tracking: `tracking_weight` times 1 at the commanded pose, 0.1 at an `error` of 1;
    - reward_power: minus `power_weight` times the motors' mean power over the control step.

    ## Starting State

    Strokes [m] are uniform within +- `reset_noise_scale` of zero, at rest; the platform follows.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `period` | float | 4.0 | of the slowest wave (s) |
    | `tracking_weight` | float | 1.0 | weight of following the waves |
    | `power_weight` | float | 2e-05 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.05 | half width of the noise (m) |
    """

    robot: ClassVar[str] = "stewart"
    place_bounds: ClassVar[Mapping[str, float]] = dict.fromkeys(
        ("surge", "sway", "heave", "roll", "pitch", "yaw"), 1.0
    )
    margins: ClassVar[tuple[float, ...]] = (0.05,) * 6
    most_rates: ClassVar[tuple[float, float]] = (5.0, 2.0)

    timestep: float = 0.005
    frame_skip: int = 4
    reset_noise_scale: float = 0.05
    period: float = 4.0
    power_weight: float = 2e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("period", self.period, "seconds")

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the legs about the middle of their travel."""
        scale, legs = self.reset_noise_scale, mechanism.motor_names
        return dict(zip(legs, rng.uniform(-scale, scale, len(legs)), strict=True)), {}

    def place(self, sim: Simulator) -> Array:
        """Return surge, sway and heave [m], roll, pitch and yaw [rad] of the platform (..., 6)."""
        x, y, z = unstack(sim.body_position("deck"))
        a, b, c, d = unstack(sim.body_orientation("deck"))
        roll = np.arctan2(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
        pitch = np.arcsin(2.0 * (a * c - b * d))
        yaw = np.arctan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
        return stack(x, y, z - LEVEL, roll, pitch, yaw)

    def command(self, sim: Simulator) -> tuple[Array, Array]:
        """Return the pose of the waves and its rate (..., 6) [m, rad]."""
        rates = 2.0 * np.pi / self.period * RATES
        phases = rates * np.asarray(sim.time)[..., None]
        return AMPLITUDES * np.sin(phases), rates * AMPLITUDES * np.cos(phases)
