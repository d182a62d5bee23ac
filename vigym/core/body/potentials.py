"""Potentials of the user's own: energy, force and torque of a body by its pose.

They act at the knots, as gravity does: at knot 2 with (1 + rho)/2 times the force there, explicit
and conservative in the discrete principle (Stoermer and Verlet's method). A potential that makes a
body vibrate is stable up to an angular frequency of 2/h.
"""

import math

from vigym.core.compiler.callbacks import make_caller
from vigym.core.compiler.kernel import inline, no_lanes, phase, zero
from vigym.core.compiler.simd import absolute, maximum
from vigym.core.math.vectors import axpy, cross, mat_t_vec, max_abs3, scale, sub
from vigym.core.model.context import knot_weight

call_potential = make_caller(7, 1, 3, 3)  # pose; energy, force, torque


@inline
def evaluate_potential(d, potential, knot):
    """Compute energy [J], force [N, world] and torque [N m, world] of a potential at a knot."""
    pose = d.pose(knot, potential.body)
    return call_potential(potential.function, (pose.position, pose.orientation))


@phase(needs="imposed", otherwise=zero)
def add_potential_forces(d, knot2, rho):
    """Add the forces of potentials to the terms of a step that stay; returns the largest [N]."""
    largest, weight = d.full(0.0), knot_weight(rho)
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


@phase(needs="imposed", otherwise=no_lanes)
def find_lanes_without_potential(d, knot):
    """Find the lanes in which a function of a potential fails at a knot."""
    total = absolute(sum_potential_energies(d, knot))
    return ~(total < math.inf)  # false for NaN


@phase(needs="imposed", otherwise=zero)
def sum_potential_energies(d, knot):
    """Sum the energies of potentials at a knot [J]."""
    total = d.full(0.0)
    for n in range(d.potential_count):
        energy, _, _ = evaluate_potential(d, d.potential(n), knot)
        total = total + energy
    return total
