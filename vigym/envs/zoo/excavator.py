"""Grading with an excavator: its teeth draw a straight line along the ground."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.control.kinematics.excavator import ZERO
from vigym.envs.arrays import stack, unstack
from vigym.envs.options import require_positive
from vigym.envs.task import Array, Start
from vigym.envs.zoo.follower import Follower
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

MIDDLE, HALF = 6.3, 1.3  # of the line, and half its length [m]
LIFT = 0.8  # height of the way back [m]
CURL, CURLING = -1.65, 0.1  # angle of the bucket, and its change on the way [rad]


@dataclass(frozen=True, kw_only=True)
class Excavator(Follower):
    """Grading the ground with an excavator.

    ## Description

    Hydraulic cylinders move boom, stick and bucket of an excavator of 20 tonnes; 3.8 tonnes move,
    in four closed loops. In each `period` the teeth are to draw a line along the ground, straight
    and level, 2.6 m towards the machine, and return above it, up to 0.8 m high. The ground does
    not resist.

    ## Notes

    Cylinders track positions, implicit in the step: force = 1.2e8 (target - stroke) - 5e6 rate
    for the boom, 3e7 and 1.25e6 for the stick, 6e6 and 2.5e5 for the bucket, at most 400, 300 and
    200 kN.

    `vigym.control.kinematics.inverse.Inverse`, by name `inverse`, has the lengths of the cylinders
    in closed form.

    `info` has `place`: x and z of the teeth [m] and the bucket's angle from its pin to the teeth,
    upwards from level [rad]; what they are to be, `command`, and its rate `command_rate`; `error`,
    the root of the sum of squared differences over 0.2 m and 0.2 rad; and `power`, the sum of
    |force * rate| over the cylinders, mean over the control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | target, from -0.25 to 0.2 | -1 | 1 | boom_cylinder | distance (m) |
    | 1 | target, from -0.55 to 0.6 | -1 | 1 | stick_cylinder | distance (m) |
    | 2 | target, from -0.5 to 0.3 | -1 | 1 | bucket_cylinder | distance (m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | stroke of the boom's cylinder | -0.25 | 0.25 | boom_cylinder | distance (m) |
    | 1 | stroke of the stick's | -0.6 | 0.6 | stick_cylinder | distance (m) |
    | 2 | stroke of the bucket's | -0.5 | 0.5 | bucket_cylinder | distance (m) |
    | 3-5 | rates of the cylinders | -5 | 5 | cylinders | rate (m/s) |
    | 6 | x of the teeth | -10 | 10 | | distance (m) |
    | 7 | z of the teeth | -10 | 10 | | distance (m) |
    | 8 | angle of the bucket | -4 | 4 | wrist | angle (rad) |
    | 9 | x that is commanded | -10 | 10 | | distance (m) |
    | 10 | z that is commanded | -10 | 10 | | distance (m) |
    | 11 | angle that is commanded | -4 | 4 | | angle (rad) |
    | 12-13 | rates of the commanded x and z | -5 | 5 | | rate (m/s) |
    | 14 | rate of the commanded angle | -5 | 5 | | rate (rad/s) |

    ## Rewards

    reward = reward_tracking + reward_power, both in `info`:

    - reward_tracking: `tracking_weight` times 1 at the commanded place, 0.1 at an `error` of 1;
    - reward_power: minus `power_weight` times the cylinders' mean power over the control step.

    ## Starting State

    Strokes [m] are uniform within +- `reset_noise_scale` of zero, where the teeth are 0.3 m above
    the middle of the line, at rest; the arm follows.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 300 control steps, 12 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `period` | float | 8.0 | of a line and the way back (s) |
    | `tracking_weight` | float | 1.0 | weight of following the line |
    | `power_weight` | float | 1e-06 | weight of the cylinders' power (1/W) |
    | `reset_noise_scale` | float | 0.05 | half width of the noise (m) |
    """

    robot: ClassVar[str] = "excavator"
    place_bounds: ClassVar[Mapping[str, float]] = {"x": 10.0, "z": 10.0, "curl": 4.0}
    margins: ClassVar[tuple[float, ...]] = (0.2, 0.2, 0.2)
    most_rates: ClassVar[tuple[float, float]] = (5.0, 5.0)

    timestep: float = 0.005
    frame_skip: int = 8
    reset_noise_scale: float = 0.05
    period: float = 8.0
    power_weight: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("period", self.period, "seconds")

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the cylinders about zero."""
        scale, names = self.reset_noise_scale, mechanism.motor_names
        return dict(zip(names, rng.uniform(-scale, scale, len(names)), strict=True)), {}

    def place(self, sim: Simulator) -> Array:
        """Return x and z of the teeth [m] and the angle of the bucket [rad] (..., 3)."""
        x, _, z = unstack(sim.body_position("teeth"))
        cosine, _, sine, _ = unstack(sim.body_orientation("teeth"))
        return stack(x, z, ZERO[2] - 2.0 * np.arctan2(sine, cosine))

    def command(self, sim: Simulator) -> tuple[Array, Array]:
        """Return a quarter of the way: the line first, then back above it; and its rate."""
        rate = 2.0 * np.pi / self.period
        phase = rate * np.asarray(sim.time) + 0.5 * np.pi
        cosine, sine = np.cos(phase), np.sin(phase)
        above = np.minimum(sine, 0.0)
        place = MIDDLE + HALF * cosine, LIFT * above * above, CURL - CURLING * cosine
        change = -HALF * rate * sine, 2.0 * LIFT * rate * above * cosine, CURLING * rate * sine
        return np.stack(place, axis=-1), np.stack(change, axis=-1)
