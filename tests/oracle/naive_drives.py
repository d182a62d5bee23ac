"""Limits, dry friction and motors of joints, couplings, skates and wheels in the slow twin."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, cross, dot, mul, rolled, rotate
from oracle.naive_laws import Drag, Drive, Stop
from oracle.naive_touching import unit


class Freedoms:
    """Per freedom of all joints: limits, dry friction, motor, largest rate; index of every named coordinate."""

    def __init__(self, mech):
        joints = mech.ordered_joints
        names = [name for joint in joints for name in joint.velocity_names]
        owners = [joint for joint in joints for _ in range(joint.dofs)]
        first = {joint.name: owners.index(joint) for joint in joints if joint in owners}
        self.count, self.friction = len(owners), np.array([joint.friction for joint in owners])
        self.limits = []  # (freedom, +1 for a lower bound, bound)
        for joint in joints:
            if joint.limits is not None:
                for k, (lower, upper) in enumerate(np.reshape(joint.limits, (-1, 2))):
                    at = first[joint.name] + k
                    self.limits += [(at, 1.0, lower)] if np.isfinite(lower) else []
                    self.limits += [(at, -1.0, upper)] if np.isfinite(upper) else []
        self.motors = [
            (first[name], motor, owners[first[name]].velocity)
            for name, motor in mech.motors.items()
        ]
        place = {name: at for at, name in enumerate(names)}
        for joint in joints:  # coordinates are named like rates or on their own
            if not joint.joint_type.has_quaternion:
                own = joint.position_names
                place |= {name: first[joint.name] + k for k, name in enumerate(own)}
        self.couplings = [
            (place[c.joint], place[c.other], c.ratio, c.offset) for c in mech.couplings.values()
        ]


def motor_torque(motor, torque, target, s, rate):
    """What the motor wishes for before the effort's clip, at coordinates and rates (...,)."""
    if motor.model is None:
        if motor.kp == 0.0:
            return torque + motor.kd * (target - rate)
        return torque + motor.kp * (target - s) - motor.kd * rate
    model = motor.model
    pwm = np.clip(motor.kp * (target - s) - motor.kd * rate, -1.0, 1.0)
    current = (
        pwm * model.voltage - (model.torque_constant + model.viscous) * rate
    ) / model.resistance
    return torque + np.sign(current) * np.interp(np.abs(current), model.currents, model.torques)


class Drives:
    """Laws of the joints' freedoms, over their rows J: limits (all or some), dry friction, motors."""

    def __init__(self, freedoms, limits=None):
        self.limits = freedoms.limits if limits is None else limits
        self.motors, self.friction = freedoms.motors, freedoms.friction
        self.rubbing = np.flatnonzero(freedoms.friction > 0.0)
        self.along = [(at, sign) for at, sign, _ in self.limits]
        self.along += [(at, 1.0) for at in self.rubbing] + [(at, 1.0) for at, _, _ in self.motors]

    def rows(self, J):
        return np.array([sign * J[at] for at, sign in self.along]).reshape(-1, J.shape[1])

    def laws(self, start, weight):
        """Laws of forces start, start + 1, ...; behind those the quantities hold the rates of the motors."""
        laws = [Stop(start + k) for k in range(len(self.limits))]
        behind, start = start + len(self.along), start + len(self.limits)
        laws += [Drag(start + k, weight * self.friction[at]) for k, at in enumerate(self.rubbing)]
        start += len(self.rubbing)
        for k, (_, motor, speed) in enumerate(self.motors):
            laws.append(
                Drive(
                    start + k, weight * motor.effort, behind + k, np.inf if speed is None else speed
                )
            )
        return laws

    def stops(self, s):
        """Distances to the limits (..., limits) at coordinates s."""
        found = [sign * (s[..., at] - bound) for at, sign, bound in self.limits]
        return np.stack(found, axis=-1) if found else np.zeros((*s.shape[:-1], 0))

    def quantities(self, stops, s, rate, weight, torques, targets):
        """Of all forces, and rates of the motors (..., rows + motors); `stops`: what limits keep at 0 or above."""
        wishes = [weight * motor_torque(motor, torques[at], target, s[..., at], rate[..., at])[..., None]
                  for (at, motor, _), target in zip(self.motors, targets, strict=True)]  # fmt: skip
        driven = [at for at, _, _ in self.motors]
        return np.concatenate([stops, rate[..., self.rubbing], *wishes, rate[..., driven]], axis=-1)


class Rolling:
    """Skates and wheels: a point of a body does not move along directions that turn with it.

    Directions are the means of those at both ends of a step; forces act along those at the first. A
    skate's point has no way along its direction. The centre of a wheel has the way along its axle
    and ahead that the turn about the other direction takes it.
    """

    def __init__(self, mech, index):
        self.skates = [(index[s.body], s.position, s.direction) for s in mech.skates.values()]
        self.wheels = [(index[w.body], w.position, w.axis, w.radius) for w in mech.wheels.values()]
        self.normal = None if mech.ground is None else mech.ground.normal

    def directions(self, q):
        """[(body, arm (3,) in it, direction (..., 3))] at orientations of all bodies (..., n + 1, 4)."""
        found = [
            (body, point, rotate(q[..., body, :], direction))
            for body, point, direction in self.skates
        ]
        for body, centre, axis, radius in self.wheels:
            axle, n = rotate(q[..., body, :], axis), self.normal
            spoke = -unit(n - axle * dot(n, axle)[..., None])
            arm = centre + radius * rotate(conj(q[..., body, :]), spoke)
            found += [
                (body, arm, axle),
                (body, arm, unit(cross(axle, np.broadcast_to(n, axle.shape)))),
            ]
        return found

    def rows(self, q, n):
        """Rows (slips, 6 n) at one knot."""
        found = []
        for body, arm, direction in self.directions(q):
            wide = np.zeros((n + 1, 6))
            wide[body] = np.append(direction, cross(arm, rotate(conj(q[body]), direction)))
            found.append(wide[1:].ravel())
        return np.reshape(found, (-1, 6 * n))

    def slips(self, x, q, x3, q3, h):
        """Velocities (..., slips) over a step of size h: of a skate's point, of a wheel at the ground."""
        shape = x3.shape[:-2]
        found = [np.zeros((*shape, 0))]
        first = self.directions(q)
        last = self.directions(q3)
        skates = len(self.skates)

        def way(body, arm):
            return x3[..., body, :] + rotate(q3[..., body, :], arm) - x[body] - rotate(q[body], arm)

        for (body, arm, t2), (_, _, t3) in zip(first[:skates], last[:skates], strict=True):
            found.append(dot(0.5 * (t2 + t3), way(body, arm))[..., None] / h)
        for k, (body, centre, _, radius) in enumerate(self.wheels):
            at = skates + 2 * k
            axle, ahead = (0.5 * (first[at + i][2] + last[at + i][2]) for i in range(2))
            turn = rolled(mul(q3[..., body, :], np.broadcast_to(conj(q[body]), (*shape, 4))))
            slips = (
                dot(axle, way(body, centre)) + radius * dot(ahead, turn),
                dot(ahead, way(body, centre)) - radius * dot(axle, turn),
            )
            found += [slip[..., None] / h for slip in slips]
        return np.concatenate(found, axis=-1)
