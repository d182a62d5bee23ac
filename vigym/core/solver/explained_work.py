"""Work that explains a gain of kinetic energy between the middles of two steps.

Kinetic energy is read from the velocities of both steps, in the middle of each. The energy returned
by springs follows from their discrete potentials, except across an impact: half of a spring's
impulse belongs to the step before. Armatures return the energy that they stored. The work of other
forces is bounded by its absolute value.

The work of motors, which act at the knot, is also known roughly. Dampers, friction, limits and
contacts that do not rebound only take energy. They may seem to give some only while motors brake,
as both act at one instant. A motor that would drive a foot into the ground absorbs the work of its
contact.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import inertia_matrix, mean_rotation_rate
from vigym.core.body.potentials import evaluate_potential
from vigym.core.body.wrenches import knot_wrench
from vigym.core.compiler.kernel import inline, phase, two_zeros
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.ball_spring import mean_rotation_terms
from vigym.core.joint.bounded_forces import joint_has_bounded_forces
from vigym.core.joint.coordinates import coordinate_change, dof_rate_over_step, has_own_coordinate
from vigym.core.joint.damping import squared_resolution, work_of_vibration_damping
from vigym.core.joint.forces import spring_stretch
from vigym.core.loop.constraints import point_spring_tension
from vigym.core.loop.motions import motion_work
from vigym.core.math.vectors import add, dot, element, mat_t_vec, mat_vec, scale, sub
from vigym.core.model.context import (
    first_point_spring,
    joint_row,
    knot_weight,
    point_spring_end,
    slide_row,
)
from vigym.core.tables.plan import SKATE


class Work(NamedTuple):
    """Work of joints; lane values.

    Attributes:
        stored: energy that springs and armatures gave back [J], negative if they stored it.
        most: bound of the power of motors and torques, whatever its sign [W].
        driving: power of motors that drive, and bound of the power of torques [W].
        taken: power that motors take, less the power that limits and dry friction give [W].
    """

    stored: Any
    most: Any
    driving: Any
    taken: Any


@inline
def add_work(a, b):
    """Add the work of two parts."""
    return Work(a.stored + b.stored, a.most + b.most, a.driving + b.driving, a.taken + b.taken)


class EnergyChange(NamedTuple):
    """Change of kinetic energy from the middle of a step to that of the next; lane values [J].

    Attributes:
        before: kinetic energy in the step before.
        after: kinetic energy in this step.
        about_base: energy of motion relative to the anchor of the first body in this step. A common
            fall is left out, as it shows no error.
        gain: how much kinetic energy rises.
        rise: how much it rises beyond the work of forces.
        explained: bound of the work that explains a gain.
        scale: energy of a force scale along a length scale.
    """

    before: Any
    after: Any
    about_base: Any
    gain: Any
    rise: Any
    explained: Any
    scale: Any


@inline
def kinetic_energy(d, knot, base):
    """Compute the kinetic energy of bodies in the step that led to a knot [J].

    Returns (this energy, energy of motion relative to a velocity ``base``).
    """
    energy, relative = d.full(0.0), d.full(0.0)
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        v, w = pose.velocity, mean_rotation_rate(pose)
        own = sub(v, base)
        turning = dot(w, mat_vec(inertia_matrix(body), w))
        energy = energy + 0.5 * (body.mass * dot(v, v) + turning)
        relative = relative + 0.5 * (body.mass * dot(own, own) + turning)
    return energy, relative


@inline
def spring_work(force, stiffness):
    """Compute force^2 / stiffness [J], zero without a spring."""
    own = where(stiffness > 0.0, stiffness, 1.0)
    return where(stiffness > 0.0, force * force / own, 0.0)


@inline
def energy_seen_by_shorter_step(dof, step):
    """Compute the energy of a vibration that a shorter step resolves and the last one did not [J].

    A spring k on a mass m has (1 + x) times as much energy at knots as in the middle of a step,
    x = h^2 k / (4 m).
    """
    x = squared_resolution(dof, step.h)
    more = maximum((step.rho * step.rho - 1.0) * x / (1.0 + x), 0.0)
    moving = dof.effective_mass * dof.last_rate * dof.last_rate
    return 0.5 * more * (spring_work(dof.last_spring_force, dof.stiffness) + moving)


@inline
def energy_given_back(dof, stretch, rate, step):
    """Compute the energy that a spring gave back since the middle of the last step [J].

    It is negative if stored, and includes the energy that the damper of vibrations gave back.
    ``stretch`` is taken in the middle of this step, ``rate`` over the step [m or rad, per s].
    """
    stored = spring_work(dof.last_spring_force, dof.stiffness)
    returned = 0.5 * (stored - dof.stiffness * stretch * stretch)
    returned = returned + work_of_vibration_damping(dof, rate, step.h, step.rho)
    return returned + energy_seen_by_shorter_step(dof, step)


@inline
def energy_of_armature_given_back(dof, rate):
    """Compute the energy that an armature released since the last step [J]."""
    return 0.5 * dof.armature * (dof.last_rate * dof.last_rate - rate * rate)


@inline
def work_along_dof(body, dof, rate):
    """Find the work of armature, motor, limit and dry friction, or torque, along a dof.

    ``rate`` is taken over this step [m/s or rad/s].
    """
    o, stored = 0.0 * rate, energy_of_armature_given_back(dof, rate)
    torque = maximum(absolute(dof.applied_torque), absolute(dof.last_torque))
    most = torque * absolute(rate)
    driving, taken = most, o
    if joint_has_bounded_forces(body):
        mean = 0.5 * (rate + dof.last_rate)
        motor, limit, friction = dof.converged_forces
        if body.motor_kind > 0:  # its torque is part of the motor's command
            most = most + absolute(motor * rate)
            driving, taken = maximum(motor * mean, 0.0), maximum(-motor * mean, 0.0)
        taken = taken - maximum(limit * mean, 0.0) - maximum(friction * mean, 0.0)
    return Work(stored, most, driving, taken)


@inline
def work_in_joint(d, i, step):
    """Find the work in joint i since the middle of the last step."""
    o, body = d.full(0.0), d.body(i)
    work = Work(o, o, o, o)
    for j in range(body.translation_count + body.rotation_count):
        dof = d.dof(body.first_dof + j)
        rate, slope, _, _ = dof_rate_over_step(d, i, j, step.knot3, step.h)
        work = add_work(work, work_along_dof(body, dof, rate))
        if body.has_spring > 0 and has_own_coordinate(d, i, j):
            change = coordinate_change(d, i, j, rate, slope, step.h)
            stored = energy_given_back(dof, spring_stretch(dof, change), rate, step)
            work = add_work(work, Work(stored, o, o, o))
    if body.has_spring > 0 and body.rotation_count == 3:
        phi, _, _, _ = mean_rotation_terms(d, i, step.knot3)
        for j in range(3):
            dof = d.dof(body.first_dof + body.translation_count + j)
            rate, _, _, _ = dof_rate_over_step(d, i, body.translation_count + j, step.knot3, step.h)
            stored = energy_given_back(dof, element(phi, j), rate, step)
            work = add_work(work, Work(stored, o, o, o))
    return work


@inline
def work_in_joints(d, step):
    """Find the work in all joints since the middle of the last step."""
    o = d.full(0.0)
    work = Work(o, o, o, o)
    for joint in range(1, d.joint_count):
        work = add_work(work, work_in_joint(d, joint_row(d, joint), step))
    for k in range(d.slide_count):
        work = add_work(work, work_in_joint(d, slide_row(d, k), step))
    if d.loop_count > 0:
        for loop in range(first_point_spring(d), point_spring_end(d)):
            _, l3, l2 = point_spring_tension(d, loop, step.knot3)
            dof = d.dof(d.body(loop).first_dof)
            stretch, rate = 0.5 * (l2 + l3) - dof.rest, (l3 - l2) / step.h
            stored = energy_given_back(dof, stretch, rate, step)
            work = add_work(work, Work(stored, o, o, o))
    return work


@inline
def gravity_powers(d, step):
    """Compute the power of gravity at the mean of the velocities of two steps, and its bound [W].

    Returns (power, sum of the absolute powers of all bodies).
    """
    power, bound = d.full(0.0), d.full(0.0)
    g = d.environment.gravity
    for i in range(1, d.body_count):
        v = add(d.pose(step.knot2, i).velocity, d.pose(step.knot3, i).velocity)
        own = 0.5 * d.body(i).mass * dot(g, v)
        power, bound = power + own, bound + absolute(own)
    return power, bound


@inline
def spring_energy_at_knot(d, step):
    """Compute the energy of springs, and of the motion that they drive, at the last knot [J].

    The energy of vibrations that the last step did not resolve is larger than in its middle.
    """
    energy, last = d.full(0.0), step.rho * step.h
    for p in range(d.dof_count):
        dof = d.dof(p)
        x, stored = squared_resolution(dof, last), spring_work(dof.last_spring_force, dof.stiffness)
        moving = dof.effective_mass * dof.last_rate * dof.last_rate
        energy = energy + 0.5 * ((1.0 + x) * stored + x * moving)
    return energy


@phase(needs="contacts", otherwise=two_zeros)
def power_of_contacts(d, step):
    """Find the power that contacts with rebounds give, and the power that others give [W]."""
    rebounds, given = d.full(0.0), d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            power = maximum(-contact.power, 0.0)
            rebounds = rebounds + where(contact.rebound_velocity > 0.0, power, 0.0)
            given = given + where(contact.rebound_velocity > 0.0, 0.0, power)
    return rebounds, given


@inline
def power_on_body(d, i, step, force, torque):
    """Compute the power of a force [world] and a torque [body] on body i, and its bound [W].

    Both are taken at the mean of the velocities of two steps.
    """
    pose2, pose3 = d.pose(step.knot2, i), d.pose(step.knot3, i)
    moving = 0.5 * dot(force, add(pose2.velocity, pose3.velocity))
    turning = 0.5 * dot(torque, add(mean_rotation_rate(pose2), mean_rotation_rate(pose3)))
    return moving + turning, absolute(moving) + absolute(turning)


@phase(needs="imposed", otherwise=two_zeros)
def imposed_work(d, step):
    """Compute the work of held wrenches, potentials and prescribed motions, and its bound [J].

    The work of prescribed motions is taken for its bound.
    """
    power, bound = d.full(0.0), d.full(0.0)
    for i in range(1, d.wrench_count):
        force, torque = knot_wrench(d, i, step.knot2, step.rho)
        own, most = power_on_body(d, i, step, force, torque)
        power, bound = power + own, bound + most
    for n in range(d.potential_count):
        potential = d.potential(n)
        i = potential.body
        _, force, torque = evaluate_potential(d, potential, step.knot2)
        weight = knot_weight(step.rho)
        own = mat_t_vec(d.pose(step.knot2, i).rotation, torque)
        own, most = power_on_body(d, i, step, scale(weight, force), scale(weight, own))
        power, bound = power + own, bound + most
    _, by_motions = motion_work(d, step.knot2, step.knot3, step.h)
    return step.h * power + by_motions, absolute(step.h) * bound + by_motions


@inline
def work_of_joints_and_contacts(d, step):
    """Compute the work of joints and contacts that explains a gain, and its bound [J]."""
    work = work_in_joints(d, step)
    rebounds, given = power_of_contacts(d, step)
    taken = maximum(work.taken - given, 0.0)
    known = work.stored + mean_size(step) * (work.driving + rebounds - taken)
    return known, work.stored + mean_size(step) * (work.most + rebounds)


@inline
def mean_size(step):
    """Compute the mean of the sizes of two steps [s]."""
    return absolute(step.h * knot_weight(step.rho))


@inline
def work_of_forces(d, step):
    """Compute the work that explains a gain of kinetic energy, and its bound [J].

    The work of gravity, held wrenches and potentials is known, the work of motors roughly. The
    bound sums absolute values.
    """
    work, bound = work_of_joints_and_contacts(d, step)
    gravity, most = gravity_powers(d, step)
    work, bound = work + mean_size(step) * gravity, bound + mean_size(step) * most
    if d.wrench_count + d.motion_count + d.potential_count > 0:
        own, most = imposed_work(d, step)
        work, bound = work + own, bound + most
    return work, bound


@phase
def measure_energy_change(d, step):
    """Measure the change of kinetic energy, and the part of it that forces explain."""
    start, end = d.pose(step.knot2, 1), d.pose(step.knot3, 1)
    base = scale(1.0 / step.h, sub(end.anchor, start.anchor))
    before, _ = kinetic_energy(d, step.knot2, base)
    after, about_base = kinetic_energy(d, step.knot3, base)
    work, bound = work_of_forces(d, step)
    gain, size = after - before, d.environment.force_scale * d.environment.length_scale
    return EnergyChange(before, after, about_base, gain, gain - work, bound, size)
