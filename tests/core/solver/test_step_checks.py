"""Checks of a solved step: those pass whose energy forces explain, others fail or lose their rebounds."""

import numpy as np
import pytest

from scenes.plain_python import Fields, solved_step
from scenes.touching_scenes import slider, wheel_drive
from vigym import Simulator
from vigym.core.solver import step_checks
from vigym.core.solver.explained_work import EnergyChange
from vigym.core.solver.iteration import Solution
from vigym.core.solver.parts import first_parts
from vigym.core.tables.plan import BALL_CONTACT

H = 0.01
SCALE = 10.0  # force times length scale [J]


def parts(size=1.0):
    return first_parts(np.True_, np.float64(size), np.False_)


@pytest.mark.parametrize(
    ("more", "rejected"), [(0.0, False), (-0.1, False), (0.1, True), (-0.4, True)]
)
def test_a_body_that_turns_abruptly_has_found_another_root(more, rejected):
    """Here the turn of a free flywheel, 0.2 rad, is changed by ``more`` in its step; the last keeps its energy."""
    sim = Simulator(wheel_drive(), timestep=H)
    sim.reset(velocities={"axle": 20.0})
    assert sim.step().converged
    d, step, solved = solved_step(sim, H)
    pose = d.pose(step.knot3, 1)
    half = 0.5 * H * pose.angular_velocity[1] + 0.5 * more
    pose.angular_velocity, pose.cosine = (0.0, 2.0 * np.sin(half) / H, 0.0), np.cos(half)
    rate = np.float64(abs(2.0 * half / H))
    after = step_checks.reject_wrong_steps(d, step, parts(), rate, solved)
    assert (bool(after.done), bool(after.failed)) == (not rejected, rejected)


def change(before, gain, explained):
    values = before, before + gain, before, gain, gain, explained, SCALE
    return EnergyChange(*map(np.float64, values))


@pytest.mark.parametrize("explained", [0.0, 3.0])
def test_a_gain_beyond_its_explanation_is_found(explained):
    allowed = 0.02 * 5.0 + step_checks.LEAST_GAIN * SCALE + explained
    for gain, found in ((0.99 * allowed, False), (1.01 * allowed, True), (-5.0, False)):
        assert bool(step_checks.find_lanes_that_gain(change(5.0, gain, explained), 0.02)) == found


@pytest.mark.parametrize("turn", [0.0, 0.2, 5.0])
def test_a_smooth_step_may_gain_more_the_farther_it_turns(turn):
    jumps = [
        g
        for g in np.linspace(0.0, 3.0, 301)
        if step_checks.find_lanes_that_jump({}, change(5.0, g, 1.0), turn)
    ]
    share = min(0.05 + 1.5 * turn**2, 0.23)
    expected = (1.0 + step_checks.LEAST_GAIN * SCALE + 5.0 * share) / (1.0 - share)
    assert jumps[0] == pytest.approx(expected, abs=0.011)
    assert len(jumps) == pytest.approx(301 - 100 * jumps[0], abs=1.1)


def contacts(*rows):
    environment = Fields(step_size=H, force_scale=SCALE, length_scale=1.0, rebound_energy=2.0)
    return Fields(
        contact_count=len(rows),
        contact=rows.__getitem__,
        environment=environment,
        features={"contacts"},
    )


def contact(power=0.0, kind=BALL_CONTACT, rebound=0.0, force=0.0):
    forces = {"converged_force": (np.float64(force),), "last_force": (np.float64(0.0),)}
    rebound = np.float64(rebound)
    return Fields(kind=kind, power=power, rebound_velocity=rebound, **forces)


STEP = Fields(h=H, rho=1.0)


@pytest.mark.parametrize("given", [2.1, 3.0, 5.0, 1e4])
def test_rebounds_give_no_more_than_landings_took(given):
    """Their energy goes with the square of their velocity."""
    row = contact(-given / H, rebound=2.0)
    still = change(5.0, 0.0, 0.0)
    found = step_checks.reduce_rebounds_that_gain(contacts(row), STEP, parts(0.01), still, np.True_)
    share = row.rebound_velocity / 2.0
    assert found
    assert given * share**2 < 2.02 or share == step_checks.LEAST_SHARE
    assert given * share**2 > 1.9


def test_a_rebound_that_gives_less_stays_and_a_long_step_with_a_landing_is_halved_first():
    still = change(5.0, 0.0, 0.0)
    row = contact(-1.9 / H, rebound=2.0)
    assert not step_checks.reduce_rebounds_that_gain(contacts(row), STEP, parts(), still, np.True_)
    assert row.rebound_velocity == 2.0
    row, landing = contact(-3.0 / H, rebound=2.0), contact(force=1.0)
    assert step_checks.reduce_rebounds_that_gain(
        contacts(row, landing), STEP, parts(), still, np.True_
    )
    assert row.rebound_velocity == 2.0
    step_checks.remove_rebounds_of_short_steps(contacts(row), parts(0.5), np.True_)
    assert row.rebound_velocity == 2.0
    step_checks.remove_rebounds_of_short_steps(contacts(row), parts(0.1), np.True_)
    assert row.rebound_velocity == 0.0


@pytest.mark.parametrize(
    ("options", "rough"), [({}, False), ({"stiffness": 0.1}, False), ({"stiffness": 50.0}, True)]
)
def test_work_is_known_roughly_where_springs_act(options, rough):
    sim = Simulator(slider(**options), timestep=H)
    sim.reset()
    d, step, _ = solved_step(sim, H)
    assert bool(step_checks.find_lanes_of_rough_work(d, step)) == rough


def test_steps_of_many_iterations_and_short_parts_are_suspects_earlier():
    def suspect(iterations, turn, size=1.0):
        solved = Solution(np.True_, np.False_, np.float64(iterations), 0.0, np.False_)
        lanes = step_checks.find_lanes_to_check_roots({}, parts(size), np.float64(turn), solved)
        return bool(lanes)

    assert not suspect(3.0, 0.01)
    assert suspect(5.0, 0.01)
    assert suspect(3.0, 0.07)
    assert not suspect(5.0, 0.001)
    assert not suspect(3.0, 0.001, 0.5)
    assert suspect(3.0, 0.001, 1e-3)
