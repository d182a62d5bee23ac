"""The Mechanism builder: what it stores, its loops, coordinates, frames, pickles."""

import copy
import pickle

import numpy as np
import pytest

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.joints import joint_frame
from vigym.mechanism.elements.shapes import Box, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree

ONE = (1.0, 1.0, 1.0)
NAN, INF = float("nan"), float("inf")


def two_bodies() -> Mechanism:
    mech = Mechanism()
    mech.add_body("a", 1.0, ONE, (1.0, 0.0, 0.0))
    mech.add_body("b", 2.0, ONE, (2.0, 0.0, 0.0))
    return mech


def test_bodies_are_stored_in_normal_form():
    mech = Mechanism()
    body = mech.add_body(
        "a", 2, (1, 2, 3), position=(1, 2, 3), orientation=(2, 0, 0, 0), shapes=[Sphere(0.1)]
    )
    assert mech.bodies["a"] is body
    assert body.mass == 2.0
    np.testing.assert_array_equal(body.inertia, np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(body.orientation, [1.0, 0.0, 0.0, 0.0])
    assert body.shapes[0].radius == 0.1
    with pytest.raises(ValueError, match="read-only"):
        body.inertia[0, 0] = 5.0


def test_gravity_is_stored_in_normal_form_whenever_it_is_set():
    mech = two_bodies()
    mech.gravity = (0, 0, -1.62)
    for each in (mech, pickle.loads(pickle.dumps(mech)), copy.deepcopy(mech)):
        np.testing.assert_array_equal(each.gravity, [0.0, 0.0, -1.62])
        with pytest.raises(ValueError, match="read-only"):
            each.gravity[2] = 5.0
    with pytest.raises(MechanismError, match=r"gravity: found \[0.0, 0.0, -1.62\], expected"):
        mech.to_urdf()


def test_unit_vectors_of_any_scale():
    mech = two_bodies()
    joint = mech.add_joint("j", "revolute", "a", "b", (0, 0, 0), axis=(3e-200, 0.0, 4e-200))
    np.testing.assert_allclose(joint.axis, [0.6, 0.0, 0.8], rtol=1e-15)
    body = mech.add_body("c", 1, ONE, orientation=(1e200, 0, 0, 1e200))
    np.testing.assert_allclose(body.orientation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], rtol=1e-15)


def test_a_joint_whose_child_is_carried_closes_a_loop():
    mech = two_bodies()
    mech.add_body("c", 1.0, ONE)
    mech.add_joint("ab", "revolute", "a", "b", (0, 0, 0))
    mech.add_joint("bc", "revolute", "b", "c", (0, 0, 0))
    mech.add_joint(
        "ca", "revolute", "c", "a", (0, 0, 0)
    )  # a carries c: nothing else carries a, which floats
    mech.add_joint("ac", "spherical", "a", "c", (0, 0, 0))
    assert [joint.name for joint in mech.tree_joints] == ["a:floating", "ab", "bc"]
    assert [joint.name for joint in mech.closing_joints] == ["ca", "ac"]
    assert mech.velocity_names[-4:] == ["ca", "ac.wx", "ac.wy", "ac.wz"]


def test_coordinates_of_every_type():
    freedoms = {
        "fixed": 0,
        "revolute": 1,
        "continuous": 1,
        "prismatic": 1,
        "cylindrical": 2,
        "spherical": 3,
        "planar": 3,
        "universal": 2,
        "sliding_on_plane": 2,
        "fixed_orientation": 3,
        "fixed_direction": 4,
        "universal_on_line": 3,
        "universal_on_plane": 4,
        "universal_in_space": 5,
        "point_on_line": 4,
        "point_on_plane": 5,
    }
    for type, count in {**freedoms, "floating": 6}.items():
        mech = Mechanism()
        mech.add_body("a", 1.0, ONE)
        extra = {"axis2": (1, 0, 0)} if JOINT_TYPES[type].needs_second_axis else {}
        mech.add_joint("j", type, "world", "a", (0, 0, 0), effort=2.0 if count else None, **extra)
        assert (
            mech.degrees_of_freedom == len(mech.velocity_names) == len(mech.actuator_names) == count
        )
        joint_type = JOINT_TYPES[type]
        assert len(joint_type.translations) + len(joint_type.rotations) == count
        assert len(mech.position_names) == count + joint_type.has_quaternion
        assert mech.redundant_constraints == 0
    assert mech.position_names == [f"j.{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]


def test_names_of_single_freedoms_and_order():
    mech = two_bodies()
    mech.add_body("c", 1.0, ONE)
    mech.add_joint("slide", "prismatic", "a", "b", (0, 0, 0), effort=0)
    mech.add_joint("screw", "cylindrical", "world", "c", (0, 0, 0), effort=INF)
    assert [joint.name for joint in mech.tree_joints] == ["a:floating", "slide", "screw"]
    assert mech.velocity_names[6:] == ["slide", "screw.distance", "screw.angle"]
    assert mech.actuator_names == ["screw.distance", "screw.angle"]
    assert mech.tree_joints[0].position.tolist() == [1.0, 0.0, 0.0]


def test_spanning_tree_is_depth_first_with_parents_before_children():
    mech = Mechanism()
    for name in "fedcba":
        mech.add_body(name, 1.0, ONE)
    for parent, child in (("b", "d"), ("world", "a"), ("a", "b"), ("a", "c"), ("b", "e")):
        mech.add_joint(parent + child, "spherical", parent, child, (0, 0, 0))
    assert [child for _, child in spanning_tree(mech)] == ["f", "a", "b", "d", "e", "c"]


def test_joint_frames_are_rotations_with_the_axis_last():
    rng = np.random.default_rng(1)
    axes = [*rng.normal(size=(20, 3)), [0, 0, 1], [0, 0, -1], [1e-9, 0, -1], [1e-5, 1e-5, -1]]
    for axis in np.array(axes) / np.linalg.norm(axes, axis=1)[:, None]:
        frame = joint_frame(axis)
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-15)
        np.testing.assert_array_equal(frame[:, 2], axis)
        turn = np.cross([0, 0, 1], axis)  # the smallest rotation leaves this direction alone
        np.testing.assert_allclose(frame @ turn, turn, atol=1e-14)
        assert np.linalg.det(frame) > 0
    np.testing.assert_array_equal(joint_frame([0, 0, 1], [0, 1, 0])[:, 0], [0, 1, 0])


