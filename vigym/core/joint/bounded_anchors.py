"""Proximal anchors of motors, limits and dry friction: where they move to while Newton iterates."""

from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.lanes import max_over_body_lanes, select_by_precision
from vigym.core.compiler.packs import lanes_of_rows
from vigym.core.compiler.simd import LANES, absolute, where
from vigym.core.joint.bounded_forces import (
    count_bounded_hinges,
    holding_scale,
    joint_has_bounded_forces,
    run_of_hinges,
)
from vigym.core.joint.bounded_laws import step_proximal
from vigym.core.math.vectors import select3

# [m or rad], in double and single precision: by which the proximal term may let a step go past a
# limit, or let slip what holds a rate
MAX_YIELD = 5e-9, 1e-6


@phase
def move_anchors_to_bounded_forces(d, mask):
    """Move the proximal anchors of the bounded forces to the present forces, where the mask is set.

    The force of a dof is unique, so that the anchor does not decide which one is found.
    """
    for r in range(d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                dof = d.dof(body.first_dof + j)
                dof.anchor_forces = select3(mask, dof.forces, dof.anchor_forces)


@inline
def find_creeping_lanes(d, force, anchor, slope, softness, h, mask):
    """Find the lanes of the mask in which a holding force lets its dof yield too far."""
    holds = 2.0 * softness * slope * h > 1.0
    allowed = select_by_precision(MAX_YIELD, force)
    too_far = absolute(h * softness * (force - anchor)) > allowed
    return mask & holds & too_far


@inline
def let_friction_slip_at_limit(dof, creeping):
    """Hold a dof by its limit alone where dry friction holds it as well, in the creeping lanes.

    They disagree about its rate, and take force from each other: friction goes to its bound at
    once, and the limit takes the difference.
    """
    f, f0 = dof.forces, dof.anchor_forces
    slopes = dof.force_slopes
    more, less = f[1] - f0[1], f[2] - f0[2]
    held = (slopes[1] > 0.0) & (slopes[2] > 0.0)
    apart = held & (more * less < 0.0)
    slipping = where(less > 0.0, dof.friction, -dof.friction)
    taken = where(creeping & apart, slipping - f[2], 0.0)
    dof.forces = f[0], f[1] - taken, f[2] + taken


@inline
def reanchor_dof(d, body, dof, h, mask):
    """Move the proximal anchors of a dof to its forces where it yields too far; returns where."""
    f = dof.forces
    prox = step_proximal(f[0])
    softness = prox / holding_scale(body, dof, 1.0 / h, prox)
    f0 = dof.anchor_forces
    k = dof.force_slopes
    motor = find_creeping_lanes(d, f[0], f0[0], k[0], softness, h, mask)
    limit = find_creeping_lanes(d, f[1], f0[1], k[1], softness, h, mask)
    friction = find_creeping_lanes(d, f[2], f0[2], k[2], softness, h, mask)
    relaxation = dof.relaxation
    limit = limit & ~(relaxation > 0.0)  # the interior point needs no anchor of limits
    if body.has_limit > 0 and body.has_friction > 0:
        let_friction_slip_at_limit(dof, (limit | friction) & ~(relaxation > 0.0))
        f = dof.forces
    dof.anchor_forces = (
        where(motor, f[0], f0[0]),
        where(limit, f[1], f0[1]),
        where(friction, f[2], f0[2]),
    )
    return motor | limit | friction


@phase(needs="packs", otherwise=no_lanes)
def reanchor_hinges_in_runs(d, h, mask):
    """Move the anchors of hinges that are alike, see ``reanchor_bounded_forces``."""
    w = d.wide
    wide_h, wide_mask = w.full(h), w.full(mask)
    reanchored = w.full(False)
    for first in range(0, count_bounded_hinges(d), LANES):
        hinges = run_of_hinges(d, first)
        body = w.body(hinges)
        moved = reanchor_dof(w, body, w.dof(body.first_dof), wide_h, wide_mask)
        reanchored = reanchored | lanes_of_rows(hinges, moved) & moved
    return max_over_body_lanes(reanchored, mask)


@phase
def reanchor_bounded_forces(d, h, mask):
    """Move the proximal anchors to the present forces where a dof yields too far.

    Returns:
        Lanes of the mask in which that is so.
    """
    reanchored = reanchor_hinges_in_runs(d, h, mask)
    for r in range(d.first_lone_joint, d.active_joint_count):
        body = d.body(d.active_joint(r).body)
        if joint_has_bounded_forces(body):
            for j in range(body.translation_count + body.rotation_count):
                moved = reanchor_dof(d, body, d.dof(body.first_dof + j), h, mask)
                reanchored = reanchored | moved
    return reanchored
