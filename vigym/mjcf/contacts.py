"""Contacts of a compiled model: ground, collision shapes, obstacles, and pairs that touch."""

from itertools import combinations

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Ground
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mechanism.elements.shapes import Box
from vigym.mjcf.bodies import Robot
from vigym.mjcf.ellipsoids import balls_of
from vigym.mjcf.shapes import (
    BOX,
    CAPSULE,
    ELLIPSOID,
    FIELD,
    MESH,
    NAMES,
    PLANE,
    SPHERE,
    colour,
    geoms_of,
    is_drawn,
    shapes_of,
)

WALL = 1000.0  # [m] edges of the box that stands for a plane
LEVEL = 1e-9  # deviation of a height field from z upwards
NONE = (0.0, 0.0, 0.0)
PAIRABLE = (
    "no contact: of two bodies one has to have only spheres, capsules and ellipsoids, the other "
    "these or boxes; other shapes touch the ground alone"
)
FIELDS = (
    "no contact: a height field is ground, where it is level, of square cells, the first, and "
    "not all below a level plane"
)
MIXED = "friction of pairs is the geometric mean of both"
OWN = f"friction and condim of their own: one number on the ground; elsewhere {MIXED}"


def add_shapes(robot: Robot, ground: bool | Ground | None, self_collision: bool) -> None:
    """Add ground, collision shapes and pairs of bodies that touch.

    Args:
        robot: with the bodies.
        ground: in place of the file's; False: none.
        self_collision: whether bodies that the file lets touch are paired.
    """
    floor = _find_ground(robot)
    obstacles = _obstacles(robot, floor)
    for geom in geoms_of(robot, 0):
        if geom not in obstacles and is_drawn(robot, geom):
            for shape in shapes_of(robot, geom):
                robot.mechanism.add_world_shape(shape)
    level = floor if ground is None else None
    if level is not None:
        robot.mechanism.ground = _ground_of(robot, level)
    pairs = _pairs(robot) if self_collision else []
    paired = {body for pair in pairs for body in pair}
    paired |= {robot.groups[root].name for roots in obstacles.values() for root in roots}
    _add_collisions(robot, level, paired)
    _note_friction(robot, level, paired, list(obstacles))
    for geom, roots in obstacles.items():
        name = _add_obstacle(robot, geom)
        for root in roots:
            robot.mechanism.add_pair(robot.groups[root].name, name)
    _add_pairs(robot, pairs)
    if not self_collision:
        names = [f"{a!r} and {b!r}" for a, b in _pairs(robot)]
        robot.note_all("ignored", "pairs of bodies", names, "self_collision=True lets them touch")


def _add_collisions(robot: Robot, level: int | None, paired: set[str]) -> None:
    """Add the shapes that touch the ground, or are of a paired body."""
    m = robot.model
    lost: dict[str, list[str]] = {}
    extra: list[str] = []
    for geom in (geom for root in robot.groups for geom in geoms_of(robot, root)):
        body = robot.carrier(int(m.geom_bodyid[geom]))
        lands = _touches_ground(robot, geom, level)
        if not lands and (body not in paired or not _collides(robot, geom)):
            continue
        name = geom_name(robot, geom)
        shapes = shapes_of(robot, geom)
        if not shapes:
            lost.setdefault(NAMES[min(int(m.geom_type[geom]), MESH)], []).append(name)
        if m.geom_type[geom] == ELLIPSOID:
            missed = balls_of(m.geom_size[geom])[2]
            message = f"{len(shapes)} balls inside it touch; it reaches {missed:.2g} m beyond them"
            robot.note("changed", f"geom {name!r}", message)
        if not lands and level is not None:
            extra.append(name)
        for shape in shapes:
            own = robot.new_name("geom", name)
            robot.mechanism.add_collision(own, body, shape, **_surface(robot, geom, level))
    for kind, names in lost.items():
        reason = f"a {kind} that vigym cannot read touches nothing"
        robot.note_all("dropped", "geoms", names, reason)
    robot.note_all("changed", "geoms", extra, "they touch the ground, too: other bodies touch them")


def _obstacles(robot: Robot, floor: int | None) -> dict[int, list[int]]:
    """Return the geoms of the world beside the ground that touch, with the bodies (roots)."""
    m = robot.model
    found: dict[int, list[int]] = {}
    lost: dict[int, list[str]] = {}
    for geom in geoms_of(robot, 0):
        for root in robot.groups if geom != floor else ():
            others = [
                each
                for each in geoms_of(robot, root)
                if _collides(robot, each) or _touches_ground(robot, each, floor)
            ]
            if not any(_match(robot, geom, each) or _is_pair(robot, geom, each) for each in others):
                continue
            kinds = {int(m.geom_type[each]) for each in others}
            round_kinds = {SPHERE, CAPSULE, ELLIPSOID}
            own = int(m.geom_type[geom])
            if (
                own in round_kinds
                and kinds <= {*round_kinds, BOX}
                or (own in (BOX, PLANE) and kinds <= round_kinds)
            ):
                found.setdefault(geom, []).append(root)
            else:
                lost.setdefault(geom, []).append(robot.groups[root].name)
    for geom, bodies in lost.items():
        message = FIELDS if m.geom_type[geom] == FIELD else PAIRABLE
        robot.note_all("dropped", f"bodies on geom {geom_name(robot, geom)!r}", bodies, message)
    return found


