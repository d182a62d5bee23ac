"""What the forces of a smooth step see: coordinates, their changes over a step, and which way each of them acts.

Leading axis S: points in time or perturbations of one. Arrays may be complex: an imaginary part that is far below
rounding carries a derivative along (complex-step differentiation), so that whatever is computed here is differentiated
exactly, term by term. No formula here takes an absolute value or an order of complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.joint_frames import Halves, freedom_axes, number_bodies, split
from vigym.mechanism.topology.kinematics import Poses, Tree
from vigym.spatial import conjugate, cross, product, turned

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing
    from vigym.mechanism.elements.springs import Spring

TINY = 1e-20  # imaginary part that carries a derivative: its square is nothing
AT_ONCE = 64  # directions that are differentiated along at once


class Closings:
    """Freedoms of the joints that close loops, as functions of the tree's poses."""

    def __init__(self, mechanism: Listing, tree: Tree) -> None:
        self._halves = [split(mechanism, joint) for joint in mechanism.closing_joints]
        self._screws = [freedom_axes(half) for half in self._halves]
        self._signs = [tree.carried[half.b] - tree.carried[half.a] for half in self._halves]
        self._freedoms = tree.freedoms

    def coordinates(self, poses: Poses, near: Array) -> Array:
        """Coordinates (S, n) [m, rad], angles within half a turn of ``near`` (n,); quaternions stay as they are there.

        Closing joints with quaternions or two angles carry no forces along their freedoms: nothing reads theirs.
        """
        parts, start = [np.zeros((len(poses.x), 0))], 0
        for half in self._halves:
            count = len(half.prototype.positions)
            guess = near[start : start + count]
            plain = len(half.prototype.rotations) < 2
            parts.append(_coordinates(half, poses, guess) if plain else np.tile(guess, (len(poses.x), 1)))
            start += count
        return np.concatenate(parts, axis=1)

    def directions(self, poses: Poses) -> Array:
        """Rates of the closing joints' freedoms (S, n, freedoms) at a rate of one of each freedom of the tree."""
        parts = [np.zeros((len(poses.x), 0, self._freedoms))]
        for half, (axes, fixed_in), signs in zip(self._halves, self._screws, self._signs, strict=True):
            n, way = len(half.prototype.translations), turned(poses.R[:, fixed_in], axes)
            point = (poses.x[:, half.b] + poses.R[:, half.b] @ half.anchor_b)[:, None]
            forces, moments = way.copy(), cross(np.broadcast_to(point, way.shape), way)
            forces[:, n:], moments[:, n:] = 0.0, way[:, n:]
            parts.append(along(poses, forces, moments, signs))
        return np.concatenate(parts, axis=1)


class Points:
    """Springs between points: lengths and directions."""

    def __init__(self, mechanism: Listing, tree: Tree) -> None:
        numbers, springs = number_bodies(mechanism), list(mechanism.springs.values())
        self._ends = [(numbers[spring.a], spring.point_a, numbers[spring.b], spring.point_b) for spring in springs]
        self._signs = [tree.carried[b] - tree.carried[a] for a, _, b, _ in self._ends]
        self._freedoms = tree.freedoms
        self.stiffness, self.rest, self.damping = _constants(springs)

    def lengths(self, poses: Poses) -> Array:
        """Distances of the springs' ends (S, n) [m]."""
        return np.concatenate([np.zeros((len(poses.x), 0)), *(_length(d) for d, _ in self._separations(poses))], axis=1)

    def directions(self, poses: Poses) -> Array:
        """Rates of the lengths (S, n, freedoms) at a rate of one of each freedom; zero where a spring has no length."""
        parts = [np.zeros((len(poses.x), 0, self._freedoms))]
        for (d, point), signs in zip(self._separations(poses), self._signs, strict=True):
            length = _length(d)
            way = (d / np.where(length == 0.0, 1.0, length))[:, None]
            parts.append(along(poses, way, cross(point[:, None], way), signs))
        return np.concatenate(parts, axis=1)

    def _separations(self, poses: Poses) -> list[tuple[Array, Array]]:
        """From end to end (S, 3) of each spring, and where its second end is."""
        ends = [
            (poses.x[:, a] + poses.R[:, a] @ at_a, poses.x[:, b] + poses.R[:, b] @ at_b)
            for a, at_a, b, at_b in self._ends
        ]
        return [(end - start, end) for start, end in ends]


