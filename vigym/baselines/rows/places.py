"""Rows of curve, surface and custom joints, whose gaps depend on a place that follows the bodies.

The place p of a joint (parameters of both sides, or coordinates of a joint of the user's own)
solves f(pose, p) = 0, and its rows keep g(pose, p) = 0. A motion V of the bodies changes both:

    dp = -(df/dp)^-1 df/dV,    J V = dg/dV + (dg/dp) dp

All derivatives are complex steps, exact to rounding. The drift (dJ/dt) V is a difference of J V
over a time in which the bodies go on at V.
"""

from abc import ABC, abstractmethod

import numpy as np

from vigym.baselines.rows.tangents import (
    Array,
    Ends,
    SidePoint,
    evaluate_side,
    moved_place,
    unit,
)
from vigym.mechanism.tracks.custom import CustomJoint, evaluate_transform
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.nearest import Pose, find_nearest_places
from vigym.spatial import cross, rotate

STEP = 1e-100  # of complex derivatives
TRAVEL = 1e-3  # [rad, or part of the size] of the motion whose difference is the drift
ITERATIONS = 30
CHORD = 4  # iterations with the same derivative
STILL = 1e-12  # largest change of a place that ends the iterations
LONGEST = 0.3  # change of a parameter in an iteration
ACROSS = np.array([1.0, -8.0, 8.0, -1.0]) / 12.0  # difference of fourth order
TIMES = np.array([-2.0, -1.0, 1.0, 2.0])


class PlaceRows(ABC):
    """Rows of one joint with a place.

    Args:
        track: the joint.
        poses: of its bodies a and b at the assembly.

    Attributes:
        count: number of rows.
        dimensions: number n of equations of the place.
        place: parameters (6,) at the poses that were set last, three of each side.
    """

    def __init__(self, track: Track, poses: tuple[Pose, Pose]) -> None:
        self.track = track
        self.count = track.rows
        self.dimensions = self._count_dimensions()
        self._nearest = find_nearest_places(track, *poses)
        self.restart()

    def restart(self) -> None:
        """Take the place at the assembly."""
        self.place = np.concatenate([self._nearest.place_a, self._nearest.place_b])

    def trouble(self) -> str:
        """Return the fault of the last place that was found, for messages."""
        if not np.isfinite(self.place).all():
            return f"joint {self.track.name!r} without a place that bodies lead to"
        return self._beyond_end()

    def _beyond_end(self) -> str:
        return ""

    @abstractmethod
    def _count_dimensions(self) -> int: ...

    @abstractmethod
    def equations(self, ends: Ends, places: Array) -> Array:
        """Return f (B, n) of places (B, 6)."""

    @abstractmethod
    def residuals(self, ends: Ends, places: Array) -> Array:
        """Return g (B, rows) at places (B, 6)."""

    @abstractmethod
    def moved(self, places: Array, change: Array) -> Array:
        """Return places (B, 6) after changes (B, n) of their parameters."""

    @abstractmethod
    def choose(self, ends: Ends, places: Array) -> None:
        """Choose the directions of rows at a place (1, 6); they are kept until the next one."""

    def set_pose(self, ends: Ends) -> tuple[Array, Array]:
        """Find the place at a pose, and return gaps (rows,) and wrenches on body b (rows, 6).

        Wrenches are forces and moments about body b's centre of mass, in world axes.
        """
        places = self.find(ends, self.place[None])
        self.place = places[0]
        self.choose(ends, places)
        ways = np.eye(6)
        still = np.zeros((6, 6))
        found = self.rates(_repeated(ends, 6), np.repeat(places, 6, 0), still, ways)
        return self.residuals(ends, places)[0], found.T

    def gaps(self, ends: Ends) -> Array:
        """Return the gaps (rows,) at a pose next to the one that was set last."""
        gaps: Array = self.residuals(ends, self.find(ends, self.place[None]))[0]
        return gaps

    def drift(self, ends: Ends, V_a: Array, V_b: Array) -> Array:
        """Return (dJ/dt) V (rows,) of velocities (6,) at the pose that was set last."""
        size = max(1e-3, float(np.abs([V_a, V_b]).max()))
        times = TRAVEL / size * TIMES
        away = Ends(
            *_travelled(ends.x_a, ends.R_a, V_a, times),
            *_travelled(ends.x_b, ends.R_b, V_b, times),
        )
        places = self.find(away, np.repeat(self.place[None], 4, 0))
        rates = self.rates(away, places, *(np.repeat(V[None], 4, 0) for V in (V_a, V_b)))
        result: Array = ACROSS @ rates * size / TRAVEL
        return result

    def find(self, ends: Ends, places: Array) -> Array:
        """Return the places (B, 6) at poses, from others; NaN where there are none."""
        if not self.dimensions:
            return places
        for k in range(ITERATIONS):
            f = self.equations(ends, places)
            if k % CHORD == 0:
                slopes = self._slopes(ends, places)
            if not (np.isfinite(slopes).all() and np.isfinite(f).all()):
                break
            change = _solved(slopes, -f)
            places = self.moved(places, np.clip(change, -LONGEST, LONGEST))
            if np.abs(change).max() < STILL:
                return places
        return np.full_like(places, np.nan)

    def rates(self, ends: Ends, places: Array, V_a: Array, V_b: Array) -> Array:
        """Return J V (B, rows) of velocities (B, 6), linear and angular, world axes."""
        later = Ends(
            ends.x_a + 1j * STEP * V_a[:, :3],
            ends.R_a + 1j * STEP * _turning(ends.R_a, V_a),
            ends.x_b + 1j * STEP * V_b[:, :3],
            ends.R_b + 1j * STEP * _turning(ends.R_b, V_b),
        )
        moved = places + 0j
        if self.dimensions:
            f = self.equations(later, moved).imag
            moved = self.moved(moved, 1j * _solved(self._slopes(ends, places), -f))
        result: Array = self.residuals(later, moved).imag / STEP
        return result

    def _slopes(self, ends: Ends, places: Array) -> Array:
        """Return df/dp (B, n, n)."""
        n = self.dimensions
        ways = np.tile(1j * STEP * np.eye(n), (len(places), 1))
        moved = self.moved(np.repeat(places, n, 0) + 0j, ways)
        f = self.equations(_repeated(ends, n), moved).imag / STEP
        result: Array = f.reshape(-1, n, n).transpose(0, 2, 1)
        return result


