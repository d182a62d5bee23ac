"""Tracking of a crank speed with a linkage that passes a singular pose in every turn."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack, unstack, wrap_angle
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities, Start, Task, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

DRIVEN = "drive"  # joint set in the initial state; the others follow through the loop
TRANSMISSION_OFFSET = np.pi / 2.0 + np.arctan2(3.0, 4.0)  # transmission angle at file zero [rad]
MAX_SPEED = 60.0  # bound of the observed crank speed [rad/s]; friction keeps it below 30
MAX_COMMAND_RATE = 50.0  # bound of the observed rate of change of the command [rad/s^2]
SPEED_MARGIN = 2.0  # speed error at which the reward is a tenth [rad/s]


@dataclass(frozen=True, kw_only=True)
class FourBar(Task):
    """Tracking of a crank speed with a linkage that passes a singular pose in every turn.

    ## Description

    A motor turns the crank of a crank-rocker in the vertical plane: crank 0.2 m, coupler 0.5 m,
    rocker 0.3 m, pivots 0.6 m apart. The shortest and the longest bar are together as long as the
    other two, so all bars are collinear once in every turn of the crank. In that singular pose the
    loop has a second degree of freedom for an instant; inertia carries the rocker through to the
    other branch, and the linkage returns to its first pose after two turns. The commanded speed is
    a sine of amplitude `speed`. The weight of the bars loads the crank with up to 1.4 N m, which
    varies differently on either branch.

    ## Notes

    `info` has `crank_angle` in [-pi, pi) and `rocker_angle` [rad] from the file's zero,
    `transmission_angle` between coupler and rocker [rad], zero in the singular pose and of opposite
    signs on the two branches, `crank_speed`, `command` and `speed_error`, their difference [rad/s],
    and `command_rate` [rad/s^2].
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | motor of the crank, scaled by the effort of 3 N m | -1 | 1 | drive | torque (N m) |

    ## Observation Space

    Bounds of the command are those of the default `speed`.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | cosine of the crank's angle | -1 | 1 | drive | ratio |
    | 1 | sine of the crank's angle | -1 | 1 | drive | ratio |
    | 2 | cosine of the transmission angle | -1 | 1 | tip | ratio |
    | 3 | sine of the transmission angle | -1 | 1 | tip | ratio |
    | 4 | crank speed | -60 | 60 | drive | rate (rad/s) |
    | 5 | commanded crank speed | -8 | 8 | | rate (rad/s) |
    | 6 | its rate of change | -50 | 50 | | rate (rad/s^2) |

    ## Rewards

    reward = reward_tracking + reward_control, both in `info`:

    - reward_tracking: `tracking_weight` times 1 at the commanded speed, 0.1 at an error of 2 rad/s;
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    The crank points to the rocker's pivot and the rocker stands upright; crank angle [rad] and
    crank speed [rad/s] are uniform within +- `reset_noise_scale` of that at rest, the other bars
    follow. The command is `speed` sin(2 pi t / `period`).

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `speed` | float | 8.0 | largest commanded crank speed (rad/s) |
    | `period` | float | 8.0 | of the command (s) |
    | `tracking_weight` | float | 1.0 | weight of the speed tracking |
    | `control_weight` | float | 0.05 | weight of the squared action |
    """

    timestep: float = 0.005
    frame_skip: int = 4
    speed: float = 8.0
    period: float = 8.0
    tracking_weight: float = 1.0
    control_weight: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("speed", self.speed, "rad/s")
        require_positive("period", self.period, "seconds")

    def mechanism(self) -> Mechanism:
        """Return the linkage of `assets/four_bar`."""
        return load_urdf(assets.path("four_bar"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the file's zero with noise of the crank alone."""
        angle, speed = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale, 2)
        return {DRIVEN: angle}, {DRIVEN: speed}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return pose, crank speed and command."""
        angles = ("crank_angle", "transmission_angle")
        pose = {f"{function}({angle})": 1.0 for angle in angles for function in ("cos", "sin")}
        return pose | {
            "crank_speed": MAX_SPEED,
            "command": self.speed,
            "command_rate": MAX_COMMAND_RATE,
        }

    def quantities(self, sim: Simulator) -> Quantities:
        """Return angles, speeds and command."""
        crank, coupler, rocker, *_ = unstack(sim.joint_positions)
        crank_speed, *_ = unstack(sim.joint_velocities)
        rate = 2.0 * np.pi / self.period
        phase = rate * sim.time
        command = self.speed * np.sin(phase)
        return {
            "crank_angle": wrap_angle(crank),
            "rocker_angle": rocker,
            "transmission_angle": wrap_angle(rocker - crank - coupler + TRANSMISSION_OFFSET),
            "crank_speed": crank_speed,
            "command": command,
            "command_rate": rate * self.speed * np.cos(phase),
            "speed_error": crank_speed - command,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return pose, crank speed and command (..., 7)."""
        crank = quantities["crank_angle"]
        transmission = quantities["transmission_angle"]
        pose = np.cos(crank), np.sin(crank), np.cos(transmission), np.sin(transmission)
        command = quantities["command"], quantities["command_rate"]
        return stack(*pose, quantities["crank_speed"], *command)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed tracking and control."""
        (torque,) = unstack(action)
        return {
            "tracking": tolerance(quantities["speed_error"], margin=SPEED_MARGIN),
            "control": -(torque * torque),
        }
