"""Held wrenches: forces and torques that the caller applies to bodies and holds.

A force acts at a point of the body; its direction is fixed in the world or turns with the body.
Held over a step it contributes half of its impulse at both knots (forcing of the discrete
Lagrange-d'Alembert principle [MC 3]), as it is at the pose there: at knot 2

    (rho F1(z2) + F2(z2)) / 2,

F1 that of the last step and F2 that of this one. It depends on the pose at knot 2 alone, so that it
is explicit: an entry of the terms that stay while Newton iterates.
"""

from vigym.core.body.pose import mean_rotation_rate
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.math.vectors import (
    add,
    axpy,
    cross,
    dot,
    mat_t_vec,
    mat_vec,
    max_abs3,
    scale,
    select3,
    sub,
    zero3,
)


@inline
def wrench_at(pose, force, torque, body_force, body_torque, point):
    """Compute force [world] and torque about the centre of mass [body] of a wrench at a pose."""
    rotation = pose.rotation
    own = add(body_force, mat_t_vec(rotation, force))
    moment = add(add(body_torque, mat_t_vec(rotation, torque)), cross(point, own))
    return add(force, mat_vec(rotation, body_force)), moment


@inline
def present_wrench(wrench, pose):
    """Compute the wrench that is held now, at a pose."""
    return wrench_at(
        pose,
        wrench.force,
        wrench.torque,
        wrench.body_force,
        wrench.body_torque,
        wrench.application,
    )


@inline
def last_wrench(wrench, pose):
    """Compute the wrench that was held over the last step, at a pose."""
    return wrench_at(
        pose,
        wrench.last_applied_force,
        wrench.last_applied_torque,
        wrench.last_body_force,
        wrench.last_body_torque,
        wrench.last_application,
    )


@inline
def knot_wrench(d, i, knot2, rho):
    """Compute the wrench at the first knot of a step: half of both steps' ones."""
    wrench, pose = d.wrench(i), d.pose(knot2, i)
    f1, t1 = last_wrench(wrench, pose)
    f2, t2 = present_wrench(wrench, pose)
    half = 0.5 * rho
    return axpy(half, f1, scale(0.5, f2)), axpy(half, t1, scale(0.5, t2))


@phase(needs="imposed", otherwise=zero)
def add_wrenches(d, knot2, rho):
    """Add the wrenches of a step to the terms that stay; returns the largest force [N]."""
    largest = d.full(0.0)
    for i in range(1, d.wrench_count):
        body = d.body(i)
        force, torque = knot_wrench(d, i, knot2, rho)
        body.history_force = sub(body.history_force, force)
        body.history_torque = sub(body.history_torque, torque)
        largest = maximum(largest, max_abs3(force))
    return largest


@phase(needs="imposed")
def add_last_wrenches(d):
    """Add the wrenches at the first knot of the last step to the terms that stay."""
    for i in range(1, d.wrench_count):
        body, wrench = d.body(i), d.wrench(i)
        body.history_force = sub(body.history_force, wrench.knot_force)
        body.history_torque = sub(body.history_torque, wrench.knot_torque)


@phase(needs="imposed")
def add_wrench_impulses(d, knot, h1):
    """Subtract the impulses of the half step before a knot from the momenta about the anchors."""
    half = 0.5 * h1
    for i in range(1, d.wrench_count):
        body, pose = d.body(i), d.pose(knot, i)
        force, torque = last_wrench(d.wrench(i), pose)
        impulse = scale(half, force)
        moment = scale(half, mat_vec(pose.rotation, torque))
        body.force = sub(body.force, impulse)
        body.torque = sub(body.torque, sub(moment, cross(pose.arm, impulse)))


def no_work(d, knot2, knot3, h):
    """Replace ``wrench_work`` in mechanisms without held wrenches."""
    return d.full(0.0), d.full(0.0)


@phase(needs="imposed", otherwise=no_work)
def wrench_work(d, knot2, knot3, h):
    """Find the work of held wrenches over a step, and the sum of its absolutes [J].

    Half of a wrench at both knots, times the way: h v and, in body axes, the rotation.
    """
    work, absolute_work = d.full(0.0), d.full(0.0)
    for i in range(1, d.wrench_count):
        wrench, pose3 = d.wrench(i), d.pose(knot3, i)
        f2, t2 = present_wrench(wrench, d.pose(knot2, i))
        f3, t3 = present_wrench(wrench, pose3)
        power = dot(add(f2, f3), pose3.velocity)
        power = power + dot(add(t2, t3), mean_rotation_rate(pose3))
        work = work + 0.5 * h * power
        absolute_work = absolute_work + 0.5 * h * absolute(power)
    return work, absolute_work


@phase(needs="imposed")
def store_wrenches(d, knot2, rho, mask):
    """Write the wrenches that the next step starts from."""
    for i in range(1, d.wrench_count):
        wrench = d.wrench(i)
        force, torque = knot_wrench(d, i, knot2, rho)
        wrench.knot_force = select3(mask, force, wrench.knot_force)
        wrench.knot_torque = select3(mask, torque, wrench.knot_torque)
        last = wrench.last_applied_force
        wrench.last_applied_force = select3(mask, wrench.force, last)
        last = wrench.last_applied_torque
        wrench.last_applied_torque = select3(mask, wrench.torque, last)
        wrench.last_body_force = select3(mask, wrench.body_force, wrench.last_body_force)
        wrench.last_body_torque = select3(mask, wrench.body_torque, wrench.last_body_torque)
        wrench.last_application = select3(mask, wrench.application, wrench.last_application)


@phase(needs="imposed")
def clear_wrenches(d):
    """Set all wrenches to zero."""
    o = zero3(d)
    for i in range(d.wrench_count):
        wrench = d.wrench(i)
        wrench.force, wrench.torque = o, o
        wrench.body_force, wrench.body_torque = o, o
        wrench.application = o
        wrench.last_applied_force, wrench.last_applied_torque = o, o
        wrench.last_body_force, wrench.last_body_torque = o, o
        wrench.last_application = o
        wrench.knot_force, wrench.knot_torque = o, o
