"""Velocities at a knot, through the discrete Legendre transform.

The momentum of the knot seen from the left, plus constraint impulses, is that of a velocity that
satisfies the velocity constraints. One factorisation, that of a step with inertias in place of its
blocks.
"""

from vigym.core.body.blocks import set_own_block
from vigym.core.body.correction import free_fall_acceleration
from vigym.core.body.pose import inertia_matrix
from vigym.core.body.potentials import add_potential_impulses
from vigym.core.body.wrenches import add_wrench_impulses
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, sqrt, where
from vigym.core.contact.assembly import (
    add_contact_forces,
    add_contact_stiffness,
    assemble_contact_rows,
    linearize_contacts_projection,
)
from vigym.core.contact.at_knot import start_contacts_at_knot
from vigym.core.contact.update import step_contact_forces, update_contacts_projection
from vigym.core.joint.ball_spring import write_tree_ball_increments
from vigym.core.joint.bounded_forces import step_bounded_forces, update_bounded_forces
from vigym.core.joint.bounded_laws import KNOT_PROXIMAL
from vigym.core.joint.forces import (
    assemble_constant_loads,
    assemble_left_knot_loads,
    start_bounded_forces,
)
from vigym.core.loop.constraints import (
    loop_rate_residuals,
    update_loop_axis_and_motion,
    write_closing_increments,
    write_point_spring_knot_loads,
)
from vigym.core.loop.couplings import coupling_rate_residuals
from vigym.core.loop.elimination import (
    assemble_loop_rows,
    clear_multipliers,
    restore_accepted_multipliers,
)
from vigym.core.loop.motions import motion_rate_residuals
from vigym.core.loop.tracks import start_tracks
from vigym.core.math.turns import step_momentum
from vigym.core.math.vectors import (
    add,
    cross,
    mat_vec,
    matmul,
    matmul_t,
    scale,
    select3,
    select4,
    sub,
    zero3,
)
from vigym.core.solver.residual import PROX
from vigym.core.tree.ldu import factorise, solve_to_leaves, solve_to_root, sum_joint_closures

# choices between open, stick and slip at a knot: two or three mostly settle it, and after
# WHOLE_STEPS of them increments are halved
SWEEPS, WHOLE_STEPS = 30, 6
# Parts of the weight's impulse: forces at a knot may be off their laws by that, as in a step; and
# forces that are farther off tell less than none, which miss half of that impulse.
KNOT_TOLERANCE, UNSETTLED = 1e-10, 0.1


@phase
def write_negative_momenta(d, knot2, h1):
    """Write minus the momentum of each body, about its anchor: rows of the Legendre transform.

    Seen from the left of knot 2: p = m (v1 + h1/2 g), and R2 l1, see `vigym.core.math.turns`.
    """
    gravity = d.environment.gravity
    for block in range(d.block_count):
        body, pose = d.body(block), d.pose(knot2, block)
        w1 = pose.angular_velocity
        Jw = mat_vec(inertia_matrix(body), w1)
        p = scale(body.mass, add(pose.velocity, scale(0.5 * h1, gravity)))
        angular = mat_vec(pose.rotation, step_momentum(Jw, w1, pose.cosine, -0.5 * h1))
        body.force = scale(-1.0, p)
        body.torque = sub(cross(pose.arm, p), angular)


@phase
def write_anchored_inertias(d, knot2):
    """Write the inertia of each body about its anchor, in place of a step's blocks."""
    for block in range(d.block_count):
        body, pose = d.body(block), d.pose(knot2, block)
        rotation, arm = pose.rotation, pose.arm
        J = matmul(rotation, matmul_t(inertia_matrix(body), rotation))
        set_own_block(d, body, body.mass, J, arm, arm)


@inline
def assemble_knot_forces(d, h1):
    """Assemble the loads on the joints, and linearize contacts at no motion."""
    assemble_left_knot_loads(d, h1)
    write_point_spring_knot_loads(d, h1)
    if d.contact_count > 0:
        linearize_contacts_projection(d, d.full(1.0), PROX, False)


@inline
def factorise_at_knot(d, knot):
    """Factorise inertias in place of a step's blocks."""
    one = d.full(1.0)
    write_anchored_inertias(d.wide, knot)
    if d.contact_count > 0:
        add_contact_stiffness(d, one, one)
    if d.loop_row_count > 0:
        assemble_loop_rows(d, knot, knot)
        assemble_contact_rows(d, one, one)
    factorise(d, knot, knot)


