"""What `vigym inspect` tells of files: sound, odd and faulty ones."""

import json

import pytest

from scenes.command_line import said, table
from vigym import assets
from vigym.cli.app import run

FOUR_BAR = str(assets.path("four_bar"))


def test_inspect_tells_what_a_file_holds(capsys):
    out = said(capsys, "inspect", FOUR_BAR)
    assert out.startswith("four_bar: 0.81 kg, bodies 3, joints 4, loops 1, actuated 1\n")
    assert "degrees of freedom 1, redundant constraints 3\n" in out
    assert "3 of 5 rows redundant, not imposed" in out
    assert (
        "velocity limit 30 ignored: only motors enforce it (add_motor), and this joint has none"
        in out
    )
    found = json.loads(said(capsys, "inspect", FOUR_BAR, "--json", "-"))
    assert (found["degrees_of_freedom"], found["redundant_constraints"]) == (1, 3)
    assert [joint["name"] for joint in found["joints"] if joint["closes_loop"]] == ["tip"]
    assert sum(body["mass"] for body in found["bodies"]) == pytest.approx(found["mass"])


@pytest.mark.parametrize(
    ("spec", "line"),
    [(None, "read by vigym alone; pybullet, "), (object(), "read by vigym and by pybullet, ")],
)
def test_inspect_tells_who_has_read_the_file(capsys, monkeypatch, spec, line):
    monkeypatch.setattr("vigym.cli.inspect.find_spec", lambda name: spec)
    assert f"\n{line}" in said(capsys, "inspect", FOUR_BAR)


def link(name, moments, mass=1.0, size=""):
    xx, yy, zz = moments
    shape = f'<visual><geometry><box size="{size}"/></geometry></visual>' if size else ""
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/></inertial>{shape}</link>\n'
    )


def test_inspect_warns_of_inertias_that_are_odd(capsys, tmp_path):
    file = tmp_path / "odd.urdf"
    links = [
        link("sound", (1e-3, 2e-3, 2.5e-3), size="0.1 0.1 0.1"),
        link("large", (1, 2, 2.5), size="0.1 0.1 0.1"),
        link("plate", (1, 1, 2)),
        link("guess", (1, 1, 1)),
        link("point", (1e-18, 2e-18, 2.5e-18)),
    ]
    joints = [
        f'<joint name="to_{name}" type="continuous"><parent link="sound"/><child link="{name}"/></joint>\n'
        for name in ("large", "plate", "guess", "point")
    ]
    file.write_text(f'<robot name="odd">\n{"".join(links + joints)}</robot>\n')
    found = json.loads(said(capsys, "inspect", file, "--json", "-"))
    checks = {body["name"]: body["check"] for body in found["bodies"]}
    assert checks == {
        "sound": "ok",
        "large": "too large: mass 1.7 m from its centre, shapes reach 0.087 m",
        "plate": "flat: a plate or rod without thickness",
        "guess": "three equal moments: a ball or cube, or a guess",
        "point": "too small: mass 1.7e-09 m from its centre, denser than matter",
    }


def hinged(name, parent, child, more="", type="continuous"):
    return f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>\n'


