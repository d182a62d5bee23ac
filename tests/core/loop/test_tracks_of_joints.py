"""Rows of curve and surface joints: derivatives of their residuals by motions, and places that jump."""

import numpy as np
import pytest

from scenes.plain_python import (
    change_along_row,
    derivative_by_motion,
    evaluated_step,
    random_vector,
)
from scenes.tracks import CURVES, SURFACE_CASES, SURFACES, hanging, sliding
from vigym import Simulator
from vigym.core.loop import tracks

H = 0.01
RNG = np.random.default_rng(0)


def locked(name):
    """A joint whose turn about the normal is locked."""
    return hanging(name, spin=False)


def led(name):
    """A point whose body has an axis that follows the curve."""
    return sliding(name, axis=(0.1, 0.2, 1.0))


MADE = [(make, name) for make in (sliding, led) for name in CURVES]
MADE += [(hanging, name) for name in SURFACES]
MADE += [(locked, name) for name, spins in SURFACE_CASES if not spins]


def moving(make, name):
    sim = Simulator(make(name), timestep=H)
    sim.push([(0.1, 0.05, 0.02)] * len(sim.mechanism.bodies))
    return evaluated_step(sim, H)


@pytest.mark.parametrize(
    ("make", "name"), MADE, ids=lambda value: getattr(value, "__name__", value)
)
def test_rows_are_derivatives_of_their_residuals(make, name):
    """Wherever bodies are: the place follows them."""
    d, step, _ = moving(make, name)
    track, ends = d.track(0), (d.side(0).body, d.side(1).body)
    pose = d.track_pose(step.knot3, track.loop)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in ends if i > 0}
    tracks.place_tracks(d, step.knot3, np.True_)
    rows = [np.array(getattr(pose, f"row_{k}")) for k in range(track.row_count)]
    expected = [
        change_along_row(d, step.knot3, row, pose.track_anchor, ends, motions) for row in rows
    ]

    def gaps():
        tracks.place_tracks(d, step.knot3, np.True_)
        return pose.gaps[: track.row_count]

    found = derivative_by_motion(d, step, motions, gaps, 1e-5)
    # a guess is a little off, and of rows beyond the first order their directions turn with that
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-2)
    assert np.abs(expected).max() > 0.01


def test_a_place_that_is_far_or_was_not_found_has_jumped():
    d, step, _ = moving(sliding, "circle")
    assert not tracks.find_jumps(d, step.knot2, step.knot3)
    side = next(d.side(s) for s in range(2) if d.side(s).dimensions)
    kept = side.next_place
    side.next_place = tuple(np.add(side.place, (1.01 * side.longest_change, 0.0, 0.0)))
    assert tracks.find_jumps(d, step.knot2, step.knot3)
    side.next_place = kept
    pose = d.track_pose(step.knot3, d.track(0).loop)
    for determinant, jumped in (
        (pose.determinant, False),
        (-pose.determinant, True),
        (0.0, True),
        (np.nan, True),
    ):
        pose.determinant = determinant
        assert bool(tracks.find_jumps(d, step.knot2, step.knot3)) == jumped


def test_places_are_stored_in_lanes_of_the_mask_and_taken_back_at_the_assembly():
    d, step, _ = moving(sliding, "circle")
    before = [d.side(s).place for s in range(2)]
    tracks.store_places(d, step.knot3, np.False_)
    assert [d.side(s).place for s in range(2)] == before
    tracks.store_places(d, step.knot3, np.True_)
    assert [d.side(s).place for s in range(2)] != before
    kept = [d.side(s).next_place for s in range(2)]
    assert tracks.start_tracks(d, step.knot3, np.False_) < 1e-3
    assert [d.side(s).next_place for s in range(2)] == kept
    tracks.assemble_places(d)
    for s in range(2):
        assert d.side(s).place == d.side(s).next_place == d.side(s).start_place
