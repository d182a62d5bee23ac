"""Rates at which bodies swing between the joints that pull them.

A light body between heavy ones swings as a string does, the faster the harder it is pulled. Steps
as long as the reciprocal of half that rate or longer let such a swing grow from step to step, as
the method of Stormer and Verlet does [Hairer, Lubich, Wanner 2006, I.5.2].
"""

from vigym.core.body.pose import inertia_matrix
from vigym.core.body.wrenches import last_wrench
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.math.vectors import add, axpy, dot, mat_t_vec, mat_vec, scale, sub
from vigym.core.model.context import knot_buffer


@inline
def swing_stiffness(d, i, knot, force, arm):
    """Compute the stiffness over inertia by which a force [N] resists that body i swings [1/s^2].

    Args:
        d: the mechanism's data.
        i: row of the body.
        knot: knot buffer.
        force: on the body, of a direction that stays [world].
        arm: from its centre of mass to where the force acts [m, world].
    """
    inertia, square = inertia_matrix(d.body(i)), dot(arm, arm)
    own, o = mat_t_vec(d.pose(knot, i).rotation, arm), 0.0 * square
    length = where(square, square, 1.0 + o)
    along = dot(own, mat_vec(inertia, own)) / length
    trace = inertia[0] + inertia[4] + inertia[8]
    return where(square, 2.0 * dot(force, arm) / (trace - along), o)


@phase
def largest_swing_stiffness(d):
    """Find the largest stiffness over inertia by which a body swings between its joints [1/s^2].

    The joints' forces are those where the last step began. They are summed from the leaves of the
    tree, from momenta, gravity and held wrenches. Those of joints that close loops are left out.
    """
    environment, most = d.environment, d.full(0.0)
    knot2, knot3 = knot_buffer(d, 1), knot_buffer(d, 0)
    h = 0.5 * (environment.step_size + environment.previous_step_size)
    per_h, gravity = 1.0 / where(absolute(h), h, most + 1.0), environment.gravity
    for i in range(1, d.body_count):
        body = d.body(i)
        change = sub(d.pose(knot3, i).velocity, d.pose(knot2, i).velocity)
        acceleration = scale(per_h, change)
        body.force = scale(body.mass, sub(acceleration, gravity))
        body.mass_term = 0.0 * most
    for i in range(1, d.wrench_count):
        body = d.body(i)
        body.force = sub(body.force, last_wrench(d.wrench(i), d.pose(knot2, i))[0])
    for i in range(d.body_count - 1, 0, -1):
        body, pose = d.body(i), d.pose(knot2, i)
        force, p = body.force, body.parent
        stiffness = body.mass_term + swing_stiffness(d, i, knot2, force, pose.arm)
        most = maximum(most, stiffness)
        if p > 0:
            parent = d.body(p)
            arm = sub(pose.anchor, d.pose(knot2, p).position)
            against = swing_stiffness(d, p, knot2, scale(-1.0, force), arm)
            parent.force = add(parent.force, force)
            parent.mass_term = parent.mass_term + against
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
