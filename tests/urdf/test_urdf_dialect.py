"""Nothing of a file is left out in silence: elements and attributes that are not read are noted."""

import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from scenes.urdf_text import ARMS, HINGE, INERTIAL, LIMIT, ball, constraint, joint, link, loop
from vigym import assets
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.spatial import rotation_from_rpy
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.dialect import TABLE
from vigym.urdf.read.links import read_robot
from vigym.urdf.read.xml import local_name, parse_xml

ROOT = Path(assets.path("minitaur")).parents[1]
SHIPPED = sorted(ROOT.glob("*/*.urdf"))
SHAPES = "".join(
    f"<collision><geometry>{shape}</geometry></collision>"
    for shape in (
        '<box size="1 1 1"/>',
        '<sphere radius="1"/>',
        '<cylinder radius="1" length="1"/>',
        '<capsule radius="1" length="1"/>',
        '<mesh filename="a.stl" scale="1 1 1"/>',
    )
)
DRAKE = 'xmlns:drake="http://drake.mit.edu"'
SCREW = '<drake:screw_thread_pitch value="0.02"/></joint>'
POSE = 'xyz="0 0 0" rpy="0 0 0"'
# every element of the table, with every attribute
EVERY = (
    link("nut"),
    joint("s", "screw", "world", "nut", HINGE)
    .replace("</joint>", SCREW)
    .replace("joint ", "drake:joint ")
    .replace("/joint", "/drake:joint"),
    '<material name="red"><color rgba="1 0 0 1"/></material>'
    '<mujoco><compiler meshdir="." strippath="true"/></mujoco>'
    '<gazebo reference="left"><mu1 value="1"/><mu2 value="1"/><fdir1 value="1 0 0"/></gazebo>',
    *ARMS,
    link(
        "tip",
        f'<inertial><origin {POSE}/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
        f'izz="1"/></inertial><visual name="v"><origin {POSE}/><geometry><box size="1 1 1"/></geometry>'
        '<material name="red"/></visual><contact><lateral_friction value="1" across="1" backward="1" '
        'direction="1 0 0"/><spinning_friction value="0"/><restitution value="0"/></contact>'
        f'{SHAPES}<skate name="s" position="0 0 0" direction="1 0 0"/>'
        '<collision touches="ground"><geometry><sphere radius="1"/></geometry><contact/></collision>'
        '<wheel name="w" position="0 0 0" axis="1 0 0" radius="1"/>',
    ),
    joint(
        "e",
        "revolute",
        "bar",
        "tip",
        HINGE + LIMIT + f"<origin {POSE}/>"
        '<dynamics damping="0" friction="0" spring_stiffness="0" spring_reference="0" armature="0"/>'
        '<mimic joint="c" multiplier="2" offset="0"/><motor kp="1" kd="0" effort="1" targets="0 1">'
        '<model voltage="1" resistance="1" torque_constant="1" viscous="0" currents="0 1" '
        'torques="0 1"/></motor>',
    ),
    '<spring name="s" a="world" b="tip" point_a="0 0 0" point_b="0 0 0" stiffness="1" '
    'rest_length="0" damping="0"/><pair a="left" b="right"/>'
    '<coupling name="g" type="gear" joint="a" other="b" ratio="2" offset="0"/>',
    loop(
        "universal",
        f'link="bar" {POSE}',
        f'link="right" {POSE}',
        HINGE + '<axis2 xyz="1 0 0"/><limit effort="0"/><dynamics damping="0"/>',
    ),
    constraint(
        f'<parent_origin {POSE}/><child_origin {POSE}/><parent_axis xyz="0 1 0"/>'
        '<child_axis xyz="0 1 0"/>'
    ).replace('"d"', '"f"'),
    ball(
        '<body_A name="bar"/><body_B name="right"/><p_AP value="2 0 0"/><p_BQ value="0 0 1"/>', ""
    ).replace("ball_constraint>", 'ball_constraint name="g">', 1),
)


def read(root: ET.Element, file: Path) -> list[str]:
    """Return the reader's notes, or its error as one."""
    file.write_bytes(ET.tostring(root))
    try:
        return [str(note) for note in read_robot(parse_xml(file, "robot")).notes]
    except UrdfError as error:
        return [str(error)]


def elements_of(path_or_text: Path | str) -> list[ET.Element]:
    text = path_or_text.read_text() if isinstance(path_or_text, Path) else path_or_text
    root = ET.fromstring(text)
    return [root, *(each for each in root.iter() if each is not root)]


def by_kind(root: ET.Element) -> list[ET.Element]:
    """Return one of all elements with the same tag and attributes."""
    return list({(each.tag, *each.attrib): each for each in root.iter()}.values())


def assert_told(text: Path | str, tmp_path) -> None:
    """Rename one attribute after the other; then add one to all elements."""
    root, *_ = elements_of(text)
    before = set(read(root, tmp_path / "robot.urdf"))
    for element in by_kind(root):
        written = dict(element.attrib)
        for attribute in written:
            element.set(attribute[::-1] + "x", element.attrib.pop(attribute))
            assert set(read(root, tmp_path / "robot.urdf")) - before, (element.tag, attribute)
            element.attrib.clear()
            element.attrib.update(written)
    for element in root.iter():
        element.set("more", element.tag)
    told = [note for note in read(root, tmp_path / "robot.urdf") if "more=" in note]
    assert len(told) == len(list(root.iter()))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_any_attribute_that_is_renamed_or_added_in_a_shipped_file_is_told(file, tmp_path):
    assert_told(file, tmp_path)


