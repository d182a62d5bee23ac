"""Malformed loops: one clear error each, nothing printed, and the next file loads."""

import pytest

from scenes.urdf_text import ARMS, HINGE, INERTIAL, ball, constraint, link, loop
from vigym.mechanism.elements.errors import UrdfError

MALFORMED = {
    "no name": (loop().replace(' name="d"', ""), "<loop_joint>: found no name"),
    "name of a joint": (loop(name="a"), "two joints named 'a'"),
    "no type": (loop().replace(' type="revolute"', ""), "<loop_joint> 'd': found no type"),
    "unknown type": (
        loop("hinge"),
        "'d': found type 'hinge', expected one of: fixed, revolute, .*universal",
    ),
    "floating": (loop("floating"), "found type 'floating', expected one of"),
    "no link1": (loop().replace("<link1", "<link0"), "'d': found no <link1>, expected one"),
    "two link1": (
        loop().replace("<link2", "<link1"),
        "'d': found 2 <link1> elements, expected one",
    ),
    "no link": (loop(first='xyz="0 0 0"'), "'d' <link1>: found no link"),
    "unknown link": (
        loop(second='link="x"'),
        "<loop_joint> 'd': found unknown link 'x', expected the name of a link",
    ),
    "one link": (
        loop(second='link="bar"'),
        "found links 'bar' and 'bar', both part of 'bar', expected links of two",
    ),
    "nan point": (
        loop(first='link="bar" xyz="0 nan 0"'),
        "'d' <link1>: found xyz=.0 nan 0., expected 3 finite",
    ),
    "infinite turn": (
        loop(second='link="right" rpy="0 1e999 0"'),
        "'d' <link2>: found rpy=.*, expected 3 finite",
    ),
    "zero axis": (
        loop(inside='<axis xyz="0 0 0"/>'),
        "'d' <axis>: found xyz=.0 0 0., expected a direction",
    ),
    "short axis": (
        loop(inside='<axis xyz="0 1"/>'),
        "'d' <axis>: found xyz=.0 1., expected 3 finite numbers",
    ),
    "universal with one axis": (loop("universal"), "'d': found no <axis2>, expected one"),
    "equal axes": (
        loop("universal", inside=HINGE + '<axis2 xyz="0 1 0"/>'),
        "'d' <axis2>: .*perpendicular",
    ),
    "nan limit": (loop(inside='<limit lower="nan" upper="1"/>'), "'d' <limit>: found lower=.nan"),
    "fixed with spring": (
        loop("fixed", inside='<dynamics spring_stiffness="1"/>'),
        "expected none for a fixed joint",
    ),
    "inside a link": (
        link("more", INERTIAL + loop()),
        "'d': found a joint that closes a loop, expected .* under <rob",
    ),
    "constraint without child": (
        constraint("").replace('<child link="right"/>', ""),
        "'d': found no <child>",
    ),
    "universal constraint": (
        constraint("", "universal"),
        "<constraint> 'd': found no <child_axis>",
    ),
    "crossed slide": (
        constraint('<parent_axis xyz="0 1 0"/><child_axis xyz="0 0 1"/>', "prismatic"),
        "'d' <child_axis>: found xyz=.0 0 1., expected the parent's axis .* for a prismatic joint",
    ),
    "ball without point": (
        ball('<body_A name="bar"/><body_B name="right"/><p_AP value="0 0 0"/>', ""),
        "no <ball_c",
    ),
    "ball without body": (
        ball('<body_A/><body_B name="bar"/><p_AP value="0 0 0"/><p_BQ value="0 0 0"/>', ""),
        "<ball_constraint> <ball_constraint_body_A>: found no name",
    ),
    "ball on nobody": (
        ball(
            '<body_A name="bar"/><body_B name="x"/><p_AP value="0 0 0"/><p_BQ value="0 0 0"/>', ""
        ),
        "<ball_constraint>: found unknown link 'x'",
    ),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_loops_are_refused_quietly(load, tmp_path, capfd, text, message):
    with pytest.raises(UrdfError, match=message) as caught:
        load(*ARMS, text)
    error = str(caught.value)
    assert error.startswith(f"{tmp_path / 'robot.urdf'}: ")
    assert "expected" in error
    assert "\n" not in error
    assert load(*ARMS, loop()).closing_joints[0].name == "d"
    assert capfd.readouterr() == ("", "")
