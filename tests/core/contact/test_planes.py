"""Planes of terrain: contacts keep the plane that their last force came from, and lie on those that are there."""

import itertools

import numpy as np
import pytest

from scenes import terrains
from scenes.plain_python import Fields, data_of
from vigym import Simulator, Terrain
from vigym.core.contact.terrain import planes
from vigym.core.contact.terrain.heights import FAR
from vigym.core.math.vectors import dot
from vigym.core.model.context import knot_buffer
from vigym.core.tables.plan import BALL_CONTACT, PAIR_BALL_CONTACT
from vigym.mechanism.elements.bodies import Ground

NORMALS = (0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.0, -0.6, 0.8)
PLANES = tuple((0.01 * k, *normal, 0.1 * k) for k, normal in enumerate(NORMALS))
MISSING = (FAR, 0.0, 0.0, 0.0, 0.0)


def force_on(plane, size):
    return (*(size * x for x in plane[1:4]), size)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_contacts_are_on_the_planes_that_their_forces_came_from(order):
    forces = [force_on(PLANES[k], 3.0 + k) for k in order]
    assert planes.match_planes(PLANES, forces) == tuple(PLANES[k] for k in order)


def test_contacts_without_a_force_take_what_is_left():
    none = (0.0, 0.0, 0.0, 0.0)
    assert planes.match_planes(PLANES, [none] * 3) == PLANES
    found = planes.match_planes(PLANES, [none, none, force_on(PLANES[0], 1.0)])
    assert found[2] == PLANES[0]
    found = planes.match_planes(
        (PLANES[0], MISSING, MISSING), [none, force_on(PLANES[0], 1.0), none]
    )
    assert found[1] == PLANES[0]
    assert planes.misfit(force_on(PLANES[1], 2.0), PLANES[1]) == pytest.approx(0.0)
    assert planes.misfit(force_on(PLANES[1], 2.0), MISSING) == 2.0


def test_a_missing_plane_is_level():
    o = np.float64(0.0)
    assert planes.with_plane((o,) * 5, 0, MISSING, -3.0) == (0.0, 0.0, 1.0, -3.0, 0.0)
    assert planes.with_plane((o,) * 5, 0, PLANES[1], -3.0) == (*PLANES[1][1:], 1.0)


def test_a_ball_in_a_valley_is_on_both_of_its_slopes():
    """Its contacts lie on planes as near as the ground, in the lanes that are asked for."""
    x = np.linspace(-1.0, 1.0, 9)
    terrain = Terrain(np.repeat(np.abs(x)[:, None], 9, axis=1), 0.25)
    d = data_of(Simulator(terrains.thrown("ball", Ground(terrain=terrain))))
    contact, knot = d.contact(0), knot_buffer(d, 0)
    pose, radius = d.pose(knot, contact.body), contact.radius
    centre = np.array((0.0, 0.1, np.sqrt(2.0) * radius))
    pose.position = tuple(centre - np.reshape(pose.rotation, (3, 3)) @ contact.point)
    contact.plane = before = (9.0, 8.0, 7.0, 6.0, 5.0)
    planes.find_planes(d, contact, knot, np.False_)
    assert contact.plane == before
    planes.find_planes(d, contact, knot, np.True_)
    rows = [d.contact(contact.index + n) for n in range(3)]
    on = [row for row in rows if planes.is_on_plane(d, row)]
    normals = sorted(row.plane[0] for row in on)
    assert normals == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])
    for row in on:
        assert dot(row.plane[:3], tuple(centre)) - row.plane[3] == pytest.approx(radius)


def test_on_flat_ground_and_of_two_bodies_there_is_always_a_plane():
    for columns, kind, found in (
        (0, BALL_CONTACT, True),
        (5, BALL_CONTACT, False),
        (5, PAIR_BALL_CONTACT, True),
    ):
        d, row = Fields(terrain_columns=columns), Fields(kind=kind, plane=(np.float64(0.0),) * 5)
        assert bool(planes.is_on_plane(d, row)) == found
