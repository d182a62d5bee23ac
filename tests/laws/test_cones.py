"""Forces of contacts that hold each other: they push, and friction stays in its cone, in every step that is solved."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.trees import unit
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box

G = 9.81


def crawler(seed):
    """A row of boxes on the ground joined by tilted hinges, most with limits, thrown along it."""
    rng = np.random.default_rng(seed)
    mech, count = Mechanism(ground=True), int(rng.integers(4, 10))
    length = 10.0 ** rng.uniform(-1.5, 0.0)
    size = length * np.array([0.9, 0.3, 0.3])
    friction, spread = rng.choice([0.3, 0.5, 1.0, 2.0]), rng.choice([0.0, 0.5])
    for k in range(count):
        name, mass = f"box{k}", 40.0 * length**3 * 10.0 ** (spread * rng.uniform(-1.0, 1.0))
        moments = mass / 12.0 * (size @ size - size**2)
        mech.add_body(name, mass, moments, ((k + 0.5) * length, 0.0, 0.15 * length))
        mech.add_collision(f"{name} shape", name, Box(size), friction=friction)
        place = k * length, 0.0, 0.15 * length
        if k == 0:
            mech.add_joint("base", "floating", "world", name, place)
        else:
            axis = unit(np.eye(3)[rng.integers(1, 3)] + 0.3 * rng.normal(size=3))
            limits = (-0.6, 0.6) if rng.random() < 0.7 else None
            mech.add_joint(f"hinge{k}", "revolute", f"box{k - 1}", name, place, axis, limits=limits)
    sim = Simulator(mech, timestep=rng.choice([2e-3, 5e-3, 1e-2]))
    along, about = (
        np.sqrt(G * length) * rng.normal(size=2),
        0.5 * np.sqrt(G / length) * rng.normal(),
    )
    start = {"base": (*along, 0.0, 0.0, 0.0, about)}
    sim.reset(velocities=start, place_on_ground=True)
    return sim, friction, min(body.mass for body in mech.bodies.values()) * G


@pytest.mark.parametrize("seed", [0, 1, 56, 86, 440])
def test_contacts_that_hold_each_other_stay_in_their_cones(seed):
    """They left them by up to half the weight of the lightest box where a few corners share it."""
    sim, friction, weight = crawler(seed)
    for _ in range(150):
        status = sim.step()
        assert status.converged
        if status.halvings == 0:
            force = sim.contacts.force
            normal, tangent = force[:, 2], np.linalg.norm(force[:, :2], axis=1)
            assert normal.min() >= -1e-6 * weight
            assert np.max(tangent - friction * normal) <= 1e-6 * weight
