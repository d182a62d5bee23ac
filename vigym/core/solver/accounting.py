"""Accounting of an accepted step: losses, work, and the forces that the next step starts from.

A force f at knot 2 does the work of its impulse at the mean of the velocities before and after it:

    (h + h1)/2 f (r1 + r2)/2.
"""

from vigym.core.body.wrenches import store_wrenches, wrench_work
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.packs import add_lanes, lanes_of_rows
from vigym.core.compiler.simd import LANES, absolute, sqrt, where
from vigym.core.contact.kinematics import touching_velocity
from vigym.core.contact.rebounds import (
    RESTING,
    energy_left_to_rebounds,
    raise_approaches,
    store_rebound,
    store_rebound_energy,
)
from vigym.core.joint.ball_spring import store_ball_spring_moments
from vigym.core.joint.bounded_forces import (
    IDLE_TARGET,
    joint_has_bounded_forces,
    run_of_hinges,
)
from vigym.core.joint.coordinates import (
    compensated_add,
    coordinate_change,
    dof_rate_over_step,
    has_own_coordinate,
)
from vigym.core.joint.damping import next_slow_rate
from vigym.core.joint.forces import spring_stretch
from vigym.core.loop.constraints import point_spring_tension
from vigym.core.loop.motions import motion_work, store_motions
from vigym.core.loop.tracks import store_places
from vigym.core.math.vectors import add, dot, scale, select3, select4
from vigym.core.model.context import first_point_spring, knot_weight, point_spring_end
from vigym.core.tables.plan import ALIGNED, LONE, NO_MOTOR

SATURATION = 1e-6  # relative distance of a saturated motor's force from its bound


@inline
def store_joint_forces_and_target(dof, mask):
    """Write the forces of motor, limit and dry friction, and the motor's target."""
    motor, limit, friction = dof.converged_forces
    target = dof.target
    target = where(absolute(target) >= 0.0, target, 10.0 * IDLE_TARGET)
    dof.last_motor_force = where(mask, motor, dof.last_motor_force)
    dof.last_target = where(mask, target, dof.last_target)
    dof.last_limit_force = where(mask, limit, dof.last_limit_force)
    dof.last_friction_force = where(mask, friction, dof.last_friction_force)


@inline
def account_dof(d, i, j, knot3, h, mask):
    """Write rate and forces of dof j of joint i.

    Returns (power that its damper, limits and dry friction take, power of its motor) [W] and the
    lanes in which the motor is saturated.
    """
    body, o = d.body(i), h * 0.0
    work, saturated = o, d.full(False)
    dof = d.dof(body.first_dof + j)
    rate, slope, momentum_rate, _ = dof_rate_over_step(d, i, j, knot3, h)
    mean = 0.5 * (rate + dof.last_rate)
    lost = dof.damping * rate * mean
    dof.last_momentum_rate = where(mask, momentum_rate, dof.last_momentum_rate)
    dof.last_rate = where(mask, rate, dof.last_rate)
    if joint_has_bounded_forces(body):
        motor, limit, friction = dof.converged_forces
        lost = lost - (limit + friction) * mean
        work = motor * mean
        almost = (1.0 - SATURATION) * dof.force_limit
        saturated = absolute(motor) > almost
        store_joint_forces_and_target(dof, mask)
    if body.has_spring > 0:
        dof.slow_rate = where(mask, next_slow_rate(dof, rate), dof.slow_rate)
        if has_own_coordinate(d, i, j):
            stretch = spring_stretch(dof, coordinate_change(d, i, j, rate, slope, h))
            force = stretch * dof.stiffness
            dof.last_spring_force = where(mask, force, dof.last_spring_force)
    return lost, work, saturated


def skip_hinges(d, *arguments):
    """Replace ``account_hinges_in_runs`` in mechanisms without runs of hinges."""
    o = d.full(0.0)
    return o, o, o, d.full(False)


