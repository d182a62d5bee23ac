"""Generalised forces along dofs: actuators, springs, dampers, armature, bounded forces.

At knot 2, between a step of size h1 and one of size h (rho = h1/h), a dof with coordinate s has
the residual

    (1 + rho)/2 (c rate - motor - limit - friction)
        + (rho k1 + k2)/2 - (rho u1 + u2)/2 + I (p - p1)/h

u1, u2: torques held over the last and this step, half of each acts at their common knot (forcing of
the discrete Lagrange-d'Alembert principle [MC 3]). k1, k2: spring forces k (s - rest) at the middle
of both steps, what the discrete potential h V((s2 + s3)/2) makes of a spring: conservative, and
stable at any stiffness; of three free rotations see `vigym.core.joint.ball_spring`. ``rate``: of
the coordinate over this step, p: momentum rate of the armature I, what the variational principle
makes of I rate^2 / 2, see `vigym.core.math.turns` for angles. All but torques see the
step's end: they are implicit, and enter the pivot of their own dof only.
Where a spring vibrates too fast for a step, its damper is another, see `vigym.core.joint.damping`.
"""

from vigym.core.compiler.kernel import inline, no_lanes_and_zero, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.packs import add_lanes, lanes_of_rows
from vigym.core.compiler.simd import LANES, absolute, maximum, minimum, sqrt, where
from vigym.core.joint.ball_spring import (
    add_ball_spring_load,
    add_closing_ball_load,
    reset_increment_axis,
    write_rate_increment_axes,
)
from vigym.core.joint.bounded_forces import (
    add_bounded_forces,
    joint_has_bounded_forces,
    run_of_hinges,
    write_knot_law_inputs,
    write_law_inputs,
)
from vigym.core.joint.bounded_laws import KNOT_PROXIMAL, step_proximal
from vigym.core.joint.coordinates import (
    coordinate_change,
    dof_rate_over_step,
    has_own_coordinate,
    stored_coordinate,
)
from vigym.core.joint.damping import damper_at_knot, damper_before_knot, dof_damping
from vigym.core.math.vectors import dot
from vigym.core.model.context import knot_weight


@phase
def assemble_constant_loads(d, applied, last):
    """Write the loads that stay while Newton iterates: -applied u2 - last u1 + last k1.

    u2 is the torque of this step, u1 the torque and k1 the spring force of the last one.

    Args:
        d: data of the lane group.
        applied: weight of this step's torque.
        last: weight of the last step's torque and spring force.
    """
    w = d.wide
    wide_applied, wide_last = w.full(applied), w.full(last)
    for block in range(d.dof_block_count):
        dof = w.dof(block)
        torque = wide_last * (dof.last_torque - dof.last_spring_force)
        load = -(wide_applied * dof.applied_torque + torque)
        dof.constant_load = load
        dof.load = load
        dof.compliance = 0.0
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        if body.has_coordinate_force > 0:
            for j in range(body.translation_count + body.rotation_count):
                store_start_coordinate(d, i, j, last)


@inline
def store_start_coordinate(d, i, j, last):
    """Write the coordinate of a dof at knot 2, and the constant load of a motor's joint."""
    body = d.body(i)
    dof = d.dof(body.first_dof + j)
    dof.start = stored_coordinate(d, i, j)
    if body.motor_kind > 0:  # its torque is part of the motor's command
        load = last * dof.last_spring_force
        dof.constant_load = load
        dof.load = load


@phase
def accept_loads(d, mask):
    """Accept the loads of dofs as those of the solution in the lanes of the mask.

    Later attempts of neighbours leave them as they are.
    """
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.accepted_load = where(mask, dof.load, dof.accepted_load)


@phase
def start_bounded_forces(d, share):
    """Set bounded forces and their proximal anchors to ``share`` times those of the last step."""
    w = d.wide
    wide_share = w.full(share)
    for block in range(d.dof_block_count):
        dof = w.dof(block)
        motor = wide_share * dof.last_motor_force
        limit = wide_share * dof.last_limit_force
        friction = wide_share * dof.last_friction_force
        dof.forces = (motor, limit, friction)
        dof.anchor_forces = (motor, limit, friction)


@inline
def rounded_displacement(d, i, knot):
    """Find what a displacement of joint i is rounded by, times the size of the mechanism [m^2].

    That is the size of the mechanism and the distance from the origin, by a square metre at most.
    """
    size, x = d.environment.length_scale, d.pose(knot, d.body(i).child).position
    square = size * (size + sqrt(dot(x, x)))
    return minimum(square, 1.0)


@phase
def largest_damping_term(d, knot, h):
    """Find the largest term that rates and springs of joints bring into a residual [N m].

    Its rounding is what remains of a stiff damper's force. Displacements are rounded by the
    positions at a knot, and angles as radians.
    """
    largest = d.full(0.0)
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body, square = d.body(i), rounded_displacement(d, i, knot)
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            inertia = dof.armature / absolute(h)
            slope = (dof_damping(dof, absolute(h)) + inertia) * (2.0 / absolute(h))
            rounded = square if j < body.translation_count else d.full(1.0)
            largest = maximum(largest, rounded * maximum(slope, dof.stiffness))
    return largest


