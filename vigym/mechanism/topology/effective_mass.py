"""Effective masses at points of bodies and along joints at assembly; least-norm forces."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.springs import Spring
from vigym.mechanism.topology.analysis import Structure
from vigym.mechanism.topology.joint_frames import (
    JointFrames,
    body_numbers,
    dof_axes,
    joint_frames,
)
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import LoopSystem, constraint_jacobian
from vigym.spatial import batch_rotation_matrix, cross

RANK = 1e-9  # relative singular value that counts as zero


class Mobility:
    """Mobility (inverse inertia) of the tree, its loops closed and its couplings held, at assembly.

    Args:
        mechanism: bodies, joints, couplings.
        structure: of the mechanism.
    """

    def __init__(self, mechanism: Elements, structure: Structure) -> None:
        self._mechanism = mechanism
        self._tree = tree = TreeKinematics(mechanism)
        self._poses = tree.poses(structure.assembly[None])
        self._numbers = body_numbers(mechanism)
        self._motions = tree.velocity_map  # (dofs, independent)
        closing = mechanism.closing_joints
        frames = [joint_frames(mechanism, joint) for joint in closing]
        self._closing = np.concatenate(
            [np.zeros((0, tree.dofs)), *(self._closing_jacobian(each) for each in frames)]
        )
        if closing:
            rows = [structure.loop_constraints[joint.name] for joint in closing]
            system = LoopSystem(tree, frames, rows, np.ones(len(closing)))
            derivatives = system.evaluate(self._poses)[1][0]
            _, values, vectors = np.linalg.svd(derivatives)
            rank = int((values > RANK * values.max(initial=0.0)).sum())
            self._motions = self._motions @ vectors[rank:].T
        self._spring_rates = [self._stretching_rates(each) for each in mechanism.springs.values()]
        names, bodies = list(mechanism.bodies), mechanism.bodies.values()
        self._names = names
        joints = mechanism.tree_joints
        self._armatures = [joint.armature for joint in joints for _ in range(joint.dofs)]
        self._linear = self.velocities(names, np.zeros((len(names), 1, 3)))[:, 0]
        angular = tree.support[1:, :, None] * self._poses.screws[0, :, 3:]  # world axes
        self._angular = (angular @ self._poses.R[0, 1:]).swapaxes(-1, -2)
        support = tree.support[1:]
        self._connected = (support @ support.T > 0.0) | np.eye(len(names), dtype=np.bool_)
        self._masses = np.array([body.mass for body in bodies])
        self._inertias = inertias = np.array([body.inertia for body in bodies])
        self._inverse = self.inverse(self._masses, inertias)
        self._open = self._mobility_of(tree.velocity_map, self._masses, inertias)
        self._free = np.concatenate([np.zeros(0), *(self._free_mobility(each) for each in frames)])

    def inverse(self, masses: Array, inertias: Array) -> Array:
        """Return the rates of all degrees of freedom after a unit impulse along each (dofs, dofs).

        Args:
            masses: of the bodies (n,) [kg].
            inertias: of the bodies (n, 3, 3) [kg m^2].

        Raises:
            MechanismError: masses too different, or too large, for numbers of double precision.
        """
        return self._mobility_of(self._motions, masses, inertias)

    def _mobility_of(self, T: Array, masses: Array, inertias: Array) -> Array:
        """Return the mobility (dofs, dofs) by motions T (dofs, n), as `inverse` does."""
        M = self.mass_matrix(masses, inertias)
        if not T.size:
            return np.zeros_like(M)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # found below
                inverse: Array = T @ np.linalg.solve(T.T @ M @ T, T.T)
        except np.linalg.LinAlgError as error:
            raise self.singular_mass_error(masses, inertias) from error
        if not np.isfinite(inverse).all():
            raise self.singular_mass_error(masses, inertias)
        return inverse

    @property
    def inverse_inertia(self) -> Array:
        """Rates of all degrees of freedom after a unit impulse along each (dofs, dofs)."""
        return self._inverse

    def mass_matrix(self, masses: Array, inertias: Array) -> Array:
        """Return the mass matrix of the open tree (dofs, dofs); arguments as of `inverse`."""
        v = self._linear
        w = self._angular
        n = self._tree.dofs
        with np.errstate(over="ignore", invalid="ignore"):  # found by `inverse`
            M = np.diag(np.asarray(self._armatures, dtype=np.float64))
            if n:
                M += v.reshape(-1, n).T @ (masses[:, None, None] * v).reshape(-1, n)
                M += w.reshape(-1, n).T @ (inertias @ w).reshape(-1, n)
        return np.asarray(M)

    def singular_mass_error(self, masses: Array, inertias: Array) -> MechanismError:
        """Return the error of masses whose joint inertias have no inverse; it names extremes."""
        moments = np.diagonal(inertias, axis1=1, axis2=2).max(axis=1)
        found = []
        for quantity, values, unit in (("mass", masses, "kg"), ("inertia", moments, "kg m^2")):
            least, most = int(values.argmin()), int(values.argmax())
            low, high = (f"{values[k]:.3g} {unit} of {self._names[k]!r}" for k in (least, most))
            found.append(f"{quantity} from {low} to {high}")
        return MechanismError(
            f"bodies: found {' and '.join(found)}, expected values less far apart: "
            "the inertia matrix along the joints has no inverse in double precision"
        )

    def velocities(self, bodies: Sequence[str], points: Array) -> Array:
        """Return velocities of points of bodies per rate of each degree of freedom.

        Args:
            bodies: n names.
            points: in the frames of the bodies (n, k, 3) [m].

        Returns:
            (n, k, 3, dofs), world axes.
        """
        numbers = np.array([self._numbers[body] for body in bodies], np.intp)
        R = self._poses.R[0, numbers].swapaxes(-1, -2)
        places = self._poses.x[0, numbers, None] + points @ R
        linear, angular = np.split(self._poses.screws[0], 2, axis=1)
        rates = linear + cross(np.broadcast_to(angular, (1, 1, *angular.shape)), places[:, :, None])
        moved: Array = (rates * self._tree.support[numbers][:, None, :, None]).swapaxes(-1, -2)
        return moved

    def least_effective_mass_at(self, body: str, points: Array) -> float:
        """Return the least effective mass [kg] at points (n, 3) of a body, in its frame [m]."""
        return float(self._effective_masses_at(body, points)[0][0])

    def ground_contact_scales_at(self, body: str, points: Array) -> tuple[float, float]:
        """Return the scales of `ground_contact_scales` at points (n, 3) of a body [m]."""
        extremes = self._effective_masses_at(body, points)
        masses, scales = self.ground_contact_scales([body], extremes, self._masses)
        return float(masses[0]), float(scales[0])

    def effective_masses(self, velocities: Array, inverse: Array) -> tuple[Array, Array]:
        """Return the least and the largest mass that a force meets at one of several points.

        In any direction in which a point can move. Both are 1 where no point can.

        Args:
            velocities: of the points, per rate of each degree of freedom (n, k, 3, dofs).
            inverse: mobility, as of `inverse` (dofs, dofs).

        Returns:
            Least and largest masses (n,) [kg].
        """
        mobility = np.linalg.eigvalsh(velocities @ inverse @ velocities.swapaxes(-1, -2))
        fastest = mobility.max(axis=(1, 2), initial=0.0)
        limits = fastest[:, None, None]
        slowest = np.where(mobility > RANK * limits, mobility, limits).min(axis=(1, 2))
        return effective_mass(fastest), effective_mass(slowest)

    def ground_contact_scales(
        self, bodies: Sequence[str], extremes: tuple[Array, Array], masses: Array
    ) -> tuple[Array, Array]:
        """Return masses that scale the forces of the ground on bodies by velocities.

        The geometric mean of the least effective mass and of the mass of all bodies that joints
        connect with the body, which may rest on it. Augmented Lagrangian methods converge fastest
        with the geometric mean of the extreme inverse mobilities [Ghadimi et al. 2015].

        Laws choose between open, stick and slip with the geometric mean of the extremes at the
        contact itself: a foot moves more easily than the robot above it.

        Args:
            bodies: n names.
            extremes: least and largest effective masses (n,) [kg].
            masses: of all bodies of the mechanism [kg].

        Returns:
            Masses (n,) [kg], and the factors (n,) on them that laws choose with, at most 1.
        """
        least, largest = (np.sqrt(each) for each in extremes)
        numbers = np.array([self._numbers[body] - 1 for body in bodies], np.intp)
        connected = np.sqrt(self._connected[numbers] @ masses)
        return np.asarray(least * connected), np.minimum(1.0, largest / connected)

    def _effective_masses_at(self, body: str, points: Array) -> tuple[Array, Array]:
        """Return the least and the largest effective mass (1,) [kg] at points (n, 3) of a body."""
        return self.effective_masses(self.velocities([body], points[None]), self._inverse)

    def rank_along(self, dofs: Sequence[int]) -> int:
        """Count how many of these degrees of freedom of the tree move independently."""
        values = np.linalg.svd(self._motions[list(dofs)], compute_uv=False)
        return int((values > RANK).sum())

    def hold(self, rows: Array) -> None:
        """Leave out motions in which sums of rates do not vanish.

        Args:
            rows: their weights (n, dofs).
        """
        _, values, vectors = np.linalg.svd(rows @ self._motions)
        rank = int((values > RANK * np.abs(rows).max(initial=0.0)).sum())
        self._motions = self._motions @ vectors[rank:].T
        self._inverse = self.inverse(self._masses, self._inertias)

    def closing_inertias(self, inverse: Array | None = None) -> Array:
        """Return the effective inertias (n,) along the dofs of all loop-closing joints.

        Args:
            inverse: mobility, as of `inverse` (dofs, dofs); None: of the bodies as they are.
        """
        return self._inertias_along(self._closing, inverse, self._free)

    @property
    def independent_dofs(self) -> int:
        """Number of independent motions that loops, couplings and held rows leave."""
        return int(self._motions.shape[1])

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom of the tree."""
        return int(self._tree.dofs)

    def along(self, weights: Mapping[str, Array], frame_of: Callable[[str], str]) -> Array:
        """Return a weighted sum of velocities of bodies per rate of each degree of freedom (dofs,).

        Args:
            weights: body -> weights (6,) of velocity and angular velocity.
            frame_of: from a body to the body, or "world", that its weights are fixed in.
        """
        found = np.zeros(self.dofs)
        for body, own in weights.items():
            R, own_R = (self._poses.R[0, self._numbers[each]] for each in (frame_of(body), body))
            number = self._numbers[body] - 1
            found += (R @ own[:3]) @ self._linear[number]
            found += (own_R.T @ R @ own[3:]) @ self._angular[number]
        return found

    def is_still(self, row: Array) -> bool:
        """Return whether a sum of rates (dofs,) is zero in all motions of the mechanism."""
        own = np.abs(row @ self._motions).max(initial=0.0)
        return bool(own <= RANK * np.abs(row).max(initial=0.0))

    def least_response(self, measured: Sequence[Array], forces: Sequence[Array]) -> float:
        """Return the least singular value of the rates that forces make, over the largest.

        Args:
            measured: sums of rates (dofs,).
            forces: as many, along the degrees of freedom (dofs,).
        """
        rows, given = np.array(measured), np.array(forces)
        sizes = [np.sqrt(np.einsum("ij,jk,ik->i", a, self._inverse, a)) for a in (rows, given)]
        if min(size.min() for size in sizes) == 0.0:
            return 0.0
        response = (rows / sizes[0][:, None]) @ self._inverse @ (given / sizes[1][:, None]).T
        values = np.linalg.svd(response, compute_uv=False)
        return float(values[-1] / max(1.0, values[0]))

    def _stretching_rates(self, spring: Spring) -> Array:
        """Return the velocities (3, dofs) of a spring's end b against its end a at unit rates."""
        ends = ((spring.a, spring.point_a, -1.0), (spring.b, spring.point_b, 1.0))
        rates = np.zeros((3, self._tree.dofs))
        for body, point, sign in ends:
            if body != WORLD:
                rates += sign * self.velocities([body], point[None, None])[0, 0]
        return rates

    def _closing_jacobian(self, frames: JointFrames) -> Array:
        """Return the rates (joint's dofs, dofs) along a loop-closing joint at unit rates."""
        axes, fixed_in = dof_axes(frames)
        poses = self._poses
        n = len(frames.joint_type.translations)
        directions = (poses.R[0, fixed_in] @ axes[..., None])[..., 0]
        anchor = poses.x[0, frames.b] + poses.R[0, frames.b] @ frames.anchor_b
        forces, moments = directions.copy(), directions.copy()
        forces[n:] = 0.0
        moments[:n] = np.cross(anchor, directions[:n])
        wrenches = np.concatenate([forces, moments], axis=1)
        support = self._tree.support[frames.b] - self._tree.support[frames.a]
        rates: Array = wrenches @ poses.screws[0].T * support
        return rates

    def effective_inertias(self, inverse: Array | None = None) -> Array:
        """Return the effective inertias (dofs,) along the dofs of the tree [kg or kg m^2].

        Args:
            inverse: mobility, as of `inverse` (dofs, dofs); None: of the bodies as they are.
        """
        return self._inertias_along(np.eye(self.dofs), inverse)

    def _inertias_along(self, rates: Array, inverse: Array | None, free: ArrayLike = 0.0) -> Array:
        """Return the effective inertias (n,) of sums of rates (n, dofs).

        Of one that the loops lock, it is the inertia in the open tree. Of one that the tree locks
        too, it is the inverse of the mobility (n,) of free bodies.
        """
        mobility = self._inverse if inverse is None else inverse
        own = np.sum((rates @ mobility) * rates, axis=1)
        unlocked = np.sum((rates @ self._open) * rates, axis=1)
        unlocked = np.where(unlocked > RANK * np.asarray(free), unlocked, free)
        return effective_mass(np.where(own > RANK * unlocked, own, unlocked))

    def _free_mobility(self, frames: JointFrames) -> Array:
        """Return the mobility (joint's dofs,) along a joint, of its bodies without any joints."""
        axes, fixed_in = dof_axes(frames)
        R, x = self._poses.R[0], self._poses.x[0]
        directions = (R[fixed_in] @ axes[..., None])[..., 0]
        translations = len(frames.joint_type.translations)
        anchor = x[frames.b] + R[frames.b] @ frames.anchor_b
        mobility = np.zeros(len(directions))
        for body in {frames.a, frames.b} - {0}:
            if not self._masses[body - 1]:  # moved by its joints alone
                continue
            moments = directions.copy()
            moments[:translations] = np.cross(anchor - x[body], directions[:translations])
            moments = moments @ R[body]  # in its axes
            turning = np.linalg.solve(self._inertias[body - 1], moments.T).T
            mobility += np.sum(moments * turning, axis=1)
            mobility[:translations] += 1.0 / self._masses[body - 1]
        return mobility

    def spring_masses(self, inverse: Array | None = None) -> Array:
        """Return the least masses (springs,) [kg] that pull at both ends of springs between points.

        Args:
            inverse: mobility, as of `inverse` (dofs, dofs); None: of the bodies as they are.
        """
        mobility = self._inverse if inverse is None else inverse
        most = [np.linalg.eigvalsh(rates @ mobility @ rates.T)[-1] for rates in self._spring_rates]
        return effective_mass(np.array(most))


