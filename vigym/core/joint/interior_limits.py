"""Limits by the interior point: forces and clearances of both ends of a dof stay positive.

With f the force of a limit and s the rate at which the dof may still approach it, the condition of
the limit is relaxed by kappa,

    f s = kappa,  s = clearance over the step,

and kappa is brought down while Newton iterates, as for contacts (see
`vigym.core.contact.laws.interior_point_law`). Linearised, the clearance eliminated, both limits are
again force = affine force - slope motion. An increment is cut where a force or clearance would turn
negative. Projections of limits that hold each other in a closed loop may switch between holding and
free without end; here they do not.

The row of a dof has kappa: a share of the mechanism's, by the inertia that moves along it.
It is zero in lanes that other methods solve.
"""

from vigym.core.body.correction import free_fall_acceleration
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where

BOUNDARY = 0.99  # part of the way to the boundary, of a cone or zero, that an increment may go
FAR = 1e12  # [m/s or rad/s] clearance over a step where there is no limit


@inline
def step_to_zero(x, dx):
    """Compute how far from a number x > 0 along dx it stays so, at most one."""
    share = x / where(absolute(dx) > 0.0, absolute(dx), 1.0)
    return where(-dx > x, share, 1.0)


@inline
def has_interior_limits(body, dof):
    """Return whether the interior point solves the limits of a dof of a joint in any lane."""
    return body.has_limit > 0 and (dof.relaxation > 0.0).any()


@inline
def clearances(d, dof):
    """Return the clearances of the lower and the upper limit over the step at zero increment."""
    lower, upper = dof.lower_clearance, dof.upper_clearance
    return minimum(FAR, lower), minimum(FAR, upper)


@inline
def choose_first_limit(force, slack, clearance, last, kappa, least):
    """Choose force and slack of a limit: (force, slack), those of the last iteration if any.

    ``last`` is the present force of the dof's limits, ``least`` the least slack to start with.
    """
    first = where(clearance > least, clearance, least)
    push = maximum(last, kappa / first)
    has = (slack > 0.0) & (force > 0.0)
    return where(has, force, push), where(has, slack, first)


@inline
def linearize_interior_limits(d, dof, per_h, affine, slopes):
    """Linearize the limits of a dof in the lanes that the interior point solves.

    Takes and returns affine forces and slopes of motor, limit and dry friction.
    """
    kappa = dof.relaxation
    inside = kappa > 0.0
    last = dof.forces
    forces, slacks = dof.limit_forces, dof.limit_slacks
    lower, upper = clearances(d, dof)
    least = sqrt(kappa / (per_h * dof.effective_mass))
    least = where(inside, least, 1.0)
    f_lower, s_lower = choose_first_limit(forces[0], slacks[0], lower, last[1], kappa, least)
    f_upper, s_upper = choose_first_limit(forces[1], slacks[1], upper, -last[1], kappa, least)
    dof.limit_forces = where(inside, f_lower, forces[0]), where(inside, f_upper, forces[1])
    dof.limit_slacks = where(inside, s_lower, slacks[0]), where(inside, s_upper, slacks[1])
    a_lower = f_lower + (kappa - f_lower * lower) / s_lower
    a_upper = f_upper + (kappa - f_upper * upper) / s_upper
    k_lower, k_upper = per_h * f_lower / s_lower, per_h * f_upper / s_upper
    dof.limit_affine_forces = a_lower, a_upper
    dof.limit_slopes = k_lower, k_upper
    dof.forces = (last[0], where(inside, f_lower - f_upper, last[1]), last[2])
    force = where(inside, a_lower - a_upper, affine[1])
    slope = where(inside, k_lower + k_upper, slopes[1])
    return (affine[0], force, affine[2]), (slopes[0], slope, slopes[2])


@inline
def stiffness_of_relaxed_limits(body, dof, per_h):
    """Compute how stiff relaxed limits are at their present forces [N/m or N m/rad].

    From f s = kappa that is f^2 / kappa over the step. It is zero without the interior point.
    """
    o = 0.0 * dof.relaxation
    if not has_interior_limits(body, dof):
        return o
    forces, kappa = dof.limit_forces, dof.relaxation
    squared = forces[0] * forces[0] + forces[1] * forces[1]
    return where(kappa > 0.0, per_h * squared / where(kappa > 0.0, kappa, 1.0), 0.0)


