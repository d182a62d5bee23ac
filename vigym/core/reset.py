"""From a person's coordinates to the state: place and move bodies, start afresh, follow restored poses."""

import math

from .algebra import add, cross, load3, load4, load9, mul, scale, store3, sub, tmul
from .coordinates import coordinate, note_all
from .groups import blend, filled, group
from .jit import entry, inline, phase
from .joint import joint_row, planned, rotation_axis, translation_axis
from .knot import follow, knots, place
from .lanes import any_lane, both, but_not, copy, cosine_sine, from_rows, row
from .links import follow_links, note_lengths
from .quaternion import conjugate, product, rotation
from .simd import LANES, absolute, spread, store, where, zero_lanes
from .tables import (
    AIM,
    ANCHOR_A,
    ANCHOR_B,
    ARM,
    ASIDE_STATE,
    AXIS_A,
    AXIS_B,
    BODIES,
    BODY,
    BUFFERS,
    CONTACTS,
    COORDINATE,
    DRIVE,
    FIRST,
    FRAME,
    FREEDOMS,
    JOINTS,
    KNOT,
    LOOP_ROWS,
    OFFSET,
    PARENT,
    PHASE,
    POSITION,
    PULL,
    RATE,
    ROTATIONS,
    RUB,
    SPEED,
    STATE_SIZE,
    STOP,
    TIME,
    TORQUE,
    TOUCH,
    TRANSLATIONS,
    TURNS,
    VELOCITY,
    ZERO,
    C,
    Q,
    R,
    V,
    W,
    X,
    Y,
)  # fmt: skip


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
    """Time, step sizes, books, torques and momentum rates of a fresh start."""
    o = spread(0.0, token)
    for at in range(TIME, PHASE, LANES):
        store(t.state, t.s + at, o)
    for p in range(t.plan[FREEDOMS]):
        for field in (TORQUE, SPEED, PULL, DRIVE, STOP, RUB, AIM):
            store(t.state, t.c + row(p, COORDINATE, token) + field, o)
    for r in range(t.plan[LOOP_ROWS]):
        store(t.state, t.u + row(r, 1, token), o)
    for c in range(t.plan[CONTACTS]):
        for field in range(0, TOUCH * LANES, LANES):
            store(t.state, t.o + row(c, TOUCH, token) + field, o)
    for back in range(1, BUFFERS):
        for i in range(1, t.plan[BODIES]):
            own = knots(t, back) + row(i, KNOT, token)
            store3(t.state, own + V, (o, o, o))
            store3(t.state, own + W, (o, o, o))
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            c = t.c + row(planned(t, i, FIRST) + j, COORDINATE, token)
            rate = from_rows(velocities, first, planned(t, i, VELOCITY) + j, token)
            store(t.state, c + RATE, rate)
            store(t.state, c + SPEED, rate)


@phase
def set_turns(t, positions, first, token):
    """Full turns of the given angles beyond the arctangent's range; the least angle where none (NaN) is given."""
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        n, free = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
        for j in range(n, n + free if free < 3 else n):
            c = t.c + row(planned(t, i, FIRST) + j, COORDINATE, token)
            store(t.state, c + TURNS, spread(0.0, token))
            given = from_rows(positions, first, planned(t, i, POSITION) + j, token)
            given = where(absolute(given) + 1.0, given, 0.0 * absolute(coordinate(t, i, j, token)))
            turns = rounded((given - coordinate(t, i, j, token)) / (2.0 * math.pi))
            store(t.state, c + TURNS, turns / (3.0 - free))


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
    follow_links(t, now, token)
    clear(t, velocities, first, token)
    note_all(t, now, spread(1.0, token), token)
    note_lengths(t, now, spread(1.0, token), token)
    set_turns(t, positions, first, token)
    others = but_not(spread(1.0, token), lanes)
    if any_lane(others):
        blend(t.state, t.s, t.work, kept, size, spread(others, vectors), vectors)


@entry
def reset_single(plan, model, state, work, extent, positions, velocities):
    """Reset one environment."""
    reset_group(group(plan, model, state, work, 0, 0, 0, extent), positions, velocities, 0, 1.0, 0.0, zero_lanes())


@entry
def reset_lanes(plan, model, state, work, extent, positions, velocities, mask, model_stride):
    """Reset the environments of a batch whose mask is 1."""
    for g in range((mask.shape[0] + LANES - 1) // LANES):
        lanes = both(from_rows(mask, g * LANES, 0, zero_lanes()), filled(g * LANES, mask.shape[0], zero_lanes()))
        if any_lane(lanes):
            t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0, extent)
            reset_group(t, positions, velocities, g * LANES, lanes, zero_lanes(), zero_lanes())


@entry
def refresh(plan, model, state, work, extent, groups, single, model_stride):
    """Rebuild what follows from restored poses in every lane group."""
    for g in range(groups):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], 0, extent)
        follow(t, (plan[BODIES] + LANES - 1) // LANES if single else plan[BODIES], knots(t, 0), zero_lanes())
        if single:
            follow_links(t, knots(t, 0), 0.0)
        else:
            follow_links(t, knots(t, 0), zero_lanes())
