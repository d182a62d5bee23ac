"""A mechanism written as URDF and read back is the same mechanism: records, kinematics, loops, constant tables."""

from pathlib import Path

import numpy as np
import pytest

from scenes.minitaur_urdf import minitaur
from scenes.same_mechanism import compare, same_pose
from scenes.shapes import SOLIDS, sample
from scenes.trees import inertia, unit
from vigym import assets
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import roll_pitch_yaw, rotation_from_rpy
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.read.joints import LOOP_JOINT_TYPES

ROBOTS = (
    "a1/a1.urdf",
    "kuka_iiwa/model_free_base.urdf",
    "r2d2.urdf",
    "quadruped/minitaur.urdf",
    "sphere2.urdf",
)


@pytest.fixture(name="again")
def again_fixture(tmp_path):
    """Write a mechanism, load the file, compare, and return what was loaded."""

    def again(mech):
        text = mech.to_urdf(tmp_path / "written.urdf")
        assert (tmp_path / "written.urdf").read_text(encoding="utf-8") == text
        loaded = load_urdf(tmp_path / "written.urdf")
        compare(mech, loaded)
        return loaded

    return again


def orientation(rng):
    q = unit(rng.normal(size=4))
    return q * np.sign(q[0])


def add_body(mech, rng, name, turned=True):
    pose = {"position": rng.normal(size=3), "orientation": orientation(rng)}
    pieces = [
        Box(size=rng.uniform(0.1, 1, 3), rgba=rng.uniform(size=4), **pose),
        Sphere(radius=rng.uniform(0.1, 1), **pose),
        Cylinder(radius=rng.uniform(0.1, 1), length=rng.uniform(0.1, 1), **pose),
        Capsule(radius=rng.uniform(0.1, 1), length=rng.uniform(0.1, 1), **pose),
    ]
    q = orientation(rng) if turned else (1, 0, 0, 0)
    mech.add_body(
        name, rng.uniform(0.5, 2), inertia(rng), rng.normal(size=3), q, pieces[: rng.integers(5)]
    )
    mech.add_frame(f"{name} eye", name, rng.normal(size=3), orientation(rng))
    for k, piece in enumerate(
        pieces[: rng.integers(5)]
    ):  # the last one of another surface: it is the frame's
        mech.add_collision(
            f"{name} skin {k}", name, piece, friction=0.5, torsion=0.1 if k == 3 else 0.0
        )
    mech.add_contact(
        f"{name} toe", name, rng.normal(size=3), friction=0.5, radius=rng.choice([0.0, 0.2])
    )


def values_of(rng, type):
    """Random data that a joint of a tree can carry in a file."""
    values = {"damping": rng.uniform(), "stiffness": rng.uniform(), "velocity": rng.uniform(1, 9)}
    values["effort"] = rng.choice([None, 0.0, rng.uniform(1, 9)])
    if type in ("revolute", "prismatic", "continuous"):
        values["friction"] = rng.choice([0.0, rng.uniform()])
    if type in ("revolute", "prismatic"):
        values["limits"] = None if rng.uniform() < 0.5 else np.sort(rng.normal(size=2))
    if not JOINT_TYPES[type].has_quaternion:
        values["rest"] = rng.normal()
    return values


