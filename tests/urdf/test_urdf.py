"""What the URDF importer makes of good files: numbers, merging, the world, shapes, reports."""

import numpy as np
import pytest

from scenes.urdf_text import INERTIAL, LIMIT, joint, link
from vigym import assets
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.mechanism.elements.shapes import Box, Cylinder, Mesh, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.visuals import build_visuals
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.links import read_robot
from vigym.urdf.read.xml import parse_xml


def messages(mech: Mechanism, action: str) -> str:
    return "\n".join(str(entry) for entry in mech.notes if entry.action == action)


def test_pendulum_asset():
    mech = load_urdf(assets.path("pendulum"))
    rod, hinge = mech.bodies["rod"], mech.joints["hinge"]
    assert (mech.name, hinge.type, hinge.parent, hinge.child) == (
        "pendulum",
        "continuous",
        "world",
        "rod",
    )
    np.testing.assert_array_equal(hinge.axis, [0, 1, 0])
    np.testing.assert_array_equal(hinge.position, [0, 0, 0])
    np.testing.assert_array_equal(rod.position, [0, 0, -0.5])
    np.testing.assert_array_equal(
        np.diag(rod.inertia), [0.08348958333333333, 0.08348958333333333, 0.0003125]
    )
    assert mech.actuator_names == ["hinge"]
    assert (hinge.effort, hinge.velocity, hinge.limits) == (2.0, 30.0, None)
    cylinder, ball = rod.shapes
    assert isinstance(cylinder, Cylinder)
    np.testing.assert_array_equal(cylinder.position, [0, 0, 0])
    np.testing.assert_array_equal(ball.position, [0, 0, -0.5])
    np.testing.assert_array_equal(cylinder.rgba, [0.16, 0.44, 0.76, 1])
    (axle,) = mech.world_shapes
    np.testing.assert_allclose(axle.orientation, [np.sqrt(0.5), np.sqrt(0.5), 0, 0], rtol=1e-15)


COMPOUND = (
    "base",
    "chassis_left",
    "chassis_right",
)  # links of assets that are all of their boxes, of one density
OTHER_INERTIAS = {
    "bennett": "those of the quadruped, but for its rods",
    "cassie": "those that the maker published",
    "exoskeleton": "those of a person, by Winter's table",
    "quadruped": "those that the maker published",
    "snake": "those of boxes that fill a link, drawn shorter",
    "snake_sidewinding": "those of cylinders that fill a module, drawn shorter",
    "snake_touching": "those of the snake",
} | dict.fromkeys(
    (
        *("ant", "half_cheetah", "hopper", "humanoid", "inverted_pendulum", "reacher"),
        *("standard_double_pendulum", "walker2d"),
    ),
    "those of MuJoCo's models, see tests/envs/test_standard.py",
)


def moments(solid, mass: float) -> np.ndarray:
    if isinstance(solid, Box):
        x, y, z = solid.size**2 * mass / 12
        return np.diag([y + z, x + z, x + y])
    if isinstance(solid, Sphere):
        return 0.4 * mass * solid.radius**2 * np.eye(3)
    across = mass * (3 * solid.radius**2 + solid.length**2) / 12
    return np.diag([across, across, mass * solid.radius**2 / 2])


@pytest.mark.parametrize("name", sorted(set(assets.names()) - set(OTHER_INERTIAS)))
def test_masses_and_inertias_of_the_assets_are_those_of_their_shapes(name):
    for part in (
        part
        for part in read_robot(parse_xml(assets.path(name), "robot")).links.values()
        if part.mass
    ):
        solids = part.visuals if part.name in COMPOUND else part.visuals[:1]
        volumes = [np.prod(each.shape.size) for each in solids] if len(solids) > 1 else [1.0]
        expected = np.zeros((3, 3))
        center = sum(
            volume * each.pose.position for volume, each in zip(volumes, solids, strict=True)
        ) / sum(volumes)
        np.testing.assert_allclose(center, part.inertial.position, atol=1e-17)
        for volume, each in zip(volumes, solids, strict=True):
            np.testing.assert_array_equal(each.pose.rotation, part.inertial.rotation)
            mass, arm = part.mass * volume / sum(volumes), each.pose.position - center
            expected += moments(each.shape, mass) + mass * (
                arm @ arm * np.eye(3) - np.outer(arm, arm)
            )
        np.testing.assert_allclose(part.inertia, expected, rtol=1e-14, atol=1e-17)


