"""Gears, mimics and screws: exact at every knot, without energy of their own."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.touching import energies, moving, run, stepped
from vigym import Mechanism, Simulator

G = scenes.GRAVITY


@pytest.mark.parametrize("ratio", [-2.0, 0.5, 10.0])
def test_gear_ties_angles_and_rates(ratio):
    sim = moving(scenes.geared(ratio), 0.01, {"axle0": 1.0, "axle1": ratio})
    for k, _ in enumerate(stepped(sim, 100, torques=lambda k: [np.sin(0.1 * k), 0.3])):
        first, second = sim.joint_positions
        assert second == pytest.approx(ratio * first, abs=1e-9 * (1.0 + abs(ratio)))
        assert sim.joint_velocities[1] == pytest.approx(
            ratio * sim.joint_velocities[0], abs=1e-8
        ), k


def test_geared_discs_have_the_moment_of_both():
    """Torque T on the first turns J0 + ratio^2 J1."""
    sim = run(Simulator(scenes.geared(-2.0)), 50, torques=[0.2, 0.0])
    assert sim.joint_velocities[0] == pytest.approx(0.2 / (0.1 + 4.0 * 0.02) * 0.5, rel=1e-5)


def test_offset_is_met_from_the_start():
    sim = Simulator(scenes.geared(2.0, offset=0.3))
    assert sim.joint_positions[1] == pytest.approx(2.0 * sim.joint_positions[0] + 0.3, abs=1e-10)
    sim.reset({"axle0": 0.4}, {"axle0": 1.0})
    assert sim.joint_positions == pytest.approx([0.4, 1.1], abs=1e-10)
    assert sim.joint_velocities == pytest.approx([1.0, 2.0], abs=1e-10)
    run(sim, 20)
    assert sim.joint_positions[1] == pytest.approx(2.0 * sim.joint_positions[0] + 0.3, abs=1e-9)


def test_nut_falls_along_its_thread():
    """Weight against mass and moment over the lead: g / (1 + J / (m lead^2))."""
    sim = run(Simulator(scenes.screw(0.05)), 30)
    fall, turn = sim.joint_positions
    assert fall == pytest.approx(0.05 * turn, abs=1e-10)
    assert fall == pytest.approx(-0.5 * G / (1.0 + 0.001 / 0.05**2) * 0.09, rel=1e-2)


def test_energy_of_a_geared_pendulum_has_no_trend():
    mech = scenes.double_pendulum()
    mech.add_coupling("gear", "gear", "elbow", "shoulder", -0.7)
    found = energies(moving(mech, 0.01, {"shoulder": 1.0, "elbow": -0.7}), 1000)
    assert np.ptp(found) <= 2e-2
    assert abs(found[500:].mean() - found[:500].mean()) <= 0.2 * np.ptp(found)


def test_chain_of_mimics_moves_as_one_freedom():
    """A gripper: two fingers follow the first, the third follows the second."""
    mech = Mechanism()
    for i in range(4):
        mech.add_body(f"finger{i}", 0.1, (1e-3, 2e-3, 2e-3), (0.1, 0.1 * i, 0.0))
        mech.add_joint(
            f"slide{i}",
            "prismatic",
            "world",
            f"finger{i}",
            (0, 0, 0),
            (1, 0, 0),
            effort=5.0,
            damping=0.1,
        )
    mech.add_coupling("a", "mimic", "slide1", "slide0", -1.0)
    mech.add_coupling("b", "mimic", "slide2", "slide0", 0.5)
    mech.add_coupling("c", "mimic", "slide3", "slide2", 2.0)
    sim = run(Simulator(mech), 50, torques=[0.3, 0.0, 0.0, 0.0])
    ratios = np.array([1.0, -1.0, 0.5, 1.0])
    np.testing.assert_allclose(sim.joint_positions, ratios * sim.joint_positions[0], atol=1e-10)
    np.testing.assert_allclose(sim.joint_velocities, ratios * sim.joint_velocities[0], atol=1e-9)
    assert mech.degrees_of_freedom == 1


def test_gear_between_joints_of_one_closed_leg():
    """A coupling that closes a loop of its own inside another: both hips alike, one freedom is left."""
    mech = scenes.fixed_leg(kp=30.0, kd=0.5, effort=5.0)
    mech.add_coupling("alike", "gear", "back_hip", "front_hip", -1.0)
    sim = Simulator(mech)
    names = mech.position_names
    for _ in stepped(sim, 60, targets=[0.4, -0.4]):
        front, back = (sim.joint_positions[names.index(name)] for name in ("front_hip", "back_hip"))
        assert back == pytest.approx(-front, abs=1e-9)
        assert sim.constraint_residual() <= 1e-10