def _add_obstacle(robot: Robot, geom: int) -> str:
    """Add a geom of the world as a body that is fixed there; return its name."""
    m, mechanism = robot.model, robot.mechanism
    name = robot.new_name("body", robot.name("geom", geom, "obstacle"))
    shapes, drawn = shapes_of(robot, geom), []
    if is_drawn(robot, geom):
        drawn = shapes
    if m.geom_type[geom] == PLANE:
        pose, size = robot.pose("geom", geom), m.geom_size[geom]
        edges = np.where(size[:2] > 0.0, 2.0 * size[:2], m.stat.extent)
        seen = {"orientation": pose.orientation, "rgba": colour(m, geom)}
        center = pose.position - 0.5 * WALL * pose.rotation[:, 2]
        shapes = [Box(size=(WALL, WALL, WALL), position=center, orientation=pose.orientation)]
        drawn = [Box(size=(*edges, 1e-3 * edges.max()), position=pose.position, **seen)]
        robot.note("changed", f"geom {name!r}", f"a box of {WALL:g} m, which takes time; {MIXED}")
    else:
        robot.note("changed", f"geom {name!r}", f"a body that is fixed in the world; {MIXED}")
    mechanism.add_body(name, 0.0, NONE, shapes=drawn)
    mechanism.add_joint(f"{name}:fixed", "fixed", WORLD, name, NONE)
    for shape in shapes:
        own = robot.new_name("geom", name)
        mechanism.add_collision(own, name, shape, **_surface(robot, geom, None))
    return name


def geom_name(robot: Robot, geom: int) -> str:
    """Return the name of a geom; without one that of its body."""
    body = int(robot.model.geom_bodyid[geom])
    return robot.name("geom", geom, robot.name("body", body))


def _pairs(robot: Robot) -> list[tuple[str, str]]:
    """Return the pairs of bodies that the file lets touch each other."""
    m = robot.model
    colliding = {
        root: [geom for geom in geoms_of(robot, root) if _collides(robot, geom)]
        for root in robot.groups
    }
    parents = {root: int(robot.roots[m.body_parentid[root]]) for root in robot.groups}
    found = []
    for a, b in combinations(robot.groups, 2):
        if parents[b] == a or parents[a] == b:  # mujoco's filter of parents
            continue
        if any(_match(robot, one, other) for one in colliding[a] for other in colliding[b]):
            found.append((robot.groups[a].name, robot.groups[b].name))
    named = [
        tuple(robot.carrier(int(m.geom_bodyid[geom])) for geom in sorted(pair))
        for pair in robot.geom_pairs
    ]
    return list(dict.fromkeys([*found, *((a, b) for a, b in named if WORLD not in (a, b))]))


def _add_pairs(robot: Robot, pairs: list[tuple[str, str]]) -> None:
    for a, b in pairs:
        try:
            robot.mechanism.add_pair(a, b)
        except MechanismError as error:
            robot.note("ignored", f"pair {a!r}, {b!r}", str(error))


def _find_ground(robot: Robot) -> int | None:
    """Return the geom that is the ground: a level height field, else the most level plane.

    A field below a level plane is out of reach. None without.
    """
    m = robot.model
    still = [geom for geom in geoms_of(robot, 0) if _collides(robot, geom)]
    fields = [geom for geom in still if m.geom_type[geom] == FIELD and _is_level(robot, geom)]
    planes = [geom for geom in still if m.geom_type[geom] == PLANE]
    planes.sort(key=lambda geom: float(m.opt.gravity @ robot.pose("geom", geom).rotation[:, 2]))
    poses = [robot.pose("geom", geom) for geom in planes]
    floor = max((p.position[2] for p in poses if p.rotation[2, 2] > 1.0 - LEVEL), default=-np.inf)
    fields = [geom for geom in fields if _heights(robot, geom).max() > floor]
    return next(iter([*fields, *planes]), None)


def _is_level(robot: Robot, geom: int) -> bool:
    turn = robot.pose("geom", geom).rotation
    cells = _cells(robot, geom)
    return bool(np.abs(turn - np.eye(3)).max() < LEVEL and np.ptp(cells) < LEVEL * cells.max())


def _heights(robot: Robot, geom: int) -> Array:
    """Return the heights (n_x, n_y) [m] of a height field that is level."""
    m, field = robot.model, int(robot.model.geom_dataid[geom])
    rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
    start = int(m.hfield_adr[field])
    data = np.array(m.hfield_data[start : start + rows * columns], np.float64)
    base, scale = robot.pose("geom", geom).position[2], m.hfield_size[field][2]
    heights: Array = base + scale * data.reshape(rows, columns).T
    return heights


