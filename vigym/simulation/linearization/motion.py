"""Kinematics that the forces of a smooth step act by: coordinates, directions, derivatives.

Leading axis S: poses, or perturbations of one. Arrays may be complex: an imaginary part far below
rounding carries a derivative (complex-step differentiation), so that all formulas here are
differentiated exactly, term by term. None takes an absolute value or compares complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.core.joint.damping import FAST, RECENT, UNRESOLVED
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.mechanism.topology.joint_frames import (
    JointFrames,
    body_numbers,
    dof_axes,
    joint_frames,
)
from vigym.mechanism.topology.kinematics import Poses, TreeKinematics
from vigym.spatial import batch_quaternion_product, conjugate, cross, rotate

STEP = 1e-20  # imaginary part that carries a derivative: its square vanishes
CHUNK = 64  # directions that are differentiated along at once


class ClosingJoints:
    """Coordinates and dof directions of the loop-closing joints, by the poses of the tree.

    Args:
        mechanism: mechanism with the joints.
        tree: kinematics of its tree.
    """

    def __init__(self, mechanism: Mechanism, tree: TreeKinematics) -> None:
        self._frames = [joint_frames(mechanism, joint) for joint in mechanism.closing_joints]
        self._axes = [dof_axes(frames) for frames in self._frames]
        self._signs = [tree.support[frames.b] - tree.support[frames.a] for frames in self._frames]
        self._tree_dofs = tree.dofs

    def coordinates(self, poses: Poses, near: Array) -> Array:
        """Return the coordinates (S, n) [m, rad].

        Args:
            poses: poses of the tree.
            near: (n,) coordinates within half a turn, which count the turns and set the signs of
                quaternions.
        """
        parts, start = [np.zeros((len(poses.x), 0))], 0
        for frames in self._frames:
            count = len(frames.joint_type.positions)
            guess = near[start : start + count]
            parts.append(_joint_coordinates(frames, poses, guess))
            start += count
        return np.concatenate(parts, axis=1)

    def directions(self, poses: Poses) -> Array:
        """Return the dof rates (S, n, tree dofs) at unit rate of each dof of the tree."""
        parts = [np.zeros((len(poses.x), 0, self._tree_dofs))]
        for frames, (axes, fixed_in), signs in zip(
            self._frames, self._axes, self._signs, strict=True
        ):
            n = len(frames.joint_type.translations)
            directions = rotate(poses.R[:, fixed_in], axes)
            anchor = (poses.x[:, frames.b] + poses.R[:, frames.b] @ frames.anchor_b)[:, None]
            forces = directions.copy()
            moments = cross(np.broadcast_to(anchor, directions.shape), directions)
            forces[:, n:] = 0.0
            moments[:, n:] = directions[:, n:]
            parts.append(project_wrenches(poses, forces, moments, signs))
        return np.concatenate(parts, axis=1)


class PointSprings:
    """Lengths and directions of the springs between points, by the poses of the tree.

    Args:
        mechanism: mechanism with the springs.
        tree: kinematics of its tree.

    Attributes:
        stiffness: (n,) [N/m].
        rest: (n,) rest lengths [m].
        damping: (n,) [N s/m].
    """

    def __init__(self, mechanism: Mechanism, tree: TreeKinematics) -> None:
        numbers = body_numbers(mechanism)
        springs = list(mechanism.springs.values())
        self._ends = [(numbers[s.a], s.point_a, numbers[s.b], s.point_b) for s in springs]
        self._signs = [tree.support[b] - tree.support[a] for a, _, b, _ in self._ends]
        self._tree_dofs = tree.dofs
        self.stiffness = np.array([spring.stiffness for spring in springs], float)
        self.rest = np.array([spring.rest_length for spring in springs], float)
        self.damping = np.array([spring.damping for spring in springs], float)

    def lengths(self, poses: Poses) -> Array:
        """Return the distances (S, n) of the springs' ends [m]."""
        lengths = [_length(between) for between, _ in self._separations(poses)]
        return np.concatenate([np.zeros((len(poses.x), 0)), *lengths], axis=1)

    def directions(self, poses: Poses) -> Array:
        """Return the rates of the lengths (S, n, tree dofs) at unit rate of each dof of the tree.

        Zero where a spring has no length.
        """
        parts = [np.zeros((len(poses.x), 0, self._tree_dofs))]
        for (between, end), signs in zip(self._separations(poses), self._signs, strict=True):
            length = _length(between)
            direction = (between / np.where(length == 0.0, 1.0, length))[:, None]
            moment = cross(end[:, None], direction)
            parts.append(project_wrenches(poses, direction, moment, signs))
        return np.concatenate(parts, axis=1)

    def _separations(self, poses: Poses) -> list[tuple[Array, Array]]:
        """Return for each spring the vector between its ends (S, 3) and its second end."""
        ends = [
            (poses.x[:, a] + poses.R[:, a] @ point_a, poses.x[:, b] + poses.R[:, b] @ point_b)
            for a, point_a, b, point_b in self._ends
        ]
        return [(end - start, end) for start, end in ends]


