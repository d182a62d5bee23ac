"""Files that pybullet's loader alone reads wrongly without a word, or crashes on though they are fine."""

import locale

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from scenes.urdf_text import INERTIAL, joint, link
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.urdf.convert import cross_check
from vigym.urdf.convert.load import load_urdf


def test_long_lines_do_not_cut_numbers(tmp_path):
    """One line of more than 8191 characters: the loader alone cuts a number at each multiple."""
    masses = [1.2345678901 + k for k in range(60)]
    links = "".join(link(f"l{k}", INERTIAL.replace('"1"', f'"{m}"')) for k, m in enumerate(masses))
    joints = "".join(joint(f"j{k}", "continuous", f"l{k}", f"l{k + 1}") for k in range(59))
    file = tmp_path / "line.urdf"
    file.write_text(f'<robot name="r">{links}{joints}</robot>')
    assert [body.mass for body in load_urdf(file).bodies.values()] == masses


def test_a_file_written_again_is_read_again(load):
    first = load(link("a"))
    second = load(link("a", INERTIAL.replace('mass value="1"', 'mass value="2"')))
    assert [mech.bodies["a"].mass for mech in (first, second)] == [1.0, 2.0]


def test_tabs_and_newlines_separate_numbers(load):
    mech = load(
        link("a"),
        link("b"),
        joint("j", "continuous", "a", "b", '<axis xyz="0\t0\n1"/><origin xyz="1\t2\n3"/>'),
    )
    assert mech.joints["j"].axis.tolist() == [0.0, 0.0, 1.0]
    assert mech.joints["j"].position.tolist() == [1.0, 2.0, 3.0]


def test_the_locale_changes_no_number(load, monkeypatch):
    """The importer reads under the C locale and leaves the user's as it was."""
    pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
    calls = []
    real = locale.setlocale
    monkeypatch.setattr(
        cross_check.locale, "setlocale", lambda *args: calls.append(args) or real(*args)
    )
    before = real(locale.LC_NUMERIC)
    mech = load(link("a", INERTIAL.replace('mass value="1"', 'mass value="1.7"')))
    assert mech.bodies["a"].mass == 1.7
    assert calls == [(locale.LC_NUMERIC,), (locale.LC_NUMERIC, "C"), (locale.LC_NUMERIC, before)]
    assert real(locale.LC_NUMERIC) == before


def test_the_loader_reads_a_robot_once_and_another_one_again(load, monkeypatch):
    pybullet = pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
    calls, real = [], pybullet.connect
    monkeypatch.setattr(pybullet, "connect", lambda *args: calls.append(args) or real(*args))
    for mass in (3.25, 3.25, 3.5):
        made = load(link("a", INERTIAL.replace('mass value="1"', f'mass value="{mass}"')))
        assert made.bodies["a"].mass == mass
    assert len(calls) == 2


def test_a_number_that_the_loader_reads_differently_is_an_error(load, monkeypatch):
    pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
    real = cross_check._clean_copy
    for change in (
        ("mass value='1.0'", "mass value='1.1'"),
        ("rpy='0.0 0.0 0.0'", "rpy='0.1 0 0'"),
        ("effort='3.0'", "effort='4'"),
    ):
        old, new = (text.replace("'", '"') for text in change)
        monkeypatch.setattr(
            cross_check,
            "_clean_copy",
            lambda *args, old=old, new=new: real(*args).replace(old, new),
        )
        with pytest.raises(UrdfError, match="found by pybullet .*, expected"):
            load(link("a"), link("b"), joint("j", "revolute", "a", "b"))


def test_unusual_but_well_formed_files(tmp_path):
    long, text = "n" * 3000, link("ein Glied ü")
    encoded = f'<?xml version="1.0" encoding="utf-16"?><robot name="r">{text}</robot>'.encode(
        "utf-16"
    )
    file = tmp_path / "robot.urdf"
    contents = {
        "byte order mark": b"\xef\xbb\xbf" + f'<robot name="r">{text}</robot>'.encode(),
        "blanks around": b"\n\n<?xml version='1.0'?>"
        + f'<robot name="r">{text}</robot>'.encode()
        + b"\n\0",
        "utf-16": encoded,
        "long names": f'<robot name="r">{link(long)}{link("b")}{joint(long, "continuous", long, "b")}</robot>'.encode(),
        "namespace": f'<robot name="r" xmlns="http://drake.mit.edu">{text}</robot>'.encode(),
        "definitions of xacro": (
            '<robot name="r" xmlns:x="http://www.ros.org/wiki/xacro"><x:arg name="p" default=""/>'
            f'<x:property name="m" value="${{1 + 1}}"/>{text}</robot>'
        ).encode(),
        "deep": f'<robot name="r">{text}{"<x>" * 500}{"</x>" * 500}</robot>'.encode(),
    }
    for content in contents.values():
        file.write_bytes(content)
        assert len(load_urdf(file).bodies) >= 1