def test_inspect_shows_what_can_be_read_of_a_faulty_file_and_all_its_faults(capsys, tmp_path):
    file = tmp_path / "wrong.urdf"
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    point, huge = link("point", (0, 0, 0)), link("huge", (1, 1, 9), mass=2.5)
    parts = [
        link("a", (1, 1, 1)), link("b", (0, 0, 0)), point, huge, link("c", ("x", 1, 1)),
        hinged("swing", "a", "b", limit, "revolute"), hinged("weld", "a", "point", type="fixed"),
        hinged("turn", "a", "huge"), hinged("lost", "b", "c", '<axis xyz="0 1"/>'),
        '<loop_joint name="shut" type="spherical"><link1 link="b"/><link2 link="huge"/></loop_joint>\n',
    ]  # fmt: skip
    file.write_text(f'<robot name="wrong">\n{"".join(parts)}</robot>\n')
    assert run(["inspect", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("wrong: faults 4; readable: 5.5 kg, links 4, joints 4, loops 1\n")
    places = [row[0].strip() for row in table(out, "faults\n")]
    inertia = "<inertial> <inertia>"
    assert places == [
        f"link 'c' {inertia}",
        "joint 'lost' <axis>",
        f"link 'b' {inertia}",
        f"link 'huge' {inertia}",
    ]
    assert "expected none larger than the sum of the other two" in out
    assert [row[0].strip() for row in table(out, "links, as written")] == [
        "a",
        "b",
        "point",
        "huge",
    ]
    joints = {row[0].strip(): " ".join(row[1:]) for row in table(out, "joints, as written")}
    assert list(joints) == ["swing", "weld", "turn", "shut"]
    assert "-1 to 2" in joints["swing"]
    assert "closes a loop" in joints["shut"]
    assert err.count("\n") == 1
    assert "link 'c' <inertial> <inertia>: found ixx=" in err
    assert run(["inspect", str(file), "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["element"] for one in found["faults"]] == places
    assert [one["mass"] for one in found["links"]] == [1.0, 1.0, 1.0, 2.5]


def test_inspect_shows_every_reference_to_an_element_that_is_not_there_once(capsys, tmp_path):
    file = tmp_path / "lost.urdf"
    sound, broken = (1, 1, 1), ("x", 1, 1)
    nope, bent = '<mimic joint="nope"/>', '<axis xyz="0 1"/>'
    loop = (
        '<loop_joint name="{}" type="spherical"><link1 link="{}"/><link2 link="{}"/></loop_joint>\n'
    )
    parts = [
        link("a", sound), link("b", sound), link("c", broken), hinged("j", "a", "b", nope), hinged("k", "a", "zz"),
        hinged("l", "yy", "b"), hinged("m", "b", "c", '<mimic joint="n"/>'), hinged("n", "a", "a", bent),
        hinged("o", "a", "a"), hinged("p", "k", "x", nope, type="fixed"),
        loop.format("q", "ww", "ww"), loop.format("r", "world", "c"),
    ]  # fmt: skip
    file.write_text(f'<robot name="lost">\n{"".join(parts)}</robot>\n')
    assert run(["inspect", str(file), "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)["faults"]
    faults = [f"{one['element']}: {one['fault'].partition(',')[0]}" for one in found]
    assert faults == [
        "link 'c' <inertial> <inertia>: found ixx=\"x\"",
        "joint 'n' <axis>: found xyz=\"0 1\"",
        "joint 'k' <child>: found unknown link 'zz'",
        "joint 'l' <parent>: found unknown link 'yy'",
        "joint 'p' <parent>: found unknown link 'k'",
        "joint 'p' <child>: found unknown link 'x'",
        "<loop_joint> 'q': found unknown link 'ww'",
        "joint 'j' <mimic>: found unknown joint 'nope'",
        "joint 'l' <child>: found link 'b'",
        "joint 'o': found 'a' as parent and child",
    ]


def test_inspect_shows_that_a_file_is_not_expanded(capsys, tmp_path):
    file = tmp_path / "robot.urdf"
    parts = f'{link("base", (1, 1, 1))}{link("${p}leg", (1, 1, 1))}<x:leg x="0.1"/>'
    file.write_text(f'<robot name="r" xmlns:x="http://www.ros.org/wiki/xacro">{parts}</robot>')
    assert run(["inspect", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("r: faults 2; readable: 1 kg, links 1, joints 0, loops 0\n")
    assert [row[0].strip() for row in table(out, "faults\n")] == ["<robot>", "link '${p}leg'"]
    assert "found <xacro:leg>, expected plain URDF (expand this file with xacro first)" in err


def test_inspect_mends_inertias_when_asked(capsys, tmp_path):
    file = tmp_path / "odd.urdf"
    huge, turn = link("huge", (1, 1, 9)), hinged("turn", "a", "huge")
    file.write_text(f'<robot name="odd">\n{link("a", (1, 1, 1))}{huge}{turn}</robot>\n')
    assert run(["inspect", str(file)]) == 1
    assert "inertias='report' mends it" in capsys.readouterr().err
    out = said(capsys, "inspect", file, "--inertias", "report")
    assert "no rigid body has principal moments (1, 1, 9): taken as (4.5, 4.5, 9)" in out
    file.write_text(f'<robot name="odd">\n{link("b", (1, 1, 1))}{huge}{turn}</robot>\n')
    assert run(["inspect", str(file), "--inertias", "report"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("odd: faults 1;")  # the joint's unknown link, not the inertia
    assert [row[0].strip() for row in table(out, "faults\n")] == ["joint 'turn' <parent>"]


def test_inspect_shows_the_fault_of_a_file_whose_elements_are_sound(capsys, tmp_path):
    file = tmp_path / "roots.urdf"
    file.write_text(f'<robot name="roots">\n{link("a", (1, 1, 1))}{link("b", (1, 1, 1))}</robot>\n')
    assert run(["inspect", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("roots: faults 1; readable: 2 kg, links 2, joints 0, loops 0\n")
    assert [row[0].strip() for row in table(out, "faults\n")] == ["tree"]
    assert "2 roots" in err


def test_inspect_draws_what_there_is_where_no_body_moves(capsys, tmp_path):
    file, picture = tmp_path / "rest.urdf", tmp_path / "rest.png"
    file.write_text('<robot name="rest"><link name="a"/></robot>\n')
    out = said(capsys, "inspect", file, "--plot", picture)
    assert out.startswith("rest: 0 kg, bodies 0, joints 0, loops 0, actuated 0\n")
    assert picture.stat().st_size > 20_000


def test_inspect_groups_equal_notes_and_suggests_to_fix_an_arm(capsys, tmp_path):
    links = [link(f"l{k}", (1e-3, 2e-3, 2.5e-3)) for k in range(6)]
    joints = [
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<origin xyz="0 0 0.1"/><limit effort="1" velocity="0"/></joint>'
        for k in range(5)
    ]
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="arm">{"".join(links + joints)}</robot>')
    out = said(capsys, "inspect", str(file))
    places = "joint 'j0' <limit>, joint 'j1' <limit>, joint 'j2' <limit>, ..."
    words = " ".join(out.split())
    assert f"5 times: {places}" in words
    assert words.count("a blank that nobody filled in") == 1
    advice = "'arm' floats and looks like an arm"
    assert advice in out
    assert advice not in said(capsys, "inspect", str(file), "--base", "floating")
    found = json.loads(said(capsys, "inspect", str(file), "--json", "-"))
    assert sum("blank" in note["message"] for note in found["notes"]) == 5
