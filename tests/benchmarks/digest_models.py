"""Mechanisms that the scenes of `digests.py` are made of, built with the public methods alone."""

import sys

import numpy as np

import vigym
from vigym import Mechanism

Y = (0.0, 1.0, 0.0)
LYING = (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # turns the axis of a capsule along x
ACROSS = (0.5**0.5, 0.5**0.5, 0.0, 0.0)  # along y
CLOSED = "universal", "spherical", "revolute", "prismatic", "cylindrical", "planar"


def make_shape(name, **values):
    """Return a shape of the class `name`, wherever the package keeps it."""
    modules = [vigym, *(module for key, module in sys.modules.items() if key.startswith("vigym."))]
    classes = [vars(module)[name] for module in modules if name in vars(module)]
    return classes[0](**values)


def add_bar(mech, name, start, end, mass=1.0):
    """Add a slender bar between two points, its axes those of the world."""
    way = np.subtract(end, start)
    inertia = mass / 12.0 * (way @ way * np.eye(3) - np.outer(way, way)) + 1e-3 * mass * np.eye(3)
    mech.add_body(name, mass, inertia, np.add(start, end) / 2.0)


def build_chain(links=5, joint="revolute", **options):
    """Return bars of 0.5 m that hang on joints; the axes of hinges alternate."""
    mech = Mechanism(gravity=(0.3, -0.2, -9.81))
    for i in range(links):
        top = (0.0, 0.0, -0.5 * i)
        add_bar(mech, f"link{i}", top, (0.0, 0.0, -0.5 * (i + 1)), 1.0 / (1.0 + 0.1 * i))
        parent = f"link{i - 1}" if i else "world"
        axis = (1.0, 0.2, 0.0) if i % 2 else Y
        mech.add_joint(f"joint{i}", joint, parent, f"link{i}", top, axis, **options)
    return mech


def build_whip():
    """Return light links that need halved steps when they are struck."""
    mech = Mechanism()
    for i in range(12):
        name = f"link{i}"
        mech.add_body(name, 0.05, (1e-4, 1e-4, 1e-5), (0.0, 0.0, -0.1 - 0.2 * i))
        parent = f"link{i - 1}" if i else "world"
        place = (0.0, 0.0, -0.2 * i)
        mech.add_joint(f"joint{i}", "revolute", parent, name, place, Y, effort=np.inf)
    return mech


def build_all_joints():
    """Return two branches with a joint of every type, a free body, and frames."""
    mech = Mechanism()
    kinds = "prismatic", "universal", "cylindrical", "spherical", "fixed", "continuous", "planar"
    parent = "world"
    for i, kind in enumerate(kinds):
        name = f"body{i}"
        mech.add_body(name, 1.0 + 0.2 * i, (0.05, 0.06 + 0.01 * i, 0.07), (0.2 * i, 0.1, -0.3 * i))
        values = {"axis2": (0.0, 1.0, -1.0)} if kind == "universal" else {}
        if kind not in ("fixed", "spherical"):
            values["stiffness"] = 20.0 + i
            values["effort"] = np.inf
        if kind not in ("fixed", "universal"):
            values["damping"] = 0.3
        place = (0.2 * i - 0.1, 0.05, -0.3 * i + 0.15)
        mech.add_joint(kind, kind, parent, name, place, (0.5, 1.0, 1.0), **values)
        parent = "body2" if i == 4 else name
    mech.add_body("free", 2.0, (0.1, 0.2, 0.25), (1.0, 1.0, 1.0), (0.9, 0.1, 0.3, 0.2))
    mech.add_body("rider", 0.5, (0.02, 0.01, 0.02), (1.0, 1.3, 1.0))
    mech.add_joint("loose", "floating", "free", "rider", (1.0, 1.2, 1.0))
    mech.add_frame("tip", "body3", (0.1, -0.2, 0.3), (0.8, 0.1, 0.2, 0.3))
    mech.add_frame("post", "world", (0.1, -0.2, 0.3))
    return mech


def build_soft_chain():
    """Return a chain whose joints have springs, dampers, armature and dry friction."""
    mech = build_chain(1, effort=3.0)
    values = {"stiffness": 4.0, "rest": 0.2, "damping": 0.1, "armature": 0.02}
    for i in range(1, 5):
        top = (0.0, 0.0, -0.5 * i)
        add_bar(mech, f"link{i}", top, (0.2, 0.0, -0.5 * (i + 1)), 0.8)
        friction = 0.05 * i
        kind = "prismatic" if i == 3 else "revolute"
        ends = f"link{i - 1}", f"link{i}"
        mech.add_joint(
            f"joint{i}", kind, *ends, top, (0.3 * i, 1.0, 0.1), friction=friction, **values
        )
    return mech


def build_limited():
    """Return a chain that falls against the limits of its joints."""
    mech = build_chain(1, limits=(-0.5, 0.6))
    for i in range(1, 4):
        top = (0.0, 0.0, -0.5 * i)
        add_bar(mech, f"link{i}", top, (0.0, 0.0, -0.5 * (i + 1)))
        kind = "prismatic" if i == 2 else "revolute"
        limits = (-0.1, 0.2) if i == 2 else (-0.3, 0.4)
        axis = (0.1, 0.0, 1.0) if i == 2 else Y
        mech.add_joint(f"joint{i}", kind, f"link{i - 1}", f"link{i}", top, axis, limits=limits)
    return mech


def build_driven(model=None):
    """Return a chain with motors that hold positions, keep rates, are weak, and are electric."""
    mech = build_chain(5, effort=4.0, armature=0.001)
    mech.add_motor("joint0", 30.0, 2.0, effort=20.0)
    mech.add_motor("joint1", 0.0, 3.0, effort=10.0)
    mech.add_motor("joint2", 5.0, 0.1)
    if model is not None:
        mech.add_motor("joint4", 1.0, 0.02, model=model)
    return mech


def build_braked():
    """Return a wheel whose motor keeps its largest rate."""
    mech = Mechanism()
    mech.add_body("wheel", 1.0, (0.06, 0.1, 0.06))
    mech.add_joint("axle", "revolute", "world", "wheel", (0, 0, 0), Y, effort=3.0, velocity=2.0)
    mech.add_motor("axle", 20.0, 0.5)
    return mech


def build_coupled():
    """Return geared flywheels, a finger that mimics another joint, and a screw."""
    mech = Mechanism()
    for i, moment in enumerate((0.1, 0.02)):
        mech.add_body(f"disc{i}", 1.0, (0.06, moment, 0.06), (0.5 * i, 0.0, 0.0))
        place = (0.5 * i, 0.0, 0.0)
        mech.add_joint(f"axle{i}", "revolute", "world", f"disc{i}", place, Y, effort=10.0)
    mech.add_coupling("gear", "gear", "axle1", "axle0", -2.0)
    add_bar(mech, "upper", (2.0, 0.0, 0.0), (2.0, 0.0, -0.5))
    add_bar(mech, "lower", (2.0, 0.0, -0.5), (2.0, 0.0, -1.0))
    mech.add_joint("knuckle", "revolute", "world", "upper", (2.0, 0.0, 0.0), Y, damping=0.05)
    mech.add_joint("finger", "revolute", "upper", "lower", (2.0, 0.0, -0.5), Y)
    mech.add_coupling("bend", "mimic", "finger", "knuckle", 0.7, 0.2)
    mech.add_body("nut", 1.0, (0.01, 0.01, 0.001), (4.0, 0.0, 0.0))
    mech.add_joint("thread", "cylindrical", "world", "nut", (4.0, 0.0, 0.0), damping=0.01)
    mech.add_coupling("pitch", "screw", "thread.distance", "thread.angle", 0.01)
    return mech


def build_sprung(damping=0.3, stiffness=1e5):
    """Return a chain and a free body that springs hold to each other and to the world."""
    mech = build_chain(3)
    mech.add_body("bob", 0.7, (0.01, 0.02, 0.02), (0.5, 0.0, -1.0))
    mech.add_spring("near", "link1", "bob", (0.0, 0.0, 0.1), (0.1, 0.0, 0.0), 200.0, 0.3, damping)
    mech.add_spring("far", "world", "bob", (1.0, 0.5, 0.0), (0.0, 0.1, 0.0), 50.0, 0.6, damping)
    mech.add_spring("stiff", "link0", "link2", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), stiffness, 0.98)
    return mech


