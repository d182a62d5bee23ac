"""A step between two knots in joint coordinates, where nothing touches: formulas that can be differentiated.

With the joints exact, a step of the maximal coordinates is one of the discrete Lagrangian in joint coordinates: its
equations are those of all bodies [MC 26, 33], projected on the motions that the joints of the tree allow. The momentum
of a knot is both what the step before arrived with and what the next one leaves with,

    arriving(1, 2) + h/2 u = carried(2) - commanded(2) = leaving(2, 3) - h/2 u,

but for what closed loops give, and motors: these see the step's end where it leaves, and the knot where it arrives
(``commanded``; their damping is in ``carried``). Torques u, held over a step, act by half at both of its knots; so do
springs, by their stretch in the middle of the step; dampers act by their rate over the step where it leaves, and by the
knot's rate where it arrives: all as in ``vigym.core.forces``. What the last step's torques did is in the rates of the
knot, so that its coordinates and rates, and what motors were told, are all that the next step depends on. Leading axis
S; arrays may be complex, see ``motion``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.kinematics import Poses, Tree
from vigym.simulation.linearization.motion import Closings, Points, relative, rotation_vector
from vigym.simulation.linearization.motors import Command, Drives
from vigym.spatial import conjugate, cross, product

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

Indices = NDArray[np.int64]


class SmoothStep:
    """Momenta along the freedoms of the tree, as a step leaves a knot and arrives at the next.

    Args:
        mechanism: what moves; of its limits and contacts nothing is seen.

    Attributes:
        tree: its kinematics.
        drives: its motors.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.tree = tree = Tree(mechanism)
        self.drives = Drives(mechanism, tree)
        joints = mechanism.ordered_joints
        self._closings, self._points = Closings(mechanism, tree), Points(mechanism, tree)
        self._gravity = np.asarray(mechanism.gravity)
        bodies = mechanism.bodies.values()
        self._mass = np.array([body.mass for body in bodies])[:, None]
        self._inertia = np.array([np.asarray(body.inertia) for body in bodies])
        freedoms = [(joint, j) for joint in joints for j in range(len(joint.prototype.velocities))]
        self._damping = np.array([joint.damping for joint, _ in freedoms])
        self._armature = np.array([joint.armature for joint, _ in freedoms])
        self._stiffness = np.array([joint.stiffness for joint, _ in freedoms])
        self._plain, self._balls, self._turning = _columns(mechanism)
        self._rest = self._rests(mechanism)

    def _rests(self, mechanism: Mechanism) -> Array:
        """Coordinates where the springs are slack, all joints (n_q,); at the assembly pose for free orientations."""
        parts, start = [], 0
        for joint in mechanism.ordered_joints:
            count = len(joint.prototype.positions)
            zero = self.tree.zero[start : start + count]
            if len(zero) < count:  # of closing joints only plain ones have springs
                zero = np.zeros(count)
            parts.append(np.asarray(joint.rest) if joint.rest else zero)
            start += count
        return np.concatenate([np.zeros(0), *parts])

    def carried(self, q: Array, rates: Array, h: float, told: Command) -> Array:
        """Momentum (S, freedoms) of a knot at coordinates q (S, n_q) with rates (S, freedoms), armatures included.

        And what dampers, those of motors too, took in the half of the step of size ``h`` before it.
        """
        poses = self.tree.poses(q)
        V = self._carried(poses.screws * rates[..., None])
        w, R = V[..., 3:], poses.R[:, 1:]
        v = V[..., :3] + cross(w, poses.x[:, 1:])
        turning = (R.swapaxes(-1, -2) @ w[..., None])[..., 0]
        momentum = self._project(poses, self._mass * v, _turned(R, self._spin(turning)))
        along = self._points.directions(poses)
        stretching = 0.5 * h * self._points.damping * (along @ rates[..., None])[..., 0]
        forces = (self._armature + 0.5 * h * self._damping) * self._all(poses, rates)
        return momentum + self._on_tree(poses, forces) + _on(along, stretching) + 0.5 * h * told.damping * rates

    def commanded(self, q: Array, h: float, told: Command) -> Array:
        """Momentum (S, freedoms) that motors gave in the half of the step before a knot, but for their damping."""
        return 0.5 * h * (told.offset - told.stiffness * self.drives.coordinates(q))

    def leaving(self, q2: Array, q3: Array, h: float, before: float, near: Array, told: Command) -> Array:
        """Momentum (S, freedoms) with which the step leaves knot 2, and what forces but torques take of it.

        Args:
            q2: (S, n_q) coordinates of the tree at knot 2.
            q3: the same at knot 3.
            h: size of the step [s].
            before: size of the step before, 0 after a reset [s].
            near: (n,) coordinates of the closing joints at knot 2, to count turns.
            told: what motors are told in this step.
        """
        poses2, poses3 = self.tree.poses(q2), self.tree.poses(q3)
        momentum = self._momentum(poses2, poses3, h, -1.0)
        pull, rate, swing, ends = self._forces(q2, poses2, q3, poses3, h, near)
        lengths2, lengths3 = self._points.lengths(poses2), self._points.lengths(poses3)
        tension = 0.5 * h * self._points.stiffness * (0.5 * (lengths2 + lengths3) - self._points.rest)
        tension = tension + 0.5 * (h + before) / h * self._points.damping * (lengths3 - lengths2)
        forces = 0.5 * h * (pull + self._twists(ends[0])) + 0.5 * (h + before) * self._damping * rate
        forces = forces + self._armature * swing
        driven = told.stiffness * self.drives.coordinates(q3) + told.damping * rate[:, : self.tree.freedoms]
        momentum = momentum + 0.5 * (h + before) * (driven - told.offset)
        return momentum + self._on_tree(poses2, forces) + _on(self._points.directions(poses2), tension)

    def arriving(self, q2: Array, q3: Array, h: float, near: Array) -> Array:
        """Momentum (S, freedoms) with which the step arrives at knot 3, with what springs gave; see ``leaving``."""
        poses2, poses3 = self.tree.poses(q2), self.tree.poses(q3)
        momentum = self._momentum(poses2, poses3, h, 1.0)
        pull, _, swing, ends = self._forces(q2, poses2, q3, poses3, h, near)
        lengths = 0.5 * (self._points.lengths(poses2) + self._points.lengths(poses3))
        tension = -0.5 * h * self._points.stiffness * (lengths - self._points.rest)
        forces = self._armature * swing - 0.5 * h * (pull + self._twists(ends[1]))
        return momentum + self._on_tree(poses3, forces) + _on(self._points.directions(poses3), tension)

    def mean_rates(self, q2: Array, q3: Array, h: float, near: Array) -> Array:
        """Rates of the tree's freedoms over the step (freedoms,) between coordinates (n_q,), as motors see them."""
        (poses2, poses3) = (self.tree.poses(q[None]) for q in (q2, q3))
        return np.asarray(self._forces(q2[None], poses2, q3[None], poses3, h, near)[1][0, : self.tree.freedoms])

    def rates(self, q: Array, rates: Array) -> Array:
        """Rates of all joints, closing ones included (S, n_velocities), from those of the tree (S, freedoms)."""
        return self._all(self.tree.poses(q), rates)

    def _all(self, poses: Poses, rates: Array) -> Array:
        closing = (self._closings.directions(poses) @ rates[..., None])[..., 0]
        return np.concatenate([np.broadcast_to(rates, (len(closing), rates.shape[-1])), closing], axis=1)

    def _momentum(self, poses2: Poses, poses3: Poses, h: float, side: float) -> Array:
        """Momentum of the motion from knot 2 to 3, seen at knot 2 (side -1) or at knot 3 (side 1)."""
        here = poses2 if side < 0.0 else poses3
        v = (poses3.x - poses2.x)[:, 1:] / h
        turn = relative(poses2.q[:, 1:], poses3.q[:, 1:])
        w, c = 2.0 / h * turn[..., 1:], turn[..., :1]
        Jw = self._spin(w)
        moment = c * Jw - side * 0.5 * h * cross(w, Jw)
        return self._project(here, self._mass * (v + side * 0.5 * h * self._gravity), _turned(here.R[:, 1:], moment))

    def _project(self, poses: Poses, p: Array, moment: Array) -> Array:
        """Momenta of the bodies (S, n, 3), the second about the centres of mass, along the freedoms."""
        about_origin = np.concatenate([p, cross(poses.x[:, 1:], p) + moment], axis=-1)
        gathered = self.tree.carried[1:].T @ about_origin
        result: Array = np.sum(gathered * poses.screws, axis=-1)
        return result

    def _carried(self, motions: Array) -> Array:
        """Sum of the motions (S, freedoms, 6) that carry each body (S, n, 6)."""
        result: Array = self.tree.carried[1:] @ motions
        return result

    def _spin(self, w: Array) -> Array:
        return (self._inertia @ w[..., None])[..., 0]

    def _on_tree(self, poses: Poses, forces: Array) -> Array:
        """Forces along the freedoms of all joints (S, n_velocities) as forces along those of the tree."""
        n = self.tree.freedoms
        return forces[:, :n] + _on(self._closings.directions(poses), forces[:, n:])

    def _forces(
        self, q2: Array, poses2: Poses, q3: Array, poses3: Poses, h: float, near: Array
    ) -> tuple[Array, Array, Array, list[Array]]:
        """Springs' pull, rate, momentum rate of the armature, each (S, n_velocities), and all coordinates at 2 and 3.

        Rate and momentum rate of angles are (2/h) sin(change/2) and sin(change)/h, as the step has them.
        """
        ends = [
            np.concatenate([q, self._closings.coordinates(poses, near)], axis=1)
            for q, poses in ((q2, poses2), (q3, poses3))
        ]
        where, which = self._plain
        change, middle = ends[1] - ends[0], 0.5 * (ends[0] + ends[1]) - self._rest
        turning = self._turning[where]
        shape, dtype = (len(change), len(self._damping)), change.dtype
        pull, rate, swing = (np.zeros(shape, dtype) for _ in range(3))
        d = change[:, where]
        rate[:, which] = np.where(turning, 2.0 * np.sin(0.5 * d), d) / h
        swing[:, which] = np.where(turning, np.sin(d), d) / h
        pull[:, which] = self._stiffness[which] * middle[:, where]
        for span, turns in self._balls:
            rate[:, turns] = 2.0 / h * relative(ends[0][:, span], ends[1][:, span])[:, 1:]
        return pull, rate, swing, ends

    def _twists(self, q: Array) -> Array:
        """Springs of free orientations act at the knot: moments (S, n_velocities) at coordinates q."""
        moments = np.zeros((len(q), len(self._stiffness)), q.dtype)
        for span, turns in self._balls:
            zero = np.broadcast_to(conjugate(self._rest[span]), (len(q), 4))
            moments[:, turns] = self._stiffness[turns] * rotation_vector(product(zero, q[:, span]))
        return moments


