"""Rates at which bodies swing between the joints and springs that pull them.

A light body between heavy ones swings as a string does, the faster the harder it is pulled. Where
its rate times the step is above two, such a swing grows from step to step, as in the method of
Störmer and Verlet [Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006]. A spring between
points of length l under a tension T resists motion across it with the stiffness T/l.
"""

from vigym.core.body.pose import inertia_matrix
from vigym.core.body.wrenches import knot_wrench
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, maximum, minimum, where
from vigym.core.contact.segment_box import is_pair
from vigym.core.joint.geometry import anchor_separation
from vigym.core.loop.constraints import row_direction
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    scale,
    sub,
    zero3,
)
from vigym.core.model.context import first_point_spring, knot_buffer, knot_weight, point_spring_end

HELD = 1e30  # [kg, kg m^2] of bodies without mass: they are held by others and swing with them
DEPENDENT = 1e-9  # part of a loop row's pivot below which the row depends on others


@inline
def inertia_across(d, i, knot, arm):
    """Compute the mean inertia of body i about axes across an arm [world], and the arm's square.

    Returns (inertia [kg m^2], square [m^2]).
    """
    inertia, square = inertia_matrix(d.body(i)), dot(arm, arm)
    own = mat_t_vec(d.pose(knot, i).rotation, arm)
    along = dot(own, mat_vec(inertia, own)) / where(square > 0.0, square, 1.0)
    across = 0.5 * (inertia[0] + inertia[4] + inertia[8] - along)
    return where(d.body(i).mass > 0.0, across, HELD), square


@inline
def mobility_of_center(d, i):
    """Compute how easily the centre of body i moves [1/kg]."""
    mass = d.body(i).mass
    return 1.0 / where(mass > 0.0, mass, HELD)


@inline
def add_swing_stiffness(d, i, knot, force):
    """Add the stiffness over inertia of swings of both bodies of joint i by its force [N, world].

    A body that swings about its centre of mass moves the joint, and the other body's mass there.
    The force is that on body i. Returns the inertia of body i for that [kg m^2].
    """
    body, pose = d.body(i), d.pose(knot, i)
    p = body.parent
    own, square = inertia_across(d, i, knot, pose.arm)
    mobility = mobility_of_center(d, i)
    if p > 0:
        parent = d.body(p)
        arm = sub(pose.anchor, d.pose(knot, p).position)
        other, other_square = inertia_across(d, p, knot, arm)
        mobility = mobility + mobility_of_center(d, p)
        inertia = other + other_square / (mobility + square / own)
        parent.swing_stiffness = parent.swing_stiffness - dot(force, arm) / inertia
        mobility = mobility + other_square / other
    inertia = own + square / mobility
    body.swing_stiffness = body.swing_stiffness + dot(force, pose.arm) / inertia
    return inertia


@inline
def stiffness_across(d, dof, rho):
    """Find how much a spring between points resists motion across it [N/m]; none where it is slack.

    It is the force of the solution over the length, and never above the spring's own stiffness.
    """
    length = where(dof.sine > 0.0, dof.sine, 1.0)
    across = maximum(1.0 / knot_weight(rho) * dof.accepted_load / length, 0.0)
    return minimum(across, dof.stiffness)


@inline
def spring_arms(d, loop, knot):
    """Compute the arms from the centres of mass of bodies a and b to a spring's ends [world].

    Returns (arm in a, arm in b, vector from the end in a to that in b).
    """
    closure, line = d.body(loop), anchor_separation(d, loop, knot)
    end = d.pose(knot, loop).anchor
    arm_a = sub(sub(end, line), d.pose(knot, closure.parent).position)
    return arm_a, sub(end, d.pose(knot, closure.child).position), line


@inline
def swing_at_end(d, i, knot, arm, mass, across, line):
    """Find how much a spring resists swings of body i at its end, over the inertia [1/s^2].

    ``mass`` is that which the spring meets, ``line`` leads away from the spring.
    """
    if i == 0:
        return d.full(0.0)
    own, square = inertia_across(d, i, knot, arm)
    return across / mass - across * dot(line, arm) / maximum(own, square * mass)


@inline
def swings_at_ends(d, loop, knot, rho):
    """Find how much a spring between points resists swings of bodies a and b [1/s^2]."""
    closure, dof = d.body(loop), d.dof(d.body(loop).first_dof)
    across, mass = stiffness_across(d, dof, rho), dof.effective_mass
    arm_a, arm_b, line = spring_arms(d, loop, knot)
    away = scale(-1.0, line)
    at_a = swing_at_end(d, closure.parent, knot, arm_a, mass, across, away)
    return at_a, swing_at_end(d, closure.child, knot, arm_b, mass, across, line)


@inline
def add_swings_of_springs(d, step):
    """Add how much springs between points resist swings of their bodies [1/s^2]."""
    for loop in range(first_point_spring(d), point_spring_end(d)):
        a, b = d.body(d.body(loop).parent), d.body(d.body(loop).child)
        at_a, at_b = swings_at_ends(d, loop, step.knot2, step.rho)
        a.swing_stiffness, b.swing_stiffness = a.swing_stiffness + at_a, b.swing_stiffness + at_b


