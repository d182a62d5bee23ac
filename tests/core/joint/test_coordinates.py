"""Coordinates: what is stored is what was given, full turns count, and rates are changes over the step."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, derivative_by_motion, solved_step
from scenes.touching_scenes import wheel_drive
from scenes.trees import random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.core.joint import coordinates
from vigym.core.joint.geometry import rotation_axis, translation_axis
from vigym.core.model.context import knot_buffer

H = 0.01
KINDS = "revolute", "prismatic", "universal", "cylindrical", "planar"


def moving(kind):
    mech = random_tree(2, (kind,))
    sim = Simulator(mech, timestep=H)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 2.0))
    return sim


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_what_was_given(kind):
    sim = moving(kind)
    d = data_of(sim)
    body = d.body(1)
    found = [
        coordinates.stored_coordinate(d, 1, j)
        for j in range(body.translation_count + body.rotation_count)
    ]
    (given,) = random_positions(3, sim.mechanism).values()
    assert found == pytest.approx(list(np.ravel(given)), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rates_and_changes_over_a_step_are_those_of_coordinates(kind):
    """Also their slopes, by a motion along the degree of freedom."""
    d, step, _ = solved_step(moving(kind), H)
    body = d.body(1)
    for j in range(body.translation_count + body.rotation_count):
        before = coordinates.stored_coordinate(d, 1, j)
        rate, slope, _, _ = coordinates.dof_rate_over_step(d, 1, j, step.knot3, step.h)
        change = coordinates.coordinate_change(d, 1, j, rate, slope, step.h)
        assert rate == pytest.approx(change / H, rel=1e-4)
        if body.rotation_count == 2:
            continue  # its axes move each other
        turns = j >= body.translation_count
        axis = (rotation_axis if turns else translation_axis)(
            d, 1, j - turns * body.translation_count, step.knot3
        )
        o = (0.0, 0.0, 0.0)
        motion = {1: (o, axis) if turns else (axis, o)}
        found = derivative_by_motion(
            d,
            step,
            motion,
            lambda j=j: coordinates.dof_rate_over_step(d, 1, j, step.knot3, step.h)[::2],
        )
        _, slope, _, momentum_slope = coordinates.dof_rate_over_step(d, 1, j, step.knot3, step.h)
        assert found == pytest.approx((slope, momentum_slope), rel=1e-6)
        state = d.state.copy()
        coordinates.store_coordinates(d, 1, step.knot3, np.False_)
        np.testing.assert_array_equal(d.state, state)
        coordinates.store_coordinates(d, 1, step.knot3, np.True_)
        assert coordinates.stored_coordinate(d, 1, j) == pytest.approx(before + change, abs=1e-12)
        d.state[:] = state


@pytest.mark.parametrize("rate", [400.0, -400.0])
def test_full_turns_are_counted(rate):
    sim = Simulator(wheel_drive(), timestep=1e-3)
    sim.reset(velocities={"axle": rate})
    sim.step(substeps=60)
    assert sim.joint_positions[0] == pytest.approx(rate * 0.06, rel=1e-2)
    assert abs(data_of(sim).dof(0).turns) >= 1.0


def test_turns_are_counted_where_the_angle_crosses_the_cut():
    for before, after, turns in (
        (3.0, 3.3, 1.0),
        (-3.0, -3.3, -1.0),
        (0.1, -0.1, 0.0),
        (-0.1, 0.1, 0.0),
    ):
        dof = Fields(cosine=np.cos(before), sine=np.sin(before), turns=np.float64(0.0))
        coordinates.store_angle_and_turns(dof, np.cos(after), np.sin(after), np.False_)
        assert dof.turns == 0.0
        coordinates.store_angle_and_turns(dof, np.cos(after), np.sin(after), np.True_)
        assert dof.turns == turns
        assert np.arctan2(dof.sine, dof.cosine) + 2.0 * np.pi * dof.turns == pytest.approx(after)


@pytest.mark.parametrize("angle", [1e-200, 1e-9, 1.0, 3.0, 4.0])
def test_components_of_a_rotation_vector(angle):
    """The shorter way round."""
    axis = np.array((0.6, 0.0, -0.8))
    sines = np.sin(0.5 * angle) * axis
    shorter = angle if angle < np.pi else angle - 2.0 * np.pi
    q = tuple(map(np.float64, (np.cos(0.5 * angle), *sines)))
    found = [coordinates.rotation_vector_component(s, q) for s in q[1:]]
    assert found == pytest.approx(list(shorter * axis), rel=1e-12, abs=0.0)


def test_the_present_knot_is_where_coordinates_were_stored():
    d = data_of(moving("revolute"))
    before = d.state.copy()
    coordinates.store_all_coordinates(d, knot_buffer(d, 0), np.True_)
    np.testing.assert_allclose(d.state, before, atol=1e-15)
