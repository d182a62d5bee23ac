"""Reach of a mechanism: balls that contain it in every pose, so that the camera never loses it.

Of a mechanism with closed loops many poses with closed loops are sampled.
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
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import Poses, TreeKinematics
from vigym.mechanism.topology.loop_closure import CLOSED, close_loops
from vigym.mechanism.topology.loop_constraints import LoopSystem
from vigym.render.scene.visuals import Visual, slide_range
from vigym.spatial import rotation_matrix

Array = NDArray[np.float64]
Ball = tuple[Array, float]  # centre (3,) [m], radius [m]

# Sampled poses of a linkage for each degree of freedom, and at most; the margin of a picture covers
# the gaps between them.
_POSES_PER_DOF, _MOST_POSES = 64, 256


@dataclass(frozen=True, eq=False)
class Reach:
    """Balls that contain the mechanism.

    Attributes:
        centres: (n, 3) [m], in the world.
        radii: (n,) [m].
        followed: indices in `mech.bodies` of the bodies that float, with all that they carry, or
            slide farther than their size; the balls are at assembly then and move with them,
            without visuals of the world. None is followed where another body stays in its place.
        limbs: (k, 3) [m], points that the loops of followed bodies let their parts reach while the
            bodies stay as assembled.
        hinge_axis: direction shared by all rotation axes at assembly (3,); None where they differ.
    """

    centres: Array
    radii: Array
    followed: tuple[int, ...]
    limbs: Array
    hinge_axis: Array | None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper corner (3,) [m] of the bounding box."""
        if not len(self.radii):
            return np.zeros(3), np.zeros(3)
        spread = self.radii[:, None]
        return (self.centres - spread).min(axis=0), (self.centres + spread).max(axis=0)


@dataclass(frozen=True, eq=False)
class _BodyOutline:
    """Points (n, 3) [m] at assembly that outline a body's visuals, and the joints it carries."""

    points: Array
    joints: list[Joint]


Outlines = dict[str, _BodyOutline]


def find_reach(mech: Mechanism, visuals: list[Visual]) -> Reach:
    """Return the reach of `mech` with the given visuals."""
    outlines = _outlines(mech, visuals)
    extents: dict[str, float] = {}
    for joint, child in reversed(spanning_tree(mech)):
        extents[child] = _extent(joint, outlines[child], extents)
    roots = outlines[WORLD].joints
    tied = _tied_by_tracks(mech)
    loose = [joint for joint in roots if joint.child not in tied]
    travelling = [joint for joint in loose if _travels_far(joint, extents[joint.child])]
    followed = travelling if len(travelling) == len(loose) else []
    balls = [] if followed else _point_balls(outlines[WORLD], [np.zeros(3)])
    limbs = np.zeros((0, 3))
    if mech.closing_joints:  # loops keep a linkage far closer together than its tree alone
        points = {name: _extreme_points(one.points) for name, one in outlines.items()}
        held = [joint.name for joint in followed]
        limbs = _loop_points(mech, points, max(extents.values()), held)
    if mech.closing_joints and not followed:
        balls += [(point, 0.0) for point in limbs]
        roots, limbs = [], limbs[:0]
    for joint in roots:
        if len(joint.joint_type.translations) > 1:
            balls += _balls_as_assembled(joint.child, outlines)
        else:
            shifts = [np.zeros(3)] if joint in followed else _slide_ends(joint, extents)
            balls += _balls(joint, outlines, extents, shifts)
    names = list(mech.bodies)
    return Reach(
        np.array([centre for centre, _ in balls]).reshape(-1, 3),
        np.array([radius for _, radius in balls]),
        tuple(names.index(name) for joint in followed for name in _led(joint, outlines)),
        limbs,
        _shared_hinge_axis(mech),
    )


def _led(joint: Joint, outlines: Outlines) -> list[str]:
    """Return the body of a slide, which shakes less than what it carries; else its subtree."""
    if len(joint.joint_type.translations) == 1:
        return [joint.child]
    names = [joint.child]
    for name in names:  # grows
        names += [each.child for each in outlines[name].joints]
    return names


def _tied_by_tracks(mech: Mechanism) -> set[str]:
    """Return the bodies that joints, curves and surfaces tie to the world: they stay near it."""
    pairs = [(joint.parent, joint.child) for joint in mech.joints.values()]
    pairs = [*pairs, *((track.a, track.b) for track in mech.tracks.values())]
    tied, size = {WORLD}, 0
    while mech.tracks and size < len(tied):
        size = len(tied)
        tied.update(name for pair in pairs if tied & {*pair} for name in pair)
    return tied - {WORLD}


def _outlines(mech: Mechanism, visuals: list[Visual]) -> Outlines:
    outlines = {}
    for index, name in enumerate([*mech.bodies, WORLD]):
        own = [_outline(visual) for visual in visuals if visual.body == index]
        points = np.concatenate([np.zeros((0, 3)), *own])
        if name != WORLD:
            body = mech.bodies[name]
            points = points @ rotation_matrix(body.orientation).T + body.position
        joints = [joint for joint in mech.tree_joints if joint.parent == name]
        outlines[name] = _BodyOutline(points, joints)
    return outlines


def _outline(visual: Visual) -> Array:
    """Return points (n, 3) in the body frame whose convex hull contains the visual."""
    surface = visual.surface
    # meshes of files may have very many vertices
    points = visual.corners if surface.two_sided else surface.vertices
    outline: Array = points @ rotation_matrix(visual.orientation).T + visual.position
    return outline


def _extreme_points(points: Array) -> Array:
    """Return the points of (n, 3) that are farthest in one of many directions."""
    if not len(points):
        return points
    farthest: Array = points[np.unique((points @ _DIRECTIONS.T).argmax(axis=0))]
    return farthest


