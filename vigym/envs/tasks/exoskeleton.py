"""Rehabilitation of an arm by an exoskeleton of four motors, with a healthy or a spastic elbow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.envs.arrays import stack, unstack
from vigym.envs.task import Array, Flags, Quantities, Start, Task, require, require_positive
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.spatial import quaternion_product

UPPER, FOREARM = 0.326, 0.256  # lengths of the arm's parts [m]
ELBOW_OFFSET = 0.01  # of the exoskeleton's elbow axis below the arm's [m]
SIDE = -0.075  # y of the shells, on the outer side of a right arm [m]
# Name, mass [kg], centre of mass [m], moments of inertia [kg m^2]; the shoulder is the origin. The
# arm is that of a person of 75 kg and 1.75 m, by Winter's table; the forearm has the hand.
BODIES = (
    ("upper_arm", 2.1, (0.0, 0.0, -0.142), (0.0231, 0.0231, 0.0021)),
    ("forearm", 1.65, (0.0, 0.0, -0.5), (0.0236, 0.0236, 0.001)),
    ("yoke", 0.6, (0.0, SIDE, 0.05), (0.0015, 0.001, 0.0015)),
    ("bracket", 0.5, (-0.05, SIDE, 0.0), (0.001, 0.001, 0.001)),
    ("upper_shell", 0.8, (0.0, SIDE, -0.16), (0.006, 0.006, 0.001)),
    ("lower_shell", 0.5, (0.0, SIDE, -0.43), (0.003, 0.003, 0.0005)),
)
FORWARDS = (0.0, -1.0, 0.0)  # axes
ALONG = (0.0, 0.0, 1.0)
OUTWARDS = (1.0, 0.0, 0.0)
# Name, parent, child, height of the anchor [m], axis and effort [N m] of the motors.
MOTORS = (
    ("shoulder_flexion", "world", "yoke", 0.0, FORWARDS, 40.0),
    ("shoulder_abduction", "yoke", "bracket", 0.0, OUTWARDS, 40.0),
    ("shoulder_rotation", "bracket", "upper_shell", 0.0, ALONG, 20.0),
    ("elbow_flexion", "upper_shell", "lower_shell", -UPPER - ELBOW_OFFSET, FORWARDS, 20.0),
)
CUFFS = (
    ("upper_cuff", "upper_arm", "upper_shell", -0.2),
    ("lower_cuff", "forearm", "lower_shell", -0.48),
)
ANGLES, RATES = slice(5, 9), slice(4, 8)  # of the motors among the joint coordinates
CUFF_STIFFNESS, CUFF_DAMPING = 500.0, 20.0  # [N/m and N m/rad, N s/m and N m s/rad]
SHOULDER_DAMPING = 0.2  # of the arm [N m s/rad]
# Stiffness and damping of the arm's elbow [N m/rad, N m s/rad].
PATIENTS = {"healthy": (0.0, 0.1), "spastic": (2.0, 1.0)}
SHOULDER_SWING, ELBOW_SWING = 0.6, 1.2  # of the reference [rad]
MAX_ASIDE = 1.0  # angle of abduction or rotation that ends an episode [rad]
ERROR_MARGIN = 0.5  # angle error without a reward [rad]
MAX_ANGLE, MAX_RATE = 3.2, 20.0  # bounds of observations [rad, rad/s]
SKIN, SHELL = (0.87, 0.67, 0.53, 1.0), (0.16, 0.44, 0.76, 1.0)
STEEL, GRAPHITE = (0.35, 0.38, 0.42, 1.0), (0.2, 0.22, 0.26, 1.0)
ACROSS = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # rotates a cylinder's axis to y
LENGTHWISE = (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # rotates a cylinder's axis to x


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
        """Return the arm in the exoskeleton, hanging."""
        mechanism = Mechanism(gravity=(0.0, 0.0, -9.81), name="exoskeleton")
        shapes = body_shapes()
        for name, mass, centre, inertia in BODIES:
            mechanism.add_body(name, mass, inertia, centre, shapes=shapes[name])
        damping = SHOULDER_DAMPING
        mechanism.add_joint(
            "shoulder", "spherical", "world", "upper_arm", (0, 0, 0), damping=damping
        )
        stiffness, damping = PATIENTS[self.patient]
        elbow = (0.0, 0.0, -UPPER)
        resistance = {"stiffness": stiffness, "damping": damping}
        mechanism.add_joint(
            "elbow", "revolute", "upper_arm", "forearm", elbow, FORWARDS, **resistance
        )
        for name, parent, child, height, axis, effort in MOTORS:
            anchor = (0.0, 0.0, height)
            mechanism.add_joint(name, "revolute", parent, child, anchor, axis, effort=effort)
        spring = {"stiffness": CUFF_STIFFNESS, "damping": CUFF_DAMPING}
        for name, arm, shell, height in CUFFS:
            mechanism.add_joint(name, "planar", arm, shell, (0.0, 0.0, height), FORWARDS, **spring)
        mechanism.add_world_shape(
            Capsule(radius=0.14, length=0.3, position=(-0.02, 0.25, -0.2), rgba=STEEL)
        )
        mechanism.add_world_shape(Sphere(radius=0.1, position=(0.0, 0.25, 0.22), rgba=SKIN))
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return angles of the motors with noise, and the same ones of the arm."""
        scale = self.reset_noise_scale
        angles = rng.uniform(-scale, scale, len(MOTORS)).tolist()
        motors = dict(zip((name for name, *_ in MOTORS), angles, strict=True))
        turn = np.array((1.0, 0.0, 0.0, 0.0))
        for angle, (*_, axis, _) in zip(angles[:3], MOTORS[:3], strict=True):
            half = 0.5 * angle
            turn = quaternion_product(
                turn, np.array((np.cos(half), *(np.sin(half) * np.array(axis))))
            )
        return {"shoulder": turn, "elbow": angles[3], **motors}, {}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors and references."""
        names = [name for name, *_ in MOTORS]
        rates = {f"velocity({name})": MAX_RATE for name in names}
        references = dict.fromkeys(("shoulder_reference", "elbow_reference"), MAX_ANGLE)
        changes = {f"{name}_rate": MAX_RATE for name in references}
        return dict.fromkeys(names, MAX_ANGLE) | rates | references | changes

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


def body_shapes() -> dict[str, list[Shape]]:
    """Return the shapes of every body, in its axes; they are drawn, and touch nothing."""
    centres = {name: np.array(centre) for name, _, centre, _ in BODIES}
    shapes: dict[str, list[Shape]] = {name: [] for name in centres}

    def add(
        body: str, kind: type[Shape], position: tuple[float, float, float], **more: Any
    ) -> None:
        place = tuple(np.array(position) - centres[body])
        shapes[body].append(kind(position=place, **more))

    motor = {"radius": 0.035, "length": 0.05, "rgba": GRAPHITE}
    add("upper_arm", Sphere, (0, 0, 0), radius=0.055, rgba=SKIN)
    add("upper_arm", Capsule, (0, 0, -UPPER / 2), radius=0.045, length=UPPER, rgba=SKIN)
    add("forearm", Capsule, (0, 0, -UPPER - FOREARM / 2), radius=0.035, length=FOREARM, rgba=SKIN)
    add("forearm", Box, (0, 0, -UPPER - FOREARM - 0.07), size=(0.08, 0.03, 0.13), rgba=SKIN)
    add("yoke", Cylinder, (0, SIDE - 0.05, 0), orientation=ACROSS, **motor)
    add("yoke", Box, (-0.06, SIDE - 0.05, 0), size=(0.12, 0.02, 0.03), rgba=STEEL)
    add("bracket", Cylinder, (-0.12, SIDE - 0.05, 0), orientation=LENGTHWISE, **motor)
    add("bracket", Box, (-0.06, SIDE - 0.02, -0.05), size=(0.1, 0.02, 0.03), rgba=STEEL)
    add("upper_shell", Cylinder, (0, SIDE, -0.07), **motor)
    elbow = -UPPER - ELBOW_OFFSET
    add("upper_shell", Box, (0, SIDE, elbow / 2 - 0.04), size=(0.03, 0.02, 0.26), rgba=SHELL)
    add("lower_shell", Cylinder, (0, SIDE, elbow), orientation=ACROSS, **motor)
    add("lower_shell", Box, (0, SIDE, elbow - 0.11), size=(0.03, 0.02, 0.22), rgba=SHELL)
    for _, _, shell, height in CUFFS:
        radius = 0.055 if shell == "upper_shell" else 0.045
        add(shell, Cylinder, (0, 0, height), radius=radius, length=0.05, rgba=SHELL)
    return shapes