def _turned(R: Array, vectors: Array) -> Array:
    """Vectors (S, n, 3) turned by matrices (S, n, 3, 3)."""
    return (R @ vectors[..., None])[..., 0]


def _on(directions: Array, forces: Array) -> Array:
    """Forces (S, n) along directions (S, n, freedoms) as forces along the freedoms."""
    return (forces[:, None] @ directions)[:, 0]


def _columns(mechanism: Mechanism) -> tuple[tuple[Indices, Indices], list[tuple[slice, slice]], NDArray[np.bool_]]:
    """Which coordinate is the integral of which rate, spans of quaternions and their rates, which coordinates turn."""
    plain: list[tuple[int, int]] = []
    balls: list[tuple[slice, slice]] = []
    turning: list[bool] = []
    velocity = 0
    for joint in mechanism.ordered_joints:
        kind, position = joint.prototype, len(turning)
        simple = len(kind.translations) + (0 if kind.has_quaternion else len(kind.rotations))
        plain += [(position + j, velocity + j) for j in range(simple)]
        turning += [j >= len(kind.translations) for j in range(len(kind.positions))]
        velocity += len(kind.velocities)
        if kind.has_quaternion:
            balls.append((slice(len(turning) - 4, len(turning)), slice(velocity - 3, velocity)))
    columns = np.array(plain, np.int64).reshape(-1, 2)
    return (columns[:, 0], columns[:, 1]), balls, np.array(turning, bool)
