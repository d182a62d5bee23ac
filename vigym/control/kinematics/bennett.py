"""Kinematics of the legs of `assets/bennett`, Bennett linkages of four equal links, and their trot.

A linkage is a quadrilateral in space. Hinges are at its corners, each perpendicular to the two
links that it joins. Hinges of a link are twisted against each other by alpha and pi - alpha in
turn. The knees bend by 2 kappa each from straight, both alike. Then the foot is 2 a cos(kappa) from
the hip, a sin(alpha) sin(2 kappa) beside the plane in which the motors turn, and the upper links
form twice the angle arctan(cos(alpha) tan(kappa)).
"""

import numpy as np

from vigym.control.actuators import Array
from vigym.control.quadruped_gaits import LEGS, MOTORS_OF_LEG, OFFSET, SIDE, trot_feet

LENGTH = 0.2  # of a link, a [m]
TWIST = np.pi / 6.0  # alpha [rad]
STAND_BEND = 0.7379871776943943  # kappa where the file's zero is [rad]
MOST_BEND = 1.3  # largest kappa, and the least is 0.2: foot at 0.39 m and 0.11 m from the hip [rad]


def half_angle(bend: Array) -> Array:
    """Return half of the angle (...,) [rad] between the upper links for bends kappa (...,)."""
    half: Array = np.arctan(np.cos(TWIST) * np.tan(bend))
    return half


def foot_offset(bend: Array) -> Array:
    """Return the distance (...,) [m] of the foot from the motors' plane for bends (...,) [rad]."""
    offset: Array = LENGTH * np.sin(TWIST) * np.sin(2.0 * bend)
    return offset


STAND_OFFSET = OFFSET + float(foot_offset(np.array(STAND_BEND)))  # foot from the abduction [m]


def leg_angles(x: Array, y: Array, z: Array) -> Array:
    """Return abductions and angles of front and rear motors (..., 12) [rad], from the stand.

    With the bend, the distance d of the foot from the abduction is known: d^2 = OFFSET^2 + 2 a^2
    + 2 a^2 cos(2 kappa) + 2 OFFSET a sin(alpha) sin(2 kappa), which is solved for kappa.

    Args:
        x: of the feet, forwards from their abductions (..., 4) [m].
        y: to the left (..., 4) [m].
        z: upwards (..., 4) [m]; feet that are out of reach are brought nearer.
    """
    cosine, sine = 2.0 * LENGTH * LENGTH, 2.0 * OFFSET * LENGTH * np.sin(TWIST)
    rest = x * x + y * y + z * z - OFFSET * OFFSET - cosine
    share = np.clip(rest / np.hypot(cosine, sine), -1.0, 1.0)
    bend = 0.5 * (np.arctan2(sine, cosine) + np.arccos(share)).clip(0.4, 2.0 * MOST_BEND)
    aside = OFFSET + foot_offset(bend)  # of the foot from the abduction, outwards
    down = np.sqrt(np.maximum(y * y + z * z - aside * aside, 1e-6))
    abduction = np.arctan2(z, y) - np.arctan2(-down, SIDE * aside)
    swing, opening = -np.arctan2(x, down), half_angle(bend) - half_angle(np.array(STAND_BEND))
    angles = np.stack((abduction, swing - opening, swing + opening), axis=-1)
    return angles.reshape(*x.shape[:-1], LEGS * MOTORS_OF_LEG)


def trot_angles(time: Array, forward: Array, left: Array, turn: Array) -> Array:
    """Return the angles (..., 12) [rad] of a trot with a velocity, as of `leg_angles`.

    Args:
        time: since the start (...,) [s].
        forward: velocity forwards (...,) [m/s].
        left: velocity to the left (...,) [m/s].
        turn: rate of turning anticlockwise (...,) [rad/s].
    """
    return leg_angles(*trot_feet(time, forward, left, turn, STAND_OFFSET))
