"""A rod with everything that a factor can multiply."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism


def rod(mass=1.2, inertia=0.1, anchor=0.5, gravity=9.81, damping=0.3, stiffness=2.0, effort=4.0, motor=True):
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
