"""Curve and surface joints: lengths of curves, what is refused, and what others say of them."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_joints import conj, rotate
from oracle.naive_tracks import TrackTwin
from scenes.custom_joints import hinge
from scenes.tracks import CURVES, sliding
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import AssemblyError, MechanismError
from vigym.mechanism.tracks.curves import Bezier, BSpline, Circle, Curve, Fitted, Helix, Line
from vigym.mechanism.tracks.rows import held_directions
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


@pytest.mark.parametrize("name", CURVES)
def test_lengths_are_those_of_a_fine_polyline(name):
    curve, _ = CURVES[name]
    places = np.linspace(*curve.span, 20001)[:, None] * [1.0, 0.0, 0.0]
    steps = np.linalg.norm(np.diff(curve.in_body(places), axis=0), axis=1)
    lengths = curve.lengths(places)
    # chords of 1/20000 of the curve: their squares
    np.testing.assert_allclose(lengths - lengths[0], np.append(0.0, steps.cumsum()), atol=1e-6)


def test_a_fitted_curve_passes_its_points():
    points = np.array([(0, 0, 0), (1, 0.5, 0.2), (2, 0, 0), (3, 1, 0.5)], dtype=float)
    curve = Fitted(points)
    places = np.arange(4)[:, None] * [1.0, 0.0, 0.0]
    np.testing.assert_allclose(curve.in_body(places), points, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Bezier([(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 1, 0)]),
            "found no tangent at 0, exp",
        ),
        (lambda: Bezier([(1, 0, 0), (1, 0, 0)]), "found no tangent"),
        (lambda: Bezier([(0, 0, np.nan), (1, 0, 0)]), "Bezier points: found"),
        (lambda: Bezier([(0, 0, 0), (1, 0, 0), (0.3, 0, 0)]), "found no tangent at 0.588"),
        (
            lambda: Bezier([(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 1, 0)]),
            "Bezier points 1 and 2: found a double point",
        ),
        (
            lambda: BSpline([(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 1, 0)]),
            "BSpline points 1 and 2: found a double point",
        ),
        (
            lambda: Fitted([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 0)], closed=True),
            "Fitted points 3 and 0: found a double point",
        ),
        (
            lambda: Patch([[(x, 0, 0), (x, 1, 0)] for x in (0.0, 1.0, 0.3)]),
            "found a place without a normal near .0.5",
        ),
        (lambda: Curve(np.zeros((1, 9, 3))), "found shape .1, 9, 3., expected"),
        (
            lambda: Curve([[(0, 0, 0), (1, 0, 0)], [(1, 0, 0), (1, 1, 0)]]),
            "Curve pieces 0 and 1: found ends 0 m apart whose velocities differ",
        ),
        (lambda: BSpline([(0, 0, 0), (1, 0, 0)]), "BSpline points: found"),
        (lambda: Fitted([(0, 0, 0), (1, 0, 0)]), "Fitted points: found"),
        (lambda: Patch(np.zeros((3, 3, 3))), "found a place without a normal"),
        (lambda: Patch(np.zeros((3, 3))), "Patch points: found"),
        (lambda: BSplinePatch(np.zeros((4, 4, 3))), "found a place without a normal near"),
        (lambda: BSplinePatch(np.zeros((3, 4, 3))), "found shape .3, 4, 3., expected"),
        (lambda: BSplinePatch(np.zeros((4, 4, 3)), True), "BSplinePatch closed: found True"),
        (lambda: Torus(0.1, 0.2), "Torus tube: found 0.2, expected less than 0.1"),
        (lambda: Helix(0.0), "found radius 0 and rise 0"),
        (lambda: Circle(0.0), "Circle radius: found 0"),
        (lambda: Cylinder(0.0), "Cylinder radius: found 0"),
        (lambda: Sphere(-1.0), "Sphere radius: found -1"),
        (lambda: Ellipsoid((1.0, 0.0, 1.0)), "Ellipsoid semi_axes"),
        (lambda: Slide(damping=-1.0), "Slide damping: found -1"),
        (lambda: Slide(limits=(1.0, 0.0)), "Slide limits: found"),
        (lambda: Slide(limits=(0.0, 1.0, 2.0)), "Slide limits: found .*expected .lower, upper."),
        (lambda: Slide(limits=1.0), "Slide limits: found 1.0, expected .lower, upper."),
    ],
)
def test_wrong_sides_are_refused(make, message):
    with pytest.raises(MechanismError, match=message):
        make()


@pytest.mark.parametrize("closed", [(False, False), (True, False), (True, True)])
def test_pieces_of_a_spline_surface_fit(closed):
    """Points and tangents on both sides of every line between pieces, and where it goes round."""
    points = np.random.default_rng(3).normal(size=(5, 6, 3)) * 0.05
    angles = (2.0 * np.pi * np.arange(n) / n for n in (5, 6))
    around, along = np.meshgrid(*angles, indexing="ij")
    wide = 1.0 + 0.3 * np.cos(along)
    points += np.stack([wide * np.cos(around), wide * np.sin(around), 0.3 * np.sin(along)], axis=2)
    patch = BSplinePatch(points, closed)
    for k, pieces in enumerate((patch.pieces, patch.second_pieces)):
        lines = np.arange(0 if closed[k] else 1, pieces) / pieces
        for line in lines:
            place = np.full((2, 3), 0.37)
            place[:, k] = line - 1e-12, line + 1e-12
            before, after = patch.in_body(place)
            np.testing.assert_allclose(before, after, atol=1e-10)
            before, after = (patch.tangents(at) for at in place)
            np.testing.assert_allclose(before, after, atol=1e-9)


def with_body():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -0.3))
    return mech


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            lambda m: m.tracks.add_curve("on", "world", "body", Plane()),
            "curve joint 'on' curve: found Plane, expected a curve",
        ),
        (
            lambda m: m.tracks.add_curve("on", "world", "nobody", Circle(1.0)),
            "body: found 'nobody'",
        ),
        (
            lambda m: m.tracks.add_curve("on", "world", "body", Circle(1.0), slide=3.0),
            "slide: found 3.0, expected a Slide",
        ),
        (
            lambda m: m.tracks.add_surface("on", "world", "body", 3, Plane()),
            "expected a surface",
        ),
        (
            lambda m: m.tracks.add_surface("on", "world", "body", Line(), Point()),
            "without a surface, expected one",
        ),
        (
            lambda m: m.tracks.add_surface("on", "body", "body", Plane(), Sphere(0.1)),
            "found 'body' twice",
        ),
        (
            lambda m: m.tracks.add_surface("on", "world", "body", Plane(), Sphere(0.1), 0.5),
            "spin: found 0.5, expected True or False",
        ),
        (
            lambda m: m.tracks.add_surface(
                "on", "world", "body", Sphere(0.1), Point(normal=(0, 0, 1))
            ),
            "found a point with a normal on Sphere",
        ),
    ],
)
def test_wrong_joints_are_refused(add, message):
    mech = with_body()
    with pytest.raises(MechanismError, match=message):
        add(mech)
    assert not mech.tracks


def test_names_are_shared_with_joints():
    mech = with_body()
    mech.tracks.add_curve("on", "world", "body", Circle(1.0))
    with pytest.raises(MechanismError, match="joint 'on': found a second element"):
        mech.add_joint("on", "revolute", "world", "body", (0.0, 0.0, 0.0))
    mech.add_motor("on", kp=1.0, effort=1.0)
    with pytest.raises(MechanismError, match="motor of joint 'on': found a second motor"):
        mech.add_motor("on", kp=1.0, effort=1.0)
    mech.tracks.add_surface("under", "world", "body", Plane(), Sphere(0.1))
    with pytest.raises(MechanismError, match="found a surface joint, expected a curve joint"):
        mech.add_motor("under", kp=1.0, effort=1.0)


def test_other_parts_say_what_they_cannot_do():
    mech = with_body()
    mech.tracks.add_surface("on", "world", "body", Plane(), Sphere(0.1))
    assert "Sphere of body on Plane of world" in mech.summary()
    with pytest.raises(MechanismError, match="curve, surface or custom joint 'on': found one"):
        mech.to_urdf()
    sim = Simulator(mech)
    with pytest.raises(ValueError, match="linearize: found curve or surface joint 'on'"):
        sim.linearize()
    with pytest.raises(ValueError, match="found the curve or surface joint 'on'"):
        sim.dynamics.forward()
    with pytest.raises(ValueError, match="curve or surface joint 'on'"):
        Simulator(mech, batch=2, precision="float32")
    with pytest.raises(MechanismError, match="curve or surface joint: found 'off'"):
        sim.tracks.place("off")
    with pytest.raises(MechanismError, match="curve joint or joint of your own: found 'on'"):
        sim.tracks.position("on")


def test_a_point_in_the_middle_is_refused():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    mech.tracks.add_surface("on", "world", "body", Sphere(0.5), Point())
    with pytest.raises(AssemblyError, match="joint 'on': found the point at the middle of Sphere"):
        Simulator(mech)


@pytest.mark.parametrize("off", [0.0, 0.3])
def test_a_fixed_body_may_be_on_a_curve(off):
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (1.0, 0.0, 0.0))
    mech.add_joint("still", "fixed", "world", "body", (0.0, 0.0, 0.0))
    mech.tracks.add_curve("rail", "world", "body", Circle(1.0, position=(off, 0.0, 0.0)))
    if off:
        with pytest.raises(AssemblyError, match="rail.* open by 0.3 m"):
            Simulator(mech)
        return
    assert mech.degrees_of_freedom == 0
    assert Simulator(mech).step().converged


@pytest.mark.parametrize("x", [0.7, 0.8, 0.85, 0.9])
@pytest.mark.parametrize("z", [-0.3, -0.25])
def test_an_ellipsoid_starts_outside_a_torus(x, z):
    """The middle of a torus may be behind the place where a surface is nearest to its tube."""
    ring, tube = 1.0, 0.2
    position = np.array([x, 0.1, z])
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), position)
    mech.tracks.add_surface("on", "world", "body", Torus(ring, tube), Ellipsoid((0.1, 0.15, 0.07)))
    sim = Simulator(mech)
    assert np.linalg.norm(sim.body_position("body") - position) < 0.2
    centre = sim.body_position("body")
    depth = np.hypot(np.hypot(*centre[:2]) - ring, centre[2])
    assert tube + 0.07 <= depth <= tube + 0.15
    assert sim.constraint_residual() < 1e-10


def across_a_line(add):
    """A body on a line along z, with something added that may not agree with it."""
    mech = with_body()
    mech.tracks.add_curve("line", "world", "body", Line(position=(0.0, 0.0, -0.3)))
    add(mech)
    return mech


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            lambda m: m.add_velocity_constraint("v", {"body": ((1, 0, 0), (0, 0, 0))}, 0.3),
            "velocity constraint 'v': found velocities that joints and loops hold at zero",
        ),
        (
            lambda m: [
                m.add_velocity_constraint("v", {"body": ((1, 0, 1), (0, 0, 0))}),
                m.add_velocity_constraint("w", {"body": ((0, 0, 1), (0, 0, 0))}, 0.1),
            ],
            "velocity constraint 'w': found a velocity that prescribed motions, curve or",
        ),
        (
            lambda m: [
                m.add_joint("turn", "revolute", "world", "body", (0.5, 0, -0.3), (0, 0, 1)),
                m.add_motion("turn", np.sin),
            ],
            "motion of 'turn': found a coordinate that loops, couplings, curve or surface joints",
        ),
        (
            lambda m: [
                m.tracks.add_custom("own", "world", "body", hinge),
                m.add_velocity_constraint("v", {"body": ((0, 0, 0), (0, 0, 1))}, 0.1),
            ],
            "velocity constraint 'v': found velocities that joints and loops hold at zero",
        ),
    ],
)
def test_what_joints_hold_is_not_set_again(add, message):
    with pytest.raises(MechanismError, match=message):
        Simulator(across_a_line(add))


@pytest.mark.parametrize("axis", [None, (0.3, -0.2, 0.9)])
def test_directions_that_a_curve_holds_are_those_of_its_gaps(axis):
    """Small motions across them open gaps of second order only: those of the slow twin."""
    mech = sliding("helix", axis)
    twin = TrackTwin(mech)
    sim = Simulator(mech)
    twin.x[1:], twin.q[1:] = sim.body_position("body"), sim.body_orientation("body")
    poses = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])), (twin.x[1], twin.q[1])
    held, place = held_directions(mech.tracks["rail"], *poses)
    turned = held.copy()  # about the centre of mass, in the body's axes
    turned[:, 3:] += np.cross(place - twin.x[1], held[:, :3])
    turned[:, 3:] = [rotate(conj(twin.q[1]), row) for row in turned[:, 3:]]
    rows = twin.rows()[0]
    # both span the same directions; those of the twin are differences
    _, values, _ = np.linalg.svd(np.vstack([turned, rows]))
    assert len(held) == (2 if axis is None else 4)
    assert (values > 1e-6).sum() == len(held)
