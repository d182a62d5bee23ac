"""What SDF files can have: elements that come in, notes on the rest, and files of strangers."""

import re
import xml.etree.ElementTree as ET

import gymnasium
import numpy as np
import pytest

from scenes.sdf_pieces import MASS, SHAPES, SURFACE, axis, document, joint, link
from vigym import UrdfError, load
from vigym.cli.app import run
from vigym.sdf.dialect import TABLE
from vigym.sdf.read import read_sdf

LIMITS = "<lower>-1</lower><upper>2</upper><effort>3</effort><velocity>4</velocity>"
DYNAMICS = (
    "<damping>1</damping><friction>1</friction><spring_stiffness>1</spring_stiffness>"
    "<spring_reference>1</spring_reference>"
)
# every element of the table, with every attribute
EVERY = (
    "<pose>0 0 1 0 0 0</pose><static>false</static>"
    '<frame name="f" attached_to="a"><pose relative_to="b" degrees="true" rotation_format="euler_rpy">'
    "0 0 0 90 0 0</pose></frame>"
    + link(
        "a",
        "<inertial><pose>0 0 0.1 0 0 0</pose><mass>1</mass><inertia><ixx>1</ixx><ixy>0.1</ixy><ixz>0.1</ixz>"
        "<iyy>1</iyy><iyz>0.1</iyz><izz>1</izz></inertia></inertial>"
        '<visual name="v"><geometry><box><size>1 1 1</size></box></geometry>'
        "<material><diffuse>1 0 0 1</diffuse></material></visual>"
        '<visual name="w"><geometry><box><size>1 1 1</size></box></geometry>'
        "<material><ambient>1 0 0 1</ambient></material></visual>"
        '<collision name="c"><geometry><box><size>1 1 1</size></box></geometry>'
        f"{SURFACE}</collision>{SHAPES}",
    )
    + link("b", '<pose frame="a">1 0 0 0 0 0</pose>' + MASS)
    + "".join(map(link, "cdefgh"))
    + joint("ab", "revolute", "a", "b", "<axis><xyz expressed_in='f'>0 1 0</xyz></axis>")
    + joint("bc", "revolute", "b", "c", "<pose>0 0 0 0 0 1</pose>" + axis(LIMITS, DYNAMICS))
    + joint(
        "cd",
        "revolute",
        "c",
        "d",
        '<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame><mimic joint="ab">'
        "<multiplier>2</multiplier><offset>1</offset><reference>1</reference></mimic></axis>",
    )
    + joint("de", "universal", "d", "e", axis() + axis(xyz="1 0 0", tag="axis2"))
    + joint("ef", "screw", "e", "f", axis() + "<screw_thread_pitch>1</screw_thread_pitch>").replace(
        "<child>f<", "<child>h<"
    )
    + joint("hg", "screw", "h", "g", axis() + "<thread_pitch>1</thread_pitch>")
    + joint("af", "revolute", "a", "f").replace("<child>f<", "<child>f link<")
    + joint(
        "gear",
        "gearbox",
        "b",
        "f link",
        axis(xyz="0 0 1") + axis(tag="axis2") + "<gearbox_ratio>2</gearbox_ratio>"
        "<gearbox_reference_body>a</gearbox_reference_body>",
    )
    + "<drake:ball_constraint>"
    + "".join(
        f"<drake:ball_constraint_{part}>{value}</drake:ball_constraint_{part}>"
        for part, value in {"body_A": "a", "body_B": "g", "p_AP": "1 0 0", "p_BQ": "0 1 0"}.items()
    )
    + "</drake:ball_constraint>"
).replace('<link name="f">', '<link name="f link">')


def told(root, file):
    """Return the reader's notes, or its error as one."""
    file.write_bytes(ET.tostring(root))
    try:
        return {str(note) for note in read_sdf(file).notes}
    except UrdfError as error:
        return {str(error)}


