"""The slow twin with curve, surface and custom joints: places and rows by differences."""

from __future__ import annotations

import numpy as np

from oracle.naive import Twin
from oracle.naive_joints import cross, dot, matrix, mul, rotate
from oracle.naive_springs import TwinSprings
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.nearest import find_nearest_places
from vigym.mechanism.tracks.slides import Slide
from vigym.mechanism.tracks.surfaces import Ellipsoid

PROBE = 1e-3  # [m, rad] of differences of residuals, to the fourth order


def derivative(function, at, step):
    """Central difference along each parameter (n, 3), to the fourth order."""
    ways = step * np.eye(len(at))
    near, far = ([(function(at + k * way), function(at - k * way)) for way in ways] for k in (1, 2))
    return np.array(
        [(8 * (a - b) - (c - d)) / (12 * step) for (a, b), (c, d) in zip(near, far, strict=True)]
    )


def moved(x, q, step):
    """Poses after a small motion (6 n,) of all bodies but the world."""
    parts = step.reshape(-1, 6)
    x3, q3 = x.copy(), q.copy()
    x3[1:] += parts[:, :3]
    half = np.concatenate([np.ones((len(parts), 1)), 0.5 * parts[:, 3:]], axis=1)
    q3[1:] = mul(q[1:], half / np.linalg.norm(half, axis=1, keepdims=True))
    return x3, q3


def derivative_of(twin, x, q, function):
    """Derivatives (rows, 6 n) of a function of poses by the motion of both bodies of a joint."""
    bodies = [body for body in (twin.a, twin.b) if body > 0]
    columns = np.concatenate([6 * (body - 1) + np.arange(6) for body in bodies])

    def values(step):
        motion = np.zeros(6 * (len(x) - 1))
        motion[columns] = step
        return np.asarray(function(*moved(x, q, motion)))

    along = derivative(values, np.zeros(len(columns)), PROBE).T
    rows = np.zeros((len(along), 6 * (len(x) - 1)))
    rows[:, columns] = along
    return rows


def unit(vector):
    return vector / np.linalg.norm(vector)


class TwinTrack:
    """One joint: places (parameters of both sides) at the pose it was asked for last."""

    def __init__(self, track, index, poses):
        self.track = track
        self.a, self.b = index[track.a], index[track.b]
        nearest = find_nearest_places(track, poses[track.a], poses[track.b])
        self.sense, self.locked = nearest.sense, nearest.angle
        self.sizes = track.side_a.dimensions, track.side_b.dimensions
        pairs = (track.side_a, nearest.place_a), (track.side_b, nearest.place_b)
        self.place = np.concatenate([self.parameters(*pair) for pair in pairs])
        self.slopes = None
        self.helper = None  # of directions across another one: the same in all differences

    @staticmethod
    def parameters(side, place):
        """Parameters of a place; of an ellipsoid two angles, with poles on its x axis."""
        if isinstance(side, Ellipsoid):
            return np.array([np.arctan2(place[2], place[1]), np.arcsin(place[0])])
        return place[: side.dimensions]

    def point(self, side, x, q, parameters):
        place = np.append(parameters, np.zeros(3 - len(parameters)))
        if isinstance(side, Ellipsoid):
            turn, tilt = parameters
            across = np.cos(tilt) * np.array([np.cos(turn), np.sin(turn)])
            place = np.append(np.sin(tilt), across)
        return x + rotate(q, side.in_body(place[None])[0])

    def residuals(self, x, q):
        """Gaps of all rows at poses (n + 1, 3), (n + 1, 4)."""
        track, n = self.track, self.sizes[0]

        def side_a(u):
            return self.point(track.side_a, x[self.a], q[self.a], u)

        def side_b(v):
            return self.point(track.side_b, x[self.b], q[self.b], v)

        def tangents(place):
            along_a = derivative(side_a, place[:n], 1e-3)
            return along_a, derivative(side_b, place[n:], 1e-3)

        def equations(place):
            r = side_b(place[n:]) - side_a(place[:n])
            along_a, along_b = tangents(place)
            normal = cross(*along_a) if n == 2 else r
            return np.append(along_a @ r, along_b @ normal if len(along_b) else [])

        for k in range(200 if len(self.place) else 0):
            if self.slopes is None or k % 10 == 9:  # a chord between
                self.slopes = derivative(equations, self.place, 1e-3).T
            step = np.linalg.solve(self.slopes, -equations(self.place))
            self.place = self.place + step * min(1.0, 0.05 / max(np.abs(step).max(), 1e-300))
            if np.abs(step).max() < 1e-11:
                break
        r = side_b(self.place[n:]) - side_a(self.place[:n])
        along_a, along_b = tangents(self.place)
        if track.on_curve:
            return self.on_curve(r, unit(along_a[0]), q)
        normal = unit(self.sense * cross(*along_a) if n == 2 else r)
        gaps = [dot(normal, r) - track.side_a.offset - track.side_b.offset]
        if not track.spin:
            ways = zip(
                (self.a, self.b), (track.side_a, track.side_b), (along_a, along_b), strict=True
            )
            ways = [self.direction(side, along, q[body]) for body, side, along in ways]
            gaps.append(self.turned(normal, *ways))
        if track.axis is not None:
            gaps += list(self.across(normal) @ rotate(q[self.b], track.axis))
        return np.array(gaps)

    def coordinate(self, x, q, k):
        """Arc length of a curve at poses."""
        assert self.track.on_curve, f"{self.track.name}: the twin has forces along curves alone"
        self.residuals(x, q)
        place = np.append(self.place, np.zeros(2))[None]
        return float(self.track.side_a.lengths(place)[0])

    @staticmethod
    def direction(side, along, q):
        """Direction that tells how a side is turned: a tangent, or the z axis."""
        has_poles = isinstance(side, Ellipsoid) or not len(along)
        return rotate(q, side.rotation[:, 2]) if has_poles else along[0]

    def turned(self, normal, way_a, way_b):
        """Sine of the angle about the normal, from the locked one."""
        m_a, m_b = (unit(way - dot(way, normal) * normal) for way in (way_a, way_b))
        angle = np.arctan2(dot(normal, cross(m_a, m_b)), dot(m_a, m_b))
        return np.sin(angle - self.locked)

    def across(self, direction):
        """Two unit vectors across a direction."""
        if self.helper is None:
            self.helper = np.eye(3)[np.abs(direction).argmin()]
        first = unit(cross(self.helper, direction))
        return np.array([first, cross(direction, first)])

    def on_curve(self, r, tangent, q):
        across = self.across(tangent)
        track = self.track
        axis = [] if track.axis is None else across @ rotate(q[self.b], track.axis)
        return np.append(across @ r, axis)


