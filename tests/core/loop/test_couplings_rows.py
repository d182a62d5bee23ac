"""Couplings: residuals by coordinates and by rates, and their derivatives."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, derivative, solved_step
from scenes.touching_scenes import geared, screw
from vigym import Simulator
from vigym.core.loop import couplings
from vigym.core.model.context import knot_buffer

H = 0.01
SCENES = {
    "gear": (lambda: geared(-2.0), "axle0", 1.0),
    "screw": (lambda: screw(0.01), "thread", (0.01, 1.0)),
}


def moving(name):
    make, joint, rate = SCENES[name]
    sim = Simulator(make(), timestep=H)
    rates = {"axle0": rate, "axle1": -2.0 * rate} if name == "gear" else {joint: rate}
    sim.reset(velocities=rates)
    assert sim.step().converged
    return sim


@pytest.mark.parametrize("name", SCENES)
def test_a_step_keeps_coordinates_coupled_and_what_is_off_is_the_residual(name):
    d, step, _ = solved_step(moving(name), H)
    assert couplings.coupling_residuals(d, step.knot3, step.h) == pytest.approx(0.0, abs=1e-12)
    row = d.loop_row(0)
    i, j, other, k = couplings.coupled_dofs(d, row)
    starts = d.dof(row.dof), d.dof(row.other_dof)
    for dof, expected in zip(starts, (0.3, -0.3 * row.ratio), strict=True):
        dof.start = dof.start + 0.3
        assert couplings.coupling_residuals(d, step.knot3, step.h) == pytest.approx(abs(expected))
        assert row.residual == pytest.approx(expected)
        dof.start = dof.start - 0.3
    assert (i, other) != (0, 0)
    assert (j, k) == tuple(
        p - d.body(b).first_dof for p, b in ((row.dof, i), (row.other_dof, other))
    )


def test_derivatives_by_dofs_are_those_of_the_residual():
    row = Fields(dof=3, other_dof=5, ratio=-1.7, offset=0.2)
    d = Fields()
    for p in (3, 5, 4):

        def residual(change, p=p):
            values = [0.4 + change[0] * (p == own) for own in (row.dof, row.other_dof)]
            couplings.set_coupling_residual(row, *values)
            return row.residual

        expected = derivative(residual, (1.0,))
        assert couplings.coupling_derivative(d, row, p) == pytest.approx(expected, abs=1e-9)
    assert couplings.set_coupling_residual(row, -1.7 * 0.4 + 0.2, 0.4) == pytest.approx(0.0)


@pytest.mark.parametrize("name", SCENES)
def test_rates_from_velocities(name):
    d = data_of(moving(name))
    knot, row = knot_buffer(d, 0), d.loop_row(0)
    body = d.body(couplings.coupled_dofs(d, row)[0])
    axis = np.array((0.0, 1.0, 0.0) if name == "gear" else (0.0, 0.0, 1.0))
    for i in range(d.body_count):
        d.body(i).delta_position = d.body(i).delta_rotation = (0.0, 0.0, 0.0)
    body.delta_rotation = tuple(3.0 * axis)
    body.delta_position = tuple(0.5 * axis)
    turning = 3.0 if name == "gear" else 0.5 - row.ratio * 3.0
    assert couplings.coupling_rate_residuals(d, knot) == pytest.approx(abs(turning))
    assert row.residual == pytest.approx(turning)
