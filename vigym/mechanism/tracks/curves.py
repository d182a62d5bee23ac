"""Curves of curve joints, and lines with a tube around them: checked records and their points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.sides import (
    ANGLE_CHANGE,
    MOST_POINTS,
    PIECE_CHANGE,
    SAMPLES,
    UNLIMITED,
    Side,
    bezier_to_power_coefficients,
)

NODES, WEIGHTS = (0.5 * part for part in np.polynomial.legendre.leggauss(10))
NODES = NODES + 0.5  # over [0, 1], as in the core


class Helix(Side):
    """Helix about z, from (radius, 0, 0) on; endless.

    Args:
        radius: [m], > 0; or 0 of a line along z.
        rise: along z [m/rad].
        tube: radius of a tube around it [m], >= 0.
        position: origin in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        turns: of the part that is looked through for where it touches.
    """

    kind, dimensions = "helix", 1

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
        R, p = self.sizes[:2]
        t = places[:, 0]
        return np.stack([R * np.cos(t), R * np.sin(t), p * t], axis=1)

    def lengths(self, places: Array) -> Array:
        """Return arc lengths (n,) of places (n, 3) from the parameter 0 on [m]."""
        lengths: Array = float(np.hypot(*self.sizes[:2])) * places[:, 0]
        return lengths


class Circle(Helix):
    """Circle about z.

    Args:
        radius: [m], > 0.
        position: its centre in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
    """

    def __init__(
        self,
        radius: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        checks.require_positive(radius, "Circle radius")
        super().__init__(radius, 0.0, 0.0, position, orientation)


class Line(Helix):
    """Endless line along z.

    Args:
        position: one of its points in the body frame (3,) [m].
        orientation: quaternion, its axes to the body's (4,).
        length: of the part that is looked through for a start [m].
        tube: radius of a tube around it [m], >= 0.
    """

    def __init__(
        self,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        length: float = 2.0,
        tube: float = 0.0,
    ) -> None:
        super().__init__(0.0, 1.0, tube, position, orientation)
        half = 0.5 * checks.require_positive(length, f"{self.name} length")
        self.span = (-half, half)


class Curve(Side):
    """Curve of polynomial pieces: Bezier curves joined end to end.

    Args:
        pieces: (n, degree + 1, 3) control points of the pieces in the body frame [m].
        closed: whether the last piece ends where the first begins.

    Raises:
        MechanismError: a curve without a tangent somewhere: double control points, no length.
    """

    kind, dimensions = "curve", 1
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
        self.edges = None if closed else self.span
        self.points = np.concatenate([bezier_to_power_coefficients(each) for each in control])
        self._check_tangents()
        self._check_joints(control)
        self._ends = np.zeros(self.pieces + 1)
        middle = np.arange(self.pieces)[:, None] + NODES  # nodes of each piece
        places = middle.reshape(-1, 1) * [1.0, 0.0, 0.0]
        speeds = np.linalg.norm(self._velocities(places), axis=1).reshape(self.pieces, -1)
        self._ends[1:] = np.cumsum(speeds @ WEIGHTS)
        self.points = np.concatenate([self.points, self._ends[:, None] * [1.0, 0.0, 0.0]])

    @property
    def length(self) -> float:
        """Length from end to end, or once around [m]."""
        return float(self._ends[-1])

    def lengths(self, places: Array) -> Array:
        """Return arc lengths (n,) from the first end to places (n, 3) [m]."""
        turns = np.round(places[:, 0] / self.pieces - 0.5) * self.closed
        u = places[:, 0] - turns * self.pieces
        k = np.clip(u.astype(int), 0, self.pieces - 1)
        local = u - k
        nodes = (k[:, None] + local[:, None] * NODES).reshape(-1)
        speeds = np.linalg.norm(self._derivative(nodes, np.repeat(k, len(NODES))), axis=1)
        within = local * (speeds.reshape(len(u), -1) @ WEIGHTS)
        lengths: Array = turns * self.length + self._ends[k] + within
        return lengths

    def _check_joints(self, control: Array) -> None:
        """Raise MechanismError where pieces do not continue each other with one tangent."""
        followed = control if self.closed else control[:-1]
        size = np.abs(control).max()
        for k, piece in enumerate(followed):
            after = control[(k + 1) % self.pieces]
            gap = float(np.linalg.norm(after[0] - piece[-1]))
            bend = float(np.linalg.norm(after[1] - after[0] - (piece[-1] - piece[-2])))
            if gap > 1e-9 * size or bend > 1e-9 * size:
                raise MechanismError(
                    f"{self.name} pieces {k} and {(k + 1) % self.pieces}: found ends {gap:.3g} m "
                    f"apart whose velocities differ by {bend:.3g} m, expected both to agree"
                )

    def _check_tangents(self) -> None:
        places = np.linspace(*self.span, SAMPLES)
        slowest = [k + self._slowest(k) for k in range(self.pieces)]
        places = np.concatenate([places, *slowest])[:, None] * [1.0, 0.0, 0.0]
        speed = np.linalg.norm(self._velocities(places), axis=1)
        if speed.min() <= 1e-6 * speed.max():
            at = places[int(speed.argmin()), 0]
            raise MechanismError(
                f"{self.name}: found no tangent at {at:.3g}, expected a curve with a length and "
                "without double control points"
            )

    def _slowest(self, k: int) -> Array:
        """Return where the speed of a piece is least or largest, in [0, 1)."""
        powers = np.arange(1, self.degree + 1)[:, None]
        velocity = self._coefficients[k, 1:] * powers
        squared = np.sum([np.convolve(way, way) for way in velocity.T], axis=0)
        roots = np.roots(np.polyder(squared[::-1]))
        near = np.real(roots[np.abs(roots.imag) < 1e-3])  # double roots have small imaginary parts
        return np.asarray(near[(near >= 0.0) & (near < 1.0)])

    def _own(self, places: Array) -> Array:
        u = places[:, 0]
        if self.closed:
            u = u % self.pieces
        return _sum(u, self._piece(u), self._coefficients)

    def _velocities(self, places: Array) -> Array:
        return self._derivative(places[:, 0], self._piece(places[:, 0]))

    def _derivative(self, u: Array, k: Array) -> Array:
        powers = np.arange(1, self.degree + 1)[:, None]
        return _sum(u, k, self._coefficients[:, 1:] * powers)

    def _piece(self, u: Array) -> Array:
        return np.asarray(np.clip(u.astype(int), 0, self.pieces - 1))

    @property
    def _coefficients(self) -> Array:
        size = self.degree + 1
        return self.points[: self.pieces * size].reshape(self.pieces, size, 3)


class Bezier(Curve):
    """Bezier curve, open.

    Args:
        points: (n, 3) control points in the body frame [m], 2 to 8.
    """

    def __init__(self, points: ArrayLike) -> None:
        super().__init__(np.asarray(points)[None])
        _check_different("Bezier", np.asarray(points, dtype=np.float64), False)


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
        _check_different("Fitted", through, closed)
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
        _check_different("BSpline", control, closed)
        super().__init__(spline_pieces(control, closed), closed)


def spline_pieces(control: Array, closed: bool) -> Array:
    """Return Bezier control points (pieces, 4, ...) of a uniform cubic B-spline of points (n, ...).

    Args:
        control: its control points, along the first axis.
        closed: whether it goes round.
    """
    n = len(control)
    pieces = []
    for k in range(n if closed else n - 3):
        a, b, c, e = (control[(k + j) % n] for j in range(4))
        inner = (2.0 * b + c) / 3.0, (b + 2.0 * c) / 3.0
        pieces.append([(a + 4.0 * b + c) / 6.0, *inner, (b + 4.0 * c + e) / 6.0])
    return np.array(pieces)


def _check_different(name: str, points: Array, closed: bool) -> None:
    """Raise MechanismError where a point (n, 3) is at the place of the next one."""
    steps = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1)
    steps = steps if closed else steps[:-1]
    k = int(steps.argmin())
    if steps[k] <= 1e-9 * steps.max():
        raise MechanismError(
            f"{name} points {k} and {(k + 1) % len(points)}: found a double point "
            f"{points[k].tolist()}, expected points at different places, a curve with a length"
        )


def _sum(u: Array, k: Array, coefficients: Array) -> Array:
    """Return the sums (n, 3) of powers of u - k with the coefficients of pieces k (n,)."""
    powers = (u - k)[:, None] ** np.arange(coefficients.shape[1])
    result: Array = np.sum(powers[:, :, None] * coefficients[k], axis=1)
    return result
