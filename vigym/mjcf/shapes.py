"""Shapes of a compiled model: drawn ones, collisions, the ground, and pairs that touch."""

from itertools import combinations
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Ground
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from vigym.mjcf.bodies import Robot
from vigym.spatial import Pose, rotation_matrix

# numbers of mujoco's mjtGeom
PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
NAMES = ("plane", "height field", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
DRAWN_GROUPS = 3  # mujoco draws the groups 0 to 2
GREY = (0.5, 0.5, 0.5, 1.0)  # of geoms without a colour
LEVEL = 1e-9  # deviation of a height field from z upwards


def shape_of(robot: Robot, geom: int) -> Shape | None:
    """Return a geom as a shape in the frame of its body; None of a kind that vigym has not."""
    m = robot.model
    size, kind = m.geom_size[geom].tolist(), int(m.geom_type[geom])
    pose = robot.carrier_pose(int(m.geom_bodyid[geom])).inverse @ robot.pose("geom", geom)
    if kind == MESH:
        return _mesh_of(robot, geom, pose)
    more: dict[str, Any] = {"position": pose.position, "orientation": pose.orientation}
    more["rgba"] = _colour(m, geom)
    makers = {
        SPHERE: lambda: Sphere(radius=size[0], **more),
        CAPSULE: lambda: Capsule(radius=size[0], length=2.0 * size[1], **more),
        CYLINDER: lambda: Cylinder(radius=size[0], length=2.0 * size[1], **more),
        BOX: lambda: Box(size=[2.0 * each for each in size], **more),
    }
    return makers[kind]() if kind in makers else None


def _mesh_of(robot: Robot, geom: int, pose: Pose) -> Mesh | None:
    """Return a mesh as its file has it; None of one that is written in the model."""
    m = robot.model
    number = int(m.geom_dataid[geom])
    path = robot.compiled.meshes.get(robot.name("mesh", number))
    if path is None or path.suffix.lower() == ".msh":
        return None
    # mujoco moves vertices to the centre of mass and the principal axes
    moved = Pose(np.array(m.mesh_pos[number]), rotation_matrix(np.array(m.mesh_quat[number])))
    own = pose @ moved.inverse
    return Mesh(
        path=path,
        scale=m.mesh_scale[number],
        position=own.position,
        orientation=own.orientation,
        rgba=_colour(m, geom),
    )


def _colour(model: Any, geom: int) -> Array:
    own, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    if material >= 0 and np.allclose(own, GREY):
        own = model.mat_rgba[material]
    return np.clip(np.asarray(own, np.float64), 0.0, 1.0)


def drawn_shapes(robot: Robot, root: int) -> list[Shape]:
    """Return the shapes that are drawn of the bodies with a root, 0 for the world's."""
    m = robot.model
    found = []
    for geom in _geoms_of(robot, root):
        seen = m.geom_group[geom] < DRAWN_GROUPS and _colour(m, geom)[3] > 0.0
        shape = shape_of(robot, geom) if seen else None
        if shape is not None:
            found.append(shape)
    return found


def _geoms_of(robot: Robot, root: int) -> list[int]:
    return np.flatnonzero(robot.roots[robot.model.geom_bodyid] == root).tolist()


def add_shapes(robot: Robot, ground: bool | Ground | None, self_collision: bool) -> None:
    """Add ground, collision shapes and pairs of bodies that touch.

    Args:
        robot: with the bodies.
        ground: in place of the file's; False: none.
        self_collision: whether bodies that the file lets touch are paired.
    """
    level = _find_ground(robot) if ground is None else None
    if level is not None:
        robot.mechanism.ground = _ground_of(robot, level)
    kept = [geom for root in robot.groups for geom in _geoms_of(robot, root)]
    touching = {geom for geom in kept if _touches_ground(robot, geom, level)}
    pairs = _pairs(robot)
    paired = {body for pair in pairs for body in pair} if self_collision else set()
    lost: dict[str, list[str]] = {}
    for geom in kept:
        body = robot.carrier(int(robot.model.geom_bodyid[geom]))
        if geom not in touching and (body not in paired or not _collides(robot, geom)):
            continue
        name = geom_name(robot, geom)
        shape = shape_of(robot, geom)
        if shape is None:
            lost.setdefault(NAMES[min(int(robot.model.geom_type[geom]), MESH)], []).append(name)
        else:
            surface = _surface(robot, geom, level)
            robot.mechanism.add_collision(robot.new_name("geom", name), body, shape, **surface)
    for kind, names in lost.items():
        robot.note_all(
            "dropped", "geoms", names, f"a {kind} that vigym cannot read touches nothing"
        )
    _add_pairs(robot, pairs, self_collision)


def geom_name(robot: Robot, geom: int) -> str:
    """Return the name of a geom; without one that of its body."""
    body = int(robot.model.geom_bodyid[geom])
    return robot.name("geom", geom, robot.name("body", body))


def _find_ground(robot: Robot) -> int | None:
    """Return the geom that is the ground, a height field or the first plane; None without."""
    m = robot.model
    still = [geom for geom in _geoms_of(robot, 0) if _collides(robot, geom)]
    level = [geom for geom in still if m.geom_type[geom] == FIELD and _is_level(robot, geom)]
    level += [geom for geom in still if m.geom_type[geom] == PLANE]
    others = [geom_name(robot, geom) for geom in still if geom not in level[:1]]
    message = "fixed to the world, of which only one ground touches"
    robot.note_all("dropped", "geoms", others, message)
    return level[0] if level else None


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


def _ground_of(robot: Robot, geom: int) -> Ground:
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


def _collides(robot: Robot, geom: int) -> bool:
    m = robot.model
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom])


