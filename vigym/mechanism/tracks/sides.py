"""Curves and surfaces fixed in a body: checked records, and their points."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.core.model.fields import (
    CURVE_SIDE,
    ELLIPSOID_SIDE,
    HELIX_SIDE,
    PATCH_SIDE,
    PLANE_SIDE,
    POINT_SIDE,
)
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.spatial import rotation_matrix

MOST_POINTS = 8  # control points of a Bezier curve, or along each parameter of a patch
SAMPLES = 241  # of a curve; a surface has 33 x 33
ANGLE_CHANGE, PIECE_CHANGE = 0.5, 0.3  # largest changes of a parameter in an iteration
UNLIMITED = 1e9


class Side:
    """Point, curve or surface in a body, possibly with a distance all around it.

    Attributes:
        kind: one of the kinds of `vigym.core.model.fields`.
        name: for messages.
        position: origin in the body frame (3,) [m].
        rotation: its axes in the body (3, 3).
        dimensions: number of parameters.
        sizes: (3,) as the kind has them.
        offset: distance around it [m].
        points: (n, 3) coefficients of polynomials [m].
        pieces, degree, second_degree, closed: of curves and patches.
        span: range of a parameter that is looked through for a start (lower, upper).
    """

    kind = POINT_SIDE
    dimensions = 0
    pieces, degree, second_degree, closed = 1, 0, 0, False
    longest_change = UNLIMITED
    span: tuple[float, float] = (0.0, 1.0)

    def __init__(self, position: ArrayLike, orientation: ArrayLike) -> None:
        self.name = type(self).__name__
        self.position = checks.require_vector(position, f"{self.name} position")
        self.rotation = rotation_matrix(
            checks.require_direction(orientation, f"{self.name} orientation", 4)
        )
        self.sizes: Array = np.zeros(3)
        self.points: Array = np.zeros((0, 3))
        self.offset = 0.0

    def __repr__(self) -> str:
        return self.name

    def samples(self) -> tuple[Array, Array]:
        """Return parameters (n, 3) and points (n, 3) in the body frame, to start from."""
        if self.dimensions == 0:
            places = np.zeros((1, 3))
        elif self.dimensions == 1:
            places = np.zeros((SAMPLES, 3))
            places[:, 0] = np.linspace(*self.span, SAMPLES)
        else:
            u, v = np.meshgrid(*[np.linspace(*self.span, 33)] * 2, indexing="ij")
            places = np.stack([u.ravel(), v.ravel(), 0.0 * u.ravel()], axis=1)
        places = self._places(places)
        return places, self.position + self._own(places) @ self.rotation.T

    def near(self, place: Array, change: Array) -> Array:
        """Return the point (3,) in its own axes a little away from a place (3,)."""
        return self._own((place + change)[None])[0]

    def _places(self, parameters: Array) -> Array:
        return parameters

    def _own(self, places: Array) -> Array:
        return np.zeros_like(places)


class Point(Side):
    """Point, or with a radius a ball.

    Args:
        position: in the body frame (3,) [m].
        radius: [m], >= 0.
    """

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), radius: float = 0.0) -> None:
        super().__init__(position, (1.0, 0.0, 0.0, 0.0))
        self.offset = checks.require_number(radius, "Point radius", 0.0)


class Helix(Side):
    """Helix about z, from (radius, 0, 0) on; a circle without rise; with a tube around it a torus.

    Args:
        radius: [m], > 0; or 0 of a line along z, with a tube a cylinder.
        rise: along z [m/rad]; a line has 1.
        tube: radius of the tube around it [m], >= 0.
        position: origin in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        turns: of the part that is looked through for where it touches.
    """

    kind, dimensions = HELIX_SIDE, 1

    def __init__(
        self,
        radius: float,
        rise: float = 0.0,
        tube: float = 0.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        turns: float = 1.0,
    ) -> None:
        super().__init__(position, orientation)
        R = checks.require_number(radius, "Helix radius", 0.0)
        p = checks.require_number(rise, "Helix rise")
        if R == 0.0 and p == 0.0:
            raise MechanismError("Helix: found radius 0 and rise 0, expected a curve with a length")
        self.sizes = np.array([R, p, 0.0])
        self.offset = checks.require_number(tube, "Helix tube", 0.0)
        half = np.pi * checks.require_positive(turns, "Helix turns")
        self.span = (-half, half)
        self.longest_change = ANGLE_CHANGE if R > 0.0 else UNLIMITED

    def _own(self, places: Array) -> Array:
        t, (R, p, _) = places[:, 0], self.sizes
        return np.stack([R * np.cos(t), R * np.sin(t), p * t], axis=1)


class Torus(Helix):
    """Torus about z.

    Args:
        radius: of the circle in the middle of its tube [m], > 0.
        tube: radius of the tube [m], > 0 and below the other.
        position: middle in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
    """

    def __init__(
        self,
        radius: float,
        tube: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        checks.require_positive(radius, "Torus radius")
        if checks.require_positive(tube, "Torus tube") >= radius:
            raise MechanismError(f"Torus tube: found {tube!r}, expected less than {radius!r}")
        super().__init__(radius, 0.0, tube, position, orientation)


class Cylinder(Helix):
    """Endless cylinder about z; without a radius a line.

    Args:
        radius: [m], >= 0.
        position: point of its axis in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        length: of the part that is looked through for where it touches [m].
    """

    def __init__(
        self,
        radius: float = 0.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        length: float = 2.0,
    ) -> None:
        super().__init__(0.0, 1.0, radius, position, orientation)
        half = 0.5 * checks.require_positive(length, "Cylinder length")
        self.span = (-half, half)


class Curve(Side):
    """Curve of polynomial pieces: Bezier curves joined end to end.

    Args:
        pieces: (n, degree + 1, 3) control points of the pieces in the body frame [m].
        closed: whether the last piece ends where the first begins.

    Raises:
        MechanismError: a curve without a tangent somewhere: double control points, no length.
    """

    kind, dimensions = CURVE_SIDE, 1
    longest_change = PIECE_CHANGE

    def __init__(self, pieces: ArrayLike, closed: bool = False) -> None:
        super().__init__((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        expected = f"(n, k, 3) finite numbers, 2 <= k <= {MOST_POINTS}"
        control = checks.require_numbers(pieces, f"{self.name} points", expected)
        if control.ndim != 3 or control.shape[2] != 3 or not 2 <= control.shape[1] <= MOST_POINTS:
            raise MechanismError(
                f"{self.name} points: found shape {control.shape}, expected {expected}"
            )
        if not len(control) or not np.isfinite(control).all():
            raise MechanismError(f"{self.name} points: found {pieces!r}, expected {expected}")
        self.pieces, self.degree = len(control), control.shape[1] - 1
        self.closed = bool(closed)
        self.span = (0.0, float(self.pieces))
        self.points = np.concatenate([_monomials(each) for each in control])
        self._check_tangents()

    def _check_tangents(self) -> None:
        places = np.linspace(*self.span, SAMPLES)[:, None] * [1.0, 0.0, 0.0]
        own = self._own(places)
        speed = np.linalg.norm(np.gradient(own, places[:, 0], axis=0), axis=1)
        exact = np.linalg.norm(self._velocities(places), axis=1)
        if exact.min() <= 1e-6 * speed.max() or speed.max() == 0.0:
            at = places[int(exact.argmin()), 0]
            raise MechanismError(
                f"{self.name}: found no tangent at {at:.3g}, expected a curve with a length and "
                "without double control points"
            )

    def _own(self, places: Array) -> Array:
        return self._sum(places, self.points.reshape(self.pieces, -1, 3))

    def _velocities(self, places: Array) -> Array:
        points = self.points.reshape(self.pieces, -1, 3)
        return self._sum(places, points[:, 1:] * np.arange(1, self.degree + 1)[:, None])

    def _sum(self, places: Array, coefficients: Array) -> Array:
        k = np.clip(places[:, 0].astype(int), 0, self.pieces - 1)
        powers = (places[:, 0] - k)[:, None] ** np.arange(coefficients.shape[1])
        result: Array = np.sum(powers[:, :, None] * coefficients[k], axis=1)
        return result


class Bezier(Curve):
    """Bezier curve, open.

    Args:
        points: (n, 3) control points in the body frame [m], 2 to 8.
    """

    def __init__(self, points: ArrayLike) -> None:
        super().__init__(np.asarray(points)[None])


class Fitted(Curve):
    """Smooth curve through points: cubic pieces with equal curvatures where they meet.

    Args:
        points: (n, 3) in the body frame [m], at least 3.
        closed: whether it goes on from the last point to the first.
    """

    def __init__(self, points: ArrayLike, closed: bool = False) -> None:
        through = checks.require_numbers(points, "Fitted points", "(n, 3) finite numbers, n >= 3")
        if through.ndim != 2 or through.shape[1] != 3 or len(through) < 3:
            raise MechanismError(f"Fitted points: found {points!r}, expected (n, 3), n >= 3")
        n = len(through)
        A, rhs = np.zeros((n, n)), np.zeros((n, 3))
        for i in range(n):
            before, after = (i - 1) % n, (i + 1) % n
            inner = closed or 0 < i < n - 1
            A[i, i] = 4.0 if inner else 2.0
            for j in (before, after):
                if closed or abs(j - i) == 1:
                    A[i, j] += 1.0
            first = through[before] if closed or i else through[i]
            last = through[after] if closed or i < n - 1 else through[i]
            rhs[i] = 3.0 * (last - first)
        slopes = np.linalg.solve(A, rhs)
        ends = [(i, (i + 1) % n) for i in range(n if closed else n - 1)]
        super().__init__(
            [
                [
                    through[i],
                    through[i] + slopes[i] / 3.0,
                    through[j] - slopes[j] / 3.0,
                    through[j],
                ]
                for i, j in ends
            ],
            closed,
        )


class BSpline(Curve):
    """Uniform cubic B-spline of control points.

    Args:
        points: (n, 3) control points in the body frame [m], at least 4.
        closed: whether it goes round.
    """

    def __init__(self, points: ArrayLike, closed: bool = False) -> None:
        control = checks.require_numbers(points, "BSpline points", "(n, 3) finite numbers, n >= 4")
        if control.ndim != 2 or control.shape[1] != 3 or len(control) < 4:
            raise MechanismError(f"BSpline points: found {points!r}, expected (n, 3), n >= 4")
        n = len(control)
        pieces = []
        for k in range(n if closed else n - 3):
            a, b, c, e = (control[(k + j) % n] for j in range(4))
            pieces.append(
                [
                    (a + 4.0 * b + c) / 6.0,
                    (2.0 * b + c) / 3.0,
                    (b + 2.0 * c) / 3.0,
                    (b + 4.0 * c + e) / 6.0,
                ]
            )
        super().__init__(pieces, closed)


class Plane(Side):
    """Plane through a point, z its normal.

    Args:
        position: in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        size: half of the square that is looked through for where it touches [m].
    """

    kind, dimensions = PLANE_SIDE, 2

    def __init__(
        self,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        size: float = 1.0,
    ) -> None:
        super().__init__(position, orientation)
        half = checks.require_positive(size, "Plane size")
        self.span = (-half, half)

    def _own(self, places: Array) -> Array:
        return places * [1.0, 1.0, 0.0]


class Ellipsoid(Side):
    """Ellipsoid.

    Args:
        semi_axes: (3,) [m], > 0.
        position: middle in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
    """

    kind, dimensions = ELLIPSOID_SIDE, 2
    longest_change = ANGLE_CHANGE

    def __init__(
        self,
        semi_axes: ArrayLike,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(position, orientation)
        self.sizes = checks.require_vector(semi_axes, "Ellipsoid semi_axes")
        if self.sizes.min() <= 0.0:
            raise MechanismError(f"Ellipsoid semi_axes: found {semi_axes!r}, expected numbers > 0")

    def _places(self, parameters: Array) -> Array:
        angle, height = 2.0 * np.pi * parameters[:, 0], 2.0 * parameters[:, 1] - 1.0
        across = np.sqrt(1.0 - height * height)
        return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)

    def near(self, place: Array, change: Array) -> Array:
        """Return the point (3,) in its own axes a little away from a place (3,)."""
        helper = np.array([0.0, 0.0, 1.0] if place[2] ** 2 < 0.5 else [1.0, 0.0, 0.0])
        first = np.cross(helper, place)
        second = np.cross(place, first)
        return self._own((place + change[0] * first + change[1] * second)[None])[0]

    def _own(self, places: Array) -> Array:
        return places * self.sizes


class Patch(Side):
    """Bezier patch.

    Args:
        points: (m, n, 3) control points in the body frame [m], 2 <= m, n <= 8.

    Raises:
        MechanismError: a patch whose normal vanishes somewhere.
    """

    kind, dimensions = PATCH_SIDE, 2
    longest_change = PIECE_CHANGE

    def __init__(self, points: ArrayLike) -> None:
        super().__init__((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        expected = f"(m, n, 3) finite numbers, 2 <= m, n <= {MOST_POINTS}"
        control = checks.require_numbers(points, "Patch points", expected)
        sizes = control.shape[:2]
        if control.ndim != 3 or control.shape[2] != 3 or not np.isfinite(control).all():
            raise MechanismError(f"Patch points: found {points!r}, expected {expected}")
        if min(sizes) < 2 or max(sizes) > MOST_POINTS:
            raise MechanismError(f"Patch points: found shape {control.shape}, expected {expected}")
        self.degree, self.second_degree = sizes[0] - 1, sizes[1] - 1
        rows = np.stack([_monomials(row) for row in control])
        self.points = np.stack(
            [_monomials(column) for column in rows.swapaxes(0, 1)], axis=1
        ).reshape(-1, 3)
        own = self._own(self.samples()[0]).reshape(33, 33, 3)
        normals = np.cross(np.gradient(own, axis=0), np.gradient(own, axis=1))
        length = np.linalg.norm(normals, axis=2)
        if length.min() <= 1e-6 * length.max() or length.max() == 0.0:
            raise MechanismError("Patch: found a place without a normal, expected a smooth surface")

    def _own(self, places: Array) -> Array:
        table = self.points.reshape(self.degree + 1, self.second_degree + 1, 3)
        u = places[:, :1] ** np.arange(self.degree + 1)
        v = places[:, 1:2] ** np.arange(self.second_degree + 1)
        result: Array = np.einsum("ni,nj,ijk->nk", u, v, table)
        return result


def _monomials(control: Any) -> Array:
    """Return coefficients (n, 3) of powers of u, of a Bezier curve with control points (n, 3)."""
    n = len(control) - 1
    result: Array = np.array(
        [
            sum(comb(n, j) * comb(j, i) * (-1.0) ** (i + j) * control[i] for i in range(j + 1))
            for j in range(n + 1)
        ]
    )
    return result
