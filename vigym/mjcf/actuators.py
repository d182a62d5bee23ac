"""Actuators of a compiled model as efforts, motors and springs of joints.

The force of an affine actuator is gain control + bias + slope position - damping rate. It is that
of a position motor where slope = -gain, of a rate motor where slope = 0 and damping = gain; any
other is a force beside a spring and a damper of the joint.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.mechanism.mechanism import Mechanism
from vigym.mjcf.bodies import Robot, enum_name

NOT_DRIVEN = "drives no single joint of one degree of freedom"
OTHER_LAW = "its force is not affine in control, position and rate, or pushes away from a position"
SECOND = "a second actuator of its joint"
DISABLED = "disabled by <option actuatorgroupdisable> or <flag actuation>"
LOPSIDED = "their ranges are not symmetric: the larger bound holds in both directions"
NO_STATE = "its state is left out: the force follows the control at once"
EQUAL = 1e-9  # relative
TRANSMISSIONS = ("joint", "jointinparent")
DYNAMICS = ("none", "filter", "filterexact")
BIASES = ("none", "affine")


@dataclass(frozen=True)
class Actuator:
    """Affine actuator, seen at its joint: its gear is in all numbers.

    Attributes:
        number: of the actuator.
        control: what the control is: "force", or the target of a "position" or "rate" motor.
        gain: force per control [N or N m].
        bias: force at control and coordinate zero [N or N m].
        slope: of the force by the coordinate [N/m or N m/rad], <= 0.
        damping: of the joint [N s/m or N m s/rad], >= 0.
        forces: least and largest gain times control.
        limits: least and largest force.
    """

    number: int
    control: str
    gain: float
    bias: float
    slope: float
    damping: float
    forces: tuple[float, float]
    limits: tuple[float, float]

    @property
    def effort(self) -> float:
        """Return the largest force."""
        return max(map(abs, self.limits))

    @property
    def reach(self) -> tuple[float, float]:
        """Return the least and largest force that a control makes."""
        if self.control != "force":
            return self.limits
        low, high = np.clip(self.forces, *self.limits).tolist()
        return low, high

    @property
    def is_lopsided(self) -> bool:
        """Return whether a range is made symmetric: that of forces, or of rates."""
        ranges = [self.reach, *([self.targets] if self.control == "rate" else [])]
        return any(not np.isclose(-low, high, rtol=EQUAL) for low, high in ranges)

    @property
    def targets(self) -> tuple[float, float]:
        """Least and largest target of a motor [rad, m, per s]."""
        stiffness = -self.slope or self.damping
        low, high = ((force + self.bias) / stiffness for force in self.forces)
        return low, high

    def parameters(self, stiffness: float, damping: float, rest: float) -> dict[str, Any]:
        """Return parameters of the joint, whose own spring and damper are given."""
        if self.control != "force":
            low, high = self.forces  # no force within the range of targets is larger than both
            rate = {"velocity": max(map(abs, self.targets))} if self.control == "rate" else {}
            return {"effort": min(self.effort, high - low), **rate}
        effort = max(map(abs, self.reach))
        total = stiffness - self.slope
        rest = (stiffness * rest + self.bias) / total if total else 0.0
        more = {"stiffness": total, "damping": damping + self.damping, "rest": rest}
        return {"effort": effort, **more}

    def add_motor(self, mechanism: Mechanism, joint: str) -> None:
        """Add the motor to a joint, if the actuator is one."""
        if self.control != "force":
            kp, kd = -self.slope, self.damping
            mechanism.add_motor(joint, kp, kd, self.effort, targets=self.targets)


def read_actuators(robot: Robot) -> dict[int, Actuator]:
    """Return the actuators by the number of their joint; notes tell what is left out."""
    found: dict[int, Actuator] = {}
    lost: dict[str, list[str]] = {}
    for number in range(robot.model.nu):
        name, joint = robot.name("actuator", number), int(robot.model.actuator_trnid[number, 0])
        fault = _fault(robot, number) or (SECOND if joint in found else "")
        actuator = None if fault else _read(robot, number, joint)
        if actuator is None or actuator.slope > 0.0 or actuator.damping < 0.0:
            lost.setdefault(fault or OTHER_LAW, []).append(name)
            continue
        if actuator.bias and not actuator.slope:
            lost.setdefault(OTHER_LAW, []).append(name)
            continue
        found[joint] = actuator
        if _kinds(robot, number)["dyn"] != "none":
            robot.note("changed", f"actuator {name!r}", NO_STATE)
        if actuator.gain < 0.0:
            message = "its gear is negative: a positive force is a negative control"
            robot.note("changed", f"actuator {name!r}", message)
    lopsided = [robot.name("actuator", each.number) for each in found.values() if each.is_lopsided]
    robot.note_all("changed", "actuators", lopsided, LOPSIDED)
    for reason, names in lost.items():
        robot.note_all("dropped", "actuators", names, reason)
    return found


def _kinds(robot: Robot, number: int) -> dict[str, str]:
    """Return the kinds of transmission ("trn"), dynamics ("dyn"), gain and bias of an actuator."""
    import mujoco

    m = robot.model
    kinds = {"trn": mujoco.mjtTrn, "dyn": mujoco.mjtDyn, "gain": mujoco.mjtGain}
    kinds["bias"] = mujoco.mjtBias
    return {
        part: enum_name(kind, int(getattr(m, f"actuator_{part}type")[number]))
        for part, kind in kinds.items()
    }


def _fault(robot: Robot, number: int) -> str:
    """Return why an actuator is left out, "" if it is not."""
    m, kinds = robot.model, _kinds(robot, number)
    joint = int(m.actuator_trnid[number, 0])
    if kinds["trn"] not in TRANSMISSIONS or not robot.is_single(joint):
        return NOT_DRIVEN
    if _is_disabled(robot, number):
        return DISABLED
    gain = m.actuator_gainprm[number]
    fixed = kinds["gain"] == "fixed" or (kinds["gain"] == "affine" and not gain[1:3].any())
    known = fixed and kinds["bias"] in BIASES and kinds["dyn"] in DYNAMICS and gain[0] != 0.0
    return "" if known else OTHER_LAW


def _is_disabled(robot: Robot, number: int) -> bool:
    import mujoco

    options, group = robot.model.opt, int(robot.model.actuator_group[number])
    every = options.disableflags & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    return bool(every or (group >= 0 and options.disableactuator >> group & 1))


def _read(robot: Robot, number: int, joint: int) -> Actuator:
    """Return an actuator whose law is affine."""
    m = robot.model
    gear = float(m.actuator_gear[number, 0])
    bias = np.zeros(3)
    if _kinds(robot, number)["bias"] == "affine":
        bias = np.asarray(m.actuator_biasprm[number, :3], np.float64)
    gain = gear * float(m.actuator_gainprm[number, 0])
    controls, limits = (np.array([-np.inf, np.inf]) for _ in range(2))
    if m.actuator_ctrllimited[number]:
        controls = np.asarray(m.actuator_ctrlrange[number])
    if m.actuator_forcelimited[number]:
        limits = np.sort(gear * m.actuator_forcerange[number])
    if m.jnt_actfrclimited[joint]:
        limits = np.clip(limits, *m.jnt_actfrcrange[joint])
    low, high = sorted((gain * controls).tolist())
    least, largest = limits.tolist()
    zero = float(m.qpos0[m.jnt_qposadr[joint]])  # of the joint's coordinate
    slope, damping = gear * gear * float(bias[1]), -gear * gear * float(bias[2])
    force = gear * float(bias[0]) + slope * zero
    control = _control_of(float(m.actuator_gainprm[number, 0]), -float(bias[1]), -float(bias[2]))
    forces = (low, high), (least, largest)
    return Actuator(number, control, gain, force, slope, damping, *forces)


def _control_of(gain: float, stiffness: float, damping: float) -> str:
    """Return what the control of an actuator is, seen without its gear."""
    if stiffness > 0.0 and np.isclose(stiffness, gain, rtol=EQUAL):
        return "position"
    if stiffness == 0.0 and damping > 0.0 and np.isclose(damping, gain, rtol=EQUAL):
        return "rate"
    return "force"
