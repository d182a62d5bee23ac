"""The ground of a compiled model, and what its geoms touch it with."""

import numpy as np

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mjcf.bodies import Robot
from vigym.mjcf.shapes import FIELD, PLANE, geoms_of

LEVEL = 1e-9  # deviation of a height field from z upwards


def find_ground(robot: Robot) -> int | None:
    """Return the geom that is the ground: a level height field, else the most level plane.

    None without.
    """
    m = robot.model
    still = [geom for geom in geoms_of(robot, 0) if collides(robot, geom)]
    fields = [geom for geom in still if m.geom_type[geom] == FIELD and _is_level(robot, geom)]
    planes = [geom for geom in still if m.geom_type[geom] == PLANE]
    planes.sort(key=lambda geom: float(m.opt.gravity @ robot.pose("geom", geom).rotation[:, 2]))
    return next(iter([*fields, *planes]), None)


def _is_level(robot: Robot, geom: int) -> bool:
    turn = robot.pose("geom", geom).rotation
    cells = _cells(robot, geom)
    return bool(np.abs(turn - np.eye(3)).max() < LEVEL and np.ptp(cells) < LEVEL * cells.max())


def _cells(robot: Robot, geom: int) -> Array:
    """Return the edges along x and y (2,) [m] of the squares of a height field."""
    m, field = robot.model, int(robot.model.geom_dataid[geom])
    counts = np.array([m.hfield_ncol[field], m.hfield_nrow[field]])
    cells: Array = 2.0 * m.hfield_size[field][:2] / (counts - 1)
    return cells


def ground_of(robot: Robot, geom: int) -> Ground:
    """Return a plane or level height field as ground."""
    m, pose = robot.model, robot.pose("geom", geom)
    if m.geom_type[geom] == PLANE:
        normal = pose.rotation[:, 2]
        return Ground(height=float(normal @ pose.position), normal=normal)
    field = int(m.geom_dataid[geom])
    rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
    start = int(m.hfield_adr[field])
    data = np.array(m.hfield_data[start : start + rows * columns], np.float64)
    half = m.hfield_size[field]
    heights = pose.position[2] + half[2] * data.reshape(rows, columns).T
    terrain = Terrain(heights, float(_cells(robot, geom)[0]), pose.position[:2] - half[:2])
    return Ground(terrain=terrain)


def collides(robot: Robot, geom: int) -> bool:
    """Return whether a geom touches any others by its bits."""
    m = robot.model
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom])


def match(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms may touch, by their bits and the excluded pairs of bodies."""
    m = robot.model
    types, affinities = m.geom_contype, m.geom_conaffinity
    fits = types[a] & affinities[b] or types[b] & affinities[a]
    low, high = sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b])))
    return bool(fits) and (low << 16) + high not in robot.excluded


def is_pair(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms are a <pair> of the file."""
    m = robot.model
    ends = zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
    return {a, b} in [set(each) for each in ends]


def touches_ground(robot: Robot, geom: int, ground: int | None) -> bool:
    """Return whether a geom touches the ground, or one that the caller gives."""
    if ground is None:
        return robot.mechanism.ground is not None and collides(robot, geom)
    return match(robot, geom, ground) or is_pair(robot, geom, ground)


def surface(robot: Robot, geom: int, ground: int | None) -> dict[str, float]:
    """Return friction and torsion of a geom on the ground."""
    m = robot.model
    both = [geom] if ground is None else [geom, ground]
    first = max(m.geom_priority[each] for each in both)
    both = [each for each in both if m.geom_priority[each] == first]
    slide, turn = (float(m.geom_friction[both, k].max()) for k in (0, 1))
    dimension = int(m.geom_condim[both].max())
    return {
        "friction": slide if dimension > 1 else 0.0,
        "torsion": turn if dimension > 3 else 0.0,
    }
