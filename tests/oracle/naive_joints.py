"""Quaternions and joints of the slow twin: displacement, constrained and free rows, coordinates."""

from __future__ import annotations

import numpy as np

from vigym.mechanism.elements.joints import joint_frame

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def dot(a, b):
    return np.sum(a * b, axis=-1)


NEXT, LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross(a, b):
    """np.cross for vectors of three, in a tenth of its time."""
    if np.ndim(a) == 1 == np.ndim(b):
        x, y, z = a.tolist()
        u, v, w = b.tolist()
        return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
    return a.take(NEXT, -1) * b.take(LAST, -1) - a.take(LAST, -1) * b.take(NEXT, -1)


def conj(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


PRODUCTS = np.zeros((4, 4, 4))  # of the units of quaternions: [first, second, part]
PRODUCTS[0, range(4), range(4)] = PRODUCTS[range(1, 4), 0, range(1, 4)] = 1.0
PRODUCTS[range(1, 4), range(1, 4), 0] = -1.0
PRODUCTS[[1, 2, 3], [2, 3, 1], [3, 1, 2]] = 1.0
PRODUCTS[[2, 3, 1], [1, 2, 3], [3, 1, 2]] = -1.0


def mul(p, q):
    products = p[..., :, None] * q[..., None, :]
    return products.reshape(*products.shape[:-2], 16) @ PRODUCTS.reshape(16, 4)


def rotate(q, r):
    if np.ndim(q) == 1 == np.ndim(r):
        w, x, y, z = q.tolist()
        a, b, c = r.tolist()
        u = 2.0 * (y * c - z * b)
        v = 2.0 * (z * a - x * c)
        t = 2.0 * (x * b - y * a)
        return np.array(
            [
                a + w * u + y * t - z * v,
                b + w * v + z * u - x * t,
                c + w * t + x * v - y * u,
            ]
        )
    t = 2.0 * cross(q[..., 1:], r)
    return r + q[..., :1] * t + cross(q[..., 1:], t)


def matrix(q):
    if np.ndim(q) == 1:
        w, x, y, z = q.tolist()
        return np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )
    return rotate(q, np.eye(3)).T


def rotation_vector(q):
    q = np.where(q[..., :1] >= 0.0, q, -q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    return (
        2.0
        * np.where(sine < 1e-12, 1.0, np.arctan2(sine, q[..., :1]) / np.maximum(sine, 1e-12))
        * q[..., 1:]
    )


def increment(w, h):
    """The rotation of one step, (sqrt(1 - |h w / 2|^2), h w / 2)."""
    half = 0.5 * h * w
    return np.concatenate([np.sqrt(1.0 - dot(half, half))[..., None], half], axis=-1)


def mean_rate(w, h):
    """Rate of rotation (..., 3) [rad/s] of a step: (6/h) sin x / (2 + cos x), x half the angle."""
    return 3.0 / (2.0 + increment(w, h)[..., :1]) * w


TINY = 1e-30  # of complex steps, which are exact


def single_rate(turn, h):
    """Rate over a step of a single angle that changes by turn."""
    return 6.0 / h * np.sin(0.5 * turn) / (2.0 + np.cos(0.5 * turn))


def rotation_energy(r, inertia):
    """Kinetic energy (...,) times the step of what turns by the quaternion r (..., 4) in it, which may be complex."""
    angle = 6.0 / (2.0 + r[..., :1]) * r[..., 1:]
    return 0.5 * np.einsum("...i,...ij,...j->...", angle, inertia, angle)


def turn_slopes(r, inertia, end):
    """Derivatives (..., 3) of the rotation energy by a turn of the body, over its axes at this end of the step."""
    found = []
    for axis in np.eye(3):
        turn = np.append(1.0, 0.5j * TINY * axis)
        after = mul(r, turn) if end else mul(conj(turn), r)
        found.append(rotation_energy(after, inertia).imag / TINY)
    return np.stack(found, axis=-1)


def rolled(r):
    """By what a unit ball that turns by r rolls on (..., 3): its momentum times the step."""
    return turn_slopes(r, np.eye(3), True)


def wrapped(angle):
    return angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))