def build_windows(windows, effort=np.inf):
    """Return four-bar windows in a row, with bars of generic lengths: one freedom."""
    rng = np.random.default_rng(0)
    mech = Mechanism()
    feet = np.zeros((windows + 1, 3))
    feet[:, 0] = np.arange(windows + 1.0)
    feet[:, ::2] += 0.15 * rng.uniform(-1.0, 1.0, (windows + 1, 2))
    tops = feet + [0.3, 0.0, 0.9]
    tops[:, ::2] += 0.15 * rng.uniform(-1.0, 1.0, (windows + 1, 2))
    for i, (foot, top) in enumerate(zip(feet, tops, strict=True)):
        add_bar(mech, f"upright{i}", foot, top)
        drive = {} if i else {"effort": effort}
        mech.add_joint(f"ground{i}", "revolute", "world", f"upright{i}", foot, Y, **drive)
    for i in range(windows):
        add_bar(mech, f"coupler{i}", tops[i], tops[i + 1])
        mech.add_joint(f"left{i}", "revolute", f"upright{i}", f"coupler{i}", tops[i], Y)
    for i in range(windows):
        ends = f"upright{i + 1}", f"coupler{i}"
        mech.add_joint(f"right{i}", "revolute", *ends, tops[i + 1], Y)
    return mech


