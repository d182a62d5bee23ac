"""Bases: bodies that passive joints leave free in space or in a plane, and how they are raised."""

import numpy as np
import pytest

from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import free_bases, robot_base
from vigym.mechanism.topology.kinematics import TreeKinematics

X, Y, Z = np.eye(3)
SLIDES = [("prismatic", X), ("prismatic", Z)]
FREE = {
    "floating": [("floating", Z)],
    "planar": [("planar", Y)],
    "slides and a hinge": [*SLIDES, ("revolute", Y)],
    "oblique slides": [("prismatic", X), ("prismatic", (0.6, 0.0, 0.8)), ("continuous", -Y)],
    "a plane and a hinge": [("sliding_on_plane", Y), ("revolute", Y)],
    "slides and a ball": [*SLIDES, ("prismatic", Y), ("spherical", Z)],
    "slides and three hinges": [
        *SLIDES,
        ("prismatic", Y),
        *(("revolute", axis) for axis in (Z, Y, X)),
    ],
    "a plane that leans": [("planar", (0.0, 0.8, 0.6))],
}
HELD = {
    "fixed": [("fixed", Z)],
    "a hinge": [("revolute", Y)],
    "two slides": SLIDES,
    "a hinge in the plane": [*SLIDES, ("revolute", X)],
    "parallel slides": [("prismatic", X), ("prismatic", -X), ("revolute", Y)],
    "a hinge first": [("revolute", Y), *SLIDES],
    "without a turn about one axis": [*SLIDES, ("prismatic", Y), ("universal", Z)],
}


def robot(joints, effort=None, turn=(0.8, 0.0, 0.6, 0.0)) -> Mechanism:
    """A base that turns with a driven leg on it; `effort` is that of the first joint."""
    mech = Mechanism(name="robot")
    before = "world"
    for number, (kind, axis) in enumerate(joints):
        last = number == len(joints) - 1
        name = "base" if last else f"part {number}"
        inertia = (1.0, 2.0, 2.5) if last else (0.0, 0.0, 0.0)
        mech.add_body(name, float(last), inertia, (0.1, 0.2, 0.3), turn)
        second = X if kind == "universal" else None
        drive = effort if not number else None
        more = {"axis2": second, "effort": drive}
        mech.add_joint(f"root {number}", kind, before, name, (0.1, 0.2, 0.3), axis, **more)
        before = name
    mech.add_body("leg", 1.0, (1.0, 1.0, 1.0), (0.1, 0.2, -0.5))
    mech.add_joint("hip", "revolute", "base", "leg", (0.1, 0.2, 0.0), Y, effort=5.0)
    return mech


@pytest.mark.parametrize("joints", FREE.values(), ids=FREE)
@pytest.mark.parametrize("normal", [Z, (0.36, 0.48, 0.8)], ids=["level", "slope"])
def test_a_lift_raises_the_base_by_as_much_wherever_it_is(joints, normal):
    mech = robot(joints)
    base = robot_base(mech)
    assert base is not None
    assert base.body == "base"
    lift = base.lift(normal)
    tree = TreeKinematics(mech)
    names = mech.position_names
    start = np.random.default_rng(0).uniform(-0.5, 0.5, len(names))
    for joint in mech.tree_joints:
        if joint.joint_type.has_quaternion:
            last = names.index(joint.position_names[-1])
            start[last - 3 : last + 1] = 0.5
    lifted = start.copy()
    lifted[[names.index(name) for name in base.translations]] += 0.25 * lift
    row = 1 + list(mech.bodies).index("base")
    before, after = tree.poses(np.array([start, lifted])).x[:, row]
    assert normal @ (after - before) == pytest.approx(0.25)


@pytest.mark.parametrize("joints", HELD.values(), ids=HELD)
def test_a_body_that_is_held_is_no_base(joints):
    assert free_bases(robot(joints)) == []


def test_a_base_is_moved_by_no_actuator_and_carries_one():
    slides = FREE["slides and a hinge"]
    assert free_bases(robot(slides, effort=3.0)) == []
    mech = robot([("revolute", Y)])
    mech.add_body("ball", 1.0, (1.0, 1.0, 1.0))
    assert [base.body for base in free_bases(mech)] == ["ball"]
    assert robot_base(mech) is None


def test_a_level_plane_has_no_height():
    base = robot_base(robot([("planar", Z)]))
    assert base.lift(Z) is None
    assert not base.sets_height({"root 0", "root 0.x"}, Z)
    upright = robot_base(robot(FREE["slides and a hinge"]))
    assert [upright.sets_height({name}, Z) for name in ("root 0", "root 1", "root 2")] == [0, 1, 0]
    floating = robot_base(robot(FREE["floating"]))
    assert floating.sets_height({"root 0"}, Z)
    assert floating.sets_height({"root 0.z"}, Z)
    assert not floating.sets_height({"root 0.x"}, Z)
