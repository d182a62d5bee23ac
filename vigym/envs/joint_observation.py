"""Joint coordinates of any mechanism as observation, and their random initial values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.envs.arrays import Array
from vigym.envs.task import Quantities, Start
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import loop_joints
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.spatial import quaternion_product

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JointObservation:
    """Observation of cosines and sines of angles, other joint positions, and joint velocities.

    Attributes:
        bounds: name and bound of every entry.
        angles: columns of the joint positions that are angles.
        others: columns of the other joint positions: distances [m] and quaternion components.
    """

    bounds: dict[str, float]
    angles: Index
    others: Index

    def __call__(self, quantities: Quantities) -> Array:
        """Return the observation (..., len(bounds)) of joint positions and velocities."""
        positions = quantities["joint_positions"]
        angles = positions[..., self.angles]
        others = positions[..., self.others]
        velocities = quantities["joint_velocities"]
        return np.concatenate((np.cos(angles), np.sin(angles), others, velocities), axis=-1)


def joint_observation(mechanism: Mechanism, distance: float, velocity: float) -> JointObservation:
    """Return the observation of all joint coordinates.

    Args:
        mechanism: with the joints.
        distance: bound of translations [m].
        velocity: bound of joint velocities [rad/s or m/s].
    """
    names = mechanism.position_names
    position_bounds = _position_bounds(mechanism, distance)
    angles = np.flatnonzero(np.isnan(position_bounds))
    others = np.flatnonzero(~np.isnan(position_bounds))
    bounds = {f"cos({names[k]})": 1.0 for k in angles} | {f"sin({names[k]})": 1.0 for k in angles}
    bounds |= {names[k]: float(position_bounds[k]) for k in others}
    bounds |= {f"velocity({name})": velocity for name in mechanism.velocity_names}
    return JointObservation(bounds, angles, others)


def random_start(
    mechanism: Mechanism, rng: np.random.Generator, scale: float
) -> tuple[Start, Start]:
    """Return random joint positions and velocities about the assembly pose at rest.

    Every coordinate is uniform within +- scale [rad, m, per s]; a quaternion is rotated by such a
    rotation vector. With loops these are the coordinates of `independent_joints`, by name, and none
    if scale is 0.

    Raises:
        MechanismError: loops with more motors than degrees of freedom, and scale > 0.
    """
    if not mechanism.closing_joints:
        noisy = [_random_positions(mechanism, joint, rng, scale) for joint in mechanism.tree_joints]
        return np.concatenate(noisy), rng.uniform(-scale, scale, mechanism.degrees_of_freedom)
    joints = independent_joints(mechanism) if scale else []
    closed = _closed_positions(mechanism)
    positions: dict[str, Array] = {}
    for joint in joints:
        noise = _random_positions(mechanism, joint, rng, scale)
        positions[joint.name] = closed[joint.name] + noise
    return positions, {joint.name: rng.uniform(-scale, scale, joint.dofs) for joint in joints}


def _closed_positions(mechanism: Mechanism) -> dict[str, Array]:
    """Return the joint positions that close the loops, by joint; zero for quaternions."""
    joints = mechanism.tree_joints
    widths = [len(joint.joint_type.positions) for joint in joints]
    parts = np.split(mechanism.structure.assembly, np.cumsum(widths)[:-1])
    return {
        joint.name: part * (not joint.joint_type.has_quaternion)
        for joint, part in zip(joints, parts, strict=True)
    }


def independent_joints(mechanism: Mechanism) -> list[Joint]:
    """Return the tree joints that set an initial state: those in no loop, and actuated ones.

    Raises:
        MechanismError: together they have more degrees of freedom than the mechanism.
    """
    looped = loop_joints(mechanism)
    free = [joint for joint in mechanism.tree_joints if joint.name not in looped or joint.actuated]
    found = sum(joint.dofs for joint in free)
    expected = mechanism.degrees_of_freedom
    if found > expected:
        names = ", ".join(joint.name for joint in free)
        raise MechanismError(
            f"mechanism {mechanism.name!r}: found {found} degrees of freedom of joints that are "
            f"actuated or in no loop ({names}), expected at most {expected}, as many as it has; "
            "start without noise, reset_noise_scale=0"
        )
    return free


def _random_positions(
    mechanism: Mechanism, joint: Joint, rng: np.random.Generator, scale: float
) -> Array:
    """Return random positions of one joint, relative to the assembly pose but for quaternions."""
    noise = rng.uniform(-scale, scale, joint.dofs)
    if not joint.joint_type.has_quaternion:
        return noise
    half = np.concatenate(([1.0], 0.5 * noise[-3:]))
    rotation: Array = half / np.sqrt(half @ half)
    if not joint.joint_type.translations:
        return rotation
    # coordinates of a floating joint are a pose
    pose = relative_pose(mechanism, joint.parent, joint.child)
    orientation = quaternion_product(pose[3:], rotation)
    positions: Array = np.concatenate((pose[:3] + noise[:3], orientation))
    return positions


def _position_bounds(mechanism: Mechanism, distance: float) -> Array:
    """Return the bound of every position coordinate, NaN for angles."""
    bounds: list[float] = []
    for joint in mechanism.ordered_joints:
        joint_type = joint.joint_type
        bounds += [distance] * len(joint_type.translations)
        bounds += [1.0] * 4 if joint_type.has_quaternion else [np.nan] * len(joint_type.rotations)
    return np.array(bounds)
