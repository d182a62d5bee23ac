"""What MJCF files can have: elements that come in, notes on the rest, and files of strangers."""

import re

import numpy as np
import pytest
from PIL import Image

from vigym import MechanismError, Simulator, load, load_mjcf

BALL = '<body name="ball" pos="0 0 1"><freejoint name="free"/><geom size="0.1"/></body>'


def read(tmp_path, content, **options):
    pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{content}</mujoco>")
    return load(path, **options)


def notes(mech, action):
    return [note.element for note in mech.notes if note.action == action]


def test_without_mujoco_the_error_tells_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "robot.xml").write_text("<mujoco/>")
    monkeypatch.setattr("vigym.mjcf.compiled.find_spec", lambda name: None)
    with pytest.raises(MechanismError, match=re.escape("pip install 'vigym[mjcf]'")):
        load_mjcf(tmp_path / "robot.xml")


def test_ground_friction_and_bits_are_those_of_mujoco(tmp_path):
    mech = read(
        tmp_path,
        """<worldbody><geom type="plane" size="1 1 1" pos="0 0 0.2" friction="1.5 0.1 0"/>
        <body pos="0 0 2"><freejoint/>
          <geom name="a" size="0.1" condim="4" friction="0.3 0.02 0"/>
          <geom name="b" size="0.1" condim="1" priority="1"/>
          <geom name="c" size="0.1" contype="2" conaffinity="2"/>
        </body></worldbody>""",
    )
    assert mech.ground.height == pytest.approx(0.2)
    assert list(mech.collisions) == ["a", "b"]
    a, b = mech.collisions.values()
    assert (a.friction[0], a.torsion, b.friction[0]) == (1.5, 0.1, 0.0)


def test_a_height_field_is_terrain(tmp_path):
    mech = read(
        tmp_path,
        """<asset><hfield name="h" nrow="3" ncol="4" size="1.5 1 0.5 0.1"
        elevation="0 0 0 0 0 1 0 0 0 0 0 0"/></asset>
        <worldbody><geom type="hfield" hfield="h" pos="0.3 0 0.2"/>"""
        + BALL
        + "</worldbody>",
    )
    # the second column of four along x and the second row of three
    assert mech.ground.terrain.height(0.3 - 0.5, 0.0) == pytest.approx(0.7)
    assert mech.ground.terrain.height(0.3 + 0.5, 0.0) == pytest.approx(0.2)


@pytest.mark.parametrize(("height", "reached"), [(-0.01, False), (-0.3, True)])
def test_a_field_all_below_a_plane_is_out_of_reach(tmp_path, height, reached):
    """dm_control's quadruped has a flat field, which tasks fill, 10 mm below its floor."""
    top = 0 if height == -0.01 else 1
    mech = read(
        tmp_path,
        f"""<asset><hfield name="h" nrow="2" ncol="2" size="1 1 0.5 0.1" elevation="0 0 0 {top}"/></asset>
        <worldbody><geom type="hfield" hfield="h" pos="0 0 {height}"/><geom type="plane" size="1 1 1"/>
        {BALL}</worldbody>""",
    )
    assert (mech.ground.terrain is not None) == reached
    assert bool(mech.pairs) == reached  # with the plane, as an obstacle


def test_pixels_of_a_file_are_the_heights_of_a_field(tmp_path):
    pixels = np.zeros((3, 4), np.uint8)
    pixels[0, 1] = 255  # the first row of a picture has the largest y
    Image.fromarray(pixels).save(tmp_path / "hills.png")
    mech = read(
        tmp_path,
        '<asset><hfield name="h" file="hills.png" size="1.5 1 0.5 0.1"/></asset>'
        f'<worldbody><geom type="hfield" hfield="h"/>{BALL}</worldbody>',
    )
    assert mech.ground.terrain.height(-0.5, 1.0) == pytest.approx(0.5)
    assert mech.ground.terrain.heights.sum() == pytest.approx(0.5)


PAIRS = """<worldbody>
<body name="a"><joint/><geom size="0.1"/><body name="b"><joint/><geom size="0.1"/></body></body>
<body name="c"><joint/><geom size="0.1"/></body><body name="d"><joint/><geom size="0.1"/></body>
</worldbody><contact><exclude body1="c" body2="d"/></contact>"""


