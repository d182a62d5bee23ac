"""Trees of a mechanism as models of Pinocchio, for the tests of joint coordinates."""

from __future__ import annotations

import numpy as np

from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.spatial import rotation_matrix


class PinocchioTree:
    """Model of a tree of revolute, prismatic, spherical and universal joints.

    Orders of coordinates and rates differ: Pinocchio's are depth-first, and quaternions end in w.
    """

    def __init__(self, pin, mech):
        self.pin = pin
        self.model = pin.Model()
        self.model.gravity.linear = np.array(mech.gravity)
        bodies = list(mech.bodies.values())
        kinds = {
            "revolute": pin.JointModelRZ,
            "continuous": pin.JointModelRZ,
            "prismatic": pin.JointModelPZ,
            "spherical": pin.JointModelSpherical,
            "universal": lambda: pin.JointModelUniversal(np.eye(3)[2], np.eye(3)[0]),
        }
        numbers, back = {0: 0}, {0: pin.SE3.Identity()}  # body: its joint, its frame there
        for joint, _ in spanning_tree(mech):
            frames = joint_frames(mech, joint)
            ball = joint.joint_type.has_quaternion
            R_a = rotation_matrix(frames.offset) if ball else frames.frame_a
            R_b = np.eye(3) if ball else frames.frame_b
            placement = back[frames.a] * pin.SE3(R_a, frames.anchor_a)
            number = self.model.addJoint(
                numbers[frames.a], kinds[joint.type](), placement, joint.name
            )
            inside = pin.SE3(R_b, frames.anchor_b).inverse()
            body = bodies[frames.b - 1]
            inertia = pin.Inertia(body.mass, np.zeros(3), body.inertia)
            self.model.appendBodyToJoint(number, inertia, inside)
            numbers[frames.b], back[frames.b] = number, inside
        self.data = self.model.createData()
        joints = mech.tree_joints
        at = [self.model.joints[self.model.getJointId(joint.name)] for joint in joints]
        self.q = np.concatenate(
            [j.idx_q + np.array([3, 0, 1, 2] if j.nq == 4 else range(j.nq)) for j in at]
        )
        self.v = np.concatenate([j.idx_v + np.arange(j.nv) for j in at])

    def _theirs(self, q, *vectors):
        theirs = np.zeros(self.model.nq)
        theirs[self.q] = q
        others = [np.zeros(self.model.nv) for _ in vectors]
        for other, vector in zip(others, vectors, strict=True):
            other[self.v] = vector
        return theirs, *others

    def aba(self, q, rates, tau):
        return self.pin.aba(self.model, self.data, *self._theirs(q, rates, tau))[self.v]

    def rnea(self, q, rates, accelerations):
        return self.pin.rnea(self.model, self.data, *self._theirs(q, rates, accelerations))[self.v]
