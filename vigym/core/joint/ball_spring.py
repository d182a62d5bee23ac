"""Spring of three free rotations, over a step: a discrete potential and its exact derivatives.

e2 and e3 are the relative quaternions at both knots, phi the rotation vector of their mean, and
c + v = conj(e2) e3 the change. The discrete potential h k phi.phi / 2 has as derivatives, half of
each per h, the moments along the child's axes

    k (phi + w x phi) at knot 2,    k (phi - w x phi) at knot 3,    w = v / (1 + c).

It is that of a hinge's spring: conservative, and stable at any stiffness. A turn delta of the child
at knot 3 changes the half at knot 2 by k/4 M delta, with W = 1 + [w], [a] b = a x b,

    M = W (1 + [phi]/2 + b [phi]^2) W - [phi] ((1 - w.w) + 2 [w] + 2 w w^T) / 2,
    b = (1 - (a/2) cot(a/2)) / a^2,    a = |phi|,

and the loads of dampers, q (6/h) v / (2 + c) along each axis, by

    q (3/h) (c + [v] + v v^T / (2 + c)) / (2 + c) delta.

With P the sum of both, and T its diagonal,
the axes of Newton's increment are the columns of P^-1 T: along each its own load grows alone. Dry
friction is a damper there, far stiffer than the spring about the axes that it holds.
"""

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import absolute, maximum, sqrt, where
from vigym.core.joint.coordinates import rotation_vector_component
from vigym.core.joint.geometry import relative_orientation, stored_quaternion
from vigym.core.math.quaternions import conjugate, quaternion_product, vector_part
from vigym.core.math.vectors import add, axpy, cross, dot, element, mat_t_vec, scale, select3, sub

# of a spring's stiffness, what Newton sees across the rotation vector at least: next to half a turn
# nothing is left
LEAST_STIFFNESS = 0.05
SMALL_ANGLE = 1e-4  # [rad^2] square of a rotation below which b is 1/12
SINGULAR = 1e-3  # determinant of P, in parts of the product of its diagonal, that is not inverted


@inline
def unit_vector(d, j):
    """Make the unit vector along axis j."""
    o, one = d.full(0.0), d.full(1.0)
    return (one, o, o) if j == 0 else ((o, one, o) if j == 1 else (o, o, one))


@inline
def reset_increment_axis(d, dof, j):
    """Set the increment of dof j to a turn of the child about its own axis j."""
    dof.increment_axis = unit_vector(d, j)


@inline
def second_order_coefficient(phi, cosine, sine):
    """Compute b from phi and a multiple of (cosine, sine) of half its angle."""
    square = dot(phi, phi)
    large = square > SMALL_ANGLE
    square = where(large, square, 1.0)
    part = 0.5 * sqrt(square) * cosine / where(large, sine, square)
    part = maximum(part, LEAST_STIFFNESS)
    return where(large, (1.0 - part) / square, 1.0 / 12.0)


@inline
def mean_rotation_terms(d, i, knot3):
    """Compute the rotation vector phi of the mean of both knots, the change c and v, and b."""
    body = d.body(i)
    e2 = stored_quaternion(d, body.first_dof + body.translation_count)
    e3 = relative_orientation(d, i, knot3)
    change = quaternion_product(conjugate(e2), e3)
    sign = where(change[0] > 0.0, 1.0, -1.0)  # q and -q: the shorter way round
    w, x = e2[0] + sign * e3[0], e2[1] + sign * e3[1]
    y, z = e2[2] + sign * e3[2], e2[3] + sign * e3[3]
    phi = (
        rotation_vector_component(x, (w, x, y, z)),
        rotation_vector_component(y, (w, x, y, z)),
        rotation_vector_component(z, (w, x, y, z)),
    )
    b = second_order_coefficient(phi, absolute(w), sqrt(x * x + y * y + z * z))
    return phi, sign * change[0], scale(sign, vector_part(change)), b


@inline
def moment_derivative(phi, w, b, turn):
    """Compute M times a turn of the child at knot 3."""
    u = add(turn, cross(w, turn))
    bend = cross(phi, u)
    u = add(add(u, scale(0.5, bend)), scale(b, cross(phi, bend)))
    u = add(u, cross(w, u))
    grown = add(scale(1.0 - dot(w, w), turn), scale(2.0, cross(w, turn)))
    grown = axpy(2.0 * dot(w, turn), w, grown)
    return sub(u, scale(0.5, cross(phi, grown)))


@inline
def ball_load_jacobian_column(d, j, own, stiffness, motion):
    """Compute column j of P; ``own`` are the slopes of dampers about the child's axes."""
    phi, c, v, b = motion
    turn, w = unit_vector(d, j), scale(1.0 / (1.0 + c), v)
    by_rate = axpy(dot(v, turn) / (2.0 + c), v, axpy(c, turn, cross(v, turn)))
    by_spring = moment_derivative(phi, w, b, turn)
    by_damper = own[0] * by_rate[0], own[1] * by_rate[1], own[2] * by_rate[2]
    return axpy(0.25 * stiffness, by_spring, by_damper)


@inline
def read_damper_slopes(d, first):
    """Read the slopes of the loads of dampers along three dofs from ``first`` on."""
    return d.dof(first).compliance, d.dof(first + 1).compliance, d.dof(first + 2).compliance


