"""Joint coordinates of any mechanism as observation."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.envs.arrays import Array
from vigym.envs.task import Quantities
from vigym.mechanism.mechanism import Mechanism

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JointObservation:
    """Observation of cosines and sines of angles, other joint positions, and joint velocities.

    Attributes:
        bounds: name and bound of every entry.
        angles: columns of the joint positions that are angles.
        others: columns of the other joint positions: distances [m] and quaternion components.
        velocities: columns of the joint velocities.
    """

    bounds: dict[str, float]
    angles: Index
    others: Index
    velocities: Index

    def __call__(self, quantities: Quantities) -> Array:
        """Return the observation (..., len(bounds)) of joint positions and velocities."""
        positions = quantities["joint_positions"]
        angles = positions[..., self.angles]
        others = positions[..., self.others]
        velocities = quantities["joint_velocities"][..., self.velocities]
        return np.concatenate((np.cos(angles), np.sin(angles), others, velocities), axis=-1)


def joint_columns(mechanism: Mechanism, names: Collection[str]) -> tuple[list[int], list[int]]:
    """Return the columns of joints of one coordinate among joint positions, and velocities.

    Args:
        mechanism: with the joints.
        names: of the joints, in the order of the columns.
    """
    positions = [mechanism.position_names.index(name) for name in names]
    return positions, [mechanism.velocity_names.index(name) for name in names]


def joint_observation(
    mechanism: Mechanism, distance: float, velocity: float, without: Collection[str] = ()
) -> JointObservation:
    """Return the observation of all joint coordinates.

    Args:
        mechanism: with the joints.
        distance: bound of translations [m].
        velocity: bound of joint velocities [rad/s or m/s].
        without: names of joints that are left out.
    """
    bounds: list[float] = []  # of the positions, NaN for angles
    observed: list[bool] = []  # of the positions
    velocities: list[bool] = []
    for joint in mechanism.ordered_joints:
        joint_type = joint.joint_type
        angles = 0 if joint_type.has_quaternion else len(joint_type.rotations)
        quaternion = 4 if joint_type.has_quaternion else 0
        bounds += [distance] * len(joint_type.translations) + [1.0] * quaternion + [np.nan] * angles
        observed += [joint.name not in without] * len(joint_type.positions)
        velocities += [joint.name not in without] * joint.dofs
    is_angle = np.isnan(bounds)
    columns, others = np.flatnonzero(is_angle & observed), np.flatnonzero(~is_angle & observed)
    rates = np.flatnonzero(velocities)
    names, rate_names = mechanism.position_names, mechanism.velocity_names
    named = {f"cos({names[k]})": 1.0 for k in columns} | {f"sin({names[k]})": 1.0 for k in columns}
    named |= {names[k]: bounds[k] for k in others}
    named |= {f"velocity({rate_names[k]})": velocity for k in rates}
    return JointObservation(named, columns, others, rates)
