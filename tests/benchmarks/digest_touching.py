"""Mechanisms that touch the ground, each other, or roll, for the scenes of `digests.py`."""

import numpy as np
from digest_models import ACROSS, LYING, Y, add_bar, make_shape

from vigym import Ground, Mechanism


def shape_of(kind, size=1.0):
    """Return a ball, rod, brick or can, and the inertia of one of 1 kg."""
    if kind == "ball":
        return make_shape("Sphere", radius=0.1 * size), (0.004, 0.004, 0.004)
    if kind == "rod":
        return make_shape("Capsule", radius=0.05, length=0.4 * size), (0.014, 0.014, 0.00125)
    if kind == "can":
        return make_shape("Cylinder", radius=0.1, length=0.3 * size), (0.01, 0.01, 0.005)
    return make_shape("Box", size=(0.4 * size, 0.3, 0.2)), (0.0108, 0.0167, 0.0208)


def add_solid(mech, name, kind, position, orientation=(1, 0, 0, 0), mass=1.0, **surface):
    """Add a free solid that touches."""
    shape, inertia = shape_of(kind)
    mech.add_body(name, mass, mass * np.array(inertia), position, orientation)
    mech.add_collision(name, name, shape, **surface)


def build_solid(kind, height=0.3, orientation=(0.95, 0.2, 0.1, 0.05), slope=0.0, **surface):
    """Return one solid above level or tilted ground."""
    mech = Mechanism(ground=Ground(normal=(np.sin(slope), 0.0, np.cos(slope))))
    add_solid(mech, "solid", kind, (0.0, 0.0, height), orientation, **surface)
    return mech


def build_mesh(path):
    """Return a body that touches by the corners of a mesh."""
    mech = Mechanism(ground=True)
    mech.add_body("stone", 1.0, (0.01, 0.012, 0.014), (0.0, 0.0, 0.4), (0.9, 0.2, 0.3, 0.1))
    mech.add_collision("stone", "stone", make_shape("Mesh", path=path))
    return mech


def build_puck():
    """Return a body on three balls whose friction is unlike along, across and backwards."""
    mech = Mechanism(ground=True)
    mech.add_body("puck", 1.0, (0.01, 0.01, 0.02), (0.0, 0.0, 0.05))
    surface = {"friction": (0.1, 0.5, 0.3), "torsion": 0.02, "direction": (1.0, 0.3, 0.0)}
    for i, angle in enumerate(2.0 * np.pi * np.arange(3) / 3.0):
        place = (0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.0)
        mech.add_contact(f"foot{i}", "puck", place, 0.05, **surface)
    return mech


def build_walker():
    """Return a trunk on two open legs with motors, limits and ball feet, beside a spring."""
    mech = Mechanism(ground=True)
    mech.add_body("trunk", 4.0, (0.03, 0.05, 0.06), (0.0, 0.0, 0.42))
    for tag, y in (("left", 0.12), ("right", -0.12)):
        hip = np.array((0.0, y, 0.42))
        knee = hip + [0.08, 0.0, -0.2]
        toe = hip + [0.0, 0.0, -0.4]
        add_bar(mech, f"thigh_{tag}", hip, knee, 0.5)
        add_bar(mech, f"shank_{tag}", knee, toe, 0.3)
        values = {"effort": 30.0, "limits": (-0.6, 0.6)}
        mech.add_joint(f"hip_{tag}", "revolute", "trunk", f"thigh_{tag}", hip, Y, **values)
        ends = f"thigh_{tag}", f"shank_{tag}"
        mech.add_joint(f"knee_{tag}", "revolute", *ends, knee, Y, friction=0.05, **values)
        for k, x in enumerate((-0.08, 0.08)):
            place = toe - (knee + toe) / 2.0 + [x, 0.0, 0.0]
            mech.add_contact(f"toe_{tag}{k}", f"shank_{tag}", place, 0.02, 0.7)
        mech.add_motor(f"hip_{tag}", 60.0, 2.0)
        mech.add_motor(f"knee_{tag}", 60.0, 2.0)
    mech.add_spring("tie", "thigh_left", "thigh_right", (0, 0, 0), (0, 0, 0), 30.0, 0.2, 0.5)
    return mech


def build_hopper():
    """Return a box with one contact point and a driven arm with limits, far above the ground."""
    mech = Mechanism(ground=True)
    mech.add_body("box", 1.0, (0.004, 0.004, 0.004), (0.0, 0.0, 0.8))
    mech.add_contact("corner", "box", (0.05, 0.05, -0.05), friction=0.5)
    mech.add_contact("ball", "box", (-0.05, 0.0, 0.0), 0.06, restitution=0.4)
    mech.add_body("arm", 0.2, (0.001, 0.001, 0.0001), (0.0, 0.0, 0.95))
    values = {"limits": (-1.0, 1.0), "effort": 2.0}
    mech.add_joint("hinge", "revolute", "box", "arm", (0.0, 0.0, 0.85), Y, **values)
    mech.add_motor("hinge", 5.0, 0.1)
    return mech


