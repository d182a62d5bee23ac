"""Trees of surface joints in joint coordinates: each joint a transform G(q) of four parameters.

Where two surfaces meet, the frame (tangent, tangent, normal) of one is that of the other, turned
over and about the normal:

    G = A(u, v) F B(s, t)^-1                                                               (SI 4)

A sphere or ellipsoid has the direction of its normal as parameters, and the tangent towards its
pole; a torus angles along its circle and around its tube, and the tangent along the circle.
"""

from typing import Any

import numpy as np

from vigym.baselines.tree import GeneralJoint, Tree, body_inertia, general_tree
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import assembly_pose, joint_frames
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.nearest import find_nearest_places
from vigym.mechanism.tracks.sides import Side
from vigym.spatial import Array, rotation_matrix

Hanging = tuple[int, GeneralJoint, Array]  # number of the parent, the joint, its start


def surface_tree(mechanism: Mechanism) -> tuple[Tree, Array]:
    """Return the tree of a mechanism of surface joints and others, and its start (n_q,).

    Args:
        mechanism: each body hangs on one added before it, or on the world, by one joint: of the
            tree without quaternion, or of two spheres, ellipsoids or tori with `spin=False`.

    Raises:
        MechanismError: a joint, or a body, of another kind.
        ImportError: SymPy is not installed.
    """
    numbers = {name: i for i, name in enumerate(mechanism.bodies)} | {"world": -1}
    held: dict[int, Hanging] = {}
    for joint in mechanism.joints.values():
        own = numbers[joint.parent], _transform_of(mechanism, joint), np.zeros(joint.dofs)
        _hold(mechanism, held, numbers[joint.child], own)
    derived: dict[tuple[Any, ...], GeneralJoint] = {}
    for track in mechanism.tracks.values():
        _check(track)
        q, angle = _start_of(mechanism, track)
        sides = [(numbers[track.a], track.side_a, q[:2]), (numbers[track.b], track.side_b, q[2:])]
        (parent, first, _), (child, second, _) = sides = sorted(sides, key=lambda side: side[0])
        key = (*_numbers_of(first), *_numbers_of(second), round(angle, 12))
        if key not in derived:
            derived[key] = surface_joint(first, second, angle)
        start = np.concatenate([part for *_, part in sides])
        _hold(mechanism, held, child, (parent, derived[key], start))
    _check_all(mechanism, held)
    order = [held[i] for i in range(len(held))]
    inertias = [body_inertia(body) for body in mechanism.bodies.values()]
    joints = [joint for _, joint, _ in order]
    tree = general_tree([parent for parent, *_ in order], joints, inertias, mechanism.gravity)
    return tree, np.concatenate([start for *_, start in order])


def _hold(mechanism: Mechanism, held: dict[int, Hanging], child: int, joint: Hanging) -> None:
    if child in held or joint[0] >= child:
        name = list(mechanism.bodies)[max(child, joint[0])]
        raise MechanismError(
            f"body {name!r}: found it on two joints or below one added later, expected a tree, "
            "parents first"
        )
    held[child] = joint


def _check(track: Track) -> None:
    known = all(
        side.kind == "ellipsoid"
        or (side.offset > 0.0 and side.kind == "point")
        or (side.offset > 0.0 and side.kind == "helix" and side.sizes[0] > 0.0 == side.sizes[1])
        for side in (track.side_a, track.side_b)
    )
    if isinstance(track, CustomJoint) or track.spin or not known:
        raise MechanismError(
            f"joint {track.name!r}: found {track.kind}, expected spheres, ellipsoids and tori with "
            "spin=False"
        )


def _check_all(mechanism: Mechanism, held: dict[int, Hanging]) -> None:
    for number, name in enumerate(mechanism.bodies):
        if number not in held:
            raise MechanismError(f"body {name!r}: found it on no joint, expected one")