def effective_mass(mobility: ArrayLike) -> Array:
    """Return effective masses 1 / mobility (...,); 1 where the mobility is zero."""
    rate = np.asarray(mobility, dtype=np.float64)
    return np.divide(1.0, rate, out=np.ones_like(rate), where=rate > 0.0)


def least_norm_forces(mechanisms: Sequence[Elements], forces: Array, poses: Array) -> Array:
    """Return the joint forces of least norm that have the same effect on the bodies as given ones.

    Joints hold a body with G^T lam; joints that depend on each other can share that in many ways.
    Of these lam has the least norm.

    Args:
        mechanisms: with loops, one for each row.
        forces: (count, n_joints, 6) force on the child [N] and moment about the joint's anchor on
            it [N m].
        poses: (count, n_bodies, 7) centre of mass and orientation of each body.

    Returns:
        (count, n_joints, 6) as `forces`.
    """
    # one memory layout, so that an environment of a batch rounds as it would alone
    rows = np.ascontiguousarray(forces), np.ascontiguousarray(poses)
    return np.array([_least_norm(*row) for row in zip(mechanisms, *rows, strict=True)])


def _least_norm(mechanism: Elements, forces: Array, poses: Array) -> Array:
    names = list(mechanism.bodies)
    placed = {name: (pose[:3], pose[3:]) for name, pose in zip(names, poses, strict=True)}
    rows, starts = constraint_jacobian(mechanism, placed)
    wrenches, arms = np.zeros((len(names) + 1, 6)), []  # of the bodies, the world first
    joints = [joint_frames(mechanism, joint) for joint in mechanism.ordered_joints]
    for frames, force in zip(joints, forces, strict=True):
        x, q = poses[frames.b - 1, :3], poses[frames.b - 1, 3:]
        arms.append(batch_rotation_matrix(q[None])[0] @ frames.anchor_b)
        for body, sign in ((frames.b, 1.0), (frames.a, -1.0)):
            arm = x + arms[-1] - (poses[body - 1, :3] if body else np.zeros(3))
            moment = force[3:] + np.cross(arm, force[:3])
            wrenches[body] += sign * np.append(force[:3], moment)
    multipliers = np.linalg.lstsq(rows.T, wrenches[1:].ravel(), rcond=1e-9)[0]
    result = np.zeros_like(forces)
    for j, (frames, arm) in enumerate(zip(joints, arms, strict=True)):
        span = slice(starts[j], starts[j + 1])
        on_child = rows[span].reshape(-1, len(names), 6)[:, frames.b - 1]
        wrench = multipliers[span] @ on_child
        result[j] = np.append(wrench[:3], wrench[3:] - np.cross(arm, wrench[:3]))
    return result
