"""Elements that URDF lacks: what they mean in the frames of links, and files that have them wrong."""

import numpy as np
import pytest

from scenes.urdf_text import HINGE, INERTIAL, joint, link
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.motors import DCMotor
from vigym.urdf.convert.load import load_urdf

MASS = INERTIAL.replace("<inertial>", '<inertial><origin xyz="0 0 -1"/>')
FIXED = joint("weld", "fixed", "arm", "tool", '<origin xyz="2 0 0" rpy="0 0 1.5707963267948966"/>')
SPRING = '<spring name="s" a="world" b="tool" point_a="1 0 0" point_b="0 1 0" stiffness="5" rest_length="1"/>'


def arm(in_arm="", in_tool="", in_joint="", beside="", turn="continuous"):
    """Elements of an arm with a tool that is fixed to it, 2 m off and turned by a quarter about z."""
    inside = HINGE + in_joint
    return (
        link("world", ""),
        link("arm", MASS + in_arm),
        link("tool", in_tool),
        joint("turn", turn, "world", "arm", inside),
        FIXED,
        beside,
    )


def test_points_and_directions_are_those_of_their_link(load):
    skate = '<skate name="{}" position="1 0 0" direction="1 0 0"/>'
    wheel = '<wheel name="w" position="0 0 -1" axis="0 1 0" radius="0.5"/>'
    parts = arm(skate.format("a") + wheel, skate.format("t"), beside=SPRING)
    mech = load(*parts, ground=True)
    close = {"rtol": 0, "atol": 1e-15}
    for name, position, direction in (("a", (1, 0, 1), (1, 0, 0)), ("t", (2, 1, 1), (0, 1, 0))):
        assert mech.skates[name].body == "arm"
        np.testing.assert_allclose(mech.skates[name].position, position, **close)
        np.testing.assert_allclose(mech.skates[name].direction, direction, **close)
    np.testing.assert_allclose(mech.wheels["w"].position, (0, 0, 0), **close)
    spring = mech.springs["s"]
    assert (spring.a, spring.b, spring.damping) == ("world", "arm", 0.0)
    np.testing.assert_allclose(spring.point_a, (1, 0, 0), **close)
    np.testing.assert_allclose(spring.point_b, (1, 0, 1), **close)


def test_motors_have_the_effort_of_their_joint_or_their_own(load):
    mech = load(*arm(in_joint='<limit effort="3" velocity="4"/><motor kp="2" kd="1"/>'))
    assert (mech.motors["turn"].effort, mech.motors["turn"].targets) == (3.0, None)
    assert [note.action for note in mech.notes] == ["merged"]
    model = (
        '<model voltage="16" resistance="0.2" torque_constant="0.1" currents="0 9" torques="0 1"/>'
    )
    motor = f'<motor kp="2" effort="inf" targets="-inf 1">{model}</motor>'
    found = load(*arm(in_joint=motor)).motors["turn"]
    assert (found.effort, found.targets, found.kd) == (np.inf, (-np.inf, 1.0), 0.0)
    assert found.model == DCMotor(16.0, 0.2, 0.1, 0.0, (0.0, 9.0), (0.0, 1.0))


def test_surfaces_of_shapes_and_balls_that_touch_the_ground_alone(load):
    ball = '<collision name="{}" {}><origin rpy="0 0 1"/><geometry><sphere radius="1"/></geometry>{}</collision>'
    link_surface = (
        '<contact><lateral_friction value="0.1" across="0.4" direction="0 0 2"/></contact>'
    )
    own = (
        '<contact><lateral_friction value="0.2" backward="9"/><restitution value="0.5"/></contact>'
    )
    parts = ball.format("a", "", "") + ball.format("b", 'touches="ground"', own) + link_surface
    mech = load(*arm(parts), ground=True)
    a, b = mech.collisions.values()
    assert [note.action for note in mech.notes if "friction" in note.message] == ["changed"]
    assert (a.friction.tolist(), b.friction.tolist()) == ([0.1, 0.4, 0.1], [0.2, 0.2, 5.0])
    assert (a.restitution, b.restitution, b.shape, b.radius) == (0.0, 0.5, None, 1.0)
    np.testing.assert_allclose([a.direction, b.direction], [(0, 0, 1), (1, 0, 0)], atol=1e-15)