class Dampers:
    """Dampers of all joints and springs between points, as of `vigym.core.joint.damping`.

    Vibrations that a step does not resolve have dampers of their own, which act on the rates less
    the slow rates. Arrays have the dofs of all joints, then the springs between points (n,).

    Args:
        mechanism: mechanism with the joints and springs.

    Attributes:
        own: (n,) damping of joints and springs [N s/m or N m s/rad].
        sprung: numbers of the rows that have a spring.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        joints, springs = mechanism.ordered_joints, mechanism.springs.values()
        dampings = [joint.dof_damping for joint in joints]
        self.own = np.concatenate([*dampings, [spring.damping for spring in springs]])
        stiffnesses = [joint.dof_stiffness for joint in joints]
        self._stiffness = np.concatenate([*stiffnesses, [spring.stiffness for spring in springs]])
        self.sprung = np.flatnonzero(self._stiffness)
        mobility = Mobility(mechanism, mechanism.structure)
        masses = mobility.effective_inertias(), mobility.closing_inertias()
        self._masses = np.concatenate([*masses, mobility.spring_masses()])

    def _of_vibrations(self, h: float) -> Array:
        """Return the damping of vibrations (n,) in a step of size h [N s/m or N m s/rad]."""
        x = np.minimum(0.25 * h * h * self._stiffness / self._masses, FAST)
        damping: Array = UNRESOLVED * h * self._stiffness * x**3 / (1.0 + x**3)
        return damping

    def impulses(self, h: float) -> Array:
        """Return the impulses (n,) of half a step of size h for each rate [N s/m or N m s/rad]."""
        return 0.5 * h * (self.own + self._of_vibrations(h))

    def slow_impulses(self, h: float, before: float) -> tuple[Array, Array]:
        """Return the impulses (n,) for each slow rate at both knots of a step.

        Args:
            h: size of a step [s].
            before: size of the step before [s].

        Returns:
            Those where the step leaves its first knot, and where it arrives at its second.
        """
        arriving = 0.5 * h * self._of_vibrations(h)
        return np.minimum(arriving, 0.5 * before * self._of_vibrations(before)), arriving

    def slow_rates(self, last: Array, rates: Array) -> Array:
        """Return the slow rates (..., n) after a step, from those before it and its rates."""
        after: Array = last + RECENT * (rates - last)
        return after


def project_wrenches(poses: Poses, forces: Array, moments: Array, signs: Array) -> Array:
    """Project wrenches between two bodies on the dofs of the tree.

    Args:
        poses: poses of the tree.
        forces: (S, n, 3).
        moments: (S, n, 3) about the world's origin.
        signs: (tree dofs,) of the motion between the bodies by each dof.

    Returns:
        Generalised forces (S, n, tree dofs).
    """
    wrenches = np.concatenate([forces, moments], axis=-1)
    result: Array = (wrenches @ poses.screws.transpose(0, 2, 1)) * signs
    return result


def perturb(tree: TreeKinematics, coordinates: Array, rates: Array) -> Array:
    """Return complex coordinates (S, n_q) that carry derivatives along rates (S, tree dofs).

    Args:
        tree: kinematics of the tree.
        coordinates: (n_q,) or (S, n_q).
        rates: (S, tree dofs).
    """
    shape = len(rates), coordinates.shape[-1]
    result: Any = np.broadcast_to(coordinates, shape).astype(np.complex128)
    positions, velocities = tree.scalar_coordinates
    result[:, positions] += 1j * STEP * rates[:, velocities]
    for span, velocity in tree.quaternions:
        ones = np.ones((len(rates), 1))
        small: Any = np.concatenate([ones, 0.5j * STEP * rates[:, velocity]], axis=1)
        result[:, span] = batch_quaternion_product(result[:, span], small)
    return np.asarray(result)


def gradient(function: Callable[[Array], Array], tree: TreeKinematics, coordinates: Array) -> Array:
    """Differentiate a function by the independent dofs of the tree.

    Args:
        function: from complex coordinates (S, n_q) to values (S, m).
        tree: kinematics of the tree.
        coordinates: (n_q,) of the tree.

    Returns:
        Derivative (m, independent dofs).
    """
    directions = tree.velocity_map.T
    parts = []
    for first in range(0, max(len(directions), 1), CHUNK):
        chunk = directions[first : first + CHUNK]
        parts.append(function(perturb(tree, coordinates, chunk)).imag / STEP)
    return np.asarray(np.concatenate(parts).T)


def relative_rotation(q2: Array, q3: Array) -> Array:
    """Return the quaternions (..., 4) from q2 to q3, the shorter way round."""
    e = batch_quaternion_product(conjugate(q2), q3)
    return np.where(e[..., :1].real < 0.0, -e, e)


def rotation_vector(e: Array) -> Array:
    """Return the rotation vectors (..., 3) [rad] of unit quaternions, the shorter way round."""
    e = np.where(e[..., :1].real < 0.0, -e, e)
    square = np.sum(e[..., 1:] * e[..., 1:], axis=-1, keepdims=True)
    near = square.real < 1e-12
    sine = np.sqrt(np.where(near, 1.0, square))
    scale = np.where(near, 2.0 + square / 3.0, 2.0 * arctan2(sine, e[..., :1]) / sine)
    return scale * e[..., 1:]


def arctan2(sine: Array, cosine: Array) -> Array:
    """Return the angles [rad] of complex sines and cosines, with their derivatives."""
    s, c = sine.real, cosine.real
    angle = np.arctan2(s, c)
    if not (np.iscomplexobj(sine) or np.iscomplexobj(cosine)):
        return np.asarray(angle)
    return np.asarray(angle + 1j * (c * sine.imag - s * cosine.imag) / (s * s + c * c))


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1, keepdims=True)))


def _joint_coordinates(frames: JointFrames, poses: Poses, near: Array) -> Array:
    """Return the distances and the angles or the quaternion of a joint."""
    R_a = poses.R[:, frames.a] @ frames.frame_a
    R_b = poses.R[:, frames.b] @ frames.frame_b
    between = poses.x[:, frames.b] + poses.R[:, frames.b] @ frames.anchor_b
    between = between - poses.x[:, frames.a] - poses.R[:, frames.a] @ frames.anchor_a
    distances = (between[:, None] @ R_a)[:, 0][:, list(frames.joint_type.translations)]
    if frames.joint_type.has_quaternion:
        zero = np.broadcast_to(frames.offset, poses.q[:, frames.a].shape)
        zero = batch_quaternion_product(poses.q[:, frames.a], zero)
        e = batch_quaternion_product(conjugate(zero), poses.q[:, frames.b])
        e = np.where((e.real @ near[-4:])[:, None] < 0.0, -e, e)
        return np.concatenate([distances, e], axis=1)
    # sine and cosine of an angle: products of columns of both frames; two angles turn the frame
    # about its column 2 and then about column 0
    columns = [((1, 0), (0, 0)), ((2, 1), (2, 2))][: len(frames.joint_type.rotations)]
    angles = []
    for k, pair in enumerate(columns, start=-len(columns)):
        sine, cosine = (np.sum(R_a[:, :, m] * R_b[:, :, n], axis=1) for m, n in pair)
        angle = arctan2(sine, cosine)
        angles.append(angle + 2.0 * np.pi * np.round((near[k] - angle.real) / (2.0 * np.pi)))
    return np.concatenate([distances, *(angle[:, None] for angle in angles)], axis=1)
