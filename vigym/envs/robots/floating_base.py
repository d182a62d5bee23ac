"""State of a robot that floats: pose and velocity of its base, falls; shapes without contact."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from vigym.envs.arrays import Array, Flags, rotate_to_body, stack, unstack
from vigym.envs.options import is_number, require
from vigym.envs.task import Quantities
from vigym.mechanism.elements.bodies import WORLD, Ground
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.spatial import quaternion_product, rotation_matrix

MAX_SPEED, MAX_SPIN = 50.0, 100.0  # bounds of observations [m/s], [rad/s]


def floating_joint_of(mechanism: Mechanism) -> Joint | None:
    """Return the joint by which a robot floats in the world; None for one that is fixed."""
    for joint in mechanism.tree_joints:
        if joint.type == "floating" and joint.parent == WORLD:
            return joint
    return None


def moved_base(
    mechanism: Mechanism,
    joint: Joint,
    position: Sequence[float] | None,
    orientation: Sequence[float] | None,
) -> Array | None:
    """Return the pose (7,) of the floating body where the file's root link has a given pose.

    Args:
        mechanism: of the file.
        joint: by which the robot floats.
        position: of the root link (3,) [m]; None: the origin.
        orientation: of the root link, quaternion (w, x, y, z); None: the identity.

    Returns:
        Position of the centre of mass [m] and quaternion of the body; None where none is given.

    Raises:
        ValueError: not three or four finite numbers, or a quaternion of length zero.
    """
    if position is None and orientation is None:
        return None
    origin = _numbers("base_position", (0.0, 0.0, 0.0) if position is None else position, 3)
    turn = _numbers("base_orientation", (1.0, 0, 0, 0) if orientation is None else orientation, 4)
    length = float(np.sqrt(turn @ turn))
    require(length > 1e-6, "base_orientation", orientation, "a quaternion (w, x, y, z)")
    turn = turn / length
    pose = relative_pose(mechanism, joint.parent, joint.child)
    center = origin + rotation_matrix(turn) @ pose[:3]
    return np.concatenate((center, quaternion_product(turn, pose[3:])))


def _numbers(option: str, found: Sequence[float], count: int) -> Array:
    valid = isinstance(found, Sequence | np.ndarray) and len(found) == count
    valid = valid and all(map(is_number, found))
    require(valid, option, found, f"{count} finite numbers")
    return np.array(found, dtype=np.float64)


class FloatingBase:
    """Pose and velocity of a floating body, from the joint coordinates.

    Args:
        mechanism: with the ground, or without one: heights are those above z = 0 then.
        joint: by which the robot floats.
        start: pose (7,) of the body at the start, in which it is upright.
    """

    def __init__(self, mechanism: Mechanism, joint: Joint, start: Array) -> None:
        positions = mechanism.position_names.index(joint.position_names[0])
        velocities = mechanism.velocity_names.index(joint.velocity_names[0])
        self._position = slice(positions, positions + 3)
        self._orientation = slice(positions + 3, positions + 7)
        self._velocity = slice(velocities, velocities + 3)
        self._spin = slice(velocities + 3, velocities + 6)
        ground = mechanism.ground
        self._normal: Sequence[float] = [0.0, 0.0, 1.0] if ground is None else list(ground.normal)
        self._level = 0.0 if ground is None else ground.height
        # the ground's normal in the axes of the body at the start
        self._up = list(rotation_matrix(start[3:7]).T @ np.array(self._normal))

    @property
    def bounds(self) -> Mapping[str, float]:
        """Name and bound of every entry of the observation."""
        orientation = {f"orientation_{component}": 1.0 for component in "wxyz"}
        velocity = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
        spin = {f"angular_velocity_{axis}": MAX_SPIN for axis in "xyz"}
        return {"height": 1000.0} | orientation | velocity | spin

    def position(self, positions: Array) -> Array:
        """Return the position of the centre of mass (..., 3) [m]."""
        return positions[..., self._position]

    def height(self, positions: Array) -> Array:
        """Return the height of the centre of mass (...,) above the ground [m]."""
        x, y, z = unstack(positions[..., self._position])
        a, b, c = self._normal
        return a * x + b * y + c * z - self._level

    def quantities(self, positions: Array, velocities: Array) -> Quantities:
        """Return position [m], velocity [m/s] and uprightness of the body, each (...,).

        Args:
            positions: of all joints (..., n_positions).
            velocities: of all joints (..., n_velocities).
        """
        x, y, _ = unstack(positions[..., self._position])
        x_velocity, y_velocity, _ = unstack(velocities[..., self._velocity])
        normal = stack(*(0.0 * x + component for component in self._normal))
        a, b, c = unstack(rotate_to_body(positions[..., self._orientation], normal))
        u, v, w = self._up
        return {
            "x_position": x,
            "y_position": y,
            "height": self.height(positions),
            "x_velocity": x_velocity,
            "y_velocity": y_velocity,
            "upright": u * a + v * b + w * c,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return height, orientation, and velocities in the body's axes (..., 11)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        orientation = positions[..., self._orientation]
        velocity = rotate_to_body(orientation, velocities[..., self._velocity])
        height = np.asarray(quantities["height"])[..., None]
        parts = (height, orientation, velocity, velocities[..., self._spin])
        return np.concatenate(parts, axis=-1)


def has_fallen(quantities: Quantities, min_upright: float, min_height: float) -> Flags:
    """Return whether a floating robot fell (...,).

    Args:
        quantities: of `FloatingBase`.
        min_upright: cosine between the ground's normal and the body's upward axis.
        min_height: height of the body's centre of mass [m].
    """
    fallen: Flags = np.logical_or(
        quantities["upright"] < min_upright, quantities["height"] < min_height
    )
    return fallen


def warn_of_idle_shapes(mechanism: Mechanism, ground: bool | Ground | None) -> None:
    """Warn of shapes that touch nothing, and of a floating robot without shapes."""
    shapes = len(mechanism.collisions)
    if shapes and ground is None and not mechanism.contact_names:
        warnings.warn(
            f"{mechanism.name!r}: {shapes} <collision> shapes touch nothing: the robot is fixed to "
            "the world and there is no ground (ground=True adds it, ground=False is silent)",
            stacklevel=2,
        )
    floats = floating_joint_of(mechanism) is not None
    if floats and mechanism.ground is not None and not shapes:
        warnings.warn(
            f"{mechanism.name!r}: found no <collision> shape: the robot falls through the ground",
            stacklevel=2,
        )
