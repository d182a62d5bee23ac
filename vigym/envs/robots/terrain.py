"""Terrain as an option of tasks: the ground of a name or of a `Terrain`, and heights above it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array
from vigym.envs.options import require
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.ground.maps import TERRAINS
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.simulation.simulator import Simulator

TerrainOption = str | Terrain | None


def require_terrain(terrain: TerrainOption) -> None:
    """Raise ValueError unless an option is None, a name of `TERRAINS` or a `Terrain`."""
    valid = terrain is None or isinstance(terrain, Terrain)
    valid = valid or (isinstance(terrain, str) and terrain in TERRAINS)
    require(valid, "terrain", terrain, f"None, a Terrain or a name among {', '.join(TERRAINS)}")


def terrain_ground(terrain: TerrainOption, friction: ArrayLike | None = None) -> Ground:
    """Return the ground of an option: the plane z = 0 for None.

    Args:
        terrain: the option, see `require_terrain`.
        friction: of the ground; None: each contact has its own.
    """
    made = TERRAINS[terrain]() if isinstance(terrain, str) else terrain
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
