"""Joints by transforms of their coordinates, beside built-in ones that move alike."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism
from vigym.mechanism.tracks.curves import Circle

INERTIA = (0.02, 0.03, 0.025)
AWAY = (0.3, 0.1, -0.2)  # centre of mass of the only body


def hinge(q):
    """Turn about y, as a quaternion."""
    return (0.0, 0.0, 0.0), (np.cos(0.5 * q[0]), 0.0, np.sin(0.5 * q[0]), 0.0)


def screw(q):
    """Turn about z, and rise by .05 m per rad."""
    return (0.0, 0.0, 0.05 * q[0]), (np.cos(0.5 * q[0]), 0.0, 0.0, np.sin(0.5 * q[0]))


def cylindrical(q):
    """Shift along z, and turn about it."""
    return (0.0, 0.0, q[0]), (np.cos(0.5 * q[1]), 0.0, 0.0, np.sin(0.5 * q[1]))


def universal(q):
    """Turn about x, then about the y that turned with it: a matrix."""
    a, b = np.cos(q[0]), np.sin(q[0])
    c, s = np.cos(q[1]), np.sin(q[1])
    o = 0.0 * a
    return (0.0, 0.0, 0.0), np.array([[c, o, s], [b * s, a, -b * c], [-a * s, b, a * c]])


def circle(q):
    """Go round a circle of .5 m about z by an angle, and turn about its tangent."""
    a, b = np.cos(q[0]), np.sin(q[0])
    c, s = np.cos(q[1]), np.sin(q[1])
    o = 0.0 * a
    turned = np.array([[a * c, -b, a * s], [b * c, a, b * s], [-s, o, c]])
    return (0.5 * a, 0.5 * b, o), turned


def skewed(q):
    """Three coordinates that turn and shift at once, of no built-in joint."""
    c, s = np.cos(0.5 * q[0]), np.sin(0.5 * q[0])
    bend = np.exp(0.3 * q[1]) - 1.0
    return (bend + 0.2 * s, q[1] * q[2] + 0.3 * q[2], q[1] + 0.1 * q[0] ** 2), (c, 0.0, s, 0.0)


def five(q):
    """Five coordinates: shifts along x and y, turns about z, then x, then y."""
    o = 0.0 * q[2]
    one = o + 1.0
    c, s = np.cos(q[2]), np.sin(q[2])
    about_z = np.array([[c, -s, o], [s, c, o], [o, o, one]])
    c, s = np.cos(q[3]), np.sin(q[3])
    about_x = np.array([[one, o, o], [o, c, -s], [o, s, c]])
    c, s = np.cos(q[4]), np.sin(q[4])
    about_y = np.array([[c, o, s], [o, one, o], [-s, o, c]])
    return (q[0], q[1], 0.1 * q[0] * q[1]), about_z @ about_x @ about_y


def waves(q):
    """Shift along x on a rail of waves, that tilts with it."""
    tilt = np.arctan(0.3 * np.cos(3.0 * q[0]))
    return (q[0], 0.0, 0.1 * np.sin(3.0 * q[0])), (
        np.cos(0.5 * tilt),
        0.0,
        -np.sin(0.5 * tilt),
        0.0,
    )


# transform, coordinates at the assembly, place of the frame
JOINTS = {
    "hinge": (hinge, 0.2, (0.0, 0.0, 0.0)),
    "screw": (screw, 0.0, (0.0, 0.1, 0.0)),
    "cylindrical": (cylindrical, (0.1, 0.0), (0.0, 0.0, 0.0)),
    "universal": (universal, (0.0, 0.0), (0.0, 0.0, 0.0)),
    "circle": (circle, (0.4, 0.3), (0.0, 0.0, 0.0)),
    "skewed": (skewed, (0.1, 0.2, -0.1), (0.0, 0.0, 0.0)),
    "five": (five, (0.1, -0.2, 0.3, 0.2, 0.4), (0.0, 0.0, 0.1)),
    "waves": (waves, 0.3, (0.0, 0.0, 0.0)),
}


def one_body(name="body", gravity=(1.0, 2.0, -9.81)):
    """A mechanism with one body, whose axes are not the world's."""
    mech = Mechanism(gravity=gravity, name=name)
    mech.add_body("body", 1.0, INERTIA, AWAY, (0.8, 0.2, -0.4, 0.4))
    return mech


def held(name, slides=None, gravity=(1.0, 2.0, -9.81)):
    """One body that a joint of one's own holds to the world."""
    transform, start, position = JOINTS[name]
    mech = one_body(name, gravity)
    mech.tracks.add_custom("own", "world", "body", transform, start, position, slides)
    return mech


def built_in(name):
    """The same with a joint that the package has."""
    mech = one_body()
    y, z = (0, 1, 0), (0, 0, 1)
    position = JOINTS[name][2]
    if name == "hinge":
        mech.add_joint("own", "revolute", "world", "body", position, y)
    elif name == "universal":
        mech.add_joint("own", "universal", "world", "body", position, (1, 0, 0), axis2=y)
    elif name == "circle":
        curve, axis = circle_of_body(mech)
        mech.tracks.add_curve("own", "world", "body", Circle(0.5), curve, axis)
    else:
        mech.add_joint("own", "cylindrical", "world", "body", position, z)
    if name == "screw":
        mech.add_coupling("rise", "screw", "own.distance", "own.angle", 0.05)
    return mech


def circle_of_body(mech):
    """Point on the circle and tangent there, in the body."""
    q = np.array(JOINTS["circle"][1])
    place, turned = circle(q)
    body = mech.bodies["body"]
    w, x, y, z = body.orientation
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R = np.eye(3) + 2.0 * w * K + 2.0 * K @ K
    return R.T @ (np.array(place) - body.position), R.T @ turned[:, 1]


SAME = ("hinge", "screw", "cylindrical", "universal", "circle")


def hanging_chain(count=3):
    """Bodies that hang on each other by hinges of one's own, across each other."""
    mech = Mechanism(name="hanging")
    parent = "world"
    for k in range(count):
        mech.add_body(f"b{k}", 1.0, INERTIA, (0.3 + 0.6 * k, 0.0, 0.0))
        transform = (hinge, cross_hinge)[k % 2]
        mech.tracks.add_custom(f"j{k}", parent, f"b{k}", transform, 0.0, (0.6 * k, 0.0, 0.0))
        parent = f"b{k}"
    return mech


def cross_hinge(q):
    """Turn about z."""
    return (0.0, 0.0, 0.0), (np.cos(0.5 * q[0]), 0.0, 0.0, np.sin(0.5 * q[0]))
