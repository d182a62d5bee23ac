"""Light rods that are pulled taut across a contact: they whip through dead centre, and give no energy."""

from __future__ import annotations

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Sphere

LENGTH, RADIUS = 0.2, 0.01  # of the rod and its bead [m]
LEAN = 0.5  # of the rod at the start [rad]
GAIN = 0.02  # in all of a run, in parts of the kinetic energy at its start


def weight_on_a_rod(mass):
    """A weight of 1 kg slides up and down below the ground, on a rod whose bead lies on the ground."""
    mech = Mechanism(ground=True)
    place = np.array([0.0, 0.0, RADIUS - LENGTH * np.cos(LEAN)])
    half = 0.5 * LENGTH * np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    mech.add_body("weight", 1.0, (1e-3, 1e-3, 1e-3), place)
    mech.add_joint("slide", "prismatic", "world", "weight", place, (0, 0, 1))
    mech.add_body("rod", mass, (mass * LENGTH**2 / 12.0,) * 3, place + half)
    mech.add_joint("hinge", "revolute", "weight", "rod", place, (0, 1, 0))
    mech.add_collision("bead", "rod", Sphere(radius=RADIUS, position=tuple(half)), friction=0.0)
    return mech


@pytest.mark.parametrize("h", [1e-2, 2e-3, 2e-4])
@pytest.mark.parametrize("mass", [1e-2, 1e-4, 1e-5])
def test_a_rod_that_is_pulled_taut_gives_no_energy(mass, h):
    """The weight falls until the rod is taut; then the rod has all the energy, and turns by a radian in a step."""
    # a rod of 10 mg would turn by tens of radians in a step of 10 ms: it takes up to 5,600 iterations
    sim = Simulator(weight_on_a_rod(mass), timestep=h, max_iterations=10_000)
    for speed in np.linspace(0.5, 2.0, 10):
        sim.reset(velocities={"slide": -speed})
        start = sim.energy()
        for _ in range(round(0.15 / h)):
            assert sim.step().converged
            assert sim.energy().total <= start.total + GAIN * start.kinetic
        assert sim.joint_positions[0] != pytest.approx(0.0)
