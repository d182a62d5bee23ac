"""A loop whose joint is held by a stop: the rounding of a coordinate is no imbalance."""

from __future__ import annotations

import pytest

from vigym import Simulator, load_urdf
from vigym.assets import path


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("h", [0.005, 0.001, 0.0002])
def test_a_leg_falls_onto_the_stop_of_its_slide(h, loops):
    """The rounding of a coordinate, times the stiffness of a stop, is no imbalance of the loop."""
    sim = Simulator(load_urdf(path("minitaur_leg")), timestep=h, loops=loops)
    for _ in range(round(0.6 / h)):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
    assert sim.constraint_residual() <= 1e-9
