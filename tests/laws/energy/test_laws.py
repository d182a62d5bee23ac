"""What physics promises, whatever the mechanism: constraints, order, energy, momentum, reactions, balance of work."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive import Twin
from oracle.naive_joints import conj, rotate
from oracle.reference import double_pendulum
from scenes.moving import momentum, oscillation
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator

HOLD = 0.04  # torques of one signal are held this long, at every step size of up to that much [s]

USUAL = TYPES[:8]  # all but the floating joint of the types that most mechanisms have


def start(seed, mech, scale=0.4, **options):
    """Simulator of `mech` in a random state near assembly."""
    sim = Simulator(mech, **options)
    sim.reset(random_positions(seed, mech, scale), by_joint(mech, random_rates(seed, mech, scale)))
    return sim


def signal(seed, mech, count, strength=1.0):
    """Torques (count, n_actuated), one row per HOLD."""
    return strength * np.random.default_rng(seed).normal(size=(count, len(mech.actuator_names)))


def step(sim, torques=None, substeps=1):
    status = sim.step(torques, substeps=substeps)
    assert status.converged
    assert status.halvings == 0
    assert not status.clipped


@pytest.mark.parametrize("seed", range(3))
def test_constraints_hold_at_every_step(seed):
    mech = random_tree(seed, np.random.default_rng(seed).permutation(TYPES), damping=0.2)
    sim = start(seed, mech, timestep=0.01)
    for torques in signal(seed, mech, 500, 2.0):
        step(sim, torques)
        assert sim.constraint_residual() <= 1e-10
        assert sim.metrics()["velocity_residual_max"] <= 1e-9


def held(seed, mech, h, order, hold=HOLD):
    """State after 0.48 s of a held signal, the simulator's work balance, and the balance by the rates at the knots."""
    sim = start(seed, mech, timestep=h, order=order, tolerance=1e-13)
    driven = np.isin(mech.velocity_names, mech.actuator_names)
    before, knots = sim.energy().total, 0.0
    for torques in signal(seed, mech, round(0.48 / hold)):
        for _ in range(round(hold / h)):
            rates = sim.joint_velocities[driven]
            step(sim, torques)
            knots += 0.5 * h * torques @ (rates + sim.joint_velocities[driven])
    metrics = sim.metrics()
    gained = sim.energy().total - before + metrics["dissipated"]
    assert metrics["energy_balance"] == pytest.approx(gained - metrics["work_actuator"], abs=1e-12)
    state = [sim.joint_velocities]
    for name in mech.bodies:
        state += [sim.body_position(name), sim.body_velocity(name)]
    return np.concatenate(state), metrics["energy_balance"], gained - knots


def assert_falls_by(factor, coarse, fine, what):
    assert np.abs(coarse).max() / np.abs(fine).max() == pytest.approx(factor, rel=0.15), what


@pytest.mark.parametrize(
    ("order", "damping", "h"),
    [(2, 0.0, 0.01), (4, 0.0, 0.04), (2, 1.0, 0.0025)],
    ids=["second", "fourth", "damped"],
)
@pytest.mark.parametrize("kind", TYPES)
def test_order_of_motion_and_work_balance(kind, order, damping, h):
    """Undamped: the order of the step. Damped motion: order one, the implicit damper's; the balance keeps order two."""
    mech = random_tree(7, [kind, "universal"], damping=damping)
    states, balances, knots = zip(
        *(held(7, mech, step, order) for step in (h, h / 2.0, h / 4.0)), strict=True
    )
    factor = 2.0 if damping else 2.0**order
    assert_falls_by(factor, states[0] - states[1], states[1] - states[2], "state")
    assert_falls_by(2.0**order, balances[1], balances[2], "balance")
    if order == 2:  # the work summed from rates at the knots is itself of second order
        assert_falls_by(4.0, knots[1], knots[2], "balance from the rates at the knots")


@pytest.mark.parametrize("kind", TYPES)
def test_order_6(kind):
    """The balance is not compared: its errors are roundings already."""
    mech = random_tree(7, [kind, "universal"])
    states = [held(7, mech, h, 6, hold=0.16)[0] for h in (0.16, 0.08, 0.04)]
    coarse, fine = np.abs(np.diff(states, axis=0)).max(axis=1)
    assert coarse / fine > 0.8 * 64.0


