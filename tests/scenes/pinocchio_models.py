"""Mechanisms as models of Pinocchio: trees of all joint types, and loops closed by balls or welds."""

from __future__ import annotations

import numpy as np

from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import body_numbers, joint_frames
from vigym.spatial import rotation_matrix

# of Pinocchio's proximal solver
ACCURACY = 1e-14
PROXIMAL = 1e-8
ITERATIONS = 50
# types as chains of Pinocchio's joints, about the joint frame's axes
CHAINS = {
    "fixed": (),
    "revolute": ("RZ",),
    "continuous": ("RZ",),
    "prismatic": ("PZ",),
    "cylindrical": ("PZ", "RZ"),
    "planar": ("PX", "PY", "RZ"),
    "universal": ("RZ", "RX"),
    "spherical": ("Spherical",),
    "floating": ("Translation", "Spherical"),
}


class PinocchioModel:
    """A mechanism in Pinocchio; coordinates and rates are given and returned in vigym's order."""

    def __init__(self, pin, mech):
        self.pin, self.mech = pin, mech
        self.model = pin.Model()
        self.model.gravity.linear = np.array(mech.gravity)
        self.frames = {0: (0, pin.SE3.Identity())}  # body: the joint that moves it, its place there
        self.numbers = {}  # joint: its chain
        below = {}
        for joint, _ in spanning_tree(mech):
            frames = joint_frames(mech, joint)
            below.setdefault(frames.a, []).append(frames)
        self._add_below(0, below)
        joints = [self.model.joints[k] for j in mech.tree_joints for k in self.numbers[j.name]]
        empty = [np.zeros(0, int)]
        order = [np.array([3, 0, 1, 2]) if j.nq == 4 else np.arange(j.nq) for j in joints]
        columns = [j.idx_q + each for j, each in zip(joints, order, strict=True)]
        self.q = np.concatenate(empty + columns)
        self.v = np.concatenate(empty + [j.idx_v + np.arange(j.nv) for j in joints])
        armature = np.zeros(self.model.nv)
        armature[self.v] = [j.armature for j in mech.tree_joints for _ in range(j.dofs)]
        self.model.armature = armature
        self.data = self.model.createData()

    def _add_below(self, body, below):
        """Add the bodies that hang on a body, depth first, as Pinocchio wants them."""
        pin = self.pin
        for frames in below.get(body, ()):
            number, place = self.frames[frames.a]
            kind = frames.joint_type
            ball = kind.has_quaternion
            turn_a = rotation_matrix(frames.offset) if ball else frames.frame_a
            place = place * pin.SE3(turn_a, frames.anchor_a)
            chain = []
            for i, name in enumerate(CHAINS[kind.name]):
                maker = getattr(pin, f"JointModel{name}")()
                number = self.model.addJoint(number, maker, place, f"{frames.joint.name}{i}")
                place = pin.SE3.Identity()
                chain.append(number)
            place = (
                place * pin.SE3(np.eye(3) if ball else frames.frame_b, frames.anchor_b).inverse()
            )
            record = list(self.mech.bodies.values())[frames.b - 1]
            inertia = pin.Inertia(record.mass, np.zeros(3), np.array(record.inertia))
            self.model.appendBodyToJoint(number, inertia, place)
            self.numbers[frames.joint.name] = chain
            self.frames[frames.b] = number, place
            self._add_below(frames.b, below)

    def configuration(self, q):
        found = np.zeros(self.model.nq)
        found[self.q] = q
        return found

    def tangent(self, v):
        found = np.zeros(self.model.nv)
        found[self.v] = v
        return found

    def aba(self, q, v, forces):
        """Accelerations of an open tree, or with all loops closed."""
        at = self.configuration(q), self.tangent(v), self.tangent(forces)
        pin, closing = self.pin, self.mech.closing_joints
        if not closing:
            return pin.aba(self.model, self.data, *at)[self.v]
        loops, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for joint in closing:
            loops.append(self._loop(joint_frames(self.mech, joint)))
            data.append(loops[-1].createData())
        solver = pin.ProximalSettings(ACCURACY, PROXIMAL, ITERATIONS)
        pin.initConstraintDynamics(self.model, self.data, loops, data)
        return pin.constraintDynamics(self.model, self.data, *at, loops, data, solver)[self.v]

    def _loop(self, frames):
        pin = self.pin
        kinds = {"spherical": "CONTACT_3D", "revolute": "CONTACT_3D", "fixed": "CONTACT_6D"}
        a, at_a = self.frames[frames.a]
        b, at_b = self.frames[frames.b]
        a_frame = at_a * pin.SE3(frames.frame_a, frames.anchor_a)
        b_frame = at_b * pin.SE3(frames.frame_b, frames.anchor_b)
        contact = getattr(pin.ContactType, kinds[frames.joint.type])
        local = pin.ReferenceFrame.LOCAL
        return pin.RigidConstraintModel(contact, self.model, a, a_frame, b, b_frame, local)

    def rnea(self, q, v, a):
        at = self.configuration(q), self.tangent(v), self.tangent(a)
        return self.pin.rnea(self.model, self.data, *at)[self.v]

    def crba(self, q):
        M = np.array(self.pin.crba(self.model, self.data, self.configuration(q)))
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.v, self.v)]

    def point_jacobian(self, q, body, point):
        pin, model = self.pin, self.model
        number, place = self.frames[body_numbers(self.mech)[body]]
        at = place * pin.SE3(np.eye(3), np.array(point))
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        frame = pin.Frame(f"point{model.nframes}", number, at, pin.FrameType.OP_FRAME)
        place = self.configuration(q), model.addFrame(frame), world
        found = pin.computeFrameJacobian(model, model.createData(), *place)
        return found.reshape(6, -1)[:, self.v]
