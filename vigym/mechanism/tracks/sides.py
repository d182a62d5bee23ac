"""Sides of curve and surface joints: points, curves and surfaces fixed in a body."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.spatial import rotation_matrix

MOST_POINTS = 8  # control points of a Bezier curve, or along each parameter of a patch
SAMPLES = 241  # of a curve
SURFACE_SAMPLES = 33  # of a surface along each parameter
ANGLE_CHANGE, PIECE_CHANGE = 0.5, 0.3  # largest changes of a parameter in an iteration
UNLIMITED = 1e9


class Side:
    """Point, curve or surface in a body, possibly with a distance all around it.

    Args:
        position: origin of its axes in the body frame (3,) [m].
        orientation: quaternion (w, x, y, z), its axes to the body's (4,).

    Attributes:
        kind: "point", "helix", "curve", "plane", "ellipsoid" or "patch": its formula.
        name: for messages.
        position: origin in the body frame (3,) [m].
        rotation: its axes in the body (3, 3).
        dimensions: number of parameters.
        sizes: (3,) as the kind has them [m].
        offset: distance around it [m].
        points: (n, 3) coefficients of polynomials; of a curve also its lengths up to its pieces,
            each in the first of three numbers [m].
        pieces, degree, closed: of curves, and of patches along their first parameter.
        second_pieces, second_degree, second_closed: of patches along their second parameter.
        edges: (lower, upper) of parameters that have ends; None without.
        span: range of a parameter that is looked through for a start (lower, upper).
    """

    kind = "point"
    dimensions = 0
    pieces, second_pieces = 1, 1
    degree, second_degree = 0, 0
    closed, second_closed = False, False
    longest_change = UNLIMITED
    span: tuple[float, float] = (0.0, 1.0)
    edges: tuple[float, float] | None = None

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
        """Return places (n, 3) and their points (n, 3) in the body frame, to start from."""
        if self.dimensions == 0:
            places = np.zeros((1, 3))
        elif self.dimensions == 1:
            places = np.zeros((SAMPLES, 3))
            places[:, 0] = np.linspace(*self.span, SAMPLES)
        else:
            grid = [np.linspace(*self.span, SURFACE_SAMPLES)] * 2
            u, v = np.meshgrid(*grid, indexing="ij")
            places = np.stack([u.ravel(), v.ravel(), 0.0 * u.ravel()], axis=1)
        places = self._places(places)
        return places, self.in_body(places)

    def in_body(self, places: Array) -> Array:
        """Return the points (n, 3) of places (n, 3), in the body frame [m]."""
        points: Array = self.position + self._own(places) @ self.rotation.T
        return points

    def moved(self, place: Array, change: Array) -> Array:
        """Return the place (3,) after changes (dimensions,) of the parameters of a place (3,)."""
        moved = place.copy()
        moved[: self.dimensions] += change
        return moved

    def direction(self, place: Array) -> Array:
        """Return the direction (3,) in the body that marks turns about the normal."""
        if self.dimensions == 0:
            return np.asarray(self.rotation[:, 2])
        return np.asarray(self.tangents(place)[0])

    def tangents(self, place: Array) -> Array:
        """Return derivatives (dimensions, 3) of the point by the parameters, in the body."""
        found = np.zeros((self.dimensions, 3))
        for k, way in enumerate(1e-3 * np.eye(self.dimensions)):
            steps = [self.moved(place, n * way) for n in (-2, -1, 1, 2)]
            a, b, c, e = self.in_body(np.array(steps))
            found[k] = (a - 8.0 * b + 8.0 * c - e) / 12e-3
        return found

    def lengths(self, places: Array) -> Array:
        """Return arc lengths (n,) of a curve up to places (n, 3) [m]."""
        raise NotImplementedError(f"{self.name} is no curve")

    def parameter_scale(self, parameter: int) -> float:
        """Return the length per unit of a parameter, in the middle of its range [m]."""
        middle = self._places(np.full((1, 3), 0.5 * sum(self.span)))[0]
        return float(np.linalg.norm(self.tangents(middle)[parameter]))

    def _places(self, parameters: Array) -> Array:
        return parameters

    def _own(self, places: Array) -> Array:
        return np.zeros_like(places)


class Point(Side):
    """Point of a body.

    Args:
        position: in the body frame (3,) [m].
        normal: direction in the body frame (3,) that stays along the normal of the surface that
            the point is on, as that of a board; None: free.
    """

    def __init__(
        self, position: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike | None = None
    ) -> None:
        super().__init__(position, (1.0, 0.0, 0.0, 0.0))
        self.normal = None if normal is None else checks.require_direction(normal, "Point normal")


def bezier_to_power_coefficients(control: Any) -> Array:
    """Return coefficients (n, 3) of powers of u, of a Bezier curve with control points (n, 3)."""
    n = len(control) - 1
    result: Array = np.array(
        [
            sum(comb(n, j) * comb(j, i) * (-1.0) ** (i + j) * control[i] for i in range(j + 1))
            for j in range(n + 1)
        ]
    )
    return result