@pytest.mark.parametrize(
    ("name", "actuators", "tip"),
    [
        ("cartpole", ["rail"], 1.0),
        ("inverted_double_pendulum", ["rail"], 1.2),
        ("acrobot", ["elbow"], -2.0),
    ],
)
def test_assets_have_the_actuators_and_zero_poses_their_tasks_are_written_for(name, actuators, tip):
    mech = load_urdf(assets.path(name))
    assert mech.actuator_names == actuators
    last = list(mech.bodies.values())[-1]
    assert last.position[2] + last.shapes[-1].position[2] == pytest.approx(tip)


def test_unknown_assets_are_named():
    with pytest.raises(
        ValueError, match="'pendulm', expected one of: acrobot, ant, bennett, biped, cartpole"
    ):
        assets.path("pendulm")


def test_fixed_joints_are_merged_exactly(load):
    """Two cubes and a massless frame become one body: steiner terms, turned tensor, frames and shapes."""
    tensor = '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" iyz="0.03"/>'
    cube = '<visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>'
    mech = load(
        link("a", f'<inertial><origin xyz="1 0 0"/><mass value="1"/>{tensor}</inertial>'),
        link("b", f'<inertial><origin xyz="0 1 0"/><mass value="3"/>{tensor}</inertial>{cube}'),
        link("eye", ""),
        joint("ab", "fixed", "a", "b", '<origin xyz="0 0 2" rpy="0 0 1.5707963267948966"/>'),
        joint("be", "fixed", "b", "eye", '<origin xyz="0 0 1"/>'),
    )
    (body,) = mech.bodies.values()
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    inertia = np.array([[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    centers = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 2.0]])
    center = (centers[0] + 3 * centers[1]) / 4
    expected = inertia + turn @ inertia @ turn.T
    for mass, d in zip((1, 3), centers - center, strict=True):
        expected = expected + mass * (d @ d * np.eye(3) - np.outer(d, d))
    assert (body.name, body.mass) == ("a", 4.0)
    np.testing.assert_allclose(body.position, center, atol=1e-15)
    np.testing.assert_allclose(body.inertia, expected, rtol=1e-14, atol=1e-15)
    assert {frame.body for frame in mech.frames.values()} == {"a"}
    np.testing.assert_allclose(
        mech.frames["eye"].position, np.array([0, 0, 3]) - center, atol=1e-15
    )
    np.testing.assert_allclose(
        mech.frames["b"].orientation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15
    )
    np.testing.assert_allclose(body.shapes[0].position, np.array([0, 0, 3]) - center, atol=1e-15)
    assert "joint 'ab': fixed: link 'b' is part of 'a'" in messages(mech, "merged")


def test_types_axes_and_bounds_are_those_of_the_file(load):
    kinds = ("revolute", "continuous", "prismatic", "spherical", "planar", "floating")
    extra = {"spherical": '<limit effort="2"/>', "floating": "", "continuous": LIMIT, "planar": ""}
    turned = '<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><axis xyz="0 3 4"/>'
    mech = load(
        link("world", ""),
        *(link(kind) for kind in kinds),
        *(
            joint(f"j{kind}", kind, "world", kind, turned + extra.get(kind, LIMIT))
            for kind in kinds
        ),
    )
    assert [j.type for j in mech.joints.values()] == list(kinds)
    assert [j.name for j in mech.tree_joints] == [f"j{kind}" for kind in kinds]
    for kind in ("revolute", "continuous", "prismatic", "planar"):
        np.testing.assert_allclose(mech.joints[f"j{kind}"].axis, [-0.6, 0.0, 0.8], atol=1e-15)
    assert mech.joints["jrevolute"].limits.tolist() == [[-1.0, 2.0]]
    assert mech.joints["jcontinuous"].limits is None
    assert "jcontinuous' <limit>: lower and upper have no meaning" in messages(mech, "ignored")
    assert messages(mech, "changed").count("length 5 scaled to 1") == 4
    assert "joint 'jplanar': no <limit effort>" in messages(mech, "passive")
    assert mech.actuator_names[-3:] == ["jspherical.wx", "jspherical.wy", "jspherical.wz"]


