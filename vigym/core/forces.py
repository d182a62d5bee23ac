"""Generalised forces on the freedoms of joints: actuators, springs, dampers, armature.

At knot 2, between a step of size h1 and one of size h (rho = h1/h), a freedom with coordinate s carries the residual

    (1 + rho)/2 (c rate + k (s2 - rest)) - (rho u1 + u2)/2 + I (p - p1)/h

u1, u2: torques held over the last and this step, half of each acts at their common knot (forcing of the discrete
Lagrange-d'Alembert principle [MC 3]). ``rate``: of the coordinate over this step, (2/h) sin(change/2) for angles.
p = sin(change)/h: momentum rate of the armature I, what the variational principle makes of I s_dot^2 / 2. Damper and
armature see the step's end: they are implicit, and enter the pivot of their own freedom only.
"""

import math

from .coordinates import angle, coordinate, displacement, keep
from .jit import inline, phase
from .joint import first_spring, joint_row, kept_quaternion, last_link, planned, relative_orientation
from .lanes import row
from .links import length
from .quaternion import conjugate, product
from .simd import absolute, load, maximum, spread, store, where
from .tables import (
    ACTUATED,
    ACTUATED_FREEDOM,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    APPLIED,
    ARMATURE,
    COMPLIANCE,
    CONSTANT,
    COORDINATE,
    COSINE,
    DAMPING,
    DISSIPATED,
    ELIMINATION,
    FIRST,
    FORCE_SCALE,
    FREEDOM,
    FREEDOMS,
    HAS_SPRING,
    JOINTS,
    KEPT,
    LENGTH_SCALE,
    LOAD,
    LOOP_ROWS,
    LOOP_WORK,
    PLAN_ACTUATORS,
    PLAN_RATED,
    RATE,
    RATED,
    REST,
    ROTATIONS,
    SINE,
    STIFFNESS,
    TORQUE,
    TRANSLATIONS,
    WORK_DONE,
)  # fmt: skip

SPRING_TERMS = 2.5e6  # times the force scale: a spring whose rounding is more than 1e-8 of that is not solved


@phase
def constant_loads(t, applied, last, spring, token):
    """Loads that stay while Newton iterates: -applied u2 - last u1 + spring k (s2 - rest), weights per lane."""
    for p in range(t.plan[FREEDOMS]):
        at = t.p + row(p, ELIMINATION, token)
        u1, u2 = load(t.state, t.c + row(p, COORDINATE, token) + TORQUE, token), load(t.work, at + APPLIED, token)
        force = -(applied * u2 + last * u1)
        store(t.work, at + CONSTANT, force)
        store(t.work, at + LOAD, force)
        store(t.work, at + COMPLIANCE, force * 0.0)
    for joint in range(1, t.plan[JOINTS]):
        i = joint_row(t, joint)
        if planned(t, i, HAS_SPRING) > 0:
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
                stretch = coordinate(t, i, j, token) - load(t.model, f + REST, token)
                force = load(t.work, at + CONSTANT, token) + spring * load(t.model, f + STIFFNESS, token) * stretch
                store(t.work, at + CONSTANT, force)
                store(t.work, at + LOAD, force)


@inline
def angle_change(t, i, j, p, e, token):
    """(sine, cosine) of half the change of an angle since the kept knot."""
    c = t.c + row(p, COORDINATE, token)
    old_c, old_s = load(t.state, c + COSINE, token), load(t.state, c + SINE, token)
    cosine, sine = angle(t, i, j, e, token)
    s, c = sine * old_c - cosine * old_s, cosine * old_c + sine * old_s
    if planned(t, i, ROTATIONS) == 1:
        return s, c
    c = math.sqrt(0.5 * (1.0 + c))
    return 0.5 * s / c, c


@inline
def rate_of(t, i, j, k3, h, token):
    """(rate, its slope, momentum rate, its slope) of freedom j over the step from the kept knot to buffer k3."""
    n, p = planned(t, i, TRANSLATIONS), planned(t, i, FIRST) + j
    per_h = 1.0 / h
    if j < n:
        rate = per_h * (displacement(t, i, j, k3, token) - load(t.state, t.c + row(p, COORDINATE, token) + SINE, token))
        return rate, per_h, rate, per_h
    e = relative_orientation(t, i, k3, token)
    if planned(t, i, ROTATIONS) == 3:
        change = product(conjugate(kept_quaternion(t, p - (j - n), token)), e)
        x, y, z = 2.0 * per_h * change[1], 2.0 * per_h * change[2], 2.0 * per_h * change[3]
        rate = x if j == n else (y if j == n + 1 else z)
        return rate, per_h, rate, per_h
    s, c = angle_change(t, i, j - n, p, e, token)
    return 2.0 * per_h * s, per_h * c, 2.0 * per_h * s * c, per_h * (c * c - s * s)


@phase
def rate_terms(t, h, token):
    """Largest term that rates bring into a residual [N m]: its rounding is what remains of a stiff damper's force."""
    largest = spread(0.0, token)
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            f = t.f + row(planned(t, i, FIRST) + j, FREEDOM, token)
            inertia = load(t.model, f + ARMATURE, token) / absolute(h)
            largest = maximum(largest, (load(t.model, f + DAMPING, token) + inertia) * (2.0 / absolute(h)))
    for g in range(first_spring(t), last_link(t)):
        p = planned(t, g, FIRST)
        f, arm = t.f + row(p, FREEDOM, token), load(t.state, t.c + row(p, COORDINATE, token) + SINE, token)
        most = SPRING_TERMS * load(t.model, t.e + FORCE_SCALE, token) * load(t.model, t.e + LENGTH_SCALE, token)
        pull = load(t.model, f + STIFFNESS, token) * arm * arm
        largest = maximum(largest, where(pull - most, most, pull))
    return largest


