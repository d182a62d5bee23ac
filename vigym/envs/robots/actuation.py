"""Control of the actuated joints of a robot: by torques, or by motors with a target."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vigym.envs.arrays import Array
from vigym.envs.options import is_number, require
from vigym.envs.random_start import independent_joints
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import robot_base

CONTROLS = ("torque", "position", "velocity")
REACH = 0.5 * np.pi  # of a target from the start, for joints without limits [rad or m]
FULL_ERROR = {False: 0.4, True: 0.1}  # for full effort, by default [rad], of a slide [m]
SETTLING = 0.04  # kd / kp by default [s]
FULL_SLIP = 0.2  # part of the largest rate that is the error of full effort, by default

Given = float | Mapping[str, float] | None  # for all joints, or by joint


def with_motor_efforts(mechanism: Mechanism) -> Mechanism:
    """Return a copy in which a joint without an effort has that of its motor in the file."""
    joints = dict(mechanism.joints)
    for name, motor in mechanism.motors.items():
        if name in joints and joints[name].effort is None:
            joints[name] = replace(joints[name], effort=motor.effort)
    return mechanism.with_replaced_elements(joints=joints)


def with_efforts(mechanism: Mechanism, efforts: Given) -> Mechanism:
    """Return a copy whose tree joints have other efforts; 0 makes a joint passive.

    Args:
        mechanism: with the joints; itself for None.
        efforts: largest force [N or N m] of all actuated joints, or by joint.

    Raises:
        ValueError: an unknown joint, or an effort that is no number >= 0.
    """
    if efforts is None:
        return mechanism
    known = {joint.name: joint for joint in mechanism.ordered_joints}
    known = {name: joint for name, joint in known.items() if name in mechanism.joints}
    driven = [name for name, joint in known.items() if joint.actuated]
    values = _by_joint("efforts", efforts, driven, list(known))
    joints = dict(mechanism.joints)
    for name, value in values.items():
        joints[name] = replace(known[name], effort=value or None)
    return mechanism.with_replaced_elements(joints=joints)


def without_dependent_motors(mechanism: Mechanism, loops: bool, efforts: Given) -> Mechanism:
    """Return a copy in which joints that others determine are passive; a warning names them.

    These are actuated joints that follow from others, so that two motors with a target each would
    work against each other: by couplings, whose followers other programs do not drive either, and
    by loops.

    Args:
        mechanism: with the joints.
        loops: whether to include joints that follow by loops.
        efforts: of `with_efforts`; joints that it names stay actuated.
    """
    kept = efforts if isinstance(efforts, Mapping) else ()
    names = [name for name in _coupled_motors(mechanism) if name not in kept]
    found = with_efforts(mechanism, dict.fromkeys(names, 0.0))
    if loops:
        leading = {joint.name for joint in independent_joints(found)}
        more = [joint.name for joint in found.actuated_joints if joint.name not in leading]
        found = with_efforts(found, dict.fromkeys(more, 0.0))
        names += more
    if names:
        warnings.warn(
            f"{mechanism.name!r}: {', '.join(names)} follow from other motors, by loops or "
            "couplings, and are passive; efforts={joint: effort} keeps them",
            stacklevel=2,
        )
    return found


def _coupled_motors(mechanism: Mechanism) -> list[str]:
    """Return the actuated joints that couplings tie to another one: their leader, or the first."""
    leaders = {each.joint: each.other for each in mechanism.couplings.values()}
    driven = [joint.name for joint in mechanism.actuated_joints]
    motors: dict[str, str] = {}  # joint that others follow -> joint that is driven
    for name in sorted(driven, key=lambda name: name in leaders):
        first = name
        while first in leaders:
            first = leaders[first]
        motors.setdefault(first, name)
    return [name for name in driven if name not in motors.values()]


def with_actuators(mechanism: Mechanism, efforts: Given, automatic: bool) -> Mechanism:
    """Return a copy whose joints have efforts by an option, and actuators that can work together.

    Args:
        mechanism: of the file, on its ground.
        efforts: as of `with_efforts`.
        automatic: whether the kind of control is left to the environment.

    Raises:
        MechanismError: no actuated joint.
    """
    mechanism = with_efforts(mechanism, efforts)
    walks = automatic and efforts is None and robot_base(mechanism) is not None
    walks = walks and bool(mechanism.ground_contact_names)
    mechanism = without_dependent_motors(mechanism, walks, efforts)
    if not mechanism.actuator_names:
        expected = "a joint with an effort (URDF, SDF) or an actuator (MJCF)"
        movable = [name for name, joint in mechanism.joints.items() if 0 < joint.dofs < 6]
        if movable:
            example = json.dumps({movable[0]: 10}, ensure_ascii=False)
            expected += f", or -o efforts='{example}'"
        found = "found no actuated joint"
        raise MechanismError(f"mechanism {mechanism.name!r}: {found}, expected {expected}")
    return mechanism


def default_control(has_motors: bool, is_own: bool, walks: bool) -> str:
    """Return the kind of control that no option sets.

    Args:
        has_motors: whether the file has motors with targets.
        is_own: whether the file says how joints are driven.
        walks: whether the robot floats on a ground that it touches.
    """
    if is_own:
        return "position" if has_motors else "torque"
    return "position" if walks else "torque"


def motors_of_kind(motors: Mapping[str, Motor], control: str) -> dict[str, Motor]:
    """Return the motors whose targets are positions or rates, as the control asks for."""
    kinds = {True: "position", False: "velocity"}
    return {name: motor for name, motor in motors.items() if kinds[motor.kp > 0.0] == control}


class Actuation:
    """Control of the actuated joints: targets or torques of an action in [-1, 1].

    Args:
        control: "torque": the action times the effort; "position": a target between the joint's
            limits, its start at 0; "velocity": the action times the largest rate.
        kp: gain of position motors [N m/rad or N/m] of all joints, or by joint; None: the effort at
            an error of 0.4 rad or 0.1 m.
        kd: gain of motors on the rate [N m s/rad or N s/m]; None: 0.04 s times kp, for velocity
            motors the effort at an error of a fifth of the largest rate.
        scale: part of the range of targets that actions reach.
        own: motors of the file by joint, which joints without gains of the options keep.

    Raises:
        ValueError: an option out of range.
    """

    def __init__(
        self, control: str, kp: Given, kd: Given, scale: float, own: Mapping[str, Motor]
    ) -> None:
        require(control in CONTROLS, "control", control, f"one of {', '.join(CONTROLS)}")
        without = {"torque": {"kp": kp, "kd": kd}, "velocity": {"kp": kp}, "position": {}}
        for option, value in without[control].items():
            require(value is None, option, value, f"None with control={control!r}")
        require(is_number(scale) and 0.0 < scale <= 1.0, "action_scale", scale, "0 < number <= 1")
        fits = scale == 1.0 or control != "torque"
        require(fits, "action_scale", scale, "1 with control='torque'; efforts scale torques")
        self._control = control
        self._kp = kp
        self._kd = kd
        self._scale = scale
        self._own = own
        self._center = np.zeros(0)
        self._above = np.zeros(0)
        self._below = np.zeros(0)

    def add_motors(self, mechanism: Mechanism, start: Mapping[str, float]) -> None:
        """Add the motors to a mechanism.

        Args:
            mechanism: with the joints.
            start: joint -> position at the start [rad, m].

        Raises:
            ValueError: gains for unknown joints, or no largest rate with control="velocity".
            MechanismError: an actuated joint of several degrees of freedom, or an unlimited effort.
        """
        if self._control == "torque":
            for joint in mechanism.actuated_joints:
                _require_limited(joint)
            return
        joints = mechanism.actuated_joints
        names = [joint.name for joint in joints]
        kp = _by_joint("kp", self._kp, names, names)
        kd = _by_joint("kd", self._kd, names, names)
        ranges = []
        for joint in joints:
            own = self._own.get(joint.name)
            if own is not None and joint.name not in {**kp, **kd}:
                mechanism.add_motor(joint.name, own.kp, own.kd, own.effort, model=own.model)
                ranges.append(_range_of(own, joint, start[joint.name]))
                continue
            _require_single(joint)
            if joint.name not in (kp if self._control == "position" else kd):
                _require_limited(joint)  # its gains are by the effort
            effort = joint.effort or 0.0
            if self._control == "position":
                slides = bool(joint.joint_type.translations)
                stiffness = kp.get(joint.name, effort / FULL_ERROR[slides])
                damping = kd.get(joint.name, SETTLING * stiffness)
                ranges.append(_target_range(joint, start[joint.name]))
            else:
                rate = _largest_rate(joint)
                stiffness = 0.0
                damping = kd.get(joint.name, effort / (FULL_SLIP * rate))
                ranges.append((-rate, 0.0, rate))
            mechanism.add_motor(joint.name, stiffness, damping)
        limits = np.array(ranges)
        self._center = limits[:, 1]
        self._above = self._scale * (limits[:, 2] - self._center)
        self._below = self._scale * (self._center - limits[:, 0])

    def targets(self, action: Array) -> Array | None:
        """Return the motor targets (..., n_motors) [rad, m, per s] of an action; None: torques."""
        if self._control == "torque":
            return None
        up, down = np.maximum(action, 0.0), np.minimum(action, 0.0)
        targets: Array = self._center + up * self._above + down * self._below
        return targets


def _by_joint(option: str, given: Given, every: list[str], known: list[str]) -> dict[str, float]:
    """Return joint -> value; a number is that of `every` joint, {} for None."""
    if given is None:
        return {}
    values = given if isinstance(given, Mapping) else dict.fromkeys(every, given)
    for name, value in values.items():
        require(name in known, option, name, f"joints among {', '.join(known)}")
        valid = is_number(value) and value >= 0.0
        require(valid, f"{option} of {name}", value, "a number >= 0")
    return {name: float(value) for name, value in values.items()}


def _require_single(joint: Joint) -> None:
    if joint.dofs != 1:
        found = f"a {joint.type} joint of {joint.dofs} degrees of freedom"
        expected = "control='torque', or efforts that make it passive"
        raise MechanismError(f"motor of joint {joint.name!r}: found {found}, expected {expected}")


def _require_limited(joint: Joint) -> None:
    if not np.isfinite(joint.effort or 0.0):
        example = json.dumps({joint.name: 5}, ensure_ascii=False)
        expected = f"a finite one to scale by: -o efforts='{example}'"
        raise MechanismError(f"joint {joint.name!r} effort: found inf, expected {expected}")


def _target_range(joint: Joint, start: float) -> tuple[float, float, float]:
    """Return lowest, middle and highest target of a joint; the middle is its start."""
    low, high = (start - REACH, start + REACH)
    if joint.limits is not None:
        limits = joint.limits[0]
        low = float(limits[0]) if np.isfinite(limits[0]) else low
        high = float(limits[1]) if np.isfinite(limits[1]) else high
    return min(low, start), start, max(high, start)


def _range_of(motor: Motor, joint: Joint, start: float) -> tuple[float, float, float]:
    """Return lowest, middle and highest target of a motor of the file."""
    if motor.kp == 0.0:
        rate = _largest_rate(joint)
        return -rate, 0.0, rate
    low, middle, high = _target_range(joint, start)
    if motor.targets is not None and np.isfinite(motor.targets).all():
        low, high = motor.targets
    return min(low, middle), middle, max(high, middle)


def _largest_rate(joint: Joint) -> float:
    rate = joint.velocity
    if rate is None or not 0.0 < rate < np.inf:
        expected = "a finite <limit velocity> > 0 that scales velocity targets"
        raise MechanismError(f"joint {joint.name!r} velocity: found {rate}, expected {expected}")
    return rate


def effort_limits(mechanism: Mechanism) -> Array:
    """Return the largest force of every actuator (n_actuated,) [N or N m].

    They are in the order of `mechanism.actuator_names`.

    Raises:
        MechanismError: no actuated joint, or one without a limit and motor.
    """
    joints = mechanism.actuated_joints
    if not joints:
        raise MechanismError(
            f"mechanism {mechanism.name!r}: found no actuated joint, "
            "expected one with effort > 0 to scale actions by"
        )
    for joint in joints:
        if joint.name not in mechanism.motors and not np.isfinite(joint.effort or 0.0):
            expected = "a finite one to scale actions by"
            raise MechanismError(f"joint {joint.name!r} effort: found inf, expected {expected}")
    return np.array([joint.effort for joint in joints for _ in range(joint.dofs)], dtype=np.float64)
