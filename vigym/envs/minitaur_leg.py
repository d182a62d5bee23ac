"""Lead the foot of a five-bar leg along a step."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.expressions import columns
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities, Start, Task, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.simulator import Simulator
from vigym.urdf.load import load_urdf

UPPER, LOWER = 0.115, 0.2  # lengths of the bars [m]
TOP = (LOWER**2 - UPPER**2) ** 0.5  # depth of the foot below the hip at the file's zero, the path's highest point [m]
STRIDE, LIFT = 0.16, 0.05  # length and height of the foot's path [m]
STIFFNESS, FRICTION = 60.0, 4.0  # of the spring that carries slide and leg [N/m, N s/m]: 1 Hz
CEILING = 1.2  # where the spring is fixed [m]
BALANCE = 0.5  # bound of the observed height of the slide [m]
FAST_SLIDE, FAST_HIP, FAR = 10.0, 200.0, 1.0  # bounds of observed rates [m/s, rad/s] and of the foot's error [m]
NEAR = 0.03  # distance of the foot from where it should be at which the reward is down to a tenth [m]


@dataclass(frozen=True, kw_only=True)
class MinitaurLeg(Task):
    """Lead the foot of a five-bar leg along a step.

    ## Description

    One leg of the Minitaur quadruped: two motors on one axis turn two upper bars of 0.115 m, each carries a lower bar
    of 0.2 m, and the lower bars meet at the foot. The motors sit on a vertical slide with a quarter of the robot's
    body, 1.5 kg in all. There is no ground to stand on: the slide hangs on a soft spring that carries its weight, so
    that it rises and falls with what the leg does. The foot is to step in the air, as seen from the hip: level and
    straight backwards, then forwards in an arc, `frequency` times a second.

    ## Notes

    `info` has `foot_x` and `foot_z`, the foot relative to the hip, `target_x` and `target_z`, where it should be, their
    distance `foot_error` and `slide_height`, the slide above its start [m], and `phase` of the step [rad].
    The path is x = 0.08 sin(phase), z = -0.2136 + 0.05 max(cos(phase), 0)^2 [m].
    Joint limits do not exist: a leg driven hard turns inside out, through the poses in which the bars of one side lie
    in one line. Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | front motor, turns its bar down, scaled by the effort of 3.5 N m | -1 | 1 | hip_front | torque (N m) |
    | 1 | rear motor, turns its bar down, scaled by its effort | -1 | 1 | hip_rear | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the slide | -0.5 | 0.5 | slide | distance (m) |
    | 1-2 | cosines of the hip angles | -1 | 1 | hip_front, hip_rear | ratio |
    | 3-4 | sines of the hip angles | -1 | 1 | hip_front, hip_rear | ratio |
    | 5 | velocity of the slide | -10 | 10 | slide | rate (m/s) |
    | 6-7 | hip rates | -200 | 200 | hip_front, hip_rear | rate (rad/s) |
    | 8-9 | foot minus target, forwards and up | -1 | 1 | | distance (m) |
    | 10-11 | cosine and sine of the phase | -1 | 1 | | ratio |

    ## Rewards

    reward = reward_tracking + reward_control, both in `info`:

    - reward_tracking: `tracking_weight` times 1 for a foot where it should be, a tenth 0.03 m from it;
    - reward_control: minus `control_weight` times the mean squared action.

    ## Starting State

    The spring in balance, the upper bars level, the foot at the highest point of its path, at rest; hip angles [rad]
    and hip rates [rad/s] are uniform within +- `reset_noise_scale` of that, the lower bars follow. The phase starts at
    zero.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 4 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `frequency` | float | 2.0 | steps of the foot per second (Hz) |
    | `tracking_weight` | float | 1.0 | weight of the tracking |
    | `control_weight` | float | 0.05 | weight of the mean squared action |
    | `timestep` | float | 0.002 | step of the integrator (s) |
    | `frame_skip` | int | 5 | integrator steps per control step |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (rad, rad/s) |
    | `render_mode` | str | None | "rgb_array" or "human" |
    | `width`, `height` | int | 640, 480 | size of pictures (pixels) |

    ## Version History

    - v0: first version.
    """

    timestep: float = 0.002
    frequency: float = 2.0
    tracking_weight: float = 1.0
    control_weight: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("frequency", self.frequency, "Hz")

    def mechanism(self) -> Mechanism:
        """Return the leg of `assets/minitaur_leg`, hung on a spring."""
        mechanism = load_urdf(assets.path("minitaur_leg"))
        weight = -mechanism.gravity[2] * sum(body.mass for body in mechanism.bodies.values())
        across, behind, height = mechanism.bodies["carriage"].position
        slack = CEILING - height - weight / STIFFNESS
        top, bottom = (across, behind, CEILING), (0.0, 0.0, 0.0)
        mechanism.add_spring("suspension", "world", "carriage", top, bottom, STIFFNESS, slack, FRICTION)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Start at the file's zero, with noise of the hips alone."""
        noise = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale, (2, 2))
        angles, rates = ({"slide": 0.0, "hip_front": front, "hip_rear": rear} for front, rear in noise)
        return angles, rates

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return slide, hips, the foot's error and the phase."""
        hips = ("hip_front", "hip_rear")
        angles = {f"{function}({hip})": 1.0 for function in ("cos", "sin") for hip in hips}
        rates = {"velocity(slide)": FAST_SLIDE} | {f"velocity({hip})": FAST_HIP for hip in hips}
        task = {"error_x": FAR, "error_z": FAR, "cos(phase)": 1.0, "sin(phase)": 1.0}
        return {"slide_height": BALANCE} | angles | rates | task

    def quantities(self, sim: Simulator) -> Quantities:
        """Return where the foot is and where it should be."""
        positions = sim.joint_positions
        foot_x, foot_z = foot_of(positions[..., 1], positions[..., 3])
        phase = 2.0 * np.pi * self.frequency * np.asarray(sim.time)
        x, z = foot_path(phase)
        error_x, error_z = foot_x - x, foot_z - z
        return {
            "slide_height": positions[..., 0],
            "foot_x": foot_x,
            "foot_z": foot_z,
            "target_x": x,
            "target_z": z,
            "foot_error": np.sqrt(error_x * error_x + error_z * error_z),
            "phase": phase,
        }

    def observe(self, now: Quantities) -> Array:
        """Return slide, hips, the foot's error and the phase (..., 12)."""
        front, rear = now["joint_positions"][..., 1], now["joint_positions"][..., 2]
        rates, phase = now["joint_velocities"], now["phase"]
        angles = np.cos(front), np.cos(rear), np.sin(front), np.sin(rear)
        errors = now["foot_x"] - now["target_x"], now["foot_z"] - now["target_z"]
        moving = rates[..., 0], rates[..., 1], rates[..., 2]
        return columns(now["slide_height"], *angles, *moving, *errors, np.cos(phase), np.sin(phase))

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of the foot's tracking and of control."""
        return {
            "tracking": tolerance(now["foot_error"], margin=NEAR),
            "control": -(action * action).sum(axis=-1) / action.shape[-1],
        }


def foot_of(hip: Array, knee: Array) -> tuple[Array, Array]:
    """Return where the foot is, forwards of the hip and above it (...,) [m], by the angles of the front bars (...,)."""
    lower = hip + knee
    down, along = np.cos(lower), np.sin(lower)
    return UPPER * (np.cos(hip) - down) - TOP * along, UPPER * (along - np.sin(hip)) - TOP * down


def foot_path(phase: Array) -> tuple[Array, Array]:
    """Return where the foot should be, forwards of the hip and above it (...,) [m], at a phase (...,) [rad]."""
    raised = np.maximum(np.cos(phase), 0.0)
    return 0.5 * STRIDE * np.sin(phase), raised * raised * LIFT - (TOP + LIFT)
