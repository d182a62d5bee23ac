"""Loops and joints as other programs write them: Isaac Sim, Drake, onshape-to-robot, YAML beside a file."""

import sys

import numpy as np
import pytest

from scenes.urdf_text import ARMS, HINGE, INERTIAL, joint, link, loop
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.convert.load import load_urdf

DRAKE = '<robot name="r" xmlns:drake="http://drake.mit.edu">'
TURNED = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
# frames at the ends of a bar and an arm that coincide
ENDS = (
    link("closing_top_1", ""),
    link("closing_top_2", ""),
    joint("one", "fixed", "bar", "closing_top_1", '<origin xyz="2 0 0"/>'),
    joint("two", "fixed", "right", "closing_top_2", '<origin xyz="0 0 1"/>'),
)


def drake(type: str, inside: str = "") -> str:
    ends = '<parent link="world"/><child link="a"/>'
    text = f'<drake:joint name="j" type="{type}">{ends}{TURNED}{inside}</drake:joint>'
    return f"{DRAKE}{link('world', '')}{link('a')}{text}</robot>"


def load_text(tmp_path, text: str):
    (tmp_path / "robot.urdf").write_text(text)
    return load_urdf(tmp_path / "robot.urdf")


def notes(mech) -> str:
    return "\n".join(map(str, mech.notes))


def test_a_second_link1_is_a_link2(load):
    twice = loop().replace("link2", "link1")
    expected = "<loop_joint> 'd': found 2 <link1> elements, expected one, and the second as <link2>"
    with pytest.raises(UrdfError, match=expected):
        load(*ARMS, twice)


def test_a_bushing_is_a_loop_that_is_not_ignored(tmp_path):
    text = '<drake:linear_bushing_rpy><drake:bushing_frameA name="a"/></drake:linear_bushing_rpy>'
    with pytest.raises(UrdfError, match="<linear_bushing_rpy>: found a joint that closes a loop"):
        load_text(tmp_path, f"{DRAKE}{''.join(ARMS)}{text}</robot>")


@pytest.mark.parametrize(
    ("written", "type", "axes"),
    [
        ("ball", "spherical", ()),
        ("universal", "universal", (0, 1)),
        ("planar", "planar", (2,)),
        ("screw", "cylindrical", (1,)),
    ],
)
def test_joints_of_drake(tmp_path, written, type, axes):
    """A universal joint turns about x, then y, of its frame; the normal of a planar one is z."""
    inside = HINGE + '<dynamics damping="0.5"/>'
    inside += '<drake:screw_thread_pitch value="0.02"/>' if written == "screw" else ""
    mech = load_text(tmp_path, drake(written, inside))
    found = mech.joints["j"]
    plain = drake("floating").replace("drake:", "").replace("xmlns:drake", "xmlns:d")
    turned = load_text(tmp_path, plain).bodies["a"]
    assert (found.type, found.damping) == (type, 0.5)
    np.testing.assert_array_equal(found.position, [1, 2, 3])
    rotation = np.eye(3)
    from vigym.spatial import rotation_matrix

    rotation = rotation_matrix(turned.orientation)
    for column, axis in zip(axes, (found.axis, found.axis2), strict=False):
        np.testing.assert_allclose(axis, rotation[:, column], atol=1e-15)
    assert mech.degrees_of_freedom == {"ball": 3, "universal": 2, "planar": 3, "screw": 1}[written]
    if written == "screw":
        (coupling,) = mech.couplings.values()
        assert coupling.ratio == pytest.approx(0.02 / (2 * np.pi))


def test_joints_of_drake_that_are_wrong(tmp_path):
    for text, error in (
        (drake("hinge"), "joint 'j': found type 'hinge', expected one of: ball, universal, planar"),
        (drake("screw", HINGE), "joint 'j': found no <drake:screw_thread_pitch>, expected one"),
        (
            drake("screw", '<drake:screw_thread_pitch value="0"/>'),
            "joint 'j': found a pitch of 0, expected another number",
        ),
    ):
        with pytest.raises(UrdfError, match=error):
            load_text(tmp_path, text)


def test_closing_frames_of_onshape_to_robot_close_a_loop(load):
    mech = load(*ARMS, *ENDS)
    (closing,) = mech.closing_joints
    assert (closing.name, closing.type) == ("closing_top", "spherical")
    assert {closing.parent, closing.child} == {"bar", "right"}
    np.testing.assert_array_equal(closing.position, [2, 0, 1])
    assert mech.degrees_of_freedom == 1
    assert "links 'closing_top_1' and 'closing_top_2' close a loop" in notes(mech)
    by_hand = loop(first='link="closing_top_1"', second='link="closing_top_2"')
    assert [each.name for each in load(*ARMS, *ENDS, by_hand).closing_joints] == ["d"]
    assert not load(*ARMS, *ENDS[::2]).closing_joints


