"""Geometry of joints at a knot: free directions, and the gaps of the constrained ones.

Free directions, the dofs, are counted translations first. Free translations are directions fixed in
the parent, free rotations are axes fixed in the child (three free rotations: the child's own axes;
two, the universal joint: the first axis is fixed in the parent, and the joint keeps both
perpendicular).
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import where
from vigym.core.math.quaternions import conjugate, quaternion_product, vector_part
from vigym.core.math.vectors import add, cross, dot, extract_columns, mat_vec, scale, sub, zero3


@inline
def relative_orientation(d, i, knot):
    """Compute the orientation of child in parent from the zero pose, in child axes.

    e = conj(q_off) conj(q_a) q_b
    """
    body = d.body(i)
    q_a = d.pose(knot, body.parent).orientation
    q_b = d.pose(knot, body.child).orientation
    return quaternion_product(conjugate(quaternion_product(q_a, body.joint_orientation)), q_b)


@inline
def anchor_separation(d, i, knot):
    """Compute the vector from the anchor in the parent to the one in the child [m, world]."""
    body = d.body(i)
    parent = d.pose(knot, body.parent)
    lever = mat_vec(parent.rotation, body.parent_lever)
    return sub(d.pose(knot, i).anchor, add(parent.anchor, lever))


@inline
def translation_axis(d, i, j, knot):
    """Compute the direction of free translation j [world]."""
    body = d.body(i)
    axes = body.translation_axes
    axis = (axes[3 * j], axes[3 * j + 1], axes[3 * j + 2])
    return mat_vec(d.pose(knot, body.parent).rotation, axis)


@inline
def child_axis(d, i, knot):
    """Read the direction of the joint axis that is fixed in the child [world]."""
    return d.pose(knot, i).axis


@inline
def parent_axis(d, i, knot):
    """Compute the direction of the joint axis that is fixed in the parent [world]."""
    body = d.body(i)
    return mat_vec(d.pose(knot, body.parent).rotation, body.parent_axis)


@inline
def rotation_axis(d, i, j, knot):
    """Compute the direction of free rotation j [world]."""
    body = d.body(i)
    if body.rotation_count == 3:
        x, y, z = extract_columns(d.pose(knot, body.child).rotation)
        return x if j == 0 else (y if j == 1 else z)
    if body.rotation_count == 2 and j == 0:
        return parent_axis(d, i, knot)
    return child_axis(d, i, knot)


@inline
def stored_quaternion(d, p):
    """Read the stored relative quaternion of three free rotations, dof p the first of them."""
    dof = d.dof(p)
    return dof.cosine, dof.sine, d.dof(p + 1).sine, d.dof(p + 2).sine


@inline
def rotation_increment_axis(d, i, j, knot):
    """Compute the direction of Newton's increment for free rotation j at knot 3.

    Any basis of the free motions serves. Where three free rotations have loads we take the one in
    which each load grows along one axis alone, see ``vigym.core.joint.ball_spring``: its derivative
    is then exact and stays within its own pivot.
    """
    body = d.body(i)
    if body.rotation_count == 3 and (body.has_spring > 0 or body.has_rate_force > 0):
        axis = d.dof(body.first_dof + body.translation_count + j).increment_axis
        return mat_vec(d.pose(knot, body.child).rotation, axis)
    return rotation_axis(d, i, j, knot)


@inline
def anchor_closure(d, i, knot):
    """Compute the shift that brings both anchors of a joint together, and the lever after it.

    The lever is from the parent's own anchor to the joint's.
    """
    body = d.body(i)
    parent = d.pose(knot, body.parent)
    lever = mat_vec(parent.rotation, body.parent_lever)
    return sub(add(parent.anchor, lever), d.pose(knot, i).anchor), lever


@inline
def hinge_closure(d, i, knot):
    """Compute the rotation that turns the axis of a hinge in the child onto that in the parent."""
    return cross(child_axis(d, i, knot), parent_axis(d, i, knot))


@inline
def position_closure(d, i, knot):
    """Compute the shift that closes the constrained translations, and the lever after it.

    The lever is from the parent's own anchor to the joint's closed one.
    """
    body = d.body(i)
    correction, lever = anchor_closure(d, i, knot)
    for j in range(body.translation_count):
        axis = translation_axis(d, i, j, knot)
        along = scale(dot(axis, correction), axis)
        correction = sub(correction, along)
        lever = sub(lever, along)
    return correction, lever


@inline
def rotation_closure(d, i, knot):
    """Compute the rotation that closes the constrained rotations to first order [world]."""
    body = d.body(i)
    free = body.rotation_count
    if free == 1:
        return hinge_closure(d, i, knot)
    if free == 3:
        return zero3(d)
    if free == 2:  # turn about the normal of both axes until they are perpendicular
        a = parent_axis(d, i, knot)
        b = child_axis(d, i, knot)
        normal = cross(a, b)
        return scale(dot(a, b) / dot(normal, normal), normal)
    e = relative_orientation(d, i, knot)
    s = where(e[0] > 0.0, -2.0, 2.0)
    return mat_vec(d.pose(knot, body.child).rotation, scale(s, vector_part(e)))


@inline
def project_on_constrained_rotations(d, i, knot, rotation):
    """Compute the part of a relative rotation, or of a moment, that joint i holds against."""
    free = d.body(i).rotation_count
    if free == 3:
        return zero3(d)
    if free == 0:
        return rotation
    axis = rotation_axis(d, i, free - 1, knot)
    if free == 1:
        return sub(rotation, scale(dot(axis, rotation), axis))
    normal = cross(parent_axis(d, i, knot), axis)
    return scale(dot(normal, rotation), normal)