@phase(needs="loops", otherwise=zero)
def largest_swing_of_springs(d, step):
    """Find the most by which springs between points resist the swing of a body [1/s^2]."""
    most = d.full(0.0)
    if point_spring_end(d) > first_point_spring(d):
        for i in range(1, d.body_count):
            d.body(i).swing_stiffness = 0.0
        add_swings_of_springs(d, step)
        for i in range(1, d.body_count):
            most = maximum(most, d.body(i).swing_stiffness)
    return most


@inline
def damped_share(d, i, inertia, h):
    """Find by how much the damping of joint i lets steps be longer in which body i swings.

    It is the square of that factor: a damped swing grows above h^2 stiffness = 4 + 2 h damping,
    both over its inertia.
    """
    body, least = d.body(i), d.full(0.0)
    for j in range(body.rotation_count):
        dof = d.dof(body.first_dof + body.translation_count + j)
        damping = absolute(h) * (dof.damping + dof.kd) / inertia
        least = damping if j == 0 else minimum(least, damping)
    return 2.0 / (2.0 + least)


@inline
def largest_pull(d, rho):
    """Bound the forces by which joints, springs and held wrenches pull [N], all together.

    Torques pull at the mechanism's length. The loads of dofs are those of the solution.
    """
    pull, length = d.full(0.0), d.environment.length_scale
    for p in range(d.dof_count):
        pull = pull + absolute(d.dof(p).accepted_load)
    pull = maximum(pull, pull / length) * absolute(1.0 / knot_weight(rho))
    for i in range(1, d.wrench_count):
        wrench = d.wrench(i)
        force = absolute_sum(wrench.force) + absolute_sum(wrench.body_force)
        torque = absolute_sum(wrench.torque) + absolute_sum(wrench.body_torque)
        pull = pull + force + torque / length
    return pull


@inline
def absolute_sum(a):
    """Sum the absolutes of the elements of a vector."""
    return absolute(a[0]) + absolute(a[1]) + absolute(a[2])


@inline
def jerk_of_body(d, i, step):
    """Compute the change of a body's accelerations times half the step.

    That is half the second difference of its velocities over three equal steps.

    Returns (change of the velocity [m/s, world], of the angular velocity [rad/s, body axes]).
    """
    environment = d.environment
    h1, h0 = environment.step_size, environment.previous_step_size
    earlier, start = d.pose(knot_buffer(d, 1), i), d.pose(step.knot2, i)
    end = d.pose(step.knot3, i)
    new = step.h / (step.h + h1)
    old = step.h / where(absolute(h1 + h0) > 0.0, h1 + h0, 1.0)
    v = scale(new, sub(end.velocity, start.velocity))
    w = scale(new, sub(end.angular_velocity, start.angular_velocity))
    v = axpy(-old, sub(start.velocity, earlier.velocity), v)
    return v, axpy(-old, sub(start.angular_velocity, earlier.angular_velocity), w)


@inline
def energy_of_jerks(d, step):
    """Compute the kinetic energy of the bodies' jerks [J], see `jerk_of_body`."""
    energy = d.full(0.0)
    for i in range(1, d.body_count):
        body = d.body(i)
        v, w = jerk_of_body(d, i, step)
        energy = energy + 0.5 * (body.mass * dot(v, v) + dot(w, mat_vec(inertia_matrix(body), w)))
    return energy


@inline
def work_of_turning(turn, arm, force):
    """Compute twice the work that a force does not do as its arm turns by a small rotation [J]."""
    return dot(turn, turn) * dot(force, arm) - dot(force, turn) * dot(turn, arm)


@inline
def work_in_swings(d, i, step, arm, force):
    """Compute `work_of_turning` as body i turns by its jerk [J]; the force is at an arm [world]."""
    turn = mat_vec(d.pose(step.knot2, i).rotation, jerk_of_body(d, i, step)[1])
    return work_of_turning(turn, arm, force)


@inline
def jerk_of_end(d, i, step, arm):
    """Compute the jerk of a point of body i [m/s, world], see `jerk_of_body`."""
    v, w = jerk_of_body(d, i, step)
    return add(v, cross(mat_vec(d.pose(step.knot2, i).rotation, w), arm))


@inline
def work_across_spring(d, loop, step):
    """Compute twice the work that a spring does not do as its ends move across it by jerks [J]."""
    closure = d.body(loop)
    arm_a, arm_b, line = spring_arms(d, loop, step.knot2)
    jerk = jerk_of_end(d, closure.child, step, arm_b)
    jerk = sub(jerk, jerk_of_end(d, closure.parent, step, arm_a))
    square, along = dot(line, line), dot(line, jerk)
    along = along * along / where(square > 0.0, square, 1.0)
    across = stiffness_across(d, d.dof(closure.first_dof), step.rho)
    return across * (dot(jerk, jerk) - along)


