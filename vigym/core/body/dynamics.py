"""Dynamics of each body on its own over one step, in lanes over bodies or environments.

Newton's increment is a shift dy of the body's joint anchor and a small world rotation dphi, both at
knot 3.
"""

from vigym.core.body.blocks import set_own_block
from vigym.core.body.pose import inertia_matrix, step_pose
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import maximum, sqrt, where
from vigym.core.math.turns import step_momentum, step_momentum_slope
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_scale,
    mat_t_vec,
    mat_vec,
    matmul,
    matmul_t,
    max_abs3,
    scale,
    select3,
    sub,
)
from vigym.core.model.context import knot_buffer, knot_weight

# a predicted |h w / 2|^2 beyond this is drawn back: Newton starts within its domain
DOMAIN = 0.95


@inline
def extrapolate_velocity(latest, one_back, two_back, three_back, linear, cubic):
    """Predict the velocity of the next step from those of the last ones.

    a + linear d1 + cubic (d2 + d3), where a is the last step's velocity and d1, d2, d3 are the
    backward differences. Weights of zero leave out differences that may be NaN.
    """
    d1 = sub(latest, one_back)
    e1 = sub(one_back, two_back)
    f1 = sub(two_back, three_back)
    d2 = sub(d1, e1)
    e2 = sub(e1, f1)
    low = axpy(linear, d1, latest)
    high = axpy(cubic, add(d2, sub(d2, e2)), low)
    low = select3(linear > 0.0, low, latest)
    return select3(cubic > 0.0, high, low)


@inline
def write_history_wrench(body, pose, h, rho, gravity):
    """Write the terms of the last step in the residual of this one, and return the force [N].

    These are terms of [MC 26, 33], with rho = h1/h the ratio of the step sizes:

        -m v1/h - (1 + rho)/2 m g,    -l1/h

    and l1 the angular momentum of that step, see `vigym.core.math.turns`.

    After a reset h1 = 0 and (v1, w1) are knot velocities: the same formula is then the discrete
    Legendre transform.
    """
    mass = body.mass
    w1 = pose.angular_velocity
    Jw = mat_vec(inertia_matrix(body), w1)
    inertial = scale(-(mass / h), pose.velocity)
    force = add(inertial, scale(-knot_weight(rho) * mass, gravity))
    body.history_force = force
    momentum = step_momentum(Jw, w1, pose.cosine, -0.5 * rho * h)
    body.history_torque = scale(-1.0 / h, momentum)
    return force


@phase
def write_history_wrenches_of_step(d, knot2, h, rho):
    """Write the history terms of all bodies anew, as the step from knot 2 had them."""
    gravity = d.environment.gravity
    for block in range(d.block_count):
        write_history_wrench(d.body(block), d.pose(knot2, block), h, rho, gravity)


@phase
def predict_next_knot(d, knot2, knot3, h, rho, linear, cubic):
    """Write the terms of the last step, and a first guess of knot 3.

    Its half-step velocities are extrapolated from the last ones; the buffer of knot 3 still holds
    the oldest of them.

    Args:
        d: data of the lane group, read in blocks.
        knot2: buffer of the present knot.
        knot3: buffer of the next knot.
        h: size of the step [s].
        rho: size of the last step over h.
        linear: weight of the first differences of velocities.
        cubic: weight of the second and third differences.

    Returns:
        Largest force term, and largest force m |x| / h^2 of a position [N], both for round-off.
    """
    gravity = d.environment.gravity
    largest, positions = h * 0.0, h * 0.0
    per_hh = 1.0 / (h * h)
    knot1, knot0 = knot_buffer(d, 1), knot_buffer(d, 2)
    for block in range(d.block_count):
        body = d.body(block)
        pose2, pose3 = d.pose(knot2, block), d.pose(knot3, block)
        pose1, pose0 = d.pose(knot1, block), d.pose(knot0, block)
        force = write_history_wrench(body, pose2, h, rho, gravity)
        largest = maximum(largest, max_abs3(force))
        positions = maximum(positions, body.mass * max_abs3(pose2.position) * per_hh)
        v2 = extrapolate_velocity(
            pose2.velocity, pose1.velocity, pose0.velocity, pose3.velocity, linear, cubic
        )
        w2 = extrapolate_velocity(
            pose2.angular_velocity,
            pose1.angular_velocity,
            pose0.angular_velocity,
            pose3.angular_velocity,
            linear,
            cubic,
        )
        e = 0.25 * h * h * dot(w2, w2)
        c2 = sqrt(maximum(1.0 - e, 1.0 - DOMAIN))
        s = 1.0 / sqrt(e + c2 * c2)
        step_pose(body, pose2, pose3, v2, scale(s, w2), s * c2, h)
    return largest, positions


