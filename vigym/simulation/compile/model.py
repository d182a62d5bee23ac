"""Constants of a mechanism for the compiled core: bodies, joints, loops, contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.core.model.layout import Model
from vigym.core.tables.constants import BODY_MODEL, ENVIRONMENT_MODEL, LOOP_ROW_MODEL
from vigym.core.tables.plan import (
    COMPLIANT_LENGTH_ROW,
    COMPLIANT_ORIENTATION_ROW,
    COMPLIANT_POSITION_ROW,
    COMPLIANT_SLIDE_ROW,
    COUPLED_ROW,
    ORIENTATION_ROW,
    POSITION_ROW,
    PRESCRIBED_ROW,
    TRACK_ROW,
)
from vigym.core.tree.tension import HELD
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint, joint_frame
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.mechanism.topology.massless import check_massless
from vigym.mechanism.topology.mobility_spread import check_mass_ratios
from vigym.mechanism.tracks.rows import assembly_poses
from vigym.simulation.compile.contacts import contact_rows, pair_rows, set_ground
from vigym.simulation.compile.dofs import dof_rows
from vigym.simulation.compile.elimination_order import LoopRow, Loops
from vigym.simulation.compile.imposed import (
    check_imposed,
    imposed_rows,
    velocity_rows,
)
from vigym.simulation.compile.layout import Rows, build_plan, is_active
from vigym.simulation.compile.tracks import slide_dofs, track_tables
from vigym.spatial import quaternion_product, rotation_matrix

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

Poses = dict[str, tuple[np.ndarray, np.ndarray]]  # body -> position, quaternion
# loops up to which one dense node at the end is as quick; local elimination was never slower (1 to
# 20 windows)
MOST_LOOPS_IN_TAIL = 2


def _joint_frames(joint: Joint, R_a: np.ndarray, R_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the joint frame in the parent's and in the child's axes.

    Free orientations use the bodies' own axes.
    """
    if joint.type == "floating":
        return np.eye(3), np.eye(3)
    frame = joint_frame(joint.axis, joint.axis2)
    return R_a.T @ frame, R_b.T @ rotation_matrix(joint.child_rotation) @ frame


def _set_joint(row: np.void, joint: Joint, poses: Poses) -> None:
    """Write constants of a joint to the row of the body it carries, or of the loop it closes."""
    x_a, q_a = poses[joint.parent]
    x_b, q_b = poses[joint.child]
    R_a, R_b = rotation_matrix(q_a), rotation_matrix(q_b)
    kind, turned = joint.joint_type, joint.child_rotation
    parent_frame, child_frame = _joint_frames(joint, R_a, R_b)
    is_absolute = kind.name == "floating"  # its coordinates are the child's pose in the parent
    row["child_anchor"] = 0.0 if is_absolute else R_b.T @ (joint.child_position - x_b)
    row["parent_anchor"] = 0.0 if is_absolute else R_a.T @ (joint.position - x_a)
    offset = quaternion_product(
        q_a * [1, -1, -1, -1], quaternion_product(turned * [1, -1, -1, -1], q_b)
    )
    row["joint_orientation"] = offset / np.linalg.norm(offset)
    row["reference_quaternion"] = row["joint_orientation"] if is_absolute else (1.0, 0.0, 0.0, 0.0)
    if 0 < len(kind.rotations) < 3:
        row["parent_axis"] = parent_frame[:, kind.rotations[0]]
        row["child_axis"] = child_frame[:, kind.rotations[-1]]
    axes = parent_frame[:, list(kind.translations)].T.ravel()
    row["translation_axes"][: len(axes)] = axes


def _body_rows(mechanism: Mechanism, rows: Rows) -> np.ndarray:
    """Return the constants of all bodies with their joints, and of all loops."""
    poses = assembly_poses(mechanism)
    table = BODY_MODEL.rows(len(rows.body))
    table[0]["joint_orientation"] = 1.0, 0.0, 0.0, 0.0
    for joint in rows.order:
        row, body = table[rows.body[joint.child]], mechanism.bodies[joint.child]
        _set_joint(row, joint, poses)
        J = np.asarray(body.inertia)
        row["mass"] = body.mass
        row["inertia"] = J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]
    if rows.loop:  # the last body's row fills its lane block
        filled = np.repeat(table[-1:], rows.first_loop - len(table), axis=0)
        table = np.concatenate([table, filled, BODY_MODEL.rows(len(rows.loop))])
    for joint in mechanism.closing_joints:
        _set_joint(table[rows.loop[joint.name]], joint, poses)
    for spring in mechanism.springs.values():
        row = table[rows.loop[f"spring {spring.name}"]]
        row["parent_anchor"], row["child_anchor"] = spring.point_a, spring.point_b
        row["joint_orientation"] = 1.0, 0.0, 0.0, 0.0
    names = [f"slide {slide.name}" for _, slide in mechanism.slides]
    names += [f"{kind} {name}" for kind in ("track", "more") for name in mechanism.tracks]
    for name in names:
        if name in rows.loop:
            table[rows.loop[name]]["joint_orientation"] = 1.0, 0.0, 0.0, 0.0
    _set_parent_levers(table, mechanism, rows)
    return table


