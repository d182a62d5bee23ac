"""Starts on the ground: floating bodies moved until they touch, and what keeps its place meanwhile."""

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.touching import lowest
from scenes.trees import unit
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.shapes import Sphere


@pytest.mark.parametrize("height", [0.1, 0.7, 0.25])
def test_lift_puts_the_lowest_point_on_the_ground(height):
    sim = Simulator(scenes.box(height, orientation=unit(np.array([1.0, 0.3, 0.2, 0.1]))))
    before = sim.body_position("box")
    sim.reset(place_on_ground=True)
    assert lowest(sim) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(sim.body_position("box")[:2], before[:2], atol=1e-15)
    sim.reset()
    np.testing.assert_allclose(sim.body_position("box"), before, atol=1e-15)


def test_lift_moves_a_whole_robot_along_the_normal():
    mech = scenes.quadruped(clearance=0.3)
    sim = Simulator(mech)
    before = sim.body_states[:, :3].copy()
    sim.reset(place_on_ground=True)
    assert lowest(sim) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(
        sim.body_states[:, :3] - before, np.tile([0, 0, -0.3], (len(before), 1)), atol=1e-12
    )


def resting(places):
    """Balls above the ground, each a floating body."""
    mech = Mechanism(ground=True)
    for name, place in places.items():
        mech.add_body(name, 1.0, (0.1, 0.1, 0.1), place)
        mech.add_collision(name, name, Sphere(radius=0.1))
    return mech


def heights(mech):
    sim = Simulator(mech)
    sim.reset(place_on_ground=True)
    assert sim.constraint_residual() < 1e-10
    return [pytest.approx(float(sim.body_position(name)[2]), abs=1e-12) for name in mech.bodies]


def test_lift_keeps_the_places_of_bodies_that_pairs_or_closing_joints_join():
    places = {"a": (0, 0, 0.5), "b": (0, 0, 0.8), "c": (1, 0, 0.4)}
    assert heights(resting(places)) == [0.1, 0.1, 0.1]
    paired = resting(places)
    paired.add_pair("a", "b")
    assert heights(paired) == [0.1, 0.4, 0.1]
    tied = resting(places)
    for body in ("b", "c"):
        tied.add_joint(f"{body}:free", "floating", "world", body, places[body])
    tied.add_joint("tie", "spherical", "b", "c", (0.5, 0, 0.6))
    assert heights(tied) == [0.1, 0.5, 0.1]


def test_lift_leaves_what_a_closing_joint_holds_to_the_world():
    mech = resting({"a": (0, 0, 0.5), "b": (0, 0, 0.8)})
    mech.add_joint("a:free", "floating", "world", "a", (0, 0, 0.5))
    mech.add_joint("hook", "spherical", "world", "a", (0, 0, 0.6))
    assert heights(mech) == [0.5, 0.1]


def test_deep_starts_are_refused_on_demand():
    """The error names contacts and depths, deepest first; the state stays as it was."""
    mech = resting({"low": (0, 0, 0.02), "high": (1, 0, 0.07), "free": (2, 0, 0.1)})
    sim = Simulator(mech)
    before = sim.state
    with pytest.raises(
        AssemblyError, match=r"2 contacts .* 'low' 0\.08 m, 'high' 0\.03 m, expected"
    ):
        sim.reset(velocities=np.ones(18), overlaps="refuse")
    assert np.array_equal(sim.state, before)
    sim.reset(overlaps="refuse", place_on_ground=True)
    with pytest.raises(ValueError, match="overlaps"):
        sim.reset(overlaps="lift")
