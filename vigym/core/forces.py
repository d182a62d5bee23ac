"""Generalised forces on the freedoms of joints: actuators, springs, dampers, armature, and the laws of ``drives``.

At knot 2, between a step of size h1 and one of size h (rho = h1/h), a freedom with coordinate s carries the residual

    (1 + rho)/2 (c rate - drive - limit - dry) + (rho k1 + k2)/2 - (rho u1 + u2)/2 + I (p - p1)/h

u1, u2: torques held over the last and this step, half of each acts at their common knot (forcing of the discrete
Lagrange-d'Alembert principle [MC 3]). k1, k2: spring forces k (s - rest) at the middle of both steps, what the discrete
potential h V((s2 + s3)/2) makes of a spring: conservative, and stable at any stiffness (of three free rotations the
spring acts at the knot). ``rate``: of the coordinate over this step, (2/h) sin(change/2) for angles. p = sin(change)/h:
momentum rate of the armature I, what the variational principle makes of I s_dot^2 / 2. All but torques see the step's
end: they are implicit, and enter the pivot of their own freedom only.
"""

from .coordinates import coordinate
from .drives import bound_by, see, see_knot, set_laws
from .jit import inline, phase
from .joint import first_spring, last_link, planned
from .lanes import row
from .laws import HARD, KNOT_HARD
from .links import length
from .rates import change_of, has_angle, rate_of
from .simd import LANES, absolute, load, maximum, spread, store, where
from .tables import (
    ACTS,
    ANCHORS,
    APPLIED,
    ARMATURE,
    COMPLIANCE,
    CONSTANT,
    COORDINATE,
    DAMPING,
    DRIVE,
    ELIMINATION,
    FIRST,
    FORCE_SCALE,
    FREEDOM,
    FREEDOMS,
    HAS_DRIVE,
    HAS_SPRING,
    HAS_START,
    LENGTH_SCALE,
    LOAD,
    MOVED,
    PLAN_RATED,
    PULL,
    RATE,
    RATED,
    REST,
    ROTATIONS,
    RUB,
    SINE,
    START,
    STIFFNESS,
    STOP,
    TORQUE,
    TRANSLATIONS,
)  # fmt: skip

SPRING_TERMS = 2.5e6  # times the force scale: a spring whose rounding is more than 1e-8 of that is not solved
STRETCHED = 1.0  # [m or rad] coordinate whose rounding a joint's spring turns into force


@phase
def constant_loads(t, applied, last, spring, token):
    """Loads that stay while Newton iterates, weights per lane: -applied u2 - last u1 + last k1.

    Springs of three free rotations act at the knot: + spring k (s2 - rest).
    """
    for p in range(t.plan[FREEDOMS]):
        at, c = t.p + row(p, ELIMINATION, token), t.c + row(p, COORDINATE, token)
        u1, u2 = load(t.state, c + TORQUE, token), load(t.work, at + APPLIED, token)
        force = -(applied * u2 + last * (u1 - load(t.state, c + PULL, token)))
        store(t.work, at + CONSTANT, force)
        store(t.work, at + LOAD, force)
        store(t.work, at + COMPLIANCE, force * 0.0)
    for r in range(t.plan[RATED]):
        i = t.plan[t.plan[PLAN_RATED] + r]
        if planned(t, i, HAS_START) > 0:
            for j in range(planned(t, i, TRANSLATIONS) + planned(t, i, ROTATIONS)):
                p = planned(t, i, FIRST) + j
                at, f = t.p + row(p, ELIMINATION, token), t.f + row(p, FREEDOM, token)
                start, force = coordinate(t, i, j, token), load(t.work, at + CONSTANT, token)
                store(t.work, at + START, start)
                if planned(t, i, HAS_DRIVE) > 0:  # its torque is part of the drive's command
                    force = last * load(t.state, t.c + row(p, COORDINATE, token) + PULL, token)
                if not has_angle(t, i, j):
                    pull = load(t.model, f + STIFFNESS, token) * (start - load(t.model, f + REST, token))
                    force = force + spring * pull
                store(t.work, at + CONSTANT, force)
                store(t.work, at + LOAD, force)


@phase
def start_laws(t, share, token):
    """Forces of drives, limits and dry friction, and what anchors them, start as ``share`` of the last step's."""
    for p in range(t.plan[FREEDOMS]):
        at, c = t.p + row(p, ELIMINATION, token), t.c + row(p, COORDINATE, token)
        for k, field in enumerate((DRIVE, STOP, RUB)):
            f = share * load(t.state, c + field, token)
            store(t.work, at + ACTS + k * LANES, f)
            store(t.work, at + ANCHORS + k * LANES, f)


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
            largest = maximum(largest, STRETCHED * load(t.model, f + STIFFNESS, token))
    for g in range(first_spring(t), last_link(t)):
        p = planned(t, g, FIRST)
        f, arm = t.f + row(p, FREEDOM, token), load(t.state, t.c + row(p, COORDINATE, token) + SINE, token)
        most = SPRING_TERMS * load(t.model, t.e + FORCE_SCALE, token) * load(t.model, t.e + LENGTH_SCALE, token)
        pull = load(t.model, f + STIFFNESS, token) * arm * arm
        largest = maximum(largest, where(pull - most, most, pull))
    return largest


@phase
def rate_loads(t, k3, h, rho, token):
    """Add what the present guess of knot 3 sets to the loads, and its slopes to the pivots.

    Returns the lanes in which a drive, limit or dry friction acts.
    """
    weight, held, per_h = 0.5 + 0.5 * rho, spread(0.0, token), 1.0 / h
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
            if has_angle(t, i, j) and (planned(t, i, HAS_SPRING) > 0 or bound_by(t, i)):
                change = change_of(t, i, j, rate, slope, h)
                add_spring(t, p, 0.5 * stretch_of(t, p, change, token), token)
                if bound_by(t, i):
                    see(t, i, p, rate, slope, change, per_h, token)
                    held = maximum(held, set_laws(t, i, p, spread(1.0, token), weight, per_h, HARD, 0.0 * rate, token))
    return held


@inline
def stretch_of(t, p, change, token):
    """How far the spring of freedom p is from slack at the middle of the step."""
    return (
        load(t.work, t.p + row(p, ELIMINATION, token) + START, token)
        + 0.5 * change
        - load(t.model, t.f + row(p, FREEDOM, token) + REST, token)
    )


@inline
def add_spring(t, p, stretch, token):
    """Half of a spring's force at knot 2, and its slope: the other half acts at knot 3."""
    at, k = t.p + row(p, ELIMINATION, token), load(t.model, t.f + row(p, FREEDOM, token) + STIFFNESS, token)
    store(t.work, at + LOAD, load(t.work, at + LOAD, token) + k * stretch)
    store(t.work, at + COMPLIANCE, load(t.work, at + COMPLIANCE, token) + 0.25 * k)


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

    Dampers over half the last step at the knot's rate, momentum and inertia of armatures, drives, limits, dry friction.
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
            if bound_by(t, i):
                see_knot(t, i, p, 0.5 * h1, token)
                moved = load(t.work, at + MOVED, token)
                set_laws(t, i, p, 0.5 * h1, spread(1.0, token), spread(1.0, token), KNOT_HARD, moved, token)
    for g in range(first_spring(t), last_link(t)):
        at, f = planned(t, g, FIRST), t.f + row(planned(t, g, FIRST), FREEDOM, token)
        at = t.p + row(at, ELIMINATION, token)
        store(t.work, at + COMPLIANCE, 0.5 * h1 * load(t.model, f + DAMPING, token))