@phase
def rate_loads(t, k3, h, rho, token):
    """Add dampers and armatures at the present guess of knot 3 to the loads, and their slopes to the pivots."""
    weight = 0.5 + 0.5 * rho
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            p = planned(t, i, FIRST) + j
            at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
            rate, slope, now, slope_now = rate_of(t, i, j, k3, h, token)
            damping, inertia = weight * load(t.model, f + DAMPING, token), load(t.model, f + ARMATURE, token) / h
            before = load(t.state, t.c + row(p, COORDINATE, token) + RATE, token)
            store(t.work, at + LOAD, load(t.work, at + CONSTANT, token) + (damping * rate + inertia * (now - before)))
            store(t.work, at + COMPLIANCE, damping * slope + inertia * slope_now)


@inline
def tension(t, g, k3, token):
    """Force of a spring between two points over the step to buffer k3 [N], from the mean of its lengths at both knots.

    Its discrete potential is h V((l2 + l3)/2): conservative like the spring at a knot, and stable at any stiffness.
    Returns (force, length at buffer k3, length at the kept knot).
    """
    p = planned(t, g, FIRST)
    f, l3 = t.f + row(p, FREEDOM, token), length(t, g, k3, token)
    l2 = load(t.state, t.c + row(p, COORDINATE, token) + SINE, token)
    stretch = 0.5 * (l2 + l3) - load(t.model, f + REST, token)
    return load(t.model, f + STIFFNESS, token) * stretch, l3, l2


@phase
def spring_loads(t, k3, h, rho, token):
    """Pull of the springs between points at the present guess of knot 3, half of it at each knot, and its slope."""
    per_h, weight = 1.0 / h, 0.5 + 0.5 * rho
    for g in range(first_spring(t), last_link(t)):
        p = planned(t, g, FIRST)
        at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
        damping = weight * per_h * load(t.model, f + DAMPING, token)
        pull, l3, l2 = tension(t, g, k3, token)
        store(t.work, at + LOAD, load(t.work, at + CONSTANT, token) + (0.5 * pull + damping * (l3 - l2)))
        store(t.work, at + COMPLIANCE, 0.25 * load(t.model, f + STIFFNESS, token) + damping)


@phase
def momentum_loads(t, h1, token):
    """Left half of the joints' forces at the knot, for the read-out.

    Dampers over half the last step at the knot's rate, momentum and inertia of armatures.
    """
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            p = planned(t, i, FIRST) + j
            at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
            inertia = load(t.model, f + ARMATURE, token)
            momentum = inertia * load(t.state, t.c + row(p, COORDINATE, token) + RATE, token)
            store(t.work, at + LOAD, load(t.work, at + CONSTANT, token) - momentum)
            store(t.work, at + COMPLIANCE, 0.5 * h1 * load(t.model, f + DAMPING, token) + inertia)
    for g in range(first_spring(t), last_link(t)):
        at, f = planned(t, g, FIRST), t.f + row(planned(t, g, FIRST), FREEDOM, token)
        at = t.p + row(at, ELIMINATION, token)
        store(t.work, at + COMPLIANCE, 0.5 * h1 * load(t.model, f + DAMPING, token))


@phase
def book(t, k3, h, rho, mask, token):
    """After an accepted step: what dampers dissipated [J], the momentum rates, and the torque that was held.

    Work [J] is added here only for actuators of three free rotations: they have no coordinate to multiply their torque
    with (see ``step.torque_times_coordinate``).
    """
    lost = h * 0.0
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
            p = planned(t, i, FIRST) + j
            rate, _, now, _ = rate_of(t, i, j, k3, h, token)
            lost = lost + load(t.model, t.f + row(p, FREEDOM, token) + DAMPING, token) * rate * rate
            keep(t, t.c + row(p, COORDINATE, token) + RATE, now, mask, token)
    for g in range(first_spring(t), last_link(t)):
        _, l3, l2 = tension(t, g, k3, token)
        rate = (l3 - l2) / h
        lost = lost + load(t.model, t.f + row(planned(t, g, FIRST), FREEDOM, token) + DAMPING, token) * rate * rate
    keep(t, t.s + DISSIPATED, load(t.state, t.s + DISSIPATED, token) + (0.5 + 0.5 * rho) * h * lost, mask, token)
    for p in range(t.plan[FREEDOMS]):
        torque = load(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, token)
        keep(t, t.c + row(p, COORDINATE, token) + TORQUE, torque, mask, token)
    for g in range(first_spring(t), last_link(t)):  # kept like a torque: against the force
        pull, _, _ = tension(t, g, k3, token)
        keep(t, t.c + row(planned(t, g, FIRST), COORDINATE, token) + TORQUE, -pull, mask, token)
    for r in range(t.plan[LOOP_ROWS]):
        keep(t, t.u + row(r, 1, token), load(t.work, t.r + row(r, LOOP_WORK, token) + KEPT, token), mask, token)
    done = h * 0.0
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        i, j = t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM]
        if j >= planned(t, i, TRANSLATIONS) and planned(t, i, ROTATIONS) == 3:
            rate, _, _, _ = rate_of(t, i, j, k3, h, token)
            torque = load(t.work, t.p + row(t.plan[at + ACTUATED_ROW], ELIMINATION, token) + APPLIED, token)
            done = done + h * rate * torque
    keep(t, t.s + WORK_DONE, load(t.state, t.s + WORK_DONE, token) + done, mask, token)
