"""Angles of ball joints: their directions are their derivatives, and they go on beyond half a turn."""

import numpy as np
import pytest

from scenes.balls import angles_of, ball_chain
from scenes.plain_python import (
    change_along_row,
    derivative_by_motion,
    evaluated_step,
    random_vector,
)
from vigym import Simulator
from vigym.core.joint import ball_angles
from vigym.core.math.quaternions import quaternion_product
from vigym.core.model.context import slide_row

H = 0.01
RNG = np.random.default_rng(0)
LIMITS = {
    "swing": {"swing": 0.9},
    "twist": {"swing": 3.0, "twist": (-0.8, 0.9)},
    "turn": {"turn": 1.5},
}


@pytest.mark.parametrize("angle", LIMITS)
def test_directions_are_derivatives_of_angles(angle):
    sim = Simulator(ball_chain(**LIMITS[angle]), timestep=H)
    turned = {"shoulder": (0.9, 0.2, 0.3, -0.1), "elbow": (0.9, -0.3, 0.2, 0.25)}
    sim.reset({name: np.array(q) / np.linalg.norm(q) for name, q in turned.items()})
    d, step, _ = evaluated_step(sim, H)
    last = d.slide_count - 1
    slide, row = d.slide(last), slide_row(d, last)
    ends, pose = (d.body(row).parent, d.body(row).child), d.track_pose(step.knot3, row)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in ends}

    def coordinate():
        ball_angles.write_ball_angle(d, slide, step.knot3)
        return pose.gaps[0]

    assert coordinate() == pytest.approx(angles_of(sim.joint_positions[4:])[angle], abs=0.05)
    expected = change_along_row(
        d, step.knot3, np.array(pose.row_0), pose.track_anchor, ends, motions
    )
    found = derivative_by_motion(d, step, motions, coordinate, 1e-5)
    assert found == pytest.approx(expected, rel=1e-4)
    assert abs(expected) > 0.01


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("angle", LIMITS)
def test_an_angle_goes_on_beyond_half_a_turn(angle, axis):
    """From 3.0 rad at the present knot to 3.4 at the next; a swing alone is not about z."""
    if (angle == "swing") == (axis[2] == 1.0) and angle != "turn":
        return
    sim = Simulator(ball_chain(**LIMITS[angle]), timestep=H)
    sim.reset({"elbow": (np.cos(1.5), *(np.sin(1.5) * np.array(axis)))})
    d, step, _ = evaluated_step(sim, H)
    last = d.slide_count - 1
    slide, row = d.slide(last), slide_row(d, last)
    pose = d.pose(step.knot3, d.body(row).child)
    before = d.pose(step.knot2, d.body(row).child).orientation
    more = (np.cos(0.2), *(np.sin(0.2) * np.array(axis)))
    pose.orientation = tuple(quaternion_product(before, more))
    parent = d.body(row).parent
    d.pose(step.knot3, parent).orientation = d.pose(step.knot2, parent).orientation
    ball_angles.write_ball_angle(d, slide, step.knot3)
    assert d.track_pose(step.knot3, row).gaps[0] == pytest.approx(3.4, abs=1e-12)
