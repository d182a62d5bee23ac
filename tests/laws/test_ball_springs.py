"""Springs of spherical and floating joints: conservative where steps resolve them, stable at any stiffness."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.moving import momentum
from vigym import Mechanism, Simulator

STEPS = 1200


def hanging(kind, stiffness, gravity=(0.0, 0.0, -9.81)):
    """Two bodies below each other on springs that hold all three rotations."""
    mech, above = Mechanism(gravity=gravity), "world"
    for i, joint in enumerate((kind, "spherical")):
        mech.add_body(f"body{i}", 1.0, (0.01, 0.02, 0.025), (0.0, 0.0, -0.5 - i))
        at = (0.0, 0.0, -float(i))
        mech.add_joint(f"joint{i}", joint, above, f"body{i}", at, stiffness=stiffness)
        above = f"body{i}"
    return mech


def turned(mech, angle, seed=0):
    """All ball joints turned by an angle about random axes."""
    rng, positions = np.random.default_rng(seed), {}
    for i, joint in enumerate(mech.joints.values()):
        axis = rng.normal(size=3)
        axis *= np.sin(0.5 * angle) / np.linalg.norm(axis)
        place = (0.0, 0.0, -0.5 - i) if joint.type == "floating" else ()
        positions[joint.name] = (*place, np.cos(0.5 * angle), *axis)
    return positions


def energies_of_whole_steps(sim):
    """Return the energies [J] after each of the steps, all of them converged and none halved."""
    found = []
    for _ in range(STEPS):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
        found.append(sim.energy().total)
    return found


def vibration(sim, stiffness):
    """Let go of springs turned by 0.01 rad; returns energies, that at the start and with slack springs [J]."""
    sim.reset(turned(sim.mechanism, 0.01))
    start = sim.energy().total
    return energies_of_whole_steps(sim), start, start - 0.5 * stiffness * 2 * 0.01**2


@pytest.mark.parametrize("timestep", [0.01, 0.001])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_energy_never_rises_at_any_stiffness(kind, stiffness, timestep):
    """Up to 300 rad of the springs' vibration in a step: what steps do not resolve dies down."""
    sim = Simulator(hanging(kind, stiffness), timestep=timestep)
    found, start, floor = vibration(sim, stiffness)
    first, second = np.reshape(found, (2, -1))
    assert second.mean() < first.mean() + 0.05 * (start - floor)
    assert max(found) < start + 0.3 * (start - floor)


@pytest.mark.parametrize("stiffness", [10.0, 1e3, 1e5])
@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_energy_of_resolved_springs_has_no_trend(kind, stiffness):
    """The fastest vibration, about the axis of the least moment, turns by 0.3 rad in a step."""
    timestep = 0.3 / np.sqrt(stiffness / 0.005)
    sim = Simulator(hanging(kind, stiffness), timestep=timestep)
    found, start, floor = vibration(sim, stiffness)
    first, second = np.reshape(found, (2, -1))
    # means over halves differ by what a vibration with beats leaves
    assert abs(second.mean() - first.mean()) < 0.05 * (start - floor)
    assert np.abs(np.array(found) - start).max() < 0.3 * (start - floor)


@pytest.mark.parametrize("stiffness", [1e3, 1e5])
def test_energy_of_a_wide_swing_never_rises(stiffness):
    sim = Simulator(hanging("spherical", stiffness), timestep=0.01)
    sim.reset(turned(sim.mechanism, 0.3))
    start = sim.energy().total
    found = energies_of_whole_steps(sim)
    first, second = np.reshape(found, (2, -1))
    # h w = 20: bodies turn by up to 0.5 rad in a step, whose square is the width of the energy
    assert second.mean() < first.mean() + 0.02 * start
    assert max(found) < 1.25 * start


def test_energy_of_a_wide_swing_has_no_trend():
    sim = Simulator(hanging("spherical", 1e3), timestep=0.001)
    sim.reset(turned(sim.mechanism, 0.3))
    start = sim.energy().total
    found = energies_of_whole_steps(sim)
    first, second = np.reshape(found, (2, -1))
    assert abs(second.mean() - first.mean()) < 0.005 * start
    assert np.abs(np.array(found) - start).max() < 0.05 * start


def test_momentum_of_two_free_bodies_on_a_spring_is_kept():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("one", 1.0, (0.01, 0.02, 0.025))
    mech.add_body("two", 2.0, (0.03, 0.02, 0.04), (1.0, 0.2, 0.0))
    mech.add_joint("ball", "spherical", "one", "two", (0.5, 0.0, 0.0), stiffness=1e4)
    sim = Simulator(mech, timestep=0.01)
    sim.reset({"ball": (np.cos(0.02), 0.0, np.sin(0.02), 0.0)}, {"ball": (1.0, -2.0, 3.0)})
    before = momentum(sim)
    assert sim.step(substeps=500).converged
    np.testing.assert_allclose(momentum(sim), before, atol=1e-7)


def test_the_swing_converges_with_the_square_of_the_step():
    """The end of a fast swing of 0.6 s, against that of steps 16 times as short."""
    ends = []
    for timestep in (4e-3, 2e-3, 2.5e-4):
        sim = Simulator(hanging("spherical", 20.0), timestep=timestep)
        sim.reset(turned(sim.mechanism, 1.0), {"joint0": (1.0, 2.0, 3.0)})
        assert sim.step(substeps=round(0.6 / timestep)).converged
        ends.append(sim.body_position("body1"))
    coarse, fine = (np.linalg.norm(end - ends[2]) for end in ends[:2])
    assert 3.5 < coarse / fine < 4.5
