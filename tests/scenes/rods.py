"""Mechanisms to be varied, and random factors of what they have."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism

COUNT = 11  # more than a lane group, and not a multiple


def rod(
    mass=1.2,
    inertia=0.1,
    anchor=0.5,
    gravity=9.81,
    damping=0.3,
    stiffness=2.0,
    effort=4.0,
    motor=True,
):
    """A rod on a hinge with a spring, a damper, dry friction and a motor; its centre of mass is in the origin."""
    mech = Mechanism(gravity=(0.0, 0.0, -gravity))
    mech.add_body("rod", mass, inertia * np.array([1.0, 1.05, 0.1]))
    mech.add_joint(
        "pin", "revolute", "world", "rod", (0.0, 0.0, anchor), (0, 1, 0), damping=damping, stiffness=stiffness,
        effort=effort, friction=0.05,
    )  # fmt: skip
    if motor:
        mech.add_motor("pin", 3.0 * effort, 0.2 * effort)
    return mech


def puck(friction=0.3, radius=0.05, ground=None):
    mech = Mechanism(ground=True if ground is None else ground)
    mech.add_body("puck", 1.0, (0.002, 0.002, 0.003), (0.0, 0.0, 0.5))
    for k, (x, y) in enumerate(((0.1, 0.1), (0.1, -0.1), (-0.1, 0.0))):
        mech.add_contact(f"foot{k}", "puck", (x, y, -0.05), radius, friction)
    return mech


def factors(sim, low, high, seed=0, leave=()):
    """Random factors of everything but what is left."""
    rng = np.random.default_rng(seed)
    return {
        quantity: {name: rng.uniform(low, high, COUNT) for name in names}
        for quantity, names in sim.parameters.by_name.items()
        if quantity not in leave
    }


def row(parameters, e):
    return {
        q: {name: values[e] for name, values in names.items()} for q, names in parameters.items()
    }
