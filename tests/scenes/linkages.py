"""Mechanisms with loops, for the tests: planar ladders, Bricard's ring, a quadruped, random spatial chains."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, mul, rotate
from scenes.trees import inertia, unit
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.mechanism import Mechanism

Y = (0.0, 1.0, 0.0)
TRAPEZE = (
    (0.0, 0.0, 0.0),
    (0.0, 0.0, 1.0),
    (2.0, 0.0, 1.5),
    (2.5, 0.0, 0.0),
)  # hinges of a four-bar


def add_rod(mech, name, a, b):
    """A rod of 1 kg between two points."""
    a, b = np.array(a), np.array(b)
    mech.add_body(name, 1.0, (0.02, 0.02, 0.02), (a + b) / 2)


def four_bar(points=TRAPEZE, closing="revolute", axes=(Y, Y, Y, Y), ground=None, **values):
    """Three rods on four hinges; the last closes the loop on the world, at `ground` when that is elsewhere."""
    mech = Mechanism()
    for name, a, b in zip("abc", points, points[1:], strict=False):
        add_rod(mech, name, a, b)
    for i, (parent, child) in enumerate((("world", "a"), ("a", "b"), ("b", "c"))):
        mech.add_joint(f"j{i}", "revolute", parent, child, points[i], axes[i])
    if ground is not None:
        values["child_position"] = points[3]
    mech.add_joint(
        "close", closing, "world", "c", points[3] if ground is None else ground, axes[3], **values
    )
    return mech


def ladder(count, closing="revolute", up=(0.0, 0.0, 1.0)):
    """`count` four-bar windows side by side that share their uprights, hinged on the ground: one freedom.

    With `up` along x all bars lie in one line.
    """
    mech, up = Mechanism(), np.array(up)
    add_rod(mech, "v0", (0, 0, 0), up)
    mech.add_joint("g0", "revolute", "world", "v0", (0, 0, 0), Y)
    for i in range(1, count + 1):
        left, right = (i - 1.0, 0, 0), (float(i), 0, 0)
        add_rod(mech, f"h{i}", up + left, up + right)
        add_rod(mech, f"v{i}", up + right, right)
        mech.add_joint(f"a{i}", "revolute", f"v{i - 1}", f"h{i}", up + left, Y)
        mech.add_joint(f"b{i}", "revolute", f"h{i}", f"v{i}", up + right, Y)
        mech.add_joint(f"g{i}", closing, "world", f"v{i}", right, Y)
    return mech


def sarrus():
    """A table on two pairs of hinged leaves in planes at a right angle: it only goes up and down."""
    mech = Mechanism()
    for tag, out in (("x", np.array([1.0, 0, 0])), ("y", np.array([0, 1.0, 0]))):
        points, axis = (out, 1.5 * out + (0, 0, 0.5), out + (0, 0, 1)), np.cross((0, 0, 1), out)
        add_rod(mech, f"{tag}1", points[0], points[1])
        add_rod(mech, f"{tag}2", points[1], points[2])
        if tag == "x":
            add_rod(mech, "table", (0, 0, 1), (0.1, 0.1, 1))
        ends = (f"{tag}2", "table") if tag == "x" else ("table", f"{tag}2")
        for i, pair in enumerate((("world", f"{tag}1"), (f"{tag}1", f"{tag}2"), ends)):
            mech.add_joint(f"{tag}{i}", "revolute", *pair, points[i], axis)
    return mech


def add_slider_crank(mech, tag, origin, size, apart=0.0):
    """A crank, a rod and a slider on the world; the rod's end is `apart` sizes from the slider."""
    a = np.array(origin)
    b, c = a + (0, 0, size), a + (2 * size, 0, 0)
    for name, ends in (("crank", (a, b)), ("rod", (b, c)), ("slider", (c, c))):
        mech.add_body(f"{name}{tag}", 1.0, np.full(3, 0.02 * size**2), np.mean(ends, axis=0))
    mech.add_joint(f"slide{tag}", "prismatic", "world", f"slider{tag}", c, (1, 0, 0))
    mech.add_joint(f"turn{tag}", "revolute", "world", f"crank{tag}", a, Y)
    mech.add_joint(f"pin{tag}", "revolute", f"crank{tag}", f"rod{tag}", b, Y)
    wrist = c + (apart * size, 0, 0)
    mech.add_joint(
        f"wrist{tag}", "revolute", f"slider{tag}", f"rod{tag}", wrist, Y, child_position=c
    )


def folded(count):
    """`count` parallelograms on a floating base, each folded flat."""
    mech = Mechanism()
    mech.add_body("base", 5.0, (1, 1, 1))
    for k in range(count):
        points = [(x, float(k), 0.0) for x in (0.0, 1.0, 3.0, 2.0)]
        for name, a, b in zip("abc", points, points[1:], strict=False):
            add_rod(mech, f"{name}{k}", a, b)
        bodies = ["base", f"a{k}", f"b{k}", f"c{k}"]
        for i, (parent, child) in enumerate((bodies[:2], bodies[1:3], bodies[2:], bodies[::3])):
            mech.add_joint(f"j{i}_{k}", "revolute", parent, child, points[i], Y)
    return mech


