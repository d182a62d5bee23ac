"""Places where two sides touch: the equations, their derivatives and their solution."""

import numpy as np
import pytest

from scenes.plain_python import data_of, derivative
from scenes.tracks import SURFACES, hanging, sliding
from vigym import Simulator
from vigym.core.loop import places, sides
from vigym.core.model.context import knot_buffer

MADE = [(sliding, "helix"), (sliding, "Bezier")] + [(hanging, name) for name in SURFACES]
PARAMETERS = np.eye(4)


def flat(J):
    return np.array(J, float)


def test_four_equations_are_solved():
    J, f = np.random.default_rng(0).normal(size=(4, 4)), np.arange(1.0, 5.0)
    rows = tuple(map(tuple, J))
    x, determinant = places.solve4(rows, tuple(f))
    assert x == pytest.approx(np.linalg.solve(J, f), rel=1e-12)
    assert determinant == pytest.approx(np.linalg.det(J))
    assert flat(places.transpose4(rows)) == pytest.approx(J.T)


def test_changes_are_limited():
    assert [places.limited(np.float64(x), 0.5) for x in (2.0, -2.0, 0.3, 0.0)] == [
        0.5,
        -0.5,
        0.3,
        0.0,
    ]


@pytest.mark.parametrize(
    ("make", "name"), MADE, ids=lambda value: getattr(value, "__name__", value)
)
def test_derivatives_of_the_equations(make, name):
    """By the parameters; where a side has fewer, its equation says that they do not change."""
    d = data_of(Simulator(make(name)))
    knot = knot_buffer(d, 0)
    a, b = d.side(0), d.side(1)

    def evaluated(change):
        moved = (
            sides.moved_place(d, a, a.place, *change[:2]),
            sides.moved_place(d, b, b.place, *change[2:]),
        )
        A, B = (
            sides.evaluate_side(d, side, place, knot)
            for side, place in zip((a, b), moved, strict=True)
        )
        return places.place_equations(d, a, b, A, B)

    J, f = evaluated((0.0,) * 4)
    assert f == pytest.approx((0.0,) * 4, abs=1e-9)
    exists = [a.dimensions > 0, a.dimensions > 1, b.dimensions > 0, b.dimensions > 1]
    for k, axis in enumerate(PARAMETERS):
        if exists[k]:
            found = derivative(lambda change: evaluated(change)[1], axis)
            assert flat(J)[exists, k] == pytest.approx(found[exists], rel=1e-7, abs=1e-7)
        else:
            assert abs(J[k][k]) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SURFACES)
def test_places_are_found_again(name):
    d = data_of(Simulator(hanging(name)))
    knot, both = knot_buffer(d, 0), (d.side(0), d.side(1))
    expected = [np.array(side.place) for side in both]
    for side in both:
        if side.dimensions:
            second = -0.01 * (side.dimensions > 1)
            side.next_place = sides.moved_place(d, side, side.place, 0.02, second)
    with np.errstate(all="ignore"):
        places.find_places(d, 0, knot, np.True_)
    assert abs(d.track_pose(knot, d.track(0).loop).determinant) > 1e-6
    for side, place in zip(both, expected, strict=True):
        assert side.next_place == pytest.approx(place, abs=1e-8)
