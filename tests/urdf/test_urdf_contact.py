"""What a file says of contact and couplings: shapes, friction, pairs, mimic; and what is wrong with it."""

import numpy as np
import pytest

from scenes.urdf_text import ARMS, HINGE, INERTIAL, LIMIT, joint, link, loop
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from vigym.spatial import batch_rotation_matrix

BALL, BOX = '<sphere radius="0.1"/>', '<box size="1 2 3"/>'
TURN = np.sqrt(0.5)


def collision(shape: str = BALL, inside: str = "", name: str = "") -> str:
    called = f' name="{name}"' if name else ""
    return f"<collision{called}>{inside}<geometry>{shape}</geometry></collision>"


def said(mech, action: str) -> list[str]:
    return [str(entry) for entry in mech.notes if entry.action == action]


def test_shapes_are_those_of_the_file_in_the_frame_of_the_body(load):
    """Two links in one body: its centre is at (0, 0, 1), the second link's frame at (0, 0, 2), turned about z."""
    shapes = (
        BOX,
        BALL,
        '<cylinder radius="0.1" length="2"/>',
        '<capsule radius="0.1" length="2"/>',
    )
    placed = '<origin xyz="0.5 0 0" rpy="1.5707963267948966 0 0"/>'
    mech = load(
        link("a", INERTIAL + collision(BOX)),
        link("b", INERTIAL + "".join(collision(shape, placed) for shape in shapes)),
        joint("weld", "fixed", "a", "b", '<origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/>'),
        ground=True,
    )
    assert list(mech.collisions) == ["a", "b 1", "b 2", "b 3", "b 4"]
    assert {touch.body for touch in mech.collisions.values()} == {"a"}
    assert [type(touch.shape) for touch in mech.collisions.values()] == [
        Box,
        Box,
        Sphere,
        Cylinder,
        Capsule,
    ]
    np.testing.assert_allclose(mech.collisions["a"].position, (0, 0, -1), atol=1e-15)
    for touch in list(mech.collisions.values())[1:]:
        np.testing.assert_allclose(touch.position, (0, 0.5, 1), atol=1e-15)
        np.testing.assert_allclose(
            batch_rotation_matrix(touch.shape.orientation)[:, 2], (1, 0, 0), atol=1e-15
        )
    assert mech.bodies["a"].shapes == ()
    assert all(touch.friction.tolist() == [0.8] * 3 for touch in mech.collisions.values())
    assert len(mech.contact_names) == 8 + 8 + 1 + 8 + 2
    assert not said(mech, "ignored")


def test_names_are_those_of_the_file_where_they_are_unique(load):
    twice = collision(name="shell")
    mech = load(
        link("a", INERTIAL + collision(name="belly") + twice),
        link("b", INERTIAL + twice),
        joint("j", "continuous", "a", "b"),
        ground=True,
    )
    assert mech.contact_names == ["belly", "a 2", "b"]


def test_names_that_would_clash_get_a_number_more(load):
    """Names that the importer makes up may be those of other shapes; all others stay as they are."""
    mech = load(
        link("base", INERTIAL + collision(name="wheel") + collision(name="foot 2 2")),
        link("wheel", INERTIAL + collision()),
        link("foot", INERTIAL + collision() + collision()),
        link("foot 2", INERTIAL + collision()),
        link("wheel 2", INERTIAL + collision()),
        *(joint(f"to {name}", "continuous", "base", name) for name in ("wheel", "foot", "foot 2", "wheel 2")),
        ground=True,
    )  # fmt: skip
    names = {name: touch.body for name, touch in mech.collisions.items()}
    assert names == {
        "wheel": "base", "foot 2 2": "base", "wheel 3": "wheel", "foot 1": "foot", "foot 2": "foot",
        "foot 2 3": "foot 2", "wheel 2": "wheel 2",
    }  # fmt: skip
    assert said(mech, "changed") == [
        "changed: link 'wheel' <collision>: called 'wheel 3': another shape is 'wheel'",
        "changed: link 'foot 2' <collision>: called 'foot 2 3': another shape is 'foot 2'",
    ]


def test_shapes_that_stand_still_take_no_names(load):
    mech = load(
        link("world", collision(name="wheel")),
        link("wheel", INERTIAL + collision()),
        joint("j", "continuous", "world", "wheel"),
        ground=True,
    )
    assert list(mech.collisions) == ["wheel"]


