"""The compiled stepper against the slow twin: same equations, nothing else in common."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive import Twin
from scenes.agreement import run_both
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Simulator


def pair(seed, types, *, h=0.01, order=2, **options):
    """Simulator and twin of one random tree in one random state, and which freedoms are actuated."""
    mech = random_tree(seed, types, **options)
    positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    # Far below the agreement asked for: what each step leaves grows with the motion's own
    # sensitivity.
    sim, twin = Simulator(mech, timestep=h, order=order, tolerance=1e-13), Twin(mech, h, order)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    return sim, twin, np.isin(mech.velocity_names, mech.actuator_names)


@pytest.mark.parametrize("seed", range(4))
def test_random_tree_of_all_joint_types(seed):
    run_both(*pair(seed, np.random.default_rng(seed).permutation(TYPES), damping=0.3), steps=20)


@pytest.mark.parametrize("kind", TYPES)
def test_each_joint_type_under_a_free_root(kind):
    run_both(*pair(10, [kind, "revolute", kind], damping=0.3, to_world=False), steps=20)


@pytest.mark.parametrize("kind", ["cylindrical", "planar", "universal", "floating"])
def test_springs_and_dampers_that_differ_by_freedom(kind):
    run_both(*pair(11, [kind, "revolute", kind], damping=0.3, per_freedom=True), steps=20)


@pytest.mark.parametrize("kind", TYPES)
def test_each_joint_type_with_the_fourth_order_step(kind):
    run_both(*pair(20, [kind, "universal"], order=4), steps=10)


def test_bare_tree_without_springs_dampers_or_armature():
    run_both(*pair(30, TYPES, springs=False, armature=False), steps=20)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "cylindrical", "planar", "universal"])
def test_angles_go_on_past_half_a_turn_and_so_do_their_springs(kind):
    sim, twin, driven = pair(40, [kind], armature=False)
    fast = 25.0 * np.ones(len(driven))
    sim.reset(velocities=by_joint(sim.mechanism, fast))
    twin.reset(velocities=fast)
    farthest = 0.0
    for _ in range(10):
        run_both(sim, twin, driven, steps=10)
        farthest = max(farthest, np.abs(sim.joint_positions[-1]))
    assert farthest > 1.5 * np.pi