def surface_joint(side_a: Side, side_b: Side, angle: float) -> GeneralJoint:
    """Return the joint of two surfaces whose turn about the normal is locked at an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    over = _matrix(np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]]), np.zeros(3))

    def transform(q: Any) -> Any:
        return side_frame(side_a, q[0], q[1]) * over * _inverse(side_frame(side_b, q[2], q[3]))

    return GeneralJoint(transform, 4)


def side_frame(side: Side, u: Any, v: Any) -> Any:
    """Return the frame (4, 4) of a sphere, ellipsoid or torus, in its body, as a SymPy matrix."""
    import sympy

    around, out = (sympy.cos(u), sympy.sin(u)), (sympy.cos(v), sympy.sin(v))
    normal = sympy.Matrix([out[0] * around[0], out[0] * around[1], out[1]])
    point = side.offset * normal
    if side.kind == "helix":
        tangent = sympy.Matrix([-around[1], around[0], 0])
        point += side.sizes[0] * sympy.Matrix([*around, 0])
    else:
        tangent = sympy.Matrix([-out[1] * around[0], -out[1] * around[1], out[0]])
    if side.kind == "ellipsoid":
        scaled = sympy.Matrix([a**2 * part for a, part in zip(side.sizes, normal, strict=True)])
        point = scaled / sympy.sqrt(scaled.dot(normal))
    own = sympy.Matrix.hstack(tangent, normal.cross(tangent), normal, point)
    return _matrix(side.rotation, side.position) * own.col_join(sympy.Matrix([[0, 0, 0, 1]]))


def _transform_of(mechanism: Mechanism, joint: Joint) -> GeneralJoint:
    """Return a joint of the tree, written out as a transform."""
    import sympy

    frames = joint_frames(mechanism, joint)
    kind = frames.joint_type
    if kind.has_quaternion or kind.dofs == 0:
        found = f"found type {joint.type!r}"
        raise MechanismError(
            f"joint {joint.name!r}: {found}, expected one that moves, without quaternion"
        )

    def transform(q: Any) -> Any:
        G = _matrix(frames.frame_a, frames.anchor_a)
        for value, column in zip(q, kind.translations, strict=False):
            step = sympy.eye(4)
            step[column, 3] = value
            G = G * step
        for angle, column in zip(q[len(kind.translations) :], kind.rotations, strict=True):
            c, s = sympy.cos(angle), sympy.sin(angle)
            i = (column + 1) % 3
            j = (column + 2) % 3
            turn = sympy.eye(4)
            turn[i, i] = c
            turn[j, j] = c
            turn[i, j] = -s
            turn[j, i] = s
            G = G * turn
        return G * _inverse(_matrix(frames.frame_b, frames.anchor_b))

    return GeneralJoint(transform, joint.dofs)


def _start_of(mechanism: Mechanism, track: Track) -> tuple[Array, float]:
    """Return the four parameters of a surface joint at the assembly, and its locked angle."""
    poses = assembly_pose(mechanism, track.a), assembly_pose(mechanism, track.b)
    nearest = find_nearest_places(track, *poses)
    sides = (track.side_a, nearest.place_a), (track.side_b, nearest.place_b)
    turns = [rotation_matrix(q) for _, q in poses]
    points = [
        x + R @ side.in_body(place[None])[0]
        for (x, _), R, (side, place) in zip(poses, turns, sides, strict=True)
    ]
    way = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    normals = turns[0].T @ way, -turns[1].T @ way
    found = [_parameters(*side, normal) for side, normal in zip(sides, normals, strict=True)]
    return np.concatenate(found), nearest.angle


def _parameters(side: Side, place: Array, normal: Array) -> Array:
    """Return the two parameters of a place by its outward normal (3,) in the body."""
    n = side.rotation.T @ normal
    if side.kind == "helix":
        u = float(place[0])
        return np.array([u, np.arctan2(n[2], n[0] * np.cos(u) + n[1] * np.sin(u))])
    return np.array([np.arctan2(n[1], n[0]), np.arcsin(n[2])])


def _numbers_of(side: Side) -> tuple[Any, ...]:
    return side.kind, side.offset, *side.sizes, *side.position, *side.rotation.ravel()


def _matrix(R: Array, p: Array) -> Any:
    """Return a pose (4, 4) as a SymPy matrix, without the rounding of zeros and ones."""
    import sympy

    pose = np.eye(4)
    pose[:3, :3] = R
    pose[:3, 3] = p
    exact = np.round(pose)
    return sympy.Matrix(np.where(np.abs(pose - exact) < 1e-15, exact, pose))


def _inverse(G: Any) -> Any:
    """Return the inverse of a pose."""
    import sympy

    R = G[:3, :3].T
    return sympy.Matrix.hstack(R, -R * G[:3, 3]).col_join(sympy.Matrix([[0, 0, 0, 1]]))
