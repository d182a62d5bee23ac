"""Everything that is read of a state at its knot: poses, velocities, coordinates, energies, residuals, power."""

from .algebra import add, cross, dot, largest3, load3, load4, load9, mul, scale, sub, tmul
from .groups import group
from .jit import entry, phase
from .joint import constrained_rotation, joint_row, planned, rotation_repair, translation_axis, translation_repair
from .knot import knots, load_inertia
from .lanes import row, to_rows, write3
from .quaternion import vector
from .readings import READ_CONTACT, read_contacts, read_joints
from .simd import LANES, load, maximum, spread, zero_lanes
from .tables import (
    ACTUATED,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    ARM,
    BODIES,
    BODY,
    CONTACTS,
    COORDINATE,
    DISSIPATED,
    DRIVE,
    GRAVITY,
    HAS_DRIVE,
    JOINTS,
    KNOT,
    MASS,
    NO_DRIVE,
    PARENT,
    PLAN_ACTUATORS,
    POSITIONS,
    SHIFT,
    STATE_SIZE,
    TIME,
    TORQUE,
    TRANSLATIONS,
    TURN,
    VELOCITIES,
    WORK,
    WORK_DONE,
    WORK_SPENT,
    Q,
    R,
    X,
)  # fmt: skip
from .velocity import solve_velocities

# what is read of an environment besides poses and coordinates
(READ_TIME, READ_KINETIC, READ_POTENTIAL, READ_WORK, READ_DISSIPATED, READ_GAP, READ_SLIP, READ_SPENT, READ_DEPTH,
 READ_SLIDING, READ_LOSS) = range(11)  # fmt: skip
READ_COUNT = 11


@phase
def read_bodies(t, k, out, first, token):
    """Pose and knot velocity of each body, 13 columns each; returns (kinetic, potential) energy of the bodies [J]."""
    kinetic, potential = spread(0.0, token), spread(0.0, token)
    g = load3(t.model, t.e + GRAVITY, token)
    for i in range(1, t.plan[BODIES]):
        a, own, m = t.b + row(i, WORK, token), k + row(i, KNOT, token), t.m + row(i, BODY, token)
        x, q, mass = load3(t.state, own + X, token), load4(t.state, own + Q, token), load(t.model, m + MASS, token)
        omega = load3(t.work, a + TURN, token)
        v = sub(load3(t.work, a + SHIFT, token), cross(omega, load3(t.state, own + ARM, token)))
        w = tmul(load9(t.state, own + R, token), omega)
        kinetic = kinetic + 0.5 * (mass * dot(v, v) + dot(w, mul(load_inertia(t, m, token), w)))
        potential = potential - mass * dot(g, x)
        column = 13 * (i - 1)
        write3(out, first, column, x)
        to_rows(out, first, column + 3, q[0])
        write3(out, first, column + 4, vector(q))
        write3(out, first, column + 7, v)
        write3(out, first, column + 10, w)
    return kinetic, potential


@phase
def read_residuals(t, k, token):
    """(largest joint gap [m or rad], largest constrained relative velocity [m/s or rad/s])."""
    gap, slip = spread(0.0, token), spread(0.0, token)
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        c, lever = translation_repair(t, i, k, token)
        gap = maximum(gap, maximum(largest3(c), largest3(rotation_repair(t, i, k, token))))
        omega = load3(t.work, up + TURN, token)
        v = sub(load3(t.work, a + SHIFT, token), add(load3(t.work, up + SHIFT, token), cross(omega, lever)))
        for j in range(planned(t, i, TRANSLATIONS)):
            axis = translation_axis(t, i, j, k, token)
            v = sub(v, scale(dot(axis, v), axis))
        turn = constrained_rotation(t, i, k, sub(load3(t.work, a + TURN, token), omega), token)
        slip = maximum(slip, maximum(largest3(v), largest3(turn)))
    return gap, slip


@phase
def read_efforts(t, out, first, column, token):
    """Force of every actuator in the last step [N or N m]; of one with a drive, the drive's."""
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        driven = planned(t, t.plan[at + ACTUATED], HAS_DRIVE) != NO_DRIVE
        c = t.c + row(t.plan[at + ACTUATED_ROW], COORDINATE, token)
        to_rows(out, first, column + a, load(t.state, c + (DRIVE if driven else TORQUE), token))


@phase
def read_group(t, out, first, token, vectors):
    """All readings of a lane group at the present knot, one row per environment."""
    k = knots(t, 0)
    solve_velocities(t, k, token, vectors)
    column = 13 * (t.plan[BODIES] - 1)
    kinetic, potential = read_bodies(t, k, out, first, token)
    drives, springs, lost, given, power = read_joints(t, k, out, first, column, token)
    gap, slip = read_residuals(t, k, token)
    column += t.plan[POSITIONS] + t.plan[VELOCITIES]
    depth, sliding, taken, rubbed = read_contacts(t, k, out, first, column + READ_COUNT, token)
    to_rows(out, first, column + READ_TIME, load(t.state, t.s + TIME, token))
    to_rows(out, first, column + READ_KINETIC, kinetic + drives)
    to_rows(out, first, column + READ_POTENTIAL, potential + springs)
    to_rows(out, first, column + READ_WORK, load(t.state, t.s + WORK_DONE, token) + given)
    to_rows(out, first, column + READ_DISSIPATED, load(t.state, t.s + DISSIPATED, token) + lost + taken)
    to_rows(out, first, column + READ_GAP, gap)
    to_rows(out, first, column + READ_SLIP, slip)
    to_rows(out, first, column + READ_SPENT, load(t.state, t.s + WORK_SPENT, token))
    to_rows(out, first, column + READ_DEPTH, depth)
    to_rows(out, first, column + READ_SLIDING, sliding)
    to_rows(out, first, column + READ_LOSS, power + rubbed)
    read_efforts(t, out, first, column + READ_COUNT + READ_CONTACT * t.plan[CONTACTS], token)


@entry
def read_single(plan, model, state, work, extent, out):
    """Read one environment."""
    read_group(group(plan, model, state, work, 0, 0, 0, extent), out, 0, 0.0, zero_lanes())


@entry
def read_lanes(plan, model, state, work, extent, out, model_stride):
    """Read a batch."""
    for g in range((out.shape[0] + LANES - 1) // LANES):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0, extent)
        read_group(t, out, g * LANES, zero_lanes(), zero_lanes())
