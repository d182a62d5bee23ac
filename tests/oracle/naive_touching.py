"""Contact points in the slow twin: gaps, slips, the directions in which forces act; points of bodies on the ground.

At the knot now every point has a frame: the ground's normal n, t1 along the body-fixed `direction`
on the ground, t2 = n x t1, and an arm from the centre of mass to where it touches; both stay with
the body over the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oracle.naive_joints import conj, cross, dot, mul, rolled, rotate
from oracle.naive_laws import Drag, Slip, Stop

QUARTERS = (
    (1.0, 0.0),
    (0.0, 1.0),
    (-1.0, 0.0),
    (0.0, -1.0),
)  # (cosine, sine) of the points of a rim


class End(NamedTuple):
    """What a contact does at one body: the sign of its force, and body-fixed points where it acts and which slips."""

    sign: float
    body: int
    press: np.ndarray
    slip: np.ndarray


def unit(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


class TwinContact:
    """One point of a collision: a ball of `radius` about `point`, or one of four points of a circle (`quarter`)."""

    guards = of_segment = (
        False  # whether it has to be looked for elsewhere on its body; whether on a segment
    )

    def __init__(self, collision, touch, body, ground, quarter=None):
        self.body = body
        self.point = touch.point
        self.radius = touch.radius
        self.quarter = quarter
        self.axis = touch.axis if quarter is not None else None
        self.normal, self.height = ground.normal, ground.height
        given = collision.friction if ground.friction is None else ground.friction
        self.friction, self.torsion = np.full(3, given, float), collision.torsion
        self.restitution, self.direction = collision.restitution, collision.direction

    def place(self, x, q):
        """A point stays where it is on its body."""
        return 0.0

    def gap(self, x, q, near=None):
        """Distance to the ground (...,) [m] at poses of all bodies."""
        centre = x[..., self.body, :] + rotate(q[..., self.body, :], self.point)
        low = self.radius
        if self.quarter is not None:
            axis = rotate(q[..., self.body, :], self.axis)
            low = self.radius * self.quarter[0] * np.linalg.norm(cross(self.normal, axis), axis=-1)
        return centre @ self.normal - self.height - low

    def arm(self, x, q):
        """From the centre of mass to where it touches, body axes (3,), at one pose."""
        turn, down = q[self.body], conj(q[self.body])
        if self.quarter is None:
            return self.point - self.radius * rotate(down, self.normal)
        axis = rotate(turn, self.axis)
        across = cross(self.normal, axis)
        if np.linalg.norm(across) < 1e-9:
            across = cross(self.normal, rotate(turn, self.side()))
        across = unit(across)
        deep = unit(cross(across, axis))
        deep = deep if dot(deep, self.normal) <= 0.0 else -deep
        cosine, sine = self.quarter
        return self.point + self.radius * rotate(down, cosine * deep + sine * cross(axis, deep))

    def spoke_after(self, q, q3, spoke):
        """Spokes (..., 3) [world] from the point or centre to where it touches at q3; `spoke` in the body at q."""
        if self.quarter is None:
            return -self.radius * self.normal
        axis = rotate(q3[..., self.body, :], self.axis)
        if self.quarter == QUARTERS[0]:
            across = self.normal - axis * dot(axis, self.normal)[..., None]
            return -self.radius * unit(across)
        before, spoke = rotate(q[self.body], self.axis), rotate(q[self.body], spoke)
        share = dot(axis, spoke) / (1.0 + dot(axis, before))
        return spoke - share[..., None] * (axis + before)

    def ends(self, x, q, place):
        """Where the force acts and what slips: one point of one body."""
        arm = self.arm(x, q)
        return [End(1.0, self.body, arm, arm)]

    def mass(self, lightest, joined):
        """Mean of the least mass [kg] that a force moves where it may touch and of what joints join."""
        return np.sqrt(lightest(self.body, self.point, self.radius) * joined(self.body))

    def side(self):
        """A direction of the body across the axis."""
        return unit(cross(self.axis, np.eye(3)[np.abs(self.axis).argmin()]))

    def frame(self, x, q, place):
        """Rows n, t1, t2 (3, 3) at one pose, world axes."""
        along = rotate(q[self.body], self.direction)
        along = along - self.normal * dot(self.normal, along)
        if np.linalg.norm(along) < 1e-9:  # the direction stands on the ground
            along = cross(self.normal, np.eye(3)[np.abs(self.normal).argmin()])
        t1 = unit(along)
        return np.array([self.normal, t1, cross(self.normal, t1)])


class Touching:
    """Contact points at one knot; forces and quantities in groups of normal, along, across and, with torsion, spin."""

    def __init__(self, contacts, x, q, places=None):
        self.contacts = contacts
        self.x = x
        self.q = q
        self.places = [c.place(x, q) for c in contacts] if places is None else places
        held = list(zip(contacts, self.places, strict=True))
        self.frames, self.ends = (
            [c.frame(x, q, s) for c, s in held],
            [c.ends(x, q, s) for c, s in held],
        )
        self.gaps = np.array([c.gap(x, q, s) for c, s in held])
        sizes = [3 + (c.torsion > 0.0) for c in contacts]
        self.starts, self.size = np.cumsum([0, *sizes])[:-1], sum(sizes)

    def laws(self):
        laws = []
        for start, contact in zip(self.starts, self.contacts, strict=True):
            laws += [Stop(start), Slip((start + 1, start + 2), start, contact.friction)]
            laws += [Drag(start + 3, contact.torsion, start)] if contact.torsion > 0.0 else []
        return laws

    def rows(self):
        """Directions of the forces over (x, th) of all bodies, (rows, 6 n)."""
        n, found = len(self.x) - 1, []
        for c, frame, ends in zip(self.contacts, self.frames, self.ends, strict=True):
            wide = np.zeros((3 + (c.torsion > 0.0), n + 1, 6))
            for end in ends:
                turned = rotate(conj(self.q[end.body]), frame)
                wide[:3, end.body] += end.sign * np.hstack([frame, cross(end.press[None], turned)])
                wide[3:, end.body, 3:] = turned[0]
            found.append(wide[:, 1:].reshape(len(wide), 6 * n))
        return np.vstack(found) if found else np.zeros((0, 6 * n))

    def quantities(self, x3, q3, w, h, floors):
        """Gap rates above the floors [m/s], slips [m/s] and spins [rad/s] over the step, (..., rows)."""
        found = [np.zeros((*x3.shape[:-2], 0))]
        held = zip(self.contacts, self.frames, self.ends, self.places, floors, strict=True)
        for c, frame, ends, place, floor in held:
            met = None
            if not hasattr(c, "spoke_after"):
                met = [c.meetings(*poses, place) for poses in ((self.x, self.q), (x3, q3))]
            gap = c.gap(x3, q3, place) if met is None else met[1][0]
            moved = sum(end.sign * self.moved(c, x3, q3, end, met) for end in ends)
            found += [(gap - floor)[..., None] / h, moved @ frame[1:].T / h]
            if c.torsion > 0.0:
                found.append(
                    w[..., c.body - 1, :] @ rotate(conj(self.q[c.body]), frame[0])[:, None]
                )
        return np.concatenate(found, axis=-1)

    def moved(self, contact, x3, q3, end, met):
        """Mean way of the points of a body that touch at both knots, world (..., 3).

        On the ground with spokes r from the centre c of a ball or rim: c3 - c2 + turn x (r2 + r3)/2.
        Of two bodies the places where both touch, `met` at the knots, move on them by arcs, of which
        spokes know the chords.
        """
        b = end.body
        x, q = x3[..., b, :] - self.x[b], q3[..., b, :]
        if met is not None:
            which = 0 if end.sign > 0.0 else 1
            mean = 0.5 * (end.slip + rotate(conj(q), met[1][1 + which] - x3[..., b, :]))
            spokes = [contact.spokes(normal)[which] for *_, normal in met]
            chord = rotate(conj(q), spokes[1]) - rotate(conj(self.q[b]), spokes[0])
            chord = 0.5 * (rotate(q, chord) + rotate(self.q[b], chord))
            c = mul(conj(self.q[b]), q)[..., :1]
            excess = 9.0 * (1.0 + 2.0 * c) / (c * (2.0 + c) ** 3) - 1.0
            return x + rotate(q, mean) - rotate(self.q[b], mean) - excess * chord
        turn = rolled(mul(q, np.broadcast_to(conj(self.q[b]), q.shape)))
        spoke = end.slip - contact.point
        mean = 0.5 * (rotate(self.q[b], spoke) + contact.spoke_after(self.q, q3, spoke))
        return x + rotate(q, contact.point) - rotate(self.q[b], contact.point) + cross(turn, mean)

    def forces(self, f):
        """World forces (contacts, 3) from those of all rows, on the first body of two."""
        pairs = zip(self.starts, self.frames, strict=True)
        return np.array([f[i : i + 3] @ frame for i, frame in pairs]).reshape(-1, 3)