def random_mechanism(seed, free=False, offset=0.0):
    """Every type of the format in a random tree, frames and shapes everywhere, joints not in the order of bodies."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(ground=False, name=f"random {seed}")
    hinges = ["revolute", "continuous", "prismatic", "revolute"]
    others = rng.choice([type for type in JOINT_TYPES if type not in ("fixed", *hinges)], 3)
    types = rng.permutation([*hinges, *others])
    if free:
        add_body(mech, rng, "root", turned=False)
    else:
        mech.add_world_shape(
            Box(size=(1, 2, 3), position=rng.normal(size=3), orientation=orientation(rng))
        )
        mech.add_frame("post", "world", rng.normal(size=3), orientation(rng))
    for k in range(len(types)):
        add_body(mech, rng, f"b{k}")
    hinges = [
        f"j{k}" for k in range(len(types)) if types[k] in ("revolute", "prismatic", "continuous")
    ]
    for k in rng.permutation(len(types)):
        parent = rng.choice(["root" if free else "world", *(f"b{i}" for i in range(k))])
        joint, axis = values_of(rng, types[k]), unit(rng.normal(size=3))
        if JOINT_TYPES[types[k]].needs_second_axis:
            joint["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
        mech.add_joint(
            f"j{k}",
            types[k],
            parent,
            f"b{k}",
            rng.normal(size=3),
            axis,
            **joint,
        )
    mech.add_coupling(hinges[1], "mimic", hinges[1], hinges[0], rng.normal(), offset)
    mech.add_coupling(hinges[2], "mimic", hinges[2], hinges[1], rng.normal())
    return mech, rng


@pytest.mark.parametrize("name", assets.names())
def test_assets(again, name):
    again(load_urdf(assets.path(name)))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_robots(again, name, base):
    pybullet_data = pytest.importorskip("pybullet_data", reason="comes with pybullet")
    again(load_urdf(Path(pybullet_data.getDataPath()) / name, base=base))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("free", [False, True])
def test_random_trees(again, seed, free):
    again(random_mechanism(seed, free, offset=0.7)[0])


@pytest.mark.parametrize("seed", range(5))
def test_planar_joints_looking_down(again, seed):
    """Next to -z the plane's own axes turn with the last digits of the normal: rounding must not reach it."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(ground=False)
    for k in range(4):
        add_body(mech, rng, f"b{k}")
        parent = f"b{k - 1}" if k else "world"
        mech.add_joint(f"j{k}", "planar", parent, f"b{k}", rng.normal(size=3), (0, 0, -1))
    again(mech)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("free", [False, True])
def test_random_loops(again, seed, free):
    """Closing joints of two types between any two bodies or the world, some with a spring, limits and a speed."""
    mech, rng = random_mechanism(seed, free)
    bodies = [name for name in mech.bodies if name != "b6"]
    for type in rng.permutation(list(LOOP_JOINT_TYPES))[:2]:
        axis = unit(rng.normal(size=3))
        second = {"axis2": unit(np.cross(axis, rng.normal(size=3)))}
        values = second if JOINT_TYPES[type].needs_second_axis else {}
        if type in ("revolute", "prismatic", "continuous"):
            values |= {
                "damping": rng.uniform(),
                "stiffness": rng.uniform(),
                "rest": rng.normal(),
                "velocity": 3.0,
            }
        if type in ("revolute", "prismatic"):
            values |= {"limits": (-1.0, 2.0), "effort": 0.0}
        mech.add_joint(
            f"loop {type}",
            type,
            rng.choice(["world", *bodies]),
            "b6",
            rng.normal(size=3),
            axis,
            **values,
        )
    loaded = again(mech)
    assert not any(joint.is_open for joint in loaded.closing_joints)


