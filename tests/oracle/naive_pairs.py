"""Contacts of two bodies in the slow twin: a segment against a box by its pieces, one pose at a time.

What is outside of a box grows along a segment in straight pieces, between the places where it
passes the planes of the box's faces. In each piece the nearest point is a root of a line, so it is
found exactly.
"""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, cross, dot, matrix, rotate
from oracle.naive_touching import End, unit
from vigym.mechanism.elements.shapes import Box, Capsule, Sphere

LEVEL = (
    1e-5  # part of its length squared that pulls the nearest point of a level segment to its middle
)
STEEP = 1e-9  # of a box's half size: a segment no steeper than that does not leave a slab
INSIDE = 1e-12  # [m]
STANDS = 1e-9  # squared length along a surface of an axis that stands on it, far above rounding
SLIDES = 0.25  # of half the segment: over a step the place stays so near that of the knot before it


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
    return np.array(
        [0.0, 0.0, 0.5 * shape.length if isinstance(shape, Capsule) else 0.0]
    ), shape.radius


class TwinPair:
    """One contact of two bodies: the nearest point of a segment ("nearest"), or an end of what is over the partner."""

    torsion = 0.0

    def __init__(self, first, second, body, partner, which):
        self.body = body
        self.partner = partner
        self.which = which
        self.guards = which == "nearest"
        self.of_segment = isinstance(first.shape, Capsule)
        self.middle = np.asarray(first.shape.position)
        self.half = segment_of(first.shape)
        self.radius = 0.0
        self.radius = first.shape.radius
        self.size, self.round = box_of(second.shape)
        self.centre, self.turn = (
            np.asarray(second.shape.position),
            np.asarray(second.shape.orientation, float),
        )
        mu = np.sqrt(np.mean(first.friction) * np.mean(second.friction))
        self.friction, self.restitution = (
            np.full(3, mu),
            np.sqrt(first.restitution * second.restitution),
        )

    def in_box_axes(self, x, q):
        """(axes of the partner's box, middle and half of the own segment in them) at one pose."""
        b, c = self.body, self.partner
        axes = matrix(q[c]) @ matrix(self.turn)
        middle = x[b] + rotate(q[b], self.middle) - x[c] - rotate(q[c], self.centre)
        return axes, axes.T @ middle, axes.T @ rotate(q[b], self.half)

    def place(self, x, q):
        """Where on the own segment it is at one pose, from -1 to 1."""
        _, p, d = self.in_box_axes(x, q)
        if not np.any(self.half):
            return 0.0
        s = nearest(p, d, self.size)
        return s if self.which == "nearest" else part_over(s, p, d, self.size)[self.which == "head"]

    def meeting(self, x, q, s):
        """(gap, normal from the partner to the own body, points of both surfaces) at one pose and place, world."""
        axes, p, d = self.in_box_axes(x, q)
        distance, n = towards(p + s * d, self.size)
        n, own = (
            axes @ n,
            x[self.partner] + rotate(q[self.partner], self.centre) + axes @ (p + s * d),
        )
        return (
            distance - self.radius - self.round,
            n,
            own - self.radius * n,
            own - (distance - self.round) * n,
        )

    def meetings(self, x, q, near):
        """Gap [m] (...,), negative where they overlap, points of both surfaces (..., 3) and normal, world.

        Near a place of the segment if there is one, and there where it is an end of what is over
        the partner.
        """
        shape = np.broadcast_shapes(x.shape[:-2], q.shape[:-2])
        both = [self.body, self.partner]
        poses = [
            np.broadcast_to(each[..., both, :], (*shape, 2, each.shape[-1])) for each in (x, q)
        ]
        poses = np.concatenate(poses, axis=-1).reshape(-1, 14)
        # in most differences only other bodies move
        poses, which = np.unique(poses, axis=0, return_inverse=True)
        gap = np.zeros(len(poses))
        own, other, normal = (np.zeros((len(poses), 3)) for _ in range(3))
        here, turned = x[(0,) * len(shape)].copy(), q[(0,) * len(shape)].copy()
        for i, pose in enumerate(poses):
            here[both], turned[both] = np.split(pose.reshape(2, 7), [3], axis=1)
            s = near if near is not None and not self.guards else self.place(here, turned)
            s = s if near is None else np.clip(s, near - SLIDES, near + SLIDES)
            gap[i], normal[i], own[i], other[i] = self.meeting(here, turned, s)
        found = [each[which] for each in (gap, own, other, normal)]
        return [each.reshape(shape + each.shape[1:]) for each in found]

    def spokes(self, normal):
        """Parts of the arms of both bodies that stand on their surfaces (..., 3), world."""
        return -self.radius * normal, self.round * normal

    def gap(self, x, q, near=None):
        """Distance of both (...,) [m], see `meetings`."""
        return self.meetings(x, q, near)[0]

    def frame(self, x, q, s):
        """Rows n, t1, t2 (3, 3) at one pose and place, world axes.

        t1 lies along the own body's x axis, or along y where x stands on the surface. Softness
        counts from the components of the last force, so tangents must not jump from knot to knot.
        """
        _, n, _, _ = self.meeting(x, q, s)
        x_axis, y_axis = (along - n * dot(n, along) for along in matrix(q[self.body]).T[:2])
        t1 = unit(x_axis if dot(x_axis, x_axis) > STANDS else y_axis)
        return np.array([n, t1, cross(n, t1)])

    def ends(self, x, q, s):
        """Forces act on both at one point, halfway; what slips are the points of both surfaces."""
        _, _, own, other = self.meeting(x, q, s)
        half, found = 0.5 * (own + other), []
        for sign, body, point in ((1.0, self.body, own), (-1.0, self.partner, other)):
            press, slip = (rotate(conj(q[body]), place - x[body]) for place in (half, point))
            found.append(End(sign, body, press, slip))
        return found

    def mass(self, lightest, _joined):
        """At least what moves where both touch [kg], however they are connected."""
        own = lightest(self.body, self.middle, np.sqrt(dot(self.half, self.half)) + self.radius)
        other = lightest(self.partner, self.centre, np.linalg.norm(self.size) + self.round)
        return 0.5 / (1.0 / own + 1.0 / other)


def pair_contacts(mech, index):
    """All contacts of two bodies, pair by pair."""
    found = []
    for a, b in mech.pairs:
        shapes = [
            [c for c in mech.collisions.values() if c.body == body and c.shape is not None]
            for body in (a, b)
        ]
        for first in shapes[0]:
            for second in shapes[1]:
                own, other = sorted(
                    (first, second), key=lambda c: (Sphere, Capsule, Box).index(type(c.shape))
                )
                kinds = (
                    ["nearest"] if isinstance(own.shape, Sphere) else ["nearest", "head", "tail"]
                )
                found += [
                    TwinPair(own, other, index[own.body], index[other.body], kind) for kind in kinds
                ]
    return found
