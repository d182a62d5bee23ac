"""Joint frames: anchors, axes and frames of a joint fixed in its parent and in its child."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joint_types import JointType
from vigym.mechanism.elements.joints import IDENTITY, Joint, joint_frame
from vigym.spatial import (
    batch_quaternion_product,
    batch_rotation_matrix,
    conjugate,
    quaternion_product,
    rotation_matrix,
)


@dataclass(frozen=True, eq=False)
class JointFrames:
    """Frames of a joint in its two bodies; bodies by number, the world is 0.

    Attributes:
        joint: the joint.
        a, b: parent and child.
        anchor_a, anchor_b: anchors in the bodies' frames (3,) [m].
        frame_a, frame_b: joint frames in the bodies' axes (3, 3), columns (e1, e2, axis).
        offset: orientation of the child in the parent where the joint's rotation is zero (4,).
    """

    joint: Joint
    a: int
    b: int
    anchor_a: Array
    anchor_b: Array
    frame_a: Array
    frame_b: Array
    offset: Array

    @property
    def joint_type(self) -> JointType:
        """Row of the joint's type."""
        return self.joint.joint_type


def body_numbers(mechanism: Elements) -> dict[str, int]:
    """Return numbers of the world (0) and of the bodies in their order."""
    return {name: i for i, name in enumerate([WORLD, *mechanism.bodies])}


def assembly_pose(mechanism: Elements, name: str) -> tuple[Array, Array]:
    """Return position (3,) [m] and orientation (4,) of a body, or of the world, at assembly."""
    if name == WORLD:
        return np.zeros(3), np.array(IDENTITY)
    body = mechanism.bodies[name]
    return body.position, body.orientation


def relative_pose(mechanism: Elements, parent: str, child: str) -> Array:
    """Return position and quaternion (7,) of a body in the frame of another one at assembly."""
    x_a, q_a = assembly_pose(mechanism, parent)
    x_b, q_b = assembly_pose(mechanism, child)
    position = rotation_matrix(q_a).T @ (x_b - x_a)
    return np.concatenate([position, quaternion_product(q_a * [1, -1, -1, -1], q_b)])


def relative_orientation(mechanism: Elements, parent: str, child: str) -> Array:
    """Return the quaternion (4,) of a body in the frame of another one at assembly."""
    _, q_a = assembly_pose(mechanism, parent)
    _, q_b = assembly_pose(mechanism, child)
    result: Array = batch_quaternion_product(conjugate(q_a)[None], q_b[None])[0]
    return result


def joint_frames(mechanism: Elements, joint: Joint) -> JointFrames:
    """Return the frames of a joint; those of an open loop differ at the assembly pose."""
    numbers = body_numbers(mechanism)
    a, b = numbers[joint.parent], numbers[joint.child]
    if joint.type == "floating":  # its coordinates are the child's pose in the parent
        origin, axes = np.zeros(3), np.eye(3)
        return JointFrames(joint, a, b, origin, origin, axes, axes, np.array(IDENTITY))
    x_a, q_a = assembly_pose(mechanism, joint.parent)
    x_b, q_b = assembly_pose(mechanism, joint.child)
    R_a, R_b = batch_rotation_matrix(q_a), batch_rotation_matrix(q_b)
    frame = joint_frame(joint.axis, joint.axis2)
    offset = relative_orientation(mechanism, joint.parent, joint.child)
    return JointFrames(
        joint,
        a,
        b,
        anchor_a=R_a.T @ (joint.position - x_a),
        anchor_b=R_b.T @ (joint.child_position - x_b),
        frame_a=R_a.T @ frame,
        frame_b=R_b.T @ batch_rotation_matrix(joint.child_rotation) @ frame,
        offset=offset / np.linalg.norm(offset),
    )


def dof_axes(frames: JointFrames) -> tuple[Array, NDArray[np.int64]]:
    """Return axes (dofs, 3) of a joint's degrees of freedom and the number of the body of each.

    Translations come first; each axis is given in the frame of the body in which it is fixed.
    """
    joint_type = frames.joint_type
    turns = np.eye(3)
    if not joint_type.has_quaternion:
        turns = frames.frame_b.T[list(joint_type.rotations)]
    axes = np.concatenate([frames.frame_a.T[list(joint_type.translations)], turns])
    counts = len(joint_type.translations), len(joint_type.rotations)
    fixed_in = np.repeat(np.array([frames.a, frames.b], np.int64), counts)
    if joint_type.needs_second_axis:
        axes[-2], fixed_in[-2] = frames.frame_a[:, 2], frames.a
    return axes, fixed_in


def child_orientation(frames: JointFrames, rotation: Array) -> Array:
    """Return orientations (S, 4) of the child in the parent from the joint's angles or quaternion.

    Args:
        frames: of the joint.
        rotation: angles (S, n) [rad] or quaternions (S, 4).
    """
    result: Array = np.broadcast_to(frames.offset, (len(rotation), 4))
    if frames.joint_type.has_quaternion:
        return batch_quaternion_product(result, rotation)
    for column, angle in zip(frames.joint_type.rotations, rotation.T, strict=True):
        half_angle = angle[:, None] / 2.0
        turn = np.hstack([np.cos(half_angle), np.sin(half_angle) * frames.frame_b[:, column]])
        result = batch_quaternion_product(result, turn)
    return result
