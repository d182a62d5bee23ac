"""Lanes of a register: masks, reductions and angles are those of single floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vigym.core.compiler.kernel import entry
from vigym.core.compiler.lanes import arctan2, max_over_body_lanes, pointer, vector_token
from vigym.core.compiler.simd import LANES, load, maximum, minimum, store, where


@entry
def angles_in_lanes(x, y, out):
    """Angles of (x, y), a register at a time."""
    xs, ys = pointer(x), pointer(y)
    token = vector_token(xs)
    for k in range(0, x.size, LANES):
        store(pointer(out), k, arctan2(load(ys, k, token), load(xs, k, token)))


@entry
def angles_alone(x, y, out):
    """Angles of (x, y), one after the other."""
    for k in range(x.size):
        out[k] = arctan2(y[k], x[k])


@entry
def any_set(values):
    """Whether any lane of the first register is above zero."""
    table = pointer(values)
    return (load(table, 0, vector_token(table)) > 0.0).any()


@entry
def choices(x, out):
    """Choices between whole numbers and a float."""
    out[0] = where(x > 64.0, 64, x)
    out[1] = maximum(1, x)
    out[2] = minimum(3, x)


@entry
def largest_lane(values):
    """The largest lane of the first register."""
    table = pointer(values)
    return max_over_body_lanes(load(table, 0, vector_token(table)), values[0])


def directions():
    """Directions all round and of all sizes, next to the axes and where angles are halved once more, and none."""
    around = np.linspace(-math.pi, math.pi, 997)
    halved = math.pi / 8.0 * (1.0 + np.array([-1e-3, -1e-15, 0.0, 1e-15, 1e-3]))
    turns = np.concatenate(
        [around, halved, -halved, math.pi - halved, [1e-300, 1e-12, math.pi - 1e-12]]
    )
    sizes = np.random.default_rng(0).permutation(np.geomspace(1e-100, 1e100, turns.size))
    x, y = np.append(sizes * np.cos(turns), 0.0), np.append(sizes * np.sin(turns), 0.0)
    more = -x.size % LANES
    return np.append(x, np.ones(more)), np.append(y, np.zeros(more))


def test_an_angle_is_the_arctangent_to_rounding():
    x, y = directions()
    found, alone = np.zeros(x.size), np.zeros(x.size)
    angles_in_lanes(x, y, found)
    angles_alone(x, y, alone)
    np.testing.assert_array_equal(found, alone)  # lanes beside it change nothing
    # some roundings of the series, and up to four units in the last place of numpy's own
    np.testing.assert_allclose(found, np.arctan2(y, x), rtol=2e-15, atol=1e-320)


@pytest.mark.parametrize("k", range(LANES))
def test_a_lane_above_zero_is_found_wherever_it_is(k):
    values = np.full(LANES, -1.0)
    values[(k + 1) % LANES] = np.nan  # above nothing
    assert not any_set(values)
    values[k] = 1e-300
    assert any_set(values)


@pytest.mark.parametrize("k", range(LANES))
def test_the_largest_lane_is_found_wherever_it_is(k):
    values = np.random.default_rng(k).normal(size=LANES)
    values[k] = 9.0
    assert largest_lane(values) == 9.0
    values[k] = np.nan  # is never lost
    assert np.isnan(largest_lane(values))


def test_a_choice_between_a_whole_number_and_a_float_is_a_float():
    found = np.zeros(3)
    choices(2.75, found)
    assert found.tolist() == [2.75, 2.75, 2.75]
