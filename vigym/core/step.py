"""A step of a lane group: sub-steps, halved steps, fourth order by composition, and the entry kernels that Python calls.

With unequal steps every formula holds with rho = h1/h: halved steps and the negative step of the composition need nothing of their own.
"""

from .body import fastest, knots
from .coordinates import coordinate, keep, note_all, note_forced
from .forces import book
from .jit import entry, inline, phase
from .joint import planned
from .newton import attempt, block_count
from .simd import (
    LANES,
    above,
    absolute,
    any_lane,
    both,
    but_not,
    copy,
    from_rows,
    load,
    maximum,
    over_bodies,
    pointer,
    row,
    spread,
    store,
    to_rows,
    where,
    widest,
    with_lane,
    zero_lanes,
)  # fmt: skip
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
    H0,
    H1,
    HISTORY,
    KNOT_SIZE,
    MODEL_BODIES,
    MODEL_FREEDOMS,
    PHASE,
    PLAN_ACTUATORS,
    ROTATIONS,
    STATE_COORDINATES,
    STATE_KNOTS,
    STATE_SIZE,
    SWEPT,
    TIME,
    TRANSLATIONS,
    WORK_DONE,
    WORK_FREEDOMS,
    Tables,
)  # fmt: skip

SMALLEST = 1.0 / 256.0  # halved steps stop at this part of the step
NOTE_AFTER = 2.0  # [rad] swept since turns were counted; a joint's coordinate is safe up to a full turn
GAMMA = 1.3512071919596578  # 1 / (2 - 2^(1/3)): outer steps of the fourth-order composition


@inline
def group(plan, model, state, work, m, s, w):
    """Tables of the lane group whose model, state and work start at m, s, w."""
    return Tables(
        pointer(plan), pointer(model), pointer(state), pointer(work), m + plan[MODEL_BODIES], m + plan[MODEL_FREEDOMS], m, s, s + plan[STATE_COORDINATES], s + plan[STATE_KNOTS], w,
        w + plan[WORK_FREEDOMS],
    )  # fmt: skip


@inline
def buffers(t):
    """Knot buffers (now, next)."""
    return knots(t, 0), knots(t, -1)


@inline
def turn_buffers(t):
    """The next knot buffer becomes the present one."""
    store(t.state, t.s + PHASE, float((int(load(t.state, t.s + PHASE, 0.0)) + 1) % BUFFERS))


@inline
def blend(to, target, source, start, size, mask, vectors):
    """Copy ``size`` elements in the lanes of the mask."""
    for at in range(0, size, LANES):
        store(to, target + at, where(mask, load(source, start + at, vectors), load(to, target + at, vectors)))


@phase
def retry(t, k2, k3, h, failed, tolerance, token, vectors):
    """A damped full-Newton attempt in the failed lanes; the others' new knots are kept aside meanwhile."""
    size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE]
    copy(t.work, aside, t.state, k3, size)
    done, iterations, residual = attempt(t, k2, k3, h, failed, True, tolerance, token, vectors)
    blend(t.state, k3, t.work, aside, size, spread(1.0, vectors) - spread(failed, vectors), vectors)
    return done, iterations, residual


@inline
def keep_last_knot(t, k3, todo, token):
    """Keep the oldest velocities of lanes that rest while others move: knot buffer k3 is about to be overwritten."""
    if any_lane(but_not(spread(1.0, token), todo)):
        size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE] + t.plan[KNOT_SIZE]
        copy(t.work, aside, t.state, k3, size)


@phase
def rest(t, others, idle, vectors):
    """Before the buffers turn, pass on the knots of lanes that did not move: the present one of all, the older ones of idle lanes."""
    size, aside = t.plan[KNOT_SIZE], t.b + t.plan[ASIDE_STATE] + t.plan[KNOT_SIZE]
    blend(t.state, knots(t, -1), t.state, knots(t, 0), size, others, vectors)
    for back in range(BUFFERS - 2):
        blend(t.state, knots(t, back), t.state, knots(t, back + 1), size, idle, vectors)
    blend(t.state, knots(t, BUFFERS - 2), t.work, aside, size, idle, vectors)