def test_elements_of_the_table_give_no_notes_but_on_meaningless_values(file):
    root = ET.fromstring(document(EVERY))
    tags = {re.sub(r"\{.*\}", "drake:", element.tag) for element in root.iter()}
    assert {key.rpartition("/")[2] for key in TABLE if key != "mesh/uri"} <= tags
    assert not {note for note in told(root, file) if "not known" in note or "found" in note}


def test_any_element_that_is_renamed_or_added_or_says_nonsense_is_told(file):
    root = ET.fromstring(document(EVERY))
    before = told(root, file)
    pairs = [(parent.tag, child) for parent in root.iter() for child in parent]
    kinds = {(parent, child.tag, *child.attrib): child for parent, child in pairs}
    for element in (root, *kinds.values()):
        written, tag = dict(element.attrib), element.tag
        text = element.text
        if text and tag != "uri":  # whether there is such a file is told where it is read
            element.text = "?"
            assert told(root, file) - before, tag
            element.text = text
        for attribute in written:
            element.set(attribute[::-1] + "x", element.attrib.pop(attribute))
            assert told(root, file) - before, (tag, attribute)
            element.attrib.clear()
            element.attrib.update(written)
        element.tag = f"{tag}x"
        assert told(root, file) - before, tag
        element.tag = tag
        element.set("more", "1")
        assert any("more='1'" in note for note in told(root, file)), tag
        del element.attrib["more"]
        ET.SubElement(element, "new")
        assert any("<new>" in note for note in told(root, file)), tag
        element.remove(element[-1])


def test_long_chains_of_frames_are_no_recursion(read):
    frames = (
        f'<frame name="f{k}" attached_to="f{k + 1}"><pose>1 0 0 0 0 0</pose></frame>'
        for k in range(1100)
    )
    last = '<frame name="f1100"/>'
    mech = read(link("a", '<pose relative_to="f0"/>' + MASS) + "".join(frames) + last)
    assert mech.bodies["a"].position[0] == 1100.0


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("", None),
        ("<lower>-1e16</lower><upper>1e16</upper>", None),
        ("<lower>-inf</lower><upper>inf</upper>", None),
        ("<lower>-1</lower><upper>Inf</upper>", [[-1.0, np.inf]]),
        ("<upper>2</upper>", [[-np.inf, 2.0]]),
        ("<lower>1</lower><upper>-1</upper>", None),
        ("<lower>0.5</lower><upper>0.5</upper>", [[0.5, 0.5]]),
    ],
)
@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_limits_that_are_missing_or_infinite_are_none(type, limit, expected, read):
    mech = read(link("a") + joint("j", type, "world", "a", axis(limit)))
    limits = mech.joints["j"].limits
    assert limits is None if expected is None else np.array_equal(limits, expected)
    said = any("<limit>" in note.element for note in mech.notes)
    assert said == (limit[:10] in ("<lower>1</", "<lower>0.5"))


@pytest.mark.parametrize(
    ("effort", "expected"), [("-1", None), ("inf", None), ("0", 0.0), ("3", 3.0)]
)
def test_efforts_without_bound_drive_nothing(effort, expected, read):
    limit = f"<effort>{effort}</effort><velocity>{effort}</velocity>"
    mech = read(link("a") + joint("j", "revolute", "world", "a", axis(limit)))
    assert mech.joints["j"].effort == expected
    assert mech.joints["j"].velocity == (expected or None)
    assert any(note.action == "passive" for note in mech.notes) == (not expected)


def test_a_universal_joint_has_the_limits_of_both_axes(read):
    first = axis("<lower>-1</lower><upper>1</upper><effort>2</effort>", "<damping>1</damping>")
    second = axis("<upper>2</upper><effort>3</effort>", "<damping>2</damping>", "1 0 0", "axis2")
    for type in ("universal", "revolute2"):
        mech = read(link("a") + joint("j", type, "world", "a", first + second))
        made = mech.joints["j"]
        assert made.type == "universal"
        assert np.array_equal(made.limits, [[-1.0, 1.0], [-np.inf, 2.0]])
        assert np.array_equal(made.axis, [0, 1, 0])
        assert np.array_equal(made.axis2, [1, 0, 0])
        assert np.array_equal(made.damping, [1.0, 2.0])
        assert made.effort == 2.0
        assert any("the smaller one counts" in note.message for note in mech.notes)