def test_limits_are_hard_and_rates_are_kept_by_motors():
    mech = two_bodies()
    joint = mech.add_joint(
        "j", "revolute", "a", "b", (0, 0, 0), limits=(-1, 2), velocity=3, rest=0.5, stiffness=1
    )
    assert (joint.limits.tolist(), joint.velocity, joint.rest) == ([[-1.0, 2.0]], 3.0, (0.5,))
    (entry,) = mech.notes
    assert (entry.action, entry.element) == ("not enforced", "joint 'j' velocity")
    assert "3" in entry.message
    mech.add_motor("j", kd=1.0, effort=2.0)
    assert mech.notes == []
    mech = two_bodies()
    mech.add_joint(
        "j", "revolute", "a", "b", (0, 0, 0), velocity=3, effort=1.0
    )  # torques do not keep it
    assert [entry.element for entry in mech.notes] == ["joint 'j' velocity"]


def test_frames():
    mech = two_bodies()
    frame = mech.add_frame("tip", "b", (0, 0, 1), (0, 0, 0, 2))
    assert (frame.body, frame.orientation.tolist()) == ("b", [0.0, 0.0, 0.0, 1.0])
    for name, body in (("tip", "a"), ("a", "a"), ("new", "d"), ("world", "a")):
        with pytest.raises(MechanismError, match="expected"):
            mech.add_frame(name, body)
    with pytest.raises(MechanismError, match="unique"):
        mech.add_body("tip", 1.0, ONE)
    assert list(mech.frames) == ["tip"]


def test_gravity_and_ground():
    assert Mechanism().ground is None
    assert Mechanism(ground=True).ground.normal.tolist() == [0.0, 0.0, 1.0]
    assert Mechanism(ground=Ground(0.5, (0, 0, 2))).ground.height == 0.5
    for wrong in ({"gravity": (0, 0)}, {"gravity": (0, 0, NAN)}, {"ground": 3}, {"name": ""}):
        with pytest.raises(MechanismError, match="expected"):
            Mechanism(**wrong)
    with pytest.raises(MechanismError, match="ground normal"):
        Ground(0.0, (0, 0, 0))


def test_pickles_and_copies_are_the_same_mechanism_and_stay_read_only():
    mech = two_bodies()
    mech.add_joint("j", "universal", "a", "b", (0, 0, 0), axis2=(1, 0, 0), limits=[(-1, 1), (0, 1)])
    mech.add_frame("tip", "b")
    mech.add_world_shape(Box((1, 2, 3)))
    for twin in (pickle.loads(pickle.dumps(mech)), copy.deepcopy(mech)):
        assert twin.summary() == mech.summary()
        arrays = (
            twin.gravity,
            twin.bodies["a"].inertia,
            twin.joints["j"].limits,
            twin.world_shapes[0].size,
        )
        assert not any(array.flags.writeable for array in arrays)
        twin.add_body("c", 1.0, ONE)
    assert "c" not in mech.bodies


def test_summary_names_everything():
    mech = two_bodies()
    mech.add_joint("knee", "revolute", "a", "b", (0, 0, 0), damping=0.1, effort=5)
    mech.add_frame("tip", "b")
    text = mech.summary()
    for piece in (
        "2 bodies",
        "3 kg",
        "degrees of freedom: 7",
        "knee",
        "damping 0.1",
        "effort 5",
        "a -> b",
        "on b",
    ):
        assert piece in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stiffness": (1.0, 2.0, 3.0)}, "stiffness: found .*, expected the same number for all 3"),
        ({"damping": (1.0, 2.0)}, "damping: found .*, expected .* one for each of 3 degrees"),
        ({"stiffness": (1.0, -1.0, 1.0)}, "stiffness: found .*, expected a number >= 0, or one"),
        ({"damping": (1.0, np.inf, 1.0)}, "damping: found .*, expected a number >= 0, or one"),
    ],
)
def test_springs_by_degree_of_freedom_are_checked(values, message):
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(MechanismError, match=message):
        mech.add_joint("ball", "spherical", "world", "body", (0.0, 0.0, 0.0), **values)


def test_springs_by_degree_of_freedom_are_told():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1))
    stiffness = (1.0, 2.0, 3.0, 4.0, 4.0, 4.0)
    mech.add_joint("free", "floating", "world", "body", (0.0, 0.0, 0.0), stiffness=stiffness)
    assert "stiffness (1, 2, 3, 4, 4, 4)" in mech.summary()
    assert 'spring_stiffness="1.0 2.0 3.0 4.0 4.0 4.0"' in mech.to_urdf()
