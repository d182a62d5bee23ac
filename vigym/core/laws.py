"""Forces that a freedom's own motion sets within bounds: drives, hard limits, dry friction.

With s the coordinate at knot 3 and r its rate over the step [physics: all act at the step's end, implicit]:

- drive: the motor's command, clipped to what it can, and braking at its largest rate;
- limit: 0 <= force _|_ distance >= 0 at the lower bound, the mirror image at the upper one;
- dry friction: -F sign(r), between -F and F at rest [Coulomb].

Each is the projection of z = (1 - d) f + d f0 - rho u on an interval, as for contacts (see ``cone``): it gives the
force at no increment, and a slope that stays inside the freedom's own pivot.
"""

from .jit import inline
from .joint import planned
from .lanes import above, row
from .simd import LANES, absolute, load, maximum, spread, where
from .tables import (
    APPLIED,
    BACK_EMF,
    CURRENTS,
    DC,
    ELIMINATION,
    FREEDOM,
    HAS_DRIVE,
    KD,
    KP,
    RESISTANCE,
    TARGET,
    TORQUES,
    VOLTAGE,
)  # fmt: skip

HARD, KNOT_HARD = 1e-4, 1e-8  # proximal part in a step, whose anchors move; at a knot, where they do not


@inline
def between(z, low, high):
    """A number drawn into [low, high]; the low bound wins."""
    z = where(z - high, high, z)
    return where(low - z, low, z)


@inline
def current_torque(current, at, t, token):
    """Torque of a motor at a current [A]: along its saturation curve, constant beyond."""
    size, torque, slope = absolute(current), spread(0.0, token), spread(0.0, token)
    for k in range(7):
        c0, c1 = load(t.model, at + CURRENTS + k * LANES, token), load(t.model, at + CURRENTS + (k + 1) * LANES, token)
        u0, u1 = load(t.model, at + TORQUES + k * LANES, token), load(t.model, at + TORQUES + (k + 1) * LANES, token)
        wide = where(c1 - c0, c1 - c0, spread(1.0, token))
        steep, inside = (u1 - u0) / wide, above(size, c0)
        part = where(size - c1, c1 - c0, size - c0)
        torque, slope = where(inside, u0 + steep * part, torque), where(inside, steep, slope)
    last = load(t.model, at + CURRENTS + 7 * LANES, token)
    return where(current, torque, -torque), where(size - last, 0.0 * slope, slope)


@inline
def command(t, i, p, s, rate, slope, token):
    """What the motor of freedom p is told to do at coordinate s and rate: (force, its stiffness along the freedom)."""
    f, at = t.f + row(p, FREEDOM, token), t.p + row(p, ELIMINATION, token)
    target, kp, kd = load(t.work, at + TARGET, token), load(t.model, f + KP, token), load(t.model, f + KD, token)
    torque, o = load(t.work, at + APPLIED, token), spread(0.0, token)
    by_rate = where(kp, o, target)  # without a position gain the target is a rate
    error, stiff = kp * (where(kp, target, s) - s) + kd * (by_rate - rate), kp + kd * slope
    if planned(t, i, HAS_DRIVE) == DC:
        one, per_ohm = spread(1.0, token), 1.0 / load(t.model, f + RESISTANCE, token)
        voltage, back = load(t.model, f + VOLTAGE, token), load(t.model, f + BACK_EMF, token)
        pwm = between(error, -one, one)
        stiff = where(above(one, absolute(error)), stiff, o)
        drive, steep = current_torque(per_ohm * (voltage * pwm - back * rate), f, t, token)
        error, stiff = drive, steep * per_ohm * (voltage * stiff + back * slope)
    given = absolute(target) + 1.0  # not a number: the motor idles
    return where(given, torque + error, torque), where(given, stiff, o)


@inline
def anchored(f, f0, hard):
    """(1 - d) f + d f0."""
    return (1.0 - hard) * f + hard * f0


@inline
def drive_law(f, f0, told, stiff, rate, next_rate, slope, rho, most, fastest, hard, token):
    """(projected force, force at no increment, slope along the freedom) of a drive."""
    o, z, scale = spread(0.0, token), anchored(f, f0, hard), rho * slope
    later = told - stiff * (next_rate - rate) / slope
    part = scale / (scale + stiff)  # weighs the present force: a stiff motor is told by it what it can hold
    free, plus, minus = (
        (1.0 - part) * f + part * later,
        z - rho * (next_rate - fastest),
        z - rho * (next_rate + fastest),
    )
    value = where(free - plus, plus, free)
    value = where(minus - value, minus, value)
    held = where(free - plus, spread(1.0, token), where(minus - free, spread(1.0, token), o))
    bound = where(free - plus, fastest, -fastest)
    clipped = between(value, -most, most)
    beyond = above(absolute(value), most)
    brake, per = f0 - rho / hard * (rate - bound), rho / hard * slope
    brake = where(held, brake, o)  # not beyond an infinite bound
    gives = where(beyond, clipped, where(held, brake, told))
    return clipped, gives, where(beyond, o, where(held, per, stiff))


@inline
def stop_law(f, f0, low, up, next_low, next_up, per_h, rho, hard, token):
    """The same of two hard limits; ``low``, ``up``: distances to them over the step."""
    o, z = spread(0.0, token), anchored(f, f0, hard)
    z_low, z_up = z - rho * next_low, z + rho * next_up
    at_low, at_up = above(z_low, o), above(o, z_up)
    at_up = where(at_low, o, at_up)
    per = rho / hard
    gives = where(at_low, f0 - per * low, where(at_up, f0 + per * up, o))
    return where(at_low, z_low, where(at_up, z_up, o)), gives, where(maximum(at_low, at_up), per * per_h, o)


@inline
def dry_law(f, f0, rate, next_rate, slope, rho, most, hard, token):
    """The same of dry friction."""
    o, z = spread(0.0, token), anchored(f, f0, hard) - rho * next_rate
    slips, value = above(absolute(z), most), between(z, -most, most)
    return value, where(slips, value, f0 - rho / hard * rate), where(slips, o, rho / hard * slope)
