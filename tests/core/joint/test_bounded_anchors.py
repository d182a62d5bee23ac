"""Proximal anchors of motors, limits and dry friction: they follow forces that let a degree of freedom yield."""

import numpy as np
import pytest

from scenes.plain_python import Fields, evaluated_step
from scenes.touching_scenes import slider
from vigym import Simulator
from vigym.core.joint import bounded_anchors

H = np.float64(0.01)


def sliding():
    sim = Simulator(slider(limits=(-0.5, 0.2), friction=2.0), timestep=H)
    sim.reset([0.2], [1.0])
    return evaluated_step(sim, H, 2)


@pytest.mark.parametrize(("change", "moves"), [(0.0, False), (1e4, True), (-1e4, True)])
def test_an_anchor_moves_to_a_force_that_lets_a_limit_yield(change, moves):
    d, step, _ = sliding()
    dof = d.dof(0)
    dof.forces, dof.anchor_forces = (0.0, change, 0.0), (0.0, 0.0, 0.0)
    dof.force_slopes = 0.0, 1e9, 0.0
    assert not bounded_anchors.reanchor_bounded_forces(d, step.h, np.False_)
    assert bool(bounded_anchors.reanchor_bounded_forces(d, step.h, np.True_)) == moves
    assert dof.anchor_forces == (0.0, change, 0.0)
    dof.anchor_forces, dof.force_slopes = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # one that does not hold
    assert not bounded_anchors.reanchor_bounded_forces(d, step.h, np.True_)


def test_the_yield_grows_with_force_and_softness():
    def creeps(force, softness):
        return bool(
            bounded_anchors.find_creeping_lanes(
                None, np.float64(force), np.float64(0.0), 1e12, softness, H, np.True_
            )
        )

    most = bounded_anchors.MAX_YIELD[0] / (H * 1e-3)
    assert [creeps(x * most, 1e-3) for x in (0.9, 1.1, -1.1)] == [False, True, True]
    assert creeps(0.9 * most, 2e-3)


@pytest.mark.parametrize(("friction", "expected"), [(-1.0, -2.0), (1.0, 2.0)])
def test_where_limit_and_friction_disagree_friction_slips_and_their_sum_stays(friction, expected):
    forces = 0.0, np.float64(-5.0 * np.sign(friction)), np.float64(friction)
    dof = Fields(
        forces=forces, anchor_forces=(0.0, 0.0, 0.0), force_slopes=(0.0, 1.0, 1.0), friction=2.0
    )
    bounded_anchors.let_friction_slip_at_limit(dof, np.False_)
    assert dof.forces == forces
    bounded_anchors.let_friction_slip_at_limit(dof, np.True_)
    assert dof.forces[2] == expected
    assert sum(dof.forces) == sum(forces)
    dof.forces = agree = (0.0, np.float64(5.0), np.float64(1.0))
    bounded_anchors.let_friction_slip_at_limit(dof, np.True_)
    assert dof.forces == agree


def test_all_anchors_move_to_the_forces_in_lanes_of_the_mask():
    d, _, _ = sliding()
    dof = d.dof(0)
    dof.forces, dof.anchor_forces = (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)
    bounded_anchors.move_anchors_to_bounded_forces(d, np.False_)
    assert dof.anchor_forces == (0.0, 0.0, 0.0)
    bounded_anchors.move_anchors_to_bounded_forces(d, np.True_)
    assert dof.anchor_forces == (1.0, 2.0, 3.0)
