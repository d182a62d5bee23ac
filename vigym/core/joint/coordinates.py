"""Coordinates of joints and their rates, read from poses without trigonometry.

A translation is stored as its value; an angle as (cosine, sine): of half the angle for a single
rotation, whose turns are then counted in pairs, of the angle itself for the universal joint; three
free rotations as the relative quaternion (the cosine of the first dof holds w, the sines x, y, z).
Full turns are counted.
"""

import math

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import arctan2, select_by_precision
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.joint.geometry import (
    anchor_separation,
    relative_orientation,
    stored_quaternion,
    translation_axis,
)
from vigym.core.math.quaternions import (
    conjugate,
    quaternion_product,
    rotation_matrix,
    vector_part,
)
from vigym.core.math.turns import angle_rate
from vigym.core.math.vectors import cross, dot, element, mat_t_vec
from vigym.core.model.context import joint_row, point_spring_end, slide_row

GRID = 1.5 * 2.0**-23  # of a sum: rounds what it lost so that double precision holds both
# [rad] swept since turns were counted; a joint's coordinate is safe up to a full turn
STORE_AFTER = 2.0
NO_TURN = 1e-150, 1e-18  # size of a quaternion's vector below which its square may vanish


@inline
def translation_coordinate(d, i, j, knot):
    """Compute the coordinate of free translation j [m]; of a slide it was written with its row."""
    if d.slide_count > 0 and i >= point_spring_end(d):
        return d.track_pose(knot, i).gaps[0]
    return dot(translation_axis(d, i, j, knot), anchor_separation(d, i, knot))


@inline
def joint_angle_cosine_sine(d, i, j, orientation):
    """Compute (cosine, sine) of rotation j in a relative orientation e.

    Of the universal joint e = exp(angle1 a) exp(angle2 b), with a and b perpendicular.
    """
    body, e = d.body(i), orientation
    v = vector_part(e)
    b = body.child_axis
    if body.rotation_count == 1:
        return e[0], dot(b, v)
    a = mat_t_vec(rotation_matrix(body.joint_orientation), body.parent_axis)
    p = dot(a, v)
    q = dot(b, v)
    r = dot(cross(a, b), v)
    if j == 0:
        return e[0] * e[0] + q * q - (p * p + r * r), 2.0 * (e[0] * p + q * r)
    return e[0] * e[0] + p * p - (q * q + r * r), 2.0 * (e[0] * q + p * r)


@inline
def compensated_add(total, remainder, amount, mask):
    """Add an amount to a sum in the lanes of the mask, and return the sum and its remainder.

    Single precision keeps rounding errors in the remainder: thousands of steps add up.
    """
    compensated = select_by_precision((False, True), total)
    if compensated:
        amount = amount + remainder
    after = total + amount
    if compensated:
        gained = after - total
        lost = (total - (after - gained)) + (amount - gained)
        grid = GRID * after
        remainder = where(mask, (lost + grid) - grid, remainder)
    return where(mask, after, total), remainder


@inline
def store_angle_and_turns(dof, cosine, sine, mask):
    """Store an angle, and count the turn when it crosses the cut of the arctangent."""
    before_c, before_s = dof.cosine, dof.sine
    forward = before_c * sine - before_s * cosine
    was_above = (before_s > 0.0) | ~(before_s < 0.0)
    is_above = (sine > 0.0) | ~(sine < 0.0)
    up = (forward > 0.0) & (sine < 0.0) & was_above
    down = (forward < 0.0) & is_above & (before_s < 0.0)
    turns = dof.turns
    dof.turns = where(mask, turns + (where(up, 1.0, 0.0) - where(down, 1.0, 0.0)), turns)
    dof.cosine = where(mask, cosine, before_c)
    dof.sine = where(mask, sine, before_s)


@inline
def store_coordinates(d, i, knot, mask):
    """Store the coordinates of joint i at a knot, in the lanes of the mask."""
    body = d.body(i)
    free = body.rotation_count
    first_rotation = body.first_dof + body.translation_count
    for j in range(body.translation_count):
        dof = d.dof(body.first_dof + j)
        dof.sine = where(mask, translation_coordinate(d, i, j, knot), dof.sine)
    if free > 0:
        e = relative_orientation(d, i, knot)
        if free == 3:
            store_quaternion(d, first_rotation, e, mask)
        else:
            for j in range(free):
                cosine, sine = joint_angle_cosine_sine(d, i, j, e)
                store_angle_and_turns(d.dof(first_rotation + j), cosine, sine, mask)


@inline
def store_quaternion(d, p, quaternion, mask):
    """Store the relative quaternion of three free rotations, dof p the first of them."""
    w, x, y, z = quaternion
    first = d.dof(p)
    second = d.dof(p + 1)
    third = d.dof(p + 2)
    first.cosine = where(mask, w, first.cosine)
    first.sine = where(mask, x, first.sine)
    second.sine = where(mask, y, second.sine)
    third.sine = where(mask, z, third.sine)