@inline
def write_ball_increment_axes(d, first, own, stiffness, motion):
    """Write axes and slopes of the increment of three rotations from dof ``first`` on: P^-1 T, T.

    Where P is next to singular, the child's own axes.
    """
    x = ball_load_jacobian_column(d, 0, own, stiffness, motion)
    y = ball_load_jacobian_column(d, 1, own, stiffness, motion)
    z = ball_load_jacobian_column(d, 2, own, stiffness, motion)
    t, yz = (x[0], y[1], z[2]), cross(y, z)
    determinant = dot(x, yz)
    positive = (t[0] > 0.0) & (t[1] > 0.0) & (t[2] > 0.0)
    regular = positive & (determinant > SINGULAR * t[0] * t[1] * t[2])
    inverse = 1.0 / where(regular, determinant, 1.0)
    zx, xy = cross(z, x), cross(x, y)
    for j in range(3):
        dof, slope = d.dof(first + j), element(t, j)
        axis = scale(slope * inverse, (element(yz, j), element(zx, j), element(xy, j)))
        dof.increment_axis = select3(regular, axis, unit_vector(d, j))
        dof.compliance = where(regular, slope, element(own, j) + 0.25 * stiffness)


@phase
def write_rate_increment_axes(d, i, knot3):
    """Write the axes along each of which one rate over the step of three rotations grows alone.

    They are those of loads that depend on the rates alone.
    """
    body = d.body(i)
    first = body.first_dof + body.translation_count
    change = quaternion_product(
        conjugate(stored_quaternion(d, first)), relative_orientation(d, i, knot3)
    )
    w, v = change[0], vector_part(change)
    for j in range(3):
        turn = unit_vector(d, j)
        along = scale(2.0 * element(v, j) / (1.0 + 2.0 * w), v)
        d.dof(first + j).increment_axis = sub(axpy(w, turn, along), cross(v, turn))


@phase
def add_ball_spring_load(d, i, knot3):
    """Add half of the spring's moment at knot 2 to the loads, and the slope of all loads."""
    body = d.body(i)
    first = body.first_dof + body.translation_count
    motion = mean_rotation_terms(d, i, knot3)
    own = read_damper_slopes(d, first)
    write_ball_increment_axes(d, first, own, d.dof(first).stiffness, motion)
    add_half_moment(d, first, motion)


@inline
def add_half_moment(d, first, motion):
    """Add half of the spring's moment at knot 2 to the loads of three dofs from ``first`` on."""
    phi, c, v, _ = motion
    moment = add(phi, scale(1.0 / (1.0 + c), cross(v, phi)))
    for j in range(3):
        dof = d.dof(first + j)
        dof.load = dof.load + 0.5 * dof.stiffness * element(moment, j)


@phase(needs="loops")
def add_closing_ball_load(d, i, knot3):
    """Add the spring of a loop-closing joint to its loads, and the slopes of all loads.

    These are rows of P over their scales, which become the compliances.
    """
    body = d.body(i)
    first = body.first_dof + body.translation_count
    motion = mean_rotation_terms(d, i, knot3)
    own, stiffness = read_damper_slopes(d, first), d.dof(first).stiffness
    x = ball_load_jacobian_column(d, 0, own, stiffness, motion)
    y = ball_load_jacobian_column(d, 1, own, stiffness, motion)
    z = ball_load_jacobian_column(d, 2, own, stiffness, motion)
    add_half_moment(d, first, motion)
    for j in range(3):
        dof, compliance = d.dof(first + j), element(own, j) + 0.25 * stiffness
        row = element(x, j), element(y, j), element(z, j)
        dof.increment_axis = scale(1.0 / where(compliance > 0.0, compliance, 1.0), row)
        dof.compliance = compliance


@inline
def write_ball_increments(d, i, knot, rotation):
    """Write the increments along three rates of joint i, whose child turns by ``rotation`` [world].

    They are what the laws of dry friction see; those along the axes of the increment mix them where
    there is a spring, or a loop.
    """
    body = d.body(i)
    first = body.first_dof + body.translation_count
    e = relative_orientation(d, i, knot)
    change = quaternion_product(conjugate(stored_quaternion(d, first)), e)
    v, turn = vector_part(change), mat_t_vec(d.pose(knot, body.child).rotation, rotation)
    along = axpy(dot(v, turn) / (2.0 + change[0]), v, axpy(change[0], turn, cross(v, turn)))
    for j in range(3):
        dof = d.dof(first + j)
        dof.increment = element(along, j)


@phase
def write_tree_ball_increments(d, knot):
    """Write the increments along the rates of all balls of the tree with dry friction."""
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        if i < d.body_count and body.rotation_count == 3 and body.has_friction > 0:
            turned = sub(body.delta_rotation, d.body(body.parent).delta_rotation)
            write_ball_increments(d, i, knot, turned)


@phase
def store_ball_spring_moments(d, i, knot3, mask):
    """Store the spring's moment at the step's end, from which the next step starts."""
    body = d.body(i)
    phi, c, v, _ = mean_rotation_terms(d, i, knot3)
    moment = sub(phi, scale(1.0 / (1.0 + c), cross(v, phi)))
    for j in range(3):
        dof = d.dof(body.first_dof + body.translation_count + j)
        force = dof.stiffness * element(moment, j)
        dof.last_spring_force = where(mask, force, dof.last_spring_force)
