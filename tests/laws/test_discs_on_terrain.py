"""Discs that tumble over rough ground move the same alone, in a batch, and from a state that was kept."""

import numpy as np
import pytest

from vigym import Ground, Mechanism, Simulator
from vigym.mechanism.elements.ground.maps import rough
from vigym.mechanism.elements.shapes import Cylinder

TIMESTEP = 0.02  # [s]
LANES = 8


def disc():
    """A disc, its axis along y, on rough ground."""
    mech = Mechanism(ground=Ground(terrain=rough(maps=1)))
    upright = np.sqrt([0.5, 0.5, 0.0, 0.0])
    mech.add_body("disc", 1.0, (0.0316 / 12.0, 0.0316 / 12.0, 0.005), (0.0, 0.0, 0.1), upright)
    mech.add_collision("disc", "disc", Cylinder(0.1, 0.04), friction=0.8)
    return mech


def throws(seed, count):
    """Random positions (count, 3), velocities and angular velocities above the ground."""
    rng = np.random.default_rng(seed)
    places = np.column_stack([rng.uniform(-1.0, 1.0, (count, 2)), np.full(count, 0.4)])
    spins = 2.0 * rng.normal(size=(count, 3)), 8.0 * rng.normal(size=(count, 3))
    return {"position": places, "velocity": spins[0], "angular_velocity": spins[1]}


@pytest.mark.parametrize(("seed", "steps"), [(0, 25), (1, 15), (2, 20), (4, 30)])
def test_discs_in_a_batch_move_as_they_would_alone(seed, steps):
    """A contact that is put on a plane in one lane left the rims of the others where they had not turned yet.

    Each lane is compared with a simulator that starts from its state, step by step.
    """
    mech = disc()
    many = Simulator(mech, timestep=TIMESTEP, batch=LANES)
    many.reset(base={"disc": throws(seed, LANES)})
    for step in range(steps):
        before = many.state.copy()
        many.step()
        for lane in range(LANES):
            one = Simulator(mech, timestep=TIMESTEP)
            one.state = before[lane]
            one.step()
            np.testing.assert_array_equal(many.state[lane], one.state, err_msg=f"{step} {lane}")


@pytest.mark.parametrize(("seed", "steps"), [(21, 36), (23, 43), (57, 25)])
def test_a_state_tells_all_that_a_step_needs(seed, steps):
    """Parts of a step that failed read forces of the step before, which a state that is restored has not."""
    mech = disc()
    sim = Simulator(mech, timestep=TIMESTEP)
    throw = {name: rows[0] for name, rows in throws(seed, 1).items()}
    sim.reset(base={"disc": throw})
    for step in range(steps):
        other = Simulator(mech, timestep=TIMESTEP)
        other.state = sim.state
        sim.step()
        other.step()
        np.testing.assert_array_equal(sim.state, other.state, err_msg=str(step))
