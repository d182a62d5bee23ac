"""Motors, limits and dry friction in a step: forces after increments and parts of them, and their laws."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, evaluated_step, solved_step
from scenes.touching_scenes import double_pendulum, slider
from vigym import Simulator
from vigym.core.joint import bounded_forces
from vigym.core.joint.bounded_laws import step_proximal

H = 0.01
ONE = np.float64(1.0)
PROX = step_proximal(ONE)


def driven():
    mech = slider(effort=5.0, friction=0.3)
    mech.add_motor("rail", kp=30.0, kd=0.5)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"rail": 1.0})
    return sim


def falling():
    sim = Simulator(double_pendulum((-0.2, 0.2), (-0.1, 0.1), friction=0.3), timestep=H)
    sim.reset([0.19, 0.05], [2.0, 3.0])
    return sim


@pytest.mark.parametrize("make", [driven, falling])
def test_an_increment_near_the_solution_leads_to_the_laws(make):
    d, step, found = evaluated_step(make(), H, 5)
    assert found.nonsmooth
    worst, squared, part = bounded_forces.update_bounded_forces(d, ONE, 1.0 / step.h, PROX, False)
    assert worst < 1e-6
    assert squared <= d.dof_count * worst**2
    assert part == 1.0


def test_after_a_whole_increment_a_motor_gives_its_command():
    """It is linear in the motion: what an increment leads to is what the next iteration commands."""
    d, step, _ = evaluated_step(driven(), H, 0)
    bounded_forces.update_bounded_forces(d, np.float64(0.0), 1.0 / step.h, PROX, False)
    before, after = d.dof(0).motor_command, d.dof(0).affine_forces[0]
    d, _, _ = evaluated_step(driven(), H, 1)
    assert d.dof(0).forces[0] == pytest.approx(d.dof(0).motor_command, rel=1e-9)
    assert abs(d.dof(0).motor_command - before) > 1e-6
    assert np.isfinite(after)


@pytest.mark.parametrize("make", [driven, falling])
def test_parts_of_an_increment_are_lines_between_its_ends(make):
    d, _, _ = evaluated_step(make(), H)
    dof = d.dof(0)
    ends = np.array(dof.forces), np.array(dof.affine_forces)
    seen = dof.increment_seen
    bounded_forces.step_bounded_forces(d, np.float64(0.25), np.False_)
    assert dof.forces == pytest.approx(ends[0])
    bounded_forces.step_bounded_forces(d, np.float64(0.25), np.True_)
    assert dof.forces == pytest.approx(0.75 * ends[0] + 0.25 * ends[1])
    assert dof.increment_seen == pytest.approx(0.75 * seen + 0.25 * dof.increment)
    assert np.abs(ends[1] - ends[0]).max() > 1e-3


@pytest.mark.parametrize("make", [driven, falling])
def test_forces_of_a_solution_are_within_their_bounds(make):
    d, step, _ = solved_step(make(), H)
    for p in range(d.dof_count):
        dof = d.dof(p)
        motor, limit, friction = dof.converged_forces
        assert abs(motor) <= dof.force_limit + 1e-9
        assert abs(friction) <= 0.3 + 1e-9
        beyond = dof.start + step.h * dof.seen_rate - 0.2
        assert limit <= 1e-9 or dof.lower > -1.0
        assert limit == pytest.approx(0.0, abs=1e-9) or make is falling
        if make is falling and p == 0:
            assert limit < -1.0
            assert beyond < 1e-6
    before = d.dof(0).converged_forces
    d.dof(0).forces = 9.0, 9.0, 9.0
    bounded_forces.accept_bounded_forces(d, np.False_)
    assert d.dof(0).converged_forces == before
    bounded_forces.accept_bounded_forces(d, np.True_)
    assert d.dof(0).converged_forces == (9.0, 9.0, 9.0)


def test_moments_are_measured_over_the_length():
    d = data_of(falling())
    length = d.environment.length_scale
    found = bounded_forces.distance_from_laws(d, 1, 0, (0.0, 3.0, 1.0), (0.0, 1.0, 1.0))
    assert found == pytest.approx(2.0 / length)
    d = data_of(driven())
    assert bounded_forces.distance_from_laws(d, 1, 0, (0.0, 3.0, 1.0), (0.0, 1.0, 1.0)) == 2.0


@pytest.mark.parametrize(("place", "held"), [(0.2, True), (0.199, False), (0.199999, False)])
def test_at_a_knot_a_limit_that_is_reached_holds_the_rate(place, held):
    sim = Simulator(slider(limits=(-0.5, 0.2)), timestep=H)
    sim.reset([place])
    d = data_of(sim)
    dof = d.dof(0)
    dof.start = place
    bounded_forces.write_knot_law_inputs(d, 1, dof, 0.5)
    assert (dof.lower_clearance, dof.upper_clearance) == (1e30, 0.0 if held else 1e30)
    dof.last_limit_force = -3.0  # where it has held already, from farther away
    bounded_forces.write_knot_law_inputs(d, 1, dof, 0.5)
    assert (dof.upper_clearance == 0.0) == (place > 0.1999)


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("change", [0.5, 1.5, 4.0])
def test_the_part_that_is_left_takes_a_motor_to_its_largest_rate(way, change):
    """And a hundredth further, for its brake to see it."""
    dof = Fields(
        seen_rate=way * 1.0,
        velocity_limit=3.0,
        seen_slope=2.0,
        increment=way * 0.5 * change,
        forces=(1.0, 0.0, 0.0),
        anchor_forces=(1.0, 0.0, 0.0),
        effective_mass=1.0,
    )
    cut = bounded_forces.part_beyond_largest_rate(dof, 100.0, 1e-5)
    end = dof.seen_rate + (1.0 - cut) * way * change
    assert abs(end) == pytest.approx(min(1.0 + change, 1.01 * 3.0))
    dof.seen_rate = way * 3.5  # past it already: nothing is left out
    assert bounded_forces.part_beyond_largest_rate(dof, 100.0, 1e-5) == 0.0
