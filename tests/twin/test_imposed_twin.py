"""Constraints of velocities, and potentials, against the slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_imposed import ImposedTwin
from scenes.agreement import assert_same_knot
from scenes.fields import add_bowl
from scenes.trees import by_joint, random_positions, random_rates, random_tree
from vigym import Simulator

KINDS = ["revolute", "spherical", "universal", "floating", "prismatic"]


def weights(rng):
    """Random weights of one body."""
    return rng.normal(size=(2, 3))


def constrain(mech, rng, *frames, pushed=False):
    """Constrain sums over random bodies, at a rate that changes."""
    for number, frame in enumerate(frames):
        bodies = [str(name) for name in rng.permutation(list(mech.bodies))[:3]]
        pushes = {body: weights(rng) for body in bodies} if pushed else None
        terms = {body: weights(rng) for body in bodies}
        if pushed:  # along the weights, and something else besides
            pushes = {body: terms[body] + 0.2 * pushes[body] for body in bodies}
        rate = [0.0, lambda t: 0.3 * np.sin(4.0 * t), -0.2][number % 3]
        mech.add_velocity_constraint(f"sum {number}", terms, rate, pushes, frame)


def follow(mech, seed, steps=20, **options):
    """Step simulator and twin from one random state and compare them, and the forces."""
    positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    sim, twin = Simulator(mech, tolerance=1e-13, **options), ImposedTwin(mech)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    assert_same_knot(sim, twin)
    for k in range(steps):
        share = 2.0 / (1.0 + twin.h1 / twin.h)
        assert sim.step().converged
        twin.step()
        if k % 10 in (0, 9):
            assert_same_knot(sim, twin)
            expected = share * twin.lam[len(twin.lam) - len(mech.velocity_constraints) :]
            np.testing.assert_allclose(
                sim.forces.velocity_constraints, expected, rtol=1e-6, atol=1e-6
            )


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("frame", ["world", "body", "b1"])
def test_sums_of_velocities_on_trees(frame, loops):
    mech = random_tree(3, KINDS, damping=0.2)
    constrain(mech, np.random.default_rng(3), frame)
    follow(mech, 3, loops=loops)


@pytest.mark.parametrize("seed", range(2))
def test_several_constraints_with_pushes_of_their_own(seed):
    rng = np.random.default_rng(seed)
    mech = random_tree(seed, rng.permutation(KINDS), damping=0.2, to_world=False)
    constrain(mech, rng, "world", "body", "b2", pushed=True)
    follow(mech, seed)


def test_potentials_on_a_tree():
    mech = random_tree(4, KINDS, damping=0.2)
    add_bowl(mech, "b1")
    add_bowl(mech, "b3")
    follow(mech, 4)