@pytest.mark.parametrize(
    ("first", "second", "factor"), [("0 1 0", "0 1 0", -0.04), ("0 -1 0", "0 2 0", 0.04)]
)
def test_a_gearbox_couples_two_hinges(first, second, factor, read):
    gear = axis(xyz=first) + axis(xyz=second, tag="axis2") + "<gearbox_ratio>0.04</gearbox_ratio>"
    gear += "<gearbox_reference_body>base</gearbox_reference_body>"
    mech = read(
        link("base")
        + link("rotor")
        + link("arm")
        + joint("gear", "gearbox", "rotor", "arm", gear)
        + joint("fast", "revolute", "base", "rotor")
        + joint("slow", "revolute", "base", "arm"),
    )
    coupling = mech.couplings["slow"]
    assert (coupling.ratio, coupling.offset) == (factor, 0.0)
    assert "gear" not in mech.joints


def test_mimics_and_screws(read):
    follower = '<axis><xyz>0 1 0</xyz><mimic joint="a"><multiplier>2</multiplier><offset>1</offset>'
    follower += "<reference>0.25</reference></mimic></axis>"
    screw = axis() + "<screw_thread_pitch>0.5</screw_thread_pitch>"
    old = axis() + "<thread_pitch>-4</thread_pitch>"
    mech = read(
        "".join(map(link, "abcd"))
        + joint("a", "revolute", "world", "a")
        + joint("b", "revolute", "a", "b", follower)
        + joint("c", "screw", "b", "c", screw)
        + joint("d", "screw", "c", "d", old)
    )
    assert (mech.couplings["b"].ratio, mech.couplings["b"].offset) == (2.0, 0.5)
    assert mech.couplings["c"].ratio == 0.5 / (2.0 * np.pi)
    assert mech.couplings["d"].ratio == 0.25


def test_of_the_axis_of_a_ball_joint_damping_is_read_and_notes_tell(read):
    ball = joint("j", "ball", "world", "a", axis("", "<damping>2</damping>"))
    mech = read(link("a") + ball)
    assert mech.joints["j"].damping == 2.0
    assert [note.element for note in mech.notes if note.action == "ignored"] == [
        "joint 'j' <axis> <xyz>"
    ]
    more = ball.replace("2</damping>", "2</damping><spring_reference>1</spring_reference>")
    ignored = [note.message for note in read(link("a") + more).notes if note.action == "ignored"]
    assert "spring_reference: a spherical joint has none" in ignored


def test_a_link_without_inertial_has_the_one_of_sdf_and_a_note_tells(read):
    mech = read(link("a", ""))
    assert mech.bodies["a"].mass == 1.0
    assert np.array_equal(mech.bodies["a"].inertia, np.eye(3))
    assert "as SDF says" in str(mech.notes[0])


def test_friction_is_of_each_shape(read):
    shapes = SHAPES.replace("</collision>", f"{SURFACE}</collision>", 1).partition(
        "<collision name='2'"
    )[0]
    mech = read(link("a", MASS + shapes), ground=True)
    first, second = mech.collisions.values()
    assert (list(first.friction[:2]), first.restitution, list(first.direction)) == (
        [0.5, 0.4],
        0.2,
        [0, 1, 0],
    )
    assert (list(second.friction[:2]), second.restitution) == ([1.0, 1.0], 0.0)


@pytest.mark.parametrize("kind", ["plane", "cone", "heightmap"])
@pytest.mark.parametrize("order", [1, -1])
def test_shapes_that_are_not_there_are_dropped(kind, order, read):
    """Parts, too, that follow a part which is dropped."""
    shape = f"<geometry><{kind}><size>1 1</size></{kind}></geometry>"
    parts = [f'<collision name="c">{shape}</collision>', f'<visual name="v">{shape}</visual>']
    mech = read(link("a", MASS + "".join(parts[::order])))
    assert [note.action for note in mech.notes] == ["dropped", "dropped"]
    assert {note.message.split(":")[0] for note in mech.notes} == {"not drawn", "touches nothing"}
    assert not mech.bodies["a"].shapes


