"""Data of a lane group: ranges of rows, lanes in use, knot buffers that take turns.

One environment is one group whose lanes are bodies; a batch is as many groups of LANES environments
as it takes.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import lane, with_lane
from vigym.core.model.layout import KNOT_BUFFERS


@inline
def occupied_lanes(d, first, environments):
    """Find the lanes of a group that hold an environment; ``first`` is in its first lane."""
    mask = d.full(False)
    for k in range(d.lane_count):
        mask = with_lane(mask, k, first + k < environments)
    return mask


@inline
def loop_end(d):
    """Find the row behind the last loop."""
    return d.first_loop + d.loop_count


@inline
def first_point_spring(d):
    """Find the row of the first spring between points, behind the loop-closing joints."""
    return d.first_loop + d.joint_count - d.body_count


@inline
def point_spring_end(d):
    """Find the row behind the last spring between points.

    Slides follow, then their joints, then further rows of these.
    """
    return loop_end(d) - d.more_count - d.track_count - d.slide_count


@inline
def slide_row(d, k):
    """Find the row of slide k."""
    return point_spring_end(d) + k


@inline
def joint_row(d, n):
    """Find the row of joint n = 1, 2, ...: of the body it carries, or of the loop it closes."""
    return n if n < d.body_count else n - d.body_count + d.first_loop


@inline
def present_knot(d):
    """Read the number of the present knot buffer: all lanes share it."""
    return int(lane(d.environment.present_knot, 0))


@inline
def set_present_knot(d, number):
    """Make a knot buffer the present one."""
    environment = d.environment
    environment.present_knot = float(number)


@inline
def knot_buffer(d, back):
    """Find the knot buffer of ``back`` steps ago; -1 is the next one."""
    return d.state_knots + d.knot_size * ((present_knot(d) + KNOT_BUFFERS - back) % KNOT_BUFFERS)


@inline
def advance_knot_buffers(d):
    """Make the next knot buffer the present one."""
    set_present_knot(d, (present_knot(d) + 1) % KNOT_BUFFERS)


@inline
def knot_weight(rho):
    """Find the weight (1 + rho)/2 of what acts at a knot between steps of size rho h and h.

    Half of each step belongs to the knot; over h it is this weight.
    """
    return 0.5 + 0.5 * rho
