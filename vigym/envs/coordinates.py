"""Joint coordinates of any mechanism: as an observation, and as a random start about the assembly pose."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.envs.task import Array, Quantities
from vigym.mechanism.mechanism import Mechanism

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


def random_start(mechanism: Mechanism, rng: np.random.Generator, scale: float) -> tuple[Array, Array]:
    """Return joint positions and velocities about zero.

    Every coordinate is uniform in [-scale, scale] [rad, m, per s]; a quaternion is the rotation by such a vector.
    """
    positions: list[Array] = []
    for joint in mechanism.tree_joints:
        prototype = joint.prototype
        positions.append(rng.uniform(-scale, scale, len(prototype.velocities)))
        if prototype.has_quaternion:
            half = np.concatenate(([1.0], 0.5 * positions[-1][-3:]))
            positions[-1] = np.concatenate((positions[-1][:-3], half / np.sqrt(half @ half)))
    return np.concatenate(positions), rng.uniform(-scale, scale, mechanism.degrees_of_freedom)


def _bounds(mechanism: Mechanism, distance: float) -> Array:
    """Return the bound of every position coordinate, NaN for angles."""
    bounds: list[float] = []
    for joint in mechanism.tree_joints:
        prototype = joint.prototype
        bounds += [distance] * len(prototype.translations)
        bounds += [1.0] * 4 if prototype.has_quaternion else [np.nan] * len(prototype.rotations)
    return np.array(bounds)