@phase
def store_all_coordinates(d, knot, mask):
    """Store the coordinates of every joint, in the lanes of the mask."""
    for joint in range(1, d.joint_count):
        store_coordinates(d, joint_row(d, joint), knot, mask)
    for k in range(d.slide_count):
        store_coordinates(d, slide_row(d, k), knot, mask)


@inline
def count_turns(d, knot3, h, done, rate):
    """Count full turns of all joints where bodies may have turned far since it was done last.

    ``rate`` is the largest angular speed of each lane [rad/s], which is stored.
    """
    environment = d.environment
    # a step that turns a body by less than 3 rad does so by less than 1.05 h rate
    swept = environment.swept + 2.1 * absolute(h) * rate
    environment.swept = where(done, swept, environment.swept)
    environment.angular_speed = where(done, rate, environment.angular_speed)
    due = done & (swept > STORE_AFTER)
    if due.any():
        store_all_coordinates(d, knot3, due)
        environment.swept = where(due, 0.0, environment.swept)


@phase
def store_force_coordinates(d, knot, mask):
    """Store the coordinates that the next step's springs, dampers and armatures need."""
    for joint in range(1, d.joint_count):
        i = joint_row(d, joint)
        if d.body(i).has_forces > 0:
            store_coordinates(d, i, knot, mask)
    for k in range(d.slide_count):
        store_coordinates(d, slide_row(d, k), knot, mask)


@inline
def rotation_vector_component(sine, quaternion):
    """Compute the component of the rotation vector [rad] for component ``sine`` of a quaternion."""
    w, x, y, z = quaternion
    size = sqrt(x * x + y * y + z * z)
    s = where(w > 0.0, 2.0, -2.0)  # q and -q: the shorter way round
    tiny = select_by_precision(NO_TURN, sine)
    angle = arctan2(size, s * 0.5 * w)
    return s * sine * where(size > tiny, angle / maximum(size, tiny), 1.0)


@inline
def stored_coordinate(d, i, j):
    """Compute the stored coordinate of dof j of joint i.

    It is a displacement [m], an angle with its full turns [rad], or a component of the rotation
    vector [rad].
    """
    body = d.body(i)
    dof = d.dof(body.first_dof + j)
    sine = dof.sine
    if j < body.translation_count:
        return sine
    if body.rotation_count == 3:
        stored = stored_quaternion(d, body.first_dof + body.translation_count)
        return rotation_vector_component(sine, stored)
    half = arctan2(sine, dof.cosine) + 2.0 * math.pi * dof.turns
    return half * (3.0 - body.rotation_count)


@inline
def half_angle_change_sine_cosine(d, i, j, dof, orientation):
    """Compute (sine, cosine) of half the change of an angle since the stored knot."""
    before_c, before_s = dof.cosine, dof.sine
    cosine, sine = joint_angle_cosine_sine(d, i, j, orientation)
    s = sine * before_c - cosine * before_s
    c = cosine * before_c + sine * before_s
    if d.body(i).rotation_count == 1:
        return s, c
    c = sqrt(0.5 * (1.0 + c))
    return 0.5 * s / c, c


@inline
def dof_rate_over_step(d, i, j, knot3, h):
    """Compute the rate of dof j over the step from the stored knot to buffer ``knot3``.

    Returns:
        Rate, its slope, momentum rate, its slope.
    """
    body = d.body(i)
    translations = body.translation_count
    p = body.first_dof + j
    per_h = 1.0 / h
    if j < translations:
        rate = per_h * (translation_coordinate(d, i, j, knot3) - d.dof(p).sine)
        return rate, per_h, rate, per_h
    e = relative_orientation(d, i, knot3)
    if body.rotation_count == 3:
        stored = stored_quaternion(d, body.first_dof + translations)
        change = quaternion_product(conjugate(stored), e)
        slope = 3.0 * per_h / (2.0 + change[0])
        rate = 2.0 * slope * element(vector_part(change), j - translations)
        return rate, slope, rate, slope
    s, c = half_angle_change_sine_cosine(d, i, j - translations, d.dof(p), e)
    return angle_rate(s, c, per_h)


@inline
def coordinate_change(d, i, j, rate, slope, h):
    """Compute the change of a coordinate over the step [m, rad].

    The tangent t of a quarter of an angle's change is a root of t^2 r - 2 t + 3 r = 0 with
    r = h rate / 6; beyond t^2 = 3 the rate falls.
    """
    if j < d.body(i).translation_count:
        return h * rate
    triple = 0.5 * h * rate
    root = sqrt(maximum(1.0 - triple * triple / 3.0, 0.0))
    return 4.0 * arctan2(triple, 1.0 + where(h * slope > 0.0, root, -root))


@inline
def has_own_coordinate(d, i, j):
    """Return whether dof j of joint i has a coordinate; three rotations share a quaternion."""
    body = d.body(i)
    return j < body.translation_count or body.rotation_count < 3
