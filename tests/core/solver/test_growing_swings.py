"""Swings that grow in steps too long for them: the next steps begin with parts, which grow after calm steps."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.solver import growing_swings
from vigym.core.solver.explained_work import EnergyChange

KINETIC = 100.0


def data(**environment):
    values = {
        "first_part": 1.0,
        "calm_steps": 0.0,
        "calm_steps_needed": 0.0,
    }
    values |= {"whole_step_size": 0.0} | environment
    return Fields(
        dof_count=0,
        contact_count=0,
        environment=Fields(**{k: np.float64(v) for k, v in values.items()}),
    )


def change(rise, kinetic=KINETIC, gain=None):
    gain = rise if gain is None else gain
    return EnergyChange(*map(np.float64, (kinetic, kinetic + gain, kinetic, gain, rise, 0.0, 1.0)))


def test_a_step_that_fails_lets_the_next_ones_begin_with_halves():
    d, sizes = data(calm_steps=9.0), []
    for size in (1.0, 0.5, 0.25):
        growing_swings.shorten_next_steps(d, np.True_, np.float64(size))
        sizes.append(d.environment.first_part)
    assert sizes == [0.5, 0.25, growing_swings.LEAST_FIRST_PART]
    assert d.environment.calm_steps == 0.0


def test_parts_are_doubled_after_calm_steps():
    d = data(first_part=0.25)
    sizes = [float(growing_swings.choose_first_part(d, np.True_)) for _ in range(3 * 65)]
    assert [sizes.count(size) for size in (0.25, 0.5, 1.0)] == [64, 65, 66]
    assert sizes == sorted(sizes)
    d = data(first_part=0.25, calm_steps_needed=128.0)
    assert [float(growing_swings.choose_first_part(d, np.True_)) for _ in range(129)].index(
        0.5
    ) == 128


def test_where_longer_parts_fail_soon_the_wait_is_doubled():
    d, waits = data(), []
    for _ in range(6):
        growing_swings.wait_until_longer(d, np.True_)
        waits.append(float(d.environment.calm_steps_needed))
    assert waits == [64.0, 128.0, 256.0, 512.0, 1024.0, 1024.0]
    d.environment.calm_steps = np.float64(2000.0)
    growing_swings.wait_until_longer(d, np.True_)
    assert d.environment.calm_steps_needed == 64.0


@pytest.mark.parametrize(
    ("size", "expected"), [(1.0, 1.0), (0.99, 0.5), (0.3, 0.25), (1e-9, 1.0 / 256.0)]
)
def test_fractions_of_a_step_are_halves_of_halves(size, expected):
    assert growing_swings.whole_fraction(Fields(), np.float64(size)) == expected


@pytest.mark.parametrize(("size", "square"), [(1.0, 1.2), (1.0, 30.0), (0.5, 7.0), (1.0, 1e9)])
def test_parts_are_so_short_that_swings_do_not_grow(size, square):
    d = data()
    growing_swings.shorten_for_swings(d, np.True_, np.float64(size), np.float64(square))
    part = d.environment.first_part
    assert part <= 0.5 * size
    assert (
        square * (part / size) ** 2 <= growing_swings.SLOW_SWING
        or part == growing_swings.LEAST_SWINGING_PART
    )
    longer = square * (2.0 * part / size) ** 2
    assert longer > growing_swings.SLOW_SWING or part == 0.5 * size


def test_energies_are_compared_only_of_steps_alike():
    d = data(whole_step_size=0.01)
    for size, unlike in ((0.01, False), (0.02, True), (0.02, False), (-0.02, True)):
        assert bool(growing_swings.find_unlike_steps(d, np.float64(size), np.True_)) == unlike


def test_swings_grow_where_energy_rises_with_them():
    def found(rise, estimate, swing, by_joints, gain=0.0):
        swings = map(np.float64, (estimate, swing, by_joints))
        lanes = growing_swings.find_lanes_of_growing_swings(
            Fields(), change(rise, gain=gain), tuple(swings), np.float64(1.0)
        )
        return tuple(map(bool, lanes))

    assert found(0.1, 0.0, 2.1, 0.0) == (True, False, False)
    assert found(0.01, 0.0, 2.1, 0.0) == found(0.1, 0.0, 1.9, 0.0) == (False, False, False)
    assert found(1.1, 0.0, 0.0, 0.8) == found(11.0, 2.1, 0.0, 0.0) == (False, True, False)
    assert found(11.0, 0.0, 0.0, 0.0, 11.0) == (False, False, True)
