"""Ranges of rows, knot buffers that take turns, lanes in use, and weights of knots."""

import numpy as np
import pytest

from scenes.features import imposed, loops, start, tracks, tree
from scenes.plain_python import Fields, data_of
from vigym.core.model import context
from vigym.core.model.layout import KNOT_BUFFERS


@pytest.mark.parametrize("present", range(KNOT_BUFFERS))
def test_knot_buffers_take_turns(present):
    d = Fields(state_knots=100, knot_size=7, environment=Fields(present_knot=float(present)))
    buffers = [context.knot_buffer(d, back) for back in range(-1, KNOT_BUFFERS - 1)]
    assert sorted(buffers) == [100 + 7 * k for k in range(KNOT_BUFFERS)]
    assert context.knot_buffer(d, 0) == 100 + 7 * present
    context.advance_knot_buffers(d)
    assert [context.knot_buffer(d, back + 1) for back in range(-1, KNOT_BUFFERS - 2)] == buffers[
        :-1
    ]


@pytest.mark.parametrize("make", [tree, loops, imposed, tracks], ids=lambda make: make.__name__)
def test_each_row_is_of_one_kind(make):
    """Bodies, closing joints, springs between points, slides, and joints of sides with their further rows."""
    d = data_of(start(make))
    joints = [context.joint_row(d, n) for n in range(1, d.joint_count)]
    springs = (
        list(range(context.first_point_spring(d), context.point_spring_end(d)))
        if d.loop_count
        else []
    )
    slides = [context.slide_row(d, k) for k in range(d.slide_count)]
    sides = [d.track(t).loop for t in range(d.track_count)]
    rows = [*joints, *springs, *slides, *sides]
    assert len(set(rows)) == len(rows)
    assert joints[: d.body_count - 1] == list(range(1, d.body_count))
    if d.loop_count:
        assert len(rows) + d.more_count == d.body_count - 1 + d.loop_count
        assert max(rows) < context.loop_end(d)
    assert bool(springs) or make is not loops
    assert bool(slides) == (make is tracks)


def test_lanes_in_use_hold_an_environment():
    for first, environments, used in ((0, 1, True), (2, 2, False), (2, 3, True)):
        d = Fields(lane_count=1)
        assert bool(context.occupied_lanes(d, first, environments)) == used


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.01), (0.02, 0.01), (0.0, 0.01)])
def test_a_knot_has_half_of_both_steps(before, after):
    weight = context.knot_weight(np.float64(before / after))
    assert weight * after == pytest.approx(0.5 * (before + after))
