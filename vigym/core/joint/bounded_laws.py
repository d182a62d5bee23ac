"""Laws of the bounded forces of a dof: motors, hard limits, dry friction.

With s the coordinate at knot 3 and r its rate over the step, all act at the step's end, implicitly:

- motor: its command, clipped to its largest force, and a brake at its largest rate;
- limit: 0 <= force _|_ distance >= 0 at the lower bound, the mirror image at the upper one;
- dry friction: -F sign(r), between -F and F at rest [Coulomb].

Each is the projection of z = (1 - d) f + d f0 - rho u on an interval, as for contacts (see
`vigym.core.contact.laws.projection_law`), d the proximal part and f0 the anchor. A law returns the
projected force, the force at zero increment, and its slope along the dof, which stays within the
dof's own pivot.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import select_by_precision
from vigym.core.compiler.simd import absolute, maximum, minimum, spread, where
from vigym.core.tables.plan import DC_MOTOR

# Proximal part in a step, whose anchors move, in double and in single precision. A light link at
# its limit may hold heavy ones. The softer its limit is, the more iterations its anchor takes to
# reach their force; so does the brake of a motor at its largest rate.
PROXIMAL = 1e-5, 1e-4
KNOT_PROXIMAL = 1e-8  # proximal part at a knot, where they do not


@inline
def step_proximal(like):
    """Find the proximal part in a step, for the precision of ``like``."""
    return select_by_precision(PROXIMAL, like)


@inline
def clamp(z, low, high):
    """Clamp a number to [low, high]; the low bound wins."""
    z = minimum(z, high)
    return maximum(low, z)


@inline
def dc_motor_torque(dof, current):
    """Compute the torque of a motor at a current [A], and its slope.

    It follows the motor's saturation curve, and is constant beyond.
    """
    size = absolute(current)
    torque, slope = spread(0.0, current), spread(0.0, current)
    for k in range(7):
        c0, c1 = dof.currents[k], dof.currents[k + 1]
        u0, u1 = dof.torques[k], dof.torques[k + 1]
        width = where(c1 > c0, c1 - c0, 1.0)
        steepness = (u1 - u0) / width
        reached = size > c0
        part = where(size > c1, c1 - c0, size - c0)
        torque = where(reached, u0 + steepness * part, torque)
        slope = where(reached, steepness, slope)
    last = dof.currents[7]
    return where(current > 0.0, torque, -torque), where(size > last, 0.0, slope)


@inline
def motor_command(d, i, dof, coordinate, rate, slope):
    """Compute the force that a motor is commanded, and its stiffness along the dof.

    PD control of the coordinate, or of the rate where there is no position gain; of a DC motor its
    output sets the voltage.
    """
    target = dof.target
    kp = dof.kp
    kd = dof.kd
    torque = dof.applied_torque
    rate_target = where(kp > 0.0, 0.0, target)
    command = kp * (where(kp > 0.0, target, coordinate) - coordinate) + kd * (rate_target - rate)
    stiffness = kp + kd * slope
    if d.body(i).motor_kind == DC_MOTOR:
        per_ohm = 1.0 / dof.resistance
        voltage, back_emf = dof.voltage, dof.back_emf
        pwm = clamp(command, -1.0, 1.0)
        stiffness = where(absolute(command) < 1.0, stiffness, 0.0)
        force, steepness = dc_motor_torque(dof, per_ohm * (voltage * pwm - back_emf * rate))
        command = force
        stiffness = steepness * per_ohm * (voltage * stiffness + back_emf * slope)
    driven = absolute(target) >= 0.0  # not a number: the motor idles
    return where(driven, torque + command, torque), where(driven, stiffness, 0.0)


@inline
def blend_with_anchor(force, anchor, prox):
    """Mix a force with its anchor: (1 - d) f + d f0."""
    return (1.0 - prox) * force + prox * anchor


@inline
def motor_law(d, dof, force, anchor, motion, rho, bound, prox):
    """Project the force of a motor, whose bound is ``bound`` and whose largest rate brakes it.

    Args:
        d: data of the lane group.
        dof: row of the degree of freedom, with what its forces see of the step.
        force: force of the motor.
        anchor: force that the proximal term starts from.
        motion: motion along the dof.
        rho: scale of a rate as a force.
        bound: largest force.
        prox: proximal part.

    Returns:
        Projected force, force at zero increment, slope along the dof.
    """
    # force beyond the bound, asked for by contradicting brakes, would mislead
    force, anchor = clamp(force, -bound, bound), clamp(anchor, -bound, bound)
    rate, slope = dof.seen_rate, dof.seen_slope
    next_rate = rate + slope * motion
    command = dof.motor_command
    stiffness = dof.motor_stiffness
    fastest = dof.velocity_limit
    z = blend_with_anchor(force, anchor, prox)
    scale = rho * slope
    later = command - stiffness * motion
    # weighs the present force, which shows the load that a stiff motor can hold
    part = scale / (scale + stiffness)
    free = (1.0 - part) * force + part * later
    plus = z - rho * (next_rate - fastest)
    minus = z - rho * (next_rate + fastest)
    # Motors that brake one motion to unlike rates ask for huge, meaningless forces: a dof
    # that moves one way is not braked the other way.
    moving = where(fastest > 0.0, next_rate, 0.0)
    plus = where(moving < 0.0, maximum(plus, free), plus)
    minus = where(moving > 0.0, minimum(minus, free), minus)
    value = minimum(free, plus)
    value = where(minus > value, minus, value)
    braked = (free > plus) | (minus > free)
    rate_bound = where(free > plus, fastest, -fastest)
    clipped = clamp(value, -bound, bound)
    beyond = absolute(value) > bound
    brake = anchor - rho / prox * (rate - rate_bound)
    brake_slope = rho / prox * slope
    brake = where(braked, brake, 0.0)  # not beyond an infinite bound
    affine = where(beyond, clipped, where(braked, brake, command))
    return clipped, affine, where(beyond, 0.0, where(braked, brake_slope, stiffness))


@inline
def limit_law(d, dof, force, anchor, approach, per_h, rho, prox):
    """Project the force of two hard limits; ``approach`` is the rate added to the clearances.

    Returns:
        Projected force, force at zero increment, slope along the dof.
    """
    lower, upper = dof.lower_clearance, dof.upper_clearance
    z = blend_with_anchor(force, anchor, prox)
    z_lower = z - rho * (lower + approach)
    z_upper = z + rho * (upper - approach)
    at_lower, at_upper = z_lower > 0.0, z_upper < 0.0
    at_upper = at_upper & ~at_lower
    per = rho / prox
    value = where(at_lower, z_lower, where(at_upper, z_upper, 0.0))
    affine = where(at_lower, anchor - per * lower, where(at_upper, anchor + per * upper, 0.0))
    return value, affine, where(at_lower | at_upper, per * per_h, 0.0)


@inline
def coulomb_law(d, dof, force, anchor, motion, rho, bound, prox):
    """Project the force of dry friction, whose bound is ``bound``.

    Returns:
        Projected force, force at zero increment, slope along the dof.
    """
    rate, slope = dof.seen_rate, dof.seen_slope
    z = blend_with_anchor(force, anchor, prox) - rho * (rate + slope * motion)
    slips = absolute(z) > bound
    value = clamp(z, -bound, bound)
    affine = where(slips, value, anchor - rho / prox * rate)
    return value, affine, where(slips, 0.0, rho / prox * slope)
