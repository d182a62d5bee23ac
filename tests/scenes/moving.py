"""Simulators in the middle of a motion, for the tests of what a person may do with them."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import rotate
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator


def tree(seed=0, **options):
    return random_tree(seed, TYPES, **options)


def moving(mech, steps=10, seed=0, **options):
    """A simulator in the middle of a motion under torques."""
    sim = Simulator(mech, **options)
    sim.reset(random_positions(seed, mech), by_joint(mech, random_rates(seed, mech)))
    drive(sim, steps)
    return sim


def drive(sim, steps):
    shape = np.shape(sim.time) + (len(sim.mechanism.actuator_names),)
    for torques in np.random.default_rng(1).normal(size=(steps, *shape)):
        assert np.all(sim.step(torques).converged)


def motion(sim):
    """The state without the outcome of the last call, which a failed step reports there."""
    return sim.state[..., : -sim.readings.status_rows.shape[1]]


def assert_works_as_before(sim, before):
    """The state is the one before, and steps go on from it."""
    np.testing.assert_array_equal(motion(sim), before)
    fresh = Simulator(
        sim.mechanism,
        sim.timestep,
        sim.options.order,
        sim.options.loops,
        sim.options.tolerance,
        sim.batch,
    )
    fresh.state = sim.state
    drive(sim, 3)
    drive(fresh, 3)
    np.testing.assert_array_equal(sim.state, fresh.state)


def pendulum(effort=None, damping=0.0):
    mech = Mechanism()
    mech.add_body("arm", 1.0, 0.1 * np.eye(3), (0.0, 0.0, -0.5))
    mech.add_joint(
        "pin",
        "revolute",
        "world",
        "arm",
        (0.0, 0.0, 0.0),
        axis=(0, 1, 0),
        effort=effort,
        damping=damping,
    )
    return mech


def whip():
    """Twelve light links on a pin in the world: struck hard, some of its steps have to be halved."""
    mech = Mechanism()
    parent = "world"
    for k in range(12):
        mech.add_body(f"link{k}", 0.05, np.diag([1e-4, 1e-4, 1e-5]), (0.0, 0.0, -0.1 - 0.2 * k))
        mech.add_joint(
            f"hinge{k}",
            "revolute",
            parent,
            f"link{k}",
            (0.0, 0.0, -0.2 * k),
            axis=(0, 1, 0),
            effort=np.inf,
        )
        parent = f"link{k}"
    return mech


def momentum(sim):
    """Linear [kg m/s] and angular momentum about the origin [kg m^2/s] of all bodies, (6,)."""
    total = np.zeros(6)
    for name, body in sim.mechanism.bodies.items():
        linear = body.mass * sim.body_velocity(name)
        spin = rotate(sim.body_orientation(name), body.inertia @ sim.body_angular_velocity(name))
        total += np.append(linear, np.cross(sim.body_position(name), linear) + spin)
    return total


def oscillation(sim, seconds, every):
    """(times, energies) sampled every so many steps."""
    count = round(seconds / (sim.timestep * every))
    energies = np.empty(count)
    for k in range(count):
        status = sim.step(substeps=every)
        assert status.converged
        assert status.halvings == 0
        energies[k] = sim.energy().total
    return (np.arange(count) + 1.0) * sim.timestep * every, energies
