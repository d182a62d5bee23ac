"""Angles of ball joints that have limits: coordinates of a scalar, each with a row of its own.

With e = (w, v) the relative quaternion, a and b the joint's axis fixed in parent and child, p the
part of v along it and r the rest, they are

    swing: 2 atan2(|r|, |(w, p)|),    it changes along (a x b) / |a x b|,
    twist: 2 atan2(p, w),             along (a + b) / (1 + a . b),
    turn:  2 atan2(|v|, w),           along v / |v|.

The swing is the angle between a and b, the turn that of the whole rotation. An angle that passes
half a turn within a step goes on: it would else look like one on the other side, within limits.
"""

from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.lanes import arctan2
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.joint.geometry import relative_orientation
from vigym.core.math.quaternions import vector_part
from vigym.core.math.vectors import add, axpy, cross, dot, mat_vec, scale, sub
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import SWING, TWIST

TURNING = 0.1  # [rad] of a direction in a step above which its work is checked
LEAST_OPEN = 1e-6  # 1 + a . b, below which a twist is not defined and has no force


@inline
def reciprocal_or_zero(x):
    """Compute 1 / x, and zero for zero, where an angle has no direction."""
    defined = absolute(x) > 0.0
    return where(defined, 1.0 / where(defined, x, 1.0), 0.0)


@inline
def swing_angle(d, body, before, now, a, b):
    """Compute the angle from axis a to axis b, and the direction along which it changes [world]."""
    p2, p = dot(body.child_axis, vector_part(before)), dot(body.child_axis, vector_part(now))
    r = axpy(-p, body.child_axis, vector_part(now))
    sine, cosine = sqrt(dot(r, r)), sqrt(now[0] * now[0] + p * p)
    cosine = where(before[0] * now[0] + p2 * p < 0.0, -cosine, cosine)
    return 2.0 * arctan2(sine, cosine), scale(reciprocal_or_zero(2.0 * sine * cosine), cross(a, b))


@inline
def write_ball_angle(d, slide, knot):
    """Write coordinate and direction of an angle of a ball joint at a knot."""
    i = slide.loop
    body = d.body(i)
    before = relative_orientation(d, i, knot_buffer(d, 0))
    now = relative_orientation(d, i, knot)
    turned = d.pose(knot, body.child).rotation
    a = mat_vec(d.pose(knot, body.parent).rotation, body.parent_axis)
    b = mat_vec(turned, body.child_axis)
    v = vector_part(now)
    onward = before[0] * now[0] + dot(vector_part(before), v)
    sign = where(before[0] * onward < 0.0, -1.0, 1.0)  # q and -q: on from the shorter way
    w, v = sign * now[0], scale(sign, v)
    if slide.parameter == SWING:
        angle, m = swing_angle(d, body, before, now, a, b)
    elif slide.parameter == TWIST:
        open_part = maximum(1.0 + dot(a, b), LEAST_OPEN)
        angle, m = 2.0 * arctan2(dot(body.child_axis, v), w), scale(1.0 / open_part, add(a, b))
    else:
        sine = sqrt(dot(v, v))
        angle, m = 2.0 * arctan2(sine, w), scale(reciprocal_or_zero(sine), mat_vec(turned, v))
    pose, o = d.track_pose(knot, i), d.full(0.0)
    pose.row_0 = (o, o, o, m[0], m[1], m[2])
    pose.gaps = (angle, o, o, o)


@phase(needs="tracks", otherwise=no_lanes)
def find_lanes_of_turning_limits(d, step):
    """Find the lanes in which a limit of an angle acts along a direction that turns on the way.

    Its impulse has the direction at the step's beginning, and may thus give energy.
    """
    found = d.full(False)
    for k in range(d.slide_count):
        slide = d.slide(k)
        if slide.track < 0:
            near, end = d.track_pose(step.knot2, slide.loop), d.track_pose(step.knot3, slide.loop)
            turned = sub(end.row_0[3:], near.row_0[3:])
            force = absolute(d.dof(d.body(slide.loop).first_dof).converged_forces[1])
            found = found | (force > 0.0) & (dot(turned, turned) > TURNING * TURNING)
    return found
