"""Potentials of bodies that tests share: functions of a module, as pickles need them."""

from __future__ import annotations

import numpy as np

CENTRE = np.array([0.2, -0.1, 0.3])
STIFF, QUARTIC = 30.0, 8.0
TWIST = 2.0


def bowl_energy(position, orientation):
    """A bowl about a centre that is not quadratic, and a compass along the body's x axis."""
    r = position - CENTRE
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    y, z = orientation[2], orientation[3]
    east = 1.0 - 2.0 * (y * y + z * z)  # of the body's x axis
    return 0.5 * STIFF * square + 0.25 * QUARTIC * square * square - TWIST * east


def bowl_forces(position, orientation):
    """Force and torque of `bowl_energy`."""
    r = position - CENTRE
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    w, x = orientation[0], orientation[1]
    y, z = orientation[2], orientation[3]
    axis_y, axis_z = 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    force = -(STIFF + QUARTIC * square) * r
    return force, (0.0, TWIST * axis_z, -TWIST * axis_y)


def add_bowl(mech, body):
    """Let a body move in the bowl."""
    return mech.add_potential(f"bowl of {body}", body, bowl_energy, bowl_forces)
