"""Slides: their directions are derivatives of their coordinates, which are lengths along curves."""

import numpy as np
import pytest

from scenes.plain_python import (
    change_along_row,
    data_of,
    derivative,
    derivative_by_motion,
    evaluated_step,
    random_vector,
)
from scenes.tracks import CURVES, sliding
from vigym import Simulator
from vigym.core.loop import slides, tracks
from vigym.core.loop.sides import evaluate_side, moved_place
from vigym.core.model.context import knot_buffer, slide_row
from vigym.mechanism.tracks.slides import Slide

H = 0.01
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", CURVES)
def test_directions_are_derivatives_of_coordinates(name):
    sim = Simulator(sliding(name, slide=Slide(stiffness=5.0)), timestep=H)
    d, step, _ = evaluated_step(sim, H)
    ends, row = (d.side(0).body, d.side(1).body), slide_row(d, 0)
    pose = d.track_pose(step.knot3, row)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in ends if i > 0}
    tracks.place_tracks(d, step.knot3, np.True_)
    expected = change_along_row(
        d, step.knot3, np.array(pose.row_0), pose.track_anchor, ends, motions
    )

    def coordinate():
        tracks.place_tracks(d, step.knot3, np.True_)
        return pose.gaps[0]

    assert derivative_by_motion(d, step, motions, coordinate, 1e-5) == pytest.approx(
        expected, rel=1e-4
    )
    assert abs(expected) > 0.01


@pytest.mark.parametrize("name", CURVES)
def test_a_coordinate_grows_as_a_place_moves_along_its_curve(name):
    """By its slope, which is the speed of the point that moves."""
    d = data_of(Simulator(sliding(name, slide=Slide(stiffness=5.0))))
    knot, slide = knot_buffer(d, 0), d.slide(0)
    side = d.side(0) if slide.parameter < 2 else d.side(1)

    def at(change):
        place = moved_place(d, side, side.place, change[0], 0.0)
        S = evaluate_side(d, side, place, knot)
        return (*slides.slide_coordinate(d, slide, side, place, S), *S[0])

    found = derivative(at, (1.0,))
    slope = at((0.0,))[1]
    assert found[0] == pytest.approx(slope, rel=1e-7)
    assert np.linalg.norm(found[2:]) == pytest.approx(slope, rel=1e-7)


def test_nodes_and_weights_integrate_polynomials():
    """Of Gauss and Legendre with ten points: up to degree 19."""
    nodes, weights = np.array(slides.NODES), np.array(slides.WEIGHTS)
    for degree in range(20):
        assert weights @ nodes**degree == pytest.approx(1.0 / (degree + 1.0), rel=1e-13)
    assert abs(weights @ nodes**20 - 1.0 / 21.0) > 1e-15
    assert [
        slides.selected_value(data_of(Simulator(sliding("circle"))), n, 1, 3.0) for n in range(3)
    ] == [0.0, 3.0, 0.0]
