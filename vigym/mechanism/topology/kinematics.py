"""Kinematics of a tree of bodies: poses and velocities from joint coordinates, many poses at once.

Couplings make degrees of freedom dependent: they follow the independent ones. Used before anything
is simulated, so nothing here is compiled. Leading axis S: poses; body 0 is the world.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import IDENTITY
from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import (
    JointFrames,
    assembly_pose,
    child_orientation,
    dof_axes,
    joint_frames,
    relative_orientation,
)
from vigym.spatial import batch_quaternion_product, batch_rotation_matrix, cross, rotate


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of all bodies, the world first, and the screws of all degrees of freedom there.

    Attributes:
        x: (S, n, 3) centres of mass [m].
        q: (S, n, 4) orientations, body to world.
        R: (S, n, 3, 3) rotation matrices, body to world.
        screws: (S, dofs, 6) velocity of the bodies that a degree of freedom moves, at rate one: of
            the point at the world's origin, angular velocity, world axes.
    """

    x: Array
    q: Array
    R: Array
    screws: Array


class TreeKinematics:
    """Kinematics of the tree of a mechanism.

    Attributes:
        zero: tree coordinates of the assembly pose (n_q,), ordered as `tree_joints`.
        support: (bodies, dofs) 1.0 where a degree of freedom moves a body.
        is_rotation: (dofs,) whether a degree of freedom is a rotation.
        dofs: number of velocities of the tree's joints.
        start: tree coordinates next to zero at which all couplings hold (n_q,).
        independent: (independent,) numbers of the degrees of freedom that follow no other one.
        velocity_map: (dofs, independent) rates of all degrees of freedom at unit rates of these.
        quaternions: columns of each quaternion among the coordinates, and of its rates.
    """

    def __init__(self, mechanism: Elements) -> None:
        positions, velocities = _coordinate_columns(mechanism)
        frames = [joint_frames(mechanism, joint) for joint, _ in spanning_tree(mechanism)]
        self._order = [(each, positions[each.joint.name]) for each in frames]
        self.dofs = sum(each.joint.dofs for each in frames)
        self.support = np.zeros((len(mechanism.bodies) + 1, self.dofs))
        self.is_rotation = np.zeros(self.dofs, bool)
        self._axis = np.zeros((self.dofs, 3))
        self._anchor = np.zeros((self.dofs, 3))
        self._fixed_in = np.zeros(self.dofs, int)
        self._child = np.zeros(self.dofs, int)
        self._scalars: list[tuple[int, int]] = []  # pairs of a coordinate and its rate
        self.quaternions: list[tuple[slice, slice]] = []
        self.zero = np.zeros(sum(span.stop - span.start for span in positions.values()))
        for each, span in self._order:
            self._store_joint_constants(mechanism, each, span, velocities[each.joint.name])
        self._store_attachments(frames, positions)
        self.start = coordinates_with_couplings(mechanism, self.zero)
        self.independent = _independent_dofs(mechanism)
        self.velocity_map = _velocity_map(mechanism)

    def _store_joint_constants(
        self, mechanism: Elements, frames: JointFrames, position: slice, velocity: slice
    ) -> None:
        """Store constants of a joint's degrees of freedom."""
        joint, n = frames.joint, len(frames.joint_type.translations)
        self.support[frames.b] = self.support[frames.a]
        self.support[frames.b, velocity] = 1.0
        self._child[velocity] = frames.b
        self._anchor[velocity] = frames.anchor_b
        rotations = slice(velocity.start + n, velocity.stop)
        self.is_rotation[rotations] = True
        self._axis[velocity], self._fixed_in[velocity] = dof_axes(frames)
        scalars = n if joint.joint_type.has_quaternion else joint.dofs
        self._scalars += [(position.start + i, velocity.start + i) for i in range(scalars)]
        if joint.joint_type.has_quaternion:
            self.quaternions.append((slice(position.stop - 4, position.stop), rotations))
            self.zero[position.stop - 4] = 1.0
        if joint.type == "floating":
            x_a, q_a = assembly_pose(mechanism, joint.parent)
            x_b, _ = assembly_pose(mechanism, joint.child)
            offset = batch_rotation_matrix(q_a).T @ (x_b - x_a)
            turn = relative_orientation(mechanism, joint.parent, joint.child)
            self.zero[position] = np.concatenate([offset, turn])

    def _store_attachments(self, frames: list[JointFrames], positions: dict[str, slice]) -> None:
        """Store by body how it is attached to its parent; the world is attached to itself."""
        bodies = len(self.support)
        self._parent = np.zeros(bodies, int)
        self._anchors = np.zeros((2, bodies, 3))
        self._offsets = np.tile(IDENTITY, (bodies, 1))
        for each in frames:
            self._parent[each.b], self._offsets[each.b] = each.a, each.offset
            self._anchors[:, each.b] = each.anchor_a, each.anchor_b
        hinges = [each for each in frames if len(each.joint_type.rotations) == 1]
        columns = np.array([positions[each.joint.name].stop - 1 for each in hinges], int)
        axes = [each.frame_b[:, each.joint_type.rotations[0]] for each in hinges]
        bodies_of_hinges = np.array([each.b for each in hinges], int)
        self._hinges = bodies_of_hinges, columns, np.array(axes).reshape(-1, 3)

    @property
    def scalar_coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices of the coordinates that are the integral of one rate, and of these rates."""
        table = np.array(self._scalars, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def poses(self, coordinates: Array) -> Poses:
        """Return poses of all bodies at tree coordinates (S, n_q), which may be complex."""
        q = self._relative_orientations(coordinates)
        anchors = self._attachment_points(coordinates)
        for frames, _ in self._order:
            q[:, frames.b] = batch_quaternion_product(q[:, frames.a], q[:, frames.b])
        R = batch_rotation_matrix(q)
        x = (R[:, self._parent] @ anchors[..., None])[..., 0] - rotate(R, self._anchors[1])
        for frames, _ in self._order:
            x[:, frames.b] += x[:, frames.a]
        return Poses(x, q, R, self._screws(x, R))

    def _relative_orientations(self, coordinates: Array) -> Array:
        """Return the orientation of each body in its parent (S, bodies, 4)."""
        offsets = self._offsets.astype(coordinates.dtype)
        result: Array = np.tile(offsets, (len(coordinates), 1, 1))
        bodies, columns, axes = self._hinges
        half_angle = coordinates[:, columns, None] / 2.0
        turns = np.concatenate([np.cos(half_angle), np.sin(half_angle) * axes], axis=-1)
        result[:, bodies] = batch_quaternion_product(self._offsets[bodies], turns)
        for frames, span in self._order:
            if len(frames.joint_type.rotations) > 1:
                rotation = coordinates[:, span][:, len(frames.joint_type.translations) :]
                result[:, frames.b] = child_orientation(frames, rotation)
        return result

    def _attachment_points(self, coordinates: Array) -> Array:
        """Return the point of each body's parent at its anchor (S, bodies, 3) [m]."""
        anchors = self._anchors[0].astype(coordinates.dtype)
        result: Array = np.tile(anchors, (len(coordinates), 1, 1))
        for frames, span in self._order:
            axes = frames.frame_a.T[list(frames.joint_type.translations)]
            if len(axes):
                result[:, frames.b] += coordinates[:, span][:, : len(axes)] @ axes
        return result

    def _screws(self, x: Array, R: Array) -> Array:
        axes = rotate(R[:, self._fixed_in], self._axis)
        points, rotates = self._anchor_points(x, R), self.is_rotation[:, None]
        linear = np.where(rotates, cross(points, axes), axes)
        return np.concatenate([linear, np.where(rotates, axes, 0.0)], axis=-1)

    def _anchor_points(self, x: Array, R: Array) -> Array:
        return x[:, self._child] + rotate(R[:, self._child], self._anchor)

    def anchors(self, poses: Poses) -> Array:
        """Return the anchor on the child of each degree of freedom's joint (S, dofs, 3) [m]."""
        return self._anchor_points(poses.x, poses.R)

    def integrate_rates(self, coordinates: Array, rates: Array) -> Array:
        """Return coordinates (S, n_q) after unit time at constant joint velocities (S, dofs)."""
        result: Array = coordinates.copy()
        scalars, scalar_rates = self.scalar_coordinates
        result[:, scalars] += rates[:, scalar_rates]
        for span, columns in self.quaternions:
            half = rates[:, columns] / 2.0
            angle = np.linalg.norm(half, axis=1, keepdims=True)
            turn = np.hstack([np.cos(angle), np.sinc(angle / np.pi) * half])
            moved = batch_quaternion_product(result[:, span], turn)
            moved /= np.linalg.norm(moved, axis=1, keepdims=True)
            result[:, span] = np.where(angle > 0.0, moved, result[:, span])
        return result


