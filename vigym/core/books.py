"""What an accepted step leaves in the books: losses, work, forces that were held.

A force f at knot 2 does the work of its impulse at the mean of the velocities before and after it:

    (h + h1)/2 f (r1 + r2)/2.
"""

import math

from .algebra import add, dot, load3, load4
from .cone import spin_coefficient
from .coordinates import gather, keep
from .drives import IDLE, bound_by, three
from .forces import stretch_of, tension
from .jit import inline, phase
from .joint import first_spring, last_link, planned
from .lanes import above, both, row
from .pair import touching_velocity
from .rates import change_of, has_angle, rate_of
from .simd import LANES, absolute, load, maximum, spread, where
from .tables import (
    ACTUATED,
    ACTUATED_FREEDOM,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    AIM,
    APPLIED,
    BOUNCE,
    CONSTANT_TOUCH,
    CONTACTS,
    COORDINATE,
    DAMPING,
    DISSIPATED,
    DISSIPATED_REST,
    DRIVE,
    ELIMINATION,
    FIRST,
    FORCE_FOUND,
    FOUND,
    FREEDOM,
    FREEDOMS,
    GRAVITY,
    HAS_DRIVE,
    HAS_SPRING,
    KEPT,
    LOOP_ROWS,
    LOOP_WORK,
    NO_DRIVE,
    PLAN_ACTUATORS,
    PLAN_RATED,
    PRESS,
    PRESS_FOUND,
    PULL,
    RATE,
    RATED,
    REACTION,
    REBOUND,
    ROTATIONS,
    RUB,
    SPEED,
    SPENT_REST,
    STIFFNESS,
    STOP,
    STRONGEST,
    TARGET,
    TORQUE,
    TOUCH,
    TOUCH_WORK,
    TRANSLATIONS,
    WORK_DONE,
    WORK_REST,
    WORK_SPENT,
)  # fmt: skip

ROUNDING = 1e-6  # part of its largest force by which a drive that gives it may miss it
RESTS = 2.0  # steps of free fall: what approaches more slowly does not bounce


@inline
def book_joint(t, i, k3, h, mask, token):
    """Keep rates and forces of joint i.

    Returns (what dampers, limits and dry friction take, what drives give, the sum of their absolutes) [W] and the lanes
    in which a drive gives all it can.
    """
    lost, given, spent, strained = h * 0.0, h * 0.0, h * 0.0, h * 0.0
    for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
        p = planned(t, i, FIRST) + j
        at, c, f = t.p + row(p, ELIMINATION, token), t.c + row(p, COORDINATE, token), t.f + row(p, FREEDOM, token)
        rate, slope, now, _ = rate_of(t, i, j, k3, h, token)
        mean = 0.5 * (rate + load(t.state, c + SPEED, token))
        lost = lost + load(t.model, f + DAMPING, token) * rate * mean
        keep(t, c + RATE, now, mask, token)
        keep(t, c + SPEED, rate, mask, token)
        if bound_by(t, i):
            drive, stop, dry = three(t, at + FOUND, token)
            lost, given = lost - (stop + dry) * mean, given + drive * mean
            spent = spent + absolute(drive * mean)
            most = load(t.model, f + STRONGEST, token)
            strained = maximum(strained, above(absolute(drive), (1.0 - ROUNDING) * most))
            keep(t, c + DRIVE, drive, mask, token)
            aim = load(t.work, at + TARGET, token)
            keep(t, c + AIM, where(absolute(aim) + 1.0, aim, 0.0 * drive + 10.0 * IDLE), mask, token)
            keep(t, c + STOP, stop, mask, token)
            keep(t, c + RUB, dry, mask, token)
        if planned(t, i, HAS_SPRING) > 0 and has_angle(t, i, j):
            pull = stretch_of(t, p, change_of(t, i, j, rate, slope, h), token) * load(t.model, f + STIFFNESS, token)
            keep(t, c + PULL, pull, mask, token)
    return lost, given, spent, strained