class TwinTransform:
    """One joint of the user's own: coordinates by least squares at the pose it was asked for last."""

    def __init__(self, track, index, poses):
        self.a, self.b = index[track.a], index[track.b]
        self.sides, self.transform = (track.side_a, track.side_b), track.transform
        self.coordinates = track.start
        self.slopes = None
        still = self.gap(self.frames(*poses[track.a], *poses[track.b]), track.start)
        assert np.abs(still).max() < 1e-12
        _, _, ways = np.linalg.svd(self.twists(self.coordinates).T)
        self.rows = ways[len(track.start) :]  # no coordinate moves along these at the start

    def frames(self, x_a, q_a, x_b, q_b):
        """Position and axes of both frames in the world."""
        return [
            (x + rotate(q, side.position), rotate(q, side.rotation.T).T)
            for x, q, side in zip((x_a, x_b), (q_a, q_b), self.sides, strict=True)
        ]

    def pose(self, u):
        position, turn = (np.asarray(part).real for part in self.transform(u.astype(complex)))
        if turn.shape == (4,):
            turn = matrix(turn)
        return position, turn

    def gap(self, frames, u):
        """Place and half the rotation from the transform to the child, in the parent's frame."""
        (x_a, R_a), (x_b, R_b) = frames
        position, turn = self.pose(u)
        off = (R_a.T @ R_b) @ turn.T
        spin = np.array([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
        return np.append(R_a.T @ (x_b - x_a) - position, 0.5 * spin)

    def twists(self, u):
        """Derivatives (6, n) of place and rotation of the transform, by differences."""
        here = np.zeros(3), np.eye(3)
        return -derivative(lambda v: self.gap([here, self.pose(u)], v), u, 1e-3).T

    def residuals(self, x, q):
        frames = self.frames(x[self.a], q[self.a], x[self.b], q[self.b])
        for k in range(30):
            if self.slopes is None or k % 10 == 9:  # a chord between
                self.slopes = self.twists(self.coordinates)
            step = np.linalg.lstsq(self.slopes, self.gap(frames, self.coordinates), rcond=None)[0]
            self.coordinates = self.coordinates + step
            if np.abs(step).max() < 1e-12:
                break
        return self.rows @ self.gap(frames, self.coordinates)

    def coordinate(self, x, q, k):
        self.residuals(x, q)
        return self.coordinates[k]


class TwinSlides(TwinSprings):
    """Springs between points, and those along curves and coordinates of one's own."""

    def __init__(self, springs, index, tracks):
        super().__init__(springs, index)
        self.slides = []
        for twin, track in tracks:
            for coordinate in track.coordinates():
                slide = coordinate.forces
                if slide == Slide(limits=slide.limits):
                    continue  # limits alone: the twin keeps away from them
                assert not slide.friction, f"{track.name}: the twin knows no dry friction"
                self.slides.append((twin, coordinate.parameter))
                self.stiffness = np.append(self.stiffness, slide.stiffness)
                self.rest = np.append(self.rest, slide.rest)
                self.damping = np.append(self.damping, slide.damping)

    def coordinates(self, x, q):
        return np.array([twin.coordinate(x, q, k) for twin, k in self.slides])

    def lengths(self, x, q):
        steps = np.ndindex(x.shape[:-2])
        own = np.array([self.coordinates(x[i], q[i]) for i in steps])
        return np.append(super().lengths(x, q), own.reshape(*x.shape[:-2], -1), axis=-1)

    def rows(self, x, q):
        own = [
            derivative_of(twin, x, q, lambda *poses, twin=twin, k=k: [twin.coordinate(*poses, k)])
            for twin, k in self.slides
        ]
        return np.vstack([super().rows(x, q), *own])


class TrackTwin(Twin):
    """One mechanism without other loops; starts at the assembly pose."""

    def __init__(self, mech, timestep=0.01):
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        still = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        poses = {"world": still} | {
            b.name: (b.position, b.orientation) for b in mech.bodies.values()
        }
        tracks = mech.tracks.values()
        self.tracks = [
            (TwinTransform if isinstance(track, CustomJoint) else TwinTrack)(track, index, poses)
            for track in tracks
        ]
        super().__init__(mech, timestep)
        pairs = zip(self.tracks, tracks, strict=True)
        self.springs = TwinSlides(mech.springs.values(), index, pairs)
        self.reset()

    def constraint(self, x, q):
        own = [track.residuals(x, q) for track in self.tracks]
        return np.concatenate([super().constraint(x, q), *own])

    def rows(self, x=None, q=None, joints=None):
        x, q = (self.x, self.q) if x is None else (x, q)
        G, J = super().rows(x, q, joints)
        if joints is not None:
            return G, J

        own = [derivative_of(track, x, q, track.residuals) for track in self.tracks]
        return np.vstack([G, *own]), J
