"""Friction by direction, its cone and its pyramid, torsion, rolling, restitution: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.touching import moving, run, speeds, stepped

G = scenes.GRAVITY


def pushed(mech, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), h=0.01, **options):
    body = next(iter(mech.bodies))
    return moving(mech, h, {f"{body}:floating": (*velocity, *spin)}, **options)


@pytest.mark.parametrize(
    ("friction", "velocity", "slower"),
    [
        (0.5, (1.0, 0.0), 0.5),
        ((0.2, 0.6), (1.0, 0.0), 0.2),
        ((0.2, 0.6), (0.0, 1.0), 0.6),
        ((0.2, 0.6), (0.0, -1.0), 0.6),
        ((0.2, 0.6, 0.4), (1.0, 0.0), 0.2),
        ((0.2, 0.6, 0.4), (-1.0, 0.0), 0.4),
    ],
)
def test_friction_by_direction(friction, velocity, slower):
    """Along, across, and forward unlike backward: the deceleration of a puck at every knot."""
    sim = pushed(scenes.puck(friction), (*velocity, 0.0))
    for _ in stepped(sim, 10):
        np.testing.assert_allclose(
            sim.body_velocity("puck")[:2],
            np.array(velocity) * (1.0 - slower * G * sim.time),
            atol=1e-7,
        )


@pytest.mark.parametrize("direction", [(0, 1, 0), (1, 1, 0), (-1, 0, 0.5)])
def test_along_is_fixed_in_the_body(direction):
    """The direction's projection on the ground, whatever its length and height."""
    along = np.array([*direction[:2], 0.0]) / np.linalg.norm(direction[:2])
    sim = pushed(scenes.puck((0.1, 0.5), direction), along)
    run(sim, 10)
    np.testing.assert_allclose(sim.body_velocity("puck"), (1.0 - 0.1 * G * 0.1) * along, atol=1e-7)


def test_ellipse_dissipates_the_most():
    """Under oblique slip the force is where the ellipse's tangent is across the slip."""
    friction, velocity = np.array([0.2, 0.6]), np.array([3.0, 2.0])
    sim = pushed(scenes.puck(tuple(friction)), (*velocity, 0.0))
    run(sim, 3)
    before = sim.body_position("puck")
    sim.step()
    contacts = sim.contacts
    slip = (sim.body_position("puck") - before)[:2]  # over the step: it does not turn
    expected = -(friction**2) * slip / np.linalg.norm(friction * slip) * G
    np.testing.assert_allclose(contacts.force.sum(axis=0)[:2], expected, atol=1e-5)
    np.testing.assert_allclose(contacts.slip, np.linalg.norm(sim.body_velocity("puck")), rtol=1e-6)


@pytest.mark.parametrize("angle", [0.3, 2.0, 4.0])
def test_isotropic_friction_is_against_the_slip(angle):
    way = np.array([np.cos(angle), np.sin(angle)])
    sim = pushed(scenes.puck(0.5), (*way, 0.0))
    run(sim, 10)
    np.testing.assert_allclose(
        sim.body_velocity("puck")[:2], way * (1.0 - 0.5 * G * 0.1), atol=1e-7
    )


@pytest.mark.parametrize(
    ("angle", "corner"), [(0.3, (-1, 0)), (1.2, (0, -1)), (2.8, (1, 0)), (4.5, (0, 1))]
)
def test_pyramid_has_four_corners(angle, corner):
    """Its most dissipating force is a corner, unless the slip is exactly between two."""
    mech, way = scenes.puck(0.5), np.array([np.cos(angle), np.sin(angle)])
    sim = pushed(mech, (*way, 0.0), friction_cone="pyramid")
    run(sim, 3)
    np.testing.assert_allclose(
        sim.body_velocity("puck")[:2], way + 0.5 * G * 0.03 * np.array(corner), atol=1e-6
    )


