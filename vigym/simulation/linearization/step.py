"""Step between two knots in joint coordinates, without contact: formulas to be differentiated.

With exact joints a step in maximal coordinates is one of the discrete Lagrangian in joint
coordinates: its equations are those of all bodies [MC 26, 33], projected on the motions that the
joints of the tree allow. The momentum of a knot is both that with which the step before arrives
and that with which the next one leaves,

    arriving(1, 2) + h/2 u = knot(2) - motor(2) = leaving(2, 3) - h/2 u,

but for the forces of closed loops, and motors: these depend on the step's end where it leaves, and
on the knot where it arrives (``motor_momentum``; their damping is in ``knot_momentum``). Torques u,
constant over a step, act by half at both of its knots; so do springs, by their stretch in the
middle of the step (of three free rotations see ``_spring_moments``); dampers act by their rate over
the step where it leaves, and by the knot's rate where it arrives: all as in ``vigym.core``. The
effect of the last step's torques is in the rates of the knot, so that the next step depends only on
its coordinates, its rates and the last commands of the motors. Leading axis S; arrays may be
complex, see ``motion``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.kinematics import Poses, TreeKinematics
from vigym.simulation.linearization.motion import (
    ClosingJoints,
    Dampers,
    PointSprings,
    relative_rotation,
    rotation_vector,
)
from vigym.simulation.linearization.motors import Command, Motors
from vigym.spatial import batch_quaternion_product, conjugate, cross, rotate

Indices = NDArray[np.int64]


class DofMap(NamedTuple):
    """Correspondence of coordinates and dofs of all joints.

    Attributes:
        positions: coordinates that are the integral of one rate.
        velocities: those rates.
        quaternions: spans of quaternions and of their rates.
        is_angle: whether a coordinate is an angle or part of a quaternion.
    """

    positions: Indices
    velocities: Indices
    quaternions: list[tuple[slice, slice]]
    is_angle: NDArray[np.bool_]


class Change(NamedTuple):
    """Change of the joint coordinates over a step.

    Rates and momentum rates of angles are those of `vigym.core.math.turns`, as in the step.

    Attributes:
        spring_forces: (S, n_velocities), those of free orientations left out.
        rates: (S, n_velocities).
        momentum_rates: (S, n_velocities) that armatures are multiplied by.
        start, end: coordinates of all joints at both knots (S, n_positions).
    """

    spring_forces: Array
    rates: Array
    momentum_rates: Array
    start: Array
    end: Array


class SmoothStep:
    """Momenta along the dofs of the tree, as a step leaves a knot and arrives at the next.

    Args:
        mechanism: mechanism to step; its limits and contacts are ignored.

    Attributes:
        tree: kinematics of its tree.
        motors: its motors.
        closing: its loop-closing joints.
        springs: its springs between points.
        mass: of the bodies (n, 1) [kg].
        inertia: of the bodies, in their axes (n, 3, 3) [kg m^2].
        dampers: dampers of its joints and springs.
        armature: along the dofs of all joints (n_velocities,).
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.tree = tree = TreeKinematics(mechanism)
        self.motors = Motors(mechanism, tree)
        self.closing = ClosingJoints(mechanism, tree)
        self.springs = PointSprings(mechanism, tree)
        self._gravity = np.asarray(mechanism.gravity)
        bodies = mechanism.bodies.values()
        self.mass = np.array([body.mass for body in bodies])[:, None]
        self.inertia = np.array([np.asarray(body.inertia) for body in bodies])
        joints = mechanism.ordered_joints
        owners = [joint for joint in joints for _ in range(joint.dofs)]
        self.dampers = Dampers(mechanism)
        self.armature = np.array([joint.armature for joint in owners])
        self._stiffness = _along_dofs([joint.dof_stiffness for joint in joints])
        self._map = _dof_map(mechanism)
        self._rest = self._rest_coordinates(mechanism)

    def _rest_coordinates(self, mechanism: Mechanism) -> Array:
        """Return the coordinates (n_positions,) at which joint springs are slack.

        For free orientations that is the assembly pose.
        """
        parts, start = [], 0
        for joint in mechanism.ordered_joints:
            count = len(joint.joint_type.positions)
            zero = self.tree.zero[start : start + count]
            if len(zero) < count:  # of loop-closing joints: zero, or the unit quaternion
                zero = np.zeros(count)
                if joint.joint_type.has_quaternion:
                    zero[-4] = 1.0
            parts.append(np.asarray(joint.rest) if joint.rest else zero)
            start += count
        return np.concatenate([np.zeros(0), *parts])

    def knot_momentum(self, q: Array, rates: Array, h: float, command: Command) -> Array:
        """Return the momentum (S, tree dofs) of a knot, armatures included.

        The impulse of dampers, those of motors too, in the half of the step before it is added.

        Args:
            q: (S, n_q) coordinates of the tree.
            rates: (S, tree dofs).
            h: size of the step before [s].
            command: motors' law in that step.
        """
        poses = self.tree.poses(q)
        V = self._body_velocities(poses.screws * rates[..., None])
        w, R = V[..., 3:], poses.R[:, 1:]
        v = V[..., :3] + cross(w, poses.x[:, 1:])
        turning = (R.swapaxes(-1, -2) @ w[..., None])[..., 0]
        spin = rotate(R, self._angular_momentum(turning))
        momentum = self._project_momenta(poses, self.mass * v, spin)
        all_rates = self._all_rates(poses, rates)
        directions = self.springs.directions(poses)
        length_rates = (directions @ rates[..., None])[..., 0]
        damped = self.dampers.impulses(h) * np.concatenate([all_rates, length_rates], axis=1)
        momentum = momentum + self._project_joint_forces(poses, self.armature * all_rates)
        momentum = momentum + self.project_impulses(poses, damped)
        return momentum + 0.5 * h * command.damping * rates

    def motor_momentum(self, q: Array, h: float, command: Command) -> Array:
        """Return the momentum (S, tree dofs) by motors in the half step before a knot.

        Their damping is left out, it is in `knot_momentum`.
        """
        return 0.5 * h * (command.offset - command.stiffness * self.motors.coordinates(q))

    def leaving_momentum(
        self,
        knots: tuple[Array, Array],
        sizes: tuple[float, float],
        near: Array,
        command: Command,
        slow: Array,
    ) -> Array:
        """Return the momentum (S, tree dofs) with which the step leaves knot 2.

        The impulse of all forces but torques is subtracted.

        Args:
            knots: (S, n_q) coordinates of the tree at knots 2 and 3.
            sizes: size of the step and of the step before, 0 after a reset [s].
            near: (n,) coordinates of the loop-closing joints at knot 2, to count turns.
            command: motors' law in this step.
            slow: (n,) slow rates of all joints and springs before the step.
        """
        q2, q3 = knots
        h, before = sizes
        poses2, poses3 = self.tree.poses(q2), self.tree.poses(q3)
        momentum = self._momentum(poses2, poses3, h, -1.0)
        change = self._change(knots, (poses2, poses3), h, near)
        springs = self.springs
        lengths2, lengths3 = springs.lengths(poses2), springs.lengths(poses3)
        tension = 0.5 * h * springs.stiffness * (0.5 * (lengths2 + lengths3) - springs.rest)
        rates = np.concatenate([change.rates, (lengths3 - lengths2) / h], axis=1)
        damped = (self.dampers.impulses(h) + self.dampers.impulses(before)) * rates
        damped = damped - self.dampers.slow_impulses(h, before)[0] * slow
        momentum = momentum + self.project_impulses(poses2, damped)
        forces = 0.5 * h * (change.spring_forces + self._spring_moments(change, 1.0))
        forces = forces + self.armature * change.momentum_rates
        motors = command.stiffness * self.motors.coordinates(q3)
        motors = motors + command.damping * change.rates[:, : self.tree.dofs]
        momentum = momentum + 0.5 * (h + before) * (motors - command.offset)
        momentum = momentum + self._project_joint_forces(poses2, forces)
        return momentum + _project(springs.directions(poses2), tension)

    def arriving_momentum(
        self, knots: tuple[Array, Array], h: float, near: Array, slow: Array
    ) -> Array:
        """Return the momentum (S, tree dofs) with which the step arrives at knot 3.

        The impulse of springs and slow rates is added; arguments as of `leaving_momentum`.
        """
        poses2, poses3 = self.tree.poses(knots[0]), self.tree.poses(knots[1])
        momentum = self._momentum(poses2, poses3, h, 1.0)
        change = self._change(knots, (poses2, poses3), h, near)
        springs = self.springs
        lengths2, lengths3 = springs.lengths(poses2), springs.lengths(poses3)
        tension = -0.5 * h * springs.stiffness * (0.5 * (lengths2 + lengths3) - springs.rest)
        moments = self._spring_moments(change, -1.0)
        rates = np.concatenate([change.rates, (lengths3 - lengths2) / h], axis=1)
        slow = self.dampers.slow_rates(slow, rates)
        held = self.dampers.slow_impulses(h, 0.0)[1] * slow
        momentum = momentum + self.project_impulses(poses3, held)
        forces = self.armature * change.momentum_rates
        forces = forces - 0.5 * h * (change.spring_forces + moments)
        momentum = momentum + self._project_joint_forces(poses3, forces)
        return momentum + _project(springs.directions(poses3), tension)

    def mean_rates(self, q2: Array, q3: Array, h: float, near: Array) -> Array:
        """Return the rates of the tree's dofs over the step (tree dofs,), as motors see them.

        Args:
            q2: (n_q,) coordinates at the step's first knot.
            q3: (n_q,) coordinates at its second knot.
            h: size of the step [s].
            near: (n,) coordinates of the loop-closing joints at the first knot.
        """
        knots = q2[None], q3[None]
        poses = self.tree.poses(knots[0]), self.tree.poses(knots[1])
        return np.asarray(self._change(knots, poses, h, near).rates[0, : self.tree.dofs])

    def rates_over_step(self, q2: Array, q3: Array, h: float, near: Array) -> Array:
        """Return the rates over the step of all joints and springs (S, n), as dampers see them.

        Arguments as of `mean_rates`, with a leading axis S in one of the knots or in both.
        """
        poses2, poses3 = self.tree.poses(q2), self.tree.poses(q3)
        rates = self._change((q2, q3), (poses2, poses3), h, near).rates
        stretching = (self.springs.lengths(poses3) - self.springs.lengths(poses2)) / h
        return np.concatenate([rates, stretching], axis=1)

    def project_impulses(self, poses: Poses, impulses: Array) -> Array:
        """Return impulses along all joints and springs (S, n) as those along the tree's dofs."""
        joints = len(self.armature)
        of_joints = self._project_joint_forces(poses, impulses[:, :joints])
        return of_joints + _project(self.springs.directions(poses), impulses[:, joints:])

    def spring_forces(self, coordinates: Array) -> Array:
        """Return the forces of joint springs at rest (S, n_velocities), towards their slack length.

        Args:
            coordinates: (S, n_positions) of all joints.
        """
        still = self._change_between(coordinates, coordinates, 1.0)
        return -still.spring_forces - self._spring_moments(still, 1.0)

    def rates(self, q: Array, rates: Array) -> Array:
        """Return the rates of all joints (S, n_velocities) from those of the tree (S, dofs)."""
        return self._all_rates(self.tree.poses(q), rates)

    def _all_rates(self, poses: Poses, rates: Array) -> Array:
        closing = (self.closing.directions(poses) @ rates[..., None])[..., 0]
        tree = np.broadcast_to(rates, (len(closing), rates.shape[-1]))
        return np.concatenate([tree, closing], axis=1)

    def _momentum(self, poses2: Poses, poses3: Poses, h: float, side: float) -> Array:
        """Return the momentum of the motion from knot 2 to 3, at knot 2 (side -1) or 3 (side 1)."""
        here = poses2 if side < 0.0 else poses3
        v = (poses3.x - poses2.x)[:, 1:] / h
        e = relative_rotation(poses2.q[:, 1:], poses3.q[:, 1:])
        c, e = e[..., :1], e[..., 1:]
        b, Je = 1.0 / (2.0 + c), self._angular_momentum(e)
        along = b * np.sum(e * Je, axis=-1, keepdims=True)
        moment = 18.0 * b * b / h * (c * Je - side * cross(e, Je) + along * e)
        linear = self.mass * (v + side * 0.5 * h * self._gravity)
        return self._project_momenta(here, linear, rotate(here.R[:, 1:], moment))

    def _project_momenta(self, poses: Poses, linear: Array, angular: Array) -> Array:
        """Project momenta of the bodies on the dofs of the tree.

        Args:
            poses: poses of the tree.
            linear: (S, n, 3) linear momenta.
            angular: (S, n, 3) angular momenta about the centres of mass.
        """
        about_origin = cross(poses.x[:, 1:], linear) + angular
        wrenches = np.concatenate([linear, about_origin], axis=-1)
        supported = self.tree.support[1:].T @ wrenches
        result: Array = np.sum(supported * poses.screws, axis=-1)
        return result

    def _body_velocities(self, motions: Array) -> Array:
        """Sum the dofs' motions (S, tree dofs, 6) that move each body (S, n, 6)."""
        result: Array = self.tree.support[1:] @ motions
        return result

    def _angular_momentum(self, w: Array) -> Array:
        return (self.inertia @ w[..., None])[..., 0]

    def _project_joint_forces(self, poses: Poses, forces: Array) -> Array:
        """Return forces along the dofs of all joints (S, n_velocities) as those of the tree."""
        n = self.tree.dofs
        return forces[:, :n] + _project(self.closing.directions(poses), forces[:, n:])

    def _change(
        self, knots: tuple[Array, Array], poses: tuple[Poses, Poses], h: float, near: Array
    ) -> Change:
        """Return the change of the coordinates over a step; arguments as of `leaving_momentum`."""
        closing2 = self.closing.coordinates(poses[0], near)
        closing3 = self.closing.coordinates(poses[1], near)
        start = np.concatenate([knots[0], closing2], axis=1)
        end = np.concatenate([knots[1], closing3], axis=1)
        return self._change_between(start, end, h)

    def _change_between(self, start: Array, end: Array, h: float) -> Change:
        """Return the change from coordinates (S, n_positions) to others over a time h."""
        positions, velocities, quaternions, is_angle = self._map
        change = end - start
        stretch = 0.5 * (start + end) - self._rest
        angle = is_angle[positions]
        d = change[:, positions]
        shape = len(change), len(self.armature)
        forces, rates, momentum_rates = (np.zeros(shape, change.dtype) for _ in range(3))
        s, c = np.sin(0.5 * d), np.cos(0.5 * d)
        b = 1.0 / (2.0 + c)
        rates[:, velocities] = np.where(angle, 6.0 * b * s, d) / h
        momenta = 18.0 * b**3 * (1.0 + 2.0 * c) * s
        momentum_rates[:, velocities] = np.where(angle, momenta, d) / h
        forces[:, velocities] = self._stiffness[velocities] * stretch[:, positions]
        for span, velocity in quaternions:
            e = relative_rotation(start[:, span], end[:, span])
            rates[:, velocity] = 6.0 / h * e[:, 1:] / (2.0 + e[:, :1])
        return Change(forces, rates, momentum_rates, start, end)

    def _spring_moments(self, change: Change, side: float) -> Array:
        """Return the moments (S, n_velocities) of springs of free orientations over a step.

        With phi the rotation vector of the mean of both quaternions and c + v what leads from one
        to the other, they are k (phi + side v x phi / (1 + c)): side 1 at the step's first knot, -1
        at its second.
        """
        start, end = change.start, change.end  # one of them may be of one knot alone
        moments = np.zeros_like(change.rates)
        for span, velocity in self._map.quaternions:
            e = relative_rotation(start[:, span], end[:, span])
            half = e + np.array([1.0, 0.0, 0.0, 0.0])
            half = half / np.sqrt(np.sum(half * half, axis=-1, keepdims=True))
            back = np.broadcast_to(conjugate(self._rest[span]), (len(start), 4))
            before = batch_quaternion_product(back, start[:, span])
            phi = rotation_vector(batch_quaternion_product(before, half))
            across = cross(e[:, 1:], phi) / (1.0 + e[:, :1])
            moments[:, velocity] = self._stiffness[velocity] * (phi + side * across)
        return moments


