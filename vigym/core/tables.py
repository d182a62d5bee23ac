"""The whole data model: four flat arrays and the names of what is where.

========  =========  =================================================================================================
array     changes    content
========  =========  =================================================================================================
plan      never      int64: header, a row per body (the elimination order), a row per actuator, the bodies whose joints
                     have rates
model     never      float64, per lane group: environment row, body rows, freedom rows
state     each step  float64, per lane group: environment row, coordinate rows, knot buffers
work      scratch    float64: body rows and freedom rows, once more the same to keep factors aside, two knot buffers and
                     a state kept aside
========  =========  =================================================================================================

Rows are bodies (row 0 is the world, a row without unknowns; row i hangs on row ``PARENT`` < i) or freedoms (the free
directions of the joint that carries body i, translations first). Every float table is laid out
``[row // s][field][lane]``, see ``simd``. Field offsets are in elements, so that a field is read at
``table + row(i, FIELDS, token) + FIELD``.
"""

from typing import Any, NamedTuple

import numpy as np

from .simd import LANES


def _offsets(*widths: int) -> tuple[int, ...]:
    """Element offset of each field in a row, and last the number of fields of the row."""
    ends = np.cumsum((0, *widths))
    return tuple(int(e) * LANES for e in ends[:-1]) + (int(ends[-1]),)


# knot rows of the state: the pose at a knot, what follows from it, and the half-step velocity that led to it
X, Q, R, Y, ARM, AXIS, V, W, C, KNOT = _offsets(3, 4, 9, 3, 3, 3, 3, 3, 1)
# coordinate rows of the state: torque of the last step, (cos, sin) of the coordinate, full turns, momentum rate
# sin(angle change) / h of the last step
TORQUE, COSINE, SINE, TURNS, RATE, COORDINATE = _offsets(1, 1, 1, 1, 1)
# environment row of the state: time, sizes of the last two steps, number of equal steps behind, books, rotation since
# turns were counted, knot buffer
TIME, H1, H0, HISTORY, DISSIPATED, WORK_DONE, SWEPT, PHASE, ENVIRONMENT = _offsets(1, 1, 1, 1, 1, 1, 1, 1)
# body rows of the model: mass, inertia (xx yy zz xy xz yz), anchor in child and parent, axis in child and parent,
# relative orientation at assembly, translation frame, lever from the parent's own anchor to this one, quaternion
# coordinate at assembly
MASS, INERTIA, ANCHOR_B, ANCHOR_A, AXIS_B, AXIS_A, OFFSET, FRAME, LEVER, ZERO, BODY = _offsets(
    1, 6, 3, 3, 3, 3, 4, 9, 3, 4
)
# freedom rows of the model
DAMPING, STIFFNESS, REST, ARMATURE, EFFORT, FREEDOM = _offsets(1, 1, 1, 1, 1)
# environment row of the model
GRAVITY, FORCE_SCALE, LENGTH_SCALE, CONSTANTS = _offsets(3, 1, 1)
# body rows of the work: history terms, wrench (force, torque about the joint anchor), its 6x6 derivative, the body's
# own rotational part of it, motion that closes the joints, levers from the parent's anchor at knots 2 and 3, increment
HISTORY_F, HISTORY_T, FORCE, MOMENT, BLOCK, OWN, REPAIR_X, REPAIR_R, LEVER2, LEVER3, SHIFT, TURN, WORK = _offsets(
    3, 3, 3, 3, 36, 9, 3, 3, 3, 3, 3, 3
)
# freedom rows of the work: applied torque, constant and current generalised force, its stiffness, residual over the
# pivot, 1 / pivot, column u, row w over the pivot
APPLIED, CONSTANT, LOAD, COMPLIANCE, RESIDUAL, PIVOT, COLUMN_F, COLUMN_T, ROW_F, ROW_T, ELIMINATION = _offsets(
    1, 1, 1, 1, 1, 1, 3, 3, 3, 3
)

# header of the plan
(BODIES, FREEDOMS, POSITIONS, VELOCITIES, ACTUATORS, RATED, MODEL_BODIES, MODEL_FREEDOMS, STATE_COORDINATES,
 STATE_KNOTS, KNOT_SIZE, STATE_SIZE, WORK_FREEDOMS, WORK_SIZE, ASIDE_STATE, THREAD_SIZE, PLAN_ACTUATORS, PLAN_RATED,
 HEADER) = range(19)  # fmt: skip
# row of a body in the plan
PARENT, FIRST, TRANSLATIONS, ROTATIONS, POSITION, VELOCITY, HAS_RATE, HAS_SPRING, PIVOTS, PLAN = range(10)
# how a joint's freedoms are eliminated: one by one, a single rotation, three rotations at once
GENERAL, HINGE, BALL = range(3)
# row of an actuator in the plan: the body whose joint it drives, which of the joint's freedoms, and that freedom's row
ACTUATED, ACTUATED_FREEDOM, ACTUATED_ROW, ACTUATOR = range(4)
BUFFERS = 4  # knot buffers that take turns: the present knot, the next, and the two before for the predictor


