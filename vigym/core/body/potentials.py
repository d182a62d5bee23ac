"""Potentials of the user's own: energy, force and torque of a body by its pose.

They act at the knots, as gravity does: at knot 2 with (1 + rho)/2 times the force there, explicit
and conservative in the discrete principle (Stoermer and Verlet's method). A potential that makes a
body vibrate is stable up to an angular frequency of 2/h.
"""

from vigym.core.compiler.callbacks import call_function
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import lane, with_lane
from vigym.core.compiler.simd import maximum
from vigym.core.math.vectors import axpy, cross, mat_t_vec, max_abs3, scale, sub


@inline
def numbers_of_lane(a, k):
    """Return lane k of seven values."""
    return (
        lane(a[0], k),
        lane(a[1], k),
        lane(a[2], k),
        lane(a[3], k),
        lane(a[4], k),
        lane(a[5], k),
        lane(a[6], k),
    )


@inline
def with_numbers_in_lane(a, k, numbers):
    """Replace lane k of seven values."""
    return (
        with_lane(a[0], k, numbers[0]),
        with_lane(a[1], k, numbers[1]),
        with_lane(a[2], k, numbers[2]),
        with_lane(a[3], k, numbers[3]),
        with_lane(a[4], k, numbers[4]),
        with_lane(a[5], k, numbers[5]),
        with_lane(a[6], k, numbers[6]),
    )


@inline
def evaluate_potential(d, potential, knot):
    """Compute energy [J], force [N, world] and torque [N m, world] of a potential at a knot."""
    pose = d.pose(knot, potential.body)
    x = pose.position
    q = pose.orientation
    o = d.full(0.0)
    found = (o, o, o, o, o, o, o)
    for k in range(d.lane_count):
        given = numbers_of_lane((x[0], x[1], x[2], q[0], q[1], q[2], q[3]), k)
        found = with_numbers_in_lane(found, k, call_function(potential.function, given))
    return found[0], (found[1], found[2], found[3]), (found[4], found[5], found[6])


@phase(needs="imposed", otherwise=zero)
def add_potential_forces(d, knot2, rho):
    """Add the forces of potentials to the terms of a step that stay; returns the largest [N]."""
    largest, weight = d.full(0.0), 0.5 + 0.5 * rho
    for n in range(d.potential_count):
        potential = d.potential(n)
        body = d.body(potential.body)
        _, force, torque = evaluate_potential(d, potential, knot2)
        own = mat_t_vec(d.pose(knot2, potential.body).rotation, torque)
        body.history_force = axpy(-weight, force, body.history_force)
        body.history_torque = axpy(-weight, own, body.history_torque)
        largest = maximum(largest, max_abs3(force))
    return largest


@phase(needs="imposed")
def add_potential_impulses(d, knot, h1):
    """Subtract the impulses of the half step before a knot from the momenta about the anchors."""
    half = 0.5 * h1
    for n in range(d.potential_count):
        potential = d.potential(n)
        body = d.body(potential.body)
        _, force, torque = evaluate_potential(d, potential, knot)
        impulse = scale(half, force)
        moment = sub(scale(half, torque), cross(d.pose(knot, potential.body).arm, impulse))
        body.force = sub(body.force, impulse)
        body.torque = sub(body.torque, moment)


@phase(needs="imposed", otherwise=zero)
def sum_potential_energies(d, knot):
    """Sum the energies of potentials at a knot [J]."""
    total = d.full(0.0)
    for n in range(d.potential_count):
        energy, _, _ = evaluate_potential(d, d.potential(n), knot)
        total = total + energy
    return total
