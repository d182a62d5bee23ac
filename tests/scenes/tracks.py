"""Mechanisms with curve and surface joints, those of Si and Guenter's paper among them."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

from oracle.naive_joints import conj, rotate
from scenes.custom_joints import JOINTS
from scenes.trees import random_tree, unit
from vigym import Mechanism
from vigym.mechanism.tracks.curves import Bezier, BSpline, Circle, Fitted, Helix, Line
from vigym.mechanism.tracks.sides import Point
from vigym.mechanism.tracks.slides import Slide
from vigym.mechanism.tracks.surfaces import (
    BSplinePatch,
    Cylinder,
    Ellipsoid,
    Patch,
    Plane,
    Sphere,
    Torus,
)


def _mechanisms_of_si():
    """The module of an example with the mechanisms of the paper."""
    path = Path(__file__).parents[2] / "examples" / "papers" / "_surfaces.py"
    spec = spec_from_file_location("mechanisms_of_si", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SI = _mechanisms_of_si()
RAIL, TURNS = SI.RAIL, SI.TURNS
torus_chain, spline_chain = SI.torus_chain, SI.spline_chain
windmill, turning = SI.windmill, SI.turning
board, bump = SI.board, SI.bump


def bowl():
    """A convex Bezier patch over a square of 2 m."""
    places = np.linspace(-1.0, 1.0, 5)
    x, y = np.meshgrid(places, places, indexing="ij")
    return Patch(np.stack([x, y, 0.3 * x**2 + 0.25 * y**2], axis=2))


def hanging(name, spin=True):
    """One body that hangs in a surface or on a curve of the world."""
    mech = Mechanism(name=name)
    surface, own, position = SURFACES[name]
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025), position)
    mech.tracks.add_surface("touch", "world", "body", surface, own, spin=spin)
    return mech


def spline_bowl():
    """A B-spline surface of 3 x 2 pieces, not flat anywhere."""
    x, y = np.meshgrid(np.linspace(-2.0, 2.0, 6), np.linspace(-2.4, 2.4, 5), indexing="ij")
    return BSplinePatch(np.stack([x, y, 0.3 * x**2 + 0.25 * y**2 + 0.05 * x**3], axis=2))


def spline_barrel():
    """A B-spline surface that goes round an axis along x, bulging in its middle."""
    angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    angle, x = np.meshgrid(angle, np.linspace(-1.0, 1.0, 6), indexing="ij")
    radius = 0.6 - 0.1 * x**2
    points = np.stack([x, radius * np.cos(angle), radius * np.sin(angle)], axis=2)
    return BSplinePatch(points, closed=(True, False))


LYING = Ellipsoid((0.5, 0.2, 0.3), orientation=TURNS[0])
UPRIGHT = Torus(0.3, 0.05, orientation=TURNS[0])
SURFACES = {
    "ball on ball": (
        Sphere(0.3, (0.0, 0.0, 0.5), TURNS[0]),
        Sphere(0.1, (0.0, 0.0, 0.1), TURNS[1]),
        (0.1, 0.05, 0.0),
    ),
    "ball on ellipsoid": (LYING, Sphere(0.1, orientation=TURNS[1]), (0.1, 0.0, -0.3)),
    "ball on torus": (Torus(0.5, 0.1), Sphere(0.1, orientation=TURNS[1]), (0.5, 0.1, -0.2)),
    "torus on torus": (Torus(0.5, 0.1), UPRIGHT, (0.5, 0.0, -0.16)),
    "torus on ellipsoid": (LYING, UPRIGHT, (0.1, 0.0, -0.6)),
    "ellipsoid on ellipsoid": (
        Ellipsoid((0.5, 0.3, 0.2), orientation=TURNS[0]),
        Ellipsoid((0.2, 0.15, 0.1), orientation=TURNS[1]),
        (0.15, 0.05, -0.5),
    ),
    "ball on patch": (bump(-0.2), Sphere(0.1, orientation=TURNS[1]), (0.1, 0.2, 0.0)),
    "board on patch": (bowl(), Plane((0.0, 0.0, -0.05)), (0.02, 0.01, 0.15)),
    "axis on patch": (bump(-0.2), Point((0.0, 0.0, -0.1), (0.0, 0.1, 1.0)), (0.1, 0.2, 0.0)),
    "axis on ellipsoid": (Ellipsoid((0.5, 0.3, 0.2)), Point((0.0, 0.0, 0.1), (0.1, 0.0, 1.0)), (0.1, 0.0, -0.3)),
    "ball on spline bowl": (spline_bowl(), Sphere(0.1, orientation=TURNS[1]), (0.1, 0.2, 0.2)),
    "ball on barrel": (spline_barrel(), Sphere(0.1, orientation=TURNS[1]), (0.1, 0.05, -0.7)),
    "board on spline bowl": (spline_bowl(), Plane((0.0, 0.0, -0.05)), (0.02, 0.01, 0.15)),
    "point on cylinder": (Cylinder(0.3, orientation=TURNS[1]), Point(), (0.0, 0.05, -0.3)),
}  # fmt: skip
# name, whether turns about the normal are free: a point has no direction to lock
SURFACE_CASES = [(name, True) for name in SURFACES]
SURFACE_CASES += [(n, False) for n in SURFACES if not n.startswith(("axis", "point"))]
RING_POINTS = [(0.5, 0.0, 0.1), (0.0, 0.6, -0.2), (-0.5, 0.0, 0.1), (0.0, -0.6, -0.2)]
CURVES = {
    "circle": (Circle(0.5, orientation=TURNS[0]), (0.3, 0.0, -0.4)),
    "helix": (Helix(0.5, 0.1, turns=4.0), (0.3, 0.4, 0.2)),
    "line": (Line(orientation=(np.cos(1.0), 0.0, np.sin(1.0), 0.0)), (0.1, 0.0, 0.0)),
    "Bezier": (Bezier(RAIL), (0.6, 0.05, -0.5)),
    "closed spline": (Fitted(RING_POINTS, closed=True), (0.4, 0.2, 0.0)),
    "closed B-spline": (BSpline(RING_POINTS, closed=True), (0.3, 0.2, 0.0)),
}


def sliding(name, axis=None, slide=None):
    """One body with a point on a curve of the world, off its centre of mass."""
    mech = Mechanism(name=name)
    curve, position = CURVES[name]
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025), position)
    mech.tracks.add_curve("rail", "world", "body", curve, (0.05, 0.0, 0.1), axis, slide)
    return mech


def random_tracks(seed, slide=None):
    """A random tree of five bodies with springs, tied by a curve, a surface and a joint of one's own.

    All are closed at the assembly. ``slide``: forces along a coordinate of curve and own joint.
    """
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(["revolute", "spherical", "universal", "floating", "prismatic"])
    mech = random_tree(seed, kinds, damping=0.2)
    names = [str(name) for name in rng.permutation(list(mech.bodies))]
    first, second = mech.bodies[names[0]], mech.bodies[names[1]]
    curve = Helix(0.4, 0.1, position=0.3 * rng.normal(size=3), orientation=rng.normal(size=4))
    place = curve.in_body(np.array([[0.4, 0.0, 0.0]]))[0]
    world = first.position + rotate(first.orientation, place)
    point = rotate(conj(second.orientation), world - second.position)
    mech.tracks.add_curve("curve", names[0], names[1], curve, point, slide=slide)
    transform, start, _ = JOINTS["skewed"]
    along = (slide, None, slide)
    mech.tracks.add_custom("own", "world", names[2], transform, start, rng.normal(size=3), along)
    add_resting_ball(mech, rng, *names[3:])
    return mech


def add_resting_ball(mech, rng, egg, ball):
    """An ellipsoid fixed in one body and a ball in another one, which touch at the assembly."""
    first, second = mech.bodies[egg], mech.bodies[ball]
    side = Ellipsoid((0.5, 0.3, 0.4), 0.2 * rng.normal(size=3), rng.normal(size=4))
    place = unit(rng.normal(size=3))
    point = side.in_body(place[None])[0]
    normal = side.rotation @ unit(place / side.sizes)
    world = first.position + rotate(first.orientation, point + 0.2 * normal)
    centre = rotate(conj(second.orientation), world - second.position)
    mech.tracks.add_surface("egg", egg, ball, side, Sphere(0.2, centre))


def ball_on_rail(rail, end=None):
    """A ball without friction, whose middle is on a rail that goes below the ground.

    Args:
        rail: curve, or the transform of a joint of one's own from which it starts at 0.
        end: largest coordinate.
    """
    mech = Mechanism()
    limits = None if end is None else (-10.0, end)
    slide = Slide(limits=limits)
    mech.add_body("ball", 1.0, (0.004, 0.004, 0.004), (0.0, 0.0, 0.5))
    if callable(rail):
        mech.tracks.add_custom("rail", "world", "ball", rail, 0.0, (0.0, 0.0, 0.5), slide)
    else:
        mech.tracks.add_curve("rail", "world", "ball", rail, slide=slide)
    mech.add_contact("touch", "ball", (0.0, 0.0, 0.0), 0.1, friction=0.0)
    return mech


def falling_rail(q):
    """Move down along x and z, without turning."""
    return (q[0], 0.1 * q[0] ** 2, -0.5 * q[0] - 0.2 * q[0] ** 2), (1.0, 0.0, 0.0, 0.0)


FALLING_CURVE = Bezier([(-0.1, 0.0, 0.55), (0.3, 0.1, 0.3), (0.7, 0.0, 0.1), (1.0, -0.1, -0.2)])
