"""Starts by name of robots from files, from SRDF; arms that float and should not."""

import re
import warnings

import gymnasium as gym
import pytest

from scenes.urdf_text import HINGE, INERTIAL, joint, link
from vigym.envs.robots.starts import random_start
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.states import read_states

URDF = "vigym/Urdf-v0"
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="4"/>'
FOOT = '<collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.05"/></geometry></collision>'
STATES = """<robot name="walker">
  <group_state name="standing" group="all">
    <joint name="root_joint" value="0 0 0.5 0 0 0 1"/>
    <joint name="a" value="0.5"/><joint name="b" value="-0.25"/>
  </group_state>
  <group_state name="crouching" group="all"><joint name="a" value="1.25"/></group_state>
</robot>"""


def legs(*places: tuple[str, str]) -> str:
    return link("trunk", INERTIAL + FOOT.replace("-0.5", "0")) + "".join(
        link(f"leg {name}", INERTIAL + FOOT)
        + joint(name, "revolute", "trunk", f"leg {name}", HINGE + LIMIT + f'<origin xyz="{xyz}"/>')
        for name, xyz in places
    )


@pytest.fixture(params=["beside", "in srdf"])
def walker(tmp_path, request):
    """A trunk on two legs, and states in an SRDF file."""
    text = legs(("a", "0 0.1 -0.1"), ("b", "0 -0.1 -0.1"))
    (tmp_path / "urdf").mkdir()
    (tmp_path / "srdf").mkdir()
    (tmp_path / "urdf" / "walker.urdf").write_text(f'<robot name="walker">{text}</robot>')
    place = "urdf/walker.srdf" if request.param == "beside" else "srdf/any.srdf"
    (tmp_path / place).write_text(STATES)
    return tmp_path / "urdf" / "walker.urdf"


def start(file, **options) -> dict[str, float]:
    env = gym.make(URDF, urdf=file, reset_noise_scale=0.0, **options)
    info = env.reset(seed=0)[1]
    names = env.unwrapped.mechanism.position_names
    return dict(zip(names, info["joint_positions"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("options", "positions"),
    [
        ({"start": "standing"}, (0.5, -0.25)),
        ({}, (0.5, -0.25)),  # a robot that floats
        ({"start": {}}, (0.0, 0.0)),
        ({"base": "fixed", "reward": lambda info, action: 0.0}, (0.0, 0.0)),
        ({"base": "fixed", "reward": lambda info, action: 0.0, "start": "standing"}, (0.5, -0.25)),
    ],
    ids=["by name", "by default", "none", "fixed", "fixed by name"],
)
@pytest.mark.filterwarnings("ignore:.*touch nothing")
def test_a_robot_starts_in_a_state_of_its_srdf_file(walker, options, positions):
    found = start(walker, **options)
    assert (found["a"], found["b"]) == pytest.approx(positions)


def test_a_state_beyond_limits_is_at_them_with_a_warning(walker):
    with pytest.warns(UserWarning, match="'walker': the start has a at a limit"):
        assert start(walker, start="crouching")["a"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name="b"', 'name="gone"', "state 'standing': no moving joint has the name 'gone'"),
        ('"-0.25"', '"1 2"', "'standing' <joint> 'b': 2 values are ignored"),
        ("crouching", "standing", "'standing' <joint> 'a': 1.25 replaces 0.5 of a state of"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*the start has a at a limit")
def test_what_a_state_loses_is_told(walker, old, new, told):
    (srdf,) = walker.parents[1].glob("*/*.srdf")
    srdf.write_text(STATES.replace(old, new))
    with pytest.warns(UserWarning, match=re.escape(told)):
        random_start(walker, load_urdf(walker), "standing", None, None)


def test_states_of_one_name_of_several_groups_are_joined(walker):
    (srdf,) = walker.parents[1].glob("*/*.srdf")
    split = '</group_state><group_state name="standing" group="b"><joint name="b"'
    srdf.write_text(STATES.replace('<joint name="b"', split))
    assert read_states(walker)["standing"] == {"a": 0.5, "b": -0.25}


def test_states_that_are_not_there_or_wrong_are_errors(walker):
    expected = "start: found 'sitting', expected positions by joint, or a state: standing, crouch"
    with pytest.raises(ValueError, match=expected):
        start(walker, start="sitting")
    (srdf,) = walker.parents[1].glob("*/*.srdf")
    for text, error in (
        (STATES.replace('"0.5"', '"half"'), "<joint> 'a': found value=.half., expected a finite"),
        (STATES.replace('"0.5"', '"half way"'), "found value=.half way., expected 2 finite"),
        (STATES.replace(' name="standing"', ""), "<group_state> 1: found no name"),
        ("<robot>", "found invalid XML"),
    ):
        srdf.write_text(text)
        with pytest.raises(UrdfError, match=error):
            start(walker)
    srdf.unlink()
    with pytest.raises(ValueError, match="the file has none"):
        start(walker, start="standing")


def told(file, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gym.make(URDF, urdf=file, **options)
    return [str(each.message) for each in caught if "looks like an arm" in str(each.message)]


def test_an_arm_that_floats_is_told_to_be_fixed(tmp_path):
    """One chain above the base; legs below it, and several arms, are no such thing."""
    shoulder = ("a", "0 0 0.1")
    elbow = joint("e", "revolute", "leg a", "fore", HINGE + LIMIT + '<origin xyz="0 0 0.3"/>')
    arm = legs(shoulder) + link("fore") + elbow
    file = tmp_path / "arm.urdf"
    for text, count in (
        (arm, 1),
        (arm.replace("0 0 0.1", "0 0 -0.4"), 0),
        (legs(shoulder, ("b", "0 0 0.2")) + link("fore") + elbow, 0),
        (legs(shoulder), 0),
    ):
        file.write_text(f'<robot name="arm">{text}</robot>')
        assert len(told(file)) == count
        assert told(file, base="floating") == []
    file.write_text(f'<robot name="arm">{arm}</robot>')
    assert "base='fixed' welds it to the world" in told(file)[0]
    assert told(file, base="fixed", reward=lambda info, action: 0.0) == []
