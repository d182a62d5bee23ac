"""Side by side: the compiled stepper and the slow twin of contact, step for step from one start."""

from __future__ import annotations

import numpy as np

from oracle.naive_contact import TouchingTwin
from oracle.naive_joints import rotate
from oracle.naive_soft import PROX
from scenes.agreement import aligned
from vigym import Simulator


def pair(mech, h=0.01, rates=None, prox=PROX, positions=None):
    """Simulator and twin at the same pose with the same rates of the tree's freedoms."""
    sim, twin = Simulator(mech, timestep=h, tolerance=1e-12), TouchingTwin(mech, h, prox)
    rates = None if rates is None else np.asarray(rates, float)
    sim.reset(positions, rates)
    assert twin.reset(positions, rates)
    return sim, twin


def step_both(sim, twin, k, targets=None, torques=None):
    """One step of both; signals are functions of the step's number."""
    mech, given = sim.mechanism, {}
    u = np.zeros(len(mech.velocity_names))
    driven = np.isin(mech.velocity_names, mech.actuator_names)
    if targets is not None:
        twin.targets = given["targets"] = np.asarray(targets(k), float)
    if torques is not None:
        u[driven] = given["torques"] = np.asarray(torques(k), float)
    status = sim.step(**given)
    assert status.converged
    assert status.halvings == 0, f"step {k} was halved: the twin's was not"
    twin.step(u)


def poses(sim, twin):
    """Largest difference of positions [m] and quaternions."""
    names = list(sim.mechanism.bodies)
    x = np.array([sim.body_position(name) for name in names])
    q = np.array([sim.body_orientation(name) for name in names])
    return max(np.abs(x - twin.x[1:]).max(), np.abs(aligned(q, twin.q[1:]) - twin.q[1:]).max())


def velocities(sim, twin):
    """Largest difference of the velocities at the knot [m/s, rad/s]."""
    V, _ = twin.knot_velocities()
    found = [
        np.append(sim.body_velocity(name), sim.body_angular_velocity(name))
        for name in sim.mechanism.bodies
    ]
    return np.abs(np.array(found) - V).max()


def forces(sim, twin):
    """Largest difference of what the contacts exert on a body over the largest: forces [N], and moments of 1 m.

    How they share it is their own matter, where they are redundant.
    """
    here, there = sim.contacts.force, twin.touched
    off = np.zeros((twin.n + 1, 2, 3))
    for force, ends in zip(here - there, twin.touching.ends, strict=True):
        for end in ends:
            place = rotate(twin.touching.q[end.body], end.press)
            off[end.body] += end.sign * np.array([force, np.cross(place, force)])
    return np.abs(off).max() / max(1.0, np.abs(there).max(initial=0.0))
