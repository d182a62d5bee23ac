"""Geometry of joints: closures bring a displaced body back to first order, along what its joint holds."""

import numpy as np
import pytest

from scenes.plain_python import data_of, random_vector, turn
from scenes.trees import TYPES, random_positions, random_tree
from vigym import Simulator
from vigym.core.body.pose import set_pose
from vigym.core.joint import geometry
from vigym.core.model.context import knot_buffer

RNG = np.random.default_rng(0)


def posed(kind):
    mech = random_tree(2, (kind,), springs=False)
    sim = Simulator(mech)
    if kind != "fixed":
        sim.reset(random_positions(3, mech))
    d = data_of(sim)
    return d, knot_buffer(d, 0)


def gap(d, knot):
    shift, _ = geometry.position_closure(d, 1, knot)
    return np.array((*shift, *geometry.rotation_closure(d, 1, knot)))


def displace(d, knot, shift, rotation):
    pose = d.pose(knot, 1)
    anchor = np.add(pose.anchor, shift)
    q = np.array(turn(pose.orientation, tuple(rotation)))
    set_pose(d.body(1), pose, pose.position, tuple(q / np.linalg.norm(q)))
    set_pose(d.body(1), pose, tuple(anchor - pose.arm), pose.orientation)


@pytest.mark.parametrize("kind", TYPES)
def test_closures_bring_a_body_back(kind):
    d, knot = posed(kind)
    assert gap(d, knot) == pytest.approx(np.zeros(6), abs=1e-12)
    body, rng = d.body(1), np.random.default_rng(1)
    displace(d, knot, 1e-4 * rng.normal(size=3), 1e-4 * rng.normal(size=3))
    opened = gap(d, knot)
    dofs = body.translation_count + body.rotation_count
    assert (np.abs(opened).max() > 1e-5) == (dofs < 6)
    displace(d, knot, opened[:3], opened[3:])
    assert gap(d, knot) == pytest.approx(np.zeros(6), abs=1e-7)


@pytest.mark.parametrize("kind", TYPES)
def test_motions_along_free_directions_open_nothing(kind):
    d, knot = posed(kind)
    body = d.body(1)
    for j in range(body.translation_count):
        axis = np.array(geometry.translation_axis(d, 1, j, knot))
        assert np.linalg.norm(axis) == pytest.approx(1.0)
        displace(d, knot, 1e-3 * axis, np.zeros(3))
        assert gap(d, knot) == pytest.approx(np.zeros(6), abs=1e-12)
    for j in range(body.rotation_count):
        axis = np.array(geometry.rotation_axis(d, 1, j, knot))
        held = geometry.project_on_constrained_rotations(d, 1, knot, tuple(axis))
        assert held == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
        displace(d, knot, np.zeros(3), 1e-5 * axis)
        assert gap(d, knot) == pytest.approx(np.zeros(6), abs=1e-9)


@pytest.mark.parametrize("kind", TYPES)
def test_what_is_held_is_the_rest_of_a_rotation(kind):
    """A projection: once more it changes nothing, and it has as many dimensions as are held."""
    d, knot = posed(kind)
    P = np.array(
        [geometry.project_on_constrained_rotations(d, 1, knot, tuple(axis)) for axis in np.eye(3)]
    )
    assert pytest.approx(P, abs=1e-12) == P @ P
    assert np.trace(P) == pytest.approx(3 - d.body(1).rotation_count)


def test_the_lever_leads_to_the_closed_anchor():
    d, knot = posed("prismatic")
    displace(d, knot, random_vector(RNG), np.zeros(3))
    shift, lever = geometry.position_closure(d, 1, knot)
    parent = np.array(d.pose(knot, 0).anchor)
    assert parent + lever == pytest.approx(np.add(d.pose(knot, 1).anchor, shift))