@phase(needs="loops", otherwise=zero)
def add_springs_of_step(d, step):
    """Add how much springs resist swings of their bodies; return their `work_across_spring`."""
    add_swings_of_springs(d, step)
    work = d.full(0.0)
    for loop in range(first_point_spring(d), point_spring_end(d)):
        work = work + work_across_spring(d, loop, step)
    return work


@inline
def find_lanes_of_dependent_rows(d, closure):
    """Find the lanes in which rows of a closing joint depend on others, as in locked loops.

    Their multipliers are not determined, and may be huge.
    """
    dependent = d.full(False)
    for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
        loop_row = d.loop_row(r)
        left = absolute(DEPENDENT * loop_row.accepted_pivot_ratio)
        dependent = dependent | (left > 1.0)
    return dependent


@phase(needs="loops", otherwise=zero)
def subtract_loop_forces_of_step(d, step):
    """Subtract the forces of joints that close loops from the bodies'; return their work [J].

    Also those of springs between points. Joints whose forces are not determined are left out.
    """
    work, known = d.full(0.0), 1.0 / knot_weight(step.rho)
    for loop in range(d.first_loop, point_spring_end(d)):
        closure, force = d.body(loop), zero3(d)
        share = where(find_lanes_of_dependent_rows(d, closure), 0.0, known)
        a, b = closure.parent, closure.child
        arm_a, arm_b, _ = spring_arms(d, loop, step.knot2)
        if loop < first_point_spring(d):  # a joint's force acts in b's anchor
            arm_a = sub(d.pose(step.knot2, loop).anchor, d.pose(step.knot2, a).position)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            f, _ = row_direction(d, loop, loop_row, step.knot2)
            force = axpy(share * loop_row.accepted_multiplier, f, force)
        d.body(b).force = sub(d.body(b).force, force)
        d.body(a).force = add(d.body(a).force, force)
        work = work + work_in_swings(d, b, step, arm_b, force)
        work = work - work_in_swings(d, a, step, arm_a, force)
    return work


@phase(needs="contacts", otherwise=zero)
def subtract_contact_forces_of_step(d):
    """Subtract the forces of contacts from the bodies'; returns zero."""
    for c in range(d.contact_count):
        contact = d.contact(c)
        body, force = d.body(contact.body), contact.converged_world_force
        body.force = sub(body.force, force)
        if is_pair(contact):
            partner = d.body(contact.partner)
            partner.force = add(partner.force, force)
    return d.full(0.0)


@inline
def find_forces_on_bodies(d, step):
    """Find the forces that the joints of each body transmit [N], except loop-closing joints."""
    environment = d.environment
    per_h, gravity = 2.0 / (step.h + environment.step_size), environment.gravity
    for i in range(1, d.body_count):
        body = d.body(i)
        change = sub(d.pose(step.knot3, i).velocity, d.pose(step.knot2, i).velocity)
        body.force = scale(body.mass, sub(scale(per_h, change), gravity))
        body.swing_stiffness = 0.0
    for i in range(1, d.wrench_count):
        body = d.body(i)
        force = knot_wrench(d, i, step.knot2, step.rho)[0]
        body.force = axpy(-1.0 / knot_weight(step.rho), force, body.force)


@phase
def find_swings(d, step):
    """Find how fast bodies swing between joints and springs that pull them.

    The joints' forces are those of a step, at the poses it starts from. They are summed from the
    leaves of the tree, from momenta, gravity, held wrenches, contacts, joints that close loops and
    springs between points.

    Returns:
        Largest stiffness over inertia by which a body swings [1/s^2], an estimate.
        That of the swing which is in the jerks of the bodies [1/s^2], Rayleigh's quotient.
        By how much springs between points add to it as they are stretched [1/s^2].
        Kinetic energy of the jerks [J], see `jerk_of_body`.
    """
    knot, most = step.knot2, d.full(0.0)
    find_forces_on_bodies(d, step)
    subtract_contact_forces_of_step(d)
    work, across = subtract_loop_forces_of_step(d, step), add_springs_of_step(d, step)
    for i in range(d.body_count - 1, 0, -1):
        body, force = d.body(i), d.body(i).force
        inertia = add_swing_stiffness(d, i, knot, force)
        most = maximum(most, body.swing_stiffness * damped_share(d, i, inertia, step.h))
        work = work + work_in_swings(d, i, step, d.pose(knot, i).arm, force)
        if body.parent > 0:
            parent = d.body(body.parent)
            parent.force = add(parent.force, force)
            arm = sub(d.pose(knot, i).anchor, d.pose(knot, body.parent).position)
            work = work - work_in_swings(d, body.parent, step, arm, force)
    jerks = energy_of_jerks(d, step)
    known, twice = d.environment.history > 0.5, 2.0 * where(jerks > 0.0, jerks, 1.0)
    work, across = where(known, work / twice, 0.0), where(known, across / twice, 0.0)
    return most, work, across, jerks
