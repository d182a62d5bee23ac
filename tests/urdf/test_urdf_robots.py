"""Every URDF file that ships with pybullet_data imports with its mass right, or is refused for a true reason."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from vigym.captured_output import captured_output
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.convert.load import load_urdf

pybullet = pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
pybullet_data = pytest.importorskip("pybullet_data", reason="comes with pybullet")

DATA = Path(pybullet_data.getDataPath())
FILES = sorted(file for file in DATA.rglob("*.urdf") if "random_urdfs" not in file.parts)
FILES += [DATA / "random_urdfs" / number / f"{number}.urdf" for number in ("000", "500", "999")]

TRIANGLE = "expected none larger than the sum of the other two"
ZERO_INERTIA = (
    r"link 'chassis' <inertial> <inertia>: found principal moments \(0, 0, 0\), expected all > 0"
)
FLAT = r"principal moments \(0, 1, 1\), expected all > 0"

REFUSED = {
    "TwoJointRobot_w_fixedJoints.urdf": f"link 'link_1'.*{TRIANGLE}",
    "TwoJointRobot_wo_fixedJoints.urdf": f"link 'link_1'.*{TRIANGLE}",
    "bicycle/bike.urdf": 'found xyz="0.07, 0, -0.69"',
    "biped/biped2d_pybullet.urdf": 'found lower="-1.57."',
    "husky/husky.urdf": r"found rpy=.*optenv.*xacro",
    "kuka_iiwa/model_for_sdf.urdf": "<collision>.*meshes/coarse/link_0.stl: found no readable file.*missing_meshes=",
    "laikago/laikago.urdf": ZERO_INERTIA,
    "laikago/laikago_toes.urdf": ZERO_INERTIA,
    "laikago/laikago_toes_limits.urdf": ZERO_INERTIA,
    "mini_cheetah/mini_cheetah.urdf": f"link 'thigh_fr'.*{TRIANGLE}",
    "quadruped/microtaur/microtaur.urdf": 'found rpy="-3.14159 1.57079 0 0"',
    "quadruped/spirit40newer.urdf": "joint 'RL_lower_joint': found 2 <axis> elements",
    "racecar/racecar_differential.urdf": 'found scale="1 1 1 1"',
    "random_urdfs/000/000.urdf": FLAT,
    "random_urdfs/500/500.urdf": FLAT,
    "random_urdfs/999/999.urdf": FLAT,
    "spherical_joint_limit.urdf": f"link 'neck'.*{TRIANGLE}",
    "torus_deform.urdf": "found 0 links",
    "xarm/xarm6_robot.urdf": f"link 'link2'.*{TRIANGLE}",
    "xarm/xarm6_robot_white.urdf": f"link 'link2'.*{TRIANGLE}",
    "xarm/xarm6_with_gripper.urdf": f"link 'link2'.*{TRIANGLE}",
}


IMPOSSIBLE = (TRIANGLE, ZERO_INERTIA, FLAT)
MENDED = [name for name, reason in REFUSED.items() if reason.endswith(IMPOSSIBLE)]

# Root links named world on which the robot is fixed; on the others it is hinged.
FREED = ["xarm/base.urdf", "xarm/link6_com.urdf", "xarm/xarm6_robot.urdf"]
HINGED = ["cube_rotate.urdf", "differential/diff_ring.urdf", "pendulum5.urdf"]


def moving_mass(file: Path) -> float:
    """Sum the masses of a file's links, without those welded to the world: independent of the importer."""
    robot = ET.fromstring(file.read_bytes().strip(b"\0 \n\r\t"))
    heavy = [link for link in robot.findall("link") if link.find("inertial") is not None]
    masses = dict.fromkeys((link.get("name") for link in robot.findall("link")), 0.0)
    masses |= {link.get("name"): float(link.find("inertial/mass").get("value")) for link in heavy}
    joints = [
        (j.get("type"), j.find("parent").get("link"), j.find("child").get("link"))
        for j in robot.findall("joint")
    ]
    (root,) = set(masses) - {child for _, _, child in joints}
    welded = {root}
    while more := {c for kind, p, c in joints if kind == "fixed" and p in welded} - welded:
        welded |= more
    is_world = root == "world" or sum(masses[name] for name in welded) == 0
    return sum(mass for name, mass in masses.items() if not (is_world and name in welded))