def test_long_chains_load(tmp_path):
    count = 300
    chain = [link(f"l{k}") for k in range(count)]
    chain += [
        joint(f"j{k}", "continuous", f"l{k}", f"l{k + 1}", '<origin xyz="0 0 1"/>')
        for k in range(count - 1)
    ]
    file = tmp_path / "chain.urdf"
    file.write_text('<robot name="r">' + "".join(chain) + "</robot>")
    assert load_urdf(file).bodies[f"l{count - 1}"].position.tolist() == [0.0, 0.0, count - 1.0]


@pytest.mark.parametrize("type", JOINT_TYPES)
def test_every_joint_type_is_read_with_its_place_and_axes(load, type):
    placed = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>'
    if JOINT_TYPES[type].needs_second_axis:
        placed += '<axis2 xyz="1 0 0"/>'
    damping = '<dynamics damping="0.5"/>' if type != "fixed" else ""
    mech = load(link("world", ""), link("b"), joint("j", type, "world", "b", placed + damping))
    if type == "fixed":
        assert mech.degrees_of_freedom == 0
        return
    found = mech.joints["j"]
    turn = Rotation.from_euler("xyz", (0.1, 0.2, 0.3))
    assert (found.type, found.damping) == (type, 0.5)
    assert found.position.tolist() == [1.0, 2.0, 3.0]
    if JOINT_TYPES[type].needs_axis:
        np.testing.assert_allclose(found.axis, turn.apply((0, 1, 0)), atol=1e-12)
    if JOINT_TYPES[type].needs_second_axis:
        np.testing.assert_allclose(found.axis2, turn.apply((1, 0, 0)), atol=1e-12)


def test_axes_of_a_universal_joint_are_perpendicular(load):
    parts = joint("j", "universal", "a", "b", '<axis xyz="0 1 0"/><axis2 xyz="0.6 0.8 0"/>')
    with pytest.raises(UrdfError, match="<axis2>: found xyz=.*expected a direction perpendicular"):
        load(link("a"), link("b"), parts)
    mech = load(link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis2 xyz="1 0 0"/>'))
    assert any("<axis2>: a revolute joint has one axis" in str(note) for note in mech.notes)


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_bounds_that_are_not_given_are_none_and_every_blank_is_told(load, type):
    """As MuJoCo and Bullet read them; URDF's own default of 0 holds where the other one is given."""
    cases = {
        "": (None, "no lower and upper is read as a joint without limits"),
        'lower="0" upper="0"': ([[0, 0]], "lower = upper = 0: the joint is locked there"),
        'lower="0.5" upper="0.5"': ([[0.5, 0.5]], "lower = upper = 0.5: the joint is locked"),
        'lower="-2"': ([[-2, 0]], "no upper: taken as 0"),
        'upper="-2"': (None, "lower 0 > upper -2 is read as a joint without limits"),
    }
    for bounds, (limits, told) in cases.items():
        limit = f'<limit {bounds} effort="3" velocity="4"/>'
        mech = load(link("a"), link("b"), joint("j", type, "a", "b", limit))
        found = mech.joints["j"].limits
        assert (found if found is None else found.tolist()) == limits
        assert any(f"joint 'j' <limit>: {told}" in str(note) for note in mech.notes)
    limit = '<limit lower="0" upper="-1" effort="3"/>'  # as Bullet writes none
    mech = load(link("a"), link("b"), joint("j", type, "a", "b", limit))
    assert mech.joints["j"].limits is None
    assert not any("<limit>" in str(note) for note in mech.notes)


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_a_joint_without_limit_has_no_bounds(load, type):
    mech = load(link("a"), link("b"), joint("j", type, "a", "b", ""))
    assert mech.joints["j"].limits is None
    assert any("joint 'j': no <limit> is read as a joint" in str(note) for note in mech.notes)


@pytest.mark.parametrize(("name", "blank"), [("velocity", 0), ("velocity", -1), ("effort", -1)])
def test_blanks_of_exporters_are_no_limits(load, name, blank):
    limit = f'<limit {name}="{blank}"/>'
    mech = load(link("a"), link("b"), joint("j", "continuous", "a", "b", limit))
    assert (mech.joints["j"].velocity, mech.joints["j"].effort) == (None, None)
    told = f"joint 'j' <limit>: {name} {blank} is a blank"
    assert any(told in str(note) for note in mech.notes)


def test_a_robot_without_name_is_called_as_its_file(tmp_path):
    file = tmp_path / "crane.urdf"
    file.write_text(f"<robot>{link('a')}</robot>")
    mech = load_urdf(file)
    assert mech.name == "crane"
    assert any("no name and is called 'crane'" in str(note) for note in mech.notes)