@pytest.mark.parametrize("type", LOOP_JOINT_TYPES)
def test_open_loops(again, type):
    """A chain of balls that a joint of any type closes, its halves apart and turned: the halves stay as they are."""
    rng = np.random.default_rng(5)
    mech = Mechanism(ground=False)
    for k in range(5):
        add_body(mech, rng, f"b{k}")
        mech.add_joint(
            f"j{k}", "spherical", f"b{k - 1}" if k else "world", f"b{k}", rng.normal(size=3)
        )
    halves = {"child_position": rng.normal(size=3), "child_rotation": orientation(rng)}
    axes = {"axis": (0.6, 0.0, 0.8)}
    if JOINT_TYPES[type].needs_second_axis:
        axes["axis2"] = (0.8, 0.0, -0.6)
    mech.add_joint(
        "d",
        type,
        "world",
        "b4",
        halves["child_position"] + 0.1 * rng.normal(size=3),
        **axes,
        **halves,
    )
    loaded = again(mech)
    assert loaded.joints["d"].is_open
    np.testing.assert_allclose(
        loaded.structure.assembly, mech.structure.assembly, rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("closing", ["revolute", "spherical"])
def test_the_minitaur(again, tmp_path, closing):
    file = tmp_path / "minitaur.urdf"
    file.write_text(minitaur(closing))
    assert again(load_urdf(file)).degrees_of_freedom == 14


def test_a_floating_body_whose_axes_are_not_the_worlds(tmp_path):
    """Its file has a massless root; written once more that root, now a frame, serves again."""
    mech, rng = Mechanism(), np.random.default_rng(3)
    add_body(mech, rng, "trunk")
    text = mech.to_urdf(tmp_path / "once.urdf")
    assert "<!-- link 'trunk_root': added, because a root has the axes of the world -->" in text
    loaded = load_urdf(tmp_path / "once.urdf")
    assert set(loaded.frames) == {"trunk eye", "trunk_root"}
    same_pose(loaded.bodies["trunk"], mech.bodies["trunk"])
    text = loaded.to_urdf(tmp_path / "twice.urdf")
    assert "<!--" not in text
    assert text.count("<link") == 3
    compare(loaded, load_urdf(tmp_path / "twice.urdf"))


@pytest.mark.parametrize("type", ["revolute", "prismatic", "continuous", "planar"])
def test_limits_that_are_infinite_on_both_sides_are_none(tmp_path, type):
    mech = Mechanism()
    for name in "ab":
        mech.add_body(name, 1.0, (1, 1, 1))
    free = [(-np.inf, np.inf)] * JOINT_TYPES[type].dofs
    mech.add_joint("tree", type, "world", "a", (0, 0, 0), limits=free)
    mech.add_joint("carrier", "floating", "a", "b", (0, 0, 0))
    mech.add_joint("loop", type, "world", "b", (0, 0, 0), limits=free)
    mech.to_urdf(tmp_path / "free.urdf")
    loaded = load_urdf(tmp_path / "free.urdf")
    assert [note for note in loaded.notes if note.action == "changed"] == []
    joints = loaded.joints
    assert {name: joint.limits for name, joint in joints.items()} == dict.fromkeys(mech.joints)


def test_names_are_written_as_they_are(again):
    name = "a <b> & \"c\" 'd'\n--ü"
    mech = Mechanism(name=name, ground=True)
    mech.add_body(name, 1.0, (1, 1, 1))
    mech.add_body("other", 1.0, (1, 1, 1))
    mech.add_frame("eye", "other")
    mech.add_joint("eye_mount", "continuous", name, "other", (0, 0, 0))
    mech.add_joint(name, "continuous", name, "other", (0, 0, 0))
    assert "the ground is not in this file" in mech.to_urdf()
    mech.ground = None
    assert "<!--" not in mech.to_urdf()
    again(mech)


@pytest.mark.parametrize("kind", SOLIDS)
def test_every_shape_is_written(again, kind):
    shapes = [sample(kind, seed) for seed in range(3)]
    mech = Mechanism(ground=False)
    mech.add_body("a", 1.0, (1, 1, 1), shapes=shapes)
    for k, shape in enumerate(shapes):
        mech.add_collision(f"skin {k}", "a", shape)
    again(mech)


def test_meshes_are_written_by_their_path(again, tmp_path, monkeypatch):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    monkeypatch.chdir(tmp_path)
    mech = Mechanism(ground=False)
    mech.add_body("a", 1.0, (1, 1, 1), shapes=[Mesh(path=tmp_path / "a.obj", scale=(1, 2, 3))])
    again(mech)
    mech.add_body("b", 1.0, (1, 1, 1), shapes=[Mesh(path=Path("a.obj"))])
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    assert mech.to_urdf().count(f'filename="{(tmp_path / "a.obj").as_posix()}"') == 2


def test_rotations_are_exact_at_any_pitch():
    """Also straight up and down and next to that, where roll and yaw turn about one axis."""
    rng = np.random.default_rng(0)
    for pitch in (0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-5 - np.pi / 2, np.pi, 2.5):
        for _ in range(20):
            roll, yaw = rng.uniform(-np.pi, np.pi, 2)
            turned = rotation_from_rpy(np.array([roll, pitch, yaw]))
            np.testing.assert_allclose(
                rotation_from_rpy(roll_pitch_yaw(turned)), turned, rtol=0, atol=5e-16
            )
    assert roll_pitch_yaw(np.eye(3)).tolist() == [0.0, 0.0, 0.0]