def name_of(file: Path) -> str:
    return file.relative_to(DATA).as_posix()


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_shipped_robot(file, capfd):
    reason = REFUSED.get(name_of(file))
    if reason:
        with pytest.raises(UrdfError) as caught:
            load_urdf(file)
        assert re.search(reason, str(caught.value))
    else:
        mech = load_urdf(file)
        assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(
            moving_mass(file), rel=1e-14
        )
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", MENDED)
def test_impossible_inertias_of_shipped_robots_are_mended_and_told(name):
    mech = load_urdf(DATA / name, inertias="report")
    assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(
        moving_mass(DATA / name), rel=1e-14
    )
    told = [note for note in mech.notes if note.action == "changed" and ": taken as" in str(note)]
    assert told


@pytest.mark.parametrize("name", FREED)
def test_shipped_robots_on_a_link_named_world_float_when_asked(name):
    mech = load_urdf(DATA / name, base="floating", inertias="report")
    assert mech.tree_joints[0].type == "floating"


@pytest.mark.parametrize("name", HINGED)
def test_shipped_robots_that_hang_on_the_world_cannot_float(name):
    with pytest.raises(UrdfError, match="'world' and what is fixed to it, which by convention"):
        load_urdf(DATA / name, base="floating")


@pytest.mark.parametrize(
    "name", ["a1/a1.urdf", "kuka_iiwa/model_free_base.urdf", "r2d2.urdf", "quadruped/minitaur.urdf"]
)
def test_bodies_are_where_pybullet_puts_them(name):
    """Centre of mass and inertia of the whole robot about it, from pybullet's own world poses of every link."""
    mech = load_urdf(DATA / name)
    masses = np.array([body.mass for body in mech.bodies.values()])
    places = np.array([body.position for body in mech.bodies.values()])
    tensors = [
        rotation(b.orientation) @ b.inertia @ rotation(b.orientation).T
        for b in mech.bodies.values()
    ]
    center, inertia = total(masses, places, tensors)
    expected_center, expected_inertia = total(*read_with_pybullet(DATA / name))
    np.testing.assert_allclose(center, expected_center, atol=1e-6)
    np.testing.assert_allclose(inertia, expected_inertia, atol=2e-6 * np.abs(inertia).max())


def rotation(wxyz) -> np.ndarray:
    w, *xyz = wxyz
    return np.array(pybullet.getMatrixFromQuaternion([*xyz, w])).reshape(3, 3)


def total(masses, places, tensors) -> tuple[np.ndarray, np.ndarray]:
    center = masses @ places / masses.sum()
    offsets = places - center
    steiner = [
        m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, offsets, strict=True)
    ]
    return center, np.sum(tensors, axis=0) + np.sum(steiner, axis=0)


def read_with_pybullet(file: Path) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return masses, centres of mass and world inertias of all links with <inertial>, the root link at the origin."""
    given = {
        link.get("name")
        for link in ET.parse(file).findall("link")
        if link.find("inertial") is not None
    }
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_IGNORE_VISUAL_SHAPES
    with captured_output():
        client = pybullet.connect(pybullet.DIRECT)
        robot = pybullet.loadURDF(
            str(file), flags=flags | pybullet.URDF_IGNORE_COLLISION_SHAPES, physicsClientId=client
        )
        home = pybullet.getDynamicsInfo(robot, -1, physicsClientId=client)
        pybullet.resetBasePositionAndOrientation(robot, home[3], home[4], physicsClientId=client)
        rows = []
        for index in range(-1, pybullet.getNumJoints(robot, physicsClientId=client)):
            info = pybullet.getDynamicsInfo(robot, index, physicsClientId=client)
            if index < 0:
                link, pose = pybullet.getBodyInfo(robot, physicsClientId=client)[0], home[3:5]
            else:
                link = pybullet.getJointInfo(robot, index, physicsClientId=client)[12]
                pose = pybullet.getLinkState(
                    robot, index, computeForwardKinematics=True, physicsClientId=client
                )[:2]
            if link.decode() in given:
                rows.append(
                    (
                        info[0],
                        pose[0],
                        np.array(pybullet.getMatrixFromQuaternion(pose[1])).reshape(3, 3),
                        info[2],
                    )
                )
        pybullet.disconnect(client)
    tensors = [turn @ np.diag(moments) @ turn.T for _, _, turn, moments in rows]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), tensors
