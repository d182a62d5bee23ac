"""Whether two mechanisms are the same but for rounding and the order of their bodies."""

import itertools
from dataclasses import fields

import numpy as np

from vigym.core.model.layout import Model
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.joints import JointParameters
from vigym.mechanism.elements.shapes import size_fields
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import constraint_jacobian
from vigym.simulation.compile.model import build_model
from vigym.spatial import batch_rotation_matrix

NUMBERS = [field.name for field in fields(JointParameters)]
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def compare(mech, loaded):
    assert loaded.name == mech.name
    assert set(loaded.bodies) == set(mech.bodies)
    assert set(loaded.frames) == set(mech.frames)
    assert [joint.name for joint in loaded.ordered_joints] == [
        joint.name for joint in mech.ordered_joints
    ]
    assert (loaded.position_names, loaded.actuator_names) == (
        mech.position_names,
        mech.actuator_names,
    )
    for name, body in mech.bodies.items():
        assert loaded.bodies[name].mass == body.mass
        np.testing.assert_allclose(loaded.bodies[name].inertia, body.inertia, rtol=1e-12)
        same_pose(loaded.bodies[name], body)
        same_shapes(loaded.bodies[name].shapes, body.shapes)
    for name, frame in mech.frames.items():
        assert loaded.frames[name].body == frame.body
        same_pose(loaded.frames[name], frame)
    same_shapes(loaded.world_shapes, mech.world_shapes)
    same_contacts(mech, loaded)
    assert dict(loaded.couplings) == dict(mech.couplings)
    same_additions(mech, loaded)
    for joint, other in zip(mech.ordered_joints, loaded.ordered_joints, strict=True):
        same_joint(joint, other)
    same_motion(mech, loaded)


def same_pose(a, b):
    np.testing.assert_allclose(a.position, b.position, **CLOSE)
    np.testing.assert_allclose(
        batch_rotation_matrix(a.orientation), batch_rotation_matrix(b.orientation), **CLOSE
    )


def same_shapes(shapes, others):
    for a, b in zip(shapes, others, strict=True):
        assert type(a) is type(b)
        same_pose(a, b)
        for name in ["rgba", *(size.name for size in size_fields(type(a)))]:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def same_additions(mech, loaded):
    """Motors, pairs, springs, skates and wheels."""
    assert (dict(loaded.motors), loaded.pairs) == (dict(mech.motors), mech.pairs)
    for kind in ("springs", "skates", "wheels"):
        ours, theirs = getattr(mech, kind), getattr(loaded, kind)
        assert list(theirs) == list(ours)
        for name in ours:
            for field in fields(ours[name]):
                a, b = (getattr(each[name], field.name) for each in (ours, theirs))
                if isinstance(a, np.ndarray):
                    np.testing.assert_allclose(b, a, **CLOSE)
                else:
                    assert b == a


def same_contacts(mech, loaded):
    """Collisions by name: the same touching points with the same surface."""
    assert set(loaded.collisions) == set(mech.collisions)
    for name, a in mech.collisions.items():
        b = loaded.collisions[name]
        assert (a.body, a.restitution, a.torsion) == (b.body, b.restitution, b.torsion)
        assert (type(a.shape), a.radius) == (type(b.shape), b.radius)
        np.testing.assert_array_equal(a.friction, b.friction)
        np.testing.assert_allclose(a.direction, b.direction, **CLOSE)
        parts, others = contact_features(a), contact_features(b)
        assert [(part.kind, part.radius) for part in parts] == [
            (part.kind, part.radius) for part in others
        ]
        for part, other in zip(parts, others, strict=True):
            np.testing.assert_allclose(part.point, other.point, **CLOSE)
            np.testing.assert_allclose(part.axis, other.axis, **CLOSE)


def same_joint(a, b):
    assert (a.type, a.parent, a.child) == (b.type, b.parent, b.child)
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    if a.type != "floating":
        np.testing.assert_allclose(a.position, b.position, **CLOSE)
    if not a.joint_type.has_quaternion:  # the free orientations follow the bodies' own axes
        np.testing.assert_allclose(a.axis, b.axis, **CLOSE)
    np.testing.assert_allclose(
        a.child_position - a.position, b.child_position - b.position, **CLOSE
    )
    rotations = batch_rotation_matrix(a.child_rotation), batch_rotation_matrix(b.child_rotation)
    np.testing.assert_allclose(*rotations, **CLOSE)
    if a.axis2 is None:
        assert b.axis2 is None
    else:
        np.testing.assert_allclose(a.axis2, b.axis2, **CLOSE)


def same_motion(mech, loaded):
    """Poses of all bodies at random coordinates, rows of all joints there, constant tables of trees."""
    trees = [TreeKinematics(mech), TreeKinematics(loaded)]
    rates = np.random.default_rng(1).normal(size=(3, trees[0].dofs))
    poses = [
        tree.poses(tree.integrate_rates(np.repeat(tree.zero[None], 3, axis=0), rates))
        for tree in trees
    ]
    for number, name in enumerate(mech.bodies, start=1):
        other = list(loaded.bodies).index(name) + 1
        np.testing.assert_allclose(poses[0].x[:, number], poses[1].x[:, other], rtol=0, atol=1e-11)
        np.testing.assert_allclose(poses[0].R[:, number], poses[1].R[:, other], rtol=0, atol=1e-11)
    if mech.closing_joints:
        placed = {name: (body.position, body.orientation) for name, body in mech.bodies.items()}
        held = [constraint_jacobian(each, placed) for each in (mech, loaded)]
        order = np.array([list(loaded.bodies).index(name) for name in mech.bodies])
        columns = (6 * order[:, None] + np.arange(6)).ravel()
        np.testing.assert_array_equal(held[0][1], held[1][1])
        for start, stop in itertools.pairwise(held[0][1]):
            a, b = held[0][0][start:stop], held[1][0][start:stop, columns]
            np.testing.assert_allclose(
                a.T @ a, b.T @ b, rtol=0, atol=1e-11
            )  # whatever directions span them
        assert loaded.degrees_of_freedom == mech.degrees_of_freedom
        assert loaded.redundant_constraints == mech.redundant_constraints
    elif mech.bodies and list(loaded.collisions) == list(mech.collisions):
        models = build_model(mech), build_model(loaded)
        for table in set(Model._fields) - {"body_rows"}:  # but the order of bodies
            a, b = (getattr(model, table) for model in models)
            for field in getattr(a, "dtype", np.dtype(float)).names or (...,):
                np.testing.assert_allclose(
                    np.asarray(a)[field], np.asarray(b)[field], rtol=1e-11, atol=1e-11
                )
