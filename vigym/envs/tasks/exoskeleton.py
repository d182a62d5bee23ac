"""Rehabilitation of an arm by an exoskeleton of four motors, with a healthy or a spastic elbow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack, unstack
from vigym.envs.task import Array, Flags, Quantities, Start, Task, require, require_positive
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.spatial import quaternion_product
from vigym.urdf.convert.load import load_urdf

# Motors from the shoulder down, with their axes in the hanging pose.
MOTORS = {
    "shoulder_flexion": (0.0, -1.0, 0.0),
    "shoulder_abduction": (1.0, 0.0, 0.0),
    "shoulder_rotation": (0.0, 0.0, 1.0),
    "elbow_flexion": (0.0, -1.0, 0.0),
}
ANGLES, RATES = slice(5, 9), slice(4, 8)  # of the motors among the joint coordinates
# Stiffness and damping of the arm's elbow [N m/rad, N m s/rad].
PATIENTS = {"healthy": (0.0, 0.1), "spastic": (2.0, 1.0)}
SHOULDER_SWING, ELBOW_SWING = 0.6, 1.2  # of the reference [rad]
MAX_ASIDE = 1.0  # angle of abduction or rotation that ends an episode [rad]
ERROR_MARGIN = 0.5  # angle error without a reward [rad]
MAX_ANGLE, MAX_RATE = 3.2, 20.0  # bounds of observations [rad, rad/s]


@dataclass(frozen=True, kw_only=True)
class Exoskeleton(Task):
    """Rehabilitation of an arm by an exoskeleton of four motors.

    ## Description

    A right arm hangs in an exoskeleton, whose motors flex, abduct and rotate the shoulder and flex
    the elbow. The arm has a ball joint at the shoulder and a hinge at the elbow. Two cuffs join
    upper arm and forearm with the exoskeleton's shells: each slides in the plane of the arm and
    turns about its normal, held by a spring and a damper. So there are two connected loops. The
    exoskeleton's elbow is 10 mm below the arm's, as elbows never fit.

    The arm is to follow sines: shoulder 0.3 (1 - cos), elbow 0.6 (1 - cos) [rad], straight ahead,
    while the torque of the elbow's motor stays within 5 N m, which is comfortable. A spastic elbow
    is stiff and resists motion by its velocity: gains that serve a healthy arm are too high for it.

    ## Notes

    Masses and lengths are those of a person of 75 kg and 1.75 m: upper arm 2.1 kg and 0.326 m,
    forearm with hand 1.65 kg; the exoskeleton has 2.4 kg. The elbow of a healthy arm has a damping
    of 0.1 N m s/rad; a spastic one has 1 N m s/rad and a stiffness of 2 N m/rad. Cuffs have 500 N/m
    and N m/rad, and 20 N s/m and N m s/rad.

    `vigym.control.tracking.Tracking`, by name `tracking`, follows the sines by proportional and
    derivative gains. With its own ones the elbow's motor has at most 3.2 N m for a healthy arm and
    5.7 N m for a spastic one; with `elbow_kp=12,elbow_kd=0.5` it stays within 5 N m for both.

    `info` has `shoulder_reference` and `elbow_reference`, their rates `shoulder_reference_rate` and
    `elbow_reference_rate`, `shoulder_error` and `elbow_error`, angle minus reference [rad],
    `elbow_torque` of the motor [N m], `excess_torque` above the limit, `motor_torques` [N m], and
    `power`, the sum of |torque * rate| over the motors, mean over the control step [W].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | torque, at most 40 N m | -1 | 1 | shoulder_flexion | torque (N m) |
    | 1 | torque, at most 40 N m | -1 | 1 | shoulder_abduction | torque (N m) |
    | 2 | torque, at most 20 N m | -1 | 1 | shoulder_rotation | torque (N m) |
    | 3 | torque, at most 20 N m | -1 | 1 | elbow_flexion | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-3 | angles of the motors, 0: the arm hangs | -3.2 | 3.2 | motors | angle (rad) |
    | 4-7 | rates of the motors | -20 | 20 | motors | rate (rad/s) |
    | 8-9 | references of shoulder and elbow | -3.2 | 3.2 | flexions | angle (rad) |
    | 10-11 | rates of the references | -20 | 20 | flexions | rate (rad/s) |

    ## Rewards

    reward = reward_tracking + reward_comfort, both in `info`:

    - reward_tracking: `tracking_weight` times the mean over the four motors of 1 - |error| / 0.5
      rad; abduction and rotation are to stay at 0;
    - reward_comfort: minus `comfort_weight` times what the elbow's torque is above the limit [N m].

    ## Starting State

    The arm hangs, at rest; angles of the motors [rad] are uniform within +- `reset_noise_scale`,
    and those of the arm equal them.

    ## Episode End

    - Termination: abduction or rotation is more than 1 rad away from 0, which would hurt, or the
      solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1600 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `patient` | str | "healthy" | "healthy" or "spastic" |
    | `period` | float | 4.0 | of the sines (s) |
    | `torque_limit` | float | 5.0 | comfortable torque of the elbow's motor (N m) |
    | `tracking_weight` | float | 1.0 | weight of following the sines |
    | `comfort_weight` | float | 5.0 | weight of the torque above the limit (1/(N m)) |
    """

    timestep: float = 0.001
    frame_skip: int = 5
    reset_noise_scale: float = 0.02
    patient: str = "healthy"
    period: float = 4.0
    torque_limit: float = 5.0
    tracking_weight: float = 1.0
    comfort_weight: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.patient in [*PATIENTS], "patient", self.patient, f"one of {list(PATIENTS)}")
        require_positive("period", self.period, "seconds")
        require_positive("torque_limit", self.torque_limit, "N m")

    def mechanism(self) -> Mechanism:
        """Return the arm in the exoskeleton of `assets/exoskeleton`, with the patient's elbow."""
        mechanism = load_urdf(assets.path("exoskeleton"))
        stiffness, damping = PATIENTS[self.patient]
        elbow = replace(mechanism.joints["elbow"], stiffness=stiffness, damping=damping)
        mechanism.joints.add("elbow", elbow)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return angles of the motors with noise, and the same ones of the arm."""
        scale = self.reset_noise_scale
        angles = rng.uniform(-scale, scale, len(MOTORS)).tolist()
        turn = np.array((1.0, 0.0, 0.0, 0.0))
        for angle, axis in zip(angles[:3], MOTORS.values(), strict=False):
            half = 0.5 * angle
            turn = quaternion_product(
                turn, np.array((np.cos(half), *(np.sin(half) * np.array(axis))))
            )
        return {"shoulder": turn, "elbow": angles[3], **dict(zip(MOTORS, angles, strict=True))}, {}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors and references."""
        rates = {f"velocity({name})": MAX_RATE for name in MOTORS}
        references = dict.fromkeys(("shoulder_reference", "elbow_reference"), MAX_ANGLE)
        changes = {f"{name}_rate": MAX_RATE for name in references}
        return dict.fromkeys(MOTORS, MAX_ANGLE) | rates | references | changes

    def quantities(self, sim: Simulator) -> Quantities:
        """Return references, errors, and torques and power of the motors."""
        rate = 2.0 * np.pi / self.period
        swing = 0.5 * (1.0 - np.cos(rate * sim.time))
        change = 0.5 * rate * np.sin(rate * sim.time)
        torques = sim.actuator_torques
        elbow_torque = unstack(torques)[3]
        shoulder, *_, elbow = unstack(sim.joint_positions[..., ANGLES])
        return {
            "shoulder_reference": SHOULDER_SWING * swing,
            "elbow_reference": ELBOW_SWING * swing,
            "shoulder_reference_rate": SHOULDER_SWING * change,
            "elbow_reference_rate": ELBOW_SWING * change,
            "shoulder_error": shoulder - SHOULDER_SWING * swing,
            "elbow_error": elbow - ELBOW_SWING * swing,
            "elbow_torque": elbow_torque,
            "excess_torque": np.maximum(abs(elbow_torque) - self.torque_limit, 0.0),
            "motor_torques": torques,
            "power": sim.readings.power,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return motors and references (..., 12)."""
        angles = quantities["joint_positions"][..., ANGLES]
        rates = quantities["joint_velocities"][..., RATES]
        names = ("shoulder_reference", "elbow_reference")
        references = [quantities[name] for name in names]
        changes = [quantities[f"{name}_rate"] for name in names]
        return np.concatenate((angles, rates, stack(*references, *changes)), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of tracking and comfort."""
        _, abduction, rotation, _ = unstack(quantities["joint_positions"][..., ANGLES])
        errors = quantities["shoulder_error"], quantities["elbow_error"], abduction, rotation
        first, second, third, fourth = map(abs, errors)
        mean = 0.25 * (first + second + third + fourth)
        return {"tracking": 1.0 - mean / ERROR_MARGIN, "comfort": -quantities["excess_torque"]}

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the arm is turned aside."""
        _, abduction, rotation, _ = unstack(quantities["joint_positions"][..., ANGLES])
        return (abs(abduction) > MAX_ASIDE) | (abs(rotation) > MAX_ASIDE)