def test_pairs_are_those_that_the_file_lets_touch(tmp_path):
    mech = read(tmp_path, PAIRS, self_collision=True)
    assert set(mech.pairs) == {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}
    assert notes(read(tmp_path, PAIRS), "ignored")[0].startswith("pairs of bodies: 'a' and 'c', ")


def test_bodies_without_joints_and_sites_are_frames(tmp_path):
    mech = read(
        tmp_path,
        """<worldbody><body name="base"><site name="origin"/><body name="arm"><joint axis="0 1 0"/>
        <geom size="0.1" pos="0.2 0 0"/>
        <body name="tool" pos="1 0 0" quat="0 0 0 1"><geom size="0.1"/><site name="tip" pos="0 0 0.5"/>
        </body></body></body></worldbody>""",
    )
    assert list(mech.bodies) == ["arm"]
    assert {name: frame.body for name, frame in mech.frames.items()} == {
        "base": "world", "tool": "arm", "origin": "world", "tip": "arm",
    }  # fmt: skip
    # two equal balls, at 0.2 and 1: the centre is in the middle
    np.testing.assert_allclose(mech.bodies["arm"].position, (0.6, 0.0, 0.0))
    np.testing.assert_allclose(mech.frames["tip"].position, (0.4, 0.0, 0.5))
    mass = mech.bodies["arm"].mass / 2.0
    own = 0.4 * mass * 0.1**2
    inertia = [2.0 * own, 2.0 * own + 2.0 * mass * 0.4**2]
    np.testing.assert_allclose(np.diag(mech.bodies["arm"].inertia)[:2], inertia, rtol=1e-9)


@pytest.mark.parametrize(
    ("actuator", "spring", "effort", "motor"),
    [
        ('<motor gear="-3" ctrlrange="-2 1"/>', (0, 0, 0), 6.0, None),
        ('<motor gear="3" ctrlrange="-2 1" forcerange="-1 1"/>', (0, 0, 0), 3.0, None),
        (
            '<position kp="5" kv="1" gear="2" ctrlrange="-1 1"/>',
            (0, 0, 0),
            20.0,
            (20, 4, -0.5, 0.5),
        ),
        ('<velocity kv="4" ctrlrange="-2 2" forcerange="-3 3"/>', (0, 0, 0), 3.0, (0, 4, -2, 2)),
        (
            '<general gainprm="2" biastype="affine" biasprm="6 -3 -0.5" ctrlrange="-1 1"/>',
            (3, 0.5, 2.0),
            2.0,
            None,
        ),
    ],
)
def test_affine_actuators_are_efforts_motors_and_springs(tmp_path, actuator, spring, effort, motor):
    mech = read(
        tmp_path,
        '<worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><actuator>'
        + actuator.replace("/>", ' joint="j"/>')
        + "</actuator>",
    )
    joint, found = mech.joints["j"], mech.motors.get("j")
    assert (joint.stiffness, joint.damping, joint.rest[0]) == pytest.approx(spring)
    assert joint.effort == pytest.approx(effort)
    if motor is None:
        assert found is None
    else:
        assert (found.kp, found.kd, *found.targets) == pytest.approx(motor)


def test_keyframes_whose_velocities_are_left_out_are_named(tmp_path):
    mech = read(
        tmp_path,
        """<worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
        <keyframe><key name="up" qvel="1"/></keyframe>""",
    )
    assert "keyframes: up" in notes(mech, "ignored")


def test_welds_couplings_and_what_is_left_out(tmp_path):
    mech = read(
        tmp_path,
        "<worldbody>"
        + BALL
        + """<body name="rod" pos="0 0 2"><joint name="j" axis="0 1 0"/><joint name="k" axis="1 0 0"/>
        <geom size="0.1" pos="0.3 0 0"/></body></worldbody>
        <equality><weld name="weld" body1="ball" body2="rod"/>
        <joint name="gear" joint1="j" joint2="k" polycoef="0.1 2 0 0 0"/>
        <joint name="cube" joint1="j" joint2="k" polycoef="0 1 0 1 0"/></equality>
        <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
        <actuator><motor name="pull" tendon="t"/></actuator>
        <sensor><jointpos joint="j"/></sensor>""",
    )
    assert list(mech.bodies) == ["ball", "rod", "rod:j"]
    assert mech.joints["weld"].type == "fixed"
    gear = mech.couplings["gear"]
    assert (gear.joint, gear.other, gear.ratio, gear.offset) == ("j", "k", 2.0, 0.1)
    assert notes(mech, "dropped") == ["actuators: pull", "equalities: cube"]
    assert {"tendons: 1", "sensors: 1"} <= set(notes(mech, "ignored"))


