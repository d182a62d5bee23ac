"""Starts of mechanisms with loops that a person may ask for, and those that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.loops_plane import Drawing
from scenes.loops_space import hanging_rope
from vigym import AssemblyError, Mechanism, Simulator


def four_bar(a, b, c, d):
    """Bars a-b, b-c, d-c between pivots a and d on the ground; `close` closes the loop at c."""
    drawing = Drawing()
    for name, start, end in (("crank", a, b), ("coupler", b, c), ("rocker", d, c)):
        drawing.bar(name, start, end)
    drawing.hinge("left", "world", "crank", a)
    drawing.hinge("knee", "crank", "coupler", b)
    drawing.hinge("right", "world", "rocker", d)
    drawing.hinge("close", "coupler", "rocker", c)
    return drawing.mech


def uneven():
    return four_bar((0.0, 0.0), (0.3, 1.0), (2.0, 1.6), (2.2, 0.0))


def flat(lean):
    """A parallelogram, its bars in line but for an angle [rad]."""
    up = np.array([np.cos(lean), np.sin(lean)])
    return four_bar((0.0, 0.0), up, up + (2.0, 0.0), (2.0, 0.0))


@pytest.mark.parametrize("turns", [0, 1, -1, 3])
def test_full_turns_of_a_closing_joint_change_no_pose(turns):
    sim = Simulator(uneven())
    sim.reset({"close": 0.2})
    pose = sim.joint_positions
    sim.reset({"close": 0.2 + 2.0 * np.pi * turns})
    np.testing.assert_allclose(
        sim.joint_positions, pose + 2.0 * np.pi * turns * np.array([0, 0, 0, 1]), atol=1e-9
    )


@pytest.mark.parametrize(
    "given",
    [
        {"velocities": {"close": 1.0, "right": 1.0}},
        {"positions": {"close": 0.2, "right": 0.1}},
        {"positions": {"left": 0.2, "knee": 0.1, "right": 0.1, "close": 0.1}},
        {"positions": {"left": 0.2, "right": 0.1}},
        {"velocities": {"left": 0.2, "right": 0.1}},
    ],
)
def test_too_much_is_given(given):
    sim = Simulator(uneven())
    before = sim.state
    with pytest.raises(AssemblyError, match="name fewer"):
        sim.reset(**given)
    np.testing.assert_array_equal(sim.state, before)


@pytest.mark.parametrize(("damping", "stiffness"), [(0.0, 0.0), (0.3, 0.0), (0.3, 2.0)])
def test_a_start_does_not_depend_on_the_state_before_it(damping, stiffness):
    sim = Simulator(hanging_rope(damping=damping, stiffness=stiffness), timestep=0.01)
    starts = []
    for _ in range(3):
        sim.reset({"ball1": (0.9, 0.1, 0.3, 0.0)}, {"ball1": (0.5, 1.0, 0.2)})
        starts.append(sim.state)
        for _ in range(20):
            assert sim.step().converged
    np.testing.assert_array_equal(starts[1:], starts[:-1])


def test_fast_rates_are_closed_to_their_own_rounding():
    sim = Simulator(uneven())
    sim.reset(velocities={"left": 1e6})
    assert sim.joint_velocities[0] == pytest.approx(1e6, rel=1e-9)


@pytest.mark.parametrize("lean", [0.0, 1e-9, 1e-7])
def test_rates_that_several_motions_complete_are_asked_for(lean):
    sim = Simulator(flat(lean))
    with pytest.raises(AssemblyError, match="singular pose of the loops"):
        sim.reset(velocities={"left": 2.0})
    sim.reset(velocities={"left": 2.0, "knee": -2.0, "right": 2.0})
    for _ in range(20):
        assert sim.step().converged
    assert np.ptp(sim.joint_velocities[[0, 2]]) < 1e-6


@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12])
def test_a_stiff_spring_turns_without_gaining_energy(stiffness):
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("ball", 1.0, (0.1, 0.1, 0.1), (1.0, 0.0, 0.0))
    mech.add_spring("spring", "world", "ball", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), stiffness, 1.0)
    sim = Simulator(mech)
    sim.reset(velocities={"ball:floating": (0.0, 0.5, 0.0, 0.0, 0.0, 0.0)})
    for _ in range(300):
        assert sim.step().converged
    assert sim.energy().total == pytest.approx(0.125, rel=1e-3)


def three_cranks(error):
    """One coupler on three equal cranks, the third pin off by an error [m]: it is redundant only where it fits."""
    drawing = Drawing()
    for i in range(3):
        drawing.bar(f"crank{i}", (i, 0.0), (i + 0.3, 0.4))
        drawing.hinge(f"ground{i}", "world", f"crank{i}", (i, 0.0))
    drawing.bar("rod", (0.3, 0.4), (2.3, 0.4))
    drawing.hinge("pin0", "crank0", "rod", (0.3, 0.4))
    drawing.hinge("pin1", "crank1", "rod", (1.3, 0.4))
    off = drawing.place((2.3, 0.4)) + (error, error, 0.0)
    drawing.hinge("pin2", "rod", "crank2", (2.3, 0.4), child_position=off)
    return drawing.mech


def test_an_assembly_far_from_a_small_gap_is_told():
    with pytest.warns(UserWarning, match="a large move of other joints"):
        sim = Simulator(three_cranks(1e-6))
    assert [entry.action for entry in sim.mechanism.notes] == ["assembled"]
    assert "pin2" in str(sim.mechanism.notes[0])
    assert sim.constraint_residual() <= 1e-10


def test_an_assembly_that_is_none_is_silent(recwarn):
    assert Simulator(three_cranks(0.0)).mechanism.notes == []
    assert not recwarn


def test_a_start_that_nearly_fits_is_the_same_beside_one_that_is_far():
    # The far one takes more stages, which must not move its neighbour on.
    one = Simulator(uneven())
    fitting = []
    for left in (0.1, 0.9):
        one.reset({"left": left})
        fitting.append(one.joint_positions[2])
    right = np.array(fitting) + (4e-8, 0.0)
    one.reset({"left": 0.1, "right": right[0]})
    both = Simulator(uneven(), batch=2)
    both.reset({"left": np.array([0.1, 0.9]), "right": right})
    np.testing.assert_array_equal(both.joint_positions[0], one.joint_positions)
