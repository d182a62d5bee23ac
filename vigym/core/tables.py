"""The whole data model: four flat arrays and the names of what is where.

========  =========  =================================================================================================
array     changes    content
========  =========  =================================================================================================
plan      never      int64: header, a row per body (the elimination order) and link, a row per actuator, the joints
                     that have rates, a row per loop row, carried row, contact and motor
model     never      float64, per lane group: environment row, body rows, freedom rows, loop rows, contact rows
state     each step  float64, per lane group: environment row, coordinate rows, multipliers, contacts, knot buffers
work      scratch    float64: body rows, freedom rows, loop rows, carried rows and their couplings, once more the same
                     to keep factors aside, contact rows, whether any of two bodies is near, two knot buffers and a
                     state kept aside
========  =========  =================================================================================================

Rows are bodies (row 0 is the world, a row without unknowns; row i hangs on row ``PARENT`` < i) or freedoms (the free
directions of the joint that carries body i, translations first). What closes a loop is a *link*: a closing joint or a
spring between two points. Behind the bodies each link has a row like a body's: its half on the body ``CHILD``. A *loop
row* is one equation of a link; on its way to the body where it is eliminated it is *carried* by the bodies between, a
carried row for each. Every float table is laid out
``[row // s][field][lane]``, see ``simd``. Field offsets are in elements, so that a field is read at
``table + row(i, FIELDS, token) + FIELD``.
"""

from typing import NamedTuple

import numpy as np

from .simd import LANES


def _offsets(*widths: int) -> tuple[int, ...]:
    """Element offset of each field in a row, and last the number of fields of the row."""
    ends = np.cumsum((0, *widths))
    return tuple(int(e) * LANES for e in ends[:-1]) + (int(ends[-1]),)


# knot rows of the state: the pose at a knot, what follows from it, and the half-step velocity that led to it
X, Q, R, Y, ARM, AXIS, V, W, C, KNOT = _offsets(3, 4, 9, 3, 3, 3, 3, 3, 1)
# coordinate rows of the state: torque of the last step, (cos, sin) of the coordinate, full turns; of the last step:
# momentum rate sin(angle change) / h, rate, forces of spring, drive, limit and dry friction, target of the drive
TORQUE, COSINE, SINE, TURNS, RATE, SPEED, PULL, DRIVE, STOP, RUB, AIM, COORDINATE = _offsets(*[1] * 11)
# contact rows of the state: force of the last step along the normal and the two tangents (in units of their
# coefficients of friction), torque about the normal in units of its own, normal velocity of a rebound, force [world]
PRESS, REBOUND, REACTION, TOUCH = _offsets(4, 1, 3)
# environment row of the state: time, sizes of the last two steps, number of equal steps behind, books: losses, work,
# sum of its absolutes; rotation since turns were counted, knot buffer; what sums in single precision lost to rounding
(TIME, H1, H0, HISTORY, DISSIPATED, WORK_DONE, WORK_SPENT, SWEPT, PHASE, TIME_REST, DISSIPATED_REST, WORK_REST,
 SPENT_REST, ENVIRONMENT) = _offsets(*[1] * 13)  # fmt: skip
# body rows of the model: mass, inertia (xx yy zz xy xz yz), anchor in child and parent, axis in child and parent,
# relative orientation at assembly, translation frame, lever from the parent's own anchor to this one, quaternion
# coordinate at assembly
MASS, INERTIA, ANCHOR_B, ANCHOR_A, AXIS_B, AXIS_A, OFFSET, FRAME, LEVER, ZERO, BODY = _offsets(
    1, 6, 3, 3, 3, 3, 4, 9, 3, 4
)
# freedom rows of the model; inertia at the joint, for scale; drive: gains, largest force and rate, and of a DC motor
# voltage, resistance, constant of the back-EMF, saturation: currents and their torques
(DAMPING, STIFFNESS, REST, ARMATURE, EFFORT, LOWER, UPPER, DRY, EASE, KP, KD, STRONGEST, FASTEST, VOLTAGE, RESISTANCE,
 BACK_EMF, CURRENTS, TORQUES, FREEDOM) = _offsets(*[1] * 16, 8, 8)  # fmt: skip
