"""The checked record of a joint's motor, and the electric motor that may drive it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint


@dataclass(frozen=True)
class DCMotor:
    """Direct-current motor with saturating torque, driven by pulse width.

    current = (pwm * voltage - (torque_constant + viscous) * rate) / resistance; the torque is read from the table at
    |current|, its last value beyond, and has the sign of the current.

    Args:
        voltage: of the supply [V], > 0.
        resistance: of the windings [Ohm], > 0.
        torque_constant: back-EMF [V s/rad], >= 0.
        viscous: more of the same [V s/rad], >= 0.
        currents: increasing from 0 (n,), n >= 2 [A].
        torques: at these currents, from 0 and nowhere falling (n,) [N m].

    Raises:
        MechanismError: a value out of range or tables that do not fit together.
    """

    voltage: float
    resistance: float
    torque_constant: float
    viscous: float = 0.0
    currents: tuple[float, ...] = ()
    torques: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("voltage", "resistance"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), f"motor model {name}"))
        for name in ("torque_constant", "viscous"):
            object.__setattr__(self, name, checks.number(getattr(self, name), f"motor model {name}", 0.0))
        for name in ("currents", "torques"):
            object.__setattr__(self, name, _numbers(getattr(self, name), f"motor model {name}"))
        rises = all(low < high for low, high in pairwise(self.currents))
        if len(self.currents) < 2 or self.currents[0] != 0.0 or not rises:
            expected = "at least two numbers that increase from 0"
            raise MechanismError(f"motor model currents: found {self.currents}, expected {expected}")
        falls = any(low > high for low, high in pairwise(self.torques))
        if len(self.torques) != len(self.currents) or self.torques[0] != 0.0 or falls:
            expected = f"{len(self.currents)} numbers from 0 that nowhere fall"
            raise MechanismError(f"motor model torques: found {self.torques}, expected {expected}")


@dataclass(frozen=True)
class Motor:
    """Controller and drive of a joint of one freedom, solved within the step.

    Attributes:
        joint: name of a joint of the tree.
        kp: [N m/rad or N/m], without unit with a model; 0: the target is a rate.
        kd: [N m s/rad or N s/m], with a model [s/rad].
        effort: largest force [N or N m]; may be inf.
        model: what turns the controller's output into torque; None: it is the torque.
    """

    joint: str
    kp: float
    kd: float
    effort: float
    model: DCMotor | None = None


def make_motor(joint: Joint, kp: float, kd: float, effort: float | None, model: DCMotor | None) -> Motor:
    """Return a checked Motor; arguments as in `Mechanism.add_motor`."""
    element = f"motor of joint {joint.name!r}"
    freedoms = len(joint.prototype.velocities)
    if freedoms != 1:
        raise MechanismError(f"{element}: found a {joint.type} joint of {freedoms} freedoms, expected one freedom")
    kp, kd = checks.number(kp, f"{element} kp", 0.0), checks.number(kd, f"{element} kd", 0.0)
    if kp == 0.0 and kd == 0.0:
        raise MechanismError(f"{element}: found kp 0 and kd 0, expected one of them > 0")
    if model is not None and not isinstance(model, DCMotor):
        raise MechanismError(f"{element} model: found {model!r}, expected None or a DCMotor")
    if model is not None and kp == 0.0:
        raise MechanismError(f"{element}: found kp 0 with a model, expected > 0: its target is a position")
    if effort is None and joint.effort is None:
        raise MechanismError(f"{element} effort: found None here and at the joint, expected a number >= 0 or inf")
    given = joint.effort if effort is None else effort
    return Motor(joint.name, kp, kd, checks.number(given, f"{element} effort", 0.0, infinite=True), model)


def _numbers(values: Any, element: str) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise MechanismError(f"{element}: found {values!r}, expected a list of numbers")
    return tuple(checks.number(value, element) for value in values)


# The Minitaur's drive: its torque saturates with the current.
MINITAUR_MOTOR = DCMotor(
    16.0, 0.186, 0.0954, 0.0, (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0), (0.0, 1.0, 1.9, 2.45, 3.0, 3.25, 3.5)
)
