"""Swing-up of a rod whose motor is too weak to lift it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack, unstack, wrap_angle
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

UPRIGHT = np.pi  # joint angle of the upright rod: the file's zero hangs [rad]
MAX_RATE = 30.0  # bound of the observed rate [rad/s]; a fall from upright ends at 7.7
ANGLE_MARGIN, RATE_MARGIN = 0.5, 2.0  # where a reward factor is a tenth [rad, rad/s]


@dataclass(frozen=True, kw_only=True)
class Pendulum(Task):
    """Swing-up of a rod whose motor is too weak to lift it.

    ## Description

    A uniform rod hangs on a hinge. The torque of its motor is less than half that of gravity on the
    horizontal rod, so the agent has to swing back and forth until the rod gets over, and then
    balance it upright.

    ## Notes

    `info` has `angle` from upright in [-pi, pi) [rad] and `angular_velocity` [rad/s].
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | motor, scaled by the effort of 2 N m | -1 | 1 | hinge | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | cosine of the angle from upright | -1 | 1 | hinge | ratio |
    | 1 | sine of the angle from upright | -1 | 1 | hinge | ratio |
    | 2 | angular velocity | -30 | 30 | hinge | rate (rad/s) |

    ## Rewards

    reward = reward_upright + reward_still + reward_control, all in `info`:

    - reward_upright: `upright_weight` times the height of the rod's tip, 0 hanging to 1 upright;
    - reward_still: `still_weight` times 1 for a rod at rest and upright, 0.1 at 0.5 rad or 2 rad/s;
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Hanging; angle [rad] and rate [rad/s] are uniform within +- `reset_noise_scale` of it.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 300 control steps, 15 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `upright_weight` | float | 0.5 | weight of the height |
    | `still_weight` | float | 0.5 | weight of being at rest upright |
    | `control_weight` | float | 0.01 | weight of the squared action |
    """

    upright_weight: float = 0.5
    still_weight: float = 0.5
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the rod of `assets/pendulum`."""
        return load_urdf(assets.path("pendulum"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the hanging rod with noise."""
        scale = self.reset_noise_scale
        return rng.uniform(-scale, scale, 1), rng.uniform(-scale, scale, 1)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return cosine, sine and rate."""
        return {"cos(angle)": 1.0, "sin(angle)": 1.0, "angular_velocity": MAX_RATE}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the angle from upright and its rate."""
        (position,) = unstack(sim.joint_positions)
        (rate,) = unstack(sim.joint_velocities)
        return {"angle": wrap_angle(position - UPRIGHT), "angular_velocity": rate}

    def observe(self, quantities: Quantities) -> Array:
        """Return cosine, sine and rate (..., 3)."""
        angle = quantities["angle"]
        return stack(np.cos(angle), np.sin(angle), quantities["angular_velocity"])

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of being upright, being at rest there, and control."""
        angle, rate = quantities["angle"], quantities["angular_velocity"]
        (torque,) = unstack(action)
        return {
            "upright": 0.5 * (1.0 + np.cos(angle)),
            "still": tolerance(angle, margin=ANGLE_MARGIN) * tolerance(rate, margin=RATE_MARGIN),
            "control": -(torque * torque),
        }
