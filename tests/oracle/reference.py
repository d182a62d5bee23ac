"""Benchmark problems with independent high-accuracy solutions. SI units, radians, g = 9.81."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import TINY, single_rate
from vigym.mechanism.mechanism import Mechanism

# IFToMM A01: (x, y) of the point mass [m] by time [s]; DOP853 to 1e-10.
SIMPLE_PENDULUM = {
    1.0: (0.9862917511, -0.1650108531),
    9.99: (-0.3164364699, -0.9486137046),
    10.0: (-0.2750874626, -0.9614192051),
}
# Angles from the downward vertical and their rates at 2 s; DOP853.
DOUBLE_PENDULUM = (0.19458829, -0.25346633, -2.41762964, 13.81488186)
# What a dense implementation of the second-order scheme misses them by, by time step.
DOUBLE_PENDULUM_ERRORS = {
    0.02: (0.01044, 0.00659, -0.02041, -0.0402),
    0.01: (0.002563, 0.001713, -0.005434, -0.009458),
    0.005: (0.000638, 0.000432, -0.001380, -0.002325),
}
# Geradin and Cardona's heavy top: centre of mass [m] by time [s]; DOP853 to 3e-9.
HEAVY_TOP = {0.1: (0.42129666, 0.89457197, -0.14916470), 1.0: (0.17334396, 0.64008859, -0.74849079)}


def simple_pendulum():
    """Point mass 1 kg at the end of a massless bar of 1 m, gravity along -y, at rest at (-1, 0).

    A body needs some inertia: 1e-10 kg m^2 lengthens the period by 5e-11 of itself.
    """
    mech = Mechanism(gravity=(0.0, -9.81, 0.0))
    mech.add_body("mass", 1.0, (1e-10, 1e-10, 1e-10), position=(-1.0, 0.0, 0.0))
    mech.add_joint("hinge", "revolute", "world", "mass", (0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    return mech


def double_pendulum(thickness=1e-4):
    """Two uniform slender rods of 1 m and 1 kg that hang down along -z and turn about y.

    The inertia about the rods, `thickness` [kg m^2], plays no part in the plane.
    """
    mech = Mechanism(gravity=(0.0, 0.0, -9.81))
    mech.add_body("upper", 1.0, (1 / 12, 1 / 12, thickness), position=(0.0, 0.0, -0.5))
    mech.add_body("lower", 1.0, (1 / 12, 1 / 12, thickness), position=(0.0, 0.0, -1.5))
    mech.add_joint("shoulder", "revolute", "world", "upper", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    mech.add_joint("elbow", "revolute", "upper", "lower", (0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0))
    return mech


# Absolute angles (pi / 2, pi / 2 + 0.3) with rates (0.2, -0.1), in joint coordinates.
DOUBLE_PENDULUM_START = ({"shoulder": np.pi / 2, "elbow": 0.3}, {"shoulder": 0.2, "elbow": -0.3})


def absolute(angles, rates):
    """(angle 1, angle 2, rate 1, rate 2) from the vertical, of joint angles and rates."""
    return np.append(np.cumsum(angles), np.cumsum(rates))


def heavy_top():
    """A top of 15 kg on a ball joint at the origin, its axis along y, centre of mass at (0, 1, 0)."""
    mech = Mechanism(gravity=(0.0, 0.0, -9.81))
    mech.add_body("top", 15.0, (0.234375, 0.46875, 0.234375), position=(0.0, 1.0, 0.0))
    mech.add_joint("tip", "spherical", "world", "top", (0.0, 0.0, 0.0))
    return mech


HEAVY_TOP_START = ({}, {"tip": (0.0, 150.0, -4.61538)})


# IFToMM A02 (Gonzalez, Bayo), double four-bar: (x, y) of the tip of the first upright [m] by
# windows and time [s].
DOUBLE_FOUR_BAR = {
    1: {
        1.0: (-0.260712675, -0.965416439),
        4.0: (0.158955504, 0.987285748),
        10.0: (0.478385058, 0.878150179),
    },
    2: {
        1.0: (-0.195020302, -0.980799206),
        4.0: (0.117616102, 0.993059138),
        10.0: (0.328458112, 0.944518538),
    },
}
# The same for its velocity [m/s], at 10 s.
DOUBLE_FOUR_BAR_RATES = {1: (1.72726408, -0.94095218), 2: (1.42305147, -0.49486885)}


def falling_row(windows, h, steps, angle=0.0, rate=1.0, gravity=9.81):
    """The second-order scheme on the double four-bar as one freedom: angles of its uprights and errors of energy [J].

    Translations enter by the sine of the angle's change, the own rotation of the uprights by the
    momentum of a rotor, so it is a pendulum with the row's moment.
    """
    own = (windows + 1) / 12.0
    inertia = 4.0 * own + windows

    def moving(turn):
        """Momentum of a step."""
        rotor = 0.5 * h * (single_rate(turn + 1j * TINY, h) ** 2).imag / TINY
        return (inertia - own) * np.sin(turn) / h + own * rotor

    weight = gravity * ((windows + 1) / 2.0 + windows)
    momentum = inertia * rate
    turn = h * rate
    found = []
    start = 0.5 * inertia * rate**2 + weight * np.cos(angle)
    for _ in range(steps):
        right = momentum + 0.5 * h * weight * np.sin(angle)
        for _ in range(12):
            turn -= (moving(turn) - right) / (inertia * np.cos(turn) / h)
        angle += turn
        momentum = moving(turn) + 0.5 * h * weight * np.sin(angle)
        found.append((angle, 0.5 * momentum**2 / inertia + weight * np.cos(angle) - start))
    return np.array(found).T
