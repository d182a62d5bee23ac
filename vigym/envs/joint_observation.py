"""Joint coordinates of any mechanism: as an observation, and as a random start about the assembly pose."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.envs.task import Array, Quantities, Start
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import loop_joints
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.spatial import quaternion_product

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JointObservation:
    """Angles as cosine and sine, other positions as they are, then velocities.

    Attributes:
        bounds: name and bound of every entry.
        angles: columns of the joint positions that are angles.
        others: columns that are not: distances [m] and quaternion parts.
    """

    bounds: dict[str, float]
    angles: Index
    others: Index

    def __call__(self, now: Quantities) -> Array:
        """Return the observation (..., len(bounds)) of joint positions and velocities."""
        positions, velocities = now["joint_positions"], now["joint_velocities"]
        angles = positions[..., self.angles]
        return np.concatenate((np.cos(angles), np.sin(angles), positions[..., self.others], velocities), axis=-1)


def joint_observation(mechanism: Mechanism, distance: float, velocity: float) -> JointObservation:
    """Return the observation of all joint coordinates.

    Args:
        mechanism: whose joints.
        distance: bound of translations [m].
        velocity: bound of joint velocities [rad/s or m/s].
    """
    names, bound_of = mechanism.position_names, _bounds(mechanism, distance)
    angles = np.flatnonzero(np.isnan(bound_of))
    others = np.flatnonzero(~np.isnan(bound_of))
    bounds = {f"cos({names[k]})": 1.0 for k in angles} | {f"sin({names[k]})": 1.0 for k in angles}
    bounds |= {names[k]: float(bound_of[k]) for k in others}
    bounds |= {f"velocity({name})": velocity for name in mechanism.velocity_names}
    return JointObservation(bounds, angles, others)


def random_start(mechanism: Mechanism, rng: np.random.Generator, scale: float) -> tuple[Start, Start]:
    """Return joint positions and velocities about the assembly pose at rest.

    Every coordinate is uniform within +- scale [rad, m, per s]; a quaternion is turned by such a rotation vector. With
    loops those of `independent_joints` alone, by name, and none at all where scale is 0.

    Raises:
        MechanismError: loops with more motors than freedoms, and scale > 0.
    """
    if not mechanism.closing_joints:
        starts = [_start(mechanism, joint, rng, scale) for joint in mechanism.tree_joints]
        return np.concatenate(starts), rng.uniform(-scale, scale, mechanism.degrees_of_freedom)
    joints = independent_joints(mechanism) if scale else []
    closed = _assembly(mechanism)
    positions = {joint.name: closed[joint.name] + _start(mechanism, joint, rng, scale) for joint in joints}
    return positions, {joint.name: rng.uniform(-scale, scale, joint.dofs) for joint in joints}


def _assembly(mechanism: Mechanism) -> dict[str, Array]:
    """Return what to add to the coordinates of `_start` so that loops are closed; nothing to quaternions."""
    joints = mechanism.tree_joints
    widths = [len(joint.joint_type.positions) for joint in joints]
    parts = np.split(mechanism.structure.assembly, np.cumsum(widths)[:-1])
    return {j.name: part * (not j.joint_type.has_quaternion) for j, part in zip(joints, parts, strict=True)}


def independent_joints(mechanism: Mechanism) -> list[Joint]:
    """Return the joints of the tree that a start may set: all that are in no loop, and the actuated ones in loops.

    Raises:
        MechanismError: together they have more freedoms than the mechanism.
    """
    looped = loop_joints(mechanism)
    free = [joint for joint in mechanism.tree_joints if joint.name not in looped or joint.actuated]
    found, expected = sum(joint.dofs for joint in free), mechanism.degrees_of_freedom
    if found > expected:
        names = ", ".join(joint.name for joint in free)
        raise MechanismError(
            f"mechanism {mechanism.name!r}: found {found} freedoms of joints that are actuated or in no loop "
            f"({names}), expected at most {expected}, as many as it has; start without noise, reset_noise_scale=0"
        )
    return free


def _start(mechanism: Mechanism, joint: Joint, rng: np.random.Generator, scale: float) -> Array:
    """Return the positions of one joint."""
    noise = rng.uniform(-scale, scale, joint.dofs)
    if not joint.joint_type.has_quaternion:
        return noise
    half = np.concatenate(([1.0], 0.5 * noise[-3:]))
    turn: Array = half / np.sqrt(half @ half)
    if not joint.joint_type.translations:
        return turn
    rest = relative_pose(mechanism, joint.parent, joint.child)  # a floating joint's coordinates are a pose
    start: Array = np.concatenate((rest[:3] + noise[:3], quaternion_product(rest[3:], turn)))
    return start


def _bounds(mechanism: Mechanism, distance: float) -> Array:
    """Return the bound of every position coordinate, NaN for angles."""
    bounds: list[float] = []
    for joint in mechanism.ordered_joints:
        joint_type = joint.joint_type
        bounds += [distance] * len(joint_type.translations)
        bounds += [1.0] * 4 if joint_type.has_quaternion else [np.nan] * len(joint_type.rotations)
    return np.array(bounds)
