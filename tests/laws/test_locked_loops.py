"""Dry friction on joints that a second joint between the same bodies locks: no motion tells its force."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.trees import unit
from vigym import Simulator
from vigym.mechanism.mechanism import Mechanism

SECOND = ("planar", "spherical", "cylindrical", "universal", "revolute", "prismatic")


def locked_pair(kind, second, friction, seed):
    """Two free bodies that a joint with dry friction and a second joint make one rigid body."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("a", 1.0, (0.01, 0.012, 0.015))
    mech.add_body("b", 0.5, (0.01, 0.005, 0.008), (0.3, 0.1, 0.2))
    mech.add_joint("free", "floating", "world", "a", (0.0, 0.0, 0.0))
    place = 0.1 * rng.normal(size=3)
    mech.add_joint("joint", kind, "a", "b", place, axis=unit(rng.normal(size=3)), friction=friction)
    axis = unit(rng.normal(size=3))
    axes = {} if second == "spherical" else {"axis": axis}
    if second == "universal":
        axes["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
    mech.add_joint("second", second, "a", "b", place + 0.2 * rng.normal(size=3), **axes)
    return mech


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_locked_joints_with_dry_friction_take_few_iterations(kind, second):
    """The pair tumbles as one body: without its friction a step takes one iteration."""
    for seed in range(5):
        for friction in (0.1, 10.0):
            sim = Simulator(locked_pair(kind, second, friction, seed), timestep=0.01)
            sim.reset(velocities={"free": (1.0, 0.0, 0.0, 1.0, 2.0, 3.0)})
            start, iterations = sim.energy().total, 0
            for _ in range(50):
                status = sim.step()
                assert status.converged
                assert status.halvings == 0
                iterations += status.iterations
            assert iterations <= 4 * 50
            assert sim.energy().total == pytest.approx(start, rel=1e-4)
            assert sim.constraint_residual() < 1e-8
