"""Trees of surface joints in joint coordinates: each joint a transform G(q) of four parameters.

Where two surfaces touch, the frame (tangent, tangent, normal) of one is that of the other, turned
over and about the normal:

    G = A(u, v) F B(s, t)^-1                                                               (SI 4)

A sphere or ellipsoid has the direction of its normal as parameters, and the tangent towards its
pole; a torus angles along its circle and around its tube, and the tangent along the circle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from vigym import Mechanism
from vigym.baselines import GeneralJoint, Multipliers, Tree, general_tree, recursion
from vigym.baselines.tree import body_inertia
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.nearest import find_nearest_places
from vigym.mechanism.tracks.sides import Side
from vigym.spatial import rotation_matrix

Array = NDArray[np.float64]
NUDGE = 1e-5  # [s] of the difference that gives accelerations of bodies


def frame(side: Side, u: Any, v: Any) -> Any:
    """Return the frame (4, 4) of a sphere, ellipsoid or torus, in its body, as a SymPy matrix."""
    around, out = (sympy.cos(u), sympy.sin(u)), (sympy.cos(v), sympy.sin(v))
    normal = sympy.Matrix([out[0] * around[0], out[0] * around[1], out[1]])
    tangent = sympy.Matrix([-around[1], around[0], 0])
    if side.kind == "helix":
        circle = side.sizes[0] * sympy.Matrix([*around, 0])
        point, axes = circle + side.offset * normal, (tangent, normal.cross(tangent), normal)
    else:
        pole = sympy.Matrix([-out[1] * around[0], -out[1] * around[1], out[0]])
        axes = pole, normal.cross(pole), normal
        point = side.offset * normal
        if side.kind == "ellipsoid":
            scaled = [size**2 * part for size, part in zip(side.sizes, normal, strict=True)]
            length = sympy.sqrt(sum(a * b for a, b in zip(scaled, normal, strict=True)))
            point = sympy.Matrix(scaled) / length
    own = sympy.Matrix.hstack(*axes, point).col_join(sympy.Matrix([[0, 0, 0, 1]]))
    return _matrix(side.rotation, side.position) * own


def _matrix(R: Any, p: Any) -> Any:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, p
    return sympy.Matrix(sympy.nsimplify(sympy.Matrix(pose), rational=False, tolerance=1e-15))


def _inverse(G: Any) -> Any:
    R = G[:3, :3].T
    return sympy.Matrix.hstack(R, -R * G[:3, 3]).col_join(sympy.Matrix([[0, 0, 0, 1]]))


def surface_joint(side_a: Side, side_b: Side, angle: float) -> GeneralJoint:
    """Return the joint of two surfaces whose turn about the normal is locked at an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    over = _matrix(np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]]), np.zeros(3))

    def transform(q: Any) -> Any:
        return frame(side_a, q[0], q[1]) * over * _inverse(frame(side_b, q[2], q[3]))

    return GeneralJoint(transform, 4)


def built_in(mech: Mechanism, name: str) -> GeneralJoint:
    """Return a hinge or universal joint of a mechanism, written out as a transform."""
    joint = mech.joints[name]
    frames = joint_frames(mech, joint)

    def transform(q: Any) -> Any:
        G = _matrix(frames.frame_a, frames.anchor_a)
        for angle, column in zip(q, frames.joint_type.rotations, strict=True):
            c, s = sympy.cos(angle), sympy.sin(angle)
            i, j = (column + 1) % 3, (column + 2) % 3
            turn = sympy.eye(4)
            turn[i, i] = turn[j, j] = c
            turn[i, j], turn[j, i] = -s, s
            G = G * turn
        return G * _inverse(_matrix(frames.frame_b, frames.anchor_b))

    return GeneralJoint(transform, joint.dofs)


def parameters(side: Side, place: Array, normal: Array) -> Array:
    """Return the two parameters of a place by its outward normal (3,) in the body."""
    n = side.rotation.T @ normal
    if side.kind == "helix":
        u = float(place[0])
        return np.array([u, np.arctan2(n[2], n[0] * np.cos(u) + n[1] * np.sin(u))])
    return np.array([np.arctan2(n[1], n[0]), np.arcsin(n[2])])


