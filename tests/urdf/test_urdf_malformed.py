"""Malformed URDF files: one clear error each, nothing printed, the interpreter alive and the next file loads.

Several of these crash pybullet's loader when it gets them; a test that kills pytest has failed too.
"""

import math

import pytest

from scenes.urdf_text import INERTIAL, LIMIT, joint, link
from vigym.mechanism.elements.errors import UrdfError
from vigym.robot_files import load
from vigym.urdf.convert.load import load_urdf

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
EXPAND = r"plain URDF \(expand this file with xacro first\)"

GOOD = '<robot name="good">' + link("a") + "</robot>"


def robot(*elements: str) -> str:
    return '<robot name="r">\n' + "\n".join(elements) + "\n</robot>"


def pair(joint_text: str) -> str:
    return robot(link("a"), link("b"), joint_text)


def body(
    mass: str = '<mass value="1"/>',
    inertia: str = '<inertia ixx="1" iyy="1" izz="1"/>',
    more: str = "",
) -> str:
    return robot(link("a", f"<inertial>{mass}{inertia}</inertial>{more}"))


def geometry(shape: str, tag: str = "visual") -> str:
    return body(more=f"<{tag}><geometry>{shape}</geometry></{tag}>")


def hinge(inside: str, type: str = "revolute") -> str:
    return pair(joint("j", type, "a", "b", inside))