@inline
def slack_error(d, slack, clearance):
    """Compute how far a slack is from its clearance; nothing where there is no limit."""
    error = absolute(slack - clearance)
    return where(clearance < FAR, error, 0.0)


@inline
def next_slack(d, clearance, change):
    """Compute the slack after an increment, far away where there is no limit."""
    return where(clearance < FAR, clearance + change, FAR)


@inline
def update_interior_limits(d, dof, per_h):
    """Update both limits of a dof after the increment just solved for.

    Returns (part of the increment that may be taken, one in lanes of other methods; distance of the
    limits' forces from their law before it).
    """
    kappa, moved = dof.relaxation, dof.increment
    inside, one = kappa > 0.0, d.full(1.0)
    f, s = dof.limit_forces, dof.limit_slacks
    affine, slopes = dof.limit_affine_forces, dof.limit_slopes
    lower, upper = clearances(d, dof)
    off = maximum(absolute(f[0] - kappa / s[0]), absolute(f[1] - kappa / s[1]))
    gap = maximum(slack_error(d, s[0], lower), slack_error(d, s[1], upper))
    later = affine[0] - slopes[0] * moved, affine[1] + slopes[1] * moved
    slacks = next_slack(d, lower, per_h * moved), next_slack(d, upper, -per_h * moved)
    dof.limit_affine_forces, dof.limit_next_slacks = later, slacks
    part = one
    for x, x_later in ((f, later), (s, slacks)):
        for k in range(2):
            share = step_to_zero(x[k], x_later[k] - x[k])
            part = minimum(part, share)
    return where(inside, BOUNDARY * part, 1.0), off + per_h * dof.effective_mass * gap


@inline
def move_in_mask(mask, step_length, x, later):
    """Move a number a part of its way to a later one, in the lanes of the mask."""
    return where(mask, x + step_length * (later - x), x)


@inline
def step_interior_limits(d, dof, step_length, mask):
    """Move forces and slacks of both limits by a part of their increment, in lanes of the mask."""
    moving = mask & (dof.relaxation > 0.0)
    f, s = dof.limit_forces, dof.limit_slacks
    later, slacks = dof.limit_affine_forces, dof.limit_next_slacks
    dof.limit_forces = (
        move_in_mask(moving, step_length, f[0], later[0]),
        move_in_mask(moving, step_length, f[1], later[1]),
    )
    dof.limit_slacks = (
        move_in_mask(moving, step_length, s[0], slacks[0]),
        move_in_mask(moving, step_length, s[1], slacks[1]),
    )


@inline
def share_of_relaxation(d, dof, length):
    """Find the share of the mechanism's relaxation that a limit gets, by the inertia of its dof.

    A kappa that is small for a leg would keep a finger far from its limit. ``length`` [m] makes a
    moment of inertia a mass; it is one for a translation. The mechanism's mass is that of its
    weight.
    """
    mass = dof.effective_mass / (length * length)
    share = mass * free_fall_acceleration(d) / d.environment.force_scale
    return sqrt(minimum(share, 1.0))


@phase
def relax_limits(d, kappa):
    """Set the relaxation of all limits; ``kappa`` is that of the mechanism [W]."""
    length, one = d.environment.length_scale, d.full(1.0)
    for r in range(d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if body.has_limit > 0:
            for j in range(body.translation_count + body.rotation_count):
                dof = d.dof(body.first_dof + j)
                lever = one if j < body.translation_count else length
                dof.relaxation = kappa * share_of_relaxation(d, dof, lever)


@phase
def clear_relaxation(d):
    """Leave all limits to other methods."""
    w = d.wide
    for block in range(d.dof_block_count):
        w.dof(block).relaxation = 0.0


@phase
def clear_interior_limits(d):
    """Clear forces and slacks of all limits: the interior point begins anew."""
    for r in range(d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if body.has_limit > 0:
            for j in range(body.translation_count + body.rotation_count):
                dof = d.dof(body.first_dof + j)
                dof.limit_forces = 0.0, 0.0
                dof.limit_slacks = 0.0, 0.0
