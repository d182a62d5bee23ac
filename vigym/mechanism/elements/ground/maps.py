"""Makers of terrain: slopes, steps, random boxes and rough ground, each level about the origin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.ground.terrain import Terrain

LENGTH, WIDTH = 8.0, 3.0  # usual extent of a terrain along x and y [m]
LEVEL = 0.5  # distance from the origin within which the ground is level [m]
GENTLE, STEEP = 0.105, 0.18  # slopes of 6 and 10 degrees


def slope(
    angle: float = 0.15, level: float = LEVEL, length: float = LENGTH, width: float = WIDTH
) -> Terrain:
    """Return ground that rises along x from `level` on.

    Args:
        angle: of the slope [rad]; below zero it falls.
        level: x from which it rises [m].
        length: extent along x [m].
        width: extent along y [m].

    Raises:
        MechanismError: an angle that is not between -1.4 and 1.4.
    """
    angle = checks.require_number(angle, "slope angle")
    if abs(angle) > 1.4:
        raise MechanismError(f"slope angle: found {angle:g}, expected -1.4 to 1.4 rad")
    x, y = _grid(0.1, length, width)
    return Terrain(np.tan(angle) * np.maximum(x - level, 0.0) + 0.0 * y, 0.1)


def steps(
    height: float = 0.02,
    depth: float = 0.3,
    level: float = LEVEL,
    length: float = LENGTH,
    width: float = WIDTH,
) -> Terrain:
    """Return steps along x from `level` on, whose risers are one cell of 0.02 m wide.

    Args:
        height: of a step [m]; below zero they lead down.
        depth: of a step [m].
        level: x of the first step [m].
        length: extent along x [m].
        width: extent along y [m].

    Raises:
        MechanismError: a depth that is not above 0.02 m.
    """
    height = checks.require_number(height, "steps height")
    depth = checks.require_number(depth, "steps depth", 0.04)
    x, y = _grid(0.02, length, width)
    return Terrain(height * _climbed_steps(x, depth, level) + 0.0 * y, 0.02)


def boxes(
    height: float = 0.03,
    size: float = 0.3,
    maps: int = 8,
    seed: int = 0,
    level: float = LEVEL,
    length: float = LENGTH,
    width: float = WIDTH,
) -> Terrain:
    """Return maps of square boxes of random heights, whose sides are one cell of 0.02 m wide.

    Args:
        height: largest height of a box [m].
        size: edge of a box [m].
        maps: number of maps.
        seed: of the random heights.
        level: distance from the origin within which there are no boxes [m].
        length: extent along x [m].
        width: extent along y [m].

    Raises:
        MechanismError: a height below zero, or a size that is not above 0.02 m.
    """
    height = checks.require_number(height, "boxes height", 0.0)
    size = checks.require_number(size, "boxes size", 0.04)
    x, y = _grid(0.02, length, width)
    parts = _box_parts(x, y, size, maps, seed, level)
    return Terrain(height * parts, 0.02)


def rough(
    height: float = 0.03,
    size: float = 0.2,
    maps: int = 8,
    seed: int = 0,
    level: float = LEVEL,
    length: float = LENGTH,
    width: float = WIDTH,
) -> Terrain:
    """Return maps of triangles between points of random heights.

    Args:
        height: largest height of a point [m].
        size: distance of neighbouring points along x and y [m].
        maps: number of maps.
        seed: of the random heights.
        level: distance from the origin within which the height is zero [m].
        length: extent along x [m].
        width: extent along y [m].

    Raises:
        MechanismError: a height below zero, or a size that is not above zero.
    """
    height = checks.require_number(height, "rough height", 0.0)
    size = checks.require_positive(size, "rough size")
    x, y = _grid(size, length, width)
    heights = np.random.default_rng(seed).uniform(0.0, height, (maps, *(0.0 * x + y).shape))
    near = (np.abs(x) <= level) & (np.abs(y) <= level)
    return Terrain(np.where(near, 0.0, heights), size)


def mixed(seed: int = 0) -> Terrain:
    """Return thirteen maps to train on, from a plane to difficult ground.

    They are the plane, slopes of 6 and 10 degrees up and down, slopes of 6 degrees to either side,
    steps of 0.02 and 0.03 m up and down, boxes of up to 0.03 m, and waves. Each reaches 20 m ahead.

    Args:
        seed: of the random heights of the boxes.
    """
    x: Array = 0.05 * np.arange(-40.0, 401.0)[:, None]
    y: Array = 0.05 * np.arange(-60.0, 61.0)[None]
    ahead = np.maximum(x - LEVEL, 0.0)
    grown = np.minimum(ahead, 1.0)  # from level ground to the full height
    number = _climbed_steps(x, 0.4, LEVEL)
    boxed = 0.03 * _box_parts(x, y, 0.3, 1, seed, LEVEL)[0]
    waves = 0.03 * np.sin(5.0 * x) * np.cos(5.0 * y)
    heights = [0.0 * x, GENTLE * ahead, -GENTLE * ahead, GENTLE * y * grown, -GENTLE * y * grown]
    heights += [0.02 * number, -0.02 * number, boxed, STEEP * ahead, -STEEP * ahead]
    heights += [0.03 * number, -0.03 * number, waves * grown]
    return Terrain(np.array([each + 0.0 * y for each in heights]), 0.05, np.array((-2.0, -3.0)))


# terrains with their usual sizes, by name
TERRAINS: dict[str, Callable[[], Terrain]] = {
    "slope": slope,
    "steps": steps,
    "boxes": boxes,
    "rough": rough,
    "mixed": mixed,
}


def _climbed_steps(x: Array, depth: float, level: float) -> Array:
    """Return how many steps of a depth, the first one at ``level``, lie behind each x."""
    return np.maximum(np.floor((x - level) / depth + 1e-9) + 1.0, 0.0)


def _box_parts(x: Array, y: Array, size: float, maps: int, seed: int, level: float) -> Array:
    """Return heights (maps, points along x, along y) of boxes, random parts of the largest one.

    Boxes with a centre nearer to the origin than ``level``, along x and along y, have none.
    """
    i, j = np.floor(x / size + 1e-9).astype(int), np.floor(y / size + 1e-9).astype(int)
    shape = maps, int(np.ptp(i)) + 1, int(np.ptp(j)) + 1
    parts: Array = np.random.default_rng(seed).random(shape)[:, i - i.min(), j - j.min()]
    near = (np.abs((i + 0.5) * size) < level) & (np.abs((j + 0.5) * size) < level)
    return np.where(near, 0.0, parts)


def _grid(cell: float, length: float, width: float) -> tuple[Array, Array]:
    """Return x (n, 1) and y (1, m) of the points of a grid with the origin among them [m]."""
    length = checks.require_positive(length, "terrain length")
    width = checks.require_positive(width, "terrain width")
    columns, rows = (max(1, round(extent / 2 / cell)) for extent in (length, width))
    x: Array = cell * np.arange(-columns, columns + 1, dtype=np.float64)
    y: Array = cell * np.arange(-rows, rows + 1, dtype=np.float64)
    return x[:, None], y[None]