def test_pyramid_and_cone_agree_along_an_axis():
    found = []
    for cone in ("cone", "pyramid"):
        sim = run(pushed(scenes.puck(0.5), (2.0, 0.0, 0.0), friction_cone=cone), 60)
        assert speeds(sim) <= 1e-8
        found.append(sim.body_position("puck"))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_without_friction_nothing_slows_down():
    sim = run(pushed(scenes.puck(0.0), (1.0, 0.5, 0.0), (0.0, 0.0, 2.0)), 50)
    np.testing.assert_allclose(sim.body_velocity("puck"), [1.0, 0.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(sim.body_angular_velocity("puck"), [0.0, 0.0, 2.0], atol=1e-9)


def test_a_ball_ends_up_rolling():
    """At 5/7 of the speed it was thrown with, and from there on without loss."""
    sim = run(pushed(scenes.ball(), (2.0, 0.0, 0.0)), 30)
    speed = sim.body_velocity("ball")[0]
    assert speed == pytest.approx(10.0 / 7.0, abs=2e-3)
    energy = sim.energy().total
    for _ in stepped(sim, 50):
        spin = sim.body_angular_velocity("ball")
        assert sim.body_velocity("ball")[0] == pytest.approx(0.1 * np.linalg.norm(spin), abs=1e-6)
    assert sim.energy().total == pytest.approx(energy, rel=1e-4)


def test_ball_rolls_down_a_slope():
    """5/7 of the acceleration without friction."""
    angle = 0.3
    sim = run(pushed(scenes.ball(friction=0.8, ground=scenes.tilted(angle))), 50)
    assert np.linalg.norm(sim.body_velocity("ball")) == pytest.approx(
        5.0 / 7.0 * G * np.sin(angle) * 0.5, rel=2e-3
    )


def test_torsion_stops_a_spinning_ball():
    """A moment of torsion times weight: uniform deceleration, then rest; a point without it slows nothing."""
    torsion = 0.01
    inertia = 0.4 * 0.01
    spin = 3.0
    slower = torsion * G / inertia
    sim = pushed(scenes.ball(torsion=torsion), spin=(0.0, 0.0, spin), h=0.002)
    for _ in stepped(sim, 50):
        assert sim.body_angular_velocity("ball")[2] == pytest.approx(
            spin - slower * sim.time, abs=1e-4
        )
    run(sim, 100)
    assert speeds(sim) <= 1e-8
    free = run(pushed(scenes.ball(), spin=(0.0, 0.0, spin)), 50)
    assert free.body_angular_velocity("ball")[2] == pytest.approx(spin, abs=1e-9)


def tops(sim, seconds):
    """Heights at which a fall turns, from the knots."""
    name = next(iter(sim.mechanism.bodies))
    heights = np.array(
        [sim.body_position(name)[2] for _ in stepped(sim, round(seconds / sim.timestep))]
    )
    inner = heights[1:-1]
    return inner[(inner > heights[:-2] + 1e-9) & (inner >= heights[2:]) & (inner > 1e-6)]


@pytest.mark.parametrize("bounce", [0.5, 0.8, 1.0])
def test_restitution_gives_back_its_part_of_the_speed(bounce):
    """Heights of bounces fall with the square of the coefficient; what a step misses falls with its size."""
    errors = []
    for h in (0.002, 0.001):
        sim = moving(scenes.point_mass(1.0, restitution=bounce), h)
        found = tops(sim, 1.6)
        errors.append(abs(found[0] - bounce**2))
        assert found[0] <= 1.0 + 1e-9
    assert errors[0] < 0.02
    assert errors[1] < 0.01


def test_without_restitution_nothing_bounces():
    assert len(tops(moving(scenes.point_mass(1.0), 0.01), 2.0)) == 0


@pytest.mark.parametrize("h", [0.05, 0.01, 0.002])
def test_restitution_never_adds_energy(h):
    sim = moving(
        scenes.box(0.6, 0.3, restitution=0.9), h, {"box:floating": (0.5, 0.0, 0.0, 1.0, 2.0, 0.0)}
    )
    start = sim.energy().total
    for _ in stepped(sim, round(1.5 / h)):
        assert sim.energy().total <= start * (1.0 + 30.0 * h**2)
