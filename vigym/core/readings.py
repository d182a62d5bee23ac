"""What is read of joints and contacts at a knot, after its velocities were solved for."""

import math

from .algebra import add, axpy, dot, load3, load4
from .cone import spin_coefficient
from .contact import touch_plan
from .coordinates import coordinate, keep
from .drives import bound_by, three
from .jit import inline, phase
from .joint import first_spring, joint_row, kept_quaternion, last_link, planned, separation
from .lanes import any_lane, row, to_rows, write3
from .links import along, length, relative
from .pair import nearest, relative_motion, touching_velocity
from .press import contact_wrench
from .quaternion import product, vector
from .simd import absolute, load, maximum, spread, where
from .tables import (
    ARM2,
    ARMATURE,
    BODY,
    CONTACTS,
    COORDINATE,
    DAMPING,
    ELIMINATION,
    FGIVES,
    FIRST,
    FREEDOM,
    GIVES,
    H1,
    HAS_RATE,
    JOINTS,
    KNOT,
    NEAR,
    PARTNER_ARM2,
    POSITION,
    POSITIONS,
    PRESS,
    REACTION,
    REST,
    ROTATIONS,
    RUB,
    SHIFT,
    SKATE,
    SPEED,
    STIFFNESS,
    TOUCH,
    TOUCH_KIND,
    TOUCH_WORK,
    TOUCHES,
    TRANSLATIONS,
    TURN,
    VELOCITY,
    WORK,
    ZERO,
    X,
)  # fmt: skip
from .velocity import joint_rate

# what is read of a contact: its gap, force, own touching point, tangential velocity, normal
CONTACT_GAP, CONTACT_FORCE, CONTACT_POINT, CONTACT_SLIP, CONTACT_NORMAL, READ_CONTACT = 0, 1, 4, 7, 8, 11


@inline
def note_first_rate(t, c, rate, token):
    """Keep the rate that a freedom starts with: of closing joints and springs it is known once velocities are."""
    o, one = spread(0.0, token), spread(1.0, token)
    keep(t, c + SPEED, rate, where(absolute(load(t.state, t.s + H1, token)), o, one), token)


@inline
def read_joint(t, i, k, out, first, column, token):
    """Coordinates and rates of joint i.

    Returns (armature kinetic, spring potential) energy, what dampers, limits and dry friction take and drives give in
    the half step up to the knot [J], and the power that is lost [W].
    """
    kinetic, potential, lost = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    given, power, h1 = spread(0.0, token), spread(0.0, token), load(t.state, t.s + H1, token)
    n, free = planned(t, i, TRANSLATIONS), planned(t, i, ROTATIONS)
    at, rates = column + planned(t, i, POSITION), column + t.plan[POSITIONS] + planned(t, i, VELOCITY)
    for j in range(n + free):
        p = planned(t, i, FIRST) + j
        f, c, rate = t.f + row(p, FREEDOM, token), t.c + row(p, COORDINATE, token), joint_rate(t, i, j, k, token)
        s = coordinate(t, i, j, token)
        note_first_rate(t, c, rate, token)
        stretch, mean = s - load(t.model, f + REST, token), 0.5 * (rate + load(t.state, c + SPEED, token))
        damped = load(t.model, f + DAMPING, token) * rate
        kinetic = kinetic + 0.5 * load(t.model, f + ARMATURE, token) * rate * rate
        potential = potential + 0.5 * load(t.model, f + STIFFNESS, token) * stretch * stretch
        if planned(t, i, HAS_RATE) > 0:
            lost, power = lost + 0.5 * h1 * damped * mean, power + damped * rate
        if bound_by(t, i):
            drive, stop, dry = three(t, t.p + row(p, ELIMINATION, token) + GIVES, token)
            lost, given = lost - (stop + dry) * mean, given + drive * mean
            power = power + absolute(load(t.state, c + RUB, token) * rate)
        to_rows(out, first, rates + j, rate)
        if j < n or free < 3:
            to_rows(out, first, at + j, s)
    if free == 3:
        zero = load4(t.model, t.m + row(i, BODY, token) + ZERO, token)
        q = product(zero, kept_quaternion(t, planned(t, i, FIRST) + n, token))
        to_rows(out, first, at + n, q[0])
        write3(out, first, at + n + 1, vector(q))
    return kinetic, potential, lost, given, power


