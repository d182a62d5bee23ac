"""Layout of the tables in memory: sizes and starts of the arrays, constants and states in lanes."""

from typing import NamedTuple

import numpy as np

from vigym.core.compiler.simd import LANES
from vigym.core.model.contact_slots import OUT_OF_REACH, ContactSlots, place_contacts
from vigym.core.tables.constants import (
    BODY_MODEL,
    CONTACT_MODEL,
    DOF_MODEL,
    ENVIRONMENT_MODEL,
    LOOP_ROW_MODEL,
    POINT_MODEL,
    SIDE_MODEL,
    SLIDE_MODEL,
    TERM_MODEL,
    TRACK_MODEL,
)
from vigym.core.tables.plan import ALIGNED, CONTACT_PLAN, HEADER, LONE
from vigym.core.tables.state import (
    CONTACT_STATE,
    DOF_STATE,
    ENVIRONMENT_STATE,
    LOOP_ROW_STATE,
    MOTION_STATE,
    POSE_STATE,
    SIDE_STATE,
    WRENCH_STATE,
)
from vigym.core.tables.table import Table
from vigym.core.tables.work import (
    BODY_WORK,
    CONTACT_WORK,
    DOF_WORK,
    ENVIRONMENT_WORK,
    FILL_IN_WORK,
    LOOP_ROW_WORK,
    MOTION_WORK,
    SCHUR_WORK,
    SIDE_WORK,
)

# buffers that take turns: the present knot, the next, and the two before for the predictor
KNOT_BUFFERS = 4


class Model(NamedTuple):
    """Constants of a mechanism, made by `vigym.simulation.compile`.

    The tables are structured arrays with a row per body, degree of freedom ...; ``model_table``
    lays them out in lanes.

    Attributes:
        plan: integers: header, then lists of rows, see `vigym.core.tables`.
        environment: (1,) of ENVIRONMENT_MODEL.
        bodies: (rows,) of BODY_MODEL: each body with the joint that carries it, and each loop.
        dofs: (n_dofs,) of DOF_MODEL.
        loop_rows: (n_loop_rows,) of LOOP_ROW_MODEL.
        contacts: (n_contacts,) of CONTACT_MODEL.
        terms: (n_terms,) of TERM_MODEL.
        body_rows: (n_bodies,) row of each body of the mechanism.
        tracks: (n_tracks,) of TRACK_MODEL: curve and surface joints.
        sides: (2 n_tracks,) of SIDE_MODEL.
        points: (n_points,) of POINT_MODEL.
        slides: (n_slides,) of SLIDE_MODEL.
    """

    plan: np.ndarray
    environment: np.ndarray
    bodies: np.ndarray
    dofs: np.ndarray
    loop_rows: np.ndarray
    contacts: np.ndarray
    terms: np.ndarray
    body_rows: np.ndarray
    tracks: np.ndarray = TRACK_MODEL.rows(0)
    sides: np.ndarray = SIDE_MODEL.rows(0)
    points: np.ndarray = POINT_MODEL.rows(0)
    slides: np.ndarray = SLIDE_MODEL.rows(0)


def header_of(plan: np.ndarray) -> np.void:
    """View the plan's header: ``header_of(plan)["body_count"]`` reads and writes an entry."""
    header: np.void = plan[: HEADER.width].view(HEADER.dtype)[0]
    return header


def plan_rows(plan: np.ndarray, table: Table, start: int, count: int) -> np.ndarray:
    """View of a list of the plan that begins at entry ``start``, as (count,) structured rows."""
    return plan[start : start + count * table.width].view(table.dtype)