# contact rows of the model: point in the body (from its centre of mass), radius, axis of a rim, a direction across it,
# direction "along",
# coefficients of friction along, backward and across, about the normal, of restitution, mass at the contact, for scale;
# of two bodies: from the middle to the end of the own segment; centre, axes, half sizes, radius of the partner's box;
# distance of the middles beyond which they are apart
(POINT, RADIUS, RIM_AXIS, RIM_SIDE, ALONG, MU_ALONG, MU_BACKWARD, MU_ACROSS, MU_SPIN, BOUNCE, HEFT, SEGMENT, CENTRE,
 BOX_AXES, HALF, ROUND, REACH, CONSTANT_TOUCH) = _offsets(
    3, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1, 3, 3, 9, 3, 1, 1
)  # fmt: skip
# loop rows of the model: vector fixed in the parent, vector fixed in the child; of a coupling its ratio and offset
FIXED_A, FIXED_B, RATIO, SHIFTED, CONSTANT_ROW = _offsets(3, 3, 1, 1)
# environment row of the model
GRAVITY, FORCE_SCALE, LENGTH_SCALE, NORMAL, TANGENT, HEIGHT, CONSTANTS = _offsets(3, 1, 1, 3, 3, 1)
# body rows of the work: history terms, wrench (force, torque about the joint anchor), its 6x6 derivative, the body's
# own rotational part of it, motion that closes the joints, levers from the parent's anchor at knots 2 and 3, increment
HISTORY_F, HISTORY_T, FORCE, MOMENT, BLOCK, OWN, REPAIR_X, REPAIR_R, LEVER2, LEVER3, SHIFT, TURN, WORK = _offsets(
    3, 3, 3, 3, 36, 9, 3, 3, 3, 3, 3, 3
)
# freedom rows of the work: applied torque, target of the drive, constant and current generalised force, its stiffness,
# residual over the pivot, 1 / pivot, column u, row w over the pivot, increment, the one that the laws choose by,
# coordinate at knot 2; of the laws of drive, limit and dry friction: what they see (rate, its slope, command, its
# stiffness, velocity to both limits), the forces as they are, at no increment (then after it), slopes, their anchors;
# forces of the solution
(APPLIED, TARGET, CONSTANT, LOAD, COMPLIANCE, RESIDUAL, PIVOT, COLUMN_F, COLUMN_T, ROW_F, ROW_T, INCREMENT, MOVED,
 START, SEEN, ACTS, GIVES, SLOPES, ANCHORS, FOUND, ELIMINATION) = _offsets(
    *[1] * 7, 3, 3, 3, 3, 1, 1, 1, 6, 3, 3, 3, 3, 3
)  # fmt: skip
# contact rows of the work: whether it is near; target of the normal's gap; force that anchors it, as it is, and at no
# increment (then after it); velocities (normal, of the touching point, spin) as they are, that choose between open,
# stick and slip, and after the last increment; slopes nn, 1n, 2n, 11, 12, 22, sn, ss; tangents, the same times their
# coefficients; arms from the joint anchor at knot 2, and at knot 3 of the lowest and of the touching point; touching
# point in the body; of skates and wheels the directions they keep to, and what their turning adds to a rotation;
# components and force [world] of the solution; normals at both knots; of a partner its arms like the own ones, and the
# touching point in it; place on the own segment at knot 2; slope 21; of the interior point its dual (s, psi), the same
# after the increment, psi's slopes
(NEAR, WANTED, ANCHOR, FACTS, FGIVES, SLIP, SLIP_SEEN, SLIP_NEXT, CONE, TANGENT_1, TANGENT_2, RUB_1, RUB_2, ARM2,
 ARM_LOW, ARM_TOUCH, TOUCHING, GUIDE_1, GUIDE_2, TURN_1, TURN_2, PRESS_FOUND, FORCE_FOUND, NORMAL_2, NORMAL_3,
 PARTNER_ARM2, PARTNER_LOW, PARTNER_TOUCH, PARTNER_TOUCHING, PLACE, CONE_21, DUAL, DUAL_NEXT, DUAL_LAW,
 TOUCH_WORK) = _offsets(
    1, 1, 4, 4, 4, 5, 5, 5, 8, *[3] * 12, 4, 3, *[3] * 6, 1, 1, 2, 2, 4
)  # fmt: skip
# loop rows of the work: residual, multiplier, the same of the last iteration that counts, 1 / pivot, the pivot before
# other rows were eliminated, its shift
GAP, MULTIPLIER, KEPT, ROW_PIVOT, WEIGHT, DUAL_SHIFT, LOOP_WORK = _offsets(1, 1, 1, 1, 1, 1)
# carried rows of the work: derivative at knot 3, wrench at knot 2, both per freedom of the body's joint (up to six)
K_F, K_T, B_F, B_T, ALONG_K, ALONG_B, CARRIED = _offsets(3, 3, 3, 3, 6, 6)

