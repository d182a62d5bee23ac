"""Nearest points of a segment and a box: brute force finds no nearer ones, and depths are the least ones."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.contact import segment_box

D = Fields()
HALF = (0.3, 0.2, 0.1)
RNG = np.random.default_rng(0)


def distance(points):
    outside = np.maximum(np.abs(points) - HALF, 0.0)
    return np.linalg.norm(outside, axis=-1)


def test_what_lies_outside_of_a_box():
    for point in RNG.normal(size=(50, 3)):
        e = np.array(segment_box.vector_outside_box(tuple(point), HALF))
        nearest = point - e
        assert (np.abs(nearest) <= np.array(HALF) + 1e-15).all()
        assert np.linalg.norm(e) == pytest.approx(distance(point))


@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_no_place_of_a_segment_is_nearer(scale):
    for p, v in RNG.normal(size=(60, 2, 3)):
        p = scale * p
        s = segment_box.nearest_parameter_to_box(D, tuple(p), tuple(v), HALF)
        others = p + np.linspace(-1.0, 1.0, 2001)[:, None] * v
        curvature = segment_box.LEVEL * v @ v  # what keeps level segments off their ends
        assert distance(p + s * v) ** 2 <= distance(others).min() ** 2 + curvature
        assert -1.0 <= s <= 1.0


def test_a_level_segment_is_nearest_in_its_middle():
    p, v = (0.1, 0.0, 0.5), (0.05, 0.0, 0.0)
    assert segment_box.nearest_parameter_to_box(D, p, v, HALF) == pytest.approx(0.0, abs=1e-12)


def test_the_part_over_a_face():
    p, v = (0.0, 0.0, 0.5), (1.0, 0.0, 0.0)
    up = (0.0, 0.0, 1.0)
    tail, head = segment_box.parameter_range_over_box(D, 0.0, p, v, up, HALF)
    assert (tail, head) == pytest.approx((-0.3, 0.3))


def test_the_least_depth_is_under_the_nearest_face():
    for p in RNG.uniform(-1.0, 1.0, (50, 3)) * HALF:
        depth, normal = segment_box.least_depth(D, tuple(p), HALF)
        depths = np.array(HALF) - np.abs(p)
        face = int(depths.argmin())
        assert depth == pytest.approx(depths[face])
        assert normal == pytest.approx(np.sign(p[face]) * np.eye(3)[face])


def test_segments_that_cross_a_box():
    through, beside = ((0.0, 0.0, 0.09), (1.0, 0.0, 0.0)), ((0.0, 0.0, 0.2), (1.0, 0.0, 0.0))
    crosses, normal = segment_box.find_crossings(D, *through, HALF)
    assert (crosses, normal) == (1.0, (0.0, 0.0, 1.0))
    assert segment_box.find_crossings(D, *beside, HALF)[0] == 0.0


def test_a_place_slides_a_little_in_a_step():
    limit = segment_box.MAX_SLIDE
    assert segment_box.limit_segment_slide(0.9, 0.0) == limit
    assert segment_box.limit_segment_slide(-0.9, 0.0) == -limit
    assert segment_box.limit_segment_slide(0.1, 0.0) == 0.1