def test_friction_is_that_of_contact_then_of_gazebo_then_the_default(load):
    contact = (
        '<contact><lateral_friction value="0.3"/><spinning_friction value="0.01"/>'
        '<restitution value="0.5"/></contact>'
    )
    mu = '<mu1>1.5</mu1><mu2 value="0.5"/>'
    turned = '<origin rpy="0 0 1.5707963267948966"/>'
    names = ("a", "b", "c", "d", "e", "f")
    mech = load(
        f'<gazebo reference="b">{mu}<fdir1>0 2 0</fdir1></gazebo><gazebo reference="c">{mu}</gazebo>',
        f'<gazebo reference="a">{mu}<fdir1>0 0 0</fdir1></gazebo>',
        '<gazebo reference="d"><mu1>0.7</mu1><kp>9</kp></gazebo>',
        '<gazebo reference="f"><mu2>0</mu2></gazebo>',
        link("a", INERTIAL + collision() + contact),
        *(link(name, INERTIAL + collision(inside=turned)) for name in names[1:]),
        *(joint(f"j{name}", "continuous", "a", name) for name in names[1:]),
        ground=True,
    )
    frictions = {name: mech.collisions[name].friction.tolist() for name in names}
    assert frictions == {
        "a": [0.3] * 3, "b": [1.5, 0.5, 1.5], "c": [1.5, 0.5, 1.5], "d": [0.7] * 3, "e": [0.8] * 3, "f": [0.0] * 3
    }  # fmt: skip
    a = mech.collisions["a"]
    assert (a.torsion, a.restitution, mech.collisions["b"].torsion) == (0.01, 0.5, 0.0)
    np.testing.assert_allclose(
        mech.collisions["b"].direction, (-1, 0, 0), atol=1e-15
    )  # y of the turned shape
    np.testing.assert_allclose(mech.collisions["c"].direction, (0, 1, 0), atol=1e-15)
    changed = "\n".join(said(mech, "changed"))
    assert "mu1 1.5 and mu2 0.5 without fdir1: mu1 is taken along x of the shapes" in changed
    assert "mu2 is not given" in changed
    assert "mu1 is not given" in changed
    ignored = "\n".join(said(mech, "ignored"))
    assert "only the friction in them is read" in ignored
    assert "0 0 0 is no direction" in ignored


def test_gazebo_elements_of_one_link_complete_each_other(load):
    apart = {
        "a": ("<mu1>0.2</mu1>", "<fdir1>0 1 0</fdir1>", "<mu2>0.5</mu2>"),
        "b": ("<mu1>0.2</mu1><mu2>0.3</mu2>", "<kp>9</kp>", "<mu1>0.4</mu1>"),
        "c": ("<fdir1>0 1 0</fdir1>",),
    }
    mech = load(
        *(f'<gazebo reference="{name}">{part}</gazebo>' for name in apart for part in apart[name]),
        *(link(name, INERTIAL + collision()) for name in apart),
        *(joint(f"j{name}", "continuous", "a", name) for name in "bc"),
        ground=True,
    )
    frictions = {name: mech.collisions[name].friction.tolist() for name in apart}
    assert frictions == {"a": [0.2, 0.5, 0.2], "b": [0.4, 0.3, 0.4], "c": [0.8] * 3}
    assert mech.collisions["a"].direction.tolist() == [0.0, 1.0, 0.0]
    assert [entry for entry in said(mech, "changed") if "gazebo" in entry] == [
        "changed: <gazebo> 6 <mu1>: mu1 0.4 and mu2 0.3 without fdir1: mu1 is taken along x of the shapes"
    ]
    ignored = said(mech, "ignored")
    assert "ignored: <gazebo> 4 <mu1>: a later <gazebo> gives mu1 of link 'b'" in ignored
    assert "ignored: <gazebo> 7 <fdir1>: a direction without mu1 and mu2" in ignored


def test_friction_of_gazebo_that_is_not_read_is_told(load):
    surface = "<surface><friction><ode><mu>0.2</mu></ode></friction></surface>"
    mech = load(
        '<gazebo reference="A"><mu1>0.1</mu1><mu2>0.1</mu2></gazebo>',
        f'<gazebo reference="a"><collision>{surface}</collision></gazebo>',
        link("a", INERTIAL + collision()),
        ground=True,
    )
    assert mech.collisions["a"].friction.tolist() == [0.8] * 3
    ignored = said(mech, "ignored")
    assert "ignored: <gazebo> 1: friction of 'A', which is no link of this file" in ignored
    told = "friction in <surface>: only <mu1>, <mu2> and <fdir1> are read"
    assert f"ignored: <gazebo> 2: {told}" in ignored