class Model(NamedTuple):
    """Constant tables of a mechanism, made by ``Mechanism.compile``.

    Float tables have one row per body or freedom here, a column per field; ``model_table`` lays them out in lanes.

    Attributes:
        plan: Row layout and elimination order, see the header names.
        environment: (CONSTANTS,) gravity [m/s^2], force scale [N], length scale [m].
        bodies: (n_bodies + 1, BODY) constants of each body and of the joint that carries it.
        freedoms: (n_freedoms, FREEDOM) constants of each freedom.
        body_rows: (n_bodies,) row of each body of the mechanism.
    """

    plan: np.ndarray
    environment: np.ndarray
    bodies: np.ndarray
    freedoms: np.ndarray
    body_rows: np.ndarray


class Tables(NamedTuple):
    """Pointers to the four arrays, and where the tables of one lane group start in them."""

    plan: Any
    model: Any
    state: Any
    work: Any
    m: int  # model: bodies
    f: int  # model: freedoms
    e: int  # model: environment row
    s: int  # state: environment row
    c: int  # state: coordinates
    k: int  # state: first knot buffer
    b: int  # work: bodies
    p: int  # work: freedoms


def padded(rows: int, single: bool) -> int:
    """Rows a table holds: one environment keeps LANES bodies per block, the last block filled up."""
    return -(-rows // LANES) * LANES if single else rows


def lay_out(plan: np.ndarray, single: bool) -> np.ndarray:
    """A copy of the plan with the sizes and offsets of the float tables filled in.

    The layout is that of one environment (``single``) or of lanes of environments.
    """
    plan = plan.copy()
    lanes = 1 if single else LANES
    bodies, freedoms = padded(int(plan[BODIES]), single) * lanes, padded(max(int(plan[FREEDOMS]), 1), single) * lanes
    plan[MODEL_BODIES] = CONSTANTS * LANES
    plan[MODEL_FREEDOMS] = plan[MODEL_BODIES] + bodies * BODY
    plan[STATE_COORDINATES] = ENVIRONMENT * LANES
    plan[STATE_KNOTS] = plan[STATE_COORDINATES] + freedoms * COORDINATE
    plan[KNOT_SIZE] = bodies * KNOT
    plan[STATE_SIZE] = plan[STATE_KNOTS] + BUFFERS * plan[KNOT_SIZE]
    plan[WORK_FREEDOMS] = bodies * WORK
    plan[WORK_SIZE] = plan[WORK_FREEDOMS] + freedoms * ELIMINATION
    plan[ASIDE_STATE] = 2 * plan[WORK_SIZE]
    plan[THREAD_SIZE] = plan[ASIDE_STATE] + 2 * plan[KNOT_SIZE] + plan[STATE_SIZE]
    return plan


def aligned(size: int) -> np.ndarray:
    """A zeroed float64 array that starts on a cache line (5 to 15 % of a step)."""
    raw = np.zeros(size * 8 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * 8].view(np.float64)


def in_lanes(rows: np.ndarray, single: bool) -> np.ndarray:
    """(rows, fields) constants as the flat lane table of one group: bodies in lanes, or every lane the same."""
    if single:
        filled = np.concatenate([rows, np.repeat(rows[-1:], padded(len(rows), True) - len(rows), axis=0)])
        return filled.reshape(-1, LANES, rows.shape[1]).transpose(0, 2, 1).ravel()
    return np.repeat(rows[:, :, None], LANES, axis=2).ravel()


def model_table(model: Model, single: bool) -> np.ndarray:
    """The flat float table of one lane group."""
    freedoms = model.freedoms if len(model.freedoms) else np.zeros((1, FREEDOM))
    parts = [np.repeat(model.environment, LANES), in_lanes(model.bodies, single), in_lanes(freedoms, single)]
    table = aligned(sum(part.size for part in parts))
    table[:] = np.concatenate(parts)
    return table


def initial_state(plan: np.ndarray, groups: int) -> np.ndarray:
    """State of ``groups`` lane groups with every body at the origin.

    Every lane holds a valid pose, also those without a body or environment.
    """
    state = aligned(int(groups * plan[STATE_SIZE]))
    knots = state.reshape(groups, -1)[:, plan[STATE_KNOTS] :].reshape(groups, BUFFERS, -1, KNOT, LANES)
    for field in (Q, R, R + 4 * LANES, R + 8 * LANES, C):
        knots[..., field // LANES, :] = 1.0
    return state
