"""Joints of the user's own: rows and rates are derivatives of residuals and coordinates by motions."""

import numpy as np
import pytest

from scenes.custom_joints import JOINTS, held
from scenes.plain_python import (
    change_along_row,
    derivative_by_motion,
    evaluated_step,
    random_vector,
)
from vigym import Simulator
from vigym.core.loop import custom

H = 0.01
RNG = np.random.default_rng(0)


def evaluated(name):
    sim = Simulator(held(name), timestep=H)
    assert sim.step(substeps=2).converged
    d, step, _ = evaluated_step(sim, H)
    custom.set_custom_rows(d, 0, step.knot3, 0.0, np.True_)
    return d, step


@pytest.mark.parametrize("name", JOINTS)
def test_rows_and_rates_are_derivatives(name):
    d, step = evaluated(name)
    track, ends = d.track(0), (d.side(0).body, d.side(1).body)
    pose = d.track_pose(step.knot3, track.loop)
    count = min(track.row_count, 4)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in ends if i > 0}
    rows = [np.array(getattr(pose, f"row_{k}")) for k in range(count)]
    expected = [
        change_along_row(d, step.knot3, row, pose.track_anchor, ends, motions) for row in rows
    ]
    relative = [np.zeros(3), np.zeros(3)]
    for i, sign in zip(ends, (-1.0, 1.0), strict=True):
        shift, rotation = motions.get(i, (np.zeros(3), np.zeros(3)))
        relative[0] += sign * (
            shift + np.cross(rotation, np.subtract(pose.track_anchor, d.pose(step.knot3, i).anchor))
        )
        relative[1] += sign * np.array(rotation)
    rates = np.ravel(custom.custom_rates(d, 0, step.knot3, tuple(map(tuple, relative))))[
        : 6 - track.row_count
    ]

    def evaluate():
        custom.set_custom_rows(d, 0, step.knot3, 0.0, np.True_)
        return (
            *pose.gaps[:count],
            *np.ravel((d.side(0).next_place, d.side(1).next_place))[: len(rates)],
        )

    found = derivative_by_motion(d, step, motions, evaluate, 1e-5)
    assert found[:count] == pytest.approx(expected, rel=1e-3, abs=1e-3)
    assert found[count:] == pytest.approx(rates, rel=1e-3, abs=1e-3)
    assert np.abs(expected).max() > 0.01


def test_other_lanes_keep_their_rows_and_places():
    name = next(iter(JOINTS))
    d, step = evaluated(name)
    pose = d.track_pose(step.knot3, d.track(0).loop)
    pose.row_0, pose.determinant = (9.0,) * 6, 7.0
    d.side(0).next_place = place = tuple(np.add(d.side(0).next_place, (1e-3, 0.0, 0.0)))
    custom.set_custom_rows(d, 0, step.knot3, 0.0, np.False_)
    assert (pose.row_0, pose.determinant, d.side(0).next_place) == ((9.0,) * 6, 7.0, place)
    custom.set_custom_rows(d, 0, step.knot3, 0.0, np.True_)
    assert pose.row_0 != (9.0,) * 6
    assert d.side(0).next_place != place


def test_coordinates_are_counted_three_and_three():
    found = (0.0, 1.0, 2.0), (3.0, 4.0, 5.0)
    assert [custom.coordinate(found, n) for n in range(5)] == [0.0, 1.0, 2.0, 3.0, 4.0]