def _fibonacci_sphere(count: int) -> Array:
    """Return evenly spread unit vectors (count, 3), on a spiral of golden angles."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), height))


_DIRECTIONS = _fibonacci_sphere(128)  # 18 degrees apart: misses less than 2 % of a ball's radius


def _loop_points(
    mech: Mechanism, points: dict[str, Array], unlimited: float, held: Collection[str]
) -> Array:
    """Return the world positions (n, 3) [m] of body points in sampled poses with closed loops.

    Args:
        mech: with loops.
        points: by body (k, 3) [m], in the world at assembly.
        unlimited: range to either side of slides without limits [m].
        held: names of joints that stay as assembled, all floating ones among them.
    """
    poses = _closed_poses(mech, unlimited, held)
    moved = [np.zeros((0, 3))]
    for number, (name, body) in enumerate(mech.bodies.items(), start=1):
        local = (points[name] - body.position) @ rotation_matrix(body.orientation)
        rotated = local @ poses.R[:, number].transpose(0, 2, 1)
        moved.append((rotated + poses.x[:, number, None]).reshape(-1, 3))
    return np.concatenate(moved)


def _closed_poses(mech: Mechanism, unlimited: float, held: Collection[str]) -> Poses:
    """Return poses with closed loops near random hinge angles and slides at either end."""
    tree, closing = TreeKinematics(mech), mech.closing_joints
    fixed = sum(joint.dofs for joint in mech.tree_joints if joint.name in held)
    free = mech.degrees_of_freedom - fixed
    count = min(_POSES_PER_DOF * max(free, 1), _MOST_POSES)
    generator = np.random.default_rng(0)
    constraints = [mech.structure.loop_constraints[joint.name] for joint in closing]
    frames = [joint_frames(mech, joint) for joint in closing]
    system = LoopSystem(tree, frames, constraints, np.full(len(closing), unlimited))
    motion = generator.uniform(-np.pi, np.pi, (count, tree.dofs))
    joints = [joint for joint in mech.tree_joints for _ in range(joint.dofs)]
    moving = np.array([joint.name not in held for joint in joints])
    for dof in np.flatnonzero(moving & ~tree.is_rotation):
        motion[:, dof] = generator.choice(slide_range(joints[dof], unlimited), count)
    # What couplings tie to other degrees of freedom follows from these.
    rates = (motion * moving)[:, tree.independent] @ tree.velocity_map.T
    start = tree.integrate_rates(np.repeat(tree.zero[None], count, axis=0), rates)
    closed = close_loops(system, start, np.tile(moving[tree.independent], (count, 1)))
    return tree.poses(closed.coordinates[closed.gap < CLOSED])


def _extent(joint: Joint, outline: _BodyOutline, extents: dict[str, float]) -> float:
    """Return the largest distance [m] from the anchor of `joint` to any point of its subtree."""
    own = np.linalg.norm(outline.points - joint.position, axis=1)
    subtrees = [
        float(np.linalg.norm(other.position - joint.position))
        + extents[other.child]
        + _slide_length(other, extents)
        for other in outline.joints
    ]
    return max([float(own.max()) if len(own) else 0.0, *subtrees])


def _slide_length(joint: Joint, extents: dict[str, float]) -> float:
    if not joint.joint_type.translations:
        return 0.0
    return max(abs(end) for end in slide_range(joint, extents[joint.child]))


def _balls_as_assembled(body: str, outlines: Outlines) -> list[Ball]:
    """Return the outline of a subtree at assembly: stretched out, a legged robot is much larger."""
    own = _point_balls(outlines[body], [np.zeros(3)])
    joints = outlines[body].joints
    return own + [ball for joint in joints for ball in _balls_as_assembled(joint.child, outlines)]


def _point_balls(outline: _BodyOutline, shifts: list[Array]) -> list[Ball]:
    return [(point + shift, 0.0) for point in outline.points for shift in shifts]


def _balls(
    joint: Joint, outlines: Outlines, extents: dict[str, float], shifts: list[Array]
) -> list[Ball]:
    """Return the balls of the subtree of `joint`, whose anchor is translated by `shifts`."""
    if joint.joint_type.rotations:
        return [(joint.position + shift, extents[joint.child]) for shift in shifts]
    outline = outlines[joint.child]
    balls = _point_balls(outline, shifts)
    for other in outline.joints:
        places = [shift + step for shift in shifts for step in _slide_ends(other, extents)]
        balls += _balls(other, outlines, extents, places)
    return balls


def _slide_ends(joint: Joint, extents: dict[str, float]) -> list[Array]:
    """Return the displacements (3,) [m] of a joint at both ends of its range."""
    if len(joint.joint_type.translations) != 1:
        return [np.zeros(3)]
    return [end * joint.axis for end in slide_range(joint, extents[joint.child])]


def _travels_far(joint: Joint, extent: float) -> bool:
    """Return whether a joint floats or slides farther than the diameter of its subtree."""
    if len(joint.joint_type.translations) != 1:
        return len(joint.joint_type.translations) > 1
    low, high = slide_range(joint, math.inf)
    return high - low > 2.0 * extent


def _shared_hinge_axis(mech: Mechanism) -> Array | None:
    hinges = [joint for joint in mech.tree_joints if joint.joint_type.rotations]
    if not hinges or any(len(joint.joint_type.rotations) > 1 for joint in hinges):
        return None
    axis: Array = hinges[0].axis
    shared = all(abs(float(joint.axis @ axis)) > 0.999 for joint in hinges)
    return axis if shared else None
