"""Springs that start stretched, or are pulled far, give back what they stored: in long steps, parts and short ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from scenes.sprung import box_link_box, hinged_beam, sprung_chain, sprung_rates, stretched_positions
from vigym import Mechanism, Simulator

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical")


@pytest.mark.parametrize("kind", KINDS)
def test_stretched_springs_give_no_more_than_they_stored(kind):
    """Steps of all sizes, and springs of all stiffnesses: resolved, nearly resolved and not at all."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        stiffness, timestep = 10.0 ** rng.uniform(1.5, 5.5), 10.0 ** rng.uniform(-3.0, -1.7)
        mech = sprung_chain(kind, seed, stiffness)
        sim = Simulator(mech, timestep=timestep)
        sim.reset(stretched_positions(mech, kind, seed), sprung_rates(mech, seed))
        found = [sim.energy().total]
        for _ in range(300):
            assert sim.step().converged, seed
            found.append(sim.energy().total)
        levels = np.array(found[1:]).reshape(-1, 15).min(axis=1)
        assert levels.max() <= 1.02 * found[0], seed


@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_composition_damp_what_they_do_not_resolve(kind, order):
    """Parts that go back in time do not undo the damping of those that go forward."""
    for seed in range(6):
        mech = sprung_chain(kind, seed, 3e4)
        sim = Simulator(mech, timestep=0.01, order=order)
        sim.reset(stretched_positions(mech, kind, seed), sprung_rates(mech, seed))
        start = sim.energy().total
        for _ in range(40):
            assert sim.step().converged, seed
            assert sim.energy().total <= 1.02 * start, seed


@pytest.mark.parametrize("shorter", [2.0, 30.0, 1000.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damped_vibration_stays_damped_in_shorter_steps(kind, shorter):
    """Half of a step's damping acts at its end, whatever the size of the next one."""
    for seed in range(6):
        mech = sprung_chain(kind, seed, 1e5)
        sim = Simulator(mech, timestep=0.01)
        sim.reset(stretched_positions(mech, kind, seed, 0.4))
        start = sim.energy().total
        assert sim.step().converged
        after = Simulator(mech, timestep=0.01 / shorter)
        after.state = sim.state
        assert after.step(substeps=20).converged
        assert after.energy().total <= start, seed


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_random_sizes_make_no_energy(kind):
    """A change of the size damps, whichever way it goes."""
    for seed in range(5):
        rng, mech = (
            np.random.default_rng(seed),
            sprung_chain(kind, seed, 10.0 ** (2.0 + 0.8 * seed)),
        )
        sims = [Simulator(mech, timestep=size) for size in (1e-4, 2e-3, 5e-3, 1e-2, 2e-2)]
        sims[0].reset(stretched_positions(mech, kind, seed, 0.4), sprung_rates(mech, seed))
        state, levels = sims[0].state, []
        start = sims[0].energy().total
        for _ in range(150):
            sim = sims[rng.integers(len(sims))]
            sim.state = state
            assert sim.step().converged, seed
            state, levels = sim.state, [*levels, sim.energy().total]
        assert np.reshape(levels, (-1, 15)).min(axis=1).max() <= 1.02 * start, seed


def predicted_stretches(stiffness, sizes, stretch, rate):
    """Stretches of a spring on a mass of 1 kg after each step, by the equations of one dof."""
    found, last = [stretch], rate
    slow, pulled = 0.0, 0.0
    knot = 0.0
    for h in sizes:
        x = np.minimum(0.25 * h * h * stiffness, 1e3)
        damper = 0.3 * h * h * stiffness * x**3 / (1.0 + x**3)  # impulse for each rate
        held = 0.5 * (knot + min(knot, damper)) * slow
        damping = 0.5 * (knot + damper)
        # new - last + (pulled + h k (stretch + h new / 2)) / 2 + damping new = held
        given = last + held - 0.5 * (pulled + h * stiffness * found[-1])
        new = given / (1.0 + 0.25 * h * h * stiffness + damping)
        pulled = h * stiffness * (found[-1] + 0.5 * h * new)
        found.append(found[-1] + h * new)
        slow = 0.5 * (slow + new)
        last, knot = new, damper
    return np.array(found)


@pytest.mark.parametrize("stiffness", [3e2, 1e4, 1e6, 1e9])
def test_one_mass_moves_as_its_equations_say(stiffness):
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("mass", 1.0, (0.1, 0.1, 0.1))
    spring = {"axis": (1, 0, 0), "stiffness": stiffness}
    mech.add_joint("slide", "prismatic", "world", "mass", (0, 0, 0), **spring)
    for sizes in ([0.02] * 40, [*[0.02] * 10, *[0.001] * 20, *[0.02] * 10]):
        sims = {h: Simulator(mech, timestep=h) for h in set(sizes)}
        sim = sims[sizes[0]]
        sim.reset({"slide": 0.3}, {"slide": 2.0})
        found, state = [0.3], sim.state
        for h in sizes:
            sim = sims[h]
            sim.state = state
            assert sim.step().converged
            found, state = [*found, float(sim.joint_positions[0])], sim.state
        np.testing.assert_allclose(
            found, predicted_stretches(stiffness, sizes, 0.3, 2.0), atol=1e-10
        )


def slowest_vibration(mech, stiffness):
    """Rate [rad/s] and shape (n,) of the slowest vibration of a straight chain whose joints have equal springs."""
    M = Simulator(mech).dynamics.mass_matrix()
    squares, shapes = scipy.linalg.eigh(stiffness * np.eye(len(M)), M)
    return np.sqrt(squares[0]), shapes[:, 0] / np.abs(shapes[:, 0]).max()


@pytest.mark.parametrize("steps", [30, 100])
def test_slow_bending_of_a_beam_stays(steps):
    """Steps that are 2 to 7 periods long of its fastest vibration damp its slowest by 0.3 (h w)^3 at most."""
    mech = hinged_beam(10, 1e3)
    rate, shape = slowest_vibration(mech, 1e3)
    sim = Simulator(mech, timestep=2.0 * np.pi / rate / steps)
    sim.reset({f"hinge{k}": 0.02 * angle for k, angle in enumerate(shape)})
    periods, found = 10, []
    for _ in range(periods * steps):
        assert sim.step().converged
        found.append(shape @ sim.joint_positions / (0.02 * shape @ shape))
    angle = 2.0 * np.pi / steps
    assert np.max(found[-steps:]) >= np.exp(-2.0 * np.pi * periods * 0.3 * angle**3)


@pytest.mark.parametrize("stiffness", [90.0, 300.0])
@pytest.mark.parametrize("timestep", [0.002, 0.01])
def test_pulled_springs_beside_a_light_link_are_solved(timestep, stiffness):
    """A short part after a long one shows energy that the long one did not resolve."""
    for seed in range(25):
        mech, start = box_link_box(seed, 0.1, stiffness, rest=1.0)
        sim = Simulator(mech, timestep=timestep)
        sim.reset(**start, place_on_ground=True)
        for k in range(60):
            assert sim.step().converged, (seed, k)


@pytest.mark.parametrize("ratio", [0.05, 0.001])
def test_first_steps_with_stretched_springs_between_points_are_solved(ratio):
    """At the start the energy in springs explains what they release."""
    for seed in range(40):
        mech, start = box_link_box(seed, ratio, 0.0, rest=0.0)
        mech.add_spring("spring", "body", "load", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1500.0, 0.12)
        sim = Simulator(mech, timestep=0.004)
        sim.reset(**start, place_on_ground=True)
        for k in range(60):
            assert sim.step().converged, (seed, k)
