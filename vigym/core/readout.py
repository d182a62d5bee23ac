"""Everything that is read of a state at its knot: poses, velocities, coordinates, energies, residuals, power."""

from .algebra import add, cross, dot, largest3, load3, load4, load9, mul, scale, sub, tmul
from .coordinates import coordinate
from .groups import group
from .jit import entry, inline, phase
from .joint import (
    constrained_rotation,
    first_spring,
    joint_row,
    kept_quaternion,
    last_link,
    planned,
    rotation_repair,
    separation,
    translation_axis,
    translation_repair,
)  # fmt: skip
from .knot import knots, load_inertia
from .lanes import row, to_rows, write3
from .links import along, length, relative
from .quaternion import product, vector
from .simd import LANES, absolute, load, maximum, spread, zero_lanes
from .tables import (
    ACTUATED,
    ACTUATED_FREEDOM,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    ARM,
    ARMATURE,
    BODIES,
    BODY,
    COORDINATE,
    DAMPING,
    DISSIPATED,
    FIRST,
    FREEDOM,
    GRAVITY,
    H1,
    JOINTS,
    KNOT,
    MASS,
    PARENT,
    PLAN_ACTUATORS,
    POSITION,
    POSITIONS,
    REST,
    ROTATIONS,
    SHIFT,
    STATE_SIZE,
    STIFFNESS,
    TIME,
    TORQUE,
    TRANSLATIONS,
    TURN,
    VELOCITIES,
    VELOCITY,
    WORK,
    WORK_DONE,
    ZERO,
    Q,
    R,
    X,
)  # fmt: skip
from .velocity import joint_rate, solve_velocities

# what is read of an environment besides poses and coordinates
READ_TIME, READ_KINETIC, READ_POTENTIAL, READ_WORK, READ_DISSIPATED, READ_GAP, READ_SLIP, READ_POWER = range(8)
READ_COUNT = 8


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
def read_joints(t, k, out, first, column, token):
    """Coordinates and rates of all joints.

    Returns (armature kinetic, spring potential) energy [J] and what dampers take in the half step up to the knot [J].
    """
    kinetic, potential, lost = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        n, free = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
        at, rates = column + planned(t, i, POSITION), column + t.plan[POSITIONS] + planned(t, i, VELOCITY)
        for j in range(n + free):
            p = planned(t, i, FIRST) + j
            f, rate = t.f + row(p, FREEDOM, token), joint_rate(t, i, j, k, token)
            s = coordinate(t, i, j, token)
            stretch = s - load(t.model, f + REST, token)
            kinetic = kinetic + 0.5 * load(t.model, f + ARMATURE, token) * rate * rate
            potential = potential + 0.5 * load(t.model, f + STIFFNESS, token) * stretch * stretch
            lost = lost + 0.5 * load(t.state, t.s + H1, token) * load(t.model, f + DAMPING, token) * rate * rate
            to_rows(out, first, rates + j, rate)
            if j < n or free < 3:
                to_rows(out, first, at + j, s)
        if free == 3:
            zero = load4(t.model, t.m + row(i, BODY, token) + ZERO, token)
            q = product(zero, kept_quaternion(t, planned(t, i, FIRST) + n, token))
            to_rows(out, first, at + n, q[0])
            write3(out, first, at + n + 1, vector(q))
    for g in range(first_spring(t), last_link(t)):
        p = planned(t, g, FIRST)
        f, rate = t.f + row(p, FREEDOM, token), dot(along(separation(t, g, k, token)), half_rate(t, g, k, token))
        stretch = length(t, g, k, token) - load(t.model, f + REST, token)
        potential = potential + 0.5 * load(t.model, f + STIFFNESS, token) * stretch * stretch
        lost = lost + 0.5 * load(t.state, t.s + H1, token) * load(t.model, f + DAMPING, token) * rate * rate
    return kinetic, potential, lost


@inline
def half_rate(t, g, k, token):
    """Velocity of a link's half on the child against its half on the parent."""
    shift, _ = relative(t, g, k, SHIFT, TURN, token)
    return shift


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
def read_power(t, k, token):
    """Sum of |torque * rate| over the actuators, with the torque of the last step [W]."""
    power = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        p = t.plan[at + ACTUATED_ROW]
        rate = joint_rate(t, t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM], k, token)
        power = power + absolute(rate * load(t.state, t.c + row(p, COORDINATE, token) + TORQUE, token))
    return power


@phase
def read_group(t, out, first, token, vectors):
    """All readings of a lane group at the present knot, one row per environment."""
    k = knots(t, 0)
    solve_velocities(t, k, token, vectors)
    column = 13 * (t.plan[BODIES] - 1)
    kinetic, potential = read_bodies(t, k, out, first, token)
    drives, springs, lost = read_joints(t, k, out, first, column, token)
    gap, slip = read_residuals(t, k, token)
    column += t.plan[POSITIONS] + t.plan[VELOCITIES]
    to_rows(out, first, column + READ_TIME, load(t.state, t.s + TIME, token))
    to_rows(out, first, column + READ_KINETIC, kinetic + drives)
    to_rows(out, first, column + READ_POTENTIAL, potential + springs)
    to_rows(out, first, column + READ_WORK, load(t.state, t.s + WORK_DONE, token))
    to_rows(out, first, column + READ_DISSIPATED, load(t.state, t.s + DISSIPATED, token) + lost)
    to_rows(out, first, column + READ_GAP, gap)
    to_rows(out, first, column + READ_SLIP, slip)
    to_rows(out, first, column + READ_POWER, read_power(t, k, token))


@entry
def read_single(plan, model, state, work, out):
    """Read one environment."""
    read_group(group(plan, model, state, work, 0, 0, 0), out, 0, 0.0, zero_lanes())


@entry
def read_lanes(plan, model, state, work, out, model_stride):
    """Read a batch."""
    for g in range((out.shape[0] + LANES - 1) // LANES):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0)
        read_group(t, out, g * LANES, zero_lanes(), zero_lanes())