@phase
def book_contacts(t, k2, k3, h, mask, token):
    """Keep the contacts' forces and whether they bounce; returns what they dissipate [W]."""
    lost, o = h * 0.0, spread(0.0, token)
    g = load3(t.model, t.e + GRAVITY, token)
    slow = RESTS * math.sqrt(dot(g, g)) * absolute(h)
    for c in range(t.plan[CONTACTS]):
        a, s = t.w + row(c, TOUCH_WORK, token), t.o + row(c, TOUCH, token)
        f, last = load4(t.work, a + PRESS_FOUND, token), load(t.state, s + PRESS, token)
        force = load3(t.work, a + FORCE_FOUND, token)
        before, v1, spin1 = touching_velocity(t, c, k2, k2, token)
        _, v2, spin2 = touching_velocity(t, c, k2, k3, token)
        lost = lost - 0.5 * (dot(force, add(v1, v2)) + spin_coefficient(t, c, token) * f[3] * (spin1 + spin2))
        lands = where(last, o, both(above(f[0], o), above(-before, slow)))
        rebound = where(lands, -before * load(t.model, t.n + row(c, CONSTANT_TOUCH, token) + BOUNCE, token), o)
        keep(t, s + REBOUND, rebound, mask, token)
        keep(t, s + REACTION, force[0], mask, token)
        keep(t, s + REACTION + LANES, force[1], mask, token)
        keep(t, s + REACTION + 2 * LANES, force[2], mask, token)
        for j in range(4):
            keep(t, s + PRESS + j * LANES, load(t.work, a + PRESS_FOUND + j * LANES, token), mask, token)
    return lost


@phase
def book(t, k2, k3, h, rho, mask, token):
    """After an accepted step: losses and work [J], rates and forces that the next step starts from.

    Returns the lanes in which a drive gives all it can.
    """
    lost, done, spent, strained = h * 0.0, h * 0.0, h * 0.0, h * 0.0
    for r in range(t.plan[RATED]):
        taken, given, size, most = book_joint(t, t.plan[t.plan[PLAN_RATED] + r], k3, h, mask, token)
        lost, done, spent, strained = lost + taken, done + given, spent + size, maximum(strained, most)
    for g in range(first_spring(t), last_link(t)):
        pull, l3, l2 = tension(t, g, k3, token)
        p, rate = planned(t, g, FIRST), (l3 - l2) / h
        c = t.c + row(p, COORDINATE, token)
        mean = 0.5 * (rate + load(t.state, c + SPEED, token))
        lost = lost + load(t.model, t.f + row(p, FREEDOM, token) + DAMPING, token) * rate * mean
        keep(t, c + SPEED, rate, mask, token)
        keep(t, c + PULL, pull, mask, token)
    if t.plan[CONTACTS] > 0:
        lost = lost + book_contacts(t, k2, k3, h, mask, token)
    weight = (0.5 + 0.5 * rho) * h
    gather(t, DISSIPATED, DISSIPATED_REST, weight * lost, mask, token)
    for p in range(t.plan[FREEDOMS]):
        torque = load(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, token)
        keep(t, t.c + row(p, COORDINATE, token) + TORQUE, torque, mask, token)
    for r in range(t.plan[LOOP_ROWS]):
        keep(t, t.u + row(r, 1, token), load(t.work, t.r + row(r, LOOP_WORK, token) + KEPT, token), mask, token)
    given, size = book_torques(t, k3, h, token)
    gather(t, WORK_DONE, WORK_REST, weight * done + given, mask, token)
    gather(t, WORK_SPENT, SPENT_REST, weight * spent + size, mask, token)
    return both(mask, strained)


@inline
def book_torques(t, k3, h, token):
    """Work of torques over the step [J]: (of those on three free rotations, sum of the absolutes of all).

    Three free rotations have no coordinates to multiply their torques with; the work of the others is summed by
    ``step.torque_times_coordinate``. A step back takes from the absolutes what the steps around it cover twice.
    """
    done, spent = h * 0.0, h * 0.0
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        i, j = t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM]
        if planned(t, i, HAS_DRIVE) == NO_DRIVE:
            rate, _, _, _ = rate_of(t, i, j, k3, h, token)
            power = rate * load(t.work, t.p + row(t.plan[at + ACTUATED_ROW], ELIMINATION, token) + APPLIED, token)
            spent = spent + h * absolute(power)
            if not has_angle(t, i, j):
                done = done + h * power
    return done, spent