def build_bricard():
    """Return Bricard's ring around a cube: six hinges, one freedom where counting finds none."""
    points = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    mech = Mechanism(gravity=(0.0, -9.81, 0.0))
    for i in range(5):
        add_bar(mech, f"bar{i}", points[i], points[i + 1])
    for i in range(6):
        ends = (f"bar{i - 1}" if i else "world", f"bar{i}") if i < 5 else ("world", "bar4")
        axis = np.roll((1.0, 0.0, 0.0), i + 1)
        drive = {} if i else {"effort": np.inf}
        mech.add_joint(f"hinge{i}", "revolute", *ends, points[i], axis, **drive)
    return mech


def build_spatial(closing, damping=0.1):
    """Return two arms in space with enough freedom that any joint may close their loop."""
    rng = np.random.default_rng(4)
    mech = Mechanism(gravity=(0.3, -0.2, -9.81))
    for arm in "ab":
        parent = "world"
        for i, kind in enumerate(("spherical", "revolute", "universal")):
            axis = rng.normal(size=3)
            place = rng.normal(size=3)
            mech.add_body(f"{arm}{i}", rng.uniform(0.5, 2.0), (0.3, 0.4, 0.5), place)
            values = {"effort": np.inf, "damping": damping, "stiffness": 2.0, "axis": axis}
            if kind == "universal":
                values["axis2"] = np.cross(axis, rng.normal(size=3))
            anchor = 0.7 * rng.normal(size=3)
            mech.add_joint(f"{arm}.{kind}", kind, parent, f"{arm}{i}", anchor, **values)
            parent = f"{arm}{i}"
    axis = rng.normal(size=3)
    values = {"axis2": np.cross(axis, rng.normal(size=3))} if closing == "universal" else {}
    if closing in ("revolute", "prismatic", "cylindrical", "planar"):
        values = {"stiffness": 1.5, "rest": 0.1, "damping": damping}
    mech.add_joint("end", closing, "a2", "b2", 0.7 * rng.normal(size=3), axis, **values)
    mech.add_spring("tie", "a1", "b2", (0.1, 0, 0), (0, 0.2, 0), 5.0, 0.8, damping)
    return mech


def build_open_four_bar():
    """Return a four-bar whose last pin does not quite meet at the assembly pose."""
    mech = Mechanism()
    points = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.4), (0.8, 0.0, 0.5), (0.9, 0.0, 0.0))
    for i in range(3):
        add_bar(mech, f"bar{i}", points[i], points[i + 1])
        parent = f"bar{i - 1}" if i else "world"
        mech.add_joint(f"hinge{i}", "revolute", parent, f"bar{i}", points[i], Y, damping=0.02)
    halves = {"child_position": points[3]}
    mech.add_joint("pin", "revolute", "world", "bar2", (0.92, 0.0, 0.01), Y, **halves)
    return mech


def add_leg(mech, base, hip, tag="", foot=True):
    """Add a closed leg of two driven upper bars and two lower ones that meet at the foot."""
    hip = np.asarray(hip, float)
    ankle = hip + [0.0, 0.0, -0.2]
    for side, sign in (("front", 1.0), ("back", -1.0)):
        knee = hip + [sign * 0.09, 0.0, -0.04]
        upper = f"{side}_upper{tag}"
        lower = f"{side}_lower{tag}"
        add_bar(mech, upper, hip, knee, 0.1)
        add_bar(mech, lower, knee, ankle, 0.06)
        drive = {"effort": 3.5, "armature": 1e-4}
        mech.add_joint(f"{side}_hip{tag}", "revolute", base, upper, hip, Y, **drive)
        mech.add_joint(f"{side}_knee{tag}", "revolute", upper, lower, knee, Y)
        mech.add_motor(f"{side}_hip{tag}", 50.0, 0.5)
    ends = f"front_lower{tag}", f"back_lower{tag}"
    mech.add_joint(f"ankle{tag}", "revolute", *ends, ankle, Y)
    if foot:
        place = ankle - (hip + [0.09, 0.0, -0.04] + ankle) / 2.0
        mech.add_contact(f"foot{tag}", f"front_lower{tag}", place, 0.0, 0.6)


def build_leg(ground):
    """Return a closed leg: on a hip in the world, or below a trunk that hops on the ground."""
    mech = Mechanism(ground=ground)
    if ground:
        mech.add_body("trunk", 1.0, (0.01, 0.01, 0.01), (0.0, 0.0, 0.25))
        mech.add_joint("lift", "prismatic", "world", "trunk", (0.0, 0.0, 0.25), (0, 0, 1))
    add_leg(mech, "trunk" if ground else "world", (0.0, 0.0, 0.25), foot=ground)
    return mech


def build_quadruped(ground):
    """Return a trunk that floats or stands on four closed legs."""
    mech = Mechanism(ground=ground, gravity=(0.0, 0.0, -9.81 if ground else -0.5))
    mech.add_body("trunk", 3.0, (0.02, 0.05, 0.06), (0.0, 0.0, 0.25))
    for i, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        add_leg(mech, "trunk", (x, y, 0.25), str(i), ground)
    return mech
