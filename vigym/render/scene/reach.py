"""The region a mechanism can reach: the balls its trees sweep, for a camera that never loses it.

A mechanism with closed loops is looked at in many poses in which its loops are closed.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import split
from vigym.mechanism.topology.kinematics import Poses, Tree
from vigym.mechanism.topology.loop_closure import CLOSED, close_loops
from vigym.mechanism.topology.loop_constraints import System
from vigym.render.scene.pieces import Piece, travel
from vigym.render.scene.surfaces import MeshFile
from vigym.spatial import rotation_matrix

Array = NDArray[np.float64]

_POSES = 256  # enough to see every side of a linkage; the empty rim of a picture hides what is missed between them


def swept_points(mech: Mechanism, points: dict[str, Array], unlimited: float, still: Collection[str] = ()) -> Array:
    """Return where points of all bodies go (n, 3) [m], in the world.

    Args:
        mech: with loops.
        points: by body (k, 3) [m], in the world at the pose in which the bodies were added.
        unlimited: how far slides without limits go to either side [m].
        still: names of joints that stay as they were then; those that float have to be among them.
    """
    poses = _closed_poses(mech, unlimited, still)
    swept = [np.zeros((0, 3))]
    for number, (name, body) in enumerate(mech.bodies.items(), start=1):
        local = (points[name] - body.position) @ rotation_matrix(body.orientation)
        turned = local @ poses.R[:, number].transpose(0, 2, 1)
        swept.append((turned + poses.x[:, number, None]).reshape(-1, 3))
    return np.concatenate(swept)


def _closed_poses(mech: Mechanism, unlimited: float, still: Collection[str]) -> Poses:
    """Return poses with closed loops, next to hinges turned at random and slides at either end."""
    tree, closing, generator = Tree(mech), mech.closing_joints, np.random.default_rng(0)
    rows = [mech.structure.closures[joint.name] for joint in closing]
    system = System(tree, [split(mech, joint) for joint in closing], rows, np.full(len(closing), unlimited))
    rates = generator.uniform(-np.pi, np.pi, (_POSES, tree.freedoms))
    joints = [joint for joint in mech.tree_joints for _ in joint.prototype.velocities]
    moving = np.tile([joint.name not in still for joint in joints], (_POSES, 1))
    for column in np.flatnonzero(moving[0] & ~tree.turns):
        rates[:, column] = generator.choice(travel(joints[column], unlimited), _POSES)
    start = tree.move(np.repeat(tree.zero[None], _POSES, axis=0), rates * moving)
    closed = close_loops(system, start, moving)
    return tree.poses(closed.coordinates[closed.gap < CLOSED])


@dataclass(frozen=True, eq=False)
class Reach:
    """Balls that hold the mechanism.

    Attributes:
        centres: (n, 3) [m], in the world.
        radii: (n,) [m].
        followed: indices in `mech.bodies` of the bodies that float, or slide farther than they are large; the balls
            are at assembly then and travel with them, and what the world shows is left out.
        limbs: (k, 3) [m], where the loops of what the camera follows let its parts go while it stays as assembled.
        hinge: direction that all rotation axes share at assembly (3,); None where they differ.
    """

    centres: Array
    radii: Array
    followed: tuple[int, ...]
    limbs: Array
    hinge: Array | None


@dataclass(frozen=True, eq=False)
class _Part:
    """Points (n, 3) [m] at assembly that outline what one body shows, and the joints it carries."""

    points: Array
    joints: list[Joint]


def reach_of(mech: Mechanism, pieces: list[Piece]) -> Reach:
    """Return where `mech`, drawn as `pieces`, can go."""
    parts = _parts(mech, pieces)
    extents: dict[str, float] = {}
    for joint, child in reversed(spanning_tree(mech)):
        extents[child] = _extent(joint, parts[child], extents)
    roots = parts[WORLD].joints
    followed = [joint for joint in roots if _travels_far(joint, extents[joint.child])]
    balls = [] if followed else _own_balls(parts[WORLD], [np.zeros(3)])
    limbs = np.zeros((0, 3))
    if mech.closing_joints:  # loops keep a linkage far closer together than its tree could get apart
        outlines = {name: _utmost(part.points) for name, part in parts.items()}
        limbs = swept_points(mech, outlines, max(extents.values()), [joint.name for joint in followed])
    if mech.closing_joints and not followed:
        balls += [(point, 0.0) for point in limbs]
        roots, limbs = [], limbs[:0]
    for joint in roots:
        if len(joint.prototype.translations) > 1:
            balls += _as_assembled(joint.child, parts)
        else:
            balls += _balls(joint, parts, extents, [np.zeros(3)] if joint in followed else _steps(joint, extents))
    names = list(mech.bodies)
    centres, radii = [centre for centre, _ in balls], [radius for _, radius in balls]
    indices = tuple(names.index(joint.child) for joint in followed)
    return Reach(np.array(centres).reshape(-1, 3), np.array(radii), indices, limbs, _hinge(mech))


def _parts(mech: Mechanism, pieces: list[Piece]) -> dict[str, _Part]:
    parts = {}
    for index, name in enumerate([*mech.bodies, WORLD]):
        outlines = [_outline(piece) for piece in pieces if piece.body == index]
        points = np.concatenate([np.zeros((0, 3)), *outlines])
        if name != WORLD:
            body = mech.bodies[name]
            points = points @ rotation_matrix(body.orientation).T + body.position
        parts[name] = _Part(points, [joint for joint in mech.tree_joints if joint.parent == name])
    return parts


def _outline(piece: Piece) -> Array:
    """Return points (n, 3) in the body frame that the piece lies between."""
    points = piece.corners if isinstance(piece.surface, MeshFile) else piece.surface.vertices
    outline: Array = points @ rotation_matrix(piece.orientation).T + piece.position
    return outline


def _utmost(points: Array) -> Array:
    """Return those of the points (n, 3) that lie farthest in some direction: a round shape has many that do not."""
    if not len(points):
        return points
    farthest: Array = points[np.unique((points @ _DIRECTIONS.T).argmax(axis=0))]
    return farthest


def _sunflower(count: int) -> Array:
    """Return unit vectors (count, 3) spread evenly over the sphere, on a spiral of golden angles."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack((radius * np.cos(turn), radius * np.sin(turn), height))


