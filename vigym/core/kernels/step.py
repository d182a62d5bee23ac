"""Step kernel: a call of the step for lane groups, with torques, targets, sub-steps and work."""

from typing import Any, NamedTuple

from vigym.core.compiler.kernel import entry, phase
from vigym.core.compiler.lanes import read_column, write_column
from vigym.core.compiler.rows import group_data
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.joint.coordinates import compensated_add, store_all_coordinates, stored_coordinate
from vigym.core.kernels.compositions import stage_count, stage_fraction
from vigym.core.loop.constraints import update_loop_anchors
from vigym.core.loop.motions import read_motions
from vigym.core.model.context import knot_buffer, occupied_lanes
from vigym.core.model.saved import restore_state, save_state
from vigym.core.solver.advance import advance
from vigym.core.tables.plan import HEADER, NO_MOTOR

# columns of the status: those of ``StepResult``, and the mean of sum |force * rate| over a call [W]
STATUS_COLUMNS = 6
STATE_SIZE = HEADER.offset("state_size")


class Call(NamedTuple):
    """Arguments of a call of the step.

    Attributes:
        torques: (environments, actuators) [N, N m].
        targets: (environments, motors); not a number where a motor is idle. Behind them values and
            rates of prescribed motions at the ends of all sub-steps.
        dt: size of a sub-step [s].
        order: of the method, see ``kernels.compositions``.
        substeps: number of sub-steps.
        tolerance: largest scaled residual of a step.
        budget: largest number of iterations of a sub-step.
        status: (environments, STATUS_COLUMNS), written: whether it arrived, iterations, residual,
            halvings, saturated ones, power.
    """

    torques: Any
    targets: Any
    dt: float
    order: int
    substeps: int
    tolerance: float
    budget: int
    status: Any


@phase
def apply_torques(d, torques, first):
    """Apply torques [N, N m], clipped to the effort; returns the lanes that were clipped."""
    clipped = d.full(False)
    for a in range(d.actuator_count):
        dof = d.dof(d.actuator(a).dof)
        effort = dof.effort
        torque = read_column(torques, first, a, effort)
        beyond = absolute(torque) > effort
        torque = where(beyond, where(torque > 0.0, effort, -effort), torque)
        clipped = clipped | beyond
        dof.applied_torque = torque
    return clipped


@phase
def apply_targets(d, targets, first):
    """Apply the targets of motors; a motor without a number is idle."""
    o = d.full(0.0)
    for a in range(d.motor_count):
        dof = d.dof(d.motor(a).dof)
        dof.target = read_column(targets, first, a, o)


@phase
def sum_torque_coordinate_products(d):
    """Sum torque times coordinate over driven dofs: its change is the work of constant torques."""
    total = d.full(0.0)
    for a in range(d.actuator_count):
        actuator = d.actuator(a)
        i, j = actuator.body, actuator.joint_dof
        body = d.body(i)
        has_coordinate = j < body.translation_count or body.rotation_count < 3
        if has_coordinate and body.motor_kind == NO_MOTOR:
            total = total + d.dof(actuator.dof).applied_torque * stored_coordinate(d, i, j)
    return total


@phase
def step_group(d, call, first, lanes):
    """Make one call of the step for a lane group; a lane that fails ends as it was before."""
    save_state(d)
    environment = d.environment
    saturated = apply_torques(d, call.torques, first)
    apply_targets(d, call.targets, first)
    before = sum_torque_coordinate_products(d)
    absolute_work, remainder = environment.absolute_work, environment.absolute_work_remainder
    alive, iterations = lanes, d.full(0.0)
    residual, halvings = d.full(0.0), d.full(0.0)
    # one place that calls: compiled into it once
    stages = stage_count(call.order)
    for stage in range(call.substeps * stages):
        if d.interrupted > 0:  # the caller restores the state
            break
        dt = stage_fraction(call.order, stage % stages) * call.dt
        read_motions(d, call.targets, first, stage)
        alive, count, largest, halved, full = advance(d, dt, alive, call.tolerance, call.budget)
        iterations = iterations + count
        residual = maximum(residual, largest)
        halvings = halvings + halved
        saturated = saturated | full
    failed = lanes & ~alive
    if failed.any():
        restore_state(d, d.wide.full(failed))
    if d.loop_row_count == 0:  # Newton follows the anchors of loops for the sake of their rows
        update_loop_anchors(d, knot_buffer(d, 0))
    store_all_coordinates(d, knot_buffer(d, 0), alive)
    work = sum_torque_coordinate_products(d) - before
    total, rest = compensated_add(environment.work, environment.work_remainder, work, alive)
    environment.work = total
    environment.work_remainder = rest
    absolute_work = environment.absolute_work - absolute_work
    remainder = environment.absolute_work_remainder - remainder
    power = (absolute_work + remainder) / (call.substeps * call.dt)
    write_column(call.status, first, 0, where(alive, 1.0, 0.0))
    write_column(call.status, first, 1, iterations)
    write_column(call.status, first, 2, residual)
    write_column(call.status, first, 3, halvings)
    write_column(call.status, first, 4, where(saturated, 1.0, 0.0))
    write_column(call.status, first, 5, power)


@entry
def step(
    plan,
    model,
    state,
    work,
    features,
    batch,
    torques,
    targets,
    dt,
    order,
    substeps,
    tolerance,
    budget,
    status,
    start,
    stop,
    model_stride,
    work_start,
):
    """Step the lane groups start..stop, in the precision of their state.

    In one environment lanes are bodies where bodies are independent, and single floats along the
    tree; in a batch lanes are environments.
    """
    call = Call(torques, targets, dt, order, substeps, tolerance, budget, status)
    for g in range(start, stop):
        state_start = g * plan[STATE_SIZE]
        d = group_data(
            plan, model, state, work, g * model_stride, state_start, work_start, features, batch
        )
        first = g * d.lane_count
        step_group(d, call, first, occupied_lanes(d, first, status.shape[0]))
