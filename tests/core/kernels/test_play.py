"""Scenes of every set of features, alone and side by side: steps, readings, pushes and starts from there."""

import numpy as np
import pytest

from scenes.features import SCENES, SOLIDS, Y, contacts, play, tree
from vigym import Mechanism, Simulator


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_what_holds_for_every_scene(make):
    found = play(make)
    for part in ("first", "second"):
        assert found[f"{part} status converged"]
        assert found[f"{part} metrics constraint_residual_max"] < 1e-9
        assert found[f"{part} metrics velocity_residual_max"] < 1e-8
        assert found[f"{part} metrics penetration"] < 1e-6
        kinetic, potential, total = (
            found[f"{part} energy {name}"] for name in ("kinetic", "potential", "total")
        )
        assert kinetic > 0.0
        assert total == pytest.approx(kinetic + potential)
    # of the integrator, at 10 ms; in impacts of contacts it is what their laws lose
    if make is not contacts:
        assert abs(found["second metrics energy_balance"]) < 0.02 * found["second energy kinetic"]


def test_an_environment_moves_alone_as_in_a_batch():
    alone, batch = play(tree), play(tree, 2)
    for name, values in batch.items():
        np.testing.assert_array_equal(values[0], alone[name], err_msg=name)


def landed(solver):
    """A box with an arm that hits its limit, some steps after a landing that slides."""
    mech = Mechanism(ground=True)
    mech.add_body("box", 1.0, (0.01, 0.012, 0.015), (0.0, 0.0, 0.055))
    mech.add_collision("box", "box", SOLIDS["box"], friction=0.4)
    mech.add_body("arm", 0.1, (1e-3, 1e-3, 1e-4), (0.0, 0.0, 0.2))
    mech.add_joint("hinge", "revolute", "box", "arm", (0.0, 0.0, 0.1), Y, limits=(-0.02, 0.02))
    sim = Simulator(mech, timestep=0.01, contact_solver=solver)
    sim.reset(velocities={"box:floating": (1.0, 0.3, -0.2, 0.0, 0.0, 0.5), "hinge": 1.0})
    assert sim.step(substeps=8).converged
    return sim


def test_the_interior_point_finds_what_projections_find():
    """But for the relaxation that it ends with, which turns a body a little faster or slower."""
    one, other = landed("newton"), landed("interior_point")
    assert one.contacts.force.any()
    assert abs(one.joint_positions).max() > 0.019  # at its limit
    np.testing.assert_allclose(other.body_states, one.body_states, atol=5e-3)