def start_of(mech: Mechanism, track: Track) -> tuple[Array, float]:
    """Return the four parameters of a surface joint at the assembly, and its locked angle."""
    poses = [
        (mech.bodies[end].position, mech.bodies[end].orientation) for end in (track.a, track.b)
    ]
    nearest = find_nearest_places(track, *poses)
    sides, places = (track.side_a, track.side_b), (nearest.place_a, nearest.place_b)
    turns = [rotation_matrix(q) for _, q in poses]
    points = [
        x + R @ side.in_body(place[None])[0]
        for (x, _), R, side, place in zip(poses, turns, sides, places, strict=True)
    ]
    way = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    normals = turns[0].T @ way, -turns[1].T @ way
    found = [parameters(*each) for each in zip(sides, places, normals, strict=True)]
    return np.concatenate(found), nearest.angle


def surface_tree(mech: Mechanism) -> tuple[Tree, Array]:
    """Return the tree of a mechanism of hinges, universal and surface joints, and its start.

    Surface joints, locked about the normal, hold bodies that were added before those they carry.
    """
    numbers = {name: i for i, name in enumerate(mech.bodies)} | {"world": -1}
    derived: dict[tuple[Any, ...], GeneralJoint] = {}
    parents, joints, starts = [0] * len(mech.bodies), [None] * len(mech.bodies), {}
    for joint in mech.joints.values():
        child = numbers[joint.child]
        parents[child], joints[child] = numbers[joint.parent], built_in(mech, joint.name)
        starts[child] = np.zeros(joint.dofs)
    for track in mech.tracks.values():
        q, angle = start_of(mech, track)
        ends = [(numbers[track.a], track.side_a, q[:2]), (numbers[track.b], track.side_b, q[2:])]
        (parent, first, of_first), (child, second, of_second) = sorted(ends, key=lambda end: end[0])
        key = (*_numbers_of(first), *_numbers_of(second), round(angle, 12))
        if key not in derived:
            derived[key] = surface_joint(first, second, angle)
        parents[child], joints[child] = parent, derived[key]
        starts[child] = np.concatenate([of_first, of_second])
    inertias = [body_inertia(body) for body in mech.bodies.values()]
    tree = general_tree(parents, joints, inertias, mech.gravity)
    return tree, np.concatenate([starts[i] for i in range(len(parents))])


def _numbers_of(side: Side) -> tuple[Any, ...]:
    return side.kind, side.offset, *side.sizes, *side.position, *side.rotation.ravel()


def bodies_at(tree: Tree, q: Array, rates: Array) -> tuple[Array, Array, Array]:
    """Return positions, rotations and velocities of the world and all bodies, in world axes."""
    joints = tree.joints(q, rates)
    R, x = recursion.poses(tree.links, joints)
    v = recursion.twists(tree.links, joints, rates)
    V = np.hstack([np.einsum("nij,nj->ni", R, part) for part in (v[:, 3:], v[:, :3])])
    places, turns = np.vstack([np.zeros((1, 3)), x]), np.concatenate([np.eye(3)[None], R])
    return places, turns, np.vstack([np.zeros((1, 6)), V])


def difference_to_multipliers(mech: Mechanism, tree: Tree, q: Array, rates: Array) -> float:
    """Return by how much accelerations of bodies differ from those by multipliers, relative.

    Constraint rows know nothing of the tree's coordinates; its accelerations of bodies are a
    difference over 20 us.

    Raises:
        AssertionError: the tree's poses and velocities do not satisfy the rows.
    """
    system = Multipliers(mech).system
    x, R, V = bodies_at(tree, q, rates)
    system.place(x, R)
    assert np.abs(system.rows.gaps).max() < 1e-12
    assert np.abs(system.rows.rates(V)).max() < 1e-12
    turning = np.einsum("nij,nj->ni", system.world_inertia, V[:, 3:])
    weight = system.mass[:, None] * mech.gravity
    forces = np.hstack([weight, -np.cross(V[:, 3:], turning)])
    expected = system.accelerate(forces, system.rows.drift(V))
    found = tree.accelerations(q, rates)
    later, earlier = (
        bodies_at(tree, q + e * rates + 0.5 * e**2 * found, rates + e * found)[2]
        for e in (NUDGE, -NUDGE)
    )
    away = np.abs((later - earlier) / (2.0 * NUDGE) - expected).max()
    return float(away / np.abs(expected).max())
