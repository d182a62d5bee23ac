"""Hop to a height with a five-bar leg on a vertical slide."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.control.minitaur_legs import FOOT, commanded, hip_angles, reach
from vigym.envs.arrays import columns
from vigym.envs.task import Array, Quantities, Start, Task, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

STAND = 2.0  # extension of the leg at the start [rad]
ZERO = 0.35  # height of the hip at the slide's zero [m]
GRAVITY = 9.81  # [m/s^2]
STIFFNESS, DAMPING = 8.0, 0.3  # of the motors [N m/rad, N m s/rad]
HIGH, TURNED, FAST, FAST_HIP, EFFORT = 2.0, 4.0, 10.0, 200.0, 3.5  # bounds [m, rad, m/s, rad/s, N m]
NEAR = 0.15  # distance of the apex from the asked one at which the reward is down to nothing [m]


@dataclass(frozen=True, kw_only=True)
class MinitaurLeg(Task):
    """Hop to a height with a five-bar leg on a vertical slide.

    ## Description

    One leg of the Minitaur quadruped on the ground: two motors on one axis turn two upper bars of 0.115 m, each carries
    a lower bar of 0.2 m, and the lower bars meet at the foot. The motors sit on a vertical slide with a quarter of the
    robot's body, 1.5 kg in all. The leg is to hop on and on, its hip up to `apex` above the ground each time, with
    little energy. Standing on the stretched leg the hip is no higher than 0.315 m.

    ## Notes

    Motors hold targets: torque = 8 (target - angle) - 0.3 rate, at most 3.5 N m, solved within the step. The leg is
    commanded in swing and extension like the legs of Minitaur-v0: positive swing turns it forwards; the extension is
    the mean angle of its two motors, which point up at 0, are level at pi/2 and down at pi.
    `info` has `hip_height`, `foot_height` of the foot's lowest point [m], `hip_velocity` [m/s], `apex`, the height the
    hip would fly to without the ground and the leg's motion, height + velocity^2 / (2 g) [m], `motor_torques` [N m],
    and `power`, the sum of |torque * rate| over both [W], its mean over the control step.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | swing, target: pi/4 a | -1 | 1 | hip_front, hip_rear | angle (rad) |
    | 1 | extension, target: pi - pi/4 (a + 1.5) | -1 | 1 | hip_front, hip_rear | angle (rad) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the hip above the ground | -2 | 2 | slide | distance (m) |
    | 1 | velocity of the hip | -10 | 10 | slide | rate (m/s) |
    | 2-3 | angles of the motors, 0: level, positive: down | -4 | 4 | hip_front, hip_rear | angle (rad) |
    | 4-5 | rates of the motors | -200 | 200 | hip_front, hip_rear | rate (rad/s) |
    | 6-7 | torques of the motors | -3.5 | 3.5 | hip_front, hip_rear | torque (N m) |
    | 8 | height of the foot's lowest point | -2 | 2 | | distance (m) |

    ## Rewards

    reward = reward_height + reward_energy, both in `info`:

    - reward_height: `height_weight` times 1 where `info["apex"]` is the one asked for, falling in line to 0 where it is
      0.15 m off; in flight it hardly changes, so that it pays to fly, and to the right height;
    - reward_energy: minus `energy_weight` times the motors' mean power over the control step.

    ## Starting State

    In the air, at rest, with an extension of 2 rad; angles of the motors [rad] are uniform within +-
    `reset_noise_scale` of that. The foot is uniformly up to twice `reset_noise_scale` [m] above the ground: starts in
    flight show what there is to gain.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `apex` | float | 0.45 | asked height of the hip at the top of a hop (m) |
    | `height_weight` | float | 1.0 | weight of the height |
    | `energy_weight` | float | 0.005 | weight of the motors' power (1/W) |
    | `timestep` | float | 0.002 | step of the integrator (s) |
    | `frame_skip` | int | 10 | integrator steps per control step |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (rad), half the largest drop (m) |
    | `randomization`, `observation_noise` | dict, float | None, 0.0 | off; see `vigym.envs.perturbations` |
    | `action_latency`, `pushes` | int, tuple | 0, None | off; see there |
    | `render_mode` | str | None | "rgb_array", "human" (window) or "browser" |
    | `width`, `height` | int | 640, 480 | size of pictures (pixels) |
    | `overlay` | tuple | () | what pictures show besides: "contacts" (forces), "energy" (bars) |
    | `shadow` | bool | True | whether bodies throw one on the floor in pictures |

    ## Version History

    - v0: first version.
    """

    timestep: float = 0.002
    frame_skip: int = 10
    apex: float = 0.45
    height_weight: float = 1.0
    energy_weight: float = 0.005

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("apex", self.apex, "metres")

    def mechanism(self) -> Mechanism:
        """Return the leg of `assets/minitaur_leg` on the ground, a motor at either hip."""
        mechanism = load_urdf(assets.path("minitaur_leg"), ground=True)
        for name in mechanism.actuator_names:
            mechanism.add_motor(name, STIFFNESS, DAMPING)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Drop the leg, with noise of the hips; the lower bars follow."""
        scale, level = self.reset_noise_scale, 0.5 * np.pi
        front, rear = STAND + rng.uniform(-scale, scale, 2)
        standing = reach(0.5 * (front + rear)) * np.cos(0.5 * (rear - front)) + FOOT
        drop = rng.uniform(0.0, 2.0 * scale)
        return {"slide": standing + drop - ZERO, "hip_front": front - level, "hip_rear": rear - level}, {}

    def targets(self, action: Array) -> Array:
        """Return the hip angles (..., 2) [rad] of swing and extension."""
        return hip_angles(*commanded(action))

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return slide, motors and foot."""
        motors = {"angle": TURNED, "velocity": FAST_HIP, "torque": EFFORT}
        bounds = {f"{what}({name})": bound for what, bound in motors.items() for name in ("hip_front", "hip_rear")}
        return {"hip_height": HIGH, "hip_velocity": FAST} | bounds | {"foot_height": HIGH}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return where hip and foot are, and what the motors do."""
        positions, rates, torques = sim.joint_positions, sim.joint_velocities, sim.actuator_torques
        height, velocity = positions[..., 0] + ZERO, rates[..., 0]
        return {
            "hip_height": height,
            "foot_height": sim.body_position("foot")[..., 2] - FOOT,
            "hip_velocity": velocity,
            "apex": height + velocity * velocity / (2.0 * GRAVITY),
            "motor_torques": torques,
            "power": sim.power,
        }

    def observe(self, now: Quantities) -> Array:
        """Return slide, motors and foot (..., 9)."""
        positions, rates, torques = now["joint_positions"], now["joint_velocities"], now["motor_torques"]
        seen = (
            now["hip_height"],
            now["hip_velocity"],
            positions[..., 1],
            positions[..., 2],
            rates[..., 1],
            rates[..., 2],
        )
        return columns(*seen, torques[..., 0], torques[..., 1], now["foot_height"])

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of height and energy."""
        lack = np.abs(now["apex"] - self.apex) / NEAR
        return {"height": np.maximum(1.0 - lack, 0.0), "energy": -now["power"]}