def test_pairs_of_a_file_and_of_the_option_are_not_doubled(load):
    shape = MASS + "<collision><geometry><sphere radius='0.1'/></geometry></collision>"
    turns = [joint(f"j{name}", "continuous", "world", name, HINGE) for name in "abc"]
    parts = (link("world", ""), *(link(name, shape) for name in "abc"), *turns)
    pair = '<pair a="c" b="a"/>'
    assert load(*parts, pair).pairs == (("c", "a"),)
    assert load(*parts, pair, self_collision=True).pairs == (("c", "a"), ("a", "b"), ("b", "c"))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (arm(beside=SPRING.replace(' stiffness="5"', "")), "<spring> 's': found no stiffness"),
        (arm(beside=SPRING.replace('"5"', '"-5"')), "spring 's' stiffness: found -5.0, expected"),
        (arm(beside=SPRING.replace('"tool"', '"hand"')), "<spring> 's': found unknown link 'hand'"),
        (arm(beside=SPRING.replace('"0 1 0"', '"0 1"')), 'point_b="0 1", expected 3 numbers'),
        (arm(beside='<pair a="arm" b="tool"/>'), "pair 'arm', 'arm'"),
        (
            arm(beside='<coupling name="c" type="gear" joint="turn" other="x"/>'),
            "found 'x', expected",
        ),
        (
            arm(beside='<coupling name="c" type="gear" joint="turn" other="weld"/>'),
            "found the fixed joint 'weld', expected a joint that moves",
        ),
        (arm(in_joint='<motor kp="x"/>'), '<motor>: found kp="x", expected a number'),
        (arm(in_joint="<motor/>"), "motor of joint 'turn': found kp 0 and kd 0"),
        (arm(in_joint='<motor kp="1"/>'), "motor of joint 'turn' effort: found None"),
        (arm(in_joint='<motor kp="1"/>', turn="floating"), "found a floating joint of 6"),
        (
            arm(in_joint='<motor kp="1" effort="1"><model voltage="1"/></motor>'),
            "<model>: found no",
        ),
        (arm('<skate name="s" position="0 0 0"/>'), "link 'arm' <skate> 's': found no direction"),
        (arm('<wheel name="w" position="0 0 0" axis="0 1 0" radius="1"/>'), "set `ground`"),
        (
            arm('<collision touches="ground"><geometry><box size="1 1 1"/></geometry></collision>'),
            "touches='ground' of a box, expected 'ground' of a sphere",
        ),
        (arm(in_joint='<dynamics damping="1 2"/>'), 'damping="1 2", expected a finite number >= 0'),
        (
            arm(in_joint='<dynamics damping="1 2"/>', turn="planar"),
            'damping="1 2", expected 3 finite numbers >= 0',
        ),
    ],
)
def test_wrong_ones_are_errors_that_name_file_and_element(parts, message, load):
    with pytest.raises(UrdfError, match="robot.urdf: ") as caught:
        load(*parts)
    assert message in str(caught.value)


def test_pairs_of_links_that_are_one_body_are_one(load):
    """Their shapes are those of the body: all of them touch, which a note tells."""
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    pairs = '<pair a="arm" b="bob"/><pair a="tool" b="bob"/>'
    more = link("bob", MASS + ball) + joint("swing", "continuous", "arm", "bob", HINGE)
    mech = load(*arm(ball, ball, beside=more + pairs))
    assert mech.pairs == (("arm", "bob"),)
    assert [note.element for note in mech.notes if note.action == "changed"] == ["<pair> 2"]
    assert not [note for note in mech.notes if "touch nothing" in note.message]


def test_limits_of_several_degrees_of_freedom(load, tmp_path):
    limit = '<limit lower="-1 -inf -3" upper="4"/>'
    mech = load(*arm(in_joint=limit, turn="planar"))
    assert mech.joints["turn"].limits.tolist() == [[-1.0, 4.0], [-np.inf, 4.0], [-3.0, 4.0]]
    mech.to_urdf(tmp_path / "again.urdf")
    again = load_urdf(tmp_path / "again.urdf").joints["turn"]
    assert again.limits.tolist() == mech.joints["turn"].limits.tolist()


ZEROS = "no lower: taken as 0, as URDF says"
FREE = (-np.inf, np.inf)
NO_BALL = "lower and upper have no meaning for a spherical joint"


@pytest.mark.parametrize(
    ("turn", "bounds", "limits", "found"),
    [
        ("point_on_plane", 'upper="0.1 inf"', [(0.0, 0.1), (0.0, np.inf)], [ZEROS]),
        ("point_on_line", 'lower="-1" upper="1"', [(-1.0, 1.0)], []),
        ("planar", 'lower="1 0 0" upper="0 0 inf"', [FREE, (0, 0), (0, np.inf)], ["x: ", "y: "]),
        ("point_on_plane", 'lower="0 0" upper="-1 -1"', None, []),
        ("spherical", 'lower="-1 -1 -1" upper="1 1 1"', None, [NO_BALL]),
        ("spherical", 'lower="-1" upper="1"', None, [NO_BALL]),
        ("spherical", 'lower="0" upper="-1"', None, []),
    ],
)
def test_unusual_limits_of_several_coordinates_are_noted(load, turn, bounds, limits, found):
    mech = load(*arm(in_joint=f'<limit effort="9" {bounds}/>', turn=turn))
    read = mech.joints["turn"].limits
    assert (read is None) == (limits is None)
    if limits is not None:
        np.testing.assert_array_equal(read, limits)
    messages = [n.message for n in mech.notes if "<limit>" in n.element]
    assert [message[: len(start)] for message, start in zip(messages, found, strict=True)] == found


def test_what_a_ball_cannot_have_is_noted(load):
    dynamics = '<dynamics friction="0.1" armature="0.1" spring_reference="0.2 0.1"/>'
    joint = (mech := load(*arm(in_joint=dynamics, turn="point_on_plane"))).joints["turn"]
    assert (joint.friction, joint.armature, joint.rest) == (0.1, 0.0, ())
    ignored = [note.message for note in mech.notes if note.action == "ignored"]
    assert ignored == [
        f"{name}: a point_on_plane joint has none" for name in ("armature", "spring_reference")
    ]