# header of the plan
(BODIES, FREEDOMS, POSITIONS, VELOCITIES, ACTUATORS, RATED, JOINTS, LINKS, FIRST_LINK, LOOP_ROWS, CARRIED_ROWS,
 COUPLINGS, CONTACTS, MOTORS, LAWS, PYRAMID, INTERIOR, MODEL_BODIES, MODEL_FREEDOMS, MODEL_LOOPS, MODEL_CONTACTS,
 STATE_COORDINATES, STATE_LOOPS, STATE_CONTACTS, STATE_KNOTS, KNOT_SIZE, STATE_SIZE, WORK_FREEDOMS, WORK_LOOPS,
 WORK_CARRIED, WORK_COUPLINGS, WORK_CONTACTS, WORK_AWAKE, WORK_SIZE, ASIDE_STATE, THREAD_SIZE, PLAN_ACTUATORS,
 PLAN_RATED, PLAN_LOOPS, PLAN_CARRIED, PLAN_CONTACTS, PLAN_MOTORS, TOUCHING_ROWS, HEADER) = range(44)  # fmt: skip
# row of a body or link in the plan. Loop rows: those eliminated at the body, those of the link; CARRY: carried rows
(PARENT, CHILD, FIRST, TRANSLATIONS, ROTATIONS, POSITION, VELOCITY, HAS_RATE, HAS_SPRING, PIVOTS, FIRST_ROW, ROWS,
 FIRST_CARRY, CARRIES, HAS_DRIVE, HAS_LIMIT, HAS_DRY, SEES, HAS_START, PLAN) = range(20)  # fmt: skip
# kinds of drive: none, PD, voltage
NO_DRIVE, PD, DC = range(3)
# how a joint's freedoms are eliminated: one by one, a single rotation, three rotations at once
GENERAL, HINGE, BALL = range(3)
# row of an actuator in the plan: the body whose joint it drives, which of the joint's freedoms, and that freedom's row
ACTUATED, ACTUATED_FREEDOM, ACTUATED_ROW, ACTUATOR = range(4)
# loop row in the plan: its kind, link, freedom; carried rows at the end bodies and where it is eliminated (-1: the
# world); first and last loop row it couples with, and where its couplings start; of a coupling the other body, freedom
(KIND, LINK, ROW_FREEDOM, END_A, END_B, AT_APEX, FROM, LAST, COUPLING, OTHER, OTHER_FREEDOM, LOOP_PLAN) = range(12)
# kinds: a coupling of two freedoms (LINK is the body of the first), a constrained translation, a constrained rotation,
# and what yields: a translation, a rotation, a length, a contact of two bodies (LINK is the contact)
COUPLED, SLIDE, TILT, SOFT_SLIDE, SOFT_TURN, SOFT_LENGTH, TOUCHING_ROW = range(7)
# contact in the plan: its body, its kind, whether its tangents turn with the body, whether it resists spin, the body
# that it touches (0: the ground), the first of its three loop rows where that moves
TOUCHES, TOUCH_KIND, DIRECTED, SPINS, PARTNER, TOUCH_ROWS, TOUCH_PLAN = range(7)
# kinds of contact: a ball (of no radius: a point), a rim's deepest point, those a quarter turn on; a ball, the nearest
# point of a segment, its ends with a rounded box of another body; a skate, a wheel
BALL_POINT, RIM, RIM_1, RIM_2, RIM_3, PAIR_BALL, PAIR_NEAREST, PAIR_HEAD, PAIR_TAIL, SKATE, WHEEL = range(11)
# carried row in the plan: its loop row, the carried row of the parent (-1: none), whether it is added to that one
CARRIED_ROW, CARRY_TO, CARRY_ADDS, CARRIED_PLAN = range(4)
BUFFERS = 4  # knot buffers that take turns: the present knot, the next, and the two before for the predictor


