"""Springs and dampers between points: energy, momentum, any stiffness, in and out of loops."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.loops_plane import five_bar
from scenes.moving import momentum, oscillation
from vigym import Mechanism, Simulator


def two_masses(stiffness, damping=0.0, length=1.0, off=1.0):
    """Two free bodies tied by a spring, at points off their centres of mass or at these (`off` 0)."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("one", 1.0, (0.01, 0.02, 0.025), (0.0, 0.0, 0.0))
    mech.add_body("two", 2.0, (0.03, 0.02, 0.04), (1.0, 0.2, 0.0))
    ends = off * np.array([(0.1, 0.0, 0.05), (-0.1, 0.05, 0.0)])
    mech.add_spring("spring", "one", "two", *ends, stiffness, length, damping)
    return mech


def test_energy_of_a_spring_has_no_trend_and_momentum_is_kept():
    """Regular motion: with the ends off the centres of mass it is chaotic, and wanders between levels of the error."""
    mech = two_masses(50.0, off=0.0)
    sim = Simulator(mech)
    sim.reset(velocities={"one:floating": (0.1, 0.5, 0.0, 0.3, 0.0, 1.0)})
    first = momentum(sim)
    times, energies = oscillation(sim, 500.0, 5)
    assert abs(np.polyfit(times, energies, 1)[0]) * 500.0 < 0.1 * 0.5 * np.ptp(energies)
    np.testing.assert_allclose(momentum(sim), first, rtol=0.0, atol=1e-9 * np.abs(first).max())


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_a_spring_of_any_stiffness_is_stable(stiffness):
    """At h = 0.01 s the stiffest turns a thousand radians a step; its length then stays where it was."""
    mech = two_masses(stiffness, length=float(np.linalg.norm((0.8, 0.25, -0.05))))
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities={"one:floating": (0.1, 0.5, 0.0, 0.3, 0.0, 1.0)})
    before = sim.energy().total
    for _ in range(2000):
        assert sim.step().converged
        assert sim.energy().total < 1.1 * before  # rounding of 1e9 N/m makes some percent
    assert sim.energy().total > 0.8 * before  # the motion across the spring stays


@pytest.mark.parametrize("stiffness", [1e4, 1e9])
def test_a_stiff_spring_across_a_loop_is_stable(stiffness):
    """A five-bar whose knees are held apart, swinging with the freedom that is left."""
    mech = five_bar(damping=0.0)
    ends = [mech.bodies[f"{side}_lower"].position for side in ("left", "right")]
    still = (0.0, 0.0, 0.0)
    mech.add_spring(
        "stay",
        "left_lower",
        "right_lower",
        still,
        still,
        stiffness,
        float(np.linalg.norm(ends[1] - ends[0])),
    )
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities={"left_hip": 1.0})
    before, energies = sim.energy().total, []
    for _ in range(2000):
        assert sim.step().converged
        energies.append(sim.energy().total)
        assert sim.constraint_residual() <= 1e-10
    assert max(energies) < before + 1e-3 * abs(before)
    assert min(energies) > before - 0.01 * abs(before)  # of the spring's vibration


def test_a_spring_with_a_damper_takes_the_energy_that_is_booked():
    mech, balances = two_masses(200.0, damping=3.0), []
    for h in (0.002, 0.001):
        sim = Simulator(mech, timestep=h)
        sim.reset(velocities={"one:floating": (0.5, 0.0, 0.0, 0.0, 0.0, 2.0)})
        first = sim.energy().total
        assert sim.step(substeps=round(3.0 / h)).converged
        lost, balance = sim.metrics()["dissipated"], sim.metrics()["energy_balance"]
        assert 0.3 * first < lost < first
        assert balance == pytest.approx(sim.energy().total - first + lost, abs=1e-12)
        balances.append(balance)
    assert balances[0] / balances[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("damping", [1e2, 1e6])
def test_any_damper_between_points_is_stable(damping):
    mech = five_bar()
    still = (0.0, 0.0, 0.0)
    mech.add_spring("damper", "left_upper", "right_lower", still, still, 10.0, 0.1, damping)
    sim, energies = Simulator(mech, timestep=0.02), []
    for _ in range(200):
        assert sim.step().converged
        assert sim.constraint_residual() <= 1e-10
        energies.append(sim.energy().total)
    assert max(np.diff(energies)) < 1e-3
    assert energies[-1] < energies[0]
