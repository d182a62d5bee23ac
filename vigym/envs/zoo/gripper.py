"""Picking up of a ball with a gripper of two parallelogram fingers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import stack, unstack
from vigym.envs.options import require_positive
from vigym.envs.task import Array, Start
from vigym.envs.zoo.follower import Follower
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

RADIUS = 0.03  # of the ball [m]
OPEN = 0.3  # angle of the fingers at the start [rad]


@dataclass(frozen=True, kw_only=True)
class Gripper(Follower):
    """Picking up a ball with a two-finger gripper.

    ## Description

    A gripper hangs on a vertical slide. Each of its two fingers is a parallelogram of cranks, a
    closed loop that keeps the pad upright; one motor opens and closes both. A ball lies between the
    pads on the ground. In each `period` the ball is to rise by `rise` and to return. Only friction
    of the pads lifts it.

    ## Notes

    Motors track positions, implicit in the step: force = 10000 (target - stroke) - 250 rate of the
    slide, at most 100 N, and torque = 40 (target - angle) - rate of the fingers, at most 4 N m,
    which press with 20 N on either side. The pads are 0.1 m + 0.2 m sin(angle) apart, the ball has
    a diameter of 60 mm and 0.1 kg; friction is 0.8. Everything moves in the plane of y and z.

    `vigym.control.kinematics.gripper` has the motors' positions that hold the ball at a place, for
    the controller `inverse`.

    `info` has `place`: y of the ball from the middle and its height above the ground where it lies
    [m]; what they are to be, `command`, and its rate `command_rate` [m/s]; `error`, their distance
    over 0.05 m; and `power`, the sum of |force * rate| over the motors, mean over the control
    step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | target of the slide, from 0 to 0.3 | -1 | 1 | lift | distance (m) |
    | 1 | target of the fingers, from -0.5 (closed) to 0.5 | -1 | 1 | drive | angle (rad) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the slide | -0.3 | 0.3 | lift | distance (m) |
    | 1 | angle of the fingers | -0.5 | 0.5 | drive | angle (rad) |
    | 2 | rate of the slide | -20 | 20 | lift | rate (m/s) |
    | 3 | rate of the fingers | -20 | 20 | drive | rate (rad/s) |
    | 4-5 | y and height of the ball | -1 | 1 | ball | distance (m) |
    | 6-7 | y and height that are commanded | -1 | 1 | | distance (m) |
    | 8-9 | rates of these | -2 | 2 | | rate (m/s) |

    ## Rewards

    reward = reward_tracking + reward_power, both in `info`:

    - reward_tracking: `tracking_weight` times 1 where the ball is to be, 0.1 at 0.05 m from there;
    - reward_power: minus `power_weight` times the motors' mean power over the control step.

    ## Starting State

    At rest. The slide is down, the fingers are 0.3 rad open, and the ball lies on the ground; the
    ball's y [m] is uniform within +- `reset_noise_scale` of the middle.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 200 control steps, 4 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `rise` | float | 0.2 | of the ball in the middle of a `period` (m) |
    | `period` | float | 4.0 | of a way up and down (s) |
    | `tracking_weight` | float | 1.0 | weight of following the command |
    | `power_weight` | float | 0.001 | weight of the motors' power (1/W) |
    | `reset_noise_scale` | float | 0.03 | half width of the noise (m) |
    """

    robot: ClassVar[str] = "gripper"
    place_bounds: ClassVar[Mapping[str, float]] = {"y": 1.0, "z": 1.0}
    margins: ClassVar[tuple[float, ...]] = (0.05, 0.05)
    most_rates: ClassVar[tuple[float, float]] = (20.0, 2.0)

    timestep: float = 0.005
    frame_skip: int = 4
    reset_noise_scale: float = 0.03
    rise: float = 0.2
    period: float = 4.0
    power_weight: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("rise", self.rise, "m")
        require_positive("period", self.period, "seconds")

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return open fingers, and the ball between them."""
        aside = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale)
        return {"drive": OPEN, "ball": (0.0, aside, 0.0)}, {}

    def place(self, sim: Simulator) -> Array:
        """Return y and height of the ball (..., 2) [m]."""
        _, y, z = unstack(sim.body_position("ball"))
        return stack(y, z - RADIUS)

    def command(self, sim: Simulator) -> tuple[Array, Array]:
        """Return the way straight up and down, and its rate (..., 2) [m, m/s]."""
        rate = 2.0 * np.pi / self.period
        phase = rate * np.asarray(sim.time)
        half = 0.5 * self.rise
        up, rising = half * (1.0 - np.cos(phase)), half * rate * np.sin(phase)
        return np.stack((0.0 * up, up), axis=-1), np.stack((0.0 * up, rising), axis=-1)
