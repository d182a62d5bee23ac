"""Curve joints and joints of one's own in random trees, beside contacts, and through all directions."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.tracks import FALLING_CURVE, ball_on_rail, falling_rail, random_tracks
from vigym import Mechanism, Simulator
from vigym.mechanism.tracks.curves import Circle
from vigym.mechanism.tracks.slides import Slide

GAP = 1e-10  # [m, or 1 of directions]


def stepped(sim, steps):
    """The simulator after steps that converged."""
    assert sim.step(substeps=steps).converged
    return sim


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_with_curves_keep_their_balance(seed):
    """A curve, a surface, a joint of one's own, springs, dampers, and velocities that depend."""
    worst, along = [], Slide(damping=0.5, stiffness=3.0, rest=0.1)
    for h in (0.004, 0.002):
        mech, draw = random_tracks(seed, along), np.random.default_rng(seed)
        names = [str(name) for name in draw.choice(list(mech.bodies), 2, replace=False)]
        mech.add_velocity_constraint("tied", {name: draw.normal(size=(2, 3)) for name in names})
        sim = Simulator(mech, timestep=h)
        stepped(sim, round(0.4 / h))
        assert sim.constraint_residual() <= GAP
        worst.append(abs(sim.metrics()["energy_balance"]))
    scale = sim.energy().kinetic + sim.metrics()["dissipated"]
    assert worst[1] < 1e-3 * scale
    assert worst[1] < 0.4 * worst[0]


@pytest.mark.parametrize("rail", [FALLING_CURVE, falling_rail], ids=["curve", "own"])
def test_a_ball_on_a_rail_rests_on_the_ground(rail):
    """Rail and ground without friction: what holds it up is all the weight, whatever the slope."""
    sim = Simulator(ball_on_rail(rail))
    stepped(sim, 300)
    assert sim.constraint_residual() <= GAP
    assert sim.contacts.gap[0] == pytest.approx(0.0, abs=1e-9)
    force = sim.contacts.force[0]
    np.testing.assert_allclose(force, [0.0, 0.0, 9.81], atol=1e-6)


@pytest.mark.parametrize("rail", [FALLING_CURVE, falling_rail], ids=["curve", "own"])
def test_a_limit_acts_beside_a_contact(rail):
    """The limit stops the ball at the ground, within a hair: both or one of them hold it."""
    free = Simulator(ball_on_rail(rail))
    stepped(free, 300)
    place = np.ravel(free.tracks.position("rail"))[0]
    for end in (place - 1e-3, place, place + 1e-3):
        sim = Simulator(ball_on_rail(rail, end))
        start = sim.energy().total
        stepped(sim, 300)
        assert sim.constraint_residual() <= GAP
        assert sim.energy().kinetic < 1e-9
        assert sim.energy().total < start
        assert sim.contacts.gap[0] >= -1e-9
        at = np.ravel(sim.tracks.position("rail"))[0]
        assert at == pytest.approx(min(end, place), abs=1e-7)


def test_rows_of_a_curve_stay_alike_within_a_step():
    """A bead whose rail turns through all directions: no step takes more than a few iterations."""
    half = 0.5**0.5
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("bead", 1.0, (0.02, 0.03, 0.025), (0.0, 0.5, 0.0))
    ring = Circle(0.5, orientation=(half, 0.0, half, 0.0))
    mech.tracks.add_curve("ring", "world", "bead", ring, axis=(0.0, 0.0, 1.0))
    sim = Simulator(mech)
    sim.reset(velocities=np.array([0.0, 0.0, 1.0, -2.0, 0.0, 0.0]))
    assert max(stepped(sim, 1).readings.status.iterations for _ in range(400)) < 8
