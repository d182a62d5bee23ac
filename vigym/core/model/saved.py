"""Saved copies: states before a call, knots before a second attempt, factors.

Masks are lanes of ``d.wide``: in a single environment all of its lanes are equal.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import lane
from vigym.core.compiler.simd import LANES, load, store, where
from vigym.core.math.vectors import select9
from vigym.core.model.context import knot_buffer, present_knot, set_present_knot
from vigym.core.model.layout import KNOT_BUFFERS
from vigym.core.tables.plan import BALL_PIVOT
from vigym.core.tables.state import ENVIRONMENT_STATE

OLDEST = 1  # slot where the oldest velocities are kept: 0 is that of further attempts
PRESENT_KNOT = ENVIRONMENT_STATE.offset("present_knot") * LANES


@inline
def copy(d, to, target, source, start, size):
    """Copy ``size`` slots, a multiple of LANES, from source[start:] to to[target:]."""
    for at in range(0, size, LANES):
        store(to, target + at, load(source, start + at, d.wide.full(0.0)))


@inline
def blend(d, to, target, source, start, size, mask):
    """Copy ``size`` slots like ``copy``, in the lanes of the mask."""
    like = d.wide.full(0.0)
    for at in range(0, size, LANES):
        kept = load(to, target + at, like)
        store(to, target + at, where(mask, load(source, start + at, like), kept))


@inline
def saved_knot(d, slot):
    """Find the place in the work where a knot buffer is kept: slot 0 or 1."""
    return d.work_bodies + d.kept_state + slot * d.knot_size


@inline
def save_knot(d, knot, slot):
    """Save a knot buffer."""
    copy(d, d.work, saved_knot(d, slot), d.state, knot, d.knot_size)


@inline
def restore_knot(d, knot, slot, mask):
    """Restore the saved knot buffer in the lanes of the mask."""
    blend(d, d.state, knot, d.work, saved_knot(d, slot), d.knot_size, mask)


@inline
def blend_knots(d, target, source, mask):
    """Copy a knot buffer to another one, in the lanes of the mask."""
    blend(d, d.state, target, d.state, source, d.knot_size, mask)


@inline
def copy_oldest_velocities(d, knot3, moving):
    """Copy the oldest velocities where some lanes are idle while others move.

    The step is about to overwrite their knot buffer.
    """
    if not moving.all():
        save_knot(d, knot3, OLDEST)


@phase
def copy_idle_knots(d, others, idle):
    """Copy the knots of lanes that did not move, so that the turn of the buffers changes nothing.

    Of all ``others`` the present knot is copied. Of the ``idle`` lanes, which were not to move, the
    older ones are too.
    """
    blend_knots(d, knot_buffer(d, -1), knot_buffer(d, 0), others)
    for back in range(KNOT_BUFFERS - 2):
        blend_knots(d, knot_buffer(d, back), knot_buffer(d, back + 1), idle)
    restore_knot(d, knot_buffer(d, KNOT_BUFFERS - 2), OLDEST, idle)


@inline
def save_state(d):
    """Save the whole state."""
    copy(d, d.work, saved_knot(d, 2), d.state, d.state_environment, d.state_size)


@phase
def restore_state(d, mask):
    """Restore the saved state in the lanes, whichever knot buffer is the present one now."""
    size = d.knot_size
    kept = saved_knot(d, 2)
    start = d.state_knots - d.state_environment
    then = int(lane(load(d.work, kept + PRESENT_KNOT, d.full(0.0)), 0))
    now = present_knot(d)
    blend(d, d.state, d.state_environment, d.work, kept, start, mask)
    for k in range(KNOT_BUFFERS):
        target = d.state_knots + size * ((now + k) % KNOT_BUFFERS)
        source = kept + start + size * ((then + k) % KNOT_BUFFERS)
        blend(d, d.state, target, d.work, source, size, mask)
    set_present_knot(d, now)


@phase
def save_factors(d):
    """Save the factors that solves read. Called with ``d.wide`` of a batch."""
    start = d.work_dofs
    copy(
        d,
        d.work,
        start + d.factors_size,
        d.work,
        start,
        d.factors_size - (d.work_dofs - d.work_bodies),
    )
    for i in range(1, d.body_count):
        body = d.body(i)
        kept = d.kept_body(i)
        kept.rotational_block = body.rotational_block
        if body.pivot_kind == BALL_PIVOT:
            kept.block_a = body.block_a
            kept.block_b = body.block_b
            kept.block_c = body.block_c
            kept.block_d = body.block_d


@phase
def restore_factors(d, mask):
    """Restore the saved factors in the lanes of the mask."""
    start = d.work_dofs
    size = d.factors_size - (d.work_dofs - d.work_bodies)
    blend(d, d.work, start, d.work, start + d.factors_size, size, mask)
    for i in range(1, d.body_count):
        body = d.body(i)
        kept = d.kept_body(i)
        body.rotational_block = select9(mask, kept.rotational_block, body.rotational_block)
        if body.pivot_kind == BALL_PIVOT:
            body.block_a = select9(mask, kept.block_a, body.block_a)
            body.block_b = select9(mask, kept.block_b, body.block_b)
            body.block_c = select9(mask, kept.block_c, body.block_c)
            body.block_d = select9(mask, kept.block_d, body.block_d)