def test_any_attribute_that_is_renamed_or_added_to_any_element_is_told(tmp_path):
    text = f'<robot name="r" version="1.0" {DRAKE}>{"".join(EVERY)}</robot>'
    assert {local_name(each) for each in elements_of(text)} == set(TABLE)
    assert not [note for note in read(ET.fromstring(text), tmp_path / "r") if "not known" in note]
    assert_told(text, tmp_path)


def test_unknown_elements_are_told_wherever_they_are(tmp_path):
    root = ET.fromstring(f'<robot name="r" {DRAKE}>{"".join(EVERY)}</robot>')
    for element in by_kind(root):
        if element.tag != "gazebo":  # its settings are those of a simulator, told together
            ET.SubElement(element, "new")
            told = [note for note in read(root, tmp_path / "r.urdf") if "<new>" in note]
            assert told, element.tag
            element.remove(element[-1])


@pytest.mark.parametrize("version", ["1.1", "1.2", "2.0"])
def test_quaternions_are_read_from_version_1_1_on(version, tmp_path):
    rng = np.random.default_rng(0)
    for rpy in [*rng.uniform(-3, 3, (5, 3)), (0.3, math.pi / 2, 0.2)]:
        matrix = rotation_from_rpy(np.array(rpy))
        x, y, z, w = quaternion(matrix)
        file = tmp_path / "r.urdf"
        text = "".join(
            (
                link("a"),
                link("b"),
                joint(
                    "j", "continuous", "a", "b", f'<origin quat_xyzw="{x} {y} {z} {2 * w - w}"/>'
                ),
            )
        )
        file.write_text(f'<robot name="r" version="{version}">{text}</robot>')
        axis = load_urdf(file).joints["j"].axis
        np.testing.assert_allclose(axis, matrix[:, 0], atol=1e-14)
        file.write_text(f'<robot name="r">{text}</robot>')
        mech = load_urdf(file)
        assert mech.joints["j"].axis.tolist() == [1, 0, 0]
        assert any("joint 'j' <origin>: quat_xyzw=" in str(note) for note in mech.notes)


def quaternion(matrix):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(matrix).as_quat()


@pytest.mark.parametrize(
    ("attributes", "error"),
    [
        ('quat_xyzw="0 0 0 1" rpy="0 0 0"', "<origin>: found rpy and quat_xyzw, expected one"),
        ('quat_xyzw="0 0 0 0"', 'found quat_xyzw="0 0 0 0", expected a rotation'),
        ('quat_xyzw="0 0 1"', "expected 4 finite numbers"),
    ],
)
def test_no_rotation_is_an_error(attributes, error, tmp_path):
    text = link("a") + link("b") + joint("j", "continuous", "a", "b", f"<origin {attributes}/>")
    (tmp_path / "r.urdf").write_text(f'<robot name="r" version="1.1">{text}</robot>')
    with pytest.raises(MechanismError, match=error):
        load_urdf(tmp_path / "r.urdf")


def test_a_quaternion_of_another_length_and_an_odd_version_are_told(tmp_path):
    inside = '<origin quat_xyzw="0 0 2 2"/>' + INERTIAL.removeprefix("<inertial>")
    for version, told in (
        ("1.1", "quat_xyzw of length 2.82842712 scaled to 1"),
        ("one", "<robot>: version='one' is read as 1.0"),
    ):
        (tmp_path / "r.urdf").write_text(
            f'<robot name="r" version="{version}">{link("a", "<inertial>" + inside)}</robot>'
        )
        assert any(told in str(note) for note in load_urdf(tmp_path / "r.urdf").notes)


XACRO = (
    '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="3"/>'
    '<xacro:macro name="part"><link name="a"><inertial><mass value="${2 * m}"/>'
    '<inertia ixx="1" iyy="1" izz="1"/></inertial></link></xacro:macro><xacro:part/></robot>'
)
# stands for the program, which knows one macro: the real one is in none of the test's packages
PROGRAM = """#!{python}
import sys
text = open(sys.argv[1]).read()
if "xacro:part/" not in text:
    sys.exit("no such macro")
link = text[text.index("<link") : text.index("</xacro:macro>")].replace("${{2 * m}}", "6")
print(f'<robot name="r">{{link}}</robot>')
"""


def test_xacro_expands_files_of_its_own_ending_where_it_is_installed(tmp_path, monkeypatch):
    for name in ("r.xacro", "r.urdf"):
        (tmp_path / name).write_text(XACRO)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("r.xacro", "r.urdf"):
        with pytest.raises(UrdfError, match="expand this file with xacro first"):
            load_urdf(tmp_path / name)
    program = tmp_path / "bin" / "xacro"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    mech = load_urdf(tmp_path / "r.xacro")
    assert mech.bodies["a"].mass == 6.0
    assert f"changed: <robot>: expanded by {program}" in map(str, mech.notes)
    with pytest.raises(UrdfError, match="expand this file with xacro first"):
        load_urdf(tmp_path / "r.urdf")
    (tmp_path / "r.xacro").write_text("<robot/>")
    with pytest.raises(UrdfError, match=r"xacro cannot expand \(no such macro\), expected xacro"):
        load_urdf(tmp_path / "r.xacro")
