"""A mechanism's constant tables: what the compiled core sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.core.tables import Model
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint, axis_frame
from vigym.mechanism.topology.effective_mass import Mobility, needs_mobility
from vigym.simulation.compile.contacts import contact_rows, ground_constants, pair_rows
from vigym.simulation.compile.dofs import freedom_rows
from vigym.simulation.compile.elimination_order import LoopRow, Loops
from vigym.simulation.compile.layout import Rows, build_plan
from vigym.spatial import quaternion_product, rotation_matrix

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def _field(offset: int, width: int) -> slice:
    return slice(offset // LANES, offset // LANES + width)


def _poses(mechanism: Mechanism) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    poses = {name: (np.asarray(body.position), np.asarray(body.orientation)) for name, body in mechanism.bodies.items()}
    return {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))} | poses


def _frames(joint: Joint, R_a: np.ndarray, R_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint frame in the parent's and in the child's axes; free orientations use the bodies' own axes."""
    if len(joint.prototype.rotations) == 3:
        return np.eye(3), np.eye(3)
    frame = axis_frame(joint.axis, joint.axis2)
    return R_a.T @ frame, R_b.T @ rotation_matrix(joint.child_rotation) @ frame


def _joint_row(mechanism: Mechanism, joint: Joint, poses: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Constants of a joint, without those of the body it carries."""
    (x_a, q_a), (x_b, q_b) = poses[joint.parent], poses[joint.child]
    R_a, R_b, kind, turned = rotation_matrix(q_a), rotation_matrix(q_b), joint.prototype, joint.child_rotation
    frame_a, frame_b = _frames(joint, R_a, R_b)
    absolute = kind.type == "floating"  # its coordinates are the child's pose in the parent, not since the assembly
    row = np.zeros(T.BODY)
    row[_field(T.ANCHOR_B, 3)] = 0.0 if absolute else R_b.T @ (joint.child_position - x_b)
    row[_field(T.ANCHOR_A, 3)] = 0.0 if absolute else R_a.T @ (joint.position - x_a)
    offset = quaternion_product(q_a * [1, -1, -1, -1], quaternion_product(turned * [1, -1, -1, -1], q_b))
    row[_field(T.OFFSET, 4)] = offset / np.linalg.norm(offset)
    row[_field(T.ZERO, 4)] = row[_field(T.OFFSET, 4)] if absolute else (1.0, 0.0, 0.0, 0.0)
    if 0 < len(kind.rotations) < 3:
        row[_field(T.AXIS_A, 3)] = frame_a[:, kind.rotations[0]]
        row[_field(T.AXIS_B, 3)] = frame_b[:, kind.rotations[-1]]
    translations = frame_a[:, list(kind.translations)].T.ravel()
    row[_field(T.FRAME, len(translations))] = translations
    return row


def _body_row(mechanism: Mechanism, joint: Joint, poses: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Constants of a body and of the joint that carries it."""
    row, body = _joint_row(mechanism, joint, poses), mechanism.bodies[joint.child]
    J = np.asarray(body.inertia)
    row[_field(T.MASS, 1)] = body.mass
    row[_field(T.INERTIA, 6)] = J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]
    return row