def test_energy_of_the_double_pendulum_has_no_trend_over_1000_seconds():
    amplitudes = []
    for h in (0.01, 0.005):
        sim = Simulator(double_pendulum(), timestep=h)
        sim.reset({"shoulder": 1.0, "elbow": 0.0})
        times, energies = oscillation(sim, 1000.0, round(0.05 / h))
        amplitudes.append(0.5 * np.ptp(energies))
        assert abs(np.polyfit(times, energies, 1)[0]) * 1000.0 < 0.1 * amplitudes[-1]
    assert amplitudes[0] / amplitudes[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("kind", TYPES)
def test_energy_of_every_joint_type_stays_in_its_band(kind):
    """Four times the time widens the band of the error by little; a drift would widen it by four.

    The median of seven trees: chaotic ones wander between levels of the error.
    """
    growths = []
    for seed in range(10, 17):
        mech = random_tree(seed, [kind, "spherical"], gravity=(0.0, 0.0, -1.0))
        sim = start(seed, mech, scale=0.1, timestep=0.02)
        energies = oscillation(sim, 1000.0, 25)[1]
        growths.append(np.ptp(energies) / np.ptp(energies[: len(energies) // 4]))
    assert np.median(growths) < 1.5


@pytest.mark.parametrize("damping", [0.0, 0.1], ids=["undamped", "damped"])
def test_momentum_of_a_free_tree_is_kept_over_10000_steps(damping):
    """Springs, dampers, armature and torques inside are equal and opposite; what the solver leaves adds up."""
    mech = random_tree(13, USUAL, gravity=(0.0, 0.0, 0.0), to_world=False, damping=damping)
    sim = start(13, mech, timestep=0.01)
    first = momentum(sim)
    for torques in signal(13, mech, 1000, 0.3):
        step(sim, torques, 10)
        np.testing.assert_allclose(momentum(sim), first, rtol=0.0, atol=1e-9 * np.abs(first).max())


def test_gravity_moves_the_momentum_of_a_free_tree_and_nothing_else():
    gravity = np.array([0.3, -0.2, -9.81])
    mech = random_tree(14, ["spherical", "prismatic"], gravity=gravity, to_world=False)
    sim = start(14, mech, timestep=0.01)
    first, mass = momentum(sim)[:3], sum(body.mass for body in mech.bodies.values())
    for _ in range(100):
        step(sim)
        np.testing.assert_allclose(momentum(sim)[:3], first + mass * gravity * sim.time, rtol=1e-10)


@pytest.mark.parametrize("damping", [1.0, 1e3, 1e5, 1e6])
def test_any_damping_is_stable_and_only_takes_energy(damping):
    mech = random_tree(15, USUAL, damping=damping)
    sim = start(15, mech, timestep=0.02)
    dissipated, energies = 0.0, []
    for _ in range(200):
        step(sim)
        now = sim.metrics()["dissipated"]
        assert now >= dissipated
        dissipated = now
        energies.append(sim.energy().total)
    assert energies[-1] < energies[0]
    assert sim.constraint_residual() <= 1e-10


def net_wrenches(sim, before, positions, forces):
    """Force and moment about the centre of mass (n, 6), world axes, that all its joints exert on each body."""
    bodies = list(sim.mechanism.bodies)
    net = np.zeros((len(bodies), 6))
    for joint, (position, wrench) in zip(
        sim.mechanism.tree_joints, zip(before, forces, strict=True), strict=True
    ):
        for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if name != "world":
                i = bodies.index(name)
                arm = position - positions[i]
                net[i] += sign * np.concatenate(
                    [wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])]
                )
    return net


def anchors(sim, twin):
    """World anchor of each joint on its child, at the knot now."""
    names = list(sim.mechanism.bodies)
    assembled = {name: sim.mechanism.bodies[name] for name in names}
    found = []
    for joint in sim.mechanism.tree_joints:
        body, i = assembled[joint.child], names.index(joint.child)
        local = rotate(conj(body.orientation), joint.position - body.position)
        local = np.zeros(3) if joint.type == "floating" else local
        found.append(twin.x[i + 1] + rotate(twin.q[i + 1], local))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_constraint_forces_are_the_twins_multipliers(seed):
    mech = random_tree(seed, TYPES, damping=0.1)
    positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    sim, twin = Simulator(mech, tolerance=1e-13), Twin(mech, 0.01)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    driven = np.isin(mech.velocity_names, mech.actuator_names)
    u = np.random.default_rng(seed).uniform(-0.3, 0.3, driven.size) * driven
    for _ in range(5):
        before = anchors(sim, twin)
        kept, orientations = twin.x[1:].copy(), twin.q[1:].copy()
        share = 2.0 / (
            1.0 + twin.h1 / twin.h
        )  # the twin's multipliers are impulses over this step alone
        twin.step(u)
        assert sim.step(u[driven]).converged
        expected = share * (twin.lam @ twin.G).reshape(-1, 6)
        expected[:, 3:] = [
            rotate(q, moment) for q, moment in zip(orientations, expected[:, 3:], strict=True)
        ]
        found = net_wrenches(sim, before, kept, sim.joint_forces())
        np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("batch", [None, 3])
def test_a_hanging_chain_carries_its_weight(batch, order):
    mech = Mechanism()
    for i in range(3):
        mech.add_body(f"link{i}", 2.0, (0.1, 0.1, 0.1), position=(0, 0, -0.5 - i))
        parent = f"link{i - 1}" if i else "world"
        mech.add_joint(f"joint{i}", "revolute", parent, f"link{i}", (0, 0, -i), (0, 1, 0))
    sim = Simulator(mech, batch=batch, order=order)
    assert not np.any(sim.joint_forces())  # nothing has moved yet
    expected = np.zeros((3, 6))
    expected[:, 2] = [3 * 2.0 * 9.81, 2 * 2.0 * 9.81, 2.0 * 9.81]
    for _ in range(3):  # the first step too, which has only half a step behind its knot
        sim.step()
        np.testing.assert_allclose(
            sim.joint_forces(), np.broadcast_to(expected, sim.joint_forces().shape), atol=1e-9
        )