def test_flexible_bodies_are_left_out_with_a_note(tmp_path):
    cloth = '<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01"/>'
    mech = read(tmp_path, f"<worldbody>{BALL}{cloth}</worldbody>")
    assert list(mech.bodies) == ["ball"]
    assert notes(mech, "dropped") == ["1 flexible bodies"]


def test_flags_of_the_file_hold(tmp_path):
    flags = '<option><flag gravity="disable" contact="disable"/></option>'
    mech = read(tmp_path, f'{flags}<worldbody><geom type="plane" size="1 1 1"/>{BALL}</worldbody>')
    assert not mech.gravity.any()
    assert not mech.collisions


def test_the_base_can_be_fixed_or_freed(tmp_path):
    arm = '<body name="arm"><geom size="0.1"/></body>'
    assert not read(tmp_path, f"<worldbody>{BALL}</worldbody>", base="fixed").bodies
    freed = read(tmp_path, f"<worldbody>{arm}</worldbody>", base="floating")
    assert [joint.type for joint in freed.joints.values()] == ["floating"]


OBJ = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 2) for z in (0, 3)) + "".join(
    f"f {a} {b} {c}\n" for a, b, c in (
        (1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2),
        (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4),
    )
)  # fmt: skip
MESH = """<compiler meshdir="parts"/><asset><mesh file="box.obj" scale="0.1 0.1 0.1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 1"><freejoint/>
<geom name="g" type="mesh" mesh="box" pos="0.5 0 0" euler="0 0 90"/></body></worldbody>"""


def test_meshes_are_where_their_files_have_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "box.obj").write_text(OBJ)
    mech = read(tmp_path, MESH)
    body, corners = mech.bodies["b"], mech.collisions["g"].corners
    # x of the file is y of the body, y is -x
    low, high = (0.5 - 0.2, 0.0, 0.0), (0.5, 0.1, 0.3)
    offset = body.position - (0.0, 0.0, 1.0)
    np.testing.assert_allclose(corners.min(axis=0) + offset, low, atol=1e-6)
    np.testing.assert_allclose(corners.max(axis=0) + offset, high, atol=1e-6)
    (tmp_path / "parts" / "box.obj").unlink()
    with pytest.raises(MechanismError, match="<mesh> 'box.obj' .*found no readable file"):
        read(tmp_path, MESH)


ARM = """<mujoco><compiler meshdir="parts"/><asset><mesh file="box.obj"/></asset><worldbody>
<body name="link"><joint name="j"/><geom name="g" type="mesh" mesh="box"/></body></worldbody></mujoco>"""
ATTACHED = """<asset><model name="arm" file="arm.xml"/></asset><worldbody>
<geom type="plane" size="1 1 1"/><attach model="arm" body="link" prefix="left_"/>
<attach model="arm" body="link" prefix="right_"/></worldbody>"""


def test_models_are_attached_with_their_meshes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "box.obj").write_text(OBJ)
    (tmp_path / "arm.xml").write_text(ARM)
    mech = read(tmp_path, ATTACHED)
    assert list(mech.bodies) == ["left_link", "right_link"]
    assert [len(each.corners) for each in mech.collisions.values()] == [8, 8]
    (tmp_path / "arm.xml").write_text(ARM.replace("<mesh", '<model file="arm.xml"/><mesh'))
    with pytest.raises(MechanismError, match=r"arm.xml: <model>: found 'arm.xml' again"):
        read(tmp_path, ATTACHED)


def test_files_that_are_included_are_part_of_the_model(tmp_path):
    (tmp_path / "ball.xml").write_text(f"<mujocoinclude>{BALL}</mujocoinclude>")
    mech = read(tmp_path, '<worldbody><include file="ball.xml"/></worldbody>')
    assert list(mech.bodies) == ["ball"]


