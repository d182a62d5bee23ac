"""Terrain as an option of tasks: the ground of a name or of a `Terrain`, and heights above it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array
from vigym.envs.options import find_callable, is_number, require
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.ground.maps import TERRAINS
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.simulation.simulator import Simulator

TerrainOption = str | Terrain | None


def require_terrain(terrain: TerrainOption, level: float = 1.0) -> None:
    """Raise ValueError unless an option is one of those that `terrain_ground` takes.

    Args:
        terrain: the option.
        level: part of its maps, in [0, 1], that `maps_of_level` takes.

    Raises:
        ImportError: no such module.
    """
    valid = terrain is None or isinstance(terrain, Terrain)
    valid = valid or (isinstance(terrain, str) and (terrain in TERRAINS or ":" in terrain))
    expected = f'None, a Terrain, a name among {", ".join(TERRAINS)} or "module:function"'
    require(valid, "terrain", terrain, expected)
    if isinstance(terrain, str):
        _maker(terrain)
    require(is_number(level) and 0.0 <= level <= 1.0, "terrain_level", level, "a number in [0, 1]")


def maps_of_level(level: float, count: int) -> int:
    """Return how many of `count` maps, the first ones, are this part of them; at least one."""
    return max(1, round(level * count))


def terrain_ground(terrain: TerrainOption, friction: ArrayLike | None = None) -> Ground:
    """Return the ground of an option: the plane z = 0 for None.

    Args:
        terrain: a `Terrain`, a name of `vigym.mechanism.elements.ground.maps`, or
            "module:function", a function without arguments that returns a `Terrain`.
        friction: of the ground; None: each contact has its own.

    Raises:
        ValueError: a function that returns something else.
    """
    made = _maker(terrain)() if isinstance(terrain, str) else terrain
    if isinstance(terrain, str):
        require(isinstance(made, Terrain), "terrain", made, f"a Terrain from {terrain!r}")
    return Ground(friction=friction, terrain=made)  # type: ignore[arg-type]


def height_above_ground(sim: Simulator, positions: Array) -> Any:
    """Return how far points are above the ground below them, along z.

    Args:
        sim: of the environments; its ground is a terrain, the plane z = 0 or none.
        positions: (..., 3) [m], over the environments.

    Returns:
        (...) [m].
    """
    ground = sim.mechanism.ground
    if ground is None or ground.terrain is None:
        return positions[..., 2]
    x, y, z = np.moveaxis(positions, -1, 0)
    return z - ground.terrain.height(x, y, sim.terrain_maps)


def _maker(terrain: str) -> Callable[..., Any]:
    """Return the function that makes the terrain of a name."""
    found = TERRAINS.get(terrain) or find_callable("terrain", terrain)
    assert found is not None
    return found