def test_each_of_several_unknown_elements_is_noted(read):
    mech = read(link("a") + "<plugin/><plugin/><wind/><enable_wind/>")
    assert [note.action for note in mech.notes] == ["ignored"] * 4


@pytest.mark.parametrize(("version", "count"), [("1.12", 0), ("1.13", 1), ("2.0", 1)])
def test_a_version_newer_than_the_known_ones_is_noted(version, count, read):
    told = [note for note in read(link("a"), version=version).notes if "version" in note.message]
    assert [str(note.message) for note in told] == [f"version '{version}' is read as 1.12"] * count


def test_loops_are_closed_by_the_joint_that_leads_to_a_link_again(read):
    """Whatever the order in the file: what the root reaches first carries the link."""
    parts = [
        joint("c", "revolute", "b", "c"),
        joint("end", "revolute", "world", "c"),
        joint("b", "revolute", "a", "b"),
        joint("a", "revolute", "world", "a"),
    ]
    bars = [link(name, f"<pose>{k} 0 {k % 2} 0 0 0</pose>{MASS}") for k, name in enumerate("abc")]
    for order, closing in (((0, 1, 2, 3), "c"), ((3, 2, 0, 1), "end")):
        mech = read("".join((*bars, *(parts[k] for k in order))))
        assert list(mech.joints)[-1] == closing
        assert not mech.joints[closing].is_open
    ring = [link(name, f"<pose>{k} 0 {k % 2} 0 0 0</pose>{MASS}") for k, name in enumerate("abcd")]
    pairs = ["ab", "bc", "cd", "da"]
    mech = read("".join((*ring, *(joint(pair, "revolute", *pair) for pair in pairs))))
    assert list(mech.joints)[-1] == "da"


def test_the_robot_is_where_the_poses_of_model_and_root_place_it(read):
    pose = "<pose>0 0 1 0 0 0</pose>"
    for base in (None, "fixed"):
        mech = read(
            pose + link("a", pose + MASS) + link("b") + joint("j", "revolute", "a", "b"), base=base
        )
        assert mech.joints["j"].position.tolist() == [0.0, 0.0, 1.0]
        assert ("a" in mech.bodies) == (base is None)
    quarter = '<pose degrees="true">0 0 1 0 90 0</pose>'
    turned = read(quarter + link("a") + joint("j", "revolute", "world", "a", axis(xyz="0 0 1")))
    assert np.allclose(turned.joints["j"].axis, [1, 0, 0], rtol=0, atol=1e-15)
    whole = '<pose rotation_format="quat_xyzw">0 0 1 0 0 0 2</pose>'
    assert read(whole + link("a")).bodies["a"].position.tolist() == [0, 0, 1]


def test_of_a_world_the_model_that_moves_is_read(file):
    text = document(link("a")).replace(
        "</world>", "<light/><model name='g'><static>1</static></model></world>"
    )
    file.write_text(text)
    mech = load(file)
    assert list(mech.bodies) == ["a"]
    assert {note.element for note in mech.notes} == {
        "<sdf> <world> 'w' <model> 'g'",
        "<sdf> <world> 'w' <light>",
    }


def test_commands_and_environments_take_the_file(read, file, capsys):
    read(link("a") + joint("j", "revolute", "world", "a", axis("<effort>2</effort>")))
    assert run(["inspect", str(file)]) == 0
    assert "read by vigym alone" in capsys.readouterr().out
    env = gymnasium.make("vigym/Robot-v0", robot=str(file))
    env.reset(seed=0)
    assert env.step(env.action_space.sample())[0].shape == env.observation_space.shape
    file.write_text(document(link("a") * 2))
    assert run(["inspect", str(file)]) == 1
    assert "two links named 'a'" in capsys.readouterr().err
