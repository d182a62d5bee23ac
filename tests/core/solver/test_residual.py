"""Residual of a step: what a wrong velocity leaves, predictions of smooth motions, and factors that stay."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, Fields, data_of, evaluated_step, solved_step, step_of
from scenes.touching_scenes import ball, geared, slider
from vigym import Simulator
from vigym.core.model.context import knot_buffer, knot_weight
from vigym.core.solver import residual
from vigym.core.solver.advance import advance
from vigym.core.solver.attempts import PROJECTIONS
from vigym.core.solver.iteration import Iteration
from vigym.core.solver.newton import start_attempt

H = 0.01
ONE, O = np.float64(1.0), np.float64(0.0)
ITERATION = Iteration(1, PROJECTIONS, residual.PROX, O, O, ONE, ONE, ONE, TOLERANCE)


def thrown():
    sim = Simulator(ball(50.0), timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, -2.0, 3.0, 0.0, 0.0, 2.0)})
    return sim


@pytest.mark.parametrize("off", [0.0, 1e-5, -0.3])
def test_a_wrong_velocity_leaves_its_inertial_force(off):
    d, step, _ = solved_step(thrown(), H)
    pose = d.pose(step.knot3, 1)
    pose.velocity = pose.velocity[0], pose.velocity[1] + off, pose.velocity[2]
    found = residual.evaluate_iterate(d, step, np.True_, np.True_, np.False_, ITERATION)
    expected = d.body(1).mass * abs(off) / H / d.environment.force_scale
    assert found.residual == pytest.approx(expected, rel=1e-9, abs=TOLERANCE)
    assert not found.nonsmooth


@pytest.mark.parametrize("h", [0.01, 0.02, 0.005])
def test_a_fall_is_predicted_whatever_the_steps(h):
    """Velocities in the middle of steps are linear in time."""
    sim = thrown()
    d = data_of(sim)
    sizes = 0.01, 0.016, 0.01
    for size in sizes:
        assert advance(d, np.float64(size), np.True_, TOLERANCE, 100.0)[0]
    d, step = step_of(sim, h)
    last = d.pose(step.knot2, 1).velocity
    start_attempt(d, step, np.True_, PROJECTIONS, TOLERANCE)
    fall = np.array((0.0, 0.0, -9.81)) * 0.5 * (sizes[-1] + h)
    assert d.pose(step.knot3, 1).velocity == pytest.approx(last + fall, abs=1e-12)


@pytest.mark.parametrize(("steps", "weights"), [(1, (1.0, 0.0)), (4, (1.0, 0.0)), (5, (1.0, 1.0))])
def test_a_cubic_predicts_after_equal_steps(steps, weights):
    sim = thrown()
    assert residual.predictor_weights(data_of(sim), H) == (0.0, 0.0)  # from a reset
    sim.step(substeps=steps)
    d = data_of(sim)
    linear, cubic = residual.predictor_weights(d, np.float64(H))
    assert cubic == weights[1]
    assert linear == pytest.approx(
        weights[0] if steps > 1 else 2.0
    )  # after a reset the last velocity is at a knot
    assert residual.predictor_weights(d, np.float64(2.0 * H))[1] == 0.0
    assert residual.predictor_weights(d, np.float64(-H)) == (0.0, 0.0)


def test_steps_are_counted_as_long_as_they_are_equal_and_do_not_jerk():
    sim = Simulator(slider(effort=10.0), timestep=H)
    sim.reset()
    counts = []
    for torque in (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, -5.0, 5.0):
        sim.step(torques=[torque])
        counts.append(data_of(sim).environment.history)
    assert counts[:6] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert counts[-1] == residual.STEPS_OF_CUBIC - 1.0
    d, step, _ = solved_step(sim, 2.0 * H)
    assert residual.count_equal_steps(d, step.knot3, step.h) == 1.0


def test_other_lanes_keep_their_factors():
    d, step, _ = evaluated_step(Simulator(geared(), timestep=H), H)
    first = slice(d.work_dofs, d.work_dofs + d.factors_size - (d.work_dofs - d.work_bodies))
    before = d.work[first].copy()
    longer = step._replace(h=2.0 * step.h)
    residual.refactorise(d, longer, knot_weight(step.rho), np.True_)
    np.testing.assert_array_equal(d.work[first], before)
    residual.refactorise(d, longer, knot_weight(step.rho), np.False_)
    assert (d.work[first] != before).sum() > 5


def test_forces_move_only_in_lanes_of_the_mask():
    d, step, found = evaluated_step(Simulator(slider(friction=2.0), timestep=H), H)
    dof, start_force = d.dof(0), d.dof(0).forces
    residual.step_forces(d, np.float64(0.5), np.False_, False)
    assert dof.forces == start_force
    goal = np.array(dof.affine_forces)
    residual.step_forces(d, ONE, np.True_, False)
    assert dof.forces == pytest.approx(goal)
    assert found.squared_errors == 0.0


def test_positions_round_forces_of_contacts_most():
    made = [
        Fields(loop_row_count=loops, contact_count=c)
        for loops, c in ((0, 0), (3, 0), (0, 3), (3, 3))
    ]
    open_tree, closed, touching, both = map(residual.position_rounding_factor, made)
    assert open_tree < closed < touching == both


def test_the_present_knot_is_no_part_of_a_guess():
    sim = thrown()
    d, step, _ = evaluated_step(sim, H)
    assert step.knot2 == knot_buffer(d, 0) != step.knot3
