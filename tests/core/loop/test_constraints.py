"""Rows of loops: their directions are the derivatives of their residuals."""

import numpy as np
import pytest

from scenes.loops_space import closed_by
from scenes.plain_python import data_of, turn
from vigym import Simulator
from vigym.core.body.pose import set_pose
from vigym.core.loop import constraints
from vigym.core.model.context import knot_buffer, loop_end
from vigym.core.tables.plan import ORIENTATION_ROW, POSITION_ROW

STEP = 1e-6
FREEDOMS = {
    "revolute": 1,
    "prismatic": 1,
    "universal": 2,
    "spherical": 3,
    "planar": 3,
    "cylindrical": 2,
    "fixed": 0,
}
HELD = (POSITION_ROW, ORIENTATION_ROW)


def move(d, i, knot, shift, rotation):
    """Move a body by a small motion about its anchor."""
    pose = d.pose(knot, i)
    anchor = np.add(pose.anchor, shift)
    set_pose(d.body(i), pose, pose.position, turn(pose.orientation, tuple(rotation)))
    set_pose(d.body(i), pose, tuple(anchor - pose.arm), pose.orientation)


def residuals(d, knot):
    """Residuals of all rows of loops that do not yield, the joints of the tree taken as closed."""
    constraints.update_loop_anchors(d, knot)
    with np.errstate(all="ignore"):
        constraints.loop_residuals(d, knot)
    return {
        r: d.loop_row(r).residual
        for r in range(d.loop_row_count)
        if d.loop_row(r).kind in (POSITION_ROW, ORIENTATION_ROW)
    }


@pytest.mark.parametrize("kind", FREEDOMS)
def test_directions_are_derivatives(kind):
    d = data_of(Simulator(closed_by(kind)))
    knot = knot_buffer(d, 0)
    for i in range(1, d.body_count):  # nothing is left open in the tree
        d.body(i).position_correction = d.body(i).rotation_correction = (0.0, 0.0, 0.0)
    constraints.update_loop_anchors(d, knot)
    rng = np.random.default_rng(0)
    checked = 0
    for loop in range(d.first_loop, loop_end(d)):
        closure = d.body(loop)
        arms = constraints.loop_arms(d, loop, knot)
        for body in (closure.parent, closure.child):
            if body == 0:
                continue
            shift, rotation = rng.normal(size=(2, 3))
            still = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            motion = tuple(shift), tuple(rotation)
            ends = (motion, still) if body == closure.parent else (still, motion)
            gap, turned = constraints.relative_motion(arms, *ends)
            expected = {}
            for r in range(closure.first_loop_row, closure.first_loop_row + closure.loop_row_count):
                f, m = constraints.row_direction(d, loop, d.loop_row(r), knot)
                expected[r] = np.dot(f, gap) + np.dot(m, turned)
            move(d, body, knot, STEP * shift, STEP * rotation)
            ahead = residuals(d, knot)
            move(d, body, knot, -2.0 * STEP * shift, -2.0 * STEP * rotation)
            behind = residuals(d, knot)
            move(d, body, knot, STEP * shift, STEP * rotation)
            for r in expected.keys() & ahead.keys():
                assert (ahead[r] - behind[r]) / (2.0 * STEP) == pytest.approx(expected[r], abs=1e-6)
                checked += 1
    assert checked == 2 * (6 - FREEDOMS[kind])  # rows of the joint, by the motions of both bodies


def test_a_direction_of_no_length_is_none():
    assert constraints.unit_or_zero((0.0, 3.0, 4.0)) == pytest.approx((0.0, 0.6, 0.8))
    with np.errstate(all="ignore"):
        assert constraints.unit_or_zero((np.float64(0.0),) * 3) == (0.0, 0.0, 0.0)
