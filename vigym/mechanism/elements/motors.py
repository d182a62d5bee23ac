"""Motors of joints and the electric motor model that may drive them: checked records."""

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint

DIFFERENCE = 1e-3  # [s] of differences for the rate of a function of time


@dataclass(frozen=True)
class DCMotor:
    """Direct-current motor with saturating torque, driven by pulse-width modulation.

    current = (pwm * voltage - (torque_constant + viscous) * rate) / resistance; the torque is read
    from the table at |current|, its last value beyond, and has the sign of the current.

    Args:
        voltage: of the supply [V], > 0.
        resistance: of the windings [Ohm], > 0.
        torque_constant: back-EMF [V s/rad], >= 0.
        viscous: added to the torque constant [V s/rad], >= 0.
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
            object.__setattr__(
                self, name, checks.require_positive(getattr(self, name), f"motor model {name}")
            )
        for name in ("torque_constant", "viscous"):
            object.__setattr__(
                self, name, checks.require_number(getattr(self, name), f"motor model {name}", 0.0)
            )
        for name in ("currents", "torques"):
            object.__setattr__(self, name, _numbers(getattr(self, name), f"motor model {name}"))
        rises = all(low < high for low, high in pairwise(self.currents))
        if len(self.currents) < 2 or self.currents[0] != 0.0 or not rises:
            expected = "at least two numbers that increase from 0"
            raise MechanismError(
                f"motor model currents: found {self.currents}, expected {expected}"
            )
        falls = any(low > high for low, high in pairwise(self.torques))
        if len(self.torques) != len(self.currents) or self.torques[0] != 0.0 or falls:
            expected = f"{len(self.currents)} numbers from 0 that nowhere fall"
            raise MechanismError(f"motor model torques: found {self.torques}, expected {expected}")


@dataclass(frozen=True)
class Motor:
    """Controller and drive of a joint of one degree of freedom, solved within the step.

    Attributes:
        joint: name of the joint, or of a curve joint.
        kp: [N m/rad or N/m], without unit with a model; 0: the target is a rate.
        kd: [N m s/rad or N s/m], with a model [s/rad].
        effort: largest force [N or N m]; may be inf.
        model: electric motor from the controller's output to torque; None: the output is the
            torque.
        targets: least and largest target of its own controller, which the motor itself does not
            enforce [rad, m, per s]; None: those of the joint.
    """

    joint: str
    kp: float
    kd: float
    effort: float
    model: DCMotor | None = None
    targets: tuple[float, float] | None = None


def make_joint_motor(
    joint: Joint, kp: float, kd: float, effort: float | None, model: DCMotor | None
) -> Motor:
    """Return a checked Motor of a joint; arguments as in `Mechanism.add_motor`."""
    if joint.dofs != 1:
        found = f"a {joint.type} joint of {joint.dofs} degrees of freedom"
        element = f"motor of joint {joint.name!r}"
        raise MechanismError(f"{element}: found {found}, expected one degree of freedom")
    return make_motor(joint.name, kp, kd, joint.effort if effort is None else effort, model)


def make_motor(
    joint: str, kp: float, kd: float, effort: float | None, model: DCMotor | None
) -> Motor:
    """Return a checked Motor of the joint of this name; arguments as in `Mechanism.add_motor`."""
    element = f"motor of joint {joint!r}"
    kp = checks.require_number(kp, f"{element} kp", 0.0)
    kd = checks.require_number(kd, f"{element} kd", 0.0)
    if kp == 0.0 and kd == 0.0:
        raise MechanismError(f"{element}: found kp 0 and kd 0, expected one of them > 0")
    if model is not None and not isinstance(model, DCMotor):
        raise MechanismError(f"{element} model: found {model!r}, expected None or a DCMotor")
    if model is not None and kp == 0.0:
        raise MechanismError(
            f"{element}: found kp 0 with a model, expected > 0: its target is a position"
        )
    if effort is None:
        raise MechanismError(
            f"{element} effort: found None here and at the joint, expected a number >= 0 or inf"
        )
    limit = checks.require_number(effort, f"{element} effort", 0.0, infinite=True)
    return Motor(joint, kp, kd, limit, model)


def with_targets(motor: Motor, targets: ArrayLike | None) -> Motor:
    """Return a motor whose controller has a range of targets; arguments as in `add_motor`."""
    if targets is None:
        return motor
    element, expected = f"motor of joint {motor.joint!r} targets", "(least, largest)"
    found = checks.require_numbers(targets, element, expected)
    if found.shape != (2,) or not found[0] <= found[1]:
        raise MechanismError(f"{element}: found {targets!r}, expected {expected}")
    return replace(motor, targets=(float(found[0]), float(found[1])))


@dataclass(frozen=True, eq=False)
class Motion(ReadOnly):
    """Prescribed motion of a joint coordinate.

    Attributes:
        coordinate: name of the position coordinate.
        function: of time [s] to the coordinate [rad, m]; None of samples.
        rate: derivative of the function, None: by differences.
        times: (n,) of samples, increasing [s]; None of a function.
        values: (n,) of samples [rad, m].
    """

    coordinate: str
    function: Callable[[float], float] | None
    rate: Callable[[float], float] | None
    times: Array | None
    values: Array | None

    def at(self, time: float) -> tuple[float, float]:
        """Return coordinate and rate at a time [s].

        Raises:
            MechanismError: a function that does not return a finite number there.
        """
        if self.function is None:
            assert self.times is not None
            assert self.values is not None
            return between_samples(self.times, self.values, time)
        value = self._value(self.function, time)
        if self.rate is not None:
            return value, self._value(self.rate, time)
        e = DIFFERENCE
        away = [self._value(self.function, time + k * e) for k in (-2, -1, 1, 2)]
        slope = (away[0] - 8.0 * away[1] + 8.0 * away[2] - away[3]) / (12.0 * e)
        return value, slope

    def _value(self, function: Callable[[float], float], time: float) -> float:
        element = f"motion of {self.coordinate!r} at {time:g} s"
        value = checks.call(function, (time,), element, "a finite number")
        return checks.require_number(value, element)


def between_samples(times: Array, values: Array, time: float) -> tuple[float, float]:
    """Return value and rate of the cubic between samples (n,), rest before and behind them."""
    k = int(np.searchsorted(times, time, side="right")) - 1
    if k < 0 or k >= len(times) - 1:
        return float(values[0 if k < 0 else -1]), 0.0
    if len(times) > 2:
        slopes = np.gradient(values, times, edge_order=2)
    else:
        slopes = np.gradient(values, times)
    width = times[k + 1] - times[k]
    u, away = (time - times[k]) / width, values[k + 1] - values[k]
    a, b = width * slopes[k], width * slopes[k + 1]
    value = values[k] + u * u * (3.0 - 2.0 * u) * away + u * (1.0 - u) * (a - u * (a + b))
    rate = 6.0 * u * (1.0 - u) * away + (1.0 - u) * (1.0 - 3.0 * u) * a - u * (2.0 - 3.0 * u) * b
    return float(value), float(rate / width)


def make_motion(coordinate: str, motion: Any, rate: Any) -> Motion:
    """Return a checked Motion; `check_motion` checks its coordinate."""
    element = f"motion of {coordinate!r}"
    if callable(motion):
        if rate is not None and not callable(rate):
            raise MechanismError(f"{element} rate: found {rate!r}, expected a function or None")
        made = Motion(coordinate, motion, rate, None, None)
        made.at(0.0)
        return made
    if not isinstance(motion, tuple | list) or len(motion) != 2 or rate is not None:
        raise MechanismError(
            f"{element}: found {motion!r}, expected a function of time, or (times, values)"
        )
    return Motion(coordinate, None, None, *checked_samples(motion, element))


def checked_samples(samples: Sequence[Any], element: str) -> tuple[Array, Array]:
    """Return (times, values) of samples; MechanismError for wrong ones names the element."""
    expected = "(times, values) of one length of at least 2, times that increase"
    times, values = (checks.require_numbers(part, element, expected) for part in samples)
    finite = np.isfinite(times).all() and np.isfinite(values).all()
    if times.ndim != 1 or times.shape != values.shape or len(times) < 2 or not finite:
        raise MechanismError(f"{element}: found {samples!r}, expected {expected}")
    if not (np.diff(times) > 0.0).all():
        raise MechanismError(f"{element}: found times {samples[0]!r}, expected {expected}")
    return times, values


def remove_velocity_note(notes: list[Note], joint: Joint) -> None:
    """Remove the note on a velocity limit that is not enforced."""
    element = f"joint {joint.name!r} velocity" if joint.velocity is not None else None
    for number in (k for k, note in enumerate(notes) if note.element == element):
        del notes[number]  # notes are in the order of joints: it is soon found
        return


def velocity_notes(joint: Joint) -> list[Note]:
    """Return a note about the velocity limit of a new joint, which is not enforced."""
    if joint.velocity is None or not np.isfinite(joint.velocity):
        return []
    message = (
        f"velocity limit {joint.velocity:g} ignored: only motors enforce it (add_motor), "
        "and this joint has none"
    )
    return [Note("not enforced", f"joint {joint.name!r} velocity", message)]


def check_motor_joint(
    joint: str,
    joints: Collection[str],
    driven: Container[str],
    moved: Container[str],
) -> None:
    """Raise MechanismError for a joint that is unknown, moved or has a motor already.

    Args:
        joint: name.
        joints: names of all joints.
        driven: names of those with a motor.
        moved: coordinates with a prescribed motion.
    """
    checks.require_one_of(joint, joints, "motor joint")
    element = f"motor of joint {joint!r}"
    if joint in moved:
        raise MechanismError(f"{element}: found a prescribed motion on it, expected none")
    if joint in driven:
        raise MechanismError(f"{element}: found a second motor on it, expected one")


def _numbers(values: Any, element: str) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise MechanismError(f"{element}: found {values!r}, expected a list of numbers")
    return tuple(checks.require_number(value, element) for value in values)


# drive of the Minitaur: its torque saturates with the current
MINITAUR_MOTOR = DCMotor(
    16.0,
    0.186,
    0.0954,
    0.0,
    (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    (0.0, 1.0, 1.9, 2.45, 3.0, 3.25, 3.5),
)
