"""Mechanisms with loops in space: overconstrained rings, ball joints, a whole quadruped, random ones."""

from __future__ import annotations

import numpy as np

from scenes.trees import differing, inertia, random_tree, unit
from vigym import Mechanism
from vigym.mechanism.elements.joint_types import JOINT_TYPES

# Around a cube without its first corner and the opposite one: every bar an edge, every hinge on
# both of its edges.
CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
CUBE_AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)


def bar(mech, name, start, end, mass=1.0, thickness=0.05):
    """A uniform bar between two points, its long axis the body's z."""
    way = np.subtract(end, start)
    length = np.linalg.norm(way)
    turn = np.append(1.0 + way[2] / length, np.cross((0.0, 0.0, 1.0), way / length))
    turn = unit(turn) if np.linalg.norm(turn) > 1e-6 else (0.0, 1.0, 0.0, 0.0)
    along, across = mass * thickness**2 / 6.0, mass * (length**2 + thickness**2) / 12.0
    mech.add_body(name, mass, (across, across, along), np.add(start, end) / 2.0, turn)


def bricard():
    """IFToMM A05: five bars and the ground between six hinges; one freedom where Gruebler's formula counts none."""
    mech = Mechanism(gravity=(0.0, -9.81, 0.0))
    for i in range(5):
        bar(mech, f"bar{i}", CUBE[i], CUBE[i + 1])
    for i in range(6):
        parent, child = f"bar{i - 1}" if i else "world", f"bar{i}"
        if i == 5:
            parent, child = "world", "bar4"
        mech.add_joint(
            f"hinge{i}",
            "revolute",
            parent,
            child,
            CUBE[i],
            CUBE_AXES[i],
            effort=np.inf if i == 0 else None,
        )
    return mech


def spatial_four_bar(closing="spherical", damping=0.1):
    """Crank and rocker in different planes, a coupler with a ball at each end; it is free to spin about itself."""
    mech = Mechanism()
    points = np.array([(0, 0, 0), (0.3, 0, 0.2), (1.2, 0.9, 0.5), (1.2, 0.9, -0.3)], float)
    for i, name in enumerate(("crank", "coupler", "rocker")):
        bar(mech, name, points[i], points[i + 1])
    mech.add_joint("motor", "revolute", "world", "crank", points[0], (0, 1, 0), effort=np.inf)
    mech.add_joint("pivot", "revolute", "world", "rocker", points[3], (1, 0.2, 0), damping=damping)
    mech.add_joint("ball", "spherical", "crank", "coupler", points[1], damping=0.2 * damping)
    needed = JOINT_TYPES[closing].needs_second_axis
    axes = {"axis": (0, 0, 1), "axis2": (1, 0, 0)} if needed else {}
    mech.add_joint("end", closing, "coupler", "rocker", points[2], **axes)
    return mech


def twice_hinged():
    """A door on two hinges, and a bar between two balls on another door: dependent rows within one pair of bodies."""
    mech = Mechanism()
    bar(mech, "door", (0.0, 0.0, 0.0), (0.9, 0.1, 0.0))
    bar(mech, "flap", (0.9, 0.1, 0.0), (1.5, 0.5, 0.3))
    axis, other = unit(np.array([0.1, 0.9, 0.2])), np.array([0.3, -0.2, 0.5])
    mech.add_joint(
        "low", "revolute", "world", "door", (0.0, 0.0, 0.0), axis, effort=np.inf, damping=0.1
    )
    mech.add_joint("high", "revolute", "world", "door", 0.7 * axis, axis)
    mech.add_joint("near", "spherical", "door", "flap", (0.9, 0.1, 0.0))
    mech.add_joint("far", "spherical", "door", "flap", (0.9, 0.1, 0.0) + other)
    return mech


def hanging_rope(links=4, closing="spherical", damping=0.02, stiffness=0.0):
    """Bars on ball joints between two points of the world; the loop goes through the world."""
    mech = Mechanism()
    points = [(0.5 * i, 0.05 * i * i, -0.25 * i * (links - i) / links) for i in range(links + 1)]
    for i in range(links):
        bar(mech, f"link{i}", points[i], points[i + 1])
        mech.add_joint(
            f"ball{i}",
            "spherical",
            f"link{i - 1}" if i else "world",
            f"link{i}",
            points[i],
            damping=damping,
            stiffness=stiffness,
        )
    needed = JOINT_TYPES[closing].needs_second_axis
    axes = {"axis": (0, 1, 0), "axis2": (0, 0, 1)} if needed else {"axis": (1, 0, 0)}
    mech.add_joint(
        "end",
        closing,
        "world",
        f"link{links - 1}",
        points[-1],
        **axes,
    )
    return mech


