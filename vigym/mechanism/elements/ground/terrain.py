"""Ground that is not flat: heights on a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError


@dataclass(frozen=True, eq=False)
class Terrain(ReadOnly):
    """Heights of the ground on a grid along x and y.

    A square of the grid is two triangles, divided by the diagonal from its corner of least x and y.
    Beyond its edge the ground goes on as high as there. Several maps are several grounds: each
    environment of a batch is on one of them.

    Args:
        heights: (columns along x, rows along y) [m], or (maps, columns, rows); at least 2 x 2.
        cell: edge of a square of the grid [m].
        origin: x and y of its first point (2,) [m]; None: the middle of the grid is at 0, 0.

    Raises:
        MechanismError: another shape, or numbers that are not finite.
    """

    heights: Array
    cell: float
    origin: Array | None = None

    def __post_init__(self) -> None:
        heights = checks.require_numbers(self.heights, "terrain heights", "an array of metres")
        maps = heights[None] if heights.ndim == 2 else heights
        if maps.ndim != 3 or min(maps.shape) < 1 or min(maps.shape[1:]) < 2:
            raise MechanismError(
                f"terrain heights: found shape {heights.shape}, expected (columns, rows) or "
                "(maps, columns, rows) of at least 2 x 2 points"
            )
        if not np.isfinite(maps).all():
            raise MechanismError("terrain heights: found nan or infinity, expected numbers")
        cell = checks.require_positive(self.cell, "terrain cell")
        origin = -0.5 * cell * (np.array(maps.shape[1:]) - 1.0)
        if self.origin is not None:
            origin = checks.require_numbers(self.origin, "terrain origin", "x and y")
        if origin.shape != (2,) or not np.isfinite(origin).all():
            raise MechanismError(f"terrain origin: found {self.origin!r}, expected (x, y)")
        object.__setattr__(self, "heights", checks.read_only(maps))
        object.__setattr__(self, "cell", cell)
        object.__setattr__(self, "origin", checks.read_only(origin))

    @property
    def maps(self) -> int:
        """Number of maps."""
        return len(self.heights)

    def height(self, x: ArrayLike, y: ArrayLike, terrain_map: ArrayLike = 0) -> Array:
        """Return the height of the ground at points.

        Args:
            x: of the points (...) [m].
            y: of the points (...) [m].
            terrain_map: number of the map (...).

        Returns:
            (...) [m].
        """
        assert self.origin is not None
        last = np.array(self.heights.shape[1:]) - 1
        u, v = (
            np.clip((np.asarray(p, dtype=np.float64) - start) / self.cell, 0.0, end)
            for p, start, end in zip((x, y), self.origin, last, strict=True)
        )
        i, j = (np.minimum(w.astype(int), end - 1) for w, end in zip((u, v), last, strict=True))
        u, v = u - i, v - j
        k = np.asarray(terrain_map, dtype=np.int64)
        a, e = self.heights[k, i, j], self.heights[k, i + 1, j + 1]
        b, c = self.heights[k, i + 1, j], self.heights[k, i, j + 1]
        lower = a + u * (b - a) + v * (e - b)
        upper = a + v * (c - a) + u * (e - c)
        found: Array = np.where(u >= v, lower, upper)
        return found
