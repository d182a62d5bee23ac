"""Held wrenches and prescribed motions against the slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_inputs import DrivenTwin
from scenes.agreement import assert_same_knot
from scenes.trees import by_joint, random_positions, random_rates, random_tree
from vigym import Simulator

KINDS = ["revolute", "prismatic", "cylindrical", "planar", "universal"]


def wrench(rng):
    """Force, torque and point of a random wrench."""
    return tuple(rng.normal(size=(3, 3)))


@pytest.mark.parametrize("seed", range(3))
def test_wrenches_on_random_trees(seed):
    """Both kinds of directions, changed every ten steps."""
    rng = np.random.default_rng(seed)
    mech = random_tree(seed, rng.permutation([*KINDS, "spherical"]), damping=0.2)
    positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    sim, twin = Simulator(mech, tolerance=1e-13), DrivenTwin(mech)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    for k in range(30):
        if k % 10 == 0:
            body, given = f"b{rng.integers(len(mech.bodies))}", wrench(rng)
            frame = rng.choice(["world", "body"])
            sim.forces.apply(body, *given, frame=frame)
            twin.held[body] = (*given, frame == "body")
        assert sim.step().converged
        twin.step()
        if k % 10 in (0, 9):
            assert_same_knot(sim, twin)


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("kind", KINDS)
def test_motions_of_each_joint_type(kind, loops):
    """One coordinate of each of two joints is prescribed, the others are free."""
    mech = random_tree(5, [kind, "spherical", kind, "universal"], damping=0.2)
    for k, joint in enumerate(mech.tree_joints[:3:2]):
        mech.add_motion(joint.position_names[-1 if k else 0], lambda t: 0.3 * np.sin(3.0 * t))
    positions, rates = random_positions(5, mech), random_rates(5, mech)
    for name in mech.motions:
        index = mech.velocity_names.index(name)
        rates[index] = 0.9
        joint = next(j for j in mech.tree_joints if name in j.position_names)
        positions[joint.name][joint.position_names.index(name)] = 0.0
    sim, twin = Simulator(mech, loops=loops, tolerance=1e-13), DrivenTwin(mech)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    for k in range(30):
        share = 2.0 / (1.0 + twin.h1 / twin.h)
        assert sim.step().converged
        twin.step()
        if k % 10 in (0, 9):
            assert_same_knot(sim, twin)
            expected = share * twin.lam[-2:]
            np.testing.assert_allclose(sim.forces.motions, expected, rtol=1e-7, atol=1e-7)