def minitaur(gravity=(0.0, 0.0, -9.81), **options):
    """A floating body on four five-bar legs: 17 bodies, 16 hinges, 4 closing joints, 14 freedoms."""
    mech, options = (
        Mechanism(gravity=gravity),
        {"effort": 3.5, "damping": 0.01, "armature": 5e-4} | options,
    )
    mech.add_body("base", 3.3, (0.009, 0.04, 0.045), (0.0, 0.0, 0.25))
    for leg, (x, y) in enumerate([(0.21, 0.1), (-0.21, 0.1), (0.21, -0.1), (-0.21, -0.1)]):
        foot = np.array([x, y, 0.25 - 0.24])
        for side, sign in (("front", 1.0), ("back", -1.0)):
            hip = np.array([x, y, 0.25])
            knee = hip + [0.11 * sign, 0.0, -0.115 * 0.2 - 0.005 * sign]
            upper, lower = f"{side}_upper{leg}", f"{side}_lower{leg}"
            bar(mech, upper, hip, knee, 0.15, 0.02)
            bar(mech, lower, knee, foot, 0.08, 0.015)
            mech.add_joint(f"{side}_hip{leg}", "revolute", "base", upper, hip, (0, 1, 0), **options)
            mech.add_joint(f"{side}_knee{leg}", "revolute", upper, lower, knee, (0, 1, 0))
        mech.add_joint(
            f"foot{leg}", "revolute", f"front_lower{leg}", f"back_lower{leg}", foot, (0, 1, 0)
        )
    return mech


def add_closings(mech, seed, types, springs=0, damping=0.0, pairs=None, drive=None):
    """Random joints between bodies that are already carried, and springs between points of random bodies."""
    rng = np.random.default_rng(seed + 1000)
    names = list(mech.bodies)
    for i, kind in enumerate(types):
        parent, child = rng.choice(names, 2, replace=False) if pairs is None else pairs[i]
        axis = unit(rng.normal(size=3))
        values = {"axis": axis}
        row = JOINT_TYPES[kind]
        if row.needs_second_axis:
            values["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
        if row.dofs and not row.needs_second_axis and not row.has_quaternion:
            values |= {
                "stiffness": differing(kind, rng.uniform(1.0, 3.0)),
                "rest": rng.uniform(-0.2, 0.2),
                "damping": differing(kind, damping),
                "armature": 0.1,
            }
        elif kind != "fixed":
            values |= {"stiffness": differing(kind, 2.0), "damping": differing(kind, damping)}
        values |= drive or {}
        mech.add_joint(f"c{i}", kind, parent, child, 0.7 * rng.normal(size=3), **values)
    for i in range(springs):
        a, b = rng.choice(["world", *names], 2, replace=False)
        values = rng.uniform(2.0, 8.0), rng.uniform(0.5, 1.5), damping * rng.uniform(0.5, 2.0)
        mech.add_spring(f"s{i}", a, b, 0.7 * rng.normal(size=3), 0.7 * rng.normal(size=3), *values)
    return mech


def closed_by(kind, seed=0, damping=0.0, springs=2, drive=None):
    """Two arms with enough freedom that any joint may close the loop between their ends; `drive` is of that joint."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(gravity=(0.3, -0.2, -9.81))
    for arm in "ab":
        parent = "world"
        for i, joint in enumerate(("spherical", "revolute", "universal")):
            axis = unit(rng.normal(size=3))
            axes = {"axis": axis, "axis2": unit(np.cross(axis, rng.normal(size=3)))}
            mech.add_body(f"{arm}{i}", rng.uniform(0.5, 2.0), inertia(rng), rng.normal(size=3))
            values = axes if joint == "universal" else {"axis": axis}
            values |= {"effort": np.inf, "damping": damping, "stiffness": 2.0}
            mech.add_joint(
                f"{arm}{joint}", joint, parent, f"{arm}{i}", 0.7 * rng.normal(size=3), **values
            )
            parent = f"{arm}{i}"
    return add_closings(mech, seed, [kind], springs, damping, [("a2", "b2")], drive)


def random_loops(seed, types, closings, *, springs=2, damping=0.0, **options):
    """A random tree of joints of `types`, closed by random joints of types `closings`."""
    return add_closings(
        random_tree(seed, types, damping=damping, **options), seed, closings, springs, damping
    )
