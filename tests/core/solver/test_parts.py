"""Parts of a step that does not converge as a whole: what is tried after what."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.solver.parts import (
    MOST_FAILURES,
    MOST_TURN,
    SMALL,
    SMALLEST,
    first_parts,
    next_part,
    shorten_first_part,
)


def take_parts(outcomes, sizes, lefts):
    """Try parts with given outcomes (1: done, 0: failed); return how many until the end, and whether it is given up."""
    parts, lost = first_parts(np.True_, np.float64(1.0), np.False_), np.False_
    k = 0
    while k < outcomes.size and parts.left > 0.0 and not lost:
        sizes[k], lefts[k] = parts.size, parts.left
        parts, lost = next_part(parts, outcomes[k] > 0.0, outcomes[k] == 0.0)
        k += 1
    return k, lost, parts.left


def parts_of(outcomes):
    outcomes = np.array(outcomes, dtype=float)
    sizes, lefts = np.zeros(outcomes.size), np.zeros(outcomes.size)
    count, lost, left = take_parts(outcomes, sizes, lefts)
    return sizes[:count], bool(lost), left


def failures_down_to(size):
    return [0.0] * round(-np.log2(size))


def test_a_step_that_fails_is_halved():
    sizes, lost, left = parts_of([0, 0, 1, 1, 0, 1, 1, 1, 1])
    assert sizes.tolist() == [1.0, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125]
    assert not lost
    assert left == 0.0


@pytest.mark.parametrize("size", [SMALL / 2.0, SMALL / 16.0])
def test_parts_that_follow_a_small_one_are_doubled(size):
    sizes, lost, left = parts_of(failures_down_to(size) + [1.0] * 40)
    done = sizes[round(-np.log2(size)) :]
    assert done.sum() == 1.0
    assert done[:-2].tolist() == [size * 2.0**k for k in range(done.size - 2)]
    assert done[-3] <= done[-2] <= 2.0 * done[-3]
    assert done[-2] <= done[-1] <= 2.0 * done[-2]
    assert not lost
    assert left == 0.0


def test_parts_are_doubled_less_often_where_doubled_ones_fail():
    """Each failure doubles the number of parts before the next attempt; one that is done ends that."""
    size = SMALL / 16.0
    down = failures_down_to(size)
    outcomes = [*down, 1, 0, 1, 1, 0, *[1] * 4, 0, *[1] * 9, 1]
    sizes, lost, _ = parts_of(outcomes)
    tried = (sizes[len(down) :] / size).tolist()
    assert tried[:2] == [1.0, 2.0]
    assert tried[2:5] == [1.0, 1.0, 2.0]
    assert tried[5:10] == [1.0] * 4 + [2.0]
    assert tried[10:20] == [1.0] * 8 + [2.0, 4.0]
    assert not lost


def test_longer_parts_are_sought_where_the_smallest_one_fails():
    down = failures_down_to(SMALLEST)
    sizes, lost, left = parts_of([*down, 0.0, 0.0, 0.0] + [1.0] * 40)
    assert sizes[len(down)] == SMALLEST
    assert sizes[len(down) + 1 : len(down) + 4].tolist() == [
        1.5 * SMALL,
        2.25 * SMALL,
        3.375 * SMALL,
    ]
    assert not lost
    assert left == 0.0


def test_a_step_is_given_up_where_what_is_left_fails_too():
    sizes, lost, left = parts_of([0.0] * 100)
    assert lost
    assert left == 1.0
    assert sizes[-1] == 1.0
    assert sizes.size < 40


def test_a_step_is_given_up_after_many_failures():
    """Here each part fails once, and is done when it is halved."""
    outcomes = [*failures_down_to(SMALL / 2.0)] + [1.0, 0.0, 0.0] * 2000
    sizes, lost, left = parts_of(outcomes)
    assert lost
    assert left > 0.0
    failed = np.array(outcomes[: sizes.size]) == 0.0
    assert failed.sum() == MOST_FAILURES + 1.0


@pytest.mark.parametrize(
    ("rate", "size"), [(9.0, 1.0), (11.0, 0.5), (-30.0, 0.25), (1e9, 1.0 / 256.0)]
)
def test_a_step_begins_with_a_part_in_which_no_body_turns_far(rate, size):
    d = Fields(environment=Fields(angular_speed=abs(rate)))
    found = shorten_first_part(d, np.float64(np.copysign(0.1, rate)), np.float64(1.0))
    assert found == size
    assert found * abs(rate) * 0.1 <= MOST_TURN or size == 1.0 / 256.0
