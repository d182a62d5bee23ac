"""Rods thrown at each other at random: every step is made, momentum stays, nothing is gained, none sinks in."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import pair_scenes as scenes
from scenes.batches import assert_moments_move_alone
from scenes.trees import unit
from vigym import Simulator
from vigym.mechanism.elements.shapes import Capsule
from vigym.metrics import momentum

ROD = Capsule(radius=0.1, length=0.3)
MOMENTS = np.array(
    [0.013, 0.013, 0.01]
)  # a rod's are alike across it: its energy in flight is exact
DEPTH = 1e-6  # [m]


def thrown(seed):
    """Poses and velocities of two rods, the first on its way to the other; every other time that one turns as well."""
    rng = np.random.default_rng(seed)
    first = {
        "position": np.zeros(3),
        "orientation": unit(rng.normal(size=4)),
        "velocity": (2.0, 0.0, 0.0),
    }
    first["angular_velocity"] = 4.0 * rng.normal(size=3)
    second = {
        "position": (0.8, 0.0, 0.0) + rng.uniform(-0.15, 0.15, 3),
        "orientation": unit(rng.normal(size=4)),
    }
    second |= {
        "velocity": 0.3 * rng.normal(size=3),
        "angular_velocity": 4.0 * rng.normal(size=3) * (seed % 2),
    }
    return {"a": first, "b": second}


def nearly_parallel():
    """Two rods that meet within a step of 0.1 s, nearly parallel: their nearest points run from end to end."""
    first = {
        "position": np.zeros(3),
        "orientation": unit(np.array([-0.11061, 0.4337, -0.87904, 0.16418])),
    }
    first |= {"velocity": (2.0, 0.0, 0.0), "angular_velocity": (-4.51884, -2.93177, 4.15752)}
    second = {"position": (0.79103, -0.02008, -0.04351), "velocity": (-0.56814, -0.1181, -0.00927)}
    second["orientation"] = unit(np.array([-0.57642, 0.55746, -0.57758, -0.15293]))
    return {"a": first, "b": second | {"angular_velocity": np.zeros(3)}}


def simulator(start, h, friction=0.5):
    mech = scenes.space()
    for name, pose in start.items():
        mech.add_body(name, 1.0, MOMENTS, pose["position"], pose["orientation"])
        mech.add_collision(name, name, ROD, friction=friction)
    mech.add_pair("a", "b")
    sim = Simulator(mech, timestep=h)
    sim.reset(base=start)
    return sim


def flies(sim, steps):
    """Let them fly; what has to hold at every step does. Returns the largest force.

    Energies are held against that of the flight before: where bodies touch those of two half steps
        mix in a reading.
    """
    before = momentum(sim)
    energy = sim.energy().total
    force = 0.0
    for k in range(steps):
        assert sim.step().converged, k
        assert sim.contacts.gap.min() >= -DEPTH, k
        assert sim.energy().total <= energy + 1e-9, k
        force = max(force, np.abs(sim.contacts.force).max())
    np.testing.assert_allclose(np.concatenate(momentum(sim)), np.concatenate(before), atol=1e-10)
    return force


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01])
def test_rods_that_meet_nearly_parallel(h):
    assert flies(simulator(nearly_parallel(), h), round(0.8 / h)) > 0.01


@pytest.mark.parametrize("seed", [3, 18, 26, 57, 79, 153])
def test_thrown_rods(seed):
    """At 0.01 s; these are hard: their nearest points run far along them in the step in which they meet."""
    assert flies(simulator(thrown(seed), 0.01), 80) > 1.0


def test_rough_rods_gain_no_energy():
    for seed in range(8):
        flies(simulator(thrown(seed), 0.01, friction=2.0), 80)


def test_a_thrown_stack_moves_side_by_side_as_alone():
    """A contact that has moved to another place in one lane is worked on for its neighbours."""
    sim = Simulator(scenes.stack(0.1), timestep=0.01)
    sim.reset(velocities=2.0 * np.random.default_rng(1).normal(size=len(sim.joint_velocities)))
    assert_moments_move_alone(sim, 8, 6, 12, Simulator.step)
