"""Large steps: their equations have several roots, and only the one next to the motion keeps the energy."""

import math

import pytest

from scenes.chains import rod_chain
from vigym import Simulator


@pytest.mark.parametrize("timestep", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("count", [2, 3, 5, 10, 20])
def test_a_whipping_chain_keeps_its_energy(count, timestep):
    """A chain falls from the horizontal, and its end whips: bodies turn by half a radian a step."""
    sim = Simulator(rod_chain(count), timestep=timestep)
    sim.reset({"hinge0": math.pi / 2})
    start = sim.energy().total
    fall = 9.81 * count * count / 2.0  # energy between the horizontal and the hanging chain
    for _ in range(round(20.0 / timestep)):
        assert sim.step().converged
        assert abs(sim.energy().total - start) < 0.5 * fall


def test_a_free_body_that_spins_fast_is_not_halved():
    """A constant rotation of more than half a radian a step is no kink."""
    sim = Simulator(rod_chain(1, gravity=(0.0, 0.0, 0.0)), timestep=0.01)
    sim.reset(velocities={"hinge0": 60.0})
    for _ in range(100):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
    assert sim.joint_velocities[0] == pytest.approx(60.0, rel=1e-12)
