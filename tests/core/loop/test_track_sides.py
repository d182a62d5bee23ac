"""Sides of curve and surface joints: their derivatives, and parameters that go round."""

import numpy as np
import pytest

from scenes.plain_python import data_of, derivative
from scenes.tracks import CURVES, SURFACES, hanging, sliding
from vigym import Simulator
from vigym.core.loop import sides
from vigym.core.loop.slides import curve_length_to
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import CURVE_SIDE

MADE = [(sliding, name) for name in CURVES] + [(hanging, name) for name in SURFACES]


def sides_of(make, name):
    """Data of a joint at rest, and both of its sides."""
    d = data_of(Simulator(make(name)))
    return d, (d.side(0), d.side(1))


@pytest.mark.parametrize(
    ("make", "name"), MADE, ids=lambda value: getattr(value, "__name__", value)
)
def test_derivatives(make, name):
    d, both = sides_of(make, name)
    for side in both:
        place = side.place
        S, S_u, S_v, S_uu, S_uv, S_vv = map(np.array, sides.own_derivatives(d, side, place))

        def point(change, side=side, place=place):
            return sides.own_derivatives(d, side, sides.moved_place(d, side, place, *change))[0]

        assert derivative(point, (1.0, 0.0)) == pytest.approx(S_u, rel=1e-8, abs=1e-8)
        assert derivative(point, (0.0, 1.0)) == pytest.approx(S_v, rel=1e-8, abs=1e-8)
        # second differences at 1e-4: 1e-8 is cut off and rounded
        for change, expected in (
            ((1.0, 0.0), S_uu),
            ((0.0, 1.0), S_vv),
            ((1.0, 1.0), S_uu + S_vv + 2.0 * S_uv),
        ):
            ahead, behind = (
                np.array(point(tuple(sign * 1e-4 * np.array(change)))) for sign in (1.0, -1.0)
            )
            assert (ahead - 2.0 * S + behind) / 1e-8 == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["helix", "Bezier", "closed B-spline"])
def test_sides_move_with_their_bodies(name):
    d, both = sides_of(sliding, name)
    knot = knot_buffer(d, 0)
    (first, *_), (second, *_) = (sides.evaluate_side(d, side, side.place, knot) for side in both)
    assert first == pytest.approx(second, abs=1e-9)  # they touch


@pytest.mark.parametrize("closed", [0, 1])
def test_pieces_of_a_parameter(closed):
    d, pieces = data_of(Simulator(sliding("circle"))), 4
    for u, piece, local in ((0.25, 0, 0.25), (3.5, 3, 0.5)):
        assert sides.piece_of_parameter(d, closed, pieces, np.float64(u)) == (piece, local)
    beyond = sides.piece_of_parameter(d, closed, pieces, np.float64(4.25))
    assert beyond == ((0.0, 0.25) if closed else (3.0, 1.25))
    assert sides.whole_turns(d, closed, pieces, np.float64(4.25)) == closed


@pytest.mark.parametrize("name", ["Bezier", "closed spline"])
def test_length_of_a_curve(name):
    """Its derivative is the speed, and it goes on where the curve closes."""
    d, both = sides_of(sliding, name)
    (side,) = (side for side in both if side.kind == CURVE_SIDE)
    for u in (0.3, side.pieces - 0.4):
        _, velocity, _ = sides.curve(d, side, (np.float64(u), 0.0, 0.0))
        found = derivative(
            lambda change, u=u: curve_length_to(d, side, np.float64(u) + change[0]), (1.0,)
        )
        assert found == pytest.approx(np.linalg.norm(velocity), rel=1e-8)
    if side.closed:
        ahead, here = (curve_length_to(d, side, np.float64(u)) for u in (side.pieces + 0.3, 0.3))
        assert ahead - here == pytest.approx(
            curve_length_to(d, side, np.float64(side.pieces - 1e-12))
        )