STRANGERS = {
    "itself": ('<include file="robot.xml"/>', "found 'robot.xml' again"),
    "a device": (
        '<asset><mesh name="m" file="/dev/zero"/></asset>',
        "/dev/zero: found a device, expected an asset",
    ),
    "another model": (
        '<asset><model name="m" file="b.xml"/></asset>',
        "b.xml: found no readable file",
    ),
    "an unknown file": (
        '<extension><plugin plugin="p" file="a.obj"/></extension>',
        "<plugin> 'a.obj': found a file, expected none",
    ),
    "copies": ('<worldbody><replicate count="1000000"/></worldbody>', "found 1e.06 copies"),
    "a huge field": (
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
        "mujoco",
    ),
    "a misspelt element": ("<worldboddy/>", "mujoco refuses: .*unrecognized element"),
    "nan": (
        '<worldbody><body pos="nan 0 0"><joint/><geom size="0.1"/></body></worldbody>',
        "expected 3 finite numbers",
    ),
}


@pytest.mark.parametrize("content", STRANGERS)
def test_files_of_strangers_are_refused(tmp_path, content):
    text, message = STRANGERS[content]
    with pytest.raises(MechanismError, match=message):
        read(tmp_path, text)


def test_entities_are_refused(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>')
    with pytest.raises(MechanismError, match="found the declaration of an entity"):
        load_mjcf(path)


def test_a_ball_has_its_friction_and_not_its_range(tmp_path):
    mech = read(
        tmp_path,
        """<worldbody><body><joint name="j" type="ball" range="0 40" frictionloss="0.2"/>
        <geom size="0.1"/></body></worldbody>""",
    )
    assert mech.joints["j"].friction == 0.2
    assert [note.message for note in mech.notes if note.action == "dropped"] == [
        "limits of a spherical joint"
    ]


FLOATING = """<worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 1">
<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
<joint name="z" type="slide" axis="0 0 1" ref="1" {more}/><joint name="turn" type="ball"/>
<geom size="0.1" pos="0.2 0 0"/></body></worldbody>
<keyframe><key name="up" qpos="1 2 3 0 0 0 1"/></keyframe>"""


def test_three_slides_and_a_ball_float(tmp_path):
    mech = read(tmp_path, FLOATING.format(more=""))
    assert {name: joint.type for name, joint in mech.joints.items()} == {"turn": "floating"}
    # half a turn about z: the centre is 0.2 m behind
    np.testing.assert_allclose(mech.starts["up"]["turn"], (0.8, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0))
    damped = read(tmp_path, FLOATING.format(more='damping="1"'))
    assert list(damped.joints) == ["x", "y", "z", "turn"]
    assert damped.starts["up"]["z"] == 2.0


HINGES = """<worldbody><body name="b"><joint name="x" axis="1 0 0" {more}/>
<joint name="y" axis="0 1 0"/><joint name="z" axis="0 0 1" {pos}/>
<geom size="0.1" pos="0.2 0 0"/></body></worldbody>
<keyframe><key name="turned" qpos="0.3 -0.5 0.7"/></keyframe>"""


def test_three_free_hinges_through_a_point_are_a_ball(tmp_path):
    mech = read(tmp_path, HINGES.format(more="", pos=""))
    assert {name: joint.type for name, joint in mech.joints.items()} == {"z": "spherical"}
    sim, apart = (
        Simulator(mech),
        Simulator(read(tmp_path, HINGES.format(more="armature='1'", pos=""))),
    )
    assert list(apart.mechanism.joints) == ["x", "y", "z"]
    for each in (sim, apart):
        each.reset(mech.starts["turned"] if each is sim else {"x": 0.3, "y": -0.5, "z": 0.7})
    turns = (each.body_orientation("b") for each in (sim, apart))
    np.testing.assert_allclose(*turns, atol=1e-12)
    mech = read(tmp_path, HINGES.format(more="", pos="pos='0 0 0.01'"))
    assert list(mech.joints) == ["x", "y", "z"]


def test_three_slides_and_three_hinges_float(tmp_path):
    text = FLOATING.format(more="").replace(
        '<joint name="turn" type="ball"/>',
        "".join(
            f'<joint name="{n}" axis="{a}"/>'
            for n, a in (("r", "1 0 0"), ("p", "0 1 0"), ("turn", "0 0 1"))
        ),
    )
    mech = read(tmp_path, text.replace("0 0 0 1", "0 0 3.141592653589793"))
    assert {name: joint.type for name, joint in mech.joints.items()} == {"turn": "floating"}
    np.testing.assert_allclose(
        mech.starts["up"]["turn"], (0.8, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0), atol=1e-12
    )
