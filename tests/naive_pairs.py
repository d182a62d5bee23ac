"""Contacts of two bodies in the slow twin: a segment against a box by its pieces, one pose at a time.

What is outside of a box grows along a segment in straight pieces, between the places where it passes the planes of the
box's faces. In each piece the nearest point is a root of a line, so it is found exactly.
"""

from __future__ import annotations

import numpy as np
from naive_joints import conj, cross, dot, matrix, rotate
from naive_touching import End, unit

from vigym.mechanism.shapes import Box, Capsule, Sphere

LEVEL = 1e-6  # part of its length squared that pulls the nearest point of a level segment to its middle
STEEP = 1e-9  # of a box's half size: a segment no steeper than that does not leave a slab
INSIDE = 1e-12  # [m]


def outside(p, half):
    """What a point is outside of a box, in its axes."""
    return p - np.clip(p, -half, half)


def crossings(p, d, half):
    """Where from -1 to 1 the segment p + s d passes planes of faces, ends included, sorted."""
    planes = np.concatenate([(side * half - p)[d != 0.0] / d[d != 0.0] for side in (-1.0, 1.0)])
    return np.sort(np.concatenate([[-1.0, 1.0], planes[np.abs(planes) < 1.0]]))


def nearest(p, d, half):
    """Where the segment is nearest to the box; of a level piece about the middle."""
    ends = crossings(p, d, half)
    slopes = np.array([outside(p + s * d, half) @ d + LEVEL * s * (d @ d) for s in ends])
    if slopes[0] >= 0.0 or slopes[-1] <= 0.0:
        return -1.0 if slopes[0] >= 0.0 else 1.0
    i = np.flatnonzero(slopes > 0.0)[0]
    return ends[i - 1] - slopes[i - 1] * (ends[i] - ends[i - 1]) / (slopes[i] - slopes[i - 1])


def part_over(s, p, d, half):
    """(first, last) of the segment over the face, or beside the segment, that its point s is nearest to."""
    apart = np.abs(outside(p + s * d, half))
    first, last = -1.0, 1.0
    for k in np.flatnonzero((apart < apart.max()) & (half > 0.0) & (np.abs(d) > STEEP * half)):
        low, high = sorted([(-half[k] - p[k]) / d[k], (half[k] - p[k]) / d[k]])
        first, last = max(first, low), min(last, high)
    return (first, last) if first <= last else (s, s)


def towards(p, half):
    """(distance to the box's surface, negative inside; normal out of it) of a point, in its axes."""
    e = outside(p, half)
    distance = np.sqrt(e @ e)
    if distance > INSIDE:
        return distance, e / distance
    k = np.argmin(half - np.abs(p))
    return np.abs(p[k]) - half[k], np.eye(3)[k] * (1.0 if p[k] >= 0.0 else -1.0)


def segment_of(shape):
    """Half of a shape's middle segment in the body's axes; zero of a ball."""
    length = shape.length if isinstance(shape, Capsule) else 0.0
    return rotate(np.asarray(shape.orientation, float), np.array([0.0, 0.0, 0.5 * length]))


def box_of(shape):
    """(half sizes, radius) of what a shape is a rounded box of."""
    if isinstance(shape, Box):
        return 0.5 * np.asarray(shape.size), 0.0
    return np.array([0.0, 0.0, 0.5 * shape.length if isinstance(shape, Capsule) else 0.0]), shape.radius


class TwinPair:
    """One contact of two bodies: the nearest point of a segment ("nearest"), or an end of what is over the partner."""

    torsion = 0.0

    def __init__(self, first, second, body, partner, which):
        self.body, self.partner, self.which = body, partner, which
        self.middle, self.half, self.radius = np.asarray(first.shape.position), segment_of(first.shape), 0.0
        self.radius, (self.size, self.round) = first.shape.radius, box_of(second.shape)
        self.centre, self.turn = np.asarray(second.shape.position), np.asarray(second.shape.orientation, float)
        mu = np.sqrt(np.mean(first.friction) * np.mean(second.friction))
        self.friction, self.restitution = np.full(3, mu), np.sqrt(first.restitution * second.restitution)

    def meeting(self, x, q):
        """(gap, normal from the partner to the own body, nearest points of both surfaces) at one pose, world."""
        b, c = self.body, self.partner
        axes = matrix(q[c]) @ matrix(self.turn)
        centre = x[c] + rotate(q[c], self.centre)
        middle, half = x[b] + rotate(q[b], self.middle), rotate(q[b], self.half)
        p, d, s = axes.T @ (middle - centre), axes.T @ half, 0.0
        if np.any(self.half):
            s = nearest(p, d, self.size)
            if self.which != "nearest":
                s = part_over(s, p, d, self.size)[self.which == "head"]
        distance, n = towards(p + s * d, self.size)
        n, own = axes @ n, middle + s * half
        return distance - self.radius - self.round, n, own - self.radius * n, own - (distance - self.round) * n

    def gap(self, x, q):
        """Distance of both (...,) [m]; negative where they overlap."""
        shape = np.broadcast_shapes(x.shape[:-2], q.shape[:-2])
        x, q = np.broadcast_to(x, (*shape, *x.shape[-2:])), np.broadcast_to(q, (*shape, *q.shape[-2:]))
        return np.array([self.meeting(x[i], q[i])[0] for i in np.ndindex(shape)]).reshape(shape)

    def frame(self, x, q):
        """Rows n, t1, t2 (3, 3) at one pose, world axes."""
        _, n, _, _ = self.meeting(x, q)
        t1 = unit(cross(n, np.eye(3)[np.abs(n).argmin()]))
        return np.array([n, t1, cross(n, t1)])

    def ends(self, x, q):
        """Forces act on both at one point, halfway; what slips are the points of both surfaces."""
        _, _, own, other = self.meeting(x, q)
        half, found = 0.5 * (own + other), []
        for sign, body, point in ((1.0, self.body, own), (-1.0, self.partner, other)):
            press, slip = (rotate(conj(q[body]), place - x[body]) for place in (half, point))
            found.append(End(sign, body, press, slip))
        return found

    def mass(self, lightest):
        """At least what moves where both touch [kg], however they are connected."""
        own = lightest(self.body, self.middle, np.sqrt(dot(self.half, self.half)) + self.radius)
        other = lightest(self.partner, self.centre, np.linalg.norm(self.size) + self.round)
        return 0.5 / (1.0 / own + 1.0 / other)


def pair_contacts(mech, index):
    """All contacts of two bodies, pair by pair."""
    found = []
    for a, b in mech.pairs:
        shapes = [[c for c in mech.collisions.values() if c.body == body and c.shape is not None] for body in (a, b)]
        for first in shapes[0]:
            for second in shapes[1]:
                own, other = sorted((first, second), key=lambda c: (Sphere, Capsule, Box).index(type(c.shape)))
                kinds = ["nearest"] if isinstance(own.shape, Sphere) else ["nearest", "head", "tail"]
                found += [TwinPair(own, other, index[own.body], index[other.body], kind) for kind in kinds]
    return found
