"""Rates at which bodies swing between the joints that pull them.

A light body between heavy ones swings as a string does, the faster the harder it is pulled. Where
its rate times the step is above two, such a swing grows from step to step, as in the method of
Störmer and Verlet [Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006].
"""

from vigym.core.body.pose import inertia_matrix
from vigym.core.body.wrenches import last_wrench
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.loop.constraints import subtract_loop_forces
from vigym.core.math.vectors import add, axpy, dot, mat_t_vec, mat_vec, scale, sub
from vigym.core.model.context import knot_buffer


@inline
def inertia_across(d, i, knot, arm):
    """Compute the mean inertia of body i about axes across an arm [world], and the arm's square.

    Returns (inertia [kg m^2], square [m^2]).
    """
    inertia, square = inertia_matrix(d.body(i)), dot(arm, arm)
    own = mat_t_vec(d.pose(knot, i).rotation, arm)
    along = dot(own, mat_vec(inertia, own)) / where(square, square, 1.0 + 0.0 * square)
    return 0.5 * (inertia[0] + inertia[4] + inertia[8] - along), square


@inline
def add_swing_stiffness(d, i, knot, force):
    """Add by how much the force of joint i [N, world] resists swings of both of its bodies [1/s^2].

    A body that swings about its centre of mass takes along the joint, and what the other body
    weighs there. The force is that on body i.
    """
    body, pose = d.body(i), d.pose(knot, i)
    p = body.parent
    own, square = inertia_across(d, i, knot, pose.arm)
    mobility = 1.0 / body.mass
    if p > 0:
        parent = d.body(p)
        arm = sub(pose.anchor, d.pose(knot, p).position)
        other, other_square = inertia_across(d, p, knot, arm)
        mobility = mobility + 1.0 / parent.mass
        inertia = other + other_square / (mobility + square / own)
        parent.mass_term = parent.mass_term - dot(force, arm) / inertia
        mobility = mobility + other_square / other
    body.mass_term = body.mass_term + dot(force, pose.arm) / (own + square / mobility)


@phase
def largest_swing_stiffness(d):
    """Find the largest stiffness over inertia by which a body swings between its joints [1/s^2].

    The joints' forces are those of the last step, on the present poses. They are summed from the
    leaves of the tree, from momenta, gravity, held wrenches and joints that close loops.
    """
    environment, most = d.environment, d.full(0.0)
    knot, before = knot_buffer(d, 0), knot_buffer(d, 1)
    h = 0.5 * (environment.step_size + environment.previous_step_size)
    per_h, gravity = 1.0 / where(absolute(h), h, most + 1.0), environment.gravity
    for i in range(1, d.body_count):
        body = d.body(i)
        change = sub(d.pose(knot, i).velocity, d.pose(before, i).velocity)
        body.force = scale(body.mass, sub(scale(per_h, change), gravity))
        body.mass_term = 0.0 * most
    for i in range(1, d.wrench_count):
        body = d.body(i)
        body.force = sub(body.force, last_wrench(d.wrench(i), d.pose(knot, i))[0])
    if d.loop_row_count > 0:
        subtract_loop_forces(d, knot)
    for i in range(d.body_count - 1, 0, -1):
        body, force = d.body(i), d.body(i).force
        add_swing_stiffness(d, i, knot, force)
        most = maximum(most, body.mass_term)
        if body.parent > 0:
            parent = d.body(body.parent)
            parent.force = add(parent.force, force)
    return most


@inline
def energy_of_jerks(d, step, knot1):
    """Compute the kinetic energy of half the second difference of velocities over three steps [J].

    ``knot1`` is the knot before that at which the step starts.
    """
    energy, minus_two = d.full(0.0), d.full(-2.0)
    for i in range(1, d.body_count):
        body, pose1 = d.body(i), d.pose(knot1, i)
        pose2, pose3 = d.pose(step.knot2, i), d.pose(step.knot3, i)
        v = axpy(minus_two, pose2.velocity, add(pose1.velocity, pose3.velocity))
        w = add(pose1.angular_velocity, pose3.angular_velocity)
        w = axpy(minus_two, pose2.angular_velocity, w)
        turning = dot(w, mat_vec(inertia_matrix(body), w))
        energy = energy + 0.125 * (body.mass * dot(v, v) + turning)
    return energy
