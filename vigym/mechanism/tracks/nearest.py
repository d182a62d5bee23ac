"""Places where two sides of a joint are nearest at given poses, found without the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.spatial import rotation_matrix

Pose = tuple[Array, Array]
STEP = 1e-3  # of differences for the derivatives of the equations of a place
REGULAR = 1e-6  # determinant over the lengths of its rows below which a place is singular
ALONG = 0.03  # sine of the least angle between normal and z axis of a side with poles


class NearestPlaces(NamedTuple):
    """Places of both sides of a joint, where they are nearest.

    Attributes:
        place_a, place_b: parameters (3,).
        sense: 1 where b is on the side of a's normal, else -1.
        angle: from the direction of side a to that of side b about the normal [rad].
    """

    place_a: Array
    place_b: Array
    sense: float
    angle: float


class _Pair:
    """Both sides of a joint at given poses."""

    def __init__(self, track: Track, pose_a: Pose, pose_b: Pose) -> None:
        self.sides = track.side_a, track.side_b
        self.positions = pose_a[0], pose_b[0]
        self.rotations = rotation_matrix(pose_a[1]), rotation_matrix(pose_b[1])
        self.counts = track.side_a.dimensions, track.side_b.dimensions

    def points(self, k: int, places: Array) -> Array:
        """Return points (n, 3) of side k in the world."""
        points: Array = self.positions[k] + self.sides[k].in_body(places) @ self.rotations[k].T
        return points

    def tangents(self, k: int, place: Array) -> Array:
        """Return tangents (dimensions, 3) of side k in the world."""
        return self.sides[k].tangents(place) @ self.rotations[k].T

    def separation(self, a: Array, b: Array) -> Array:
        """Return the vector (3,) from a place on side a to one on side b."""
        return np.asarray((self.points(1, b[None]) - self.points(0, a[None]))[0])

    def normal(self, a: Array, b: Array) -> Array:
        """Return the normal (3,) of surface a, else the separation."""
        if self.counts[0] == 2:
            return np.cross(*self.tangents(0, a))
        return self.separation(a, b)

    def equations(self, a: Array, b: Array) -> Array:
        """Return the residuals of the equations of a place."""
        along = self.tangents(0, a) @ self.separation(a, b)
        return np.append(along, self.tangents(1, b) @ self.normal(a, b))

    def moved(self, a: Array, b: Array, change: Array) -> tuple[Array, Array]:
        """Return both places after a change of all parameters."""
        n = self.counts[0]
        return self.sides[0].moved(a, change[:n]), self.sides[1].moved(b, change[n:])

    def slopes(self, a: Array, b: Array) -> Array:
        """Return the derivatives (n, n) of the equations by the parameters."""
        ways = STEP * np.eye(sum(self.counts))
        columns = [
            self.equations(*self.moved(a, b, way)) - self.equations(*self.moved(a, b, -way))
            for way in ways
        ]
        return np.array(columns).T / (2.0 * STEP)


def find_nearest_places(track: Track, pose_a: Pose, pose_b: Pose) -> NearestPlaces:
    """Find where the sides of a joint are nearest.

    Args:
        track: the joint.
        pose_a: position (3,) and quaternion (4,) of body a.
        pose_b: those of body b.

    Raises:
        AssemblyError: the place is singular, or a locked turn is not defined there.
    """
    if isinstance(track, CustomJoint):
        q = np.append(track.start, np.zeros(6 - len(track.start)))
        return NearestPlaces(q[:3], q[3:], 1.0, 0.0)
    pair = _Pair(track, pose_a, pose_b)
    a, b = _refined(pair, *_nearest_samples(pair))
    if sum(pair.counts):
        slopes = pair.slopes(a, b)
        sizes = np.linalg.norm(slopes, axis=1)
        if abs(np.linalg.det(slopes)) <= REGULAR * np.prod(sizes):
            raise AssemblyError(
                f"joint {track.name!r}: found a singular place of touch at the assembly pose, "
                "where both sides fit along a curve; expected sides that touch at one point"
            )
    normal, sense = pair.normal(a, b), 1.0
    if not track.on_curve and not normal.any():
        raise AssemblyError(
            f"joint {track.name!r}: found the point at the middle of {track.side_a!r} and "
            f"{track.side_b!r} at the assembly pose, expected bodies side by side"
        )
    if pair.counts[0] == 2:
        away = pair.separation(a, b)
        if not (pair.counts[1] and pair.sides[1].offset):  # the middle of a tube may be elsewhere
            middle = pair.positions[1] + pair.rotations[1] @ pair.sides[1].samples()[1].mean(axis=0)
            away = middle - pair.points(0, a[None])[0]
        sense = 1.0 if normal @ away >= 0.0 else -1.0
    angle = 0.0 if track.spin else _turn(track, pair, (a, b), sense * normal)
    return NearestPlaces(a, b, sense, angle)


def _nearest_samples(pair: _Pair) -> tuple[Array, Array]:
    """Find the nearest ones of a grid of places on both sides."""
    places = [side.samples()[0] for side in pair.sides]
    world_a, world_b = (pair.points(k, places[k]) for k in range(2))
    best = (np.inf, 0, 0)
    for k, point in enumerate(world_b):
        distances = np.sum((world_a - point) ** 2, axis=1)
        i = int(distances.argmin())
        best = min(best, (float(distances[i]), i, k))
    return places[0][best[1]], places[1][best[2]]


def _refined(pair: _Pair, a: Array, b: Array) -> tuple[Array, Array]:
    """Find places near given ones by Newton's method; those given where it leads away."""
    start = a, b
    if not sum(pair.counts):
        return start
    for _ in range(50):
        slopes, values = pair.slopes(a, b), pair.equations(a, b)
        change = np.linalg.lstsq(slopes, -values, rcond=1e-12)[0]
        a, b = pair.moved(a, b, change * min(1.0, 0.1 / max(np.abs(change).max(), 1e-300)))
        if np.abs(change).max() < 1e-12:
            break
    away = np.linalg.norm(pair.separation(a, b)) > np.linalg.norm(pair.separation(*start)) + 1e-9
    return start if away and pair.counts[0] < 2 else (a, b)


def _turn(track: Track, pair: _Pair, places: tuple[Array, Array], normal: Array) -> float:
    """Return the angle from the direction of side a to that of side b about the normal."""
    w, across = normal / np.linalg.norm(normal), []
    for k in range(2):
        direction = pair.rotations[k] @ pair.sides[k].direction(places[k])
        part = direction - (direction @ w) * w
        if np.linalg.norm(part) <= ALONG * np.linalg.norm(direction):
            raise AssemblyError(
                f"joint {track.name!r} spin: found a place of touch at a pole of "
                f"{pair.sides[k]!r} at the assembly pose, where a turn about the normal is not "
                "defined, expected another orientation of its z axis"
            )
        across.append(part)
    return float(np.arctan2(w @ np.cross(across[0], across[1]), across[0] @ across[1]))