@phase
def accept(t, k2, k3, h, done, failed, token, vectors):
    """Knot 3 becomes the present one in the lanes that are done; the others keep theirs; lanes that failed
    start from the velocity alone next time.
    """
    h1, one = load(t.state, t.s + H1, token), spread(1.0, token)
    book(t, k3, h, h1 / h, done, token)
    keep(t, t.s + H0, h1, done, token)
    history = where(absolute(h - h1), 0.0 * one, load(t.state, t.s + HISTORY, token)) + 1.0
    keep(t, t.s + HISTORY, history, done, token)
    keep(t, t.s + HISTORY, 0.0 * one, failed, token)
    keep(t, t.s + H1, h, done, token)
    keep(t, t.s + TIME, load(t.state, t.s + TIME, token) + h, done, token)
    others = but_not(one, done)
    if any_lane(others):
        rest(t, spread(others, vectors), spread(but_not(others, failed), vectors), vectors)
    turn_buffers(t)
    note_forced(t, k3, done, token)
    rate = over_bodies(fastest(t, block_count(t, token), k3, vectors), token)
    swept = load(t.state, t.s + SWEPT, token) + 3.1415926535 * absolute(h) * rate
    keep(t, t.s + SWEPT, swept, done, token)
    if widest(where(done, swept, swept * 0.0)) > NOTE_AFTER:
        note_all(t, k3, spread(1.0, token), token)
        store(t.state, t.s + SWEPT, spread(0.0, token))


@phase
def advance(t, dt, lanes, tolerance, token, vectors):
    """Move the lanes by ``dt``, in halved steps where one does not converge. Returns (lanes that arrived, iterations, residual, halvings)."""
    o = spread(0.0, token)
    h, left = spread(dt, token), where(lanes, spread(dt, token), o)
    iterations, worst, halvings, alive = o, o, o, lanes
    while True:
        todo = both(alive, where(absolute(left), spread(1.0, token), o))
        if not any_lane(todo):
            return alive, iterations, worst, halvings
        k2, k3 = buffers(t)
        keep_last_knot(t, k3, todo, token)
        done, n, residual = attempt(t, k2, k3, h, todo, False, tolerance, token, vectors)
        iterations = iterations + n
        failed = but_not(todo, done)
        if any_lane(failed):
            again, n, second = retry(t, k2, k3, h, failed, tolerance, token, vectors)
            residual = where(failed, second, residual)
            done, failed, iterations = maximum(done, again), but_not(failed, again), iterations + n
        worst = where(done, maximum(worst, residual), worst)
        accept(t, k2, k3, h, done, failed, token, vectors)
        left = left - where(done, h, o)
        h = where(failed, 0.5 * h, h)
        halvings = halvings + failed
        lost = both(failed, above(spread(SMALLEST * absolute(dt), token), absolute(h)))
        alive, worst = but_not(alive, lost), where(lost, residual, worst)


@inline
def composed(t, dt, order, lanes, tolerance, token, vectors):
    """One step of the wanted order: the second-order map, or its composition g, 1 - 2 g, g of fourth order."""
    if order == 2:
        return advance(t, dt, lanes, tolerance, token, vectors)
    a, n1, r1, h1 = advance(t, GAMMA * dt, lanes, tolerance, token, vectors)
    b, n2, r2, h2 = advance(t, (1.0 - 2.0 * GAMMA) * dt, a, tolerance, token, vectors)
    c, n3, r3, h3 = advance(t, GAMMA * dt, b, tolerance, token, vectors)
    return c, n1 + n2 + n3, maximum(r1, maximum(r2, r3)), h1 + h2 + h3


@phase
def apply_torques(t, torques, first, token):
    """Torques of the call [N, N m] to their freedoms, clipped to the effort. Returns the lanes that were clipped."""
    clipped = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        p = t.plan[t.plan[PLAN_ACTUATORS] + a * ACTUATOR + ACTUATED_ROW]
        torque, effort = (
            from_rows(torques, first, a, token),
            load(t.model, t.f + row(p, FREEDOM, token) + EFFORT, token),
        )
        beyond = above(absolute(torque), effort)
        torque = where(beyond, where(torque, effort, -effort), torque)
        clipped = maximum(clipped, beyond)
        store(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, torque)
    return clipped


