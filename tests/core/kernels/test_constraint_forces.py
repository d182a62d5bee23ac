"""Constraint forces: weights that hang, pulls of what swings, and shares of a loop."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import double_pendulum, pendulum
from vigym import Mechanism, Simulator
from vigym.core.kernels.constraint_forces import constraint_forces_of_group

H = 0.005


def forces(sim):
    d = data_of(sim)
    out = np.zeros((1, 6 * (d.joint_count - 1) + 7 * (d.body_count - 1)))
    constraint_forces_of_group(d, out, 0)
    return out[0, : 6 * (d.joint_count - 1)].reshape(-1, 6)


def test_joints_carry_the_weights_below_them():
    sim = Simulator(double_pendulum(), timestep=H)
    sim.reset()
    assert not forces(sim).any()  # before the first step
    sim.step(substeps=3)
    found = forces(sim)
    assert found[0] == pytest.approx((0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0), abs=1e-6)
    assert found[1] == pytest.approx((0.0, 0.0, 9.81, 0.0, 0.0, 0.0), abs=1e-6)


def test_a_pin_pulls_what_swings():
    """Through the lowest place with 4 rad/s: m (g + w^2 l)."""
    sim = Simulator(pendulum(), timestep=H)
    sim.reset(velocities={"pin": 4.0})
    sim.step()
    force = forces(sim)[0]
    assert force[2] == pytest.approx(9.81 + 16.0 * 0.5, rel=1e-2)
    assert force[3:] == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("places", [(-0.5, 0.5), (-0.5, 0.25)])
def test_two_supports_share_a_weight(places):
    """Of a beam on a hinge and a closing ball joint: by their distances from the centre."""
    mech = Mechanism()
    mech.add_body("beam", 2.0, (0.01, 0.2, 0.2))
    mech.add_joint("hinge", "revolute", "world", "beam", (places[0], 0.0, 0.0), (0, 1, 0))
    mech.add_joint("end", "spherical", "world", "beam", (places[1], 0.0, 0.0))
    sim = Simulator(mech, timestep=H)
    sim.step(substeps=2)
    left, right = forces(sim)[:, 2]
    assert left + right == pytest.approx(2.0 * 9.81, rel=1e-6)
    assert left * places[0] + right * places[1] == pytest.approx(0.0, abs=1e-5)


def test_a_root_holds_the_moments_of_all_that_it_carries():
    """Two bodies of 1 kg that are welded in a row: about the root their weights have arms of 0.5 and 2 m."""
    mech = Mechanism()
    for name, parent, x, at in (("near", "world", 0.5, 0.0), ("far", "near", 2.0, 1.0)):
        mech.add_body(name, 1.0, (0.1, 0.1, 0.1), (x, 0.0, 0.0))
        mech.add_joint(name, "fixed", parent, name, (at, 0.0, 0.0))
    sim = Simulator(mech, timestep=H)
    sim.step(substeps=2)
    root, second = forces(sim)
    assert root == pytest.approx((0.0, 0.0, 2.0 * 9.81, 0.0, -2.5 * 9.81, 0.0), abs=1e-6)
    assert second == pytest.approx((0.0, 0.0, 9.81, 0.0, -9.81, 0.0), abs=1e-6)
