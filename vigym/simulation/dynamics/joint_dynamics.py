"""Equations of motion of a mechanism in joint coordinates.

With v the rates of the tree's dofs, T those at unit rates of the independent ones y, J the
velocities of the bodies at unit v, and K the constraint Jacobian of the loops over y,

    T' (M v' + c - f - u) + K' lam = 0,      v' = T y'',      K y'' + dK/dt y' = 0.

M = J' I J is the inertia with armatures, c the rate of the bodies' momenta at constant v less their
weights, f the forces of springs and dampers, u those of actuators. Rates in time are exact, by
complex steps along v, see `vigym.simulation.linearization.motion`. Leading axis S: environments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.bodies import check_body_or_frame
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import body_numbers
from vigym.mechanism.topology.kinematics import Poses
from vigym.simulation.linearization.loop_tangent import Knot, LoopJacobian
from vigym.simulation.linearization.motion import STEP, perturb
from vigym.simulation.linearization.step import SmoothStep
from vigym.spatial import batch_rotation_matrix, cross, quaternion_from_matrix

CLOSED = 1e-6  # part of the largest term of a constraint that accelerations may leave
REACHED = 1e-6  # part of the largest force that actuators may leave
DEPENDENT = 1e-9  # part of the largest singular value below which actuators repeat each other


class Place(NamedTuple):
    """Poses of the bodies, and the motions that unit rates of the tree's dofs are there.

    Attributes:
        poses: poses of the tree.
        J: (S, n, 6, tree dofs) velocities of the centres of mass and of rotation, world axes.
        joints: (S, n_velocities, tree dofs) rates of all joints.
        springs: (S, n_springs, tree dofs) rates of the lengths of springs between points.
    """

    poses: Poses
    J: Array
    joints: Array
    springs: Array


class JointDynamics:
    """Equations of motion of one mechanism.

    Args:
        mechanism: mechanism; contacts, limits, dry friction and bounds of actuators are ignored.

    Attributes:
        mechanism: the mechanism.
        dofs: number of dofs of its tree.
        is_constrained: whether loops or couplings let some dofs follow others.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._step = SmoothStep(mechanism)
        self._tree = self._step.tree
        self._loops = LoopJacobian(mechanism, self._tree)
        self._weights = np.zeros((len(mechanism.bodies), 6, 1))
        self._weights[:, :3, 0] = self._step.mass * np.asarray(mechanism.gravity)
        self.dofs = self._tree.dofs
        self.is_constrained = mechanism.degrees_of_freedom < self.dofs

    def mass_matrix(self, q: Array) -> Array:
        """Return M (S, dofs, dofs) at coordinates of the tree (S, n_q)."""
        return self._inertia(self._place(self._tree.poses(q)))

    def point_jacobian(self, q: Array, name: str, point: Array) -> Array:
        """Return the velocities (S, 6, dofs) of a point and of its body's rotation at unit rates.

        Args:
            q: (S, n_q) coordinates of the tree.
            name: of a body, a frame or the world.
            point: (S, 3) in its axes, from the centre of mass or the frame's origin [m].
        """
        bodies, frames = self.mechanism.bodies, self.mechanism.frames
        check_body_or_frame(name, bodies, frames)
        if name in frames:
            frame = frames[name]
            point = frame.position + point @ batch_rotation_matrix(frame.orientation).T
            name = frame.body
        body = body_numbers(self.mechanism)[name]
        poses = self._tree.poses(q)
        at = poses.x[:, body] + (poses.R[:, body] @ point[..., None])[..., 0]
        return self._velocities(poses, self._tree.support[[body]], at[:, None])[:, 0]

    def actuator_forces(self, knot: Knot, torques: Array, targets: Array) -> Array:
        """Return the forces (S, dofs) of actuators and motors.

        Args:
            knot: present coordinates and rates.
            torques: (S, n_actuated).
            targets: (S, n_motors), NaN where a motor idles.

        Raises:
            ValueError: a target of a motor with an electric model.
        """
        motors = self._step.motors
        for (name, motor), column in zip(self.mechanism.motors.items(), targets.T, strict=True):
            if motor.model is not None and not np.isnan(column).all():
                raise ValueError(
                    f"targets: found one for the motor of joint {name!r}, which has an electric "
                    "model, expected None: its torque is not in these formulas"
                )
        commands = [motors.command(*row) for row in zip(torques, targets, strict=True)]
        offset, stiffness, damping = (np.array(part) for part in zip(*commands, strict=True))
        direct = (torques * ~motors.on_motors) @ motors.torque_map.T
        forces: Array = direct + offset - stiffness * motors.coordinates(knot.q)
        return forces - damping * knot.rates

    def forward(self, knot: Knot, forces: Array) -> Array:
        """Return the accelerations (S, dofs) under forces (S, dofs) of actuators.

        Raises:
            ValueError: a singular pose of the loops.
        """
        place, T = self._place(self._tree.poses(knot.q)), self._tree.velocity_map
        M = T.T @ self._inertia(place) @ T
        given = (forces - self._forces_at_constant_rates(knot, place)) @ T
        _, N, inverse = self._loops.allowed(knot.q)
        turning = self._loops.turning(knot.q, knot.rates)
        y = -_times(inverse, turning)
        left, across = N.swapaxes(1, 2) @ M @ N, N.swapaxes(1, 2)
        free = np.linalg.solve(left, _times(across, given - _times(M, y))[..., None])
        result: Array = (y + (N @ free)[..., 0]) @ T.T
        return result

    def inverse(self, knot: Knot, accelerations: Array) -> Array:
        """Return the forces (S, dofs) that give accelerations, were all dofs free.

        Raises:
            ValueError: accelerations (S, dofs) that open loops or couplings.
        """
        self._check_closed(knot, accelerations)
        place = self._place(self._tree.poses(knot.q))
        inertial = _times(self._inertia(place), accelerations)
        return inertial + self._forces_at_constant_rates(knot, place)

    def least_forces(self, knot: Knot, forces: Array, actuated: bool) -> Array:
        """Return the forces of least norm that do the same work in all motions of the mechanism.

        Args:
            knot: present coordinates.
            forces: (S, dofs).
            actuated: whether actuators give them (S, n_actuated), or all dofs (S, dofs).

        Raises:
            ValueError: actuators cannot give these forces.
        """
        if not (actuated or self.is_constrained):
            return forces
        motions: Array = self._tree.velocity_map @ self._loops.allowed(knot.q).motions
        along: Array = motions.swapaxes(1, 2)
        matrix: Array = along @ self._step.motors.torque_map if actuated else along
        work = _times(along, forces)
        inverse = np.asarray(np.linalg.pinv(matrix, rcond=DEPENDENT), dtype=np.float64)
        found = _times(inverse, work)
        missing = np.abs(work - _times(matrix, found)).max(initial=0.0)
        if missing > REACHED * np.abs(forces).max(initial=0.0):
            raise ValueError(
                f"accelerations: found ones that lack {missing:.3g} N or N m of the actuators, "
                "expected ones that actuators alone can give; actuated=False returns forces of "
                "all joints"
            )
        return found

    def _check_closed(self, knot: Knot, accelerations: Array) -> None:
        T = self._tree.velocity_map
        y: Array = accelerations @ np.linalg.pinv(T).T
        K, turning = self._loops.evaluate(knot.q), self._loops.turning(knot.q, knot.rates)
        gaps = [_times(K, y) + turning, accelerations - y @ T.T]
        terms = [_times(np.abs(K), np.abs(y)), turning, accelerations]
        gap, largest = (max(np.abs(p).max(initial=0.0) for p in parts) for parts in (gaps, terms))
        if gap > CLOSED * largest:
            raise ValueError(
                f"accelerations: found ones that open a loop or a coupling by {gap:.3g} m/s^2 or "
                "rad/s^2, expected ones that keep all closed, as of dynamics.forward"
            )

    def _place(self, poses: Poses) -> Place:
        J = self._velocities(poses, self._tree.support[1:], poses.x[:, 1:])
        return Place(poses, J, self._joint_rates(poses), self._step.springs.directions(poses))

    def _velocities(self, poses: Poses, support: Array, points: Array) -> Array:
        """Return velocities (S, n, 6, dofs) of points at unit rates, and of their rotation.

        Args:
            poses: poses of the tree.
            support: (n, dofs) 1.0 where a dof moves a point.
            points: (S, n, 3) in the world.
        """
        screws = support[:, :, None] * poses.screws[:, None]
        turns = screws[..., 3:]
        linear = screws[..., :3] + cross(turns, np.broadcast_to(points[:, :, None], turns.shape))
        return np.concatenate([linear, turns], axis=-1).swapaxes(2, 3)

    def _joint_rates(self, poses: Poses) -> Array:
        """Return the rates of all joints (S, n_velocities, dofs) at unit rates of the tree."""
        tree = np.broadcast_to(np.eye(self.dofs), (len(poses.x), self.dofs, self.dofs))
        return np.concatenate([tree, self._step.closing.directions(poses)], axis=1)

    def _momenta(self, R: Array, velocities: Array) -> Array:
        """Return the momenta (S, n, 6, k) of bodies by their velocities (S, n, 6, k)."""
        linear = self._step.mass[:, None] * velocities[:, :, :3]
        turning = R.swapaxes(-1, -2) @ velocities[:, :, 3:]
        return np.concatenate([linear, R @ self._step.inertia @ turning], axis=2)

    def _inertia(self, place: Place) -> Array:
        momenta = self._momenta(place.poses.R[:, 1:], place.J)
        armatures = self._step.armature[:, None] * place.joints
        return _project(place.J, momenta) + place.joints.swapaxes(1, 2) @ armatures

    def _forces_on_bodies(self, poses: Poses) -> Array:
        """Return forces and torques (S, n, 6, 1) of gravity and potentials on bodies [world]."""
        forces = np.repeat(self._weights[None], len(poses.x), axis=0)
        numbers = body_numbers(self.mechanism)
        for potential in self.mechanism.potentials.values():
            i = numbers[potential.body]
            for row, x, R in zip(forces, poses.x[:, i], poses.R[:, i], strict=True):
                wrench = potential.forces(np.array(x), quaternion_from_matrix(R))
                row[i - 1, :, 0] += np.concatenate([np.asarray(part) for part in wrench])
        return forces

    def _forces_at_constant_rates(self, knot: Knot, place: Place) -> Array:
        """Return the forces (S, dofs) that keep v constant: c - f."""
        step, rates = self._step, knot.rates[..., None]
        moving = self._tree.poses(perturb(self._tree, knot.q, knot.rates))
        J = self._velocities(moving, self._tree.support[1:], moving.x[:, 1:])
        momenta = self._momenta(moving.R[:, 1:], J @ rates[:, None]).imag / STEP
        bodies = _project(place.J, momenta - self._forces_on_bodies(place.poses))[..., 0]
        armatures = (self._joint_rates(moving) @ rates)[..., 0].imag / STEP
        dampers = step.dampers.own[: len(step.armature)] * (place.joints @ rates)[..., 0]
        springs = step.spring_forces(np.concatenate([knot.q, knot.closing], axis=1))
        joints = step.armature * armatures + dampers - springs
        stretch = step.springs.lengths(place.poses) - step.springs.rest
        tension = step.springs.stiffness * stretch
        tension = tension + step.springs.damping * (place.springs @ rates)[..., 0]
        between = _times(place.springs.swapaxes(1, 2), tension)
        return bodies + _times(place.joints.swapaxes(1, 2), joints) + between


def _times(matrices: Array, vectors: Array) -> Array:
    """Return the products (S, m) of matrices (S, m, n) with vectors (S, n)."""
    result: Array = (matrices @ vectors[..., None])[..., 0]
    return result


def _project(J: Array, wrenches: Array) -> Array:
    """Return the sums over bodies (S, dofs, k) of J' wrenches (S, n, 6, k)."""
    S, n = len(J), 6 * J.shape[1]
    rows = J.reshape(S, n, J.shape[3])
    result: Array = rows.swapaxes(1, 2) @ wrenches.reshape(S, n, wrenches.shape[3])
    return result
