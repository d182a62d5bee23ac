"""Bodies that stand and slide on round, flat feet: of a flat rim any point may come lowest in a step.

Every step is solved, none gains energy, and nothing sinks.
"""

from __future__ import annotations

import numpy as np
import pytest

from scenes.shapes import box_inertia
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Cylinder

READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
GAIN = 0.01  # part of the largest kinetic energy by which a reading may rise, as in other falls
SUNK = 1e-6  # no rim is deeper [m]
START = (0.0, 0.0, 0.025, 1.0, 0.0, 0.0, 0.0)


def add_foot(mech, name, place, radius, friction):
    """A cylinder of 5 cm height that stands on the ground."""
    mech.add_body(name, 0.5, box_inertia(0.5, (2.0 * radius, 2.0 * radius, 0.05)), place)
    mech.add_collision(f"{name} skin", name, Cylinder(radius, 0.05), friction=friction)


def random_hinge(rng):
    """Axis, limits and dry friction of a hinge that jams soon."""
    axis = rng.normal(size=3)
    limits = -rng.uniform(0.0, 0.3), rng.uniform(0.0, 0.3)
    return {"axis": axis / np.linalg.norm(axis), "limits": limits, "friction": rng.choice([0, 1])}


def arch(rng):
    """A heavy arch of links between two feet: hinges at random axes, with limits."""
    mech = Mechanism(ground=True)
    friction, radius = rng.choice([0.5, 0.8, 1.2]), rng.uniform(0.02, 0.1)
    width, height = rng.uniform(0.4, 1.0), rng.uniform(0.2, 0.6)
    count = int(rng.integers(3, 7))
    shares = np.linspace(0.0, 1.0, count + 1)
    rise = 0.05 + 4.0 * height * shares * (1.0 - shares)
    places = np.stack([width * shares, 0.1 * rng.normal(size=count + 1), rise], axis=1)
    places[[0, -1], 1] = 0.0
    add_foot(mech, "foot", START[:3], radius, friction)
    mech.add_joint("base", "floating", "world", "foot", START[:3])
    parent = "foot"
    for i in range(count):
        name, mass = f"link{i}", 10.0 ** rng.uniform(-0.5, 1.0)
        middle = 0.5 * (places[i] + places[i + 1])
        mech.add_body(name, mass, box_inertia(mass, (0.1, 0.1, 0.3)), middle)
        mech.add_joint(f"hinge{i}", "revolute", parent, name, places[i], **random_hinge(rng))
        parent = name
    add_foot(mech, "other foot", (width, 0.0, 0.025), radius, friction)
    mech.add_joint("ankle", "revolute", parent, "other foot", places[-1], **random_hinge(rng))
    return mech


def random_push(rng):
    """A horizontal velocity, and a spin about the vertical axis, of the base."""
    return np.concatenate([2.0 * rng.normal(size=2), np.zeros(3), rng.normal(size=1)])


@pytest.mark.parametrize("seed", range(16))
def test_an_arch_that_slides_on_round_feet(seed):
    """Its hinges reach their limits at once, and friction wedges it: feet tip over their rims."""
    rng = np.random.default_rng(seed)
    timestep = float(rng.choice([0.002, 0.005, 0.01]))
    sim = Simulator(arch(rng), timestep=timestep, max_iterations=10_000)
    sim.reset({"base": START}, {"base": random_push(rng)}, place_on_ground=True)
    energies, largest = [sim.energy().total], sim.energy().kinetic
    for _ in range(60):
        assert sim.step().converged
        assert sim.metrics()["penetration"] <= SUNK
        energies.append(sim.energy().total)
        largest = max(largest, sim.energy().kinetic)
        assert energies[-1] - max(energies[-1 - READ : -1]) < GAIN * largest


def test_rims_turn_in_every_environment_as_they_would_alone():
    """Attempts at the steps of other environments leave turned rims where they are."""
    mech, count = arch(np.random.default_rng(3)), 11
    rng = np.random.default_rng(0)
    pushes = np.array([random_push(rng) for _ in range(count)])
    batch, single = Simulator(mech, timestep=0.005, batch=count), Simulator(mech, timestep=0.005)
    batch.reset({"base": np.tile(START, (count, 1))}, {"base": pushes}, place_on_ground=True)
    batch.step(substeps=8)
    for e in range(count):
        single.reset({"base": START}, {"base": pushes[e]}, place_on_ground=True)
        single.step(substeps=8)
        np.testing.assert_array_equal(batch.state[e], single.state)
