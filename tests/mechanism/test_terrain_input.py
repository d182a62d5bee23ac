"""Terrain: checks, and what its makers make."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from vigym import Ground, Mechanism, MechanismError, Simulator, Terrain
from vigym.mechanism.elements.ground import maps


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0], 0.1), r"terrain heights: found shape \(2,\), expected \(columns, rows\)"),
        (([[0.0, np.nan], [0.0, 0.0]], 0.1), "terrain heights: found nan or infinity"),
        (("hills", 0.1), "terrain heights: found 'hills', expected an array of metres"),
        ((np.zeros((2, 2)), 0.0), "terrain cell: found 0.0, expected a number > 0"),
        ((np.zeros((2, 2)), 1.0, (1.0,)), r"terrain origin: found \(1.0,\), expected \(x, y\)"),
    ],
)
def test_wrong_terrain(arguments, message):
    with pytest.raises(MechanismError, match=message):
        Terrain(*arguments)


def test_terrain_needs_a_level_plane():
    with pytest.raises(MechanismError, match="ground terrain: found a plane of height 1"):
        Ground(height=1.0, terrain=maps.slope())


@pytest.mark.parametrize("kind", ["skate", "wheel"])
def test_skates_and_wheels_need_a_plane(kind):
    mech = Mechanism(ground=Ground(terrain=maps.slope()))
    mech.add_body("cart", 1.0, (1.0, 1.0, 1.0), (0.0, 0.0, 0.1))
    if kind == "skate":
        mech.add_skate("blade", "cart", (0, 0, 0), (1, 0, 0))
    else:
        mech.add_wheel("blade", "cart", (0, 0, 0), (0, 1, 0), 0.1)
    with pytest.raises(MechanismError, match="found skate or wheel 'blade', expected a plane"):
        Simulator(mech)


def test_unknown_map():
    mech = Mechanism(ground=Ground(terrain=maps.rough(maps=2)))
    mech.add_body("ball", 1.0, (1.0, 1.0, 1.0), (0.0, 0.0, 0.1))
    mech.add_contact("skin", "ball", (0, 0, 0), radius=0.1)
    sim = Simulator(mech)
    state = sim.state
    for wrong in (2, -1, 0.5, [0, 1]):
        with pytest.raises(ValueError, match="terrain_map: found"):
            sim.reset(terrain_map=wrong)
    np.testing.assert_array_equal(sim.state, state)


def test_copies_stay_read_only():
    terrain = maps.slope()
    for each in (copy.deepcopy(terrain), pickle.loads(pickle.dumps(terrain))):
        np.testing.assert_array_equal(each.heights, terrain.heights)
        assert not each.heights.flags.writeable


def test_slope_rises_by_its_angle():
    found = maps.slope(0.2).height([-1.0, 0.5, 1.5], 0.3)
    np.testing.assert_allclose(found, [0.0, 0.0, np.tan(0.2)], atol=1e-12)


def test_steps_rise_one_by_one():
    terrain = maps.steps(0.03, 0.3)
    x = 0.5 + 0.3 * np.arange(-1, 4) + 0.15
    np.testing.assert_allclose(terrain.height(x, 0.0), 0.03 * np.arange(5), atol=1e-12)
    assert terrain.height(0.47, 0.0) == 0.0


@pytest.mark.parametrize("make", [maps.boxes, maps.rough])
def test_random_maps_are_seeded_and_level_about_the_origin(make):
    terrain = make(height=0.05, maps=3, seed=7)
    again, other = make(height=0.05, maps=3, seed=7), make(height=0.05, maps=3, seed=8)
    np.testing.assert_array_equal(terrain.heights, again.heights)
    assert (terrain.heights != other.heights).any()
    assert (terrain.heights[0] != terrain.heights[1]).any()
    assert 0.04 < terrain.heights.max() <= 0.05
    x, y = np.meshgrid(np.linspace(-0.35, 0.35, 15), np.linspace(-0.35, 0.35, 15))
    np.testing.assert_array_equal(terrain.height(x, y), 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: maps.slope(1.5), "slope angle: found 1.5, expected -1.4 to 1.4 rad"),
        (lambda: maps.boxes(-1.0), "boxes height: found -1.0, expected a finite number >= 0"),
        (lambda: maps.rough(size=0.0), "rough size: found 0.0, expected a number > 0"),
    ],
)
def test_wrong_sizes(make, message):
    with pytest.raises(MechanismError, match=message):
        make()


@pytest.mark.parametrize("make", [maps.slope, maps.steps, maps.boxes, maps.rough])
def test_terrain_is_as_long_and_wide_as_asked_for(make):
    """To the nearest even number of cells; the part about the origin is that of any size."""
    terrain, usual = make(length=12.0, width=2.0), make()
    _, columns, rows = terrain.heights.shape
    assert abs((columns - 1) * terrain.cell - 12.0) <= terrain.cell
    assert abs((rows - 1) * terrain.cell - 2.0) <= terrain.cell
    if make in (maps.slope, maps.steps):  # the others are random
        x, y = np.linspace(-3.9, 3.9, 50), np.linspace(-0.9, 0.9, 50)
        np.testing.assert_allclose(terrain.height(x, y), usual.height(x, y), atol=1e-12)
        assert terrain.height(6.0, 0.0) > usual.height(6.0, 0.0)
    with pytest.raises(MechanismError, match="terrain length: found 0"):
        make(length=0.0)


def test_mixed_terrain_has_the_slopes_and_steps_that_it_names():
    """Every map is level about the origin; far ahead heights are those of its slope or steps."""
    terrain = maps.mixed()
    near = np.linspace(-0.4, 0.4, 9)
    x, slope = 12.01, 0.105 * 11.51
    steep, steps = 0.18 * 11.51, np.floor(11.51 / 0.4) + 1.0
    ahead = [terrain.height(x, 0.0, k) for k in range(terrain.maps)]
    for k in range(terrain.maps):
        np.testing.assert_allclose(terrain.height(near[:, None], near, k), 0.0, atol=1e-12)
    expected = [0.0, slope, -slope, 0.0, 0.0, 0.02 * steps, -0.02 * steps]
    np.testing.assert_allclose(ahead[:7], expected, atol=1e-9)
    np.testing.assert_allclose(ahead[8:12], [steep, -steep, 0.03 * steps, -0.03 * steps], atol=1e-9)
    across = [terrain.height(x, [-1.0, 1.0], k) for k in (3, 4)]
    np.testing.assert_allclose(np.diff(across), [[0.21], [-0.21]], atol=1e-9)
    boxes = terrain.height(np.linspace(1, 19, 500), 0.4, 7)
    assert 0.0 <= boxes.min() < boxes.max() <= 0.03
    assert (np.abs(terrain.height(np.linspace(1, 19, 500), 0.4, 12)) <= 0.03).all()
