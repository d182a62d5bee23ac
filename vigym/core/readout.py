"""Between a person's coordinates and the tables: place bodies from joint coordinates, read everything back at the knot.

Velocities are read through the discrete Legendre transform: the momentum of the knot seen from the left, plus constraint impulses, is that of a velocity
that satisfies the velocity constraints. One factorisation, the same as a step's, with inertias in place of its blocks.
"""

import math

from .algebra import add, cross, dot, load3, load4, load9, mul, scale, store3, sub, tmul
from .body import knots, load_inertia, momenta, place
from .coordinates import coordinate, note_all
from .forces import constant_loads, momentum_loads
from .jit import entry, inline, phase
from .joint import (
    kept_quaternion,
    parent_axis,
    planned,
    rotation_axis,
    rotation_repair,
    translation_axis,
    translation_repair,
)  # fmt: skip
from .ldu import close, factorise, largest3, solve_to_leaves, solve_to_root
from .newton import block_count, gravity
from .quaternion import conjugate, product, rotation, vector
from .simd import (
    LANES,
    absolute,
    any_lane,
    both,
    but_not,
    copy,
    cosine_sine,
    from_rows,
    load,
    maximum,
    row,
    spread,
    store,
    to_rows,
    zero_lanes,
)  # fmt: skip
from .step import blend, filled, group
from .tables import (
    ACTUATED,
    ACTUATED_FREEDOM,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    ANCHOR_A,
    ANCHOR_B,
    ARM,
    ARMATURE,
    ASIDE_STATE,
    AXIS_A,
    AXIS_B,
    BODIES,
    BODY,
    COORDINATE,
    DAMPING,
    DISSIPATED,
    FIRST,
    FRAME,
    FREEDOM,
    GRAVITY,
    H1,
    KNOT,
    LEVER3,
    MASS,
    OFFSET,
    PARENT,
    PHASE,
    PLAN_ACTUATORS,
    POSITION,
    POSITIONS,
    RATE,
    REST,
    ROTATIONS,
    SHIFT,
    STATE_SIZE,
    STIFFNESS,
    TIME,
    TORQUE,
    TRANSLATIONS,
    TURN,
    TURNS,
    VELOCITIES,
    VELOCITY,
    WORK,
    WORK_DONE,
    ZERO,
    C,
    Q,
    R,
    V,
    W,
    X,
    Y,
)  # fmt: skip

# what is read of an environment besides poses and coordinates
(READ_TIME, READ_KINETIC, READ_POTENTIAL, READ_WORK, READ_DISSIPATED, READ_GAP, READ_SLIP, READ_POWER, READ_COUNT) = (
    range(9)
)


@inline
def exponential(axis, angle):
    """Quaternion of a turn by ``angle`` [rad] about a unit axis."""
    c, s = cosine_sine(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2]


@inline
def joint_rotation(t, i, positions, first, token):
    """q_a^-1 q_b from the joint's rotational coordinates."""
    m, at = t.m + row(i, BODY, token), planned(t, i, POSITION) + planned(t, i, TRANSLATIONS)
    offset, free = load4(t.model, m + OFFSET, token), planned(t, i, ROTATIONS)
    if free == 0:
        return offset
    a = from_rows(positions, first, at, token)
    if free == 3:
        x, y = from_rows(positions, first, at + 1, token), from_rows(positions, first, at + 2, token)
        q = a, x, y, from_rows(positions, first, at + 3, token)
        return product(offset, product(conjugate(load4(t.model, m + ZERO, token)), q))
    if free == 1:
        return product(offset, exponential(load3(t.model, m + AXIS_B, token), a))
    b = from_rows(positions, first, at + 1, token)
    return product(
        product(exponential(load3(t.model, m + AXIS_A, token), a), offset),
        exponential(load3(t.model, m + AXIS_B, token), b),
    )


@phase
def place_bodies(t, k, positions, first, token):
    """Poses of all bodies from joint coordinates, root to leaves; knot buffer k."""
    for i in range(1, t.plan[BODIES]):
        m, parent = t.m + row(i, BODY, token), k + row(planned(t, i, PARENT), KNOT, token)
        q = product(load4(t.state, parent + Q, token), joint_rotation(t, i, positions, first, token))
        s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        q = s * q[0], s * q[1], s * q[2], s * q[3]
        d = load3(t.model, m + ANCHOR_A, token)
        for j in range(planned(t, i, TRANSLATIONS)):
            s = from_rows(positions, first, planned(t, i, POSITION) + j, token)
            d = add(d, scale(s, load3(t.model, m + FRAME + 3 * j * LANES, token)))
        anchor = add(load3(t.state, parent + X, token), mul(load9(t.state, parent + R, token), d))
        x = sub(anchor, mul(rotation(q), load3(t.model, m + ANCHOR_B, token)))
        place(t, m, k + row(i, KNOT, token), x, q, token)


