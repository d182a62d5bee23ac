"""Curve, surface and custom joints against the slow twin, whose rows are differences."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_tracks import TrackTwin
from scenes.custom_joints import JOINTS, hanging_chain, held
from scenes.tracks import CURVES, SURFACE_CASES, hanging, random_tracks, sliding, torus_chain
from vigym import Simulator
from vigym.mechanism.tracks.slides import Slide


def assert_steps_are_the_twins(mech, steps=2):
    """From where the simulator starts, at rest."""
    sim, twin = Simulator(mech, tolerance=1e-13), TrackTwin(mech)
    names = list(mech.bodies)
    twin.x[1:] = [sim.body_position(name) for name in names]
    twin.q[1:] = [sim.body_orientation(name) for name in names]
    # the twin's places and tangents are differences of fourth order over 1e-3
    assert np.abs(twin.constraint(twin.x, twin.q)).max() < 1e-9
    for _ in range(steps):
        assert sim.step().converged
        twin.step()
    places = [sim.body_position(name) for name in names]
    np.testing.assert_allclose(places, twin.x[1:], atol=1e-8)
    turns = [sim.body_orientation(name) for name in names]
    np.testing.assert_allclose(np.abs(turns), np.abs(twin.q[1:]), atol=1e-8)
    speeds = [sim.body_velocity(name) for name in names]
    np.testing.assert_allclose(speeds, twin.knot_velocities()[0][:, :3], atol=1e-6)


@pytest.mark.parametrize(("name", "spin"), SURFACE_CASES)
def test_surfaces(name, spin):
    assert_steps_are_the_twins(hanging(name, spin))


@pytest.mark.parametrize("axis", [None, (0.8, 0.3, 0.5)], ids=["free", "axis"])
@pytest.mark.parametrize("name", CURVES)
def test_curves(name, axis):
    assert_steps_are_the_twins(sliding(name, axis))


@pytest.mark.parametrize("name", JOINTS)
def test_joints_of_ones_own(name):
    assert_steps_are_the_twins(held(name))


@pytest.mark.parametrize("seed", range(2))
def test_random_trees_with_such_joints(seed):
    assert_steps_are_the_twins(random_tracks(seed, Slide(damping=0.5, stiffness=3.0, rest=0.1)))


def test_a_chain_of_joints_of_ones_own():
    assert_steps_are_the_twins(hanging_chain())


def test_torus_chain():
    assert_steps_are_the_twins(torus_chain(2))
