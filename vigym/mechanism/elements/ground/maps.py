"""Makers of terrain: slopes, steps, random boxes and rough ground, each level about the origin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.ground.terrain import Terrain

LENGTH, WIDTH = 8.0, 3.0  # extent of a terrain along x and y [m]
LEVEL = 0.5  # distance from the origin within which the ground is level [m]


def slope(angle: float = 0.15, level: float = LEVEL) -> Terrain:
    """Return ground that rises along x from `level` on.

    Args:
        angle: of the slope [rad]; below zero it falls.
        level: x from which it rises [m].

    Raises:
        MechanismError: an angle that is not between -1.4 and 1.4.
    """
    angle = checks.require_number(angle, "slope angle")
    if abs(angle) > 1.4:
        raise MechanismError(f"slope angle: found {angle:g}, expected -1.4 to 1.4 rad")
    x, y = _grid(0.1)
    return Terrain(np.tan(angle) * np.maximum(x - level, 0.0) + 0.0 * y, 0.1)


def steps(height: float = 0.02, depth: float = 0.3, level: float = LEVEL) -> Terrain:
    """Return steps along x from `level` on, whose risers are one cell of 0.02 m wide.

    Args:
        height: of a step [m]; below zero they lead down.
        depth: of a step [m].
        level: x of the first step [m].

    Raises:
        MechanismError: a depth that is not above 0.02 m.
    """
    height = checks.require_number(height, "steps height")
    depth = checks.require_number(depth, "steps depth", 0.04)
    x, y = _grid(0.02)
    number = np.maximum(np.floor((x - level) / depth + 1e-9) + 1.0, 0.0)
    return Terrain(height * number + 0.0 * y, 0.02)


def boxes(
    height: float = 0.03, size: float = 0.3, maps: int = 8, seed: int = 0, level: float = LEVEL
) -> Terrain:
    """Return maps of square boxes of random heights, whose sides are one cell of 0.02 m wide.

    Args:
        height: largest height of a box [m].
        size: edge of a box [m].
        maps: number of maps.
        seed: of the random heights.
        level: distance from the origin within which there are no boxes [m].

    Raises:
        MechanismError: a height below zero, or a size that is not above 0.02 m.
    """
    height = checks.require_number(height, "boxes height", 0.0)
    size = checks.require_number(size, "boxes size", 0.04)
    x, y = _grid(0.02)
    i, j = np.floor(x / size + 1e-9).astype(int), np.floor(y / size + 1e-9).astype(int)
    rng = np.random.default_rng(seed)
    shape = (maps, int(np.ptp(i)) + 1, int(np.ptp(j)) + 1)
    heights = rng.uniform(0.0, height, shape)[:, i - i.min(), j - j.min()]
    near = (np.abs((i + 0.5) * size) < level) & (np.abs((j + 0.5) * size) < level)
    return Terrain(np.where(near, 0.0, heights), 0.02)


def rough(
    height: float = 0.03, size: float = 0.2, maps: int = 8, seed: int = 0, level: float = LEVEL
) -> Terrain:
    """Return maps of triangles between points of random heights.

    Args:
        height: largest height of a point [m].
        size: distance of neighbouring points along x and y [m].
        maps: number of maps.
        seed: of the random heights.
        level: distance from the origin within which the height is zero [m].

    Raises:
        MechanismError: a height below zero, or a size that is not above zero.
    """
    height = checks.require_number(height, "rough height", 0.0)
    size = checks.require_positive(size, "rough size")
    x, y = _grid(size)
    heights = np.random.default_rng(seed).uniform(0.0, height, (maps, *(0.0 * x + y).shape))
    near = (np.abs(x) <= level) & (np.abs(y) <= level)
    return Terrain(np.where(near, 0.0, heights), size)


# terrains with their usual sizes, by name
TERRAINS: dict[str, Callable[[], Terrain]] = {
    "slope": slope,
    "steps": steps,
    "boxes": boxes,
    "rough": rough,
}


def _grid(cell: float) -> tuple[Array, Array]:
    """Return x (n, 1) and y (1, m) of the points of a grid with the origin among them [m]."""
    columns, rows = round(LENGTH / 2 / cell), round(WIDTH / 2 / cell)
    x: Array = cell * np.arange(-columns, columns + 1, dtype=np.float64)
    y: Array = cell * np.arange(-rows, rows + 1, dtype=np.float64)
    return x[:, None], y[None]