class SideRows(PlaceRows):
    """Rows of a curve or surface joint: both sides touch where they are nearest.

    A surface joint keeps the distance of its sides and, where it is locked, the turn about the
    normal; a point on a curve its distance across the tangent. An axis stays along the tangent or
    the normal.
    """

    def __init__(self, track: Track, poses: tuple[Pose, Pose]) -> None:
        super().__init__(track, poses)
        self._helper = np.zeros((1, 3))
        self._locked = np.cos(self._nearest.angle), np.sin(self._nearest.angle)

    def _count_dimensions(self) -> int:
        return self.track.side_a.dimensions + self.track.side_b.dimensions

    def equations(self, ends: Ends, places: Array) -> Array:
        """Return the separation along the tangents of a, and its normal along the tangents of b."""
        A, B, normal = self._points(ends, places)
        along = [(A.u, B.point - A.point), (A.v, B.point - A.point)]
        along = along[: self.track.side_a.dimensions]
        along += [(B.u, normal), (B.v, normal)][: self.track.side_b.dimensions]
        return np.stack([np.sum(first * second, axis=1) for first, second in along], axis=1)

    def residuals(self, ends: Ends, places: Array) -> Array:
        """Return distances and angles that the joint keeps at zero."""
        A, B, normal = self._points(ends, places)
        track, r = self.track, B.point - A.point
        w = unit(A.u if track.on_curve else normal)
        first, second = self._across(w)
        if track.on_curve:
            found = [np.sum(r * way, axis=1) for way in (first, second)]
        else:
            offset = track.side_a.offset + track.side_b.offset
            found = [np.sum(r * w, axis=1) - offset]
        if not track.spin:
            found.append(self._turn(ends, w, A, B))
        if track.axis is not None:
            axis = rotate(ends.R_b, np.broadcast_to(track.axis, w.shape))
            found += [np.sum(axis * way, axis=1) for way in (first, second)]
        return np.stack(found, axis=1)

    def moved(self, places: Array, change: Array) -> Array:
        """Return places after changes of the parameters of both sides."""
        n = self.track.side_a.dimensions
        a = moved_place(self.track.side_a, places[:, :3], change[:, :n])
        return np.hstack([a, moved_place(self.track.side_b, places[:, 3:], change[:, n:])])

    def choose(self, ends: Ends, places: Array) -> None:
        """Choose the axis of the world that is most across the direction of the joint."""
        A, _, normal = self._points(ends, places)
        way = np.nan_to_num(unit(A.u if self.track.on_curve else normal))
        self._helper = np.eye(3)[np.abs(way[0]).argmin()][None]

    def _beyond_end(self) -> str:
        places = np.split(self.place, 2)
        for side, place in zip((self.track.side_a, self.track.side_b), places, strict=True):
            closed = side.closed, side.second_closed
            for k in range(side.dimensions):
                if side.edges is None or closed[k]:
                    continue
                if not side.edges[0] <= place[k] <= side.edges[1]:
                    return f"joint {self.track.name!r} beyond an end of its {side!r}"
        return ""

    def _points(self, ends: Ends, places: Array) -> tuple[SidePoint, SidePoint, Array]:
        A = evaluate_side(self.track.side_a, places[:, :3], ends.x_a, ends.R_a)
        B = evaluate_side(self.track.side_b, places[:, 3:], ends.x_b, ends.R_b)
        if self.track.side_a.dimensions == 2:
            return A, B, self._nearest.sense * cross(A.u, A.v)
        return A, B, B.point - A.point

    def _across(self, direction: Array) -> tuple[Array, Array]:
        first = unit(cross(self._helper, direction))
        return first, cross(direction, first)

    def _turn(self, ends: Ends, w: Array, A: SidePoint, B: SidePoint) -> Array:
        """Return the sine of the turn about the normal from the locked one."""
        parts = []
        sides = (self.track.side_a, ends.R_a, A), (self.track.side_b, ends.R_b, B)
        for side, R, point in sides:
            has_poles = side.kind in ("point", "ellipsoid")
            way = R @ side.rotation[:, 2] if has_poles else point.u
            parts.append(unit(way - np.sum(way * w, axis=1, keepdims=True) * w))
        c, s = self._locked
        sine = np.sum(w * cross(*parts), axis=1)
        result: Array = c * sine - s * np.sum(parts[0] * parts[1], axis=1)
        return result