def with_yaml(tmp_path, content: str, *more: str, name: str = "robot.yaml"):
    (tmp_path / name).write_text(content)
    renamed = [part.replace("closing_top_", "end_") for part in ENDS]
    text = "".join((*ARMS, *renamed, *more))
    return load_text(tmp_path, f'<robot name="r">{text}</robot>')


@pytest.mark.parametrize("name", ["robot.yaml", "robot.yml"])
@pytest.mark.parametrize(("kind", "type"), [("3d", "spherical"), ("6D", "fixed")])
def test_loops_of_a_yaml_file(tmp_path, name, kind, type):
    pytest.importorskip("yaml")
    content = f"closed_loop: [['end_1', two]]\ntype: ['{kind}']\n"
    mech = with_yaml(tmp_path, content, name=name)
    (closing,) = mech.closing_joints
    assert (closing.name, closing.type, closing.child) == ("end_1-two", type, "right")
    np.testing.assert_array_equal(closing.position, [2, 0, 1])
    assert f"loops of {name} are closed: 1" in notes(mech)


def test_types_and_motors_of_a_yaml_file(tmp_path):
    pytest.importorskip("yaml")
    extra = [
        part
        for name in ("s", "u", "f")
        for part in (link(name), joint(f"to {name}", "revolute", "world", name))
    ]
    content = (
        "closed_loop: [[end_1, end_2]]\ntype: [3d]\nname_mot: [to s]\n"
        "joint_name: [to s, to u, to f]\njoint_type: [SPHERICAL, UJOINT_XZ, FIXED]\n"
    )
    joints = with_yaml(tmp_path, content, *extra).joints
    assert (joints["to s"].type, joints["to s"].limits) == ("spherical", None)
    universal = joints["to u"]
    assert universal.type == "universal"
    assert (universal.axis.tolist(), universal.axis2.tolist()) == ([1, 0, 0], [0, 0, 1])
    assert "to f" not in joints
    (tmp_path / "robot.yaml").write_text(
        "closed_loop: [[end_1, end_2]]\ntype: [3d]\nname_mot: [to u]"
    )
    assert load_urdf(tmp_path / "robot.urdf").actuator_names == ["to u"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("closed_loop: [[end_1, gone]]\ntype: [3d]", "closed_loop: found .*gone.*, expected links"),
        ("closed_loop: [[end_1]]\ntype: [3d]", "found .*end_1.*, expected lists of 2 names"),
        ("closed_loop: end_1\ntype: [3d]", "closed_loop: found None, expected lists of 2 names"),
        ("closed_loop: [[end_1, end_2]]", "closed_loop: found 1 entries, expected 0 as of type"),
        ("closed_loop: [[end_1, end_2]]\ntype: [2d]", "type: found .*2d.*, expected 3d or 6d"),
        ("closed_loop: [[end_1, end_2]]\ntype: [3]", "type: found .3., expected a list of names"),
        ("closed_loop: [", "found invalid YAML"),
        ("closed_loop: " + "[" * 600, "found invalid YAML"),
        (
            "closed_loop: [[end_1, end_2]]\ntype: [3d]\njoint_name: [a]\njoint_type: [UJOINT_XX]",
            "joint_type: found 'UJOINT_XX', expected SPHERICAL",
        ),
        ("closed_loop: []" + " " * (1 << 20), "bytes, more than"),
    ],
    ids=range(10),
)
def test_a_yaml_file_that_is_wrong(tmp_path, content, error):
    pytest.importorskip("yaml")
    with pytest.raises(UrdfError, match=rf"robot.yaml: .*{error}|robot.yaml.*{error}"):
        with_yaml(tmp_path, content)


def test_a_yaml_file_of_something_else_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.setattr("vigym.urdf.read.beside.find_spec", lambda name: None)
    assert not with_yaml(tmp_path, "controllers: {}").closing_joints
    with pytest.raises(UrdfError, match=r"pip install 'vigym\[yaml\]'"):
        with_yaml(tmp_path, "closed_loop: []")


def test_a_link_named_as_a_closing_frame_may_have_mass(load):
    heavy = [part.replace('_1"></link>', f'_1">{INERTIAL}</link>') for part in ENDS]
    assert len(load(*ARMS, *heavy).closing_joints) == 1
