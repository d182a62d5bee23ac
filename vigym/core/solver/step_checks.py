"""Checks of a solved step: those whose energy would be wrong are halved.

Where contacts work otherwise than their laws say, the step was too long for the places where bodies
touch.

The equations of a large step have several roots. At those that do not continue the motion before,
bodies turn abruptly. Smooth motion never does so, but for stiff springs, which turn bodies back and
forth at every step. Impacts do, but they do not add kinetic energy.
"""

from vigym.core.body.pose import inertia_matrix, max_angular_speed_change
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import above, any_lane, both, but_not, max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.contact.kinematics import touching_velocity
from vigym.core.joint.coordinates import dof_rate_over_step
from vigym.core.math.vectors import add, dot, mat_vec
from vigym.core.model.context import joint_row, slide_row
from vigym.core.model.fields import SKATE
from vigym.core.solver.accounting import contact_power

SMALLEST = 1.0 / 256.0  # halved steps stop at this part of the step
SMALLEST_INEXACT = 1.0 / 16.0  # and at this one where the work of contacts stays inexact
ABRUPT_TURN = 0.12  # [rad] change of a body's rotation from step to step that smooth motion has not
HALF_TURN = 1.0  # [rad] such a change with impacts: bodies turn by 2 in a step at most
GAIN = 0.1  # gain of kinetic energy that is too large, in parts of the energy before
LEAST_GAIN = 1e-3  # gain that is too large in any case, in force times length scales
INEXACT_SHARE = 0.1  # error of the work of contacts in a step, in parts of that work
INEXACT_WORK = 1e-3  # error of the work of contacts in a step, in force times length scales


@inline
def find_lanes_with_springs(d):
    """Find the lanes in which a joint, or a spring between points, has a stiffness.

    Potentials may have any: with them all lanes are found.
    """
    stiffness = d.full(1.0 if d.potential_count > 0 else 0.0)
    for p in range(d.dof_count):
        stiffness = maximum(stiffness, d.dof(p).stiffness)
    return above(stiffness, d.full(0.0))


@inline
def find_lanes_that_rebound(d):
    """Find the lanes in which a contact rebounds: the energy of its fall comes back."""
    velocity = d.full(0.0)
    for c in range(d.contact_count):
        velocity = maximum(velocity, d.contact(c).rebound_velocity)
    return above(velocity, d.full(0.0))


@inline
def kinetic_energy(d, knot):
    """Compute the kinetic energy of bodies in the step that led to a knot [J]."""
    energy = d.full(0.0)
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        v, w = pose.velocity, pose.angular_velocity
        turning = dot(w, mat_vec(inertia_matrix(body), w))
        energy = energy + 0.5 * (body.mass * dot(v, v) + turning)
    return energy


@inline
def largest_power(d, i, step):
    """Bound the power of torques and motors of joint i in a step [W]."""
    power, body = d.full(0.0), d.body(i)
    for j in range(body.translation_count + body.rotation_count):
        dof = d.dof(body.first_dof + j)
        rate, _, _, _ = dof_rate_over_step(d, i, j, step.knot3, step.h)
        motor, _, _ = dof.converged_forces
        force = absolute(motor) + absolute(dof.applied_torque)
        power = power + force * absolute(rate)
    return power


@inline
def largest_work(d, step):
    """Bound the work of gravity, torques and motors between the middles of two steps [J]."""
    work, g = d.full(0.0), d.environment.gravity
    h = absolute(step.h) * (0.5 + 0.5 * step.rho)
    for i in range(1, d.body_count):
        v = add(d.pose(step.knot2, i).velocity, d.pose(step.knot3, i).velocity)
        work = work + 0.5 * d.body(i).mass * absolute(dot(g, v))
    for joint in range(1, d.joint_count):
        work = work + largest_power(d, joint_row(d, joint), step)
    for k in range(d.slide_count):
        work = work + largest_power(d, slide_row(d, k), step)
    return h * work


@inline
def find_lanes_that_gain(d, step):
    """Find the lanes in which kinetic energy appears that no force explains.

    What is imposed from outside may do any work: with it no lane is found.
    """
    if d.wrench_count + d.motion_count + d.potential_count > 0:
        return d.full(0.0)
    before = kinetic_energy(d, step.knot2)
    gain = kinetic_energy(d, step.knot3) - before
    scale = d.environment.force_scale * d.environment.length_scale
    allowed = GAIN * before + LEAST_GAIN * scale + largest_work(d, step)
    return but_not(above(gain, allowed), find_lanes_that_rebound(d))


@phase
def find_lanes_of_other_roots(d, step, nonsmooth):
    """Find the lanes in which a step leads to another root.

    Smooth lanes without springs in which a body turns abruptly; nonsmooth ones in which one turns
    by a radian more than in the step before, or in which kinetic energy appears besides.
    """
    change = max_angular_speed_change(d.wide, step.knot2, step.knot3)
    turn = absolute(step.h) * max_over_body_lanes(change, step.h)
    abrupt = above(turn, d.full(ABRUPT_TURN))
    abrupt = but_not(abrupt, find_lanes_with_springs(d))
    impact = maximum(above(turn, d.full(HALF_TURN)), find_lanes_that_gain(d, step))
    return where(nonsmooth, both(abrupt, impact), abrupt)


@inline
def reject_other_roots(d, step, part, rate, solved):
    """Let lanes fail that another root was found in, unless their step is tiny already.

    ``rate`` is the largest angular speed after the step [rad/s]. Returns (lanes that are done,
    lanes that failed).
    """
    done, failed = solved.done, solved.failed
    suspects = both(done, above(part, d.full(SMALLEST)))
    suspects = both(suspects, above(absolute(step.h) * rate, d.full(0.5 * ABRUPT_TURN)))
    if any_lane(suspects):
        others = both(suspects, find_lanes_of_other_roots(d, step, solved.nonsmooth))
        done, failed = but_not(done, others), maximum(failed, others)
    return done, failed


@phase(needs="contacts", otherwise=zero)
def find_lanes_of_inexact_work(d, knot2, knot3, h):
    """Find the lanes in which contacts work otherwise than their laws say.

    The force of a step acts where bodies touch at its start, and its law holds where they touch at
    its end. Where that place runs far, as on the rim of a disc that settles, the force does other
    work: it may even give energy, which contacts never do.
    """
    error, size = d.full(0.0), d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            _, velocity, _ = touching_velocity(d, contact, knot2, knot3)
            power = dot(contact.converged_world_force, velocity)
            error = error + absolute(power - contact.converged_power)
            size = size + absolute(contact_power(d, contact, knot2, knot3))
    environment = d.environment
    weight = 0.5 + 0.5 * environment.step_size / h
    scale = environment.force_scale * environment.length_scale
    allowed = INEXACT_WORK * scale / (weight * h) + INEXACT_SHARE * size
    return above(error, allowed)


@inline
def reject_inexact_work(d, step, part, done, failed):
    """Let lanes fail in which the work of contacts is inexact, unless their step is short already.

    Returns (lanes that are done, lanes that failed).
    """
    if d.contact_count > 0:
        inexact = find_lanes_of_inexact_work(d, step.knot2, step.knot3, step.h)
        inexact = both(both(done, inexact), above(part, d.full(SMALLEST_INEXACT)))
        return but_not(done, inexact), maximum(failed, inexact)
    return done, failed
