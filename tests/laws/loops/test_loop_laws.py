"""What physics promises mechanisms with loops and springs: constraints, order, energy, momentum, balance of work."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.closing import closed_state
from scenes.loops_plane import (
    crank_and_rockers,
    crossed_ladder,
    double_four_bar,
    five_bar,
    general_four_bars,
    scissor,
    slider_crank,
)
from scenes.loops_space import (
    bricard,
    closed_by,
    hanging_rope,
    minitaur,
    random_loops,
    spatial_four_bar,
)
from scenes.moving import momentum, motion, oscillation
from scenes.trees import TYPES, by_joint
from vigym import Simulator

CLOSING = [kind for kind in TYPES if kind != "floating"]
HOLD = 0.04  # torques of one signal are held this long, at every step size of up to that much [s]


def start(mech, seed=0, scale=0.3, speed=0.5, **options):
    positions, rates = closed_state(mech, seed, scale, speed)
    sim = Simulator(mech, **options)
    sim.reset(positions, by_joint(mech, rates))
    return sim


def step(sim, torques=None, substeps=1):
    status = sim.step(torques, substeps=substeps)
    assert status.converged
    assert status.halvings == 0


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize(
    ("build", "strength"),
    [
        (five_bar, 0.3),
        (crossed_ladder, 0.3),
        (lambda: scissor(3), 0.3),
        (slider_crank, 0.3),
        (bricard, 0.3),
        (hanging_rope, 0.0),
        (minitaur, 0.1),
        (lambda: random_loops(3, TYPES, ["revolute", "universal"], damping=0.3), 1.0),
    ],
    ids=["five-bar", "ladder", "scissor", "slider-crank", "Bricard", "rope", "quadruped", "random"],
)
def test_constraints_hold_at_every_step(build, strength, loops):
    mech = build()
    sim = start(mech, loops=loops)
    for torques in strength * np.random.default_rng(0).normal(size=(300, len(mech.actuator_names))):
        assert sim.step(torques).converged
        assert sim.constraint_residual() <= 1e-10
        assert sim.metrics()["velocity_residual_max"] <= 1e-9


def held(mech, h, order):
    """State after 0.48 s of a held signal and the simulator's work balance."""
    sim = start(mech, 7, timestep=h, order=order, tolerance=1e-13)
    before = sim.energy().total
    for torques in np.random.default_rng(7).normal(size=(12, len(mech.actuator_names))):
        step(sim, torques, round(HOLD / h))
    metrics = sim.metrics()
    gained = sim.energy().total - before + metrics["dissipated"]
    assert metrics["energy_balance"] == pytest.approx(gained - metrics["work_actuator"], abs=1e-12)
    return np.concatenate([sim.joint_velocities, sim.body_states.ravel()]), metrics[
        "energy_balance"
    ]


def assert_order(mech, order, h, factor):
    states, balances = zip(
        *(held(mech, size, order) for size in (h, h / 2.0, h / 4.0)), strict=True
    )
    coarse, fine = np.abs(np.diff(states, axis=0)).max(axis=1)
    assert coarse / fine == pytest.approx(factor, rel=0.15)
    assert abs(balances[1] / balances[2]) == pytest.approx(2.0**order, rel=0.15)


@pytest.mark.parametrize(
    ("order", "damping", "h"),
    [(2, 0.0, 0.01), (4, 0.0, 0.02), (2, 1.0, 0.0025)],
    ids=["second", "fourth", "damped"],
)
@pytest.mark.parametrize("kind", CLOSING)
def test_order_of_motion_and_work_balance(kind, order, damping, h):
    """Springs between points and on the closing joint keep the order; dampers are implicit: motion is of order one."""
    assert_order(closed_by(kind, 7, damping), order, h, 2.0 if damping else 2.0**order)


@pytest.mark.parametrize("kind", CLOSING)
def test_order_6(kind):
    """The balance is not compared: its errors are roundings already."""
    mech = closed_by(kind, 7)
    states = [held(mech, h, 6)[0] for h in (0.04, 0.02, 0.01)]
    coarse, fine = np.abs(np.diff(states, axis=0)).max(axis=1)
    assert coarse / fine > 0.8 * 64.0


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize(
    "build",
    [lambda: general_four_bars(2), bricard, lambda: spatial_four_bar(damping=0.0)],
    ids=["general four-bars", "Bricard", "balls"],
)
def test_order_with_dependent_rows_and_idle_freedoms(build, order):
    assert_order(build(), order, 0.01, 2.0**order)


