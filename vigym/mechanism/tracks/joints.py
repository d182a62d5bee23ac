"""Curve and surface joints: two sides of two bodies that stay in touch, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.sides import Point, Side
from vigym.spatial import rotation_matrix

Pose = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Track(ReadOnly):
    """Joint of two sides that slide on each other and do not leave each other.

    Attributes:
        name: unique among curve and surface joints.
        a, b: body names or "world"; `side_a` has at least as many parameters as `side_b`.
        side_a, side_b: their curves and surfaces.
        axis: direction in body b (3,) that follows a curve; None without.
        on_curve: whether a point of b stays on a curve of a.
    """

    name: str
    a: str
    b: str
    side_a: Side
    side_b: Side
    axis: Array | None
    on_curve: bool

    @property
    def rows(self) -> int:
        """Number of scalar constraints."""
        if not self.on_curve:
            return 1
        return 2 if self.axis is None else 4

    @property
    def kind(self) -> str:
        """Phrase for summaries."""
        return f"{self.side_b!r} of {self.b} on {self.side_a!r} of {self.a}"

    def start(self, pose_a: Pose, pose_b: Pose) -> tuple[Array, Array, float]:
        """Find where the sides are nearest.

        Args:
            pose_a: position and quaternion of body a.
            pose_b: those of body b.

        Returns:
            Places (3,) of both sides, and the sense: 1 where b is on the side of a's normal.
        """
        (x_a, q_a), (x_b, q_b) = pose_a, pose_b
        places_a, points_a = self.side_a.samples()
        places_b, points_b = self.side_b.samples()
        world_a = x_a + points_a @ rotation_matrix(q_a).T
        world_b = x_b + points_b @ rotation_matrix(q_b).T
        best = (np.inf, 0, 0)
        for k, point in enumerate(world_b):
            distances = np.sum((world_a - point) ** 2, axis=1)
            i = int(distances.argmin())
            best = min(best, (float(distances[i]), i, k))
        return places_a[best[1]], places_b[best[2]], self._sense(pose_a, pose_b, places_a[best[1]])

    def _sense(self, pose_a: Pose, pose_b: Pose, place: Array) -> float:
        """Find on which side of surface a the middle of side b is."""
        if self.side_a.dimensions < 2:
            return 1.0
        (x_a, q_a), (x_b, q_b) = pose_a, pose_b
        step = 1e-4 * np.eye(3)[:2]
        side = self.side_a
        S, S_u, S_v = (side.near(place, e) for e in (0.0 * step[0], *step))
        normal = rotation_matrix(q_a) @ side.rotation @ np.cross(S_u - S, S_v - S)
        middle = x_b + rotation_matrix(q_b) @ self.side_b.samples()[1].mean(axis=0)
        here = x_a + rotation_matrix(q_a) @ (side.position + side.rotation @ S)
        return 1.0 if normal @ (middle - here) >= 0.0 else -1.0


def make_curve_joint(
    name: str, ends: tuple[str, str], curve: Any, point: ArrayLike, axis: ArrayLike | None
) -> Track:
    """Return a checked joint of a point on a curve; its bodies are checked by the caller."""
    element = f"curve joint {name!r}"
    if not isinstance(curve, Side) or curve.dimensions != 1 or curve.offset:
        raise MechanismError(f"{element} curve: found {curve!r}, expected a curve without a tube")
    direction = None if axis is None else checks.require_direction(axis, f"{element} axis")
    place = Point(checks.require_vector(point, f"{element} point"))
    return Track(name, *_two(element, ends), curve, place, direction, True)


def make_surface_joint(name: str, ends: tuple[str, str], sides: tuple[Any, Any]) -> Track:
    """Return a checked joint of two surfaces; its bodies are checked by the caller."""
    element = f"surface joint {name!r}"
    for side in sides:
        if not isinstance(side, Side):
            raise MechanismError(f"{element}: found {side!r}, expected a surface")
    a, b = _two(element, ends)
    first, second = sides
    if second.dimensions > first.dimensions:
        a, b, first, second = b, a, second, first
    if first.dimensions < 2 and not first.offset + second.offset:
        raise MechanismError(
            f"{element}: found {first!r} and {second!r} without a surface, expected one: a torus, "
            "a ball ...; add_curve_joint holds a point on a curve"
        )
    return Track(name, a, b, first, second, None, False)


def _two(element: str, ends: tuple[str, str]) -> tuple[str, str]:
    if ends[0] == ends[1]:
        raise MechanismError(f"{element}: found {ends[0]!r} twice, expected two bodies")
    return ends
