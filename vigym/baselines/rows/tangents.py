"""Points and tangents of curves and surfaces, analytic in places and poses.

Derivatives are complex steps, so that whatever is computed here takes complex numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.tracks.sides import Side
from vigym.spatial import cross

Array = NDArray[Any]  # real or complex


class Ends(NamedTuple):
    """Poses of the two bodies of a joint, several side by side.

    Attributes:
        x_a, R_a: position (B, 3) [m] and rotation (B, 3, 3) of body a.
        x_b, R_b: those of body b.
    """

    x_a: Array
    R_a: Array
    x_b: Array
    R_b: Array


class SidePoint(NamedTuple):
    """Point of a side and its two tangents in the world (B, 3); zero where there is none."""

    point: Array
    u: Array
    v: Array


def unit(vectors: Array) -> Array:
    """Return vectors (B, 3) of length one."""
    result: Array = vectors / np.sqrt(np.sum(vectors**2, axis=1, keepdims=True))
    return result


def evaluate_side(side: Side, place: Array, x: Array, R: Array) -> SidePoint:
    """Return point and tangents of places (B, 3) of a side of bodies at poses (B, ...)."""
    own = np.stack(OWN[side.kind](side, place), axis=1)  # rows: point, tangents
    turned = own @ (R @ side.rotation).transpose(0, 2, 1)
    return SidePoint(x + R @ side.position + turned[:, 0], turned[:, 1], turned[:, 2])


def moved_place(side: Side, place: Array, change: Array) -> Array:
    """Return places (B, 3) after changes (B, dimensions) of their parameters."""
    if side.kind == "ellipsoid":
        first, second = sphere_tangents(place)
        return unit(place + change[:, :1] * first + change[:, 1:] * second)
    moved = place.astype(np.result_type(place, change))
    moved[:, : side.dimensions] += change
    return moved


def sphere_tangents(n: Array) -> tuple[Array, Array]:
    """Return two unit tangents (B, 3) of the unit sphere, perpendicular to each other."""
    flat = n[:, 2].real ** 2 < 0.5
    helper = np.where(flat[:, None], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    first = unit(cross(helper, n))
    return first, cross(n, first)


def _point(side: Side, place: Array) -> tuple[Array, Array, Array]:
    none = np.zeros_like(place)
    return none, none, none


def _helix(side: Side, place: Array) -> tuple[Array, Array, Array]:
    radius, rise, _ = side.sizes
    t = place[:, 0]
    c, s = radius * np.cos(t), radius * np.sin(t)
    point = np.stack([c, s, rise * t], axis=1)
    return point, np.stack([-s, c, rise + 0.0 * t], axis=1), np.zeros_like(point)


def _curve(side: Side, place: Array) -> tuple[Array, Array, Array]:
    size = side.degree + 1
    table = side.points[: side.pieces * size].reshape(side.pieces, size, 3)
    k, local = _piece(place[:, 0], side.pieces, side.closed)
    powers, slopes = _powers(local, size)
    point, tangent = (np.einsum("ni,nik->nk", each, table[k]) for each in (powers, slopes))
    return point, tangent, np.zeros_like(point)


def _plane(side: Side, place: Array) -> tuple[Array, Array, Array]:
    first, second = (np.broadcast_to(axis, place.shape) for axis in np.eye(3)[:2])
    return place * [1.0, 1.0, 0.0], first, second


def _ellipsoid(side: Side, place: Array) -> tuple[Array, Array, Array]:
    first, second = sphere_tangents(place)
    return place * side.sizes, first * side.sizes, second * side.sizes


def _patch(side: Side, place: Array) -> tuple[Array, Array, Array]:
    counts = side.pieces, side.second_pieces
    sizes = side.degree + 1, side.second_degree + 1
    (i, u), (j, v) = (
        _piece(count * place[:, k], count, closed)
        for k, (count, closed) in enumerate(
            zip(counts, (side.closed, side.second_closed), strict=True)
        )
    )
    table = side.points.reshape(*counts, *sizes, 3)[i, j]
    of_u, of_v = (_powers(each, size) for each, size in zip((u, v), sizes, strict=True))
    ways = (of_u[0], of_v[0]), (counts[0] * of_u[1], of_v[0]), (of_u[0], counts[1] * of_v[1])
    point, first, second = (np.einsum("ni,nj,nijk->nk", *way, table) for way in ways)
    return point, first, second


def _piece(parameter: Array, count: int, closed: bool) -> tuple[Array, Array]:
    """Return the piece that holds a parameter, which counts pieces, and the parameter in it."""
    whole = count * np.floor(parameter.real / count) if closed else 0.0
    within = parameter - whole
    with np.errstate(invalid="ignore"):  # numbers that are not finite are found later
        k = np.clip(np.nan_to_num(within.real).astype(int), 0, count - 1)
    return k, within - k


def _powers(local: Array, size: int) -> tuple[Array, Array]:
    """Return powers (B, size) of parameters and their derivatives."""
    powers = np.vander(local, size, increasing=True)
    slopes = np.zeros_like(powers)
    slopes[:, 1:] = np.arange(1, size) * powers[:, :-1]
    return powers, slopes


OWN = {
    "point": _point,
    "helix": _helix,
    "curve": _curve,
    "plane": _plane,
    "ellipsoid": _ellipsoid,
    "patch": _patch,
}