def padded_row_count(rows: int, single: bool) -> int:
    """Count the rows a table holds: in a single environment the last block is filled up."""
    return -(-rows // LANES) * LANES if single else rows


def _count_slots(h: np.void, single: bool) -> dict[str, int]:
    """Count the slots of a field in each table, from the header of a plan."""
    counts = {
        "bodies": h["first_loop"] + h["loop_count"] if h["loop_count"] else h["body_count"],
        "dofs": h["dof_count"],
        "loop_rows": h["loop_row_count"],
        "fill_ins": h["fill_in_count"],
        "schur": 2 * h["schur_count"],
        "contacts": h["contact_slot_count"],
    }
    lanes = 1 if single else LANES
    slots = {
        name: padded_row_count(max(int(count), 1), single) * lanes for name, count in counts.items()
    }
    more = {"wrenches": h["wrench_count"], "motions": h["motion_count"]}
    more |= {"tracks": h["track_count"], "sides": 2 * h["track_count"], "points": h["point_count"]}
    more |= {"slides": h["slide_count"]}
    for name, count in more.items():
        slots[name] = padded_row_count(int(count), single) * lanes
    return slots


def contact_slots(plan: np.ndarray) -> ContactSlots:
    """Find the slots of the contacts in one environment, from a plan that is not laid out yet."""
    h = header_of(plan)
    rows = plan_rows(plan, CONTACT_PLAN, int(h["plan_contacts"]), int(h["contact_count"]))
    return place_contacts(rows, h["terrain_columns"] > 0)


def listed_contact_slots(plan: np.ndarray) -> np.ndarray:
    """Read the slots (n,) of the contacts from a plan that is laid out."""
    h = header_of(plan)
    start = int(h["plan_contact_slots"])
    return plan[start : start + int(h["contact_count"])]


def _list_contact_slots(plan: np.ndarray, single: bool) -> np.ndarray:
    """Copy the plan and append the slots of contacts, and their rows by slots if any are moved."""
    h = header_of(plan)
    count = int(h["contact_count"])
    slots = contact_slots(plan)
    listed = slots.slots if single else np.arange(count)
    rows = plan_rows(plan, CONTACT_PLAN, int(h["plan_contacts"]), count)
    if single:
        membership, rows = slots.membership, rows[slots.contacts]
        rows["membership"] = membership[slots.contacts]
        rows["body"] = slots.bodies
    laid_out = np.concatenate([plan, listed, rows.view(np.int64).reshape(-1)])
    h = header_of(laid_out)
    h["plan_contact_slots"], h["plan_contacts"] = len(plan), len(plan) + count
    h["contact_slot_count"] = len(rows)
    if single:
        blocks, is_aligned = slots.block_count, (membership == ALIGNED).any()
        h["contact_block_count"], h["aligned_block_count"] = blocks, blocks if is_aligned else 0
        h["first_lone_contact"] = _first(membership == LONE)
        h["first_unaligned_contact"] = _first(membership != ALIGNED)
    return laid_out


def _first(mask: np.ndarray) -> int:
    """Return the place of the first true value, the length if there is none."""
    return int(mask.argmax()) if mask.any() else len(mask)


def lay_out(plan: np.ndarray, single: bool) -> np.ndarray:
    """Copy the plan, and fill in the sizes and starts of the float tables.

    The layout is that of one environment (``single``) or of lanes of environments.
    """
    plan = _list_contact_slots(plan, single)
    h = header_of(plan)
    slots = _count_slots(h, single)
    h["model_bodies"] = ENVIRONMENT_MODEL.width * LANES
    h["model_dofs"] = h["model_bodies"] + slots["bodies"] * BODY_MODEL.width
    h["model_loop_rows"] = h["model_dofs"] + slots["dofs"] * DOF_MODEL.width
    h["model_contacts"] = h["model_loop_rows"] + slots["loop_rows"] * LOOP_ROW_MODEL.width
    h["model_tracks"] = h["model_contacts"] + slots["contacts"] * CONTACT_MODEL.width
    h["model_sides"] = h["model_tracks"] + slots["tracks"] * TRACK_MODEL.width
    h["model_points"] = h["model_sides"] + slots["sides"] * SIDE_MODEL.width
    h["model_slides"] = h["model_points"] + slots["points"] * POINT_MODEL.width
    h["model_terms"] = h["model_slides"] + slots["slides"] * SLIDE_MODEL.width
    h["state_dofs"] = ENVIRONMENT_STATE.width * LANES
    h["state_loop_rows"] = h["state_dofs"] + slots["dofs"] * DOF_STATE.width
    h["state_contacts"] = h["state_loop_rows"] + slots["loop_rows"] * LOOP_ROW_STATE.width
    h["state_wrenches"] = h["state_contacts"] + slots["contacts"] * CONTACT_STATE.width
    h["state_motions"] = h["state_wrenches"] + slots["wrenches"] * WRENCH_STATE.width
    h["state_sides"] = h["state_motions"] + slots["motions"] * MOTION_STATE.width
    h["state_knots"] = h["state_sides"] + slots["sides"] * SIDE_STATE.width
    h["knot_size"] = slots["bodies"] * POSE_STATE.width
    h["state_size"] = h["state_knots"] + KNOT_BUFFERS * h["knot_size"]
    h["work_dofs"] = slots["bodies"] * BODY_WORK.width
    h["work_loop_rows"] = h["work_dofs"] + slots["dofs"] * DOF_WORK.width
    h["work_fill_ins"] = h["work_loop_rows"] + slots["loop_rows"] * LOOP_ROW_WORK.width
    h["work_schur"] = h["work_fill_ins"] + slots["fill_ins"] * FILL_IN_WORK.width
    h["factors_size"] = h["work_schur"] + slots["schur"] * SCHUR_WORK.width
    h["work_contacts"] = 2 * h["factors_size"]  # once more the same, to keep factors aside
    h["work_motions"] = h["work_contacts"] + slots["contacts"] * CONTACT_WORK.width
    h["work_sides"] = h["work_motions"] + slots["motions"] * MOTION_WORK.width
    h["work_environment"] = h["work_sides"] + slots["sides"] * SIDE_WORK.width
    h["kept_state"] = h["work_environment"] + ENVIRONMENT_WORK.width * LANES
    h["work_size"] = h["kept_state"] + 2 * h["knot_size"] + h["state_size"]
    return plan


def aligned_zeros(size: int) -> np.ndarray:
    """Make a zeroed float64 array that starts on a cache line (5 to 15 % of a step).

    Behind it is room for a register: runs of rows are read and written with their neighbours.
    """
    raw = np.zeros(size * 8 + 64 + 8 * LANES, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * 8].view(np.float64)


def spread_over_lanes(rows: np.ndarray, single: bool) -> np.ndarray:
    """Convert constants (rows, fields) to the flat table of one lane group.

    Lanes are bodies in a single environment; else every lane is the same.
    """
    if single:
        filled = np.concatenate(
            [rows, np.repeat(rows[-1:], padded_row_count(len(rows), True) - len(rows), axis=0)]
        )
        return filled.reshape(-1, LANES, rows.shape[1]).transpose(0, 2, 1).ravel()
    return np.repeat(rows[:, :, None], LANES, axis=2).ravel()


def _contacts_by_slots(model: Model) -> np.ndarray:
    """Return the constants (slots,) of contacts by their slots in one environment."""
    if not len(model.contacts):
        return model.contacts
    slots = contact_slots(model.plan)
    rows = model.contacts[slots.contacts]
    rows["radius"][slots.empty] = OUT_OF_REACH
    return rows


def model_table(model: Model, single: bool) -> np.ndarray:
    """Make the flat table of constants of one lane group."""
    tables = (
        (BODY_MODEL, model.bodies),
        (DOF_MODEL, model.dofs),
        (LOOP_ROW_MODEL, model.loop_rows),
        (CONTACT_MODEL, _contacts_by_slots(model) if single else model.contacts),
    )
    parts = [np.repeat(ENVIRONMENT_MODEL.numbers(model.environment), LANES)]
    for table, rows in tables:
        parts.append(spread_over_lanes(table.numbers(rows if len(rows) else table.rows(1)), single))
    optional = (
        (TRACK_MODEL, model.tracks),
        (SIDE_MODEL, model.sides),
        (POINT_MODEL, model.points),
        (SLIDE_MODEL, model.slides),
        (TERM_MODEL, model.terms),
    )
    for table, rows in optional:
        if len(rows):
            parts.append(spread_over_lanes(table.numbers(rows), single))
    laid_out = aligned_zeros(sum(part.size for part in parts))
    laid_out[:] = np.concatenate(parts)
    return laid_out


def initial_state(plan: np.ndarray, groups: int) -> np.ndarray:
    """Make the state of ``groups`` lane groups with every body at the origin.

    Every lane holds a valid pose, also those without a body or environment.
    """
    h = header_of(plan)
    state = aligned_zeros(int(groups * h["state_size"]))
    knots = state.reshape(groups, -1)[:, h["state_knots"] :].reshape(
        groups, KNOT_BUFFERS, -1, POSE_STATE.width, LANES
    )
    rotation = POSE_STATE.offset("rotation")
    ones = (
        POSE_STATE.offset("orientation"),
        rotation,
        rotation + 4,
        rotation + 8,
        POSE_STATE.offset("cosine"),
    )
    for field in ones:
        knots[..., field, :] = 1.0
    return state
