"""Planes of a height field near a ball or rim: none is nearer than the ground, and one is as near."""

import numpy as np
import pytest

from scenes import terrains
from scenes.plain_python import data_of, random_rotation
from scenes.trees import unit
from vigym import Simulator, Terrain
from vigym.core.contact.terrain import heights
from vigym.core.math.vectors import dot
from vigym.core.tables.plan import BALL_CONTACT, RIM_CONTACT
from vigym.mechanism.elements.bodies import Ground

RNG = np.random.default_rng(0)
ROUGH = Terrain(0.05 * RNG.normal(size=(9, 9)), 0.25)
CORNERS = terrains.triangles(ROUGH)
RADIUS = 0.05
RIM = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def d():
    return data_of(Simulator(terrains.thrown("ball", Ground(terrain=ROUGH))))


def planes(d, kind, centre, rim=RIM, radius=RADIUS):
    touching = heights.Round(kind, tuple(np.float64(centre)), rim, radius)
    *found, level = heights.nearest_planes(d, 0, touching, (touching, False))
    return [plane for plane in found if plane[0] < heights.FAR], level


def points_above(count):
    """Places at which a ball is up to its reach above the ground."""
    for x, y in RNG.uniform(-0.9, 0.9, (count, 2)):
        yield x, y, float(ROUGH.height(x, y)) + RNG.uniform(0.3, 1.5) * RADIUS


def test_the_nearest_plane_of_a_ball_is_as_far_as_the_ground(d):
    seen = 0
    for centre in points_above(200):
        found, _ = planes(d, BALL_CONTACT, centre)
        expected = terrains.distance(np.array(centre), CORNERS) - RADIUS
        if expected < heights.REACH * 0.25:
            assert min(plane[0] for plane in found) == pytest.approx(expected, abs=1e-12)
            seen += 1
    assert seen > 150


def test_planes_are_what_they_say(d):
    for centre in points_above(50):
        for gap, x, y, z, height in planes(d, BALL_CONTACT, centre)[0]:
            assert np.linalg.norm((x, y, z)) == pytest.approx(1.0)
            assert dot((x, y, z), centre) - height - RADIUS == pytest.approx(gap, abs=1e-14)


def test_far_above_there_is_none(d):
    found, level = planes(d, BALL_CONTACT, (0.0, 0.0, 5.0))
    assert found == []
    assert level < 5.0 - RADIUS


def test_deep_inside_the_ground_there_is_one(d):
    found, _ = planes(d, BALL_CONTACT, (0.1, 0.05, -1.0))
    assert len(found) == 1
    assert found[0][0] < -0.5


def test_no_plane_of_a_rim_is_nearer_than_the_ground(d):
    """The lowest point along each plane's normal is on the plane's far side as far as its gap says."""
    seen = 0
    for centre in points_above(60):
        R = np.reshape(random_rotation(RNG), (3, 3))
        rim = tuple(R[:, 2]), tuple(R[:, 0])
        found, _ = planes(d, RIM_CONTACT, centre, rim)
        angle = np.linspace(0.0, 2.0 * np.pi, 721)
        ring = centre + RADIUS * (
            np.outer(np.cos(angle), R[:, 0]) + np.outer(np.sin(angle), R[:, 1])
        )
        for gap, *normal, height in found:
            assert (ring @ normal).min() - height == pytest.approx(gap, abs=1e-5)  # of 720 points
            seen += 1
    assert seen > 30


def test_the_best_three_planes_are_the_nearest_of_those_that_are_not_parallel():
    """In whatever order they come; of parallel ones only the nearest counts."""
    rng = np.random.default_rng(1)
    normals = [tuple(unit(rng.normal(size=3))) for _ in range(5)]
    for _ in range(300):
        chosen = rng.integers(5, size=rng.integers(1, 9))
        planes = [
            (gap, *normals[k], 0.0)
            for gap, k in zip(rng.normal(size=len(chosen)), chosen, strict=True)
        ]
        best = (heights.no_plane(),) * 3
        for plane in planes:
            best = heights.add_plane(best, plane)
        nearest = [min(p for p in planes if p[1:4] == normals[k]) for k in set(chosen.tolist())]
        expected = [*sorted(nearest), *[heights.no_plane()] * 3][:3]
        assert list(best) == expected
