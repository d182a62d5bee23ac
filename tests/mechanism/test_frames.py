"""Massless frames are read like bodies; a mechanism needs something that moves."""

import numpy as np
import pytest

from vigym import Mechanism, MechanismError, Simulator


def test_a_frame_moves_with_its_body():
    mech = Mechanism()
    mech.add_body("arm", 1.0, (0.1, 0.2, 0.25), position=(0.5, 0.0, 0.0))
    mech.add_joint("ball", "spherical", "world", "arm", (0.0, 0.0, 0.0), effort=1.0)
    mech.add_frame("tip", "arm", (0.5, 0.1, -0.2), (0.5, 0.5, -0.5, 0.5))
    mech.add_frame("home", "world", (1.0, 2.0, 3.0))
    sim = Simulator(mech, timestep=1e-4)
    sim.reset(velocities={"ball": (0.3, -2.0, 1.0)})
    sim.step(substeps=300)
    before = sim.body_position("tip")
    sim.step()
    middle = sim.body_position("tip")
    speed = sim.body_velocity("tip")
    spin = sim.body_angular_velocity("tip")
    w, x, y, z = sim.body_orientation("tip")
    sim.step()
    np.testing.assert_allclose((sim.body_position("tip") - before) / 2e-4, speed, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(middle), np.linalg.norm([1.0, 0.1, -0.2]), atol=1e-9)
    turned = sim.body_orientation("tip")
    rate = 2.0 * (turned - (w, x, y, z)) / 1e-4  # q_dot = q (0, spin) / 2
    expected = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) @ spin
    np.testing.assert_allclose(rate, expected, atol=2e-3)
    np.testing.assert_array_equal(sim.body_position("home"), (1.0, 2.0, 3.0))


def test_nothing_that_moves_is_an_error():
    with pytest.raises(MechanismError, match="'mechanism': found no body that can move"):
        Simulator(Mechanism())
