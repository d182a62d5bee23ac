"""Loop rows in the elimination: assembled, and eliminated where their cycle closes.

With s the dofs and lam the multipliers of the loop rows, the equations of a step are

    H s - B lam = -r,    K s = -g:    D d_b - sum B lam = -r_b at a body, K d_b = -g for its rows.

K (derivative at knot 3) and B (wrench at knot 2) start at the loop's two bodies, the endpoints. A
dof (u, w, pivot, direction N and W, see `vigym.core.tree.ldu`) that is eliminated from a body's
block passes them on

    K <- K - (K N) w / pivot,    B <- B - u (W B) / pivot,    S_rm <- S_rm + (K_r N)(W B_m) / pivot

to the parent, as fill-in rows, up to where both paths join. At its closing body a row is a pivot
like a dof: lam = -(g + K d_b + sum S lam) / S_rr, and D <- D + B K / S_rr. The closing body is the
world ("tail": one dense node at the end of the order [MC 4.3]) or the body where the loop's two
paths join ("local": fill-in stays within the cycle [SIM 4.2]), as the plan has it.

Rows that depend on each other are normal. Every S_rr is shifted by a small part of what it was
before other rows were eliminated, away from zero, and the shift's force is taken back by the
multipliers of the last iteration (proximal point iteration). That part is taken as if dry friction
and motors held no dof: they make S so small that rounding would exceed a part of it. Near singular
poses the shift exceeds what is left of S, and gaps shrink slowly: Newton's method reduces it there.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.loop.constraints import loop_arms, row_direction, row_slope
from vigym.core.loop.velocity_rows import clear_fill_in, write_velocity_rows
from vigym.core.math.vectors import add, axpy, cross, mat_sub_outer, scale
from vigym.core.model.context import loop_end
from vigym.core.tables.plan import (
    CONTACT_ROW,
    COUPLED_ROW,
    ORIENTATION_ROW,
    POSITION_ROW,
    PRESCRIBED_ROW,
    VELOCITY_ROW,
)

DUAL_SHIFT = 1e-10  # of a loop row's own pivot; 1e-6 is too much to pass singular poses
TINY = 1e-290  # pivot of a row that no dof moves
# part of the largest pivot of a loop below which another of its pivots may be rounding
ROUNDED = 1e-13


@inline
def schur_element(d, r, m):
    """Find the element S_rm.

    Rows m <= r from the start of r's profile on lie behind each other, their mirror images in the
    second half.
    """
    if m <= r:
        return d.schur(d.loop_row(r).schur_start + m)
    return d.schur(d.schur_count + d.loop_row(m).schur_start + r)


@inline
def set_endpoint(d, q, sign, arm2, arm3, direction2, direction3):
    """Write K and B of a row at one of its two bodies, from its directions (f, m) there."""
    if q >= 0:
        fill_in = d.fill_in(q)
        f2, m2 = direction2
        f3, m3 = direction3
        fill_in.K_force = scale(sign, f3)
        fill_in.K_torque = scale(sign, add(m3, cross(arm3, f3)))
        fill_in.B_force = scale(sign, f2)
        fill_in.B_torque = scale(sign, add(m2, cross(arm2, f2)))


@inline
def is_inactive_contact_row(d, loop_row):
    """Return whether a loop row is of an inactive contact; no phase works on such a row."""
    if d.contact_row_count == 0 or loop_row.kind != CONTACT_ROW:
        return False
    return not d.contact(loop_row.owner).active.any()


@inline
def all_loop_rows_inactive(d):
    """Return whether all loop rows are of contacts, none of which is active."""
    any_active = d.environment.any_active
    return d.contact_row_count == d.loop_row_count and not any_active.any()


@inline
def start_loop_row_pivot(d, loop_row, knot2, knot3):
    """Set the pivot of a row before elimination, and the shift that regularizes it."""
    loop_row.unreduced_pivot = TINY
    shift = DUAL_SHIFT * d.environment.shift_scale
    loop_row.dual_shift = d.full(0.0) if knot2 == knot3 else shift


@phase(needs="loops")
def assemble_coupling_rows(d, knot2, knot3):
    """Write K and B of couplings, zero on bodies: they act where their dofs are eliminated."""
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if loop_row.kind in (COUPLED_ROW, PRESCRIBED_ROW):
            clear_fill_in(d, loop_row.endpoint_a)
            clear_fill_in(d, loop_row.endpoint_b)
        if loop_row.kind in (COUPLED_ROW, PRESCRIBED_ROW, VELOCITY_ROW):
            element = schur_element(d, r, r)
            element.value = 0.0
            start_loop_row_pivot(d, loop_row, knot2, knot3)


@inline
def clear_schur_elements(d):
    """Clear the elements of S of all active rows."""
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        if not is_inactive_contact_row(d, loop_row):
            for m in range(loop_row.profile_start, r + 1):
                lower, upper = schur_element(d, r, m), schur_element(d, m, r)
                lower.value = 0.0
                upper.value = 0.0


@phase(needs="loops")
def assemble_loop_rows(d, knot2, knot3):
    """Write K and B of all loop rows at their endpoints, and clear S.

    At one knot (knot2 = knot3) S is symmetric, and needs no shift but that against rounding.
    """
    if all_loop_rows_inactive(d):
        return
    clear_schur_elements(d)
    assemble_coupling_rows(d, knot2, knot3)
    write_velocity_rows(d, knot2, knot3)
    for loop in range(d.first_loop, loop_end(d)):
        closure = d.body(loop)
        a2, b2 = loop_arms(d, loop, knot2)
        a3, b3 = loop_arms(d, loop, knot3)
        for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
            loop_row = d.loop_row(r)
            direction2 = row_direction(d, loop, loop_row, knot2)
            direction3 = row_slope(d, loop, loop_row, knot3)
            own = d.full(0.0)
            if loop_row.kind > ORIENTATION_ROW:
                slope = d.dof(loop_row.dof).compliance
                direction3 = (scale(slope, direction3[0]), scale(slope, direction3[1]))
                own = d.full(1.0)
            set_endpoint(d, loop_row.endpoint_b, 1.0, b2, b3, direction2, direction3)
            set_endpoint(d, loop_row.endpoint_a, -1.0, a2, a3, direction2, direction3)
            element = schur_element(d, r, r)
            element.value = own
            start_loop_row_pivot(d, loop_row, knot2, knot3)


@inline
def are_loop_rows_coupled(d, r, m):
    """Return whether the later row m couples with row r."""
    return d.loop_row(m).profile_start <= r


@phase(needs="loops")
def clear_multipliers(d, count):
    """Set multipliers to zero; dependent rows then get the least-norm solution."""
    for r in range(count):
        loop_row = d.loop_row(r)
        loop_row.multiplier = 0.0


@phase(needs="loops")
def accept_multipliers(d, mask):
    """Accept the multipliers in the lanes of the mask; those of finished lanes stay.

    Their pivots stay, too: checks after a step must not depend on neighbours that go on.
    """
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        accepted = where(mask, loop_row.multiplier, loop_row.accepted_multiplier)
        loop_row.accepted_multiplier = accepted
        ratio = loop_row.unreduced_pivot * loop_row.inverse_pivot
        loop_row.accepted_pivot_ratio = where(mask, ratio, loop_row.accepted_pivot_ratio)


@phase(needs="loops")
def save_multipliers(d):
    """Save the accepted multipliers."""
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        loop_row.kept_multiplier = loop_row.accepted_multiplier


@phase(needs="loops")
def restore_multipliers(d, mask):
    """Restore the saved multipliers in the lanes of the mask."""
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        restored = where(mask, loop_row.kept_multiplier, loop_row.accepted_multiplier)
        loop_row.accepted_multiplier = restored


@phase(needs="loops")
def restore_accepted_multipliers(d, mask):
    """Restore accepted multipliers in finished lanes, so that the next solve reproduces them."""
    accept_multipliers(d, mask)
    for r in range(d.loop_row_count):
        loop_row = d.loop_row(r)
        loop_row.multiplier = loop_row.accepted_multiplier


@inline
def eliminate_row_from_later(d, r, per_pivot):
    """Eliminate row r from the rows behind it: S_mn <- S_mn - S_mr S_rn / S_rr.

    S_mr / S_rr is stored in the place of S_mr.
    """
    end = d.loop_row(r).profile_end + 1
    for m in range(r + 1, end):
        if are_loop_rows_coupled(d, r, m) and not is_inactive_contact_row(d, d.loop_row(m)):
            element = schur_element(d, m, r)
            factor = element.value * per_pivot
            element.value = factor
            for n in range(r + 1, end):
                if are_loop_rows_coupled(d, r, n) and not is_inactive_contact_row(d, d.loop_row(n)):
                    target = schur_element(d, m, n)
                    target.value = target.value - factor * schur_element(d, r, n).value


@inline
def eliminate_row_at_body(d, i, r, per_pivot):
    """Eliminate row r at its closing body i: D <- D + B K / S_rr.

    Rows that are propagated further lose their share of K and B.
    """
    body, q = d.body(i), d.loop_row(r).at_closing_body
    own = d.fill_in(q)
    K_f, K_t = own.K_force, own.K_torque
    B_f, B_t = own.B_force, own.B_torque
    for other in range(q + 1, body.first_fill_in + body.fill_in_count):
        fill_in = d.fill_in(other)
        m = fill_in.loop_row
        if are_loop_rows_coupled(d, r, m) and not is_inactive_contact_row(d, d.loop_row(m)):
            factor = schur_element(d, m, r).value
            share = per_pivot * schur_element(d, r, m).value
            fill_in.K_force = axpy(-factor, K_f, fill_in.K_force)
            fill_in.K_torque = axpy(-factor, K_t, fill_in.K_torque)
            fill_in.B_force = axpy(-share, B_f, fill_in.B_force)
            fill_in.B_torque = axpy(-share, B_t, fill_in.B_torque)
    B_f, B_t = scale(-per_pivot, B_f), scale(-per_pivot, B_t)
    body.block_a = mat_sub_outer(body.block_a, B_f, K_f)
    body.block_b = mat_sub_outer(body.block_b, B_f, K_t)
    body.block_c = mat_sub_outer(body.block_c, B_t, K_f)
    body.block_d = mat_sub_outer(body.block_d, B_t, K_t)


@inline
def square_of_gyration_radius(d, i):
    """Compute the square of a body's radius of gyration [m^2], the mean over its axes.

    Of a body without mass it is that of the mechanism's length.
    """
    mass, length = d.body(i).mass, d.environment.length_scale
    xx, yy, zz, _, _, _ = d.body(i).inertia
    square = 0.5 * (xx + yy + zz) / where(mass > 0.0, mass, 1.0)
    return where(mass > 0.0, square, length * length)


@inline
def largest_unreduced_pivot_of_loop(d, loop_row):
    """Find the largest pivot before elimination in the loop of a row, in the row's own unit.

    Rows of positions and of orientations are compared by the radius of gyration of the joint's
    child, others only with rows of their own kind.
    """
    kind, largest = loop_row.kind, absolute(loop_row.unreduced_pivot)
    if kind in (COUPLED_ROW, CONTACT_ROW, PRESCRIBED_ROW, VELOCITY_ROW):
        return largest
    closure = d.body(loop_row.owner)
    for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
        other = d.loop_row(r)
        pivot = absolute(other.unreduced_pivot)
        if other.kind == kind:
            largest = maximum(largest, pivot)
        elif kind == POSITION_ROW and other.kind == ORIENTATION_ROW:
            largest = maximum(largest, pivot * square_of_gyration_radius(d, closure.child))
        elif kind == ORIENTATION_ROW and other.kind == POSITION_ROW:
            largest = maximum(largest, pivot / square_of_gyration_radius(d, closure.child))
    return largest


@inline
def row_pivot_shift(d, loop_row):
    """Compute the shift of a row's pivot, as an absolute value.

    It is a small part of the row's own unreduced pivot, and of the largest of its loop if only
    rounding is left of it.
    """
    own, part = absolute(loop_row.unreduced_pivot), loop_row.dual_shift
    return part * own + ROUNDED * largest_unreduced_pivot_of_loop(d, loop_row)


@phase(needs="loops")
def eliminate_loop_rows(d, i):
    """Eliminate the loop rows whose closing body is body i, or the world (0)."""
    if all_loop_rows_inactive(d):
        return
    body = d.body(i)
    for r in range(body.first_loop_row, body.first_loop_row + body.loop_row_count):
        loop_row = d.loop_row(r)
        if is_inactive_contact_row(d, loop_row):
            continue
        pivot, shift = schur_element(d, r, r).value, row_pivot_shift(d, loop_row)
        shift = where(pivot > 0.0, shift, -shift)
        loop_row.dual_shift = shift
        per_pivot = 1.0 / (pivot + shift)
        loop_row.inverse_pivot = per_pivot
        eliminate_row_from_later(d, r, per_pivot)
        if i > 0:
            eliminate_row_at_body(d, i, r, per_pivot)
