"""Springs that no step resolves give no energy, in joints of one to six freedoms; those resolved lose none."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.moving import momentum
from scenes.sprung import sprung_chain, sprung_rates, sprung_robot
from scenes.touching import moving
from scenes.trees import unit
from vigym import Mechanism, Simulator

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "points")


def energies(mech, seed, timestep, steps):
    """Return the energies [J] at the start and after each step."""
    sim = Simulator(mech, timestep=timestep)
    sim.reset(velocities=sprung_rates(mech, seed))
    found = [sim.energy().total]
    for _ in range(steps):
        assert sim.step().converged
        found.append(sim.energy().total)
    return np.array(found)


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("kind", KINDS)
def test_unresolved_springs_give_no_energy(kind, stiffness):
    """A spring that turns back in every step is in resonance with all slow motion."""
    for seed in range(12):
        found = energies(sprung_chain(kind, seed, stiffness), seed, 0.01, 1000)
        levels = found[1:].reshape(-1, 50).min(axis=1)
        assert levels.max() <= 1.02 * found[0], seed


@pytest.mark.parametrize("kind", KINDS)
def test_robots_with_stiff_springs_land_without_gain(kind):
    """Contacts excite what steps do not resolve at every landing."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        stiffness, timestep = 10.0 ** rng.uniform(2.0, 5.0), rng.choice([0.005, 0.01, 0.02])
        sim = Simulator(sprung_robot(kind, seed, stiffness, rng.choice([0.0, 0.5, 1.5])), timestep)
        rates = sprung_rates(sim.mechanism, seed)
        rates["free"] = (1.0, 0.0, -2.0, *rng.normal(size=3))
        turn = {"free": (0.0, 0.0, 0.0, *unit(rng.normal(size=4)))}
        sim.reset(turn, rates, place_on_ground=True)
        found = [sim.energy().total]
        for _ in range(round(3.0 / timestep)):
            assert sim.step().converged
            found.append(sim.energy().total)
        levels = np.array(found[:-1]).reshape(-1, 15).min(axis=1)
        assert (levels - np.minimum.accumulate(levels)).max() <= 0.01 * found[0], seed


@pytest.mark.parametrize("kind", KINDS)
def test_resolved_springs_keep_the_energy(kind):
    for seed in range(4):
        found = energies(sprung_chain(kind, seed, 30.0), seed, 0.001, 3000)
        assert np.abs(found / found[0] - 1.0).max() <= 5e-3, seed
        assert found[2000:].mean() == pytest.approx(found[:1000].mean(), rel=1e-3), seed


@pytest.mark.parametrize("turn", [0.5, 1.0])
def test_damping_falls_with_the_seventh_power_of_the_step(turn):
    """At h w = turn an energy falls by 4 pi times the damping ratio each period."""
    stiffness = 1e4
    timestep = turn / np.sqrt(stiffness / 0.1)
    sim, periods = moving(scenes.wheel_drive(stiffness=stiffness), timestep, {"axle": 1.0}), 20
    start = sim.energy().total
    sim.step(substeps=round(periods * 2.0 * np.pi / turn))
    x = 0.25 * turn**2
    ratio = 0.05 * turn * x**3 / (1.0 + x**3)
    lost = 1.0 - sim.energy().total / start
    assert lost == pytest.approx(1.0 - np.exp(-4.0 * np.pi * ratio * periods), rel=0.5)


def test_damping_of_a_spring_counts_with_the_parameters_of_an_environment():
    """A body of a hundredth of the mass is not resolved; in the same batch another one is."""
    batch = Simulator(scenes.slider(stiffness=100.0), timestep=0.02, batch=2)
    batch.set_parameters({"mass": {"cart": np.array([1.0, 1e-3])}})
    batch.reset(velocities={"rail": 1.0})
    start = batch.energy().total
    batch.step(substeps=500)
    left = batch.energy().total / start
    assert left[0] == pytest.approx(1.0, abs=0.02)
    assert left[1] <= 0.1


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