def _along_dofs(parts: list[Array]) -> Array:
    """Join values along the dofs of all joints (n_velocities,)."""
    return np.concatenate([np.zeros(0), *parts])


def _project(directions: Array, forces: Array) -> Array:
    """Return forces (S, n) along directions (S, n, tree dofs) as forces along the dofs."""
    return (forces[:, None] @ directions)[:, 0]


def _dof_map(mechanism: Mechanism) -> DofMap:
    """Return the correspondence of coordinates and dofs of all joints."""
    plain: list[tuple[int, int]] = []
    quaternions: list[tuple[slice, slice]] = []
    is_angle: list[bool] = []
    velocity = 0
    for joint in mechanism.ordered_joints:
        kind, position = joint.joint_type, len(is_angle)
        translations = len(kind.translations)
        count = translations + (0 if kind.has_quaternion else len(kind.rotations))
        plain += [(position + j, velocity + j) for j in range(count)]
        is_angle += [j >= translations for j in range(len(kind.positions))]
        velocity += joint.dofs
        if kind.has_quaternion:
            stop = len(is_angle)
            quaternions.append((slice(stop - 4, stop), slice(velocity - 3, velocity)))
    positions, velocities = np.array(plain, np.int64).reshape(-1, 2).T
    return DofMap(positions, velocities, quaternions, np.array(is_angle, bool))
