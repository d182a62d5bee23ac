"""Distances of forces from their laws that an evaluation finds are those that the line search would find."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.plain_python import data_of
from vigym import Mechanism, Simulator
from vigym.core.model.context import knot_buffer
from vigym.core.solver.attempts import PROJECTIONS
from vigym.core.solver.iteration import Iteration, Step
from vigym.core.solver.line_search import squared_law_errors
from vigym.core.solver.residual import PROX, evaluate_iterate, start_step

H = 0.005


def law_errors(sim):
    """Squared errors at the first guess of a step and after the whole increment; then by the line search."""
    d, every = data_of(sim), np.True_
    one, per_h = np.float64(1.0), 1.0 / H
    step = Step(knot_buffer(d, 0), knot_buffer(d, -1), np.float64(H), one)
    start_step(d, step, every, False)
    iteration = Iteration(1, PROJECTIONS, one * PROX, one, one, one, one, one, 1e-10)
    found = evaluate_iterate(d, step, every, every, ~every, iteration)
    return [
        float(found.squared_errors),
        float(found.errors.squared),
        float(squared_law_errors(d, 0.0 * one, per_h, one * PROX, True)),
        float(squared_law_errors(d, one, per_h, one * PROX, True)),
    ]


def arm_on_the_ground(torsion):
    """A box that skids and spins on the ground, with a driven, dry and limited arm."""
    mech = Mechanism(ground=True)
    mech.add_body("box", 2.0, (0.02, 0.02, 0.03), position=(0.0, 0.0, 0.1))
    for k, corner in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        place = (0.2 * corner[0], 0.2 * corner[1], -0.1)
        mech.add_contact(f"corner{k}", "box", place, friction=0.5, torsion=torsion)
    mech.add_body("arm", 0.5, (0.01, 0.01, 0.001), position=(0.0, 0.0, 0.4))
    mech.add_joint(
        "hinge", "revolute", "box", "arm", (0, 0, 0.2), (0, 1, 0), limits=(-0.3, 0.3), friction=0.1
    )
    mech.add_motor("hinge", kp=30.0, kd=1.0, effort=4.0)
    return mech


@pytest.mark.parametrize(("friction_cone", "torsion"), [("cone", 0.05), ("pyramid", 0.0)])
def test_an_evaluation_finds_what_the_line_search_finds(friction_cone, torsion):
    sim = Simulator(arm_on_the_ground(torsion), timestep=H, friction_cone=friction_cone)
    sim.reset(velocities={"box:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 3.0), "hinge": 2.0})
    compared = 0
    for k in range(70):  # in many of them the guess obeys the laws already
        assert sim.step(targets=[0.6 * (-1) ** (k // 10)]).converged
        groups = sim._plant.groups
        state, work = groups.state.copy(), groups.work.copy()
        found = law_errors(sim)
        groups.state[:], groups.work[:] = state, work
        # forces of up to 100 N round to some 1e-13: e^2 to 2e-13 e, below this bound for every e
        np.testing.assert_allclose(found[:2], found[2:], rtol=1e-7, atol=1e-15)
        compared += found[0] > 1e-6 and found[1] > 1e-6
    assert compared > 10  # elsewhere the forces obey their laws already