@inline
def set_dof_load(d, i, j, knot3, h, weight):
    """Set load and compliance of dof j of joint i at the present guess of knot 3.

    Returns:
        (lanes in which a motor, limit or dry friction is active, distance of their forces from
        their laws [N]).
    """
    body, o = d.body(i), d.full(0.0)
    dof = d.dof(body.first_dof + j)
    rate, slope, momentum, momentum_slope = dof_rate_over_step(d, i, j, knot3, h)
    damping = weight * dof.damping
    inertia = dof.armature / h
    inertial = inertia * (momentum - dof.last_momentum_rate)
    if body.has_spring > 0:
        damping, by_slow_rate = damper_at_knot(dof, h, 2.0 * weight - 1.0)
        inertial = inertial - by_slow_rate
    dof.load = dof.constant_load + (damping * rate + inertial)
    dof.compliance = damping * slope + inertia * momentum_slope
    bounded = joint_has_bounded_forces(body)
    active, error = d.full(False), o
    change = o
    if has_own_coordinate(d, i, j) and (body.has_spring > 0 or bounded):
        change = coordinate_change(d, i, j, rate, slope, h)
        add_spring_load(dof, 0.5 * spring_stretch(dof, change))
    if bounded:
        per_h, one = 1.0 / h, d.full(1.0)
        prox = step_proximal(o)
        lever = one if j < body.translation_count else d.environment.length_scale
        write_law_inputs(d, i, dof, rate, slope, change, h, lever)
        active, error = add_bounded_forces(d, i, j, one, weight, per_h, prox, o)
    return active, error


@phase(needs="packs", otherwise=no_lanes_and_zero)
def assemble_loads_in_runs(d, knot3, h, weight):
    """Assemble the loads of hinges that are alike, see ``assemble_joint_loads``."""
    w = d.wide
    wide_h, wide_weight = w.full(h), w.full(weight)
    held, errors = w.full(False), d.full(0.0)
    for first in range(0, d.first_lone_joint, LANES):
        hinges = run_of_hinges(d, first)
        active, error = set_dof_load(w, hinges, 0, knot3, wide_h, wide_weight)
        own = lanes_of_rows(hinges, held)
        held = held | own & active
        errors = add_lanes(errors, error * error, own)
    return max_over_body_lanes(held, errors), errors


@phase
def assemble_joint_loads(d, knot3, h, rho):
    """Add the forces at the present guess of knot 3 to the loads, and their slopes to the pivots.

    Returns:
        (lanes in which a motor, limit or dry friction is active, sum of the squared distances of
        their forces from their laws [N^2]).
    """
    weight = knot_weight(rho)
    held, errors = assemble_loads_in_runs(d, knot3, h, weight)
    for r in range(d.first_lone_joint, d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            active, error = set_dof_load(d, i, j, knot3, h, weight)
            held = held | active
            errors = errors + error * error
        if body.rotation_count == 3:
            if d.loop_count > 0 and i >= d.first_loop:
                add_closing_ball_load(d, i, knot3)
            elif body.has_spring > 0:
                add_ball_spring_load(d, i, knot3)
            elif body.has_rate_force > 0:
                write_rate_increment_axes(d, i, knot3)
    return held, errors


@inline
def spring_stretch(dof, change):
    """Compute how far the spring of a dof is from slack at the middle of the step."""
    return dof.start + 0.5 * change - dof.rest


@inline
def add_spring_load(dof, stretch):
    """Add half of a spring's force at knot 2, and its slope: the other half acts at knot 3."""
    stiffness = dof.stiffness
    dof.load = dof.load + stiffness * stretch
    dof.compliance = dof.compliance + 0.25 * stiffness


@phase
def assemble_left_knot_loads(d, h1):
    """Write the left half of the joints' forces at the knot.

    Dampers over half the last step at the knot's rate, momentum and inertia of armatures, motors,
    limits, dry friction.
    """
    share, one = 0.5 * h1, d.full(1.0)
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            dof = d.dof(body.first_dof + j)
            inertia = dof.armature
            damping, by_slow_rate = damper_before_knot(dof, h1)
            dof.load = dof.constant_load - (inertia * dof.last_momentum_rate + by_slow_rate)
            dof.compliance = damping + inertia
            if body.rotation_count == 3 and j >= body.translation_count:
                reset_increment_axis(d, dof, j - body.translation_count)
            if joint_has_bounded_forces(body):
                write_knot_law_inputs(d, i, dof, share)
                seen = dof.increment_seen
                add_bounded_forces(d, i, j, share, one, one, KNOT_PROXIMAL, seen)
