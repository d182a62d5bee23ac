"""Pictures of curve and surface joints: their sides are drawn where they are."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.tracks import bump, hanging, sliding, torus_chain
from vigym import Simulator
from vigym.mechanism.tracks.curves import Bezier, Circle
from vigym.mechanism.tracks.surfaces import Cylinder, Ellipsoid, Plane, Sphere, Torus
from vigym.render.make import make_renderer
from vigym.render.scene.reach import find_reach
from vigym.render.scene.sides import side_surface
from vigym.render.scene.visuals import build_visuals

TILTED = {"position": (0.1, 0.2, 0.3), "orientation": (0.8, 0.0, 0.6, 0.0)}


def distance(side, points):
    """Distance of points (n, 3) of the body from the side's own surface [m]."""
    x, y, z = ((points - side.position) @ side.rotation).T
    if isinstance(side, Torus | Circle):
        return np.hypot(np.hypot(x, y) - side.sizes[0], z) - side.offset
    if isinstance(side, Cylinder):
        return np.hypot(x, y) - side.offset
    if isinstance(side, Sphere):
        return np.sqrt(x * x + y * y + z * z) - side.offset
    if isinstance(side, Plane):
        return z
    return np.linalg.norm(np.stack([x, y, z]) / side.sizes[:, None], axis=0) - 1.0


@pytest.mark.parametrize(
    "side",
    [
        Torus(0.3, 0.1, **TILTED),
        Cylinder(0.2, **TILTED),
        Sphere(0.2, **TILTED),
        Ellipsoid((0.3, 0.2, 0.1), **TILTED),
        Plane(**TILTED),
    ],
    ids=repr,
)
def test_vertices_lie_on_the_surface(side):
    surface = side_surface(side, 1.0)
    # a tube's sections lie across differences of its middle, off by the square of a segment
    assert np.abs(distance(side, surface.vertices)).max() < 2e-3
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-12)
    assert surface.triangles.max() < len(surface.vertices)


def test_triangles_look_outwards():
    for side in (Torus(0.3, 0.1), Sphere(0.2), Ellipsoid((0.3, 0.2, 0.1))):
        surface = side_surface(side, 1.0)
        p, q, r = surface.vertices[surface.triangles].swapaxes(0, 1)
        outward = np.einsum(
            "ni,ni->n", np.cross(q - p, r - p), surface.normals[surface.triangles[:, 0]]
        )
        assert (outward >= -1e-9).all()


def test_patches_and_curves_span_their_control_points():
    low, high = (f(side_surface(bump(), 1.0).vertices, axis=0) for f in (np.min, np.max))
    np.testing.assert_allclose((low[:2], high[:2]), [(-1.0, -1.0), (1.0, 1.0)], atol=1e-12)
    rail = side_surface(Bezier([(0, 0, 0), (1, 0, 0)]), 1.0).vertices
    np.testing.assert_allclose((rail[:, 0].min(), rail[:, 0].max()), (0.0, 1.0), atol=1e-12)


def test_every_torus_of_a_chain_is_drawn_once():
    mech = torus_chain(3)
    bodies = [visual.body for visual in build_visuals(mech)]
    assert [bodies.count(k) for k in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    "mech", [hanging("torus on ellipsoid"), sliding("closed spline")], ids=repr
)
def test_the_view_holds_curves_of_the_world_and_does_not_follow(mech):
    reach = find_reach(mech, build_visuals(mech))
    assert reach.followed == ()
    track = next(iter(mech.tracks.values()))
    low, high = reach.bounds
    points = track.side_a.samples()[1]
    assert (points >= low - 1e-2).all()
    assert (points <= high + 1e-2).all()


def test_a_picture_shows_the_bodies():
    mech = torus_chain(3)
    states = Simulator(mech).body_states
    renderer = make_renderer(mech, "segmentation_array", 96, 96)
    seen = renderer.render(states[:, :3], states[:, 3:7])
    assert {0, 1, 2} <= set(np.unique(seen).tolist())