class Model(NamedTuple):
    """Constant tables of a mechanism, made by ``Mechanism.compile``.

    Float tables have one row per body or freedom here, a column per field; ``model_table`` lays them out in lanes.

    Attributes:
        plan: Row layout and elimination order, see the header names.
        environment: (CONSTANTS,) gravity [m/s^2], force scale [N], length scale [m].
        bodies: (rows, BODY) constants of each body and of the joint that carries it, and of each link.
        freedoms: (n_freedoms, FREEDOM) constants of each freedom.
        loops: (n_loop_rows, CONSTANT_ROW) constants of each loop row.
        contacts: (n_contacts, CONSTANT_TOUCH) constants of each contact.
        body_rows: (n_bodies,) row of each body of the mechanism.
    """

    plan: np.ndarray
    environment: np.ndarray
    bodies: np.ndarray
    freedoms: np.ndarray
    loops: np.ndarray
    contacts: np.ndarray
    body_rows: np.ndarray


def padded(rows: int, single: bool) -> int:
    """Rows a table holds: one environment keeps LANES bodies per block, the last block filled up."""
    return -(-rows // LANES) * LANES if single else rows


def lay_out(plan: np.ndarray, single: bool) -> np.ndarray:
    """A copy of the plan with the sizes and offsets of the float tables filled in.

    The layout is that of one environment (``single``) or of lanes of environments.
    """
    plan = plan.copy()
    lanes = 1 if single else LANES
    rows = plan[FIRST_LINK] + plan[LINKS] if plan[LINKS] else plan[BODIES]
    counts = rows, plan[FREEDOMS], plan[LOOP_ROWS], plan[CARRIED_ROWS], 2 * plan[COUPLINGS], plan[CONTACTS]
    bodies, freedoms, loops, carried, couplings, contacts = (
        padded(max(int(count), 1), single) * lanes for count in counts
    )
    plan[MODEL_BODIES] = CONSTANTS * LANES
    plan[MODEL_FREEDOMS] = plan[MODEL_BODIES] + bodies * BODY
    plan[MODEL_LOOPS] = plan[MODEL_FREEDOMS] + freedoms * FREEDOM
    plan[MODEL_CONTACTS] = plan[MODEL_LOOPS] + loops * CONSTANT_ROW
    plan[STATE_COORDINATES] = ENVIRONMENT * LANES
    plan[STATE_LOOPS] = plan[STATE_COORDINATES] + freedoms * COORDINATE
    plan[STATE_CONTACTS] = plan[STATE_LOOPS] + loops
    plan[STATE_KNOTS] = plan[STATE_CONTACTS] + contacts * TOUCH
    plan[KNOT_SIZE] = bodies * KNOT
    plan[STATE_SIZE] = plan[STATE_KNOTS] + BUFFERS * plan[KNOT_SIZE]
    plan[WORK_FREEDOMS] = bodies * WORK
    plan[WORK_LOOPS] = plan[WORK_FREEDOMS] + freedoms * ELIMINATION
    plan[WORK_CARRIED] = plan[WORK_LOOPS] + loops * LOOP_WORK
    plan[WORK_COUPLINGS] = plan[WORK_CARRIED] + carried * CARRIED
    plan[WORK_SIZE] = plan[WORK_COUPLINGS] + couplings
    plan[WORK_CONTACTS] = 2 * plan[WORK_SIZE]
    plan[WORK_AWAKE] = plan[WORK_CONTACTS] + contacts * TOUCH_WORK
    plan[ASIDE_STATE] = plan[WORK_AWAKE] + LANES
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
    loops = model.loops if len(model.loops) else np.zeros((1, CONSTANT_ROW))
    contacts = model.contacts if len(model.contacts) else np.zeros((1, CONSTANT_TOUCH))
    tables = model.bodies, freedoms, loops, contacts
    parts = [np.repeat(model.environment, LANES), *(in_lanes(rows, single) for rows in tables)]
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