def test_what_is_not_simulated_is_reported(load):
    dynamics = (
        '<dynamics damping="0.5" friction="0.25" spring_stiffness="7" spring_reference="0.5"/>'
    )
    extras = '<safety_controller k_velocity="1"/><calibration rising="0"/>'
    mech = load(
        '<transmission name="t"/><gazebo reference="a"/><sensor name="s"/>',
        link(
            "a",
            INERTIAL + '<contact><rolling_friction value="0.1"/><stiffness value="9"/></contact>',
        ),
        link("b"),
        link("c"),
        joint("j", "revolute", "a", "b", LIMIT + dynamics + extras),
        joint("k", "prismatic", "a", "c", '<limit lower="1" upper="-1" effort="0" velocity="1"/>'),
        link("d"),
        joint("m", "planar", "c", "d", '<dynamics friction="0.25"/>'),
    )
    j = mech.joints["j"]
    assert (j.damping, j.friction, j.stiffness, j.rest, j.effort) == (0.5, 0.25, 7.0, (0.5,), 3.0)
    assert mech.joints["m"].friction == 0.0
    ignored = messages(mech, "ignored")
    for tag in (
        "<transmission> 't'",
        "<gazebo>",
        "<sensor> 's'",
        "<safety_controller>",
        "<calibration>",
    ):
        assert tag in ignored
    assert "link 'a' <contact> <rolling_friction>: nothing resists rolling" in ignored
    assert "link 'a' <contact> <stiffness>: contacts are rigid" in ignored
    assert "joint 'm' <dynamics>: friction 0.25: a planar joint has none" in ignored
    assert "joint 'k' velocity: velocity limit 1 ignored" in messages(mech, "not enforced")
    assert "lower 1 > upper -1 is read as a joint without limits" in messages(mech, "changed")
    assert "joint 'k': effort 0" in messages(mech, "passive")


def test_base(load):
    heavy = (link("a"), link("b"), joint("j", "continuous", "a", "b"))
    assert [j.name for j in load(*heavy).tree_joints] == ["a:floating", "j"]
    fixed = load(*heavy, base="fixed")
    assert [j.name for j in fixed.tree_joints] == ["j"]
    assert fixed.joints["j"].parent == "world"
    assert fixed.frames["a"].body == "world"
    assert "link 'a': fixed to the world: its 1 kg do not move" in messages(fixed, "merged")
    light = (link("a", ""), link("b"), joint("j", "continuous", "a", "b"))
    assert [j.name for j in load(*light).tree_joints] == ["j"]
    with pytest.raises(UrdfError, match="base='floating': found no mass in the root link 'a'"):
        load(*light, base="floating")
    dummy = (
        link("a", ""),
        link("b"),
        joint("j", "fixed", "a", "b"),
    )  # a massless root on a trunk floats with it
    assert list(load(*dummy).bodies) == ["b"]
    with pytest.raises(UrdfError, match="base: found 'free'"):
        load(*heavy, base="free")
    with pytest.raises(MechanismError, match="ground"):
        load(*heavy, ground="grass")
    assert load(*heavy, ground=True).ground.height == 0.0


def test_a_root_link_named_world_floats_with_what_is_fixed_to_it_when_asked(load):
    """As the universal robots and Panda have it: a link world, and the robot on a fixed joint."""
    raised = joint("weld", "fixed", "world", "a", '<origin xyz="0 0 1"/>')
    arm = (link("world", ""), link("a"), link("b"), raised, joint("j", "continuous", "a", "b"))
    assert [j.name for j in load(*arm).tree_joints] == ["j"]
    mech = load(*arm, base="floating")
    assert [j.name for j in mech.tree_joints] == ["a:floating", "j"]
    assert mech.bodies["a"].position.tolist() == [0.0, 0.0, 1.0]
    assert "world" not in mech.frames
    merged = "link 'world': base='floating': part of 'a', not the world; it has no frame"
    assert merged in messages(mech, "merged")
    closing = '<loop_joint name="k" type="spherical"><link1 link="world" xyz="0 0 1"/><link2 link="b"/></loop_joint>'
    assert load(*arm, closing, base="floating").joints["k"].parent == "a"


def test_a_root_link_named_world_that_cannot_float_is_refused_with_advice(load):
    hinge = joint("j", "continuous", "world", "a")
    found = (
        "no mass in the root link 'world' and what is fixed to it, which by convention is the world"
    )
    with pytest.raises(UrdfError, match=f"base='floating': found {found}.*leave `base` out"):
        load(link("world", ""), link("a"), hinge, base="floating")
    with pytest.raises(
        UrdfError, match="a root link named 'world' with 1 kg, expected another name"
    ):
        load(link("world"), link("a"), hinge, base="floating")


def test_point_masses_may_be_parts_of_a_body_but_none_alone(load):
    point = '<inertial><origin xyz="0 0 1"/><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    mech = load(link("a"), link("b", point), joint("j", "fixed", "a", "b"))
    np.testing.assert_allclose(mech.bodies["a"].inertia, np.diag([1.5, 1.5, 1.0]))
    with pytest.raises(
        UrdfError, match=r"link 'b' <inertial> <inertia>: found principal moments \(0, 0, 0\)"
    ):
        load(link("b", point))


