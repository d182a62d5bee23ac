"""Start kernels: from given velocities, or from a push, to velocities that all constraints allow.

The momenta that bodies have at the knot are projected on joints, loops, velocity constraints,
skates, wheels, contacts that touch and limits that are reached, as in an inelastic impact. Contacts
with restitution rebound at once, by Newton's law, and give no more energy than contacts take. The
first step and the energy balance start from these velocities.
"""

from vigym.core.compiler.kernel import entry, inline, phase
from vigym.core.compiler.lanes import read_column
from vigym.core.compiler.simd import sqrt, where
from vigym.core.contact.at_knot import work_of_contacts_at_knot
from vigym.core.contact.kinematics import touching_velocity
from vigym.core.contact.rebounds import (
    REBOUND_GAIN,
    RESTING,
    find_lanes_that_rebound,
    scale_rebounds,
)
from vigym.core.kernels.groups import data_of_group, group_count
from vigym.core.kernels.knot_velocity import solve_knot_velocities
from vigym.core.kernels.reset import start_closing_rates
from vigym.core.loop.couplings import dof_rate_from_velocities
from vigym.core.math.vectors import add, cross, dot, mat_t_vec, sub
from vigym.core.model.context import joint_row, knot_buffer, occupied_lanes
from vigym.core.model.saved import restore_state, save_state
from vigym.core.tables.plan import SKATE

PROJECTIONS = 3  # each leaves an error in proportion to the proximal part of the laws
REBOUND_TRIALS = 8  # of rebounds, which are halved while contacts would give energy


@phase
def store_start_velocities(d, knot):
    """Store the solved velocities as the initial ones of the next step."""
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        omega = body.delta_rotation
        pose.velocity = sub(body.delta_position, cross(omega, pose.arm))
        pose.angular_velocity = mat_t_vec(pose.rotation, omega)
        pose.cosine = 1.0
    for joint in range(1, d.joint_count):
        i = joint_row(d, joint)
        body = d.body(i)
        for j in range(body.translation_count + body.rotation_count):
            dof, rate = d.dof(body.first_dof + j), dof_rate_from_velocities(d, i, j, knot)
            dof.last_momentum_rate = rate
            dof.last_rate = rate
    start_closing_rates(d, knot)


@phase(needs="contacts")
def set_rebounds(d, knot, h):
    """Set the rebounds of contacts that have an impulse, and approached faster than in free fall.

    That fall lasts for `RESTING` steps of size ``h`` [s].
    """
    g = d.environment.gravity
    slow = RESTING * h * sqrt(dot(g, g))
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            approach, _, _ = touching_velocity(d, contact, knot, knot)
            lands = contact.active & (contact.affine_force[0] > 0.0)
            lands = lands & (-approach > slow)
            contact.rebound_velocity = where(lands, -approach * contact.restitution, 0.0)


@phase
def restart(d, knot, changes, sums, first):
    """Start anew at a knot, with changes of velocities [m/s, world]; time goes on.

    ``sums`` are the dissipated energy and the work up to the knot, with its half step [J].
    """
    o, environment = d.full(0.0), d.environment
    for i in range(1, d.body_count):
        pose, column = d.pose(knot, i), 3 * (i - 1)
        change = (
            read_column(changes, first, column, o),
            read_column(changes, first, column + 1, o),
            read_column(changes, first, column + 2, o),
        )
        pose.velocity = add(pose.velocity, change)
    environment.step_size = 0.0
    environment.previous_step_size = 0.0
    environment.history = 0.0
    environment.rebound_energy = 0.0
    environment.dissipated = read_column(sums, first, 0, o)
    environment.work = read_column(sums, first, 1, o)
    environment.dissipated_remainder = 0.0
    environment.work_remainder = 0.0


@phase
def start_group(d, lanes, h, changes, sums, first):
    """Start some lanes; if ``sums`` has columns, they start anew at the present knot.

    Contacts rebound with the largest share, 1 or 1/2 or 1/4 ..., at which they give no energy.
    """
    save_state(d)
    knot, limit = knot_buffer(d, 0), d.full(0.0)
    restarts, left = sums.shape[1] > 0, PROJECTIONS
    trials = REBOUND_TRIALS if d.contact_count > 0 else 0
    approaching = d.contact_count > 0  # contacts approach with what the other constraints allow
    while left > 0:
        # a single call: it is compiled once
        unsettled = solve_knot_velocities(d, knot, d.full(restarts or not approaching))
        if restarts or approaching:
            store_start_velocities(d, knot)
            if restarts:
                restart(d, knot, changes, sums, first)
            else:
                approaching = False
            restarts = False
            continue
        if trials == REBOUND_TRIALS:
            limit = -REBOUND_GAIN * work_of_contacts_at_knot(d, knot)
            set_rebounds(d, knot, h)
            gains = find_lanes_that_rebound(d)
        else:
            gains = unsettled | (work_of_contacts_at_knot(d, knot) > limit)
            scale_rebounds(d, gains, 0.5 if trials > 1 else 0.0)
        trials -= 1
        if trials < 0 or not gains.any():
            trials = -1
            store_start_velocities(d, knot)
            left -= 1
    scale_rebounds(d, d.full(True), 0.0)
    keep_other_lanes(d, lanes)


@inline
def keep_other_lanes(d, lanes):
    """Restore the lanes that are not to start."""
    others = ~lanes
    if others.any():
        restore_state(d, d.wide.full(others))


@inline
def read_lanes(d, mask, first):
    """Read the lanes of environments whose mask (environments, 1) is 1."""
    selected = read_column(mask, first, 0, d.full(0.0))
    return (selected > 0.0) & occupied_lanes(d, first, mask.shape[0])


@entry
def start(plan, model, state, work, features, batch, mask, timestep, changes, sums, model_stride):
    """Start the environments whose mask (environments, 1) is 1.

    ``timestep`` is the size of the steps that follow [s], ``changes`` (environments, 3 bodies) are
    the changes of velocities by a push [m/s], in the order of rows. Before a push ``sums``
    (environments, 2) hold the energy dissipated so far and the work [J]; after a reset they have no
    columns.
    """
    for g in range(group_count(batch, mask.shape[0])):
        d = data_of_group(plan, model, state, work, g, model_stride, features, batch)
        first = g * d.lane_count
        lanes = read_lanes(d, mask, first)
        if lanes.any():
            start_group(d, lanes, timestep, changes, sums, first)