@phase
def move_bodies(t, k, velocities, first, token):
    """Knot velocities of all bodies from joint velocities, root to leaves."""
    for i in range(1, t.plan[BODIES]):
        own, parent = k + row(i, KNOT, token), k + row(planned(t, i, PARENT), KNOT, token)
        n, at = planned(t, i, TRANSLATIONS), planned(t, i, VELOCITY)
        R_a, x_a = load9(t.state, parent + R, token), load3(t.state, parent + X, token)
        omega = mul(R_a, load3(t.state, parent + W, token))
        v = add(load3(t.state, parent + V, token), cross(omega, sub(load3(t.state, own + Y, token), x_a)))
        for j in range(n):
            v = add(v, scale(from_rows(velocities, first, at + j, token), translation_axis(t, i, j, k, token)))
        for j in range(planned(t, i, ROTATIONS)):
            omega = add(omega, scale(from_rows(velocities, first, at + n + j, token), rotation_axis(t, i, j, k, token)))
        store3(t.state, own + V, sub(v, cross(omega, load3(t.state, own + ARM, token))))
        store3(t.state, own + W, tmul(load9(t.state, own + R, token), omega))
        store(t.state, own + C, spread(1.0, token))


@phase
def clear(t, velocities, first, token):
    """Time, books and torques of a fresh start; coordinates are noted from scratch, their turns set by the caller's positions."""
    o = spread(0.0, token)
    for at in range(TIME, PHASE, LANES):
        store(t.state, t.s + at, o)
    for i in range(1, t.plan[BODIES]):
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            c = t.c + row(planned(t, i, FIRST) + j, COORDINATE, token)
            store(t.state, c + TORQUE, o)
            store(t.state, c + RATE, from_rows(velocities, first, planned(t, i, VELOCITY) + j, token))


@phase
def set_turns(t, positions, first, token):
    """Full turns that the given angles hold beyond the arctangent's range."""
    for i in range(1, t.plan[BODIES]):
        n, free = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
        for j in range(n, n + free if free < 3 else n):
            c = t.c + row(planned(t, i, FIRST) + j, COORDINATE, token)
            store(t.state, c + TURNS, spread(0.0, token))
            period = 2.0 * math.pi * (3.0 - free)
            turns = (
                from_rows(positions, first, planned(t, i, POSITION) + j, token) - coordinate(t, i, j, token)
            ) / period
            store(t.state, c + TURNS, rounded(turns))


@inline
def rounded(value):
    """The nearest whole number, by adding and taking away 1.5 * 2^52."""
    return (value + 6755399441055744.0) - 6755399441055744.0


@phase
def reset_group(t, positions, velocities, first, lanes, token, vectors):
    """Start the lanes afresh from joint coordinates and velocities."""
    size, kept = t.plan[STATE_SIZE], t.b + t.plan[ASIDE_STATE]
    copy(t.work, kept, t.state, t.s, size)
    now = knots(t, 0)
    place_bodies(t, now, positions, first, token)
    move_bodies(t, now, velocities, first, token)
    clear(t, velocities, first, token)
    note_all(t, now, spread(1.0, token), token)
    set_turns(t, positions, first, token)
    others = but_not(spread(1.0, token), lanes)
    if any_lane(others):
        blend(t.state, t.s, t.work, kept, size, spread(others, vectors), vectors)


@phase
def solve_velocities(t, k, token, vectors):
    """Knot velocities: each body's anchor velocity in SHIFT, angular velocity (world) in TURN."""
    h1, o = load(t.state, t.s + H1, token), spread(0.0, token)
    momenta(t, block_count(t, token), k, spread(h1, vectors), gravity(t, token, vectors), vectors)
    constant_loads(t, o, 0.5 * h1, 0.5 * h1, token)
    momentum_loads(t, h1, token)
    close(t, k, token)
    factorise(t, k, k, token)
    solve_to_root(t, k, token)
    solve_to_leaves(t, k, token)


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