def _set_parent_levers(table: np.ndarray, mechanism: Mechanism, rows: Rows) -> None:
    """Fill in the levers from the parents' own anchors to anchors of joints and springs on them."""
    parents = [(rows.of(joint), joint.parent) for joint in (*rows.order, *mechanism.closing_joints)]
    parents += [
        (rows.loop[f"spring {spring.name}"], spring.a) for spring in mechanism.springs.values()
    ]
    for i, parent in parents:
        table[i]["parent_lever"] = (
            table[i]["parent_anchor"] - table[rows.body[parent]]["child_anchor"]
        )


def scales(gravity: np.ndarray, bodies: np.ndarray) -> tuple[float, float]:
    """Find force and length [N, m] that residuals are measured by.

    The weight of all bodies, in 1 m/s^2 where there is no gravity; the longest arm from a centre of
    mass to the joint that carries it, or radius of gyration.
    """
    fall = float(np.linalg.norm(gravity))
    arms = np.linalg.norm(bodies["child_anchor"], axis=1)
    heavy = bodies[bodies["mass"] > 0.0]
    gyration = np.sqrt(heavy["inertia"][:, :3].sum(axis=1) / heavy["mass"])
    return float(bodies["mass"].sum()) * (fall or 1.0), float(max(arms.max(), gyration.max()))