def _match(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms may touch, by their bits and the excluded pairs of bodies."""
    m = robot.model
    types, affinities = m.geom_contype, m.geom_conaffinity
    fits = types[a] & affinities[b] or types[b] & affinities[a]
    low, high = sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b])))
    return bool(fits) and (low << 16) + high not in robot.excluded


def _is_pair(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms are a <pair> of the file."""
    m = robot.model
    ends = zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
    return {a, b} in [set(each) for each in ends]


def _touches_ground(robot: Robot, geom: int, ground: int | None) -> bool:
    """Return whether a geom touches the ground, or one that the caller gives."""
    if ground is None:
        return robot.mechanism.ground is not None and _collides(robot, geom)
    return _match(robot, geom, ground) or _is_pair(robot, geom, ground)


def _surface(robot: Robot, geom: int, ground: int | None) -> dict[str, float]:
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


def _pairs(robot: Robot) -> list[tuple[str, str]]:
    """Return the pairs of bodies that the file lets touch each other."""
    m = robot.model
    colliding = {
        root: [geom for geom in _geoms_of(robot, root) if _collides(robot, geom)]
        for root in robot.groups
    }
    parents = {root: int(robot.roots[m.body_parentid[root]]) for root in robot.groups}
    found = []
    for a, b in combinations(robot.groups, 2):
        if parents[b] == a or parents[a] == b:  # mujoco's filter of parents
            continue
        if any(_match(robot, one, other) for one in colliding[a] for other in colliding[b]):
            found.append((robot.groups[a].name, robot.groups[b].name))
    pairs = zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
    named = [tuple(robot.carrier(int(m.geom_bodyid[geom])) for geom in pair) for pair in pairs]
    return list(dict.fromkeys([*found, *((a, b) for a, b in named if WORLD not in (a, b))]))


def _add_pairs(robot: Robot, pairs: list[tuple[str, str]], self_collision: bool) -> None:
    names = [f"{a!r} and {b!r}" for a, b in pairs]
    if not self_collision:
        robot.note_all("ignored", "pairs of bodies", names, "self_collision=True lets them touch")
        return
    for a, b in pairs:
        try:
            robot.mechanism.add_pair(a, b)
        except MechanismError as error:
            robot.note("ignored", f"pair {a!r}, {b!r}", str(error))
