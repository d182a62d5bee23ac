"""Readings of curve and surface joints: rates of places are their derivatives along a motion."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.tracks import CURVES, SURFACES, hanging, sliding
from vigym import Simulator
from vigym.core.kernels import read_tracks
from vigym.core.kernels.knot_velocity import solve_knot_velocities
from vigym.core.model.context import knot_buffer

H = 1e-4
MADE = [(sliding, name) for name in CURVES] + [(hanging, name) for name in SURFACES]


@pytest.mark.parametrize(
    ("make", "name"), MADE, ids=lambda value: getattr(value, "__name__", value)
)
def test_rates_are_differences_of_places(make, name):
    """Of three knots: what is cut off is the square of a step of 1e-4 s."""
    sim = Simulator(make(name), timestep=H)
    sim.push([(0.1, 0.05, 0.02)])
    places = []
    for k in range(3):
        assert sim.step().converged
        d = data_of(sim)
        places.append(np.array([d.side(s).place for s in range(2)]))
        if k == 1:
            knot, out = knot_buffer(d, 0), np.zeros((1, read_tracks.READ_TRACK))
            solve_knot_velocities(d, knot, np.True_)
            read_tracks.read_tracks(d, knot, out, 0, 0)
    expected = (places[2] - places[0]) / (2.0 * H)
    rates = out[0, read_tracks.TRACK_RATES :][:6].reshape(2, 3)
    assert rates == pytest.approx(expected, rel=1e-3, abs=1e-3)
    assert np.abs(rates).max() > 1e-3 or name == "ball on ball"  # without parameters
    assert out[0, :6].reshape(2, 3) == pytest.approx(places[1])
    assert 0.0 < out[0, read_tracks.TRACK_REGULARITY] <= 1.0


def test_regularity_is_one_where_all_equations_are_independent_of_each_other():
    rng = np.random.default_rng(0)
    J = np.linalg.qr(rng.normal(size=(4, 4)))[0] * rng.uniform(0.1, 9.0, (4, 1))
    rows = [tuple(row) for row in J]
    assert read_tracks.regularity(rows, np.linalg.det(J)) == pytest.approx(1.0)
    for _ in range(20):
        J = rng.normal(size=(4, 4))
        assert 0.0 < read_tracks.regularity([tuple(row) for row in J], np.linalg.det(J)) < 1.0
    assert read_tracks.regularity([(1.0, 2.0, 0.0, 0.0)] * 4, 0.0) == 0.0
