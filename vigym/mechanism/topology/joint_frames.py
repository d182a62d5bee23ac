"""The two halves of a joint, each fixed in its body: anchors, frames and axes, and how far one turns in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import IDENTITY, Joint, Prototype, axis_frame
from vigym.spatial import conjugate, matrix, product, quaternion_product, rotation_matrix

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing


@dataclass(frozen=True, eq=False)
class Halves:
    """A joint's two halves, each fixed in its body; bodies by number, the world is 0.

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
    def prototype(self) -> Prototype:
        """The joint type's row of data."""
        return self.joint.prototype


def number_bodies(mechanism: Listing) -> dict[str, int]:
    """Numbers of the world (0) and of the bodies in their order."""
    return {name: i for i, name in enumerate([WORLD, *mechanism.bodies])}


def split(mechanism: Listing, joint: Joint) -> Halves:
    """Return the halves of any joint; those of a loop may lie apart at the assembly pose."""
    numbers = number_bodies(mechanism)
    a, b = numbers[joint.parent], numbers[joint.child]
    (x_a, q_a), (x_b, q_b) = (pose_of(mechanism, name) for name in (joint.parent, joint.child))
    if joint.type == "floating":  # its coordinates are the child's pose in the parent, not since the assembly
        return Halves(joint, a, b, np.zeros(3), np.zeros(3), np.eye(3), np.eye(3), np.array(IDENTITY))
    R_a, R_b, between = matrix(q_a), matrix(q_b), matrix(joint.child_rotation)
    frame = axis_frame(joint.axis, joint.axis2)
    anchors = R_a.T @ (joint.position - x_a), R_b.T @ (joint.child_position - x_b)
    offset = product(conjugate(q_a)[None], q_b[None])[0]
    return Halves(joint, a, b, *anchors, R_a.T @ frame, R_b.T @ between @ frame, offset / np.linalg.norm(offset))


def pose_of(mechanism: Listing, name: str) -> tuple[Array, Array]:
    """Return position (3,) [m] and orientation (4,) of a body at assembly, or of the world."""
    if name == WORLD:
        return np.zeros(3), np.array(IDENTITY)
    return mechanism.bodies[name].position, mechanism.bodies[name].orientation


def relative_pose(mechanism: Listing, parent: str, child: str) -> Array:
    """Pose of a body in another one's centre-of-mass frame at the assembly: position and quaternion (7,)."""
    (x_a, q_a), (x_b, q_b) = pose_of(mechanism, parent), pose_of(mechanism, child)
    return np.concatenate([rotation_matrix(q_a).T @ (x_b - x_a), quaternion_product(q_a * [1, -1, -1, -1], q_b)])


def freedom_axes(half: Halves) -> tuple[Array, NDArray[np.int64]]:
    """Directions (freedoms, 3) of a joint's freedoms, translations first, and the body each is fixed in, by number."""
    kind = half.prototype
    turns = np.eye(3) if kind.has_quaternion else half.frame_b.T[list(kind.rotations)]
    axes = np.concatenate([half.frame_a.T[list(kind.translations)], turns])
    fixed_in = np.array([half.a] * len(kind.translations) + [half.b] * len(kind.rotations), np.int64)
    if kind.type == "universal":
        axes[0], fixed_in[0] = half.frame_a[:, 2], half.a
    return axes, fixed_in


def orientation(half: Halves, turns: Array) -> Array:
    """Orientation of the child in the parent (S, 4) from the joint's angles or quaternion."""
    result: Array = np.broadcast_to(half.offset, (len(turns), 4))
    if half.prototype.has_quaternion:
        return product(result, turns)
    for column, angle in zip(half.prototype.rotations, turns.T, strict=True):
        axis = half.frame_b[:, column]
        result = product(result, np.hstack([np.cos(angle / 2.0)[:, None], np.sin(angle / 2.0)[:, None] * axis]))
    return result