def bricard(angle=1.1, floating=False):
    """Bricard's ring of six hinges with threefold symmetry: unit links, twisted by a right angle to and fro.

    Its two joint angles t and s alternate and meet cos t + cos s + cos t cos s = 0 (Chen, You and
    Tarnai, 2005).
    """
    angles = (angle, np.arccos(-np.cos(angle) / (1.0 + np.cos(angle)))) * 3
    x = np.zeros(3)
    q = np.array([1.0, 0.0, 0.0, 0.0])
    hinges = []
    for i, turn in enumerate(angles):
        q = mul(q, np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]))
        hinges.append((x, rotate(q, np.array([0.0, 0.0, 1.0]))))
        x = x + rotate(q, np.array([1.0, 0.0, 0.0]))
        q = mul(q, np.array([1.0, (-1) ** i, 0.0, 0.0]) / np.sqrt(2.0))
    mech, ground = Mechanism(), "l5" if floating else "world"
    for i in range(6 if floating else 5):
        add_rod(mech, f"l{i}", hinges[i][0], hinges[(i + 1) % 6][0])
    bodies = [ground, *(f"l{i}" for i in range(5)), ground]
    for i, (point, axis) in enumerate(hinges):
        ends = (
            bodies[i : i + 2] if i < 5 else bodies[:4:-1]
        )  # the last the other way: the world cannot be a child
        mech.add_joint(f"j{i}", "revolute", *ends, point, axis)
    return mech


def leg(mech, name, base, hip, knee, foot, spread=0.0, closing="revolute"):
    """A five-bar leg whose hips coincide; its two feet are `spread` apart, for an open loop."""
    hip = np.array(hip)
    knee = np.array(knee)
    foot = np.array(foot)
    feet = {}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        k, feet[side] = hip + knee * (sign, 1.0, 1.0), foot + (sign * spread / 2.0, 0.0, 0.0)
        add_rod(mech, f"{name}_thigh_{side}", hip, k)
        add_rod(mech, f"{name}_shin_{side}", k, feet[side])
        mech.add_joint(f"{name}_hip_{side}", "revolute", base, f"{name}_thigh_{side}", hip, Y)
        mech.add_joint(
            f"{name}_knee_{side}", "revolute", f"{name}_thigh_{side}", f"{name}_shin_{side}", k, Y
        )
    shins = f"{name}_shin_l", f"{name}_shin_r"
    mech.add_joint(f"{name}_foot", closing, *shins, feet["l"], Y, child_position=feet["r"])


def five_bar(spread=0.0, closing="revolute"):
    """One leg on the world: two freedoms."""
    mech = Mechanism()
    leg(mech, "leg", "world", (0, 0, 0.2), (0.08, 0, -0.08), (0, 0, -0.03), spread, closing)
    return mech


def quadruped(spread=0.0, closing="revolute"):
    """A floating base on four five-bar legs: 17 bodies, 16 hinges of the tree, 4 closing joints, 14 freedoms."""
    mech = Mechanism()
    mech.add_body(
        "base", 3.0, (0.02, 0.08, 0.09), (0.1, 0.2, 0.3), unit(np.array([1.0, 0.0, 0.2, 0.0]))
    )
    for i, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
        leg(mech, f"leg{i}", "base", (x, y, 0.2), (0.08, 0, -0.08), (x, y, -0.03), spread, closing)
    return mech


def spatial_chain(seed, closing, far=0.3, count=7):
    """A random chain of hinges on the world whose end is `closing` to where it lies at angles below `far`.

    Returns the mechanism and the angles at which its loop is closed.
    """
    rng = np.random.default_rng(seed)
    points, axes = (
        rng.normal(size=(count + 1, 3)),
        [unit(axis) for axis in rng.normal(size=(count, 3))],
    )
    mech = Mechanism()
    for i in range(count):
        mech.add_body(
            f"l{i}", 1.0, inertia(rng), (points[i] + points[i + 1]) / 2, unit(rng.normal(size=4))
        )
        mech.add_joint(
            f"j{i}", "revolute", f"l{i - 1}" if i else "world", f"l{i}", points[i], axes[i]
        )
    angles = rng.uniform(-far, far, count)
    q, x = np.array([1.0, 0.0, 0.0, 0.0]), points[-1]
    for angle, point, axis in zip(angles[::-1], points[-2::-1], axes[::-1], strict=True):
        turn = np.append(np.cos(angle / 2), np.sin(angle / 2) * axis)
        q, x = mul(turn, q), point + rotate(turn, x - point)
    axis = unit(rng.normal(size=3))
    values = {"child_position": points[-1], "child_rotation": conj(q)}
    if JOINT_TYPES[closing].needs_second_axis:
        values["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
    mech.add_joint("close", closing, "world", f"l{count - 1}", x, axis, **values)
    return mech, angles