class TwinJoint:
    """One joint between bodies a and b: its two anchors, its two frames (columns), its cut into rows."""

    def __init__(self, joint, a, b, pose_a, pose_b):
        xa, qa = pose_a
        xb, qb = pose_b
        self.name = joint.name
        self.turns_about_two = joint.joint_type.needs_second_axis
        self.a = a
        self.b = b
        self.slides, self.turns = (
            list(joint.joint_type.translations),
            list(joint.joint_type.rotations),
        )
        self.ball, self.n_free = len(self.turns) == 3, len(self.slides) + len(self.turns)
        self.cut_slides, self.cut_turns = (
            [i for i in range(3) if i not in free] for free in (self.slides, self.turns)
        )
        self.rest, self.q_rest = (
            np.zeros(self.n_free) if self.ball else np.array(joint.rest),
            IDENTITY,
        )
        self.assembly = np.append(
            np.zeros(len(self.slides)), IDENTITY if self.ball else np.zeros(len(self.turns))
        )
        if (
            joint.type == "floating"
        ):  # coordinates are the pose of the child's centre of mass in the parent
            self.pa = np.zeros(3)
            self.pb = np.zeros(3)
            self.q_off = IDENTITY
            self.frame_a = self.frame_b = np.eye(3)
            self.rest[:3], self.q_rest = (
                rotate(conj(qa), xb - xa),
                mul(conj(qa), qb),
            )  # slack at assembly
            self.assembly = np.append(self.rest[:3], self.q_rest)
        else:
            other = joint.child_rotation  # takes the parent's half of the frame to the child's
            self.pa, self.pb = (
                rotate(conj(qa), joint.position - xa),
                rotate(conj(qb), joint.child_position - xb),
            )
            self.q_off = mul(conj(qa), mul(conj(other), qb))
            frame = joint_frame(joint.axis, joint.axis2)
            self.frame_a, self.frame_b = matrix(qa).T @ frame, matrix(qb).T @ matrix(other) @ frame
            if self.ball:  # turns about the child's own axes
                self.frame_b = np.eye(3)

    def displacement(self, x, q):
        """(dx in the parent, e) from the poses of all bodies, (..., n, 3) and (..., n, 4)."""
        (xa, qa), (xb, qb) = ((x[..., i, :], q[..., i, :]) for i in (self.a, self.b))
        dx = rotate(conj(qa), xb + rotate(qb, self.pb) - xa) - self.pa
        return dx, mul(conj(self.q_off), mul(conj(qa), qb))

    def constraint(self, x, q):
        """Position residual (..., 6 - n_free) [m, rad]."""
        dx, e = self.displacement(x, q)
        phi = 2.0 * e[..., 1:] @ self.frame_b
        if self.turns_about_two:  # the two axes stay perpendicular
            phi[..., 1] = e[..., 0] * phi[..., 1] - 0.5 * phi[..., 0] * phi[..., 2]
        return np.concatenate(
            [(dx @ self.frame_a)[..., self.cut_slides], phi[..., self.cut_turns]], axis=-1
        )

    def coordinates(self, x, q):
        """(translations (..., t), angles (..., r) modulo 2 pi or None for three rotations, e)."""
        dx, e = self.displacement(x, q)
        s = dx @ self.frame_a[:, self.slides]
        (X, Y, Z) = np.moveaxis(e[..., 1:] @ self.frame_b, -1, 0)
        w = e[..., 0]
        if self.turns_about_two:  # e = (about axis by the first) (about axis2 by the second)
            first = np.arctan2(X * Y + w * Z, w * w + X * X - 0.5)
            second = np.arctan2(Y * Z + w * X, w * w + Z * Z - 0.5)
            return s, np.stack([first, second], axis=-1), e
        return (
            s,
            None if self.ball else 2.0 * np.arctan2(Z, w)[..., None][..., : len(self.turns)],
            e,
        )

    def stretch(self, x, q, angles):
        """Coordinates minus rest at one pose, (n_free,), from the unwrapped angles; three rotations as a vector."""
        s, _, e = self.coordinates(x, q)
        return (
            np.append(s, rotation_vector(mul(conj(self.q_rest), e)) if self.ball else angles)
            - self.rest
        )

    def mean_moment(self, x2, q2, x3, q3):
        """Twice the derivatives of |phi|^2 / 2 by a turn of the child at knot 2 and at knot 3, over its axes.

        phi is the rotation vector of the mean m of the relative quaternions at both: m goes with
        the part of de / |e2 + e3| across m, and |phi|^2 / 2 by 2 m phi, across m too.
        """
        e2, e3 = self.displacement(x2, q2)[1], self.displacement(x3, q3)[1]
        e3 = np.where(dot(e2, e3)[..., None] < 0.0, -e3, e3)
        size = np.linalg.norm(e2 + e3, axis=-1, keepdims=True)
        m = (e2 + e3) / size
        phi = rotation_vector(mul(conj(self.q_rest), m))
        slope = 2.0 * mul(m, np.concatenate([np.zeros_like(phi[..., :1]), phi], axis=-1)) / size
        # a turn th of the child changes e by e (0, th / 2)
        return tuple(mul(conj(e), slope)[..., 1:] for e in (e2, e3))

    def pose(self, xa, qa, value):
        """Pose of the child from the parent's pose and the joint coordinates."""
        s, angles = np.split(value, [len(self.slides)])
        e = angles if self.ball else IDENTITY
        for i, angle in zip(self.turns, [] if self.ball else angles, strict=False):
            e = mul(e, np.append(np.cos(angle / 2.0), np.sin(angle / 2.0) * self.frame_b[:, i]))
        qb = mul(qa, mul(self.q_off, e))
        return xa + rotate(qa, self.pa + self.frame_a[:, self.slides] @ s) - rotate(qb, self.pb), qb

    def rows(self, x, q):
        """(G, J): constrained rows and free rows, each (rows, 12), over (x, th) of the parent and of the child."""
        dx, e = self.displacement(x, q)
        ra = matrix(q[self.a])
        rb = matrix(q[self.b])
        r = self.pa + dx

        def slide(
            i,
        ):  # a force on the child at its anchor, its reaction on the parent at the same point
            n = self.frame_a[:, i]
            return np.concatenate([-ra @ n, -cross(r, n), ra @ n, cross(self.pb, rb.T @ ra @ n)])

        def turn(axis):  # a torque on the child, axis [child frame]
            return np.concatenate([np.zeros(3), -ra.T @ rb @ axis, np.zeros(3), axis])

        def tilt(i):  # derivative of 2 vec(e) along column i
            c = self.frame_b[:, i]
            w = e[0]
            vec = e[1:]
            on_a = -matrix(self.q_off) @ (w * c + cross(vec, c))
            return np.concatenate([np.zeros(3), on_a, np.zeros(3), w * c + cross(c, vec)])

        constrained = [slide(i) for i in self.cut_slides] + [tilt(i) for i in self.cut_turns]
        free = [slide(i) for i in self.slides] + [turn(self.frame_b[:, i]) for i in self.turns]
        if self.turns_about_two:
            first = rb.T @ ra @ self.frame_a[:, 2]
            constrained[-1], free[-2] = turn(cross(first, self.frame_b[:, 0])), turn(first)
        return np.reshape(constrained, (-1, 12)), np.reshape(free, (-1, 12))