@pytest.mark.parametrize(
    ("build", "rates", "seconds"),
    [
        (lambda: crank_and_rockers(1), {"ground0": 3.0}, 1000.0),
        (lambda: crank_and_rockers(2), {"ground0": 3.0}, 500.0),
        (bricard, {"hinge0": 0.5}, 500.0),
    ],
    ids=["four-bar", "two windows", "Bricard"],
)
def test_energy_has_no_trend(build, rates, seconds):
    sim = Simulator(build(), timestep=0.01)
    sim.reset(velocities=rates)
    times, energies = oscillation(sim, seconds, 5)
    assert abs(np.polyfit(times, energies, 1)[0]) * seconds < 0.1 * 0.5 * np.ptp(energies)


def test_momentum_of_a_free_quadruped_is_kept():
    """Torques, dampers, armatures, springs and loops inside are equal and opposite."""
    mech = minitaur(gravity=(0.0, 0.0, 0.0))
    for a, b in (("front_upper0", "back_lower1"), ("base", "front_lower2")):
        mech.add_spring(f"{a}-{b}", a, b, (0.01, 0.02, 0.03), (-0.02, 0.01, 0.0), 50.0, 0.1, 0.2)
    sim = start(mech, scale=0.1)
    first = momentum(sim)
    for torques in np.random.default_rng(13).normal(size=(200, 8)):
        assert sim.step(0.1 * torques, substeps=10).converged
        np.testing.assert_allclose(momentum(sim), first, rtol=0.0, atol=1e-9 * np.abs(first).max())


@pytest.mark.parametrize("wobble", [1e-9, 1e-6])
def test_axes_that_are_slightly_off_still_move(wobble):
    """Hinges not quite parallel would lock a spatial four-bar; it moves, and next to the one with parallel hinges."""
    found = []
    for size in (0.0, wobble):
        mech = general_four_bars(2, wobble=size)
        assert (mech.degrees_of_freedom, mech.redundant_constraints) == (1, 6)
        sim = Simulator(mech)
        sim.reset({"ground0": 0.1}, {"ground0": 0.5})
        for _ in range(300):
            step(sim)
            assert (
                sim.constraint_residual() <= 1e-10 + 3.0 * size
            )  # rows that are not imposed are measured, too
        found.append(sim.joint_positions)
    assert 0.0 < np.abs(found[1] - found[0]).max() < 1e3 * wobble


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize(
    "build", [general_four_bars, lambda n, seed: double_four_bar(n)], ids=["general", "equal"]
)
@pytest.mark.parametrize("seed", range(2))
def test_twenty_windows_converge_or_say_so(build, seed, loops):
    """Wild motion; what its energy does next to change points at this step is the scheme's, see the next test."""
    mech = build(20, seed)
    sim = Simulator(mech, timestep=0.01, loops=loops)
    sim.reset(velocities={"ground0": -1.0 - seed})
    before = motion(sim)
    for _ in range(200):
        status = sim.step()
        if not status.converged:
            np.testing.assert_array_equal(motion(sim), before)
            break
        before = motion(sim)
        assert np.isfinite(before).all()
        assert sim.constraint_residual() <= 1e-10


@pytest.mark.parametrize(
    ("windows", "seed", "rate"), [(2, 0, 6.0), (1, 0, -2.0), (5, 2, 1.0), (2, 3, 1.0)]
)
def test_steps_that_were_halved_leave_no_gap(windows, seed, rate):
    """Next to change points some halves need the careful attempt; what is accepted is what converged."""
    sim, halvings = Simulator(general_four_bars(windows, seed)), 0
    sim.reset(velocities={"ground0": rate})
    for _ in range(1500):
        status = sim.step()
        if not status.converged:
            break
        halvings += status.halvings
        assert sim.constraint_residual() <= 1e-10
    assert halvings


def test_newton_takes_the_root_of_the_motion():
    """A crank that is driven hard round its dead point: fine steps and the twin go on, other roots are elsewhere."""
    mech, start = (
        crank_and_rockers(2),
        ({"ground0": 4.847132587175906}, {"ground0": 8.158539262095797}),
    )
    coarse, fine = Simulator(mech, timestep=0.01), Simulator(mech, timestep=0.0005)
    for sim in (coarse, fine):
        sim.reset(*start)
    before = coarse.energy().total
    for _ in range(20):
        assert coarse.step().converged
        step(fine, None, 20)
        assert coarse.energy().total == pytest.approx(before, abs=0.5)
        np.testing.assert_allclose(coarse.joint_positions, fine.joint_positions, atol=0.1)
