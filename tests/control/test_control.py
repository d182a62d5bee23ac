"""Controllers: the equations they solve, batches of them, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_joints import mul
from scenes import touching_scenes as scenes
from scenes.deviations import difference, displaced
from scenes.loops_plane import five_bar
from scenes.moving import tree
from scenes.trees import random_positions, unit
from vigym import Mechanism, Simulator, assets, load_urdf
from vigym.control.energy_swing_up import energy_swing_up
from vigym.control.lqr import gain, lqr, riccati
from vigym.control.pd import pd
from vigym.control.static_torques import holding_torques
from vigym.mechanism.elements.errors import MechanismError
from vigym.simulation.linearization.deviation import deviation

# Products of quaternions round by 2e-16, on some processors where they cancel on others.
ROUNDING = 1e-15


def told(positions, velocities, energy=0.0):
    arrays = np.asarray(positions, float), np.asarray(velocities, float)
    return {
        "joint_positions": arrays[0],
        "joint_velocities": arrays[1],
        "energy_total": np.asarray(energy, float),
    }


def random_system(seed, n=6, m=2):
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=(n, n))
    return (
        1.5 * rng.normal(size=(n, n)),
        rng.normal(size=(n, m)),
        Q @ Q.T,
        np.diag(rng.uniform(0.5, 2.0, m)),
    )


@pytest.mark.parametrize("seed", range(5))
def test_riccati_solves_its_equation_and_stabilises(seed):
    A, B, Q, R = random_system(seed)
    P = riccati(A, B, Q, R)
    K = gain(A, B, R, P)
    np.testing.assert_allclose(Q + A.T @ P @ (A - B @ K), P, atol=1e-9 * np.abs(P).max())
    assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1.0
    np.testing.assert_array_equal(P, P.T)


def test_riccati_of_one_number():
    P = riccati(np.eye(1), np.eye(1), np.eye(1), np.eye(1))
    assert P[0, 0] == pytest.approx(0.5 * (1.0 + np.sqrt(5.0)), rel=1e-12)


def test_riccati_refuses_what_controls_do_not_reach():
    with pytest.raises(ValueError, match="no stabilising solution"):
        riccati(np.diag([1.1, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
    with pytest.raises(ValueError, match="no stabilising solution"):
        riccati(np.diag([1.1, 0.5]), np.eye(2), np.diag([0.0, 1.0]), np.eye(2))


def upright():
    return load_urdf(assets.path("inverted_double_pendulum"))


def test_regulator_minimises_the_cost_it_tells():
    mech = upright()
    balance = lqr(mech, position_cost=2.0, velocity_cost=0.5, control_cost=0.3)
    sim = Simulator(mech)
    start = 1e-4 * np.array([1.0, -2.0, 3.0])
    total = 0.0
    sim.reset(start)
    expected = balance.cost(told(sim.joint_positions, sim.joint_velocities))
    for _ in range(3000):
        info = told(sim.joint_positions, sim.joint_velocities)
        x = balance.deviation(info)
        action = (balance.torques - balance.gain @ x) / mech.joints["rail"].effort
        total += 2.0 * x[:3] @ x[:3] + 0.5 * x[3:] @ x[3:] + 0.3 * action @ action
        np.testing.assert_allclose(balance(None, info), action, rtol=1e-6)
        sim.step(action * mech.joints["rail"].effort)
    assert total == pytest.approx(expected, rel=1e-4)


def test_a_batch_is_its_environments():
    mech = upright()
    rng = np.random.default_rng(0)
    positions, velocities = rng.normal(size=(2, 4, 5, 3))
    energies = rng.normal(size=(4, 5))
    balance = lqr(mech)
    controllers = [
        balance,
        pd(mech, target=0.3, kp=2.0),
        energy_swing_up(mech, energy=1.0, swing="hinge", balance=balance, catch=1e3),
    ]
    for controller in controllers:
        actions = controller(None, told(positions, velocities, energies))
        assert (actions.shape, actions.dtype) == ((4, 5, 1), np.float32)
        assert np.abs(actions).max() <= 1.0
        for index in np.ndindex(4, 5):
            one = controller(None, told(positions[index], velocities[index], energies[index]))
            np.testing.assert_allclose(one, actions[index], rtol=1e-6)


def test_deviation_leads_from_the_reference():
    mech = tree(3)
    sim = Simulator(mech)
    sim.reset(random_positions(1, mech))
    reference = sim.joint_positions
    way = 0.01 * np.random.default_rng(0).normal(size=len(mech.velocity_names))
    turned = displaced(mech, reference, way)
    np.testing.assert_allclose(deviation(mech, turned, reference), way, rtol=1e-3)
    assert np.abs(deviation(mech, reference, reference)).max() <= ROUNDING


def test_deviation_of_angles_and_orientations():
    mech = Mechanism()
    for name in "ab":
        mech.add_body(name, 1.0, (1.0, 1.0, 1.0))
    mech.add_joint("hinge", "revolute", "world", "a", (0, 0, 0))
    mech.add_joint("ball", "spherical", "a", "b", (0, 0, 0))
    turn = np.array([np.cos(0.2), 0.0, np.sin(0.2), 0.0])
    start = unit(np.array([0.3, 0.5, -0.1, 0.8]))
    reference = np.append(0.1, start)
    found = deviation(
        mech, [np.append(2.0 * np.pi, sign * mul(start, turn)) for sign in (1, -1)], reference
    )
    np.testing.assert_allclose(found, [[-0.1, 0.0, 0.4, 0.0]] * 2, atol=1e-12)
    tiny = np.append(0.1, mul(start, unit(np.array([1.0, 1e-7, 0.0, -2e-7]))))
    found, expected = deviation(mech, tiny, reference), difference(mech, tiny, reference)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=ROUNDING)


def test_torques_that_hold_a_closed_leg():
    sim = Simulator(five_bar())
    sim.reset({"left_hip": 0.2, "right_hip": -0.1})
    before, pose = sim.state, sim.joint_positions
    torques = holding_torques(sim)
    np.testing.assert_array_equal(sim.state, before)
    sim.step(torques, substeps=10)
    np.testing.assert_allclose(sim.joint_positions, pose, atol=1e-9)
    assert np.abs(torques).min() > 1e-3


def test_poses_that_nothing_holds():
    sim = Simulator(load_urdf(assets.path("acrobot")))
    sim.reset({"shoulder": 1.0})
    with pytest.raises(ValueError, match="no torques hold within the efforts"):
        holding_torques(sim)
    sim.reset(velocities={"shoulder": 1.0})
    with pytest.raises(ValueError, match="found a motion"):
        holding_torques(sim)
    with pytest.raises(ValueError, match="no torques hold within the efforts"):
        lqr(sim.mechanism, {"shoulder": 1.0})


def test_energy_is_pumped_in_and_out():
    mech = load_urdf(assets.path("pendulum"))
    pump = energy_swing_up(mech, energy=1.0, pump=2.0, push=1.5)
    cases = (
        (1.0, -9.0, 1.5),
        (-1.0, -9.0, -1.5),
        (0.0, -9.0, 1.5),
        (1.0, 9.0, -1.5),
        (1.0, 0.75, 0.75),
    )
    for rate, energy, torque in cases:
        assert pump.torque(told([0.1], [rate], energy)) == pytest.approx(torque)


def test_wrong_arguments():
    mech = upright()
    with pytest.raises(ValueError, match="swing: found 'wing', expected one of rail, "):
        energy_swing_up(mech, energy=1.0, swing="wing")
    for name in ("energy", "push", "pump"):
        for value in (np.inf, "inf", True, [1.0, np.nan]):
            with pytest.raises(MechanismError, match=f"{name}: found .*, expected a finite number"):
                energy_swing_up(mech, **{"energy": 1.0, "swing": "hinge", name: value})
    with pytest.raises(ValueError, match="found 2 actuators, expected one"):
        energy_swing_up(scenes.double_pendulum(effort=1.0), energy=1.0)
    with pytest.raises(ValueError, match=r"kp: found shape \(2,\)"):
        pd(mech, kp=[1.0, 2.0])
    with pytest.raises(ValueError, match="kd: found 'fast', expected numbers"):
        pd(mech, kd="fast")
    with pytest.raises(
        ValueError, match="control_cost: found 0, expected finite numbers of at least 1e-09"
    ):
        lqr(mech, control_cost=0)
    with pytest.raises(
        ValueError, match=r"position_cost: found shape \(2,\), expected one number or \(3,\)"
    ):
        lqr(mech, position_cost=[1.0, 2.0])
    with pytest.raises(MechanismError, match="found a motor"):
        pd(scenes.fixed_leg())
    with pytest.raises(MechanismError, match="no largest torque"):
        pd(scenes.double_pendulum(effort=np.inf))
    ball = Mechanism()
    ball.add_body("ball", 1.0, (1.0, 1.0, 1.0))
    ball.add_joint("socket", "spherical", "world", "ball", (0, 0, 0.1), effort=1.0)
    with pytest.raises(MechanismError, match="found a free orientation"):
        pd(ball)


def test_regulator_of_balls():
    mech = Mechanism()
    mech.add_body("rod", 1.0, (0.1, 0.1, 0.01), position=(0.0, 0.0, 0.5))
    mech.add_joint("socket", "spherical", "world", "rod", (0, 0, 0), effort=5.0)
    balance, sim = lqr(mech), Simulator(mech)
    sim.reset({"socket": unit(np.array([1.0, 0.1, -0.05, 0.2]))}, {"socket": (0.3, 0.2, -0.5)})
    for _ in range(1500):
        sim.step(5.0 * balance(None, told(sim.joint_positions, sim.joint_velocities)).astype(float))
    assert np.abs(balance.deviation(told(sim.joint_positions, sim.joint_velocities))).max() < 1e-4
