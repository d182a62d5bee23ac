"""Calls of the step: torques within their efforts, work along a known way, and lanes that fail."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, data_of
from scenes.touching_scenes import slider, wheel_drive
from vigym import Simulator
from vigym.core.kernels import step
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import HEADER

H = 0.01


def call(torque=0.0, substeps=1, budget=100, order=2):
    status = np.zeros((1, step.STATUS_COLUMNS))
    return step.Call(
        np.array([[torque]]), np.zeros((1, 0)), H, order, substeps, TOLERANCE, budget, status
    )


@pytest.mark.parametrize(("given", "applied"), [(3.0, 3.0), (7.0, 5.0), (-7.0, -5.0)])
def test_torques_are_clipped_to_the_effort(given, applied):
    d = data_of(Simulator(slider(effort=5.0)))
    clipped = step.apply_torques(d, np.array([[given]]), 0)
    assert d.dof(0).applied_torque == applied
    assert bool(clipped) == (given != applied)


@pytest.mark.parametrize("make", [lambda: slider(effort=50.0), lambda: wheel_drive(effort=50.0)])
def test_the_work_of_a_torque_is_that_along_its_way(make):
    sim = Simulator(make(), timestep=H)
    sim.reset()
    d, made = data_of(sim), call(3.0, 5)
    step.step_group(d, made, 0, np.True_)
    way = step.stored_coordinate(d, 1, 0)
    assert d.environment.work == pytest.approx(3.0 * way)
    assert made.status[0, 0] == 1.0
    assert made.status[0, 5] == pytest.approx(
        3.0 * way / (5.0 * H), rel=1e-6
    )  # power of one that only drives
    assert d.environment.time == pytest.approx(5.0 * H)


def test_a_lane_that_fails_ends_as_it_was():
    """Here without a budget of iterations."""
    sim = Simulator(slider(effort=5.0, friction=1.0), timestep=H)
    sim.reset(velocities={"rail": 1.0})
    sim.step()
    d = data_of(sim)
    knot = knot_buffer(d, 0)
    time, place = d.environment.time, step.stored_coordinate(d, 1, 0)
    velocity, made = d.pose(knot, 1).velocity, call(3.0, 3, 0)
    step.step_group(d, made, 0, np.True_)
    assert made.status[0, 0] == 0.0
    assert d.environment.time == time
    assert step.stored_coordinate(d, 1, 0) == place
    assert d.pose(knot_buffer(d, 0), 1).velocity == velocity
    made = call(3.0, 3)
    step.step_group(d, made, 0, np.True_)
    assert made.status[0, 0] == 1.0
    assert d.environment.time == pytest.approx(time + 3.0 * H)


def test_a_composition_takes_all_of_its_stages():
    ends = []
    for order in (2, 4, 6):
        sim = Simulator(slider(effort=5.0), timestep=H)
        sim.reset()
        d = data_of(sim)
        step.step_group(d, call(3.0, 2, order=order), 0, np.True_)
        ends.append((d.environment.time, step.stored_coordinate(d, 1, 0)))
    for end in ends:
        assert end == pytest.approx((2.0 * H, 0.5 * 3.0 * (2.0 * H) ** 2))


def test_an_interrupted_call_takes_no_further_step():
    sim = Simulator(slider(effort=5.0), timestep=H)
    sim.reset()
    d = data_of(sim)
    sim._plant.groups.tables[0][HEADER.offset("interrupted")] = 1
    made = call(3.0, 5)
    step.step_group(data_of(sim), made, 0, np.True_)
    assert d.environment.time == 0.0
    assert step.stored_coordinate(d, 1, 0) == 0.0