def test_friction_above_all_slopes_is_limited_and_told(load):
    slopes = '<contact><lateral_friction value="1e14"/></contact>'
    mech = load(
        '<gazebo reference="b"><mu1>100000</mu1><mu2>0.5</mu2><fdir1>1 0 0</fdir1></gazebo>',
        link("a", INERTIAL + collision() + slopes),
        link("b", INERTIAL + collision()),
        joint("j", "continuous", "a", "b"),
        ground=True,
    )
    assert mech.collisions["a"].friction.tolist() == [5.0] * 3
    assert mech.collisions["b"].friction.tolist() == [5.0, 0.5, 5.0]
    changed = "\n".join(said(mech, "changed"))
    told = "friction 1e+14 is taken as 5, which holds on slopes of 79 degrees"
    assert f"link 'a' <contact> <lateral_friction>: {told}" in changed
    assert "<mu1>: friction 100000 is taken as 5" in changed
    assert "0.5" not in changed


def test_the_grounds_own_friction_is_kept_with_it(load):
    mech = load(link("a", INERTIAL + collision()), ground=Ground(0.5, friction=(1.0, 0.2)))
    assert mech.ground.friction.tolist() == [1.0, 0.2, 1.0]


def test_without_a_ground_shapes_are_kept_and_that_is_told_once(load):
    parts = (
        link("a", INERTIAL + collision() + collision('<sphere radius="0"/>')),
        link("b", INERTIAL + collision()),
    )
    mech = load(*parts, joint("j", "continuous", "a", "b", HINGE))
    assert (mech.ground, list(mech.collisions), mech.contact_names) == (
        None,
        ["a 1", "a 2", "b"],
        [],
    )
    assert said(mech, "ignored") == [
        "ignored: <collision> of 3 shapes: no ground: these shapes touch nothing"
    ]
    mech.ground = Ground()
    assert mech.contact_names == ["a 1", "a 2", "b"]
    assert mech.collisions["a 2"].shape is None  # a sphere without size is a point


def test_what_is_no_shape_or_stands_still_touches_nothing_and_is_reported(load):
    mech = load(
        link("world", collision(BOX)),
        link(
            "a",
            INERTIAL
            + collision('<plane normal="0 0 1"/>')
            + collision('<box size="1 1 0"/>')
            + collision(),
        ),
        joint("j", "continuous", "world", "a", HINGE),
        ground=True,
    )
    assert list(mech.collisions) == ["a"]
    dropped = "\n".join(said(mech, "dropped"))
    assert (
        "link 'a' <collision> 1 <geometry> <plane>: touches nothing: a shape of other programs"
        in dropped
    )
    assert "link 'a' <collision> 2 <geometry> <box>: touches nothing: it has size zero" in dropped
    assert said(mech, "ignored") == [
        "ignored: link 'world' <collision>: fixed to the world, of which only the ground touches"
    ]


def test_meshes_touch_by_their_hull_and_that_is_reported(load, tmp_path):
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    (tmp_path / "box.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in [*corners, (0, 0, 0)])
    )
    mech = load(
        link("a", INERTIAL + collision('<mesh filename="box.obj" scale="0.1 0.2 0.3"/>')),
        ground=True,
    )
    touch = mech.collisions["a"]
    assert isinstance(touch.shape, Mesh)
    expected = np.array(corners) * (0.1, 0.2, 0.3)
    np.testing.assert_allclose(
        np.unique(touch.corners, axis=0), np.unique(expected, axis=0), rtol=1e-15
    )
    assert said(mech, "changed") == [
        "changed: link 'a' <collision>: its convex hull touches, by 8 corners"
    ]


@pytest.mark.parametrize(
    ("name", "message"), [("lost.obj", "no readable file"), ("a.doc", "expected .obj or .stl")]
)
def test_a_mesh_that_touches_and_cannot_be_read_is_an_error_unless_a_report_is_asked_for(
    load, tmp_path, name, message
):
    (tmp_path / "a.doc").write_text("<COLLADA/>")
    part = link(
        "a", INERTIAL + collision(f'<mesh filename="package://pack/{name}"/>') + collision(BOX)
    )
    (tmp_path / "pack").mkdir()
    (tmp_path / "a.doc").rename(tmp_path / "pack" / "a.doc")
    for touching in ({}, {"ground": True}, {"self_collision": True}):
        with pytest.raises(UrdfError, match=message) as caught:
            load(part, **touching)
        for told in (
            str(tmp_path / "robot.urdf"),
            "link 'a' <collision> 1",
            name,
            "missing_meshes='report'",
        ):
            assert told in str(caught.value)
        mech = load(part, **touching, missing_meshes="report")
        assert list(mech.collisions) == ["a 2"]
        (dropped,) = said(mech, "dropped")
        assert dropped.startswith(
            "dropped: link 'a' <collision> 1: it touches nothing: collision 'a 1': mesh "
        )
        assert name in dropped
    with pytest.raises(UrdfError, match="missing_meshes: found True, expected 'error' or 'report'"):
        load(part, missing_meshes=True)


