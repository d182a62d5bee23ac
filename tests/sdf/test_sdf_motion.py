"""A robot moves alike from its SDF file and from its URDF file."""

import numpy as np
import pytest

from scenes.sdf_text import ARM, BARS, FLOATING, STYLES, sdf, urdf
from vigym.robot_files import load
from vigym.simulation.simulator import Simulator
from vigym.spatial import rotation_matrix

ROBOTS = {"arm": (ARM, False), "floating": (FLOATING, False), "four-bar": (BARS, True)}
TOLERANCE = 1e-12  # of poses: chains of five rotations and their roll, pitch and yaw
MOVED = 1e-9  # after 100 steps


@pytest.fixture(name="pair", params=ROBOTS)
def pair_fixture(request, tmp_path):
    """Return a function that loads the robot from URDF and from SDF of a style."""

    def pair(style):
        parts, loop = ROBOTS[request.param]
        files = (tmp_path / "r.urdf", tmp_path / "r.sdf")
        for file, text in zip(
            files, (urdf(parts, loop), sdf(parts, STYLES[style], loop)), strict=True
        ):
            file.write_text(text)
        return [load(file) for file in files]

    return pair


@pytest.mark.parametrize("style", STYLES)
def test_mechanisms_are_equal(pair, style):
    first, second = pair(style)
    assert list(first.bodies) == list(second.bodies)
    assert [joint.name for joint in first.joints.values()] == list(second.joints)
    for name, body in first.bodies.items():
        other = second.bodies[name]
        assert other.mass == body.mass
        for quantity in ("position", "inertia"):
            values = [world_axes(each, quantity) for each in (body, other)]
            assert np.allclose(*values, rtol=0.0, atol=TOLERANCE), (name, quantity)
    for name, joint in first.joints.items():
        other = second.joints[name]
        for quantity in ("position", "axis", "child_position"):
            values = getattr(joint, quantity), getattr(other, quantity)
            assert np.allclose(*values, rtol=0.0, atol=TOLERANCE), (name, quantity)
        for quantity in ("type", "parent", "child", "effort", "velocity", "damping", "is_open"):
            assert getattr(joint, quantity) == getattr(other, quantity), (name, quantity)
        assert np.array_equal(joint.limits, other.limits)


def world_axes(body, quantity):
    """Return a quantity of a body in world axes: the axes of bodies may differ."""
    if quantity == "position":
        return np.asarray(body.position)
    rotation = rotation_matrix(np.asarray(body.orientation))
    return rotation @ body.inertia @ rotation.T


@pytest.mark.parametrize("style", STYLES)
def test_motions_are_equal(pair, style):
    places = []
    for mechanism in pair(style):
        sim = Simulator(mechanism, timestep=0.005)
        # those of free rotations are in the axes of bodies, which differ
        sim.reset(
            velocities={name: 1.5 for name in ("to rail", "to lower") if name in mechanism.joints}
        )
        for _ in range(100):
            assert sim.step().converged
        places.append([sim.body_position(name) for name in mechanism.bodies])
        assert sim.metrics()["constraint_residual_max"] < MOVED
    assert (
        np.abs(places[0][-1] - np.asarray(list(mechanism.bodies.values())[-1].position)).max()
        > 1e-3
    )
    assert np.allclose(*places, rtol=0.0, atol=MOVED)
