"""A call of the step for a lane group: torques, sub-steps, work; and the entry kernels that Python calls."""

from .advance import advance, part
from .coordinates import coordinate, gather, note_all
from .groups import blend, filled, group
from .jit import entry, phase
from .joint import planned
from .knot import knots, make_present, present
from .lanes import above, any_lane, but_not, copy, from_rows, lane_count, row, to_rows
from .simd import absolute, load, maximum, spread, store, vector_of, where, zero_lanes
from .tables import (
    ACTUATED,
    ACTUATED_FREEDOM,
    ACTUATED_ROW,
    ACTUATOR,
    ACTUATORS,
    APPLIED,
    ASIDE_STATE,
    BUFFERS,
    EFFORT,
    ELIMINATION,
    FREEDOM,
    HAS_DRIVE,
    KNOT_SIZE,
    MOTORS,
    NO_DRIVE,
    PLAN_ACTUATORS,
    PLAN_MOTORS,
    ROTATIONS,
    SPENT_REST,
    STATE_KNOTS,
    STATE_SIZE,
    TARGET,
    TRANSLATIONS,
    WORK_DONE,
    WORK_REST,
    WORK_SPENT,
)  # fmt: skip

OUTCOME = 6  # columns of what a call tells: those of ``Status``, and the mean of sum |force * rate| over its steps [W]


@phase
def apply_torques(t, torques, first, token):
    """Torques of the call [N, N m] to their freedoms, clipped to the effort; returns the lanes that were clipped."""
    clipped = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        p = t.plan[t.plan[PLAN_ACTUATORS] + a * ACTUATOR + ACTUATED_ROW]
        torque = from_rows(torques, first, a, token)
        effort = load(t.model, t.f + row(p, FREEDOM, token) + EFFORT, token)
        beyond = above(absolute(torque), effort)
        torque = where(beyond, where(torque, effort, -effort), torque)
        clipped = maximum(clipped, beyond)
        store(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, torque)
    return clipped


@phase
def apply_targets(t, targets, first, token):
    """Targets of the call to their drives; not a number: the drive idles."""
    for a in range(t.plan[MOTORS]):
        p = t.plan[t.plan[PLAN_MOTORS] + a * ACTUATOR + ACTUATED_ROW]
        store(t.work, t.p + row(p, ELIMINATION, token) + TARGET, from_rows(targets, first, a, token))


@phase
def torque_times_coordinate(t, token):
    """Sum of u s over actuated translations and angles: its change under held torques is their work."""
    total = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        i, j = t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM]
        counted = j < planned(t, i, TRANSLATIONS) or planned(t, i, ROTATIONS) < 3
        if counted and planned(t, i, HAS_DRIVE) == NO_DRIVE:
            p = t.plan[at + ACTUATED_ROW]
            total = total + load(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, token) * coordinate(t, i, j, token)
    return total


@phase
def step_group(t, torques, targets, first, lanes, dt, order, substeps, tolerance, status, token, vectors):
    """One call of the step for a lane group; a lane that fails ends as it was before the call."""
    size, kept = t.plan[STATE_SIZE], t.b + t.plan[ASIDE_STATE] + 2 * t.plan[KNOT_SIZE]
    copy(t.work, kept, t.state, t.s, size)
    clipped = apply_torques(t, torques, first, token)
    apply_targets(t, targets, first, token)
    before = torque_times_coordinate(t, token)
    spent, rest = load(t.state, t.s + WORK_SPENT, token), load(t.state, t.s + SPENT_REST, token)
    alive, o = lanes, spread(0.0, token)
    iterations, residual, halvings = o, o, o
    for stage in range(substeps if order == 2 else 3 * substeps):  # one place that calls: compiled into it once
        alive, n, r, halved, strained = advance(t, part(order, stage) * dt, alive, tolerance, token, vectors)
        iterations, residual, halvings = iterations + n, maximum(residual, r), halvings + halved
        clipped = maximum(clipped, strained)
    failed = but_not(lanes, alive)
    if any_lane(failed):
        restore(t, kept, failed, vectors)
    now = knots(t, 0)
    note_all(t, now, alive, token)
    gather(t, WORK_DONE, WORK_REST, torque_times_coordinate(t, token) - before, alive, token)
    to_rows(status, first, 0, alive)
    to_rows(status, first, 1, iterations)
    to_rows(status, first, 2, residual)
    to_rows(status, first, 3, halvings)
    to_rows(status, first, 4, clipped)
    spent, rest = load(t.state, t.s + WORK_SPENT, token) - spent, load(t.state, t.s + SPENT_REST, token) - rest
    to_rows(status, first, 5, (spent + rest) / (substeps * dt))


@phase
def restore(t, kept, failed, vectors):
    """Put the failed lanes back to the state kept before the call, whichever knot buffer is the present one now."""
    size, start = t.plan[KNOT_SIZE], t.plan[STATE_KNOTS]
    then, now = present(t.work, kept), present(t.state, t.s)
    mask = spread(failed, vectors)
    blend(t.state, t.s, t.work, kept, start, mask, vectors)
    for k in range(BUFFERS):
        target, source = t.k + size * ((now + k) % BUFFERS), kept + start + size * ((then + k) % BUFFERS)
        blend(t.state, target, t.work, source, size, mask, vectors)
    make_present(t, now)


@entry
def step_single(plan, model, state, work, extent, torques, targets, dt, order, substeps, tolerance, status):
    """Step one environment: lanes are bodies where bodies are independent, single floats along the tree."""
    t = group(plan, model, state, work, 0, 0, 0, extent)
    step_group(t, torques, targets, 0, 1.0, dt, order, substeps, tolerance, status, 0.0, zero_lanes())


@entry
def step_lanes(
    plan, model, state, work, extent, torques, targets, dt, order, substeps, tolerance, status, start, stop,
    model_stride, work_start,
):  # fmt: skip
    """Step the lane groups start..stop of a batch: lanes are environments, in the precision of its state."""
    token = vector_of(state)
    for g in range(start, stop):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], work_start, extent)
        first = g * lane_count(token)
        lanes = filled(first, status.shape[0], token)
        step_group(t, torques, targets, first, lanes, dt, order, substeps, tolerance, status, token, token)