@phase
def torque_times_coordinate(t, token):
    """Sum of u s over actuated translations and angles: its change under held torques is their work."""
    total = spread(0.0, token)
    for a in range(t.plan[ACTUATORS]):
        at = t.plan[PLAN_ACTUATORS] + a * ACTUATOR
        i, j = t.plan[at + ACTUATED], t.plan[at + ACTUATED_FREEDOM]
        if j < planned(t, i, TRANSLATIONS) or planned(t, i, ROTATIONS) < 3:
            p = t.plan[at + ACTUATED_ROW]
            total = total + load(t.work, t.p + row(p, ELIMINATION, token) + APPLIED, token) * coordinate(t, i, j, token)
    return total


@phase
def step_group(t, torques, first, lanes, dt, order, substeps, tolerance, status, token, vectors):
    """One call of the step for a lane group; a lane that fails ends as it was before the call."""
    size, kept = t.plan[STATE_SIZE], t.b + t.plan[ASIDE_STATE] + 2 * t.plan[KNOT_SIZE]
    copy(t.work, kept, t.state, t.s, size)
    clipped = apply_torques(t, torques, first, token)
    before = torque_times_coordinate(t, token)
    alive, o = lanes, spread(0.0, token)
    iterations, residual, halvings = o, o, o
    for _ in range(substeps):
        alive, n, r, halved = composed(t, dt, order, alive, tolerance, token, vectors)
        iterations, residual, halvings = iterations + n, maximum(residual, r), halvings + halved
    failed = but_not(lanes, alive)
    if any_lane(failed):
        restore(t, kept, failed, token, vectors)
    now = knots(t, 0)
    note_all(t, now, alive, token)
    done = load(t.state, t.s + WORK_DONE, token) + (torque_times_coordinate(t, token) - before)
    keep(t, t.s + WORK_DONE, done, alive, token)
    to_rows(status, first, 0, alive)
    to_rows(status, first, 1, iterations)
    to_rows(status, first, 2, residual)
    to_rows(status, first, 3, halvings)
    to_rows(status, first, 4, clipped)


@phase
def restore(t, kept, failed, token, vectors):
    """Put the failed lanes back to the state kept before the call, whichever knot buffer is the present one now."""
    size, knots = t.plan[KNOT_SIZE], t.plan[STATE_KNOTS]
    then, now = int(load(t.work, kept + PHASE, 0.0)), int(load(t.state, t.s + PHASE, 0.0))
    mask = spread(failed, vectors)
    blend(t.state, t.s, t.work, kept, knots, mask, vectors)
    for k in range(BUFFERS):
        blend(
            t.state,
            t.k + size * ((now + k) % BUFFERS),
            t.work,
            kept + knots + size * ((then + k) % BUFFERS),
            size,
            mask,
            vectors,
        )
    store(t.state, t.s + PHASE, float(now))


@entry
def step_single(plan, model, state, work, torques, dt, order, substeps, tolerance, status):
    """Step one environment: lanes are bodies where bodies are independent, single floats along the tree."""
    t = group(plan, model, state, work, 0, 0, 0)
    step_group(t, torques, 0, 1.0, dt, order, substeps, tolerance, status, 0.0, zero_lanes())


@entry
def step_lanes(
    plan, model, state, work, torques, dt, order, substeps, tolerance, status, start, stop, model_stride, work_start
):
    """Step the lane groups start..stop of a batch: lanes are environments."""
    for g in range(start, stop):
        t = group(plan, model, state, work, g * model_stride, g * plan[STATE_SIZE], work_start)
        lanes = filled(g * LANES, status.shape[0])
        step_group(t, torques, g * LANES, lanes, dt, order, substeps, tolerance, status, zero_lanes(), zero_lanes())


@inline
def filled(first, environments):
    """Lanes of a group that hold an environment."""
    token = zero_lanes()
    mask = token
    for k in range(LANES):
        mask = with_lane(mask, k, 1.0 if first + k < environments else 0.0)
    return mask
