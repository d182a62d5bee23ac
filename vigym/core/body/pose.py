"""Poses of bodies at a knot, and values derived from a pose.

A pose moves over a step of size h by x3 = x2 + h v2 and q3 = q2 * (c, e), with e = h w2 / 2 and
c = sqrt(1 - e.e) [MC 27, 32].
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, sqrt
from vigym.core.math.quaternions import quaternion_product, renormalised, rotation_matrix
from vigym.core.math.turns import rotation_rate
from vigym.core.math.vectors import add, cross, dot, mat_vec, scale, sub, symmetric_matrix


@inline
def inertia_matrix(body):
    """Read the body's inertia [kg m^2, body axes] as a full matrix."""
    return symmetric_matrix(body.inertia)


@inline
def set_pose(body, pose, position, orientation):
    """Write a pose, and values derived from it.

    That is the rotation matrix, the joint anchor, the arm from the centre of mass to it, and the
    joint's axis that is fixed in the body.
    """
    rotation = rotation_matrix(orientation)
    arm = mat_vec(rotation, body.child_anchor)
    pose.position = position
    pose.orientation = orientation
    pose.rotation = rotation
    pose.arm = arm
    pose.anchor = add(position, arm)
    pose.axis = mat_vec(rotation, body.child_axis)


@inline
def step_pose(body, pose2, pose3, velocity, angular_velocity, cosine, h):
    """Move from knot 2 to knot 3 with half-step velocities.

    x3 = x2 + h v2, q3 = q2 * (c2, h w2 / 2) [MC 27, 32].
    """
    e = scale(0.5 * h, angular_velocity)
    pose3.velocity = velocity
    pose3.angular_velocity = angular_velocity
    pose3.cosine = cosine
    product = quaternion_product(pose2.orientation, (cosine, e[0], e[1], e[2]))
    set_pose(body, pose3, add(pose2.position, scale(h, velocity)), renormalised(product))


@inline
def mean_rotation_rate(pose):
    """Compute the rate of rotation over the step to a knot [rad/s, body], the angle's own."""
    return rotation_rate(pose.angular_velocity, pose.cosine)


@phase
def update_derived(d, knot):
    """Update values derived from the poses of a knot buffer, after a caller has set them."""
    for block in range(d.block_count):
        pose = d.pose(knot, block)
        set_pose(d.body(block), pose, pose.position, pose.orientation)


@phase
def max_angular_speed(d, knot):
    """Find the largest rate of rotation [rad/s] over the step to a knot, lane by lane."""
    largest = d.full(0.0)
    for block in range(d.block_count):
        w = mean_rotation_rate(d.pose(knot, block))
        largest = maximum(largest, dot(w, w))
    return sqrt(largest)


@phase
def max_angular_speed_change(d, knot2, knot3):
    """Find the largest change of an angular velocity [rad/s], lane by lane.

    It is that from the step that led to knot 2 to the step that led to knot 3.
    """
    largest = d.full(0.0)
    for block in range(d.block_count):
        w1 = d.pose(knot2, block).angular_velocity
        w2 = d.pose(knot3, block).angular_velocity
        change = sub(w2, w1)
        largest = maximum(largest, dot(change, change))
    return sqrt(largest)


@inline
def second_difference(latest, one_back, two_back):
    """Compute the second difference of three values of a vector."""
    return sub(sub(latest, one_back), sub(one_back, two_back))


@phase
def max_velocity_differences(d, knots, length):
    """Find the largest second and third differences of velocities from step to step [m/s].

    Angular velocities count by their speed at the distance ``length``.

    Args:
        d: data of the lane group, read in blocks.
        knots: buffers of the knots that the last four steps led to, the latest one first.
        length: length scale [m].

    Returns:
        Largest second difference and largest third one, lane by lane.
    """
    second, third = d.full(0.0), d.full(0.0)
    square = length * length
    for block in range(d.block_count):
        pose3, pose2 = d.pose(knots[0], block), d.pose(knots[1], block)
        pose1, pose0 = d.pose(knots[2], block), d.pose(knots[3], block)
        v1 = pose1.velocity
        v2 = pose2.velocity
        w1 = pose1.angular_velocity
        w2 = pose2.angular_velocity
        v = second_difference(pose3.velocity, v2, v1)
        w = second_difference(pose3.angular_velocity, w2, w1)
        second = maximum(second, dot(v, v) + square * dot(w, w))
        v = sub(v, second_difference(v2, v1, pose0.velocity))
        w = sub(w, second_difference(w2, w1, pose0.angular_velocity))
        third = maximum(third, dot(v, v) + square * dot(w, w))
    return sqrt(second), sqrt(third)


@phase
def set_motion_from_knot(d, knot):
    """Write each body's angular velocity and the velocity of its anchor, from those at the knot."""
    for i in range(1, d.body_count):
        body, pose = d.body(i), d.pose(knot, i)
        omega = mat_vec(pose.rotation, pose.angular_velocity)
        body.delta_position = add(pose.velocity, cross(omega, pose.arm))
        body.delta_rotation = omega