CORPUS = {
    "empty file": ("", "found invalid XML"),
    "no XML": ("\x00\x01garbage\xff", "found invalid XML"),
    "truncated": (GOOD[:40], "found invalid XML"),
    "unclosed": (GOOD.replace("</robot>", ""), "found invalid XML"),
    "unknown encoding": ('<?xml version="1.0" encoding="klingon"?>' + GOOD, "found invalid XML"),
    "unbound prefix": (
        '<robot name="r"><xacro:macro/></robot>',
        r"expand this file with xacro first",
    ),
    "entity bomb": (
        '<!DOCTYPE r [<!ENTITY e0 "e">'
        + "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
        + "]><robot name='&e11;'/>",
        "found the declaration of an entity, 'e0', expected none",
    ),
    "other root": ("<sdf><model/></sdf>", "found <sdf>, expected <robot>"),
    "no links": (robot(), "found 0 links"),
    "a file of groups": (robot('<group name="arm"/>'), "<group> and no <link>, as in an SRDF file"),
    "no link name": (robot("<link/>"), "<link>: found no name"),
    "empty link name": (robot(link("")), "found empty name"),
    "two links of one name": (robot(link("a"), link("a")), "two links named 'a'"),
    "joint without name": (
        pair('<joint type="fixed"><parent link="a"/><child link="b"/></joint>'),
        "found no name",
    ),
    "joint without type": (
        pair('<joint name="j"><parent link="a"/><child link="b"/></joint>'),
        "j': found no type",
    ),
    "unknown type": (hinge("", "hinge"), "type 'hinge', expected one of: fixed, revolute"),
    "two joints of one name": (
        robot(
            link("a"),
            link("b"),
            link("c"),
            joint("j", "fixed", "a", "b"),
            joint("j", "fixed", "a", "c"),
        ),
        "two joints named 'j'",
    ),
    "no parent": (
        pair('<joint name="j" type="fixed"><child link="b"/></joint>'),
        "'j': found no <parent>",
    ),
    "no child": (
        pair('<joint name="j" type="fixed"><parent link="a"/></joint>'),
        "'j': found no <child>",
    ),
    "parent without link": (
        pair('<joint name="j" type="fixed"><parent/><child link="b"/></joint>'),
        "'j' <parent>: found no link",
    ),
    "unknown parent": (pair(joint("j", "fixed", "x", "b")), "'j' <parent>: found unknown link 'x'"),
    "unknown child": (pair(joint("j", "fixed", "a", "x")), "'j' <child>: found unknown link 'x'"),
    "own parent": (pair(joint("j", "fixed", "b", "b")), "'b' as parent and child"),
    "two roots": (robot(link("a"), link("b")), r"2 roots \(links 'a', 'b' without parent\)"),
    "loop of two": (
        pair(joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a")),
        "a loop without root",
    ),
    "two parents": (
        robot(
            link("a"),
            link("b"),
            link("c"),
            joint("j", "fixed", "a", "c"),
            joint("k", "fixed", "b", "c"),
        ),
        "joint 'k' <child>: found link 'c', which is the child of joint 'j' already, .* this joint as <loop_joint>",
    ),
    "loop aside": (
        robot(
            link("r"),
            link("a"),
            link("b"),
            joint("j", "fixed", "a", "b"),
            joint("k", "fixed", "b", "a"),
        ),
        "links that no joint connects to the root, in a loop: 'a', 'b'",
    ),
    "world above the root": (
        robot(link("a"), link("world"), joint("j", "fixed", "a", "world")),
        "the world to be",
    ),
    "gazebo loop": (
        robot(link("a"), '<gazebo><joint name="l" type="revolute"/></gazebo>'),
        "closes a loop",
    ),
    "two limits": (hinge(LIMIT + LIMIT), "found 2 <limit> elements"),
    "nan limit": (hinge('<limit lower="nan" upper="1"/>'), 'found lower="nan"'),
    "infinite limit": (hinge('<limit upper="1e999"/>'), 'found upper="1e999"'),
    "negative effort": (
        hinge('<limit effort="-2"/>'),
        'found effort="-2", expected a number >= 0',
    ),
    "nan effort": (hinge('<limit effort="nan"/>'), 'found effort="nan"'),
    "negative velocity": (hinge('<limit velocity="-2"/>'), 'found velocity="-2"'),
    "negative damping": (hinge(LIMIT + '<dynamics damping="-1"/>'), 'found damping="-1"'),
    "nan friction": (hinge(LIMIT + '<dynamics friction="nan"/>'), 'found friction="nan"'),
    "zero axis": (hinge(LIMIT + '<axis xyz="0 0 0"/>'), 'found xyz="0 0 0", expected a direction'),
    "short axis": (
        hinge(LIMIT + '<axis xyz="0 1"/>'),
        'found xyz="0 1", expected 3 finite numbers',
    ),
    "commas": (hinge(LIMIT + '<axis xyz="0,1,0"/>'), "separated by blanks"),
    "four numbers": (hinge(LIMIT + '<origin xyz="0 0 0 1"/>'), "expected 3 finite numbers"),
    "nan origin": (hinge(LIMIT + '<origin rpy="0 nan 0"/>'), "<origin>: found rpy="),
    "mimic of nobody": (hinge(LIMIT + "<mimic/>"), "<mimic>: found no joint"),
    "no mass": (body(mass=""), "'a' <inertial>: found no <mass>"),
    "mass without value": (body(mass="<mass/>"), "<mass>: found no value"),
    "mass as text": (body(mass='<mass value="abc"/>'), 'found value="abc"'),
    "empty mass": (body(mass='<mass value=""/>'), "found empty value"),
    "mass with comma": (body(mass='<mass value="1,5"/>'), 'found value="1,5"'),
    "nan mass": (body(mass='<mass value="nan"/>'), 'found value="nan"'),
    "infinite mass": (body(mass='<mass value="1e999"/>'), 'found value="1e999"'),
    "negative mass": (
        body(mass='<mass value="-1"/>'),
        'found value="-1", expected a finite number >= 0',
    ),
    "python number": (body(mass='<mass value="1_0"/>'), 'found value="1_0"'),
    "xacro expression": (body(mass='<mass value="${m}"/>'), "xacro"),
    "xacro include": (
        robot(f'<xacro:include filename="leg.xacro" {XACRO}/>', link("a")),
        f"<robot>: found <xacro:include>, expected {EXPAND}",
    ),
    "xacro condition": (
        robot(link("a"), f'<xacro:if value="$(arg b)" {XACRO}>{link("b")}</xacro:if>'),
        f"<robot>: found <xacro:if>, expected {EXPAND}",
    ),
    "xacro macro in a shape": (
        geometry(f'<xacro:ball {XACRO}/><sphere radius="1"/>', "collision"),
        f"link 'a' <collision> <geometry>: found <xacro:ball>, expected {EXPAND}",
    ),
    "xacro macro in gazebo": (
        robot(link("a"), f'<gazebo reference="a"><xacro:rubber {XACRO}/></gazebo>'),
        f"<gazebo>: found <xacro:rubber>, expected {EXPAND}",
    ),
    "xacro name": (
        robot(link("${prefix}a")),
        rf'found name="\${{prefix}}a", expected {EXPAND}',
    ),
    "xacro name of a shape": (
        body(
            more='<collision name="$(arg n)"><geometry><sphere radius="1"/></geometry></collision>'
        ),
        rf'<collision> .*: found name="\$\(arg n\)", expected {EXPAND}',
    ),
    "xacro parent": (pair(joint("j", "fixed", "${a}", "b")), f"<parent>: found link=.*{EXPAND}"),
    "no inertia": (body(inertia=""), "found no <inertia>"),
    "inertia without izz": (body(inertia='<inertia ixx="1" iyy="1"/>'), "<inertia>: found no izz"),
    "negative inertia": (
        body(inertia='<inertia ixx="1" iyy="1" izz="-1"/>'),
        "<inertia>: found principal moments",
    ),
    "indefinite inertia": (
        body(inertia='<inertia ixx="1" iyy="1" izz="1" ixy="2"/>'),
        "expected all > 0",
    ),
    "triangle inequality": (
        body(inertia='<inertia ixx="1" iyy="1" izz="2.1"/>'),
        "the sum of the other two",
    ),
    "nan inertia": (body(inertia='<inertia ixx="nan" iyy="1" izz="1"/>'), 'found ixx="nan"'),
    "moving link without mass": (
        robot(link("a"), link("b", ""), joint("j", "continuous", "a", "b")),
        "link 'b': found no mass in it and what is fixed to it on the moving joint 'j'",
    ),
    "impossible link in a merged body": (
        robot(
            link("a"),
            link("b", INERTIAL.replace('izz="1"', 'izz="9"')),
            joint("j", "fixed", "a", "b"),
        ),
        "link 'b' <inertial> <inertia>: found principal moments",
    ),
    "no geometry": (body(more="<visual/>"), "<visual>: found no <geometry>"),
    "empty geometry": (geometry(""), "<geometry>: found nothing"),
    "unknown geometry": (geometry("<cone/>"), "<geometry>: found cone"),
    "two shapes": (geometry('<sphere radius="1"/><box size="1 1 1"/>'), "found sphere, box"),
    "negative radius": (geometry('<sphere radius="-1"/>', "collision"), 'found radius="-1"'),
    "short box": (geometry('<box size="1 2"/>', "collision"), 'found size="1 2"'),
    "negative box": (geometry('<box size="1 2 -3"/>'), 'found size="1 2 -3"'),
    "cylinder without length": (geometry('<cylinder radius="1"/>'), "found no length"),
    "mesh without file": (geometry("<mesh/>"), "<mesh>: found no filename"),
    "colour of three": (
        body(
            more='<visual><geometry><sphere radius="1"/></geometry><material><color rgba="1 1 1"/></material></visual>'
        ),
        "expected 4 finite numbers",
    ),
    "reserved joint name": (pair(joint("b:floating", "continuous", "a", "b")), "reserved"),
    "too many links": (robot(*(f'<link name="l{k}"/>' for k in range(2001))), "found 2001 links"),
}


@pytest.mark.parametrize(("text", "message"), CORPUS.values(), ids=CORPUS.keys())
def test_malformed_files_are_refused_quietly(text, message, tmp_path, capfd):
    file = tmp_path / "bad.urdf"
    file.write_text(text, encoding="latin-1" if "\xff" in text else "utf-8")
    with pytest.raises(UrdfError, match=message) as caught:
        load_urdf(file)
    error = str(caught.value)
    assert error.startswith(f"{file}: ")
    assert "expected" in error
    assert "\n" not in error
    file.write_text(GOOD)
    assert math.isclose(load_urdf(file).bodies["a"].mass, 1.0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["missing.urdf", ".", "nul\0.urdf"])
def test_files_that_cannot_be_read(name, tmp_path):
    with pytest.raises(UrdfError, match="expected a URDF file"):
        load_urdf(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "invalid XML .*, expected a URDF, MJCF or SDF file"),
        ("<html/>", "root element: found <html>, expected <robot>, <mujoco> or <sdf>$"),
    ],
)
def test_a_file_of_no_robot_is_told_which_files_have_one(text, error, tmp_path):
    (tmp_path / "page.xml").write_text(text)
    with pytest.raises(UrdfError, match=error):
        load(tmp_path / "page.xml")