class OwnRows(PlaceRows):
    """Rows of a joint of the user's own, whose child has the pose G(q) in its parent.

    Of the gap between that pose and the child's the part along the twists of G vanishes by the
    choice of q, the rest is g.
    """

    track: CustomJoint

    def restart(self) -> None:
        """Take the coordinates at the assembly."""
        super().restart()
        self._set_parts(self.track.start)

    def choose(self, ends: Ends, places: Array) -> None:
        """Choose the twists at the coordinates."""
        q = places[0, : len(self.track.start)]
        if np.isfinite(q).all():
            self._set_parts(q)

    def _set_parts(self, q: Array) -> None:
        self._parts = np.linalg.svd(evaluate_transform(self.track.transform, q)[2])[0]

    def _count_dimensions(self) -> int:
        return len(self.track.start)

    def equations(self, ends: Ends, places: Array) -> Array:
        """Return the gap along the twists."""
        along: Array = self._gap(ends, places) @ self._parts[:, : 6 - self.count]
        return along

    def residuals(self, ends: Ends, places: Array) -> Array:
        """Return the gap across the twists."""
        across: Array = self._gap(ends, places) @ self._parts[:, 6 - self.count :]
        return across

    def moved(self, places: Array, change: Array) -> Array:
        """Return coordinates after changes."""
        moved = places.astype(np.result_type(places, change))
        moved[:, : change.shape[1]] += change
        return moved

    def _gap(self, ends: Ends, places: Array) -> Array:
        """Return place [m] and half the rotation [rad] from G(q) to the child (B, 6)."""
        a, b = self.track.side_a, self.track.side_b
        R_a, R_b = ends.R_a @ a.rotation, ends.R_b @ b.rotation
        r = ends.x_b - ends.x_a + ends.R_b @ b.position - ends.R_a @ a.position
        G = [self._pose(q) for q in places[:, : len(self.track.start)]]
        back = R_a.transpose(0, 2, 1)
        E = back @ R_b @ np.array([rotation for _, rotation in G]).transpose(0, 2, 1)
        skew = E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]
        turn = 0.5 * np.stack(skew, axis=1)
        gap = np.hstack([rotate(back, r) - np.array([place for place, _ in G]), turn])
        return gap if np.iscomplexobj(places) else gap.real

    def _pose(self, q: Array) -> Pose:
        """Return place and rotation matrix of the transform, of complex coordinates."""
        place, turn = (np.asarray(part, complex) for part in self.track.transform(q + 0j))
        if turn.shape == (3, 3):
            return place, turn
        w, x, y, z = turn
        K = np.array([[0.0 * w, -z, y], [z, 0.0 * w, -x], [-y, x, 0.0 * w]])
        return place, np.eye(3) + 2.0 * (w * K + K @ K)


def place_rows(track: Track, poses: tuple[Pose, Pose]) -> PlaceRows:
    """Return the rows of a curve, surface or custom joint."""
    return (OwnRows if isinstance(track, CustomJoint) else SideRows)(track, poses)


def _repeated(ends: Ends, count: int) -> Ends:
    return Ends(*(np.repeat(part, count, 0) for part in ends))


def _solved(matrices: Array, values: Array) -> Array:
    """Return the solutions (B, n) of systems of equations; NaN where one is singular."""
    try:
        result: Array = np.linalg.solve(matrices, values[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return np.full_like(values, np.nan)
    return result


def _turning(R: Array, V: Array) -> Array:
    """Return the rates (B, 3, 3) of rotations at angular velocities V[:, 3:]."""
    rates: Array = cross(V[:, None, 3:], R.transpose(0, 2, 1)).transpose(0, 2, 1)
    return rates


def _travelled(x: Array, R: Array, V: Array, times: Array) -> tuple[Array, Array]:
    """Return poses (B, ...) after times at a constant velocity (6,), of a pose (1, ...)."""
    w = V[3:]
    rate = float(np.linalg.norm(w))
    K = np.cross(np.eye(3), w / rate if rate else w)
    angles = (rate * times)[:, None, None]
    turns = np.eye(3) + np.sin(angles) * K + (1.0 - np.cos(angles)) * (K @ K)
    return x + times[:, None] * V[:3], turns @ R
