"""Malformed <contact>, <mimic> and friction of Gazebo: one clear error each, with file and element in it."""

import pytest

from scenes.urdf_text import INERTIAL, LIMIT, joint, link
from vigym.mechanism.elements.errors import UrdfError


def collision(shape: str = '<sphere radius="0.1"/>') -> str:
    return f"<collision><geometry>{shape}</geometry></collision>"


def gripper(mimic: str, type: str = "continuous", leader: str = "continuous") -> str:
    return "".join(
        [
            *(link(name) for name in "abc"),
            joint("thumb", leader, "a", "b"),
            joint("finger", type, "a", "c", LIMIT + f"<mimic {mimic}/>"),
        ]
    )


def touching(inside: str) -> str:
    return link("a", INERTIAL + collision() + inside)


def contact(tag: str, value: str) -> str:
    return touching(f'<contact><{tag} value="{value}"/></contact>')


WRONG = {
    "unknown leader": (gripper('joint="toe"'), "joint 'finger' <mimic>: found unknown joint 'toe'"),
    "itself": (gripper('joint="finger"'), "'finger' following itself"),
    "fixed leader": (gripper('joint="thumb"', leader="fixed"), "found the fixed joint 'thumb', expected joints of one"),
    "many freedoms": (gripper('joint="thumb"', "planar"), "found the planar joint 'finger', expected joints of one"),
    "no leader": (gripper('multiplier="2"'), "<mimic>: found no joint"),
    "zero multiplier": (gripper('joint="thumb" multiplier="0"'), "found multiplier 0"),
    "nan multiplier": (gripper('joint="thumb" multiplier="nan"'), 'found multiplier="nan"'),
    "negative friction": (contact("lateral_friction", "-1"), 'link .a. <contact> <lateral_friction>: found value="-1"'),
    "nan friction": (contact("lateral_friction", "nan"), 'found value="nan"'),
    "no friction": (touching("<contact><lateral_friction/></contact>"), "<lateral_friction>: found no value"),
    "negative spinning": (contact("spinning_friction", "-1"), 'found value="-1"'),
    "large restitution": (contact("restitution", "1.5"), r'found value="1.5", expected a number in \[0, 1\]'),
    "two contacts": (touching("<contact/><contact/>"), "found 2 <contact> elements, expected one"),
    "negative mu": ('<gazebo reference="a"><mu1>-1</mu1></gazebo>' + touching(""), "<mu1>: found .-1., expected 1 fin"),
    "empty mu": ('<gazebo reference="a"><mu1/></gazebo>' + touching(""), "<mu1>: found .., expected 1 finite number"),
    "mu as text": ('<gazebo reference="a"><mu1>x</mu1></gazebo>' + touching(""), "<mu1>: found .x., expected 1 fin"),
    "short direction": (
        '<gazebo reference="a"><mu1>1</mu1><fdir1>0 1</fdir1></gazebo>' + touching(""), "<fdir1>: .*3 finite numbers"
    ),
    "mu of nobody": ("<gazebo><mu1>1</mu1></gazebo>" + touching(""), "<gazebo>: found no reference"),
    "torn mesh": (touching(collision("<mesh/>")), "<mesh>: found no filename"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_an_error_that_names_file_and_element(load, tmp_path, text, message):
    with pytest.raises(UrdfError, match=message) as caught:
        load(text, ground=True)
    assert str(tmp_path / "robot.urdf") in str(caught.value)
