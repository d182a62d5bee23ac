"""Scenes of every set of features, alone and side by side: steps, readings, pushes and starts from there."""

import numpy as np
import pytest

from scenes.features import SCENES, contacts, imposed, play, tracks, tree


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


@pytest.mark.parametrize("make", [tree, imposed, tracks], ids=lambda make: make.__name__)
def test_an_environment_moves_alone_as_in_a_batch(make):
    alone, batch = play(make), play(make, 2)
    for name, values in batch.items():
        np.testing.assert_array_equal(values[0], alone[name], err_msg=name)