@phase
def body_residuals(d, knot2, knot3, h):
    """Write each body's own wrench about its joint anchor at knot 2.

    d_T and d_R of [MC 26, 33] without joint forces,

        m v2/h + history,    R2 (l2/h + history),

    l2 the angular momentum of the step, and their change by the motion that closes the joints to
    first order.
    """
    per_h = 1.0 / h
    for block in range(d.block_count):
        body = d.body(block)
        pose2 = d.pose(knot2, block)
        pose3 = d.pose(knot3, block)
        mass = body.mass
        w2 = pose3.angular_velocity
        Jw = mat_vec(inertia_matrix(body), w2)
        f = add(scale(mass * per_h, pose3.velocity), body.history_force)
        momentum = step_momentum(Jw, w2, pose3.cosine, 0.5 * h)
        tau = axpy(per_h, momentum, body.history_torque)
        rotation = body.rotation_correction
        shift = sub(body.position_correction, cross(rotation, pose3.arm))
        f = add(f, scale(mass * per_h * per_h, shift))
        tau = add(mat_vec(pose2.rotation, tau), mat_vec(body.rotational_block, rotation))
        body.force = f
        body.torque = sub(tau, cross(pose2.arm, f))


@phase
def assemble_body_blocks(d, knot2, knot3, h):
    """Write the derivative of each body's own wrench by (dy, dphi)."""
    per_hh = 1.0 / (h * h)
    for block in range(d.block_count):
        body = d.body(block)
        pose2 = d.pose(knot2, block)
        pose3 = d.pose(knot3, block)
        J = inertia_matrix(body)
        e = scale(0.5 * h, pose3.angular_velocity)
        K = mat_scale(per_hh, step_momentum_slope(J, pose3.cosine, e))
        K = matmul(pose2.rotation, matmul_t(K, pose3.rotation))
        set_own_block(d, body, body.mass * per_hh, K, pose2.arm, pose3.arm)


@phase
def apply_increment(d, knot2, knot3, h, step_length, mask):
    """Apply a part of the increment in the lanes of the mask.

    v2 += dx/h, and (c, e) moves along its sphere: it is turned to first order and scaled back to
    length 1, so that no increment leaves the domain.
    """
    for block in range(d.block_count):
        body = d.body(block)
        pose2 = d.pose(knot2, block)
        pose3 = d.pose(knot3, block)
        dphi = scale(step_length, add(body.delta_rotation, body.rotation_correction))
        dy = scale(step_length, add(body.delta_position, body.position_correction))
        dx = sub(dy, cross(dphi, pose3.arm))
        v = pose3.velocity
        w = pose3.angular_velocity
        c = pose3.cosine
        v2 = add(v, scale(1.0 / h, dx))
        theta = mat_t_vec(pose3.rotation, dphi)
        e = scale(0.5 * h, w)
        c2 = c - 0.5 * dot(e, theta)
        e2 = add(e, scale(0.5, add(scale(c, theta), cross(e, theta))))
        s = 1.0 / sqrt(c2 * c2 + dot(e2, e2))
        w2 = scale(s * 2.0 / h, e2)
        v2 = select3(mask, v2, v)
        w2 = select3(mask, w2, w)
        step_pose(body, pose2, pose3, v2, w2, where(mask, s * c2, c), h)


@phase
def increment_as_inertial_force(d, knot3, h, length):
    """Compute the inertial forces that the increments correspond to [N].

    It is the largest m dx / h^2, or moment over ``length``.
    """
    largest = h * 0.0
    per_hh = 1.0 / (h * h)
    for block in range(d.block_count):
        body = d.body(block)
        rotation = body.delta_rotation
        dx = sub(body.delta_position, cross(rotation, d.pose(knot3, block).arm))
        moment = max_abs3(mat_vec(body.rotational_block, rotation)) / length
        force = body.mass * per_hh * max_abs3(dx)
        largest = maximum(largest, maximum(force, moment))
    return largest
