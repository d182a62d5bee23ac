"""Loops of a URDF file: the three forms, both halves, merged links, the world, what is open at zero."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from scenes.minitaur_urdf import MASS, minitaur
from scenes.urdf_text import ARMS, HINGE, ball, constraint, joint, link, loop
from vigym.mechanism.elements.errors import AssemblyError, UrdfError
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.joints import LOOP_JOINT_TYPES


def actions(mech):
    """What a report says, by action; several entries of one are lines."""
    said = {}
    for entry in mech.notes:
        said[entry.action] = "\n".join([*said.get(entry.action, "").splitlines(), str(entry)])
    return said


def matrix(wxyz):
    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()


def test_a_loop_joint_closes_the_loop(load):
    mech = load(*ARMS, loop())
    closing = mech.joints["d"]
    assert [other.name for other in mech.closing_joints] == ["d"]
    assert (closing.type, closing.parent, closing.child) == ("revolute", "bar", "right")
    np.testing.assert_array_equal(closing.position, [2, 0, 1])
    np.testing.assert_array_equal(closing.axis, [0, 1, 0])
    assert not closing.is_open
    assert (closing.limits, closing.effort, closing.velocity) == (None, None, None)
    assert mech.position_names == ["a", "b", "c", "d"]
    assert "assembled" not in actions(mech)


def test_what_a_loop_joint_carries(load):
    bounds = '<limit lower="-1" upper="2" velocity="3" effort="0"/>'
    spring = '<dynamics damping="0.5" spring_stiffness="7" spring_reference="0.25"/>'
    mech = load(*ARMS, loop(inside=HINGE + bounds + spring))
    closing = mech.joints["d"]
    assert (closing.damping, closing.stiffness, closing.rest, closing.velocity) == (
        0.5,
        7.0,
        (0.25,),
        3.0,
    )
    assert closing.limits.tolist() == [[-1.0, 2.0]]
    assert load(*ARMS, loop(inside=HINGE + '<limit velocity="3"/>')).joints["d"].limits is None


def test_a_loop_joint_may_have_an_actuator(load, tmp_path):
    """In the file that is written, too; its actuator comes behind those of the tree."""
    mech = load(*ARMS, loop(inside=HINGE + '<limit effort="3"/>'))
    assert mech.joints["d"].effort == 3.0
    assert mech.joints["d"].limits is None
    assert mech.actuator_names[-1] == "d"
    file = tmp_path / "driven.urdf"
    file.write_text(mech.to_urdf())
    assert load_urdf(file).actuator_names == mech.actuator_names


@pytest.mark.parametrize("type", LOOP_JOINT_TYPES)
def test_every_type_closes_loops(load, type):
    universal = JOINT_TYPES[type].needs_second_axis
    inside = HINGE + ('<axis2 xyz="0 0 3"/>' if universal else "")
    mech = load(*ARMS, loop(type, inside=inside))
    (closing,) = mech.closing_joints
    assert closing.type == type
    if JOINT_TYPES[type].needs_axis:
        assert closing.axis.tolist() == [0, 1, 0]
    if universal:
        assert closing.axis2.tolist() == [0, 0, 1]
        assert "<axis2>: length 3 scaled to 1" in actions(mech)["changed"]


def test_both_halves_have_a_pose_and_the_axis_is_a_vector_of_the_first(load):
    """Links turned against the world, halves turned against the links: against scipy's rotations."""
    turned = (
        link("world", ""),
        link("first"),
        link("second"),
        joint("a", "floating", "world", "first", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'),
        joint("b", "floating", "world", "second", '<origin xyz="1 2 4" rpy="0.5 -0.7 0.2"/>'),
    )
    halves = (
        'link="first" xyz="0.1 0 0.2" rpy="0.3 0.4 -0.5"',
        'link="second" xyz="0 0.2 -1" rpy="-0.2 1 2"',
    )
    mech = load(*turned, loop("universal", *halves, '<axis xyz="0.6 0.8 0"/><axis2 xyz="0 0 1"/>'))
    closing = mech.joints["d"]
    rotations = [Rotation.from_euler("xyz", rpy) for rpy in ([0.1, 0.2, 0.3], [0.5, -0.7, 0.2])]
    first, second = (
        rotation * Rotation.from_euler("xyz", rpy)
        for rotation, rpy in zip(rotations, ([0.3, 0.4, -0.5], [-0.2, 1.0, 2.0]), strict=True)
    )
    np.testing.assert_allclose(
        closing.position, [1, 2, 3] + rotations[0].apply([0.1, 0, 0.2]), atol=1e-15
    )
    np.testing.assert_allclose(
        closing.child_position, [1, 2, 4] + rotations[1].apply([0, 0.2, -1]), atol=1e-15
    )
    np.testing.assert_allclose(closing.axis, first.apply([0.6, 0.8, 0]), atol=1e-15)
    np.testing.assert_allclose(closing.axis2, first.apply([0, 0, 1]), atol=1e-15)
    np.testing.assert_allclose(
        matrix(closing.child_rotation), (second * first.inv()).as_matrix(), atol=1e-15
    )
    gap = np.linalg.norm(closing.child_position - closing.position)
    angle = abs(np.arcsin(closing.axis @ second.apply([0, 0, 1])))
    assert actions(mech)["assembled"].startswith(
        f"assembled: <loop_joint> 'd': joint frames {gap:.3g} m and {angle:.3g} rad apart at the file's zero; "
        "simulators start with the loop closed\n"
    )


def test_halves_apart_along_a_free_direction_are_no_gap(load):
    """A slide of 0.3 m and a turn about the hinge shift the coordinate's zero; they leave nothing to be assembled."""
    slide = load(
        *ARMS, loop("prismatic", second='link="right" xyz="0 0 1.25"', inside='<axis xyz="0 0 1"/>')
    )
    assert slide.joints["d"].child_position.tolist() == [2.0, 0.0, 1.25]
    turn = load(*ARMS, loop(second='link="right" xyz="0 0 1" rpy="0 0.4 0"'))
    np.testing.assert_allclose(
        turn.joints["d"].child_rotation, [np.cos(0.2), 0, np.sin(0.2), 0], atol=1e-15
    )
    for mech in (slide, turn):
        assert mech.joints["d"].is_open
        assert mech.degrees_of_freedom == 1
        assert "assembled" not in actions(mech)


def test_open_loops_are_assembled_or_refused(load, tmp_path):
    """The bar 1 m above the second arm's end, and closings that no motion of the plane can reach."""
    mech = load(*ARMS, loop(second='link="right" xyz="0 0 1.25"'))
    assert mech.joints["d"].is_open
    text = actions(mech)["assembled"]
    assert (
        "joint frames 0.25 m and 0 rad apart at the file's zero; simulators start with the loop closed\n"
        in text
    )
    largest = int(np.argmax(np.abs(mech.structure.assembly)))
    name, value = "abc"[largest], mech.structure.assembly[largest]
    assert text.endswith(
        f"\nassembled: pose: farthest from the file's zero is '{name}', at {value:.6g}"
    )
    assert abs(value) > 0.08
    for type, half, gap in (
        ("revolute", 'xyz="0 0 9"', "4 m and 0 rad"),
        ("revolute", 'xyz="0 0 1" rpy="0.25 0 0"', "0 m and 0.25 rad"),
        ("revolute", 'xyz="0 0.001 1"', "0.001 m and 0 rad"),
    ):
        message = f"joint 'd': found its two joint frames {gap} apart.*, expected"
        with pytest.raises(AssemblyError, match=message) as caught:
            load(*ARMS, loop(type, second=f'link="right" {half}'))
        assert str(caught.value).startswith(f"{tmp_path / 'robot.urdf'}: ")


def test_a_misfit_that_no_motion_changes_is_told(load):
    """Axes of a flat mechanism 1e-6 rad off: it moves, and the report says what stays."""
    mech = load(*ARMS, loop(second='link="right" xyz="0 0 1" rpy="1e-6 0 0"'))
    assert mech.degrees_of_freedom == 1
    assert "joint frames 0 m and 1e-06 rad apart" in actions(mech)["assembled"]
    assert (
        "0 m and 1e-06 rad stay, no motion of the tree changes them" in actions(mech)["assembled"]
    )


def test_rounding_is_no_gap_and_a_micrometre_is(load):
    assert (
        not load(*ARMS, loop(second='link="right" xyz="0 0 1.0000000000002"')).joints["d"].is_open
    )
    mech = load(*ARMS, loop(second='link="right" xyz="0 0 1.000001"'))
    assert mech.joints["d"].is_open
    assert "joint frames 1e-06 m and 0 rad apart" in actions(mech)["assembled"]


def test_links_of_fixed_joints_stand_for_their_body(load):
    tip = '<origin xyz="2 0 0" rpy="0 0 1.5707963267948966"/>'
    arms = (*ARMS, link("tip", ""), joint("f", "fixed", "bar", "tip", tip))
    mech = load(
        *arms,
        loop(
            first='link="tip"', second='link="right" xyz="0 0 1" rpy="0 0 1.57079632679"', inside=""
        ),
    )
    closing = mech.joints["d"]
    assert (closing.parent, closing.child) == ("bar", "right")
    np.testing.assert_array_equal(closing.position, [2, 0, 1])
    np.testing.assert_allclose(closing.axis, [0, 1, 0], atol=1e-15)  # x of the tip, the default
    with pytest.raises(
        UrdfError,
        match="<loop_joint> 'd': found links 'tip' and 'bar', both part of 'bar', expected",
    ):
        load(*arms, loop(first='link="tip"', second='link="bar"'))


def test_loops_on_the_world(load):
    """As link1, as link2, as a link fixed to it, and beside a floating base, where no link is called so."""
    pinned = 'link="bar" xyz="2 0 0"'
    for first, second in (
        (pinned, 'link="world" xyz="2 0 1"'),
        ('link="world" xyz="2 0 1"', pinned),
    ):
        mech = load(*ARMS, loop(first=first, second=second))
        closing = mech.joints["d"]
        assert (closing.parent, closing.child) == ("world", "bar")
        np.testing.assert_array_equal(closing.position, [2, 0, 1])
        assert not closing.is_open
    assert "reversed" in actions(load(*ARMS, loop(second='link="world" xyz="2 0 1"')))["changed"]
    with pytest.raises(
        UrdfError, match="world as the child .* expected the world as the parent: exchange"
    ):
        load(*ARMS, loop(second='link="world"', inside='<dynamics damping="1"/>'))
    free = (link("a"), link("b"), joint("j", "continuous", "a", "b"))
    mech = load(*free, loop("spherical", 'link="world" xyz="0 0 1"', 'link="b" xyz="0 0 1"'))
    assert (mech.joints["d"].parent, mech.joints["d"].child) == ("world", "b")
    post = load(
        *free, loop("spherical", 'link="b" xyz="0 0 1"', 'link="a" xyz="0 0 1"'), base="fixed"
    )
    assert (post.joints["d"].parent, post.joints["d"].child) == ("world", "b")


def test_turning_a_universal_loop_round_exchanges_its_axes(load):
    """The file's first axis is fixed in link1, whatever is parent: it is the second axis of the turned joint."""
    inside = '<axis xyz="1 0 0"/><axis2 xyz="0 1 0"/>'
    free = (link("world", ""), link("bar"), joint("a", "floating", "world", "bar", ""))
    closing = load(
        *free, loop("universal", second='link="world" xyz="2 0 1" rpy="0 0 0.3"', inside=inside)
    ).joints["d"]
    np.testing.assert_allclose(closing.axis, [-np.sin(0.3), np.cos(0.3), 0], atol=1e-15)
    np.testing.assert_allclose(
        matrix(closing.child_rotation) @ closing.axis2, [1, 0, 0], atol=1e-15
    )


def test_constraints_of_ros(load):
    origins = '<parent_origin xyz="2 0 0" rpy="0 0 0.5"/><child_origin xyz="0 0 1" rpy="0 0 0.5"/>'
    given = load(
        *ARMS, constraint(origins + '<parent_axis xyz="0 1 0"/><child_axis xyz="0 1 0"/>')
    ).joints["d"]
    pose = 'rpy="0 0 0.5"'
    same = load(
        *ARMS,
        loop(first=f'link="bar" xyz="2 0 0" {pose}', second=f'link="right" xyz="0 0 1" {pose}'),
    )
    for name in ("type", "parent", "child", "position", "axis", "child_position", "child_rotation"):
        np.testing.assert_array_equal(getattr(given, name), getattr(same.joints["d"], name))


def test_each_axis_of_a_constraint_lies_in_its_own_half(load):
    """Links turned differently, one hinge line: the axes coincide in the world, so nothing is to be assembled."""
    turned = joint(
        "e", "continuous", "world", "other", '<origin rpy="0 0 1.5707963267948966"/>' + HINGE
    )
    elements = (*ARMS, link("other"), turned)
    inside = '<parent_origin xyz="2 0 0"/><parent_axis xyz="0 1 0"/><child_origin xyz="0 -2 1"/>{}'
    text = constraint(inside.format('<child_axis xyz="1 0 0"/>')).replace('"right"', '"other"')
    closing = load(*elements, text)
    np.testing.assert_allclose(closing.joints["d"].child_rotation, [1, 0, 0, 0], atol=1e-15)
    assert "assembled" not in actions(closing)
    text = constraint(inside.format('<child_axis xyz="0 0 1"/>'), "universal").replace(
        '"right"', '"other"'
    )
    universal = load(*elements, text).joints["d"]
    np.testing.assert_allclose(universal.axis, [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(
        matrix(universal.child_rotation) @ universal.axis2, [0, 0, 1], atol=1e-15
    )
    ends = '<parent_origin xyz="2 0 0"/><child_origin xyz="0 0 1"/>'
    alone = load(*ARMS, constraint(ends + '<parent_axis xyz="0 1 0"/>')).joints[
        "d"
    ]  # the child's is the same then
    assert alone.axis.tolist() == [0, 1, 0]
    assert not alone.is_open
    with pytest.raises(AssemblyError, match=r"3\.14 rad apart"):
        load(*ARMS, constraint(ends + '<parent_axis xyz="0 1 0"/><child_axis xyz="0 -1 0"/>'))


def test_ball_constraints_of_drake(tmp_path):
    points = '<body_A name="bar"/><p_AP value="2 0 0"/><body_B name="right"/><p_BQ value="0 0 1"/>'
    file = tmp_path / "robot.urdf"
    text = "".join((*ARMS, ball(points), loop("fixed", name="e"), ball(points)))
    file.write_text(f'<robot name="r" xmlns:drake="http://drake.mit.edu">{text}</robot>')
    mech = load_urdf(file)
    assert [closing.name for closing in mech.closing_joints] == [
        "ball_constraint_1",
        "e",
        "ball_constraint_3",
    ]
    closing = mech.joints["ball_constraint_1"]
    assert (closing.type, closing.parent, closing.child) == ("spherical", "bar", "right")
    np.testing.assert_array_equal(closing.position, [2, 0, 1])
    assert (
        "<ball_constraint> 2: has no name and is called 'ball_constraint_3'"
        in actions(mech)["changed"]
    )
    file.write_text(f'<robot name="r">{text}</robot>')
    with pytest.raises(UrdfError, match=r"unbound prefix.*declare the prefix: <robot xmlns:drake="):
        load_urdf(file)


@pytest.mark.parametrize("closing", ["revolute", "spherical"])
def test_the_minitaur(tmp_path, closing):
    file = tmp_path / "minitaur.urdf"
    file.write_text(minitaur(closing))
    mech = load_urdf(file)
    assert len(mech.bodies) == 17
    assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(MASS, rel=1e-14)
    assert [joint.type for joint in mech.tree_joints] == ["floating"] + ["continuous"] * 16
    assert [joint.name for joint in mech.closing_joints] == [
        f"foot_{end}_{side}_" for side in ("right", "left") for end in ("front", "back")
    ]
    assert not any(joint.is_open for joint in mech.closing_joints)
    assert len(mech.actuator_names) == 8
    assert mech.degrees_of_freedom == 14
    assert mech.redundant_constraints == {"revolute": 12, "spherical": 4}[closing]


@pytest.mark.parametrize("type", LOOP_JOINT_TYPES)
def test_the_world_may_be_the_child_of_types_that_are_the_same_when_reversed(load, type):
    """The free translations of a joint are fixed in its parent: not of all types in its child."""
    parts = HINGE + ('<axis2 xyz="1 0 0"/>' if JOINT_TYPES[type].needs_second_axis else "")
    closing = loop(type, 'link="left" xyz="0 0 1"', 'link="world" xyz="0 0 1"', parts)
    if type in ("point_on_line", "point_on_plane", "universal_on_line", "universal_on_plane"):
        with pytest.raises(UrdfError, match=f"the world as the child of a {type} joint"):
            load(*ARMS, closing)
    else:
        assert load(*ARMS, closing).joints["d"].parent == "world"