def load_ratio(bodies: np.ndarray, parents: Sequence[int]) -> float:
    """Find the largest ratio of the mass of all bodies times a body's arm to its inertia [1/m].

    The arm is that to the joint that carries it; the inertia is the mean across the arm, and what
    the joint takes along of the parent. It bounds `vigym.core.tree.tension`, over an acceleration.

    Args:
        bodies: rows of the world and all bodies.
        parents: row of each row's parent.
    """
    moments = bodies["inertia"][:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)

    def across(rows: np.ndarray, arms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squares = (arms**2).sum(axis=1)
        along = np.einsum("ni,nij,nj->n", arms, moments[rows], arms)
        along /= np.where(squares > 0.0, squares, 1.0)
        inertias = 0.5 * (np.trace(moments[rows], axis1=1, axis2=2) - along)
        return np.where(bodies["mass"][rows] > 0.0, inertias, HELD), squares

    rows, carriers = np.arange(1, len(bodies)), np.asarray(parents)[1:]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # masses of any size
        own, squares = across(rows, bodies["child_anchor"][1:])
        other, other_squares = across(carriers, bodies["parent_anchor"][1:])
        masses = np.where(bodies["mass"] > 0.0, bodies["mass"], HELD)
        mobility = np.where(carriers > 0, 1.0 / masses[carriers] + other_squares / other, 0)
        inertia = own + squares / (1.0 / masses[1:] + mobility)
        return float((bodies["mass"].sum() * np.sqrt(squares) / inertia).max())


def _loop_rows(mechanism: Mechanism, rows: Rows, bodies: np.ndarray) -> list[LoopRow]:
    """Return the loop rows of all loop-closing joints and point springs."""
    found = []

    def add(
        kind: int, name: str, ends: tuple[str, str], vectors: tuple[Any, Any], dof: int = -1
    ) -> None:
        constants = LOOP_ROW_MODEL.rows(1)[0]
        constants["vector_a"], constants["vector_b"] = vectors
        found.append(
            LoopRow(kind, rows.loop[name], rows.body[ends[0]], rows.body[ends[1]], dof, constants)
        )

    for joint in mechanism.closing_joints:
        imposed = mechanism.structure.loop_constraints[joint.name]
        ends, first = (joint.parent, joint.child), rows.dof[joint.name]
        for u in imposed.translations:
            add(POSITION_ROW, joint.name, ends, (u, 0.0))
        for u, w in imposed.rotations:
            add(ORIENTATION_ROW, joint.name, ends, (u, w))
        if is_active(mechanism, joint) or joint.actuated:
            row, n = bodies[rows.loop[joint.name]], len(joint.joint_type.translations)
            for j in range(n):
                axis = row["translation_axes"].reshape(3, 3)[j]
                add(COMPLIANT_POSITION_ROW, joint.name, ends, (axis, 0.0), first + j)
            for j in range(len(joint.joint_type.rotations)):
                add(
                    COMPLIANT_ORIENTATION_ROW,
                    joint.name,
                    ends,
                    _rotation_vectors(joint, row, j),
                    first + n + j,
                )
    for spring in mechanism.springs.values():
        name = f"spring {spring.name}"
        add(COMPLIANT_LENGTH_ROW, name, (spring.a, spring.b), (0.0, 0.0), rows.dof[name])
    for track, slide in mechanism.slides:
        name = f"slide {slide.name}"
        add(COMPLIANT_SLIDE_ROW, name, (track.a, track.b), (0.0, 0.0), rows.dof[name])
    for track in mechanism.tracks.values():
        for _ in range(track.rows):
            add(TRACK_ROW, f"track {track.name}", (track.a, track.b), (0.0, 0.0))
    return found + _coupling_rows(mechanism, rows)


def _rotation_vectors(joint: Joint, row: np.void, j: int) -> tuple[Any, Any]:
    """Return the axis of free rotation j of a joint, fixed in the parent or else in the child."""
    if joint.joint_type.has_quaternion:
        return 0.0, np.eye(3)[j]
    if joint.joint_type.needs_second_axis and j == 0:
        return row["parent_axis"], 0.0
    return 0.0, row["child_axis"]


def _coupling_rows(mechanism: Mechanism, rows: Rows) -> list[LoopRow]:
    """Return the loop rows of couplings and prescribed motions: of one or two dofs."""
    places = {
        name: (rows.body[joint.child], rows.dof[joint.name] + j)
        for joint in mechanism.tree_joints
        for j, name in enumerate(joint.velocity_names)
    }
    found = []
    for coupling in mechanism.couplings.values():
        a, dof = places[coupling.joint]
        b, other = places[coupling.other]
        constants = LOOP_ROW_MODEL.rows(1)[0]
        constants["ratio"], constants["offset"] = coupling.ratio, coupling.offset
        found.append(LoopRow(COUPLED_ROW, a, a, b, dof, constants, other))
    found += [
        LoopRow(PRESCRIBED_ROW, a, a, a, dof, LOOP_ROW_MODEL.rows(1)[0])
        for a, dof in (places[name] for name in mechanism.motions)
    ]
    return sorted(found, key=lambda row: row.dof)


def build_model(mechanism: Mechanism, loops: str = "auto") -> Model:
    """Compile a mechanism to constant tables: the world, bodies depth first, then loops.

    Args:
        mechanism: bodies, joints, and the forces on them.
        loops: "tail", "local" or "auto", as in `Simulator`.

    Raises:
        MechanismError: no body can move, or one is too light for its loop.
    """
    rows = Rows(mechanism)
    if not rows.order:
        raise MechanismError(
            f"mechanism {mechanism.name!r}: found no body that can move, expected at least one"
        )
    check_massless(mechanism, mechanism.structure)
    check_mass_ratios(mechanism, mechanism.structure)
    check_imposed(mechanism)
    bodies = _body_rows(mechanism, rows)
    contact_loop_rows = pair_rows(mechanism, rows.body)
    count = len(rows.loop) + len(mechanism.couplings) + len(mechanism.motions)
    count += len(mechanism.velocity_constraints) + len(contact_loop_rows) // 3
    local = loops == "local" or (loops == "auto" and count > MOST_LOOPS_IN_TAIL)
    loop_rows = [*_loop_rows(mechanism, rows, bodies), *velocity_rows(mechanism, rows)]
    every = [*loop_rows, *contact_loop_rows]
    eliminated = Loops(every, rows.parents, local, rows.runs)
    mobility = Mobility(mechanism, mechanism.structure) if mechanism.needs_mobility else None
    contact_plan, contacts = contact_rows(mechanism, mobility, rows.body, eliminated.rows)
    environment = ENVIRONMENT_MODEL.rows(1)
    environment["gravity"] = mechanism.gravity
    measures = scales(np.asarray(mechanism.gravity), bodies[: len(rows.body)])
    environment["force_scale"], environment["length_scale"] = measures
    environment["load_ratio"] = load_ratio(bodies[: len(rows.body)], rows.parents)
    set_ground(environment[0], mechanism)
    imposed, terms = imposed_rows(mechanism, rows, eliminated)
    lists = {"plan_contacts": contact_plan, **imposed}
    return Model(
        plan=build_plan(mechanism, rows, eliminated, lists),
        environment=environment,
        bodies=bodies,
        dofs=np.concatenate([dof_rows(mechanism, rows, mobility), slide_dofs(mechanism, mobility)]),
        loop_rows=np.array([row.constants for row in eliminated.rows], LOOP_ROW_MODEL.dtype),
        contacts=contacts,
        terms=terms,
        body_rows=np.array([rows.body[name] for name in mechanism.bodies], np.int64),
        **track_tables(mechanism),
    )