@phase(needs="packs", otherwise=skip_hinges)
def account_hinges_in_runs(d, knot3, h, mask):
    """Account for hinges that are alike; returns the same as ``account_joints``."""
    w = d.wide
    wide_h, wide_mask = w.full(h), w.full(mask)
    lost, work = h * 0.0, h * 0.0
    absolute_work = h * 0.0
    full = w.full(False)
    for first in range(0, d.first_lone_joint, LANES):
        hinges = run_of_hinges(d, first)
        taken, given, saturated = account_dof(w, hinges, 0, knot3, wide_h, wide_mask)
        own = lanes_of_rows(hinges, full)
        lost = add_lanes(lost, taken, own)
        work = add_lanes(work, given, own)
        absolute_work = add_lanes(absolute_work, absolute(given), own)
        full = full | own & saturated
    return lost, work, absolute_work, max_over_body_lanes(full, h)


@inline
def account_joints(d, knot3, h, mask):
    """Write rates and forces of all joints.

    Returns (power that dampers, limits and dry friction take, power of motors, sum of its absolute
    values) [W] and the lanes in which a motor is saturated.
    """
    lost, work, absolute_work, saturated = account_hinges_in_runs(d, knot3, h, mask)
    for r in range(d.first_lone_joint, d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            taken, given, full = account_dof(d, i, j, knot3, h, mask)
            lost, work = lost + taken, work + given
            absolute_work = absolute_work + absolute(given)
            saturated = saturated | full
        if body.rotation_count == 3 and body.has_spring > 0:
            store_ball_spring_moments(d, i, knot3, mask)
    return lost, work, absolute_work, saturated


@inline
def account_point_spring(d, loop, knot3, h, mask):
    """Write rate and force of a spring between two points; returns the power that it takes [W]."""
    force, l3, l2 = point_spring_tension(d, loop, knot3)
    rate = (l3 - l2) / h
    dof = d.dof(d.body(loop).first_dof)
    mean = 0.5 * (rate + dof.last_rate)
    lost = dof.damping * rate * mean
    dof.last_rate = where(mask, rate, dof.last_rate)
    dof.slow_rate = where(mask, next_slow_rate(dof, rate), dof.slow_rate)
    dof.last_spring_force = where(mask, force, dof.last_spring_force)
    return lost


@inline
def measure_contact_power(d, contact, knot2, knot3):
    """Write the power that a contact takes over the step: force by the mean velocity.

    Write the difference between the power at the end of the step and that of the law, too.
    """
    force = contact.converged_world_force
    before, v1, spin1 = touching_velocity(d, contact, knot2, knot2)
    _, v2, spin2 = touching_velocity(d, contact, knot2, knot3)
    torsion = contact.torsional_friction * contact.converged_force[3] * (spin1 + spin2)
    contact.power = -0.5 * (dot(force, add(v1, v2)) + torsion)
    contact.approach = before


@phase(needs="packs")
def measure_aligned_powers(d, knot2, knot3):
    """Write the powers of the contacts that lie in the lanes of their bodies."""
    w = d.wide
    for block in range(d.aligned_block_count):
        measure_contact_power(w, w.aligned_contact(block), knot2, knot3)


@phase(needs="contacts")
def measure_contact_powers(d, knot2, knot3):
    """Write the power that every contact takes over the step."""
    measure_aligned_powers(d, knot2, knot3)
    for c in range(d.first_unaligned_contact, d.contact_count):
        contact = d.contact(c)
        if contact.membership < ALIGNED:
            f = contact.converged_force
            if (absolute(f[0]) + absolute(f[1]) + absolute(f[2]) > 0.0).any():
                measure_contact_power(d, contact, knot2, knot3)
            else:
                contact.power = 0.0  # its approach does not count: only a force makes it rebound


@inline
def account_contact(contact, slow, half_fall, mask):
    """Write the force that the next step starts from, and the velocity of a rebound."""
    store_rebound(contact, slow, half_fall, mask)
    force = select3(mask, contact.converged_world_force, contact.last_world_force)
    contact.last_world_force = force
    contact.last_force = select4(mask, contact.converged_force, contact.last_force)


@phase(needs="packs")
def account_contacts_in_blocks(d, slow, half_fall, mask):
    """Account for the contacts that lie in blocks."""
    w = d.wide
    wide_slow, wide_mask = w.full(slow), w.full(mask)
    wide_fall = w.full(half_fall[0]), w.full(half_fall[1]), w.full(half_fall[2])
    for block in range(d.contact_block_count):
        account_contact(w.contact(block), wide_slow, wide_fall, wide_mask)


@inline
def power_taken_by_contacts(d):
    """Sum the measured powers that contacts take [W]."""
    power = d.full(0.0)
    for c in range(d.contact_count):
        power = power + d.contact(c).power
    return power


@phase(needs="contacts", otherwise=zero)
def account_contacts(d, knot2, knot3, h, weight, mask):
    """Write the contacts' forces and whether they rebound; returns the power that they take [W].

    Contacts act for the time ``weight``.
    """
    g = d.environment.gravity
    slow = RESTING * sqrt(dot(g, g)) * absolute(h)
    begins = ~(absolute(d.environment.step_size) > 0.0)
    half_fall, lost = scale(0.5 * h * where(begins, 1.0, 0.0), g), power_taken_by_contacts(d)
    allowed = energy_left_to_rebounds(d, weight * lost)
    raise_approaches(d, knot2, knot3, slow, weight, allowed)
    account_contacts_in_blocks(d, slow, half_fall, mask)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.membership == LONE:
            account_contact(contact, slow, half_fall, mask)
    store_rebound_energy(d, weight, allowed, mask)
    return lost


@inline
def integrate_torque_work(d, knot3, h):
    """Find the work of torques over the step [J].

    Returns (work of torques on three free rotations, sum of the absolute work of all torques).

    Three free rotations have no coordinates to multiply their torques with; the work of other
    torques is summed by ``sum_torque_coordinate_products`` in `vigym.core.kernels.step`. A step
    back subtracts its absolute work, which the steps around it count twice.
    """
    work, absolute_work = h * 0.0, h * 0.0
    for a in range(d.actuator_count):
        actuator = d.actuator(a)
        i, j = actuator.body, actuator.joint_dof
        if d.body(i).motor_kind == NO_MOTOR:
            rate, _, _, _ = dof_rate_over_step(d, i, j, knot3, h)
            power = rate * d.dof(actuator.dof).applied_torque
            absolute_work = absolute_work + h * absolute(power)
            if not has_own_coordinate(d, i, j):
                work = work + h * power
    return work, absolute_work


@inline
def store_inputs(d, mask):
    """Write the torques and multipliers that the next step starts from."""
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.last_torque = where(mask, dof.applied_torque, dof.last_torque)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        multiplier = loop_row.accepted_multiplier
        loop_row.last_multiplier = where(mask, multiplier, loop_row.last_multiplier)


@inline
def add_energies(d, dissipated, work, absolute_work, mask):
    """Add the energies [J] of a step to the sums of the environment."""
    env = d.environment
    total, rest = compensated_add(env.dissipated, env.dissipated_remainder, dissipated, mask)
    env.dissipated = total
    env.dissipated_remainder = rest
    total, rest = compensated_add(env.work, env.work_remainder, work, mask)
    env.work = total
    env.work_remainder = rest
    total, rest = compensated_add(
        env.absolute_work, env.absolute_work_remainder, absolute_work, mask
    )
    env.absolute_work = total
    env.absolute_work_remainder = rest


@phase
def account(d, knot2, knot3, h, rho, mask):
    """Account for an accepted step: losses, work, rates and forces that the next one starts from.

    Returns the lanes in which a motor is saturated.
    """
    # before ``account_joints``, which overwrites the rates of the last step that these need
    by_motions, by_motions_absolute = motion_work(d, knot2, knot3, h)
    by_wrenches, by_wrenches_absolute = wrench_work(d, knot2, knot3, h)
    lost, work, absolute_work, saturated = account_joints(d, knot3, h, mask)
    if d.loop_count > 0:
        for loop in range(first_point_spring(d), point_spring_end(d)):
            lost = lost + account_point_spring(d, loop, knot3, h, mask)
    weight = knot_weight(rho) * h
    if d.contact_count > 0:
        lost = lost + account_contacts(d, knot2, knot3, h, weight, mask)
    store_inputs(d, mask)
    torque_work, torque_absolute = integrate_torque_work(d, knot3, h)
    dissipated, given = weight * lost, weight * work + torque_work
    size = weight * absolute_work + torque_absolute
    if d.motion_count + d.wrench_count > 0:
        given = given + (by_motions + by_wrenches)
        size = size + (by_motions_absolute + by_wrenches_absolute)
    add_energies(d, dissipated, given, size, mask)
    store_wrenches(d, knot2, rho, mask)
    store_motions(d, mask)
    store_places(d, knot3, mask)
    return mask & saturated