def _cells(robot: Robot, geom: int) -> Array:
    """Return the edges along x and y (2,) [m] of the squares of a height field."""
    m, field = robot.model, int(robot.model.geom_dataid[geom])
    counts = np.array([m.hfield_ncol[field], m.hfield_nrow[field]])
    cells: Array = 2.0 * m.hfield_size[field][:2] / (counts - 1)
    return cells


def _ground_of(robot: Robot, geom: int) -> Ground:
    """Return a plane or level height field as ground."""
    m, pose = robot.model, robot.pose("geom", geom)
    if m.geom_type[geom] == PLANE:
        normal = pose.rotation[:, 2]
        return Ground(height=float(normal @ pose.position), normal=normal)
    origin = pose.position[:2] - m.hfield_size[int(m.geom_dataid[geom])][:2]
    return Ground(terrain=Terrain(_heights(robot, geom), float(_cells(robot, geom)[0]), origin))


def _collides(robot: Robot, geom: int) -> bool:
    """Return whether a geom touches any others, by its bits or a <pair>."""
    m = robot.model
    in_pair = any(geom in pair for pair in robot.geom_pairs)
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom] or in_pair)


def _match(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms may touch, by their bits and the excluded pairs of bodies."""
    m = robot.model
    types, affinities = m.geom_contype, m.geom_conaffinity
    fits = types[a] & affinities[b] or types[b] & affinities[a]
    low, high = sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b])))
    return bool(fits) and (low << 16) + high not in robot.excluded


def _is_pair(robot: Robot, a: int, b: int) -> bool:
    """Return whether two geoms are a <pair> of the file."""
    return frozenset((a, b)) in robot.geom_pairs


def _touches_ground(robot: Robot, geom: int, ground: int | None) -> bool:
    """Return whether a geom touches the ground, or one that the caller gives."""
    if ground is None:
        return robot.mechanism.ground is not None and _collides(robot, geom)
    return _match(robot, geom, ground) or _is_pair(robot, geom, ground)


def _surface(robot: Robot, geom: int, ground: int | None) -> dict[str, float]:
    """Return friction and torsion of a geom on the ground."""
    dimension, slide, turn, _ = _friction(robot, geom, ground)
    return {
        "friction": slide if dimension > 1 else 0.0,
        "torsion": turn if dimension > 3 else 0.0,
    }


def _friction(robot: Robot, geom: int, ground: int | None) -> tuple[int, float, float, float]:
    """Return condim and friction against sliding, turning and rolling of a geom on the ground."""
    m = robot.model
    both = [geom] if ground is None else [geom, ground]
    pair = robot.geom_pairs.get(frozenset(both))
    if pair is None:
        return _mixture(robot, both)
    slide, _, turn, roll, _ = m.pair_friction[pair].tolist()
    return int(m.pair_dim[pair]), slide, turn, roll


def _mixture(robot: Robot, geoms: list[int]) -> tuple[int, float, float, float]:
    """Return condim and friction of geoms that touch, as mujoco mixes them."""
    m = robot.model
    first = max(m.geom_priority[each] for each in geoms)
    geoms = [each for each in geoms if m.geom_priority[each] == first]
    slide, turn, roll = m.geom_friction[geoms].max(axis=0).tolist()
    return int(m.geom_condim[geoms].max()), slide, turn, roll


def _note_friction(robot: Robot, level: int | None, paired: set[str], obstacles: list[int]) -> None:
    """Add notes on friction that is left out: against rolling, of pairs, and their torsion."""
    m = robot.model
    rolling, turning = [], []
    for geom in [*(geom for root in robot.groups for geom in geoms_of(robot, root)), *obstacles]:
        lands = geom not in obstacles and _touches_ground(robot, geom, level)
        body = robot.carrier(int(m.geom_bodyid[geom]))
        meets = geom in obstacles or (body in paired and _collides(robot, geom))
        dimension, _, turn, roll = _friction(robot, geom, level if lands else None)
        if (lands or meets) and dimension > 4 and roll:
            rolling.append(geom_name(robot, geom))
        if meets and dimension > 3 and turn:
            turning.append(geom_name(robot, geom))
    robot.note_all("dropped", "geoms", rolling, "friction against rolling")
    robot.note_all("dropped", "geoms", turning, "torsion between bodies: that of the ground acts")
    robot.note_all("changed", "pairs", _own_pairs(robot, level), OWN)


def _own_pairs(robot: Robot, level: int | None) -> list[str]:
    """Return the <pair> elements whose friction or condim of their own is not that of vigym."""
    m, found = robot.model, []
    for pair, number in robot.geom_pairs.items():
        dimension, slide, turn, roll = _mixture(robot, sorted(pair))
        mixed = [slide, slide, turn, roll, roll]
        own = m.pair_friction[number]
        lands = level in pair and own[0] == own[1]
        if not lands and (m.pair_dim[number] != dimension or not np.allclose(own, mixed)):
            found.append(robot.name("pair", number))
    return found