def along(poses: Poses, forces: Array, moments: Array, signs: Array) -> Array:
    """What wrenches (S, n, 3) about the world's origin are along the tree's freedoms (S, n, freedoms)."""
    wrenches = np.concatenate([forces, moments], axis=-1)
    result: Array = (wrenches @ poses.screws.transpose(0, 2, 1)) * signs
    return result


def nudged(tree: Tree, coordinates: Array, rates: Array) -> Array:
    """Complex coordinates (S, n_q) that carry the derivatives along the rates (S, freedoms)."""
    result: Any = np.tile(coordinates, (len(rates), 1)).astype(np.complex128)
    where, which = tree.plain
    result[:, where] += 1j * TINY * rates[:, which]
    for span, turns in tree.quaternions:
        small: Any = np.concatenate([np.ones((len(rates), 1)), 0.5j * TINY * rates[:, turns]], axis=1)
        result[:, span] = product(result[:, span], small)
    return np.asarray(result)


def gradient(function: Callable[[Array], Array], tree: Tree, coordinates: Array) -> Array:
    """Derivative (m, leaders) of a function, (S, n_q) to (S, m), by the freedoms that follow no other one."""
    ways, parts = tree.motions.T, []
    for first in range(0, max(len(ways), 1), AT_ONCE):
        parts.append(function(nudged(tree, coordinates, ways[first : first + AT_ONCE])).imag / TINY)
    return np.asarray(np.concatenate(parts).T)


def relative(q2: Array, q3: Array) -> Array:
    """Quaternions (..., 4) from q2 to q3, the shorter way round."""
    e = product(conjugate(q2), q3)
    return np.where(e[..., :1].real < 0.0, -e, e)


def rotation_vector(e: Array) -> Array:
    """Rotation vectors (..., 3) [rad] of unit quaternions (..., 4), the shorter way round."""
    e = np.where(e[..., :1].real < 0.0, -e, e)
    square = np.sum(e[..., 1:] * e[..., 1:], axis=-1, keepdims=True)
    near = square.real < 1e-12
    size = np.sqrt(np.where(near, 1.0, square))
    return np.where(near, 2.0 + square / 3.0, 2.0 * arctan2(size, e[..., :1]) / size) * e[..., 1:]


def arctan2(sine: Array, cosine: Array) -> Array:
    """Angles [rad] of complex sines and cosines, with their derivatives."""
    s, c = sine.real, cosine.real
    angle = np.arctan2(s, c)
    if not (np.iscomplexobj(sine) or np.iscomplexobj(cosine)):
        return np.asarray(angle)
    return np.asarray(angle + 1j * (c * sine.imag - s * cosine.imag) / (s * s + c * c))


def _length(d: Array) -> Array:
    return np.asarray(np.sqrt(np.sum(d * d, axis=-1, keepdims=True)))


def _constants(springs: list[Spring]) -> tuple[Array, Array, Array]:
    table = np.array([(spring.stiffness, spring.rest_length, spring.damping) for spring in springs]).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _coordinates(half: Halves, poses: Poses, near: Array) -> Array:
    """Distances and the angle of a joint of at most one rotation."""
    R_a, R_b = poses.R[:, half.a] @ half.frame_a, poses.R[:, half.b] @ half.frame_b
    apart = poses.x[:, half.b] + poses.R[:, half.b] @ half.anchor_b
    apart = apart - poses.x[:, half.a] - poses.R[:, half.a] @ half.anchor_a
    slides = (apart[:, None] @ R_a)[:, 0][:, list(half.prototype.translations)]
    if not half.prototype.rotations:
        return slides
    sine, cosine = np.sum(R_a[:, :, 1] * R_b[:, :, 0], axis=1), np.sum(R_a[:, :, 0] * R_b[:, :, 0], axis=1)
    angle = arctan2(sine, cosine)
    angle = angle + 2.0 * np.pi * np.round((near[-1] - angle.real) / (2.0 * np.pi))
    return np.concatenate([slides, angle[:, None]], axis=1)
