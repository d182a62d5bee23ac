"""The slow twin with curve and surface joints: places by Newton on differences, rows by differences."""

from __future__ import annotations

import numpy as np

from oracle.naive import Twin
from oracle.naive_joints import cross, dot, mul, rotate
from vigym.mechanism.tracks.sides import Ellipsoid

PROBE = 1e-5  # [m, rad] of differences of residuals, whose third derivatives are some units


def derivative(function, at, step):
    """Central difference along each parameter (n, 3), to the fourth order."""
    ways = step * np.eye(len(at))
    near, far = ([(function(at + k * way), function(at - k * way)) for way in ways] for k in (1, 2))
    return np.array(
        [(8 * (a - b) - (c - d)) / (12 * step) for (a, b), (c, d) in zip(near, far, strict=True)]
    )


class TwinTrack:
    """One joint: places (parameters of both sides) at the pose it was asked for last."""

    def __init__(self, track, index, poses):
        self.track, self.a, self.b = track, index[track.a], index[track.b]
        place_a, place_b, self.sense = track.start(poses[track.a], poses[track.b])
        self.sizes = track.side_a.dimensions, track.side_b.dimensions
        pairs = (track.side_a, place_a), (track.side_b, place_b)
        self.place = np.concatenate([self.parameters(*pair) for pair in pairs])

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
        own = side._own(place[None])[0]
        return x + rotate(q, side.position + side.rotation @ own)

    def residuals(self, x, q):
        """Gaps of all rows at poses (n + 1, 3), (n + 1, 4)."""
        track, n = self.track, self.sizes[0]

        def side_a(u):
            return self.point(track.side_a, x[self.a], q[self.a], u)

        def side_b(v):
            return self.point(track.side_b, x[self.b], q[self.b], v)

        def tangents(place):
            along_a = derivative(side_a, place[:n], 1e-4)
            return along_a, derivative(side_b, place[n:], 1e-4)

        def equations(place):
            r = side_b(place[n:]) - side_a(place[:n])
            along_a, along_b = tangents(place)
            normal = cross(*along_a) if n == 2 else r
            return np.append(along_a @ r, along_b @ normal if len(along_b) else [])

        for _ in range(200 if len(self.place) else 0):
            slopes = derivative(equations, self.place, 1e-4).T
            step = np.linalg.solve(slopes, -equations(self.place))
            self.place = self.place + step * min(1.0, 0.05 / max(np.abs(step).max(), 1e-300))
            if np.abs(step).max() < 1e-11:
                break
        r = side_b(self.place[n:]) - side_a(self.place[:n])
        along_a, _ = tangents(self.place)
        if not track.on_curve:
            normal = self.sense * cross(*along_a) if n == 2 else r
            offset = track.side_a.offset + track.side_b.offset
            return np.array([dot(normal / np.linalg.norm(normal), r) - offset])
        tangent = along_a[0] / np.linalg.norm(along_a[0])
        helper = np.array([0.0, 0.0, 1.0] if tangent[2] ** 2 < 0.5 else [1.0, 0.0, 0.0])
        first = cross(helper, tangent)
        across = np.array([first, cross(tangent, first)])
        across /= np.linalg.norm(across, axis=1)[:, None]
        axis = [] if track.axis is None else across @ rotate(q[self.b], track.axis)
        return np.append(across @ r, axis)


class TrackTwin(Twin):
    """One mechanism without other loops; starts at the assembly pose."""

    def __init__(self, mech, timestep=0.01):
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        still = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        poses = {"world": still} | {
            b.name: (b.position, b.orientation) for b in mech.bodies.values()
        }
        self.tracks = [TwinTrack(track, index, poses) for track in mech.tracks.values()]
        super().__init__(mech, timestep)

    def constraint(self, x, q):
        own = [track.residuals(x, q) for track in self.tracks]
        return np.concatenate([super().constraint(x, q), *own])

    def rows(self, x=None, q=None, joints=None):
        x, q = (self.x, self.q) if x is None else (x, q)
        G, J = super().rows(x, q, joints)
        if joints is not None:
            return G, J

        def moved(step):
            parts = step.reshape(self.n, 6)
            x3, q3 = x.copy(), q.copy()
            x3[1:] += parts[:, :3]
            half = np.concatenate([np.ones((self.n, 1)), 0.5 * parts[:, 3:]], axis=1)
            q3[1:] = mul(q[1:], half / np.linalg.norm(half, axis=1, keepdims=True))
            return np.concatenate([track.residuals(x3, q3) for track in self.tracks])

        return np.vstack([G, derivative(moved, np.zeros(6 * self.n), PROBE * 100).T]), J
