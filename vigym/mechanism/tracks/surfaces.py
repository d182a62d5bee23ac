"""Surfaces of surface joints: checked records, and their points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.curves import Helix, Line, spline_pieces
from vigym.mechanism.tracks.sides import (
    ANGLE_CHANGE,
    MOST_POINTS,
    PIECE_CHANGE,
    SURFACE_SAMPLES,
    Side,
    bezier_to_power_coefficients,
)

TURNED_BACK = -0.9  # cosine between neighbouring normals of a patch that folds


class Sphere(Side):
    """Sphere.

    Args:
        radius: [m], > 0.
        position: its centre in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,): z is the axis through its poles, which
            matters where turns about the normal are locked.
    """

    def __init__(
        self,
        radius: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(position, orientation)
        self.offset = checks.require_positive(radius, "Sphere radius")


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


class Cylinder(Line):
    """Endless cylinder about z.

    Args:
        radius: [m], > 0.
        position: point of its axis in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        length: of the part that is looked through for a start [m].
    """

    def __init__(
        self,
        radius: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        length: float = 2.0,
    ) -> None:
        checks.require_positive(radius, "Cylinder radius")
        super().__init__(position, orientation, length, radius)


class Plane(Side):
    """Plane through a point, z its normal.

    Args:
        position: in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        size: half of the square that is looked through for where it touches [m].
    """

    kind, dimensions = "plane", 2

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

    kind, dimensions = "ellipsoid", 2
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

    def moved(self, place: Array, change: Array) -> Array:
        """Return the unit vector (3,) a little away from another one."""
        helper = np.array([0.0, 0.0, 1.0] if place[2] ** 2 < 0.5 else [1.0, 0.0, 0.0])
        first = np.cross(helper, place)
        first /= np.linalg.norm(first)
        away = place + change[0] * first + change[1] * np.cross(place, first)
        return np.asarray(away / np.linalg.norm(away))

    def direction(self, place: Array) -> Array:
        """Return the z axis (3,) in the body, that marks turns about the normal."""
        return np.asarray(self.rotation[:, 2])

    def _own(self, places: Array) -> Array:
        return places * self.sizes


class Patches(Side):
    """Surface of polynomial pieces, side by side along two parameters in [0, 1].

    Args:
        pieces: (m, n, k, l, 3) control points of the Bezier patches in the body frame [m].
        closed: whether it goes round along each parameter.

    Raises:
        MechanismError: a surface whose normal vanishes somewhere.
    """

    kind, dimensions = "patch", 2
    edges = (0.0, 1.0)

    def __init__(self, pieces: Array, closed: tuple[bool, bool] = (False, False)) -> None:
        super().__init__((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        self.pieces, self.second_pieces = pieces.shape[:2]
        self.degree, self.second_degree = pieces.shape[2] - 1, pieces.shape[3] - 1
        self.closed, self.second_closed = closed
        self.longest_change = PIECE_CHANGE / max(self.pieces, self.second_pieces)
        self.points = np.concatenate([_products(each) for row in pieces for each in row])
        own = self._own(self.samples()[0]).reshape(SURFACE_SAMPLES, SURFACE_SAMPLES, 3)
        normals = np.cross(np.gradient(own, axis=0), np.gradient(own, axis=1))
        length = np.linalg.norm(normals, axis=2)
        folds = _folds(normals)
        if length.min() <= 1e-6 * length.max() or length.max() == 0.0 or folds.any():
            where = folds.argmax() if folds.any() else length.argmin()
            u, v = np.array(np.unravel_index(int(where), length.shape)) / (SURFACE_SAMPLES - 1)
            raise MechanismError(
                f"{self.name}: found a place without a normal near ({u:.3g}, {v:.3g}), expected a "
                "smooth surface"
            )

    def _own(self, places: Array) -> Array:
        shape = self.pieces, self.second_pieces, self.degree + 1, self.second_degree + 1, 3
        counts, closed = shape[:2], (self.closed, self.second_closed)
        numbers, powers = [], []
        for k in range(2):
            scaled = (places[:, k] % 1.0 if closed[k] else places[:, k]) * counts[k]
            numbers.append(np.clip(np.floor(scaled).astype(int), 0, counts[k] - 1))
            powers.append((scaled - numbers[k])[:, None] ** np.arange(shape[2 + k]))
        table = self.points.reshape(shape)[numbers[0], numbers[1]]
        result: Array = np.einsum("ni,nj,nijk->nk", *powers, table)
        return result


class Patch(Patches):
    """Bezier patch.

    Args:
        points: (m, n, 3) control points in the body frame [m], 2 <= m, n <= 8.

    Raises:
        MechanismError: a patch whose normal vanishes somewhere.
    """

    def __init__(self, points: ArrayLike) -> None:
        expected = f"(m, n, 3) finite numbers, 2 <= m, n <= {MOST_POINTS}"
        control = _control_points(self, points, expected)
        sizes = control.shape[:2]
        if min(sizes) < 2 or max(sizes) > MOST_POINTS:
            raise MechanismError(f"Patch points: found shape {control.shape}, expected {expected}")
        super().__init__(control[None, None])


class BSplinePatch(Patches):
    """Uniform bicubic B-spline surface of control points: smooth, near them.

    Args:
        points: (m, n, 3) control points in the body frame [m], m, n >= 4.
        closed: whether it goes round along its first and second parameter, from the last control
            point on to the first.

    Raises:
        MechanismError: a surface whose normal vanishes somewhere.
    """

    def __init__(self, points: ArrayLike, closed: tuple[bool, bool] = (False, False)) -> None:
        expected = "(m, n, 3) finite numbers, m, n >= 4"
        control = _control_points(self, points, expected)
        if min(control.shape[:2]) < 4:
            found = control.shape
            raise MechanismError(f"BSplinePatch points: found shape {found}, expected {expected}")
        if (
            not isinstance(closed, tuple)
            or len(closed) != 2
            or not all(isinstance(each, bool) for each in closed)
        ):
            raise MechanismError(f"BSplinePatch closed: found {closed!r}, expected two of bool")
        along = spline_pieces(control, closed[0])  # (m pieces, 4, n, 3)
        pieces = spline_pieces(along.transpose(2, 0, 1, 3), closed[1])  # (n pieces, 4, m, 4, 3)
        super().__init__(pieces.transpose(2, 0, 3, 1, 4), closed)


def _folds(normals: Array) -> NDArray[np.bool_]:
    """Return where normals (m, n, 3) of a grid are opposite to their neighbours (m, n)."""
    folds = np.zeros(normals.shape[:2], dtype=np.bool_)
    lengths = np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-300)
    units = normals / lengths
    folds[1:] |= np.sum(units[1:] * units[:-1], axis=2) < TURNED_BACK
    folds[:, 1:] |= np.sum(units[:, 1:] * units[:, :-1], axis=2) < TURNED_BACK
    return folds


def _control_points(side: Side, points: ArrayLike, expected: str) -> Array:
    """Return checked control points (m, n, 3)."""
    name = type(side).__name__
    control = checks.require_numbers(points, f"{name} points", expected)
    if control.ndim != 3 or control.shape[2] != 3 or not np.isfinite(control).all():
        raise MechanismError(f"{name} points: found {points!r}, expected {expected}")
    return control


def _products(control: Array) -> Array:
    """Return coefficients (m n, 3) of powers of u and v, of control points (m, n, 3)."""
    rows = np.stack([bezier_to_power_coefficients(row) for row in control])
    columns = [bezier_to_power_coefficients(column) for column in rows.swapaxes(0, 1)]
    products: Array = np.stack(columns, axis=1).reshape(-1, 3)
    return products
