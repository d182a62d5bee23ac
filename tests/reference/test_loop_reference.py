"""Published problems with loops: the double four-bar of the IFToMM library and Andrews' squeezing mechanism."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.reference import DOUBLE_FOUR_BAR, DOUBLE_FOUR_BAR_RATES, falling_row
from scenes.loops_plane import double_four_bar, parallel_motion
from scenes.moving import oscillation
from scenes.squeezer import FINAL, FINAL_RATES, TIME, TORQUE, changes, rates, squeezer
from vigym import Simulator

# Largest error of the energy [J] at a knot: what the scheme makes of one freedom
# (reference.falling_row), rounded up. Bars whose own rotation moved by chords as well would have
# 0.0411 J with two windows.
# Where all bars are in line, a step of 1 ms may leave a gap of GAP: rates are off by 1e-7 rad/s
# then, which with an angular momentum of 20 kg m^2/s is 2e-6 J, and over 10 s 1e-6 m. Where steps
# are 1 ms that much is added to the scheme's own 2.248e-4 and 3.874e-4 J, 2.497e-5 and 1.9e-5 m.
GAP = 1e-10  # [m]
ENERGY = {(1, 0.01): 0.0225, (2, 0.01): 0.0388, (1, 0.001): 2.27e-4, (2, 0.001): 3.90e-4}
TIP = {(1, 0.01): 2.5e-3, (2, 0.01): 2e-3, (1, 0.001): 2.6e-5, (2, 0.001): 2e-5}  # [m]


def falling(windows, h, order=2, **options):
    sim = Simulator(double_four_bar(windows), timestep=h, order=order, **options)
    sim.reset(*parallel_motion(windows))
    return sim


def tip(sim):
    """Position (x, y) of the upper end of the first upright and its velocity."""
    angle, rate = -sim.joint_positions[0], -sim.joint_velocities[0]
    return np.array([np.sin(angle), np.cos(angle)]), rate * np.array(
        [np.cos(angle), -np.sin(angle)]
    )


def errors(windows, h, order=2, **options):
    """Largest (energy error, gap) over all knots of 10 s, errors of the tip by time, error of its last velocity."""
    sim, every = falling(windows, h, order, **options), max(1, round(0.002 / h))
    assert sim.mechanism.position_names[0] == "ground0"
    before = sim.energy().total
    energy = 0.0
    gap = 0.0
    tips = []
    for k in range(round(10.0 / (h * every))):
        status = sim.step(substeps=every)
        assert status.converged
        assert status.halvings == 0
        energy = max(energy, abs(sim.energy().total - before))
        gap = max(gap, sim.constraint_residual())
        known = DOUBLE_FOUR_BAR[windows].get(round((k + 1) * h * every, 9))
        if known:
            tips.append(np.linalg.norm(tip(sim)[0] - known))
    assert len(tips) == 3
    return energy, gap, np.array(tips), np.linalg.norm(tip(sim)[1] - DOUBLE_FOUR_BAR_RATES[windows])


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize(("windows", "h"), ENERGY)
def test_double_four_bar_keeps_its_loops_its_energy_and_its_course(windows, h, loops):
    energy, gap, tips, _ = errors(windows, h, loops=loops)
    assert gap <= GAP
    assert energy <= ENERGY[windows, h]
    assert tips.max() <= TIP[windows, h]


@pytest.mark.parametrize("windows", [1, 2])
def test_double_four_bar_is_second_order_in_position_velocity_and_energy(windows):
    coarse, fine = (errors(windows, h) for h in (0.01, 0.005))
    for k in (0, 2, 3):
        np.testing.assert_allclose(coarse[k] / fine[k], 4.0, rtol=0.1)


@pytest.mark.parametrize("windows", [1, 2])
def test_double_four_bar_is_fourth_order_with_order_4(windows):
    """Three passes with all bars in line lie on the way; the composed step takes no notice of them."""
    coarse, fine = (errors(windows, h, 4) for h in (0.02, 0.01))
    assert coarse[0] <= 9.2e-5
    assert coarse[1] <= 1e-10
    for k in (0, 2, 3):
        np.testing.assert_allclose(coarse[k] / fine[k], 16.0, rtol=0.1)


@pytest.mark.parametrize("windows", [1, 2])
def test_energy_of_the_double_four_bar_is_of_sixth_order_with_order_6(windows):
    coarse, fine = (errors(windows, h, 6) for h in (0.04, 0.02))
    assert coarse[0] <= 2.1e-6
    assert coarse[1] <= 1e-10
    assert coarse[0] / fine[0] == pytest.approx(64.0, rel=0.1)


def test_energy_of_the_double_four_bar_has_no_trend_over_1000_seconds():
    sim = falling(2, 0.01)
    before = sim.energy().total
    times, energies = oscillation(sim, 1000.0, 1)
    amplitude = 0.5 * np.ptp(energies)
    assert abs(np.polyfit(times, energies, 1)[0]) * 1000.0 < 0.01 * amplitude
    assert np.abs(energies - before).max() <= ENERGY[2, 0.01]
    expected = falling_row(2, 0.01, 100000)[1]
    assert np.abs(energies - before).max() == pytest.approx(np.abs(expected).max(), rel=1e-3)


def squeeze(h, order=2):
    """Errors of the squeezer's angles and rates at the published time, and its balance of work."""
    mech = squeezer()
    sim = Simulator(mech, timestep=h, order=order, tolerance=1e-12)
    status = sim.step([TORQUE], substeps=round(TIME / h))
    assert status.converged
    assert status.halvings == 0
    assert sim.constraint_residual() <= 1e-10
    found = (
        changes(sim.joint_positions, mech) - FINAL,
        rates(sim.joint_velocities, mech) - FINAL_RATES,
    )
    return *(np.abs(error).max() for error in found), abs(sim.metrics()["energy_balance"])


@pytest.mark.parametrize(("order", "h"), [(2, 6e-7), (4, 2e-5)])
def test_squeezer_ends_at_the_published_angles(order, h):
    assert squeeze(h, order)[0] <= 1e-6


@pytest.mark.parametrize(("order", "h"), [(2, 1e-4), (4, 1e-4)])
def test_squeezer_converges_with_its_order(order, h):
    """Angles, rates and the balance of work, spring and drive included."""
    coarse, fine = (squeeze(size, order) for size in (h, h / 2.0))
    np.testing.assert_allclose(np.divide(coarse, fine), 2.0**order, rtol=0.1)
