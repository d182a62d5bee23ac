"""A mechanism's constant tables: what the compiled core sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.core.tables import Model
from vigym.mechanism.errors import MechanismError
from vigym.mechanism.graph import spanning_tree
from vigym.mechanism.joints import Joint, axis_frame

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

WORLD = "world"


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion product a * b."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def _field(offset: int, width: int) -> slice:
    return slice(offset // LANES, offset // LANES + width)


def _poses(mechanism: Mechanism) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    poses = {name: (np.asarray(body.position), np.asarray(body.orientation)) for name, body in mechanism.bodies.items()}
    return {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))} | poses


def relative_pose(mechanism: Mechanism, parent: str, child: str) -> np.ndarray:
    """Pose of a body in another one's centre-of-mass frame at the assembly: position and quaternion (7,)."""
    (x_a, q_a), (x_b, q_b) = _poses(mechanism)[parent], _poses(mechanism)[child]
    return np.concatenate([rotation_matrix(q_a).T @ (x_b - x_a), product(q_a * [1, -1, -1, -1], q_b)])


def _frames(joint: Joint, R_a: np.ndarray, R_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint frame in the parent's and in the child's axes; free orientations use the bodies' own axes."""
    if len(joint.prototype.rotations) == 3:
        return np.eye(3), np.eye(3)
    frame = axis_frame(joint.axis, joint.axis2)
    return R_a.T @ frame, R_b.T @ frame


def _body_row(mechanism: Mechanism, joint: Joint, poses: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Constants of a body and of the joint that carries it."""
    body, (x_a, q_a), (x_b, q_b) = mechanism.bodies[joint.child], poses[joint.parent], poses[joint.child]
    R_a, R_b, kind = rotation_matrix(q_a), rotation_matrix(q_b), joint.prototype
    frame_a, frame_b = _frames(joint, R_a, R_b)
    absolute = kind.type == "floating"  # its coordinates are the child's pose in the parent, not since the assembly
    row = np.zeros(T.BODY)
    J = np.asarray(body.inertia)
    row[_field(T.MASS, 1)] = body.mass
    row[_field(T.INERTIA, 6)] = J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]
    row[_field(T.ANCHOR_B, 3)] = 0.0 if absolute else R_b.T @ (joint.position - x_b)
    row[_field(T.ANCHOR_A, 3)] = 0.0 if absolute else R_a.T @ (joint.position - x_a)
    offset = product(q_a * [1, -1, -1, -1], q_b)
    row[_field(T.OFFSET, 4)] = offset / np.linalg.norm(offset)
    row[_field(T.ZERO, 4)] = row[_field(T.OFFSET, 4)] if absolute else (1.0, 0.0, 0.0, 0.0)
    if 0 < len(kind.rotations) < 3:
        row[_field(T.AXIS_A, 3)] = frame_a[:, kind.rotations[0]]
        row[_field(T.AXIS_B, 3)] = frame_b[:, kind.rotations[-1]]
    translations = frame_a[:, list(kind.translations)].T.ravel()
    row[_field(T.FRAME, len(translations))] = translations
    return row


def _freedom_rows(mechanism: Mechanism, joint: Joint) -> np.ndarray:
    count = len(joint.prototype.velocities)
    rows = np.zeros((count, T.FREEDOM))
    rests = tuple(joint.rest) or (0.0,) * count
    if joint.type == "floating":  # its coordinates are absolute, its spring is slack at the assembly
        rests = (*relative_pose(mechanism, joint.parent, joint.child)[:3], 0.0, 0.0, 0.0)
    for j in range(count):
        rows[j, _field(T.DAMPING, 1)] = joint.damping
        rows[j, _field(T.STIFFNESS, 1)] = joint.stiffness
        rows[j, _field(T.REST, 1)] = rests[j]
        rows[j, _field(T.ARMATURE, 1)] = joint.armature
        rows[j, _field(T.EFFORT, 1)] = joint.effort or 0.0
    return rows


def _scales(mechanism: Mechanism, bodies: np.ndarray) -> tuple[float, float]:
    """Force and length [N, m] that residuals are measured by.

    The weight of all bodies, in 1 m/s^2 where there is no gravity; the longest arm from a centre of mass to the joint
    that carries it, or radius of gyration.
    """
    gravity = float(np.linalg.norm(mechanism.gravity))
    levers = np.linalg.norm(bodies[:, _field(T.ANCHOR_B, 3)], axis=1)
    gyration = np.sqrt(bodies[1:, _field(T.INERTIA, 3)].sum(axis=1) / bodies[1:, T.MASS // LANES])
    return float(bodies[:, T.MASS // LANES].sum()) * (gravity or 1.0), float(max(levers.max(), gyration.max()))


def _pivots(joint: Joint, has_rate: bool) -> int:
    """How the joint's freedoms are eliminated; the 3x3 pivot knows neither rates nor springs."""
    freedoms = len(joint.prototype.translations), len(joint.prototype.rotations)
    if freedoms == (0, 1):
        return T.HINGE
    return T.BALL if freedoms == (0, 3) and not has_rate and not joint.stiffness else T.GENERAL


def _starts(joints: list[Joint], widths: list[int]) -> dict[str, int]:
    """Column at which each joint's coordinates start."""
    return {joint.name: sum(widths[:i]) for i, joint in enumerate(joints)}


def _plan(mechanism: Mechanism, order: list[Joint], rows: dict[str, int]) -> np.ndarray:
    """Header, body rows, actuators and rated joints; the sizes of float tables are filled in by ``tables.lay_out``."""
    listed = mechanism.tree_joints
    position = _starts(listed, [len(j.prototype.positions) for j in listed])
    velocity = _starts(listed, [len(j.prototype.velocities) for j in listed])
    bodies = np.zeros((len(order) + 1, T.PLAN), np.int64)
    first, rated = 0, []
    firsts = {}
    for joint in order:
        i, kind = rows[joint.child], joint.prototype
        has_rate = joint.damping > 0 or joint.armature > 0 or (bool(joint.effort) and len(kind.rotations) == 3)
        bodies[i, T.PARENT], bodies[i, T.FIRST] = rows[joint.parent], first
        bodies[i, T.TRANSLATIONS], bodies[i, T.ROTATIONS] = len(kind.translations), len(kind.rotations)
        bodies[i, T.POSITION], bodies[i, T.VELOCITY] = position[joint.name], velocity[joint.name]
        bodies[i, T.HAS_RATE], bodies[i, T.HAS_SPRING] = has_rate, joint.stiffness > 0
        bodies[i, T.PIVOTS] = _pivots(joint, has_rate)
        firsts[joint.name] = first
        first += len(kind.velocities)
        rated += [i] if has_rate else []
    actuators = [
        (rows[j.child], k, firsts[j.name] + k) for j in listed if j.effort for k in range(len(j.prototype.velocities))
    ]  # fmt: skip
    header = np.zeros(T.HEADER, np.int64)
    header[[T.BODIES, T.FREEDOMS, T.ACTUATORS, T.RATED]] = len(bodies), first, len(actuators), len(rated)
    header[[T.POSITIONS, T.VELOCITIES]] = len(mechanism.position_names), len(mechanism.velocity_names)
    header[T.PLAN_ACTUATORS] = T.HEADER + bodies.size
    header[T.PLAN_RATED] = header[T.PLAN_ACTUATORS] + len(actuators) * T.ACTUATOR
    return np.concatenate([header, bodies.ravel(), np.array(actuators, np.int64).ravel(), np.array(rated, np.int64)])


def build_model(mechanism: Mechanism) -> Model:
    """Compile a mechanism to constant tables: bodies in depth-first order behind the world, one row each."""
    order = [joint for joint, _ in spanning_tree(mechanism)]
    if not order:
        raise MechanismError(f"mechanism {mechanism.name!r}: found no body that can move, expected at least one")
    rows = {WORLD: 0} | {joint.child: i for i, joint in enumerate(order, start=1)}
    poses = _poses(mechanism)
    bodies = np.zeros((len(order) + 1, T.BODY))
    bodies[0, _field(T.OFFSET, 1)] = 1.0
    for joint in order:
        bodies[rows[joint.child]] = _body_row(mechanism, joint, poses)
    anchors_a, anchors_b = bodies[:, _field(T.ANCHOR_A, 3)], bodies[:, _field(T.ANCHOR_B, 3)]
    for joint in order:
        i = rows[joint.child]
        bodies[i, _field(T.LEVER, 3)] = anchors_a[i] - anchors_b[rows[joint.parent]]
    freedoms = np.concatenate([np.zeros((0, T.FREEDOM)), *(_freedom_rows(mechanism, joint) for joint in order)])
    environment = np.array([*mechanism.gravity, *_scales(mechanism, bodies)])
    body_rows = np.array([rows[name] for name in mechanism.bodies], np.int64)
    return Model(_plan(mechanism, order, rows), environment, bodies, freedoms, body_rows)