def build_sleigh():
    """Return a body that slides in the plane on one blade."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("sleigh", 2.0, (0.2, 0.2, 0.3))
    mech.add_joint("plane", "planar", "world", "sleigh", (0.0, 0.0, 0.0))
    mech.add_skate("blade", "sleigh", (-0.2, 0.0, 0.0), Y)
    return mech


def build_unicycle():
    """Return a wheel that rolls without slip on an axle across a carrier."""
    mech = Mechanism(ground=True)
    mech.add_body("carrier", 1.0, (0.02, 0.02, 0.03), (0.0, 0.0, 0.1))
    mech.add_body("wheel", 0.5, (0.00125, 0.0025, 0.00125), (0.0, 0.0, 0.1))
    mech.add_joint("plane", "planar", "world", "carrier", (0.0, 0.0, 0.1))
    mech.add_joint("axle", "revolute", "carrier", "wheel", (0.0, 0.0, 0.1), Y, effort=np.inf)
    mech.add_wheel("tyre", "wheel", (0.0, 0.0, 0.0), Y, 0.1)
    return mech


def build_meeting(kinds, **surface):
    """Return two solids in free space, the first to fly at the second."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    first, second = kinds.split("-")
    add_solid(mech, "a", first, (0.0, 0.0, 0.0), (0.5, 0.7, -0.2, 0.4), **surface)
    add_solid(mech, "b", second, (0.6, 0.02, 0.01), (0.8, -0.3, 0.5, 0.1), 2.0, **surface)
    mech.add_pair("a", "b")
    return mech


def build_table():
    """Return a brick on the ground, two rods on it and a ball in the notch between them."""
    mech = Mechanism(ground=True)
    add_solid(mech, "table", "brick", (0.0, 0.0, 0.1))
    for name, y in (("left", -0.06), ("right", 0.06)):
        add_solid(mech, name, "rod", (0.0, y, 0.252), LYING, friction=0.5)
        mech.add_pair("table", name)
    add_solid(mech, "ball", "ball", (0.01, 0.0, 0.4))
    mech.add_pair("left", "right")
    mech.add_pair("left", "ball")
    mech.add_pair("right", "ball")
    return mech


def build_crossed():
    """Return two rods on the ground and one that falls across them."""
    mech = Mechanism(ground=True)
    for name, x in (("left", -0.15), ("right", 0.15)):
        add_solid(mech, name, "rod", (x, 0.0, 0.05), ACROSS)
    add_solid(mech, "top", "rod", (0.0, 0.03, 0.25), LYING)
    mech.add_pair("left", "top")
    mech.add_pair("right", "top")
    return mech


def build_row(count, restitution):
    """Return balls in a row in free space, each paired with the next."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    for i in range(count):
        surface = {"friction": 0.2, "restitution": restitution}
        add_solid(
            mech, f"ball{i}", "ball", (0.25 * i, 0.01 * (i % 2), 0.0), mass=1.0 + i, **surface
        )
        if i:
            mech.add_pair(f"ball{i - 1}", f"ball{i}")
    return mech


def build_squeezed():
    """Return a ball between two pads on rails that springs press against each other."""
    mech = Mechanism(ground=False)
    for name, x in (("left", -0.15), ("right", 0.15)):
        mech.add_body(name, 0.5, (0.01, 0.01, 0.01), (x, 0.0, 1.0))
        mech.add_collision(name, name, make_shape("Box", size=(0.1, 0.2, 0.2)), friction=0.5)
        pressed = {"stiffness": 200.0, "rest": -x, "damping": 2.0, "effort": 5.0}
        rail = f"{name} rail"
        mech.add_joint(rail, "prismatic", "world", name, (x, 0.0, 1.0), (1, 0, 0), **pressed)
    add_solid(mech, "ball", "ball", (0.0, 0.0, 1.0), friction=0.5)
    mech.add_pair("left", "ball")
    mech.add_pair("right", "ball")
    return mech


def build_coil(links):
    """Return a chain of rods with motors that coils up and touches itself."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    for i in range(links):
        add_solid(mech, f"link{i}", "rod", (0.6 * i, 0.0, 0.0), LYING)
        if i:
            ends = f"link{i - 1}", f"link{i}"
            mech.add_joint(f"bend{i}", "revolute", *ends, (0.6 * i - 0.3, 0.0, 0.0), effort=20.0)
            mech.add_motor(f"bend{i}", 20.0, 1.0)
        for j in range(i - 1):
            mech.add_pair(f"link{j}", f"link{i}")
    return mech


def build_struck_four_bar():
    """Return a four-bar whose coupler swings onto a ball that flies."""
    mech = Mechanism(ground=False)
    points = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (2.0, 0.0, 1.5), (2.5, 0.0, 0.0))
    for i in range(3):
        add_bar(mech, f"bar{i}", points[i], points[i + 1])
        parent = f"bar{i - 1}" if i else "world"
        mech.add_joint(f"hinge{i}", "revolute", parent, f"bar{i}", points[i], Y)
    mech.add_joint("close", "revolute", "world", "bar2", points[3], Y)
    half = np.arctan2(2.0, 0.5) / 2.0
    turn = (np.cos(half), 0.0, np.sin(half), 0.0)
    rod = make_shape("Capsule", radius=0.05, length=1.6, orientation=turn)
    mech.add_collision("coupler", "bar1", rod)
    add_solid(mech, "ball", "ball", (1.2, 0.0, 1.7), mass=0.5)
    mech.add_pair("bar1", "ball")
    return mech