@inline
def write3(out, first, column, a):
    to_rows(out, first, column, a[0])
    to_rows(out, first, column + 1, a[1])
    to_rows(out, first, column + 2, a[2])


@inline
def joint_rate(t, i, j, k, token):
    """Rate of freedom j of joint i, from the solved velocities of both bodies."""
    a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
    omega, n = load3(t.work, up + TURN, token), planned(t, i, TRANSLATIONS)
    if j >= n:
        return dot(rotation_axis(t, i, j - n, k, token), sub(load3(t.work, a + TURN, token), omega))
    carried = add(load3(t.work, up + SHIFT, token), cross(omega, load3(t.work, a + LEVER3, token)))
    return dot(translation_axis(t, i, j, k, token), sub(load3(t.work, a + SHIFT, token), carried))


@phase
def read_joints(t, k, out, first, column, token):
    """Coordinates and rates of all joints; returns (armature kinetic, spring potential) energy [J] and the dampers' half of the last step [J]."""
    kinetic, potential, lost = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    for i in range(1, t.plan[BODIES]):
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
    return kinetic, potential, lost


@inline
def constrained_part(t, i, k, turn, token):
    """What a joint forbids of a relative rotation."""
    free = planned(t, i, ROTATIONS)
    o = spread(0.0, token)
    if free == 3:
        return o, o, o
    if free == 0:
        return turn
    axis = rotation_axis(t, i, free - 1, k, token)
    if free == 1:
        return sub(turn, scale(dot(axis, turn), axis))
    normal = cross(parent_axis(t, i, k, token), axis)
    return scale(dot(normal, turn), normal)


@phase
def read_residuals(t, k, token):
    """(largest joint gap [m or rad], largest constrained relative velocity [m/s or rad/s])."""
    gap, slip = spread(0.0, token), spread(0.0, token)
    for i in range(1, t.plan[BODIES]):
        a, up = t.b + row(i, WORK, token), t.b + row(planned(t, i, PARENT), WORK, token)
        c, lever = translation_repair(t, i, k, token)
        gap = maximum(gap, maximum(largest3(c), largest3(rotation_repair(t, i, k, token))))
        omega = load3(t.work, up + TURN, token)
        v = sub(load3(t.work, a + SHIFT, token), add(load3(t.work, up + SHIFT, token), cross(omega, lever)))
        for j in range(planned(t, i, TRANSLATIONS)):
            axis = translation_axis(t, i, j, k, token)
            v = sub(v, scale(dot(axis, v), axis))
        turn = constrained_part(t, i, k, sub(load3(t.work, a + TURN, token), omega), token)
        slip = maximum(slip, maximum(largest3(v), largest3(turn)))
    return gap, slip


@phase
def read_power(t, k, token):
    """Sum of |torque * rate| over the actuators, with the torque of the last step [W]."""
    power = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        p, rate = (
            t.plan[at + ACTUATED_ROW],
            joint_rate(t, t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM], k, token),
        )
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
        read_group(
            group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0),
            out,
            g * LANES,
            zero_lanes(),
            zero_lanes(),
        )


@entry
def reset_single(plan, model, state, work, positions, velocities):
    """Reset one environment."""
    reset_group(group(plan, model, state, work, 0, 0, 0), positions, velocities, 0, 1.0, 0.0, zero_lanes())


@entry
def reset_lanes(plan, model, state, work, positions, velocities, mask, model_stride):
    """Reset the environments of a batch whose mask is 1."""
    for g in range((mask.shape[0] + LANES - 1) // LANES):
        lanes = both(from_rows(mask, g * LANES, 0, zero_lanes()), filled(g * LANES, mask.shape[0]))
        if any_lane(lanes):
            t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0)
            reset_group(t, positions, velocities, g * LANES, lanes, zero_lanes(), zero_lanes())


@phase
def follow(t, blocks, k, token):
    """What follows from the poses of knot buffer k, after they were written from outside."""
    for block in range(blocks):
        own, m = k + row(block, KNOT, token), t.m + row(block, BODY, token)
        place(t, m, own, load3(t.state, own + X, token), load4(t.state, own + Q, token), token)


@entry
def refresh(plan, model, state, work, groups, single, model_stride):
    """Rebuild what follows from restored poses in every lane group."""
    for g in range(groups):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0)
        follow(t, (plan[BODIES] + LANES - 1) // LANES if single else plan[BODIES], knots(t, 0), zero_lanes())