def write_meshes(folder):
    (folder / "pack" / "meshes").mkdir(parents=True)
    triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (folder / "pack" / "meshes" / "a.obj").write_text(triangle)
    (folder / "b.obj").write_text(triangle)
    (folder / "b.ply").write_text("ply")
    (folder / "b.doc").write_text(triangle)
    (folder / "garbage.obj").write_bytes(bytes(range(256)) * 40)
    (folder / "wrong.obj").write_text("v 0 0 0\nf 1 2 3\n")


def test_colours_and_meshes(load, tmp_path, monkeypatch):
    def visual(geometry: str, material: str) -> str:
        return f"<visual><geometry>{geometry}</geometry>{material}</visual>"

    write_meshes(tmp_path)
    beside = str(tmp_path / "b.obj")
    names = ("package://pack/meshes/a.obj", "b.obj", beside, f"file://{beside}")
    unread = ("garbage.obj", "wrong.obj", "b.ply")
    bad = ("package://pack/meshes/b.obj", "none.obj", "b.doc")
    red = '<material name="red"><color rgba="1 0 0 2"/></material>'
    named = '<material name="green"/>'
    shapes = [
        visual(f'<mesh filename="{name}" scale="1 1 2"/>', named)
        for name in (*names, *unread, *bad)
    ]
    balls = [
        visual('<sphere radius="1"/>', material)
        for material in (red, named, '<material name="none"/>', "")
    ]
    empty = visual('<sphere radius="0"/>', "") + visual('<plane normal="0 0 1"/>', "")
    green = '<material name="green"><color rgba="0 1 0 0.5"/></material>'
    mech = load(green, link("a", INERTIAL + "".join([*shapes, *balls, empty])))
    drawn = mech.bodies["a"].shapes
    assert [type(shape) for shape in drawn] == [Mesh] * 7 + [Sphere] * 4
    with pytest.warns(UserWarning, match="'r': not drawn: mesh") as warned:
        assert len(build_visuals(mech)) == 8
    for name, warning in zip(unread, warned, strict=True):
        assert f"mesh {tmp_path / name}: found" in str(warning.message)
    drawn = [*drawn[:4], *drawn[7:]]
    assert all(shape.path.is_absolute() and shape.path.is_file() for shape in drawn[:4])
    assert drawn[0].scale.tolist() == [1.0, 1.0, 2.0]
    colours = [shape.rgba.tolist() for shape in drawn[3:]]
    assert colours == [
        [0, 1, 0, 0.5],
        [1, 0, 0, 1],
        [0, 1, 0, 0.5],
        [0.6, 0.6, 0.6, 1],
        [0.6, 0.6, 0.6, 1],
    ]
    dropped = messages(mech, "dropped")
    assert dropped.count("mesh '") == len(bad)
    assert all(name in dropped for name in bad)
    assert dropped.count("not drawn") == len(bad) + 2
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "pack"))
    far = tmp_path / "far" / "away"
    far.mkdir(parents=True)
    (far / "r.urdf").write_text(f'<robot name="r">{link("a", INERTIAL + shapes[0])}</robot>')
    assert len(load_urdf(far / "r.urdf").bodies["a"].shapes) == 1


@pytest.mark.parametrize(
    ("written", "file"),
    [
        ("file://{folder}/my%20meshes/a%C3%BC.obj", "my meshes/aü.obj"),
        ("file://my%20meshes/a.obj", "my%20meshes/a.obj"),
        ("package://pack/my%20meshes/a.obj", "pack/my meshes/a.obj"),
        ("my%20meshes/a.obj", "my%20meshes/a.obj"),
    ],
)
def test_mesh_files_with_percent_encoded_names_are_found(load, tmp_path, written, file):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n")
    mesh = f'<geometry><mesh filename="{written.format(folder=tmp_path)}"/></geometry>'
    shapes = f"<collision>{mesh}</collision><visual>{mesh}</visual>"
    mech = load(link("a", INERTIAL + shapes), ground=True)
    assert len(mech.collisions["a"].corners) == 4
    assert len(mech.bodies["a"].shapes) == 1


def test_the_first_of_several_materials_counts_and_the_others_are_noted(load):
    """As files of Unitree have them."""
    colours = '<material name="red"><color rgba="1 0 0 1"/></material><material name="green"/>'
    drawn = f'<visual><geometry><sphere radius="1"/></geometry>{colours}</visual>'
    mech = load(link("a", INERTIAL + drawn))
    assert mech.bodies["a"].shapes[0].rgba.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert "that of its first <material>" in messages(mech, "ignored")
