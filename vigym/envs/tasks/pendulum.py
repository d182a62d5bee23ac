"""Swing up a rod whose motor is too weak to lift it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import columns, parts, wrapped
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

UPRIGHT = np.pi  # joint angle of the upright rod: the file's zero hangs [rad]
FAST = 30.0  # bound of the observed rate [rad/s]; a fall from upright ends at 7.7
NEAR, STILL = 0.5, 2.0  # angle [rad] and rate [rad/s] at which a reward factor is down to a tenth


@dataclass(frozen=True, kw_only=True)
class Pendulum(Task):
    """Swing up a rod whose motor is too weak to lift it.

    ## Description

    A uniform rod hangs on a hinge. Its motor gives less than half the torque that gravity exerts on the horizontal
    rod, so the agent has to swing back and forth until the rod gets over, and then keep it upright.

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

    - reward_upright: `upright_weight` times the height of the rod's end, 0 hanging to 1 upright;
    - reward_still: `still_weight` times 1 for a rod at rest and upright; a tenth at 0.5 rad, or at 2 rad/s;
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
    | `still_weight` | float | 0.5 | weight of standing still upright |
    | `control_weight` | float | 0.01 | weight of the squared action |
    | `timestep` | float | 0.01 | step of the integrator (s) |
    | `frame_skip` | int | 5 | integrator steps per control step |
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

    upright_weight: float = 0.5
    still_weight: float = 0.5
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the rod of `assets/pendulum`."""
        return load_urdf(assets.path("pendulum"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Hang, with noise."""
        scale = self.reset_noise_scale
        return rng.uniform(-scale, scale, 1), rng.uniform(-scale, scale, 1)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return cosine, sine and rate."""
        return {"cos(angle)": 1.0, "sin(angle)": 1.0, "angular_velocity": FAST}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the angle from upright and its rate."""
        (hanging,), (rate,) = parts(sim.joint_positions), parts(sim.joint_velocities)
        return {"angle": wrapped(hanging - UPRIGHT), "angular_velocity": rate}

    def observe(self, now: Quantities) -> Array:
        """Return cosine, sine and rate (..., 3)."""
        angle = now["angle"]
        return columns(np.cos(angle), np.sin(angle), now["angular_velocity"])

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of being upright, being still there, and control."""
        angle, (torque,) = now["angle"], parts(action)
        return {
            "upright": 0.5 * (1.0 + np.cos(angle)),
            "still": tolerance(angle, margin=NEAR) * tolerance(now["angular_velocity"], margin=STILL),
            "control": -(torque * torque),
        }