def _coordinate_columns(mechanism: Elements) -> tuple[dict[str, slice], dict[str, slice]]:
    """Return the columns of each tree joint's positions and velocities, by joint."""
    positions: dict[str, slice] = {}
    velocities: dict[str, slice] = {}
    position = velocity = 0
    for joint in mechanism.tree_joints:
        positions[joint.name] = slice(position, position + len(joint.joint_type.positions))
        velocities[joint.name] = slice(velocity, velocity + joint.dofs)
        position, velocity = positions[joint.name].stop, velocities[joint.name].stop
    return positions, velocities


def _independent_dofs(mechanism: Elements) -> NDArray[np.int64]:
    """Return the numbers of the tree's velocities that follow no other one."""
    followers = {coupling.joint for coupling in mechanism.couplings.values()}
    names = _velocity_names(mechanism)
    return np.array([i for i, name in enumerate(names) if name not in followers], np.int64)


def _velocity_map(mechanism: Elements) -> Array:
    """Return velocities of the tree (dofs, independent) at unit rates of the independent ones."""
    names = _velocity_names(mechanism)
    matrix: Array = np.eye(len(names))[:, _independent_dofs(mechanism)]
    rows = {name: i for i, name in enumerate(names)}
    for follower, (leader, ratio, _) in _coupling_relations(mechanism).items():
        matrix[rows[follower]] = ratio * matrix[rows[leader]]
    return matrix


def coordinates_with_couplings(mechanism: Elements, zero: Array) -> Array:
    """Return tree coordinates (n_q,) with independent ones as in `zero` and followers coupled."""
    names = [name for joint in mechanism.tree_joints for name in joint.position_names]
    columns = {name: i for i, name in enumerate(names)}
    result = np.array(zero)
    for follower, (leader, ratio, offset) in _coupling_relations(mechanism).items():
        result[columns[follower]] = ratio * result[columns[leader]] + offset
    return result


def _velocity_names(mechanism: Elements) -> list[str]:
    return [name for joint in mechanism.tree_joints for name in joint.velocity_names]


def _coupling_relations(mechanism: Elements) -> dict[str, tuple[str, float, float]]:
    """Return by follower: the independent coordinate at the end of its chain, ratio and offset."""
    couplings = {coupling.joint: coupling for coupling in mechanism.couplings.values()}
    relations = {}
    for follower in couplings:
        leader = follower
        ratio = 1.0
        offset = 0.0
        while leader in couplings:
            step = couplings[leader]
            offset += ratio * step.offset
            ratio *= step.ratio
            leader = step.other
        relations[follower] = leader, ratio, offset
    return relations