def scales(gravity: np.ndarray, bodies: np.ndarray) -> tuple[float, float]:
    """Force and length [N, m] that residuals are measured by, from gravity (3,) and the rows of the bodies.

    The weight of all bodies, in 1 m/s^2 where there is no gravity; the longest arm from a centre of mass to the joint
    that carries it, or radius of gyration.
    """
    fall = float(np.linalg.norm(gravity))
    levers = np.linalg.norm(bodies[:, _field(T.ANCHOR_B, 3)], axis=1)
    gyration = np.sqrt(bodies[1:, _field(T.INERTIA, 3)].sum(axis=1) / bodies[1:, T.MASS // LANES])
    return float(bodies[:, T.MASS // LANES].sum()) * (fall or 1.0), float(max(levers.max(), gyration.max()))


def _loop_rows(mechanism: Mechanism, rows: Rows, constants: np.ndarray) -> list[LoopRow]:
    """The loop rows of all links."""
    found = []

    def note(kind: int, name: str, ends: tuple[str, str], vectors: tuple[Any, Any], freedom: int = -1) -> None:
        row = np.zeros(T.CONSTANT_ROW)
        row[_field(T.FIXED_A, 3)], row[_field(T.FIXED_B, 3)] = vectors
        found.append(LoopRow(kind, rows.link[name], rows.body[ends[0]], rows.body[ends[1]], freedom, row))

    for joint in mechanism.closing_joints:
        imposed, ends, first = (
            mechanism.structure.closures[joint.name],
            (joint.parent, joint.child),
            rows.freedom[joint.name],
        )
        for u in imposed.translations:
            note(T.SLIDE, joint.name, ends, (u, 0.0))
        for u, w in imposed.rotations:
            note(T.TILT, joint.name, ends, (u, w))
        if joint.stiffness or joint.damping:
            row, n = constants[rows.link[joint.name]], len(joint.prototype.translations)
            for j in range(n):
                axis = row[_field(T.FRAME, 9)].reshape(3, 3)[j]
                note(T.SOFT_SLIDE, joint.name, ends, (axis, 0.0), first + j)
            for j in range(len(joint.prototype.rotations)):
                note(T.SOFT_TURN, joint.name, ends, (0.0, row[_field(T.AXIS_B, 3)]), first + n + j)
    for spring in mechanism.springs.values():
        name = f"spring {spring.name}"
        note(T.SOFT_LENGTH, name, (spring.a, spring.b), (0.0, 0.0), rows.freedom[name])
    return found + _coupling_rows(mechanism, rows)


def _coupling_rows(mechanism: Mechanism, rows: Rows) -> list[LoopRow]:
    """Loop rows of the couplings: they hold two freedoms together."""
    places = {
        name: (rows.body[joint.child], rows.freedom[joint.name] + j)
        for joint in mechanism.tree_joints
        for j, name in enumerate(joint.coordinates(joint.prototype.velocities))
    }
    found = []
    for coupling in mechanism.couplings.values():
        (a, freedom), (b, other) = places[coupling.joint], places[coupling.other]
        row = np.zeros(T.CONSTANT_ROW)
        row[_field(T.RATIO, 2)] = coupling.ratio, coupling.offset
        found.append(LoopRow(T.COUPLED, a, a, b, freedom, row, other))
    return sorted(found, key=lambda row: row.freedom)


def _tables(mechanism: Mechanism, rows: Rows) -> np.ndarray:
    """Constants of all bodies and links, (rows, BODY)."""
    poses = _poses(mechanism)
    table = np.zeros((len(rows.body), T.BODY))
    table[0, _field(T.OFFSET, 1)] = 1.0
    for joint in rows.order:
        table[rows.body[joint.child]] = _body_row(mechanism, joint, poses)
    if rows.link:  # the last body's row fills its lane block
        filled = np.repeat(table[-1:], rows.first_link - len(table), axis=0)
        table = np.concatenate([table, filled, np.zeros((len(rows.link), T.BODY))])
    for joint in mechanism.closing_joints:
        table[rows.link[joint.name]] = _joint_row(mechanism, joint, poses)
    for spring in mechanism.springs.values():
        row = table[rows.link[f"spring {spring.name}"]]
        row[_field(T.ANCHOR_A, 3)], row[_field(T.ANCHOR_B, 3)] = spring.point_a, spring.point_b
        row[_field(T.OFFSET, 1)] = 1.0
    ends = [(rows.body[j.child], j.parent) for j in rows.order] + [
        (rows.link[j.name], j.parent) for j in mechanism.closing_joints
    ]
    ends += [(rows.link[f"spring {s.name}"], s.a) for s in mechanism.springs.values()]
    for i, parent in ends:
        own = table[rows.body[parent], _field(T.ANCHOR_B, 3)]
        table[i, _field(T.LEVER, 3)] = table[i, _field(T.ANCHOR_A, 3)] - own
    return table


TAIL = (
    2  # links up to which the dense node at the end is as quick; local elimination was never slower (1 to 20 windows)
)


def build_model(mechanism: Mechanism, loops: str = "auto") -> Model:
    """Compile a mechanism to constant tables: bodies in depth-first order behind the world, then links, a row each.

    Args:
        mechanism: what is compiled.
        loops: "tail", "local" or "auto", as in `Simulator`.
    """
    rows = Rows(mechanism)
    if not rows.order:
        raise MechanismError(f"mechanism {mechanism.name!r}: found no body that can move, expected at least one")
    bodies = _tables(mechanism, rows)
    touching_rows = pair_rows(mechanism, rows.body)
    links = len(rows.link) + len(mechanism.couplings) + len(touching_rows) // 3
    local = loops == "local" or (loops == "auto" and links > TAIL)
    closed = Loops([*_loop_rows(mechanism, rows, bodies), *touching_rows], rows.parents, local)
    mobility = Mobility(mechanism) if needs_mobility(mechanism) else None
    touching, contacts = contact_rows(mechanism, mobility, rows.body, closed.rows)
    measures = scales(np.asarray(mechanism.gravity), bodies[: len(rows.body)])
    environment = np.array([*mechanism.gravity, *measures, *ground_constants(mechanism)])
    constants = np.array([row.constants for row in closed.rows]).reshape(-1, T.CONSTANT_ROW)
    body_rows = np.array([rows.body[name] for name in mechanism.bodies], np.int64)
    return Model(
        build_plan(mechanism, rows, closed, touching),
        environment,
        bodies,
        freedom_rows(mechanism, rows, mobility),
        constants,
        contacts,
        body_rows,
    )