@inline
def solve_knot_motion(d, knot, h1, first, active):
    """Solve for the velocities of all bodies that have the momentum at the end of the last step.

    Regularized loop rows leave an error, which the next solve corrects. The ``first`` solve is made
    twice.
    """
    has_loops = d.loop_row_count > 0
    for again in range(2 if first and has_loops else 1):
        if has_loops and (again > 0 or not first):
            restore_accepted_multipliers(d, active)
        write_negative_momenta(d.wide, knot, d.wide.full(h1))
        add_wrench_impulses(d, knot, h1)
        add_potential_impulses(d, knot, h1)
        if d.contact_count > 0:
            add_contact_forces(d, d.full(1.0))
        if has_loops:
            zero_motion(d)
            loop_rate_residuals(d, knot)
            coupling_rate_residuals(d, knot)
            motion_rate_residuals(d, knot)
        solve_to_root(d, knot)
        solve_to_leaves(d, knot)


@inline
def start_knot_solve(d, knot, h1, touching):
    """Assemble the constant terms for the forces at a knot, and their first guess."""
    half = 0.5 * h1
    assemble_constant_loads(d, d.full(0.0), half)
    sum_joint_closures(d, knot)
    start_tracks(d, knot, d.full(True))
    clear_multipliers(d, d.loop_row_count)
    if d.has_bounded_forces > 0:
        start_bounded_forces(d, half)
        start_bounded_branches(d)
    if d.contact_count > 0:
        start_contacts_at_knot(d, knot, half, touching)


@phase
def solve_knot_velocities(d, knot, touching):
    """Solve for each body's anchor velocity and angular velocity [world] at a knot.

    They are written as ``delta_position`` and ``delta_rotation``. Contacts that touch, limits,
    motors and dry friction give the left half of their impulses, by the same laws as in a step.
    Contacts are left out in lanes that are not ``touching``.

    Returns the lanes in which these forces did not converge: they keep their velocities.
    """
    h1 = d.environment.step_size
    o, one = d.full(0.0), d.full(1.0)
    start_knot_solve(d, knot, h1, touching)
    has_laws = d.has_bounded_forces + d.contact_count > 0
    # a start has no step: the impulse of falling as deep as the mechanism is large
    fall = sqrt(d.environment.length_scale / free_fall_acceleration(d))
    goal = KNOT_TOLERANCE * d.environment.force_scale * where(h1 > 0.0, h1, fall)
    active, law_error = d.full(True), o
    for sweep in range(SWEEPS if has_laws else 1):
        assemble_knot_forces(d, h1)
        factorise_at_knot(d, knot)
        solve_knot_motion(d, knot, h1, sweep == 0, active)
        if has_laws:
            write_tree_ball_increments(d, knot)
            write_closing_increments(d, knot, 0.0)
            of_joints, _, _ = update_bounded_forces(d, 0.5 * h1, one, KNOT_PROXIMAL, False)
            of_contacts, _ = update_contacts_projection(d, one, PROX)
            law_error = maximum(of_joints, of_contacts)
            active = active & (law_error > goal)
            if not active.any():
                break
            length = one if sweep < WHOLE_STEPS else 0.5 * one
            # of the other lanes nothing changes: their next solve gives the same once more
            step_bounded_forces(d, length, active)
            step_contact_forces(d, length, active)
    unsettled = law_error > UNSETTLED / KNOT_TOLERANCE * goal
    if unsettled.any():
        fall_back_to_step_velocity(d, knot, unsettled)
    update_loop_axis_and_motion(d, knot)
    return unsettled


@phase
def fall_back_to_step_velocity(d, knot, mask):
    """Take the velocities of the last step in lanes whose forces at the knot did not converge.

    No force acts at the knot then.
    """
    o = d.full(0.0)
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        omega = mat_vec(pose.rotation, pose.angular_velocity)
        v = add(pose.velocity, cross(omega, pose.arm))
        body.delta_position = select3(mask, v, body.delta_position)
        body.delta_rotation = select3(mask, omega, body.delta_rotation)
    for p in range(d.dof_count if d.has_bounded_forces > 0 else 0):
        dof = d.dof(p)
        dof.affine_forces = select3(mask, zero3(d), dof.affine_forces)
    for c in range(d.contact_count):
        contact = d.contact(c)
        contact.affine_force = select4(mask, (o, o, o, o), contact.affine_force)


@phase
def start_bounded_branches(d):
    """Select branches of bounded forces by the rates of the last step at first."""
    for p in range(d.dof_count):
        dof = d.dof(p)
        dof.increment_seen = dof.last_rate


@phase
def zero_motion(d):
    """Set the motion of all bodies to zero."""
    for i in range(d.body_count):
        body = d.body(i)
        body.delta_position = zero3(d)
        body.delta_rotation = zero3(d)