def test_bodies_that_no_joint_holds_together_touch_each_other_when_asked(load):
    shapes = (BALL, BOX, BALL, '<cylinder radius="0.1" length="2"/>', "")
    inside = dict(zip(("left", "right", "bar", "drum", "bare"), shapes, strict=True))
    bodies = [
        link(name, INERTIAL + (collision(shape) if shape else "")) for name, shape in inside.items()
    ]
    file = (
        link("world", ""),
        *bodies,
        *ARMS[4:],
        joint("e", "continuous", "bar", "drum", HINGE),
        joint("f", "continuous", "bar", "bare", HINGE),
        loop(),
    )
    assert load(*file).pairs == ()
    mech = load(*file, self_collision=True)
    assert mech.pairs == (
        ("left", "right"),
    )  # bar hangs on the one and closes a loop with the other
    assert mech.ground is None
    assert (
        "body 'drum' <collision>: touches the ground alone, not other bodies: cylinder"
        in "\n".join(said(mech, "ignored"))
    )


def test_limits_friction_and_mimic_are_simulated(load):
    mech = load(
        *(link(name) for name in "abcd"),
        joint("thumb", "revolute", "a", "b", LIMIT + '<dynamics friction="0.2"/>'),
        joint(
            "finger",
            "prismatic",
            "a",
            "c",
            LIMIT + '<mimic joint="thumb" multiplier="-0.5" offset="0.1"/>',
        ),
        joint("tip", "continuous", "c", "d", '<mimic joint="finger"/>'),
    )
    assert mech.joints["thumb"].limits.tolist() == [[-1.0, 2.0]]
    assert mech.joints["thumb"].friction == 0.2
    assert [
        (c.name, c.type, c.joint, c.other, c.ratio, c.offset) for c in mech.couplings.values()
    ] == [
        ("finger", "mimic", "finger", "thumb", -0.5, 0.1),
        ("tip", "mimic", "tip", "finger", 1.0, 0.0),
    ]
    assert all("velocity" in entry for entry in said(mech, "not enforced"))


def test_a_mimic_may_follow_a_joint_further_down(load):
    mech = load(
        *(link(name) for name in "abc"),
        joint("first", "continuous", "a", "b", '<mimic joint="last"/>'),
        joint("last", "continuous", "b", "c"),
    )
    assert mech.couplings["first"].other == "last"


@pytest.mark.parametrize("leader", ["k", "nobody"])
def test_a_mimic_on_a_fixed_joint_is_reported(load, leader):
    """Files of robots with fixed fingers keep the <mimic> of the full robot."""
    mimic = f'<mimic joint="{leader}"/>'
    links = [link(name) for name in "abc"]
    mech = load(*links, joint("j", "fixed", "a", "b", mimic), joint("k", "continuous", "a", "c"))
    assert mech.couplings == {}
    told = [str(note) for note in mech.notes if "<mimic>" in note.element]
    assert told == [f"ignored: joint 'j' <mimic>: the joint is fixed: it cannot follow {leader!r}"]


def test_closing_joints_have_friction_and_limits(load):
    inside = HINGE + '<limit lower="-1" upper="2"/><dynamics friction="0.2"/>'
    closing = load(*ARMS, loop(inside=inside)).joints["d"]
    assert closing.friction == 0.2
    assert closing.limits.tolist() == [[-1.0, 2.0]]


@pytest.mark.parametrize("name", ["a" * 5000, "file://a%00"], ids=["too long", "nul"])
@pytest.mark.parametrize("element", ["collision", "visual"])
def test_a_mesh_of_a_name_that_no_file_has_is_one_that_is_not_there(load, element, name):
    mesh = f'<mesh filename="{name}.stl"/>'
    part = link("a", INERTIAL + f"<{element}><geometry>{mesh}</geometry></{element}>")
    assert said(load(part, missing_meshes="report"), "dropped")
    if element == "collision":
        with pytest.raises(UrdfError, match="found no readable file"):
            load(part)