@phase
def read_joints(t, k, out, first, column, token):
    """Coordinates and rates of all joints, energies, losses and work of all forces along freedoms and springs."""
    kinetic, potential, lost = spread(0.0, token), spread(0.0, token), spread(0.0, token)
    given, power = spread(0.0, token), spread(0.0, token)
    for joint in range(1, t.plan[JOINTS]):
        a, b, c, d, e = read_joint(t, joint_row(t, joint), k, out, first, column, token)
        kinetic, potential, lost, given, power = kinetic + a, potential + b, lost + c, given + d, power + e
    for g in range(first_spring(t), last_link(t)):
        p = planned(t, g, FIRST)
        f, rate = t.f + row(p, FREEDOM, token), dot(along(separation(t, g, k, token)), half_rate(t, g, k, token))
        note_first_rate(t, t.c + row(p, COORDINATE, token), rate, token)
        mean = 0.5 * (rate + load(t.state, t.c + row(p, COORDINATE, token) + SPEED, token))
        stretch = length(t, g, k, token) - load(t.model, f + REST, token)
        damped = load(t.model, f + DAMPING, token) * rate
        potential = potential + 0.5 * load(t.model, f + STIFFNESS, token) * stretch * stretch
        lost, power = lost + 0.5 * load(t.state, t.s + H1, token) * damped * mean, power + damped * rate
    return kinetic, potential, lost, given, power


@inline
def half_rate(t, g, k, token):
    """Velocity of a link's half on the child against its half on the parent."""
    shift, _ = relative(t, g, k, SHIFT, TURN, token)
    return shift


@phase
def read_contacts(t, k, out, first, column, token):
    """Gap, force of the last step, lowest point and tangential velocity of every contact, READ_CONTACT columns each.

    Returns (deepest penetration [m], fastest slip of one that carries a force [m/s], what contacts take in the half
    step up to the knot [J], and at it [W]).
    """
    depth, sliding, lost, power = spread(0.0, token), spread(0.0, token), spread(0.0, token), spread(0.0, token)
    o = spread(0.0, token)
    for c in range(t.plan[CONTACTS]):
        a, b, s = t.w + row(c, TOUCH_WORK, token), touch_plan(t, c, TOUCHES), t.o + row(c, TOUCH, token)
        gap, n, arm, _ = nearest(t, c, k, token)
        move = relative_motion(t, c, a, ARM2, PARTNER_ARM2, SHIFT, TURN, token)
        slide = axpy(-dot(n, move), n, move)
        slip, force = math.sqrt(dot(slide, slide)), load3(t.state, s + REACTION, token)
        to_rows(out, first, column + CONTACT_GAP, gap)
        write3(out, first, column + CONTACT_FORCE, force)
        write3(out, first, column + CONTACT_POINT, add(load3(t.state, k + row(b, KNOT, token) + X, token), arm))
        to_rows(out, first, column + CONTACT_SLIP, slip)
        write3(out, first, column + CONTACT_NORMAL, n)
        column += READ_CONTACT
        if touch_plan(t, c, TOUCH_KIND) < SKATE:
            depth = maximum(depth, -gap)
            sliding = maximum(sliding, where(load(t.state, s + PRESS, token), slip, o))
        if any_lane(load(t.work, a + NEAR, token)):
            impulse, turn = load4(t.work, a + FGIVES, token), load3(t.work, t.b + row(b, WORK, token) + TURN, token)
            push, _ = contact_wrench(t, a, impulse, token)
            _, v1, spin1 = touching_velocity(t, c, k, k, token)
            work = dot(push, add(v1, move)) + spin_coefficient(t, c, token) * impulse[3] * (spin1 + dot(n, turn))
            lost = lost - where(load(t.work, a + NEAR, token), 0.5 * work, o)
        power = power - dot(force, slide)
    return maximum(depth, o), sliding, lost, power