_DIRECTIONS = _sunflower(128)  # 18 degrees apart: of a ball less than 2 % of the radius is missed


def _extent(joint: Joint, part: _Part, extents: dict[str, float]) -> float:
    """Return how far from its anchor the tree that hangs on `joint` can ever get [m]."""
    own = np.linalg.norm(part.points - joint.position, axis=1)
    hanging = [
        float(np.linalg.norm(other.position - joint.position)) + extents[other.child] + _slide(other, extents)
        for other in part.joints
    ]
    return max([float(own.max()) if len(own) else 0.0, *hanging])


def _slide(joint: Joint, extents: dict[str, float]) -> float:
    if not joint.prototype.translations:
        return 0.0
    return max(abs(end) for end in travel(joint, extents[joint.child]))


def _as_assembled(body: str, parts: dict[str, _Part]) -> list[tuple[Array, float]]:
    """Return the outline of a tree as it is: stretched out, a robot with legs is much larger than it ever looks."""
    own = _own_balls(parts[body], [np.zeros(3)])
    return own + [ball for joint in parts[body].joints for ball in _as_assembled(joint.child, parts)]


def _own_balls(part: _Part, shifts: list[Array]) -> list[tuple[Array, float]]:
    return [(point + shift, 0.0) for point in part.points for shift in shifts]


def _balls(
    joint: Joint, parts: dict[str, _Part], extents: dict[str, float], shifts: list[Array]
) -> list[tuple[Array, float]]:
    """Return the balls of the tree that hangs on `joint`, whose anchor does not turn and slides to `shifts`."""
    if joint.prototype.rotations:
        return [(joint.position + shift, extents[joint.child]) for shift in shifts]
    part = parts[joint.child]
    balls = _own_balls(part, shifts)
    for other in part.joints:
        places = [shift + step for shift in shifts for step in _steps(other, extents)]
        balls += _balls(other, parts, extents, places)
    return balls


def _steps(joint: Joint, extents: dict[str, float]) -> list[Array]:
    """Return the ends of a joint's travel (3,) [m]."""
    if len(joint.prototype.translations) != 1:
        return [np.zeros(3)]
    return [end * joint.axis for end in travel(joint, extents[joint.child])]


def _travels_far(joint: Joint, extent: float) -> bool:
    if len(joint.prototype.translations) != 1:
        return len(joint.prototype.translations) > 1
    low, high = travel(joint, math.inf)
    return high - low > 2.0 * extent


def _hinge(mech: Mechanism) -> Array | None:
    turning = [joint for joint in mech.tree_joints if joint.prototype.rotations]
    if not turning or any(len(joint.prototype.rotations) > 1 for joint in turning):
        return None
    axis: Array = turning[0].axis
    shared = all(abs(float(joint.axis @ axis)) > 0.999 for joint in turning)
    return axis if shared else None
