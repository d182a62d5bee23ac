"""Rings of rods on universal joints with springs: few iterations, and no energy from nothing at singular poses."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.batches import assert_same_rows
from scenes.sprung import sprung_ring
from vigym import Simulator

pytestmark = pytest.mark.filterwarnings("ignore:.*constraints that depend on each other")


def thrown(rng):
    """A random motion of the ring's first rod that the others share."""
    return {"rod0": {"velocity": rng.normal(size=3), "angular_velocity": 2.0 * rng.normal(size=3)}}


def follow(sim, steps):
    """Return (largest rise above the least energy before, in parts of the kinetic energy, mean iterations).

    Energies that are read around a step in which the ring folds differ: of four in a row the
    largest counts.
    """
    energies, iterations = [], []
    kinetic, lowest = 0.0, np.inf
    rise = 0.0
    for _ in range(steps):
        energy = sim.energy()
        energies.append(energy.total)
        kinetic = max(kinetic, energy.kinetic)
        lowest = min(lowest, max(energies[-5:-1], default=np.inf))
        rise = max(rise, (energy.total - lowest - 1e-6) / kinetic)
        status = sim.step()
        assert status.converged
        iterations.append(status.iterations)
    assert sim.constraint_residual() <= 1e-10
    return rise, np.mean(iterations)


@pytest.mark.parametrize("lift", [0.0, 0.04])
@pytest.mark.parametrize("count", [4, 5, 6])
def test_stiff_rings_take_few_iterations(count, lift):
    """Multipliers of loops are large there, and their rounding is more than the tolerance."""
    mech = sprung_ring(count, 1e5, lift=lift)
    for h in (0.001, 0.01):
        sim = Simulator(mech, timestep=h)
        sim.reset(base=thrown(np.random.default_rng(count)))
        rise, iterations = follow(sim, 200)
        assert rise <= 1e-4
        assert iterations <= 4.0


@pytest.mark.parametrize(("lift", "most"), [(0.0, 0.02), (0.04, 1.0)])
@pytest.mark.parametrize("h", [0.001, 0.005, 0.01])
def test_rings_gain_no_energy(h, lift, most):
    """Where a loop is singular its multipliers grow: energy that bursts out there is refused."""
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        count = int(rng.integers(4, 7))
        mech = sprung_ring(count, 1000.0, 10.0 ** rng.uniform(-1.5, 0.5, count), lift)
        sim = Simulator(mech, timestep=h)
        sim.reset(base=thrown(rng))
        rise, _ = follow(sim, 200)
        assert rise <= most, seed


def test_rings_of_a_batch_move_as_alone():
    rng = np.random.default_rng([3, 2])
    mech = sprung_ring(6, 1000.0, 10.0 ** rng.uniform(-1.5, 0.5, 6), 0.04)
    starts = [thrown(rng)["rod0"] for _ in range(9)]
    singles = [Simulator(mech, timestep=0.005) for _ in starts]
    batch = Simulator(mech, timestep=0.005, batch=len(starts))
    for single, start in zip(singles, starts, strict=True):
        single.reset(base={"rod0": start})
    together = {key: np.array([start[key] for start in starts]) for key in starts[0]}
    batch.reset(base={"rod0": together})
    for _ in range(150):
        batch.step()
        for single in singles:
            single.step()
    assert_same_rows(batch, singles)
