"""State of a robot's free base: its pose and velocity, falls; shapes without contact."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from vigym.envs.arrays import Array, Flags, rotate_to_body, stack, unstack
from vigym.envs.options import is_number, require
from vigym.envs.robots.terrain import height_above_ground
from vigym.envs.task import Quantities
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import robot_base
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.simulation.simulator import Simulator
from vigym.spatial import quaternion_product, rotation_matrix

MAX_SPEED, MAX_SPIN = 50.0, 100.0  # bounds of observations [m/s], [rad/s]


def moved_base(
    mechanism: Mechanism,
    joint: Joint,
    position: Sequence[float] | None,
    orientation: Sequence[float] | None,
) -> dict[str, Array]:
    """Return the pose (7,) of a floating body where the file's root link has a given pose.

    Args:
        mechanism: of the file.
        joint: by which the robot floats.
        position: of the root link (3,) [m]; None: the origin.
        orientation: of the root link, quaternion (w, x, y, z); None: the identity.

    Returns:
        By joint, position of the centre of mass [m] and quaternion; nothing where none is given.

    Raises:
        ValueError: not three or four finite numbers, or a quaternion of length zero.
    """
    if position is None and orientation is None:
        return {}
    origin = _numbers("base_position", (0.0, 0.0, 0.0) if position is None else position, 3)
    turn = _numbers("base_orientation", (1.0, 0, 0, 0) if orientation is None else orientation, 4)
    length = float(np.sqrt(turn @ turn))
    require(length > 1e-6, "base_orientation", orientation, "a quaternion (w, x, y, z)")
    turn = turn / length
    pose = relative_pose(mechanism, joint.parent, joint.child)
    center = origin + rotation_matrix(turn) @ pose[:3]
    return {joint.name: np.concatenate((center, quaternion_product(turn, pose[3:])))}


def _numbers(option: str, found: Sequence[float], count: int) -> Array:
    valid = isinstance(found, Sequence | np.ndarray) and len(found) == count
    valid = valid and all(map(is_number, found))
    require(valid, option, found, f"{count} finite numbers")
    return np.array(found, dtype=np.float64)


class FloatingBase:
    """Pose and velocity of a body that is free to move in space or in a plane.

    Args:
        start: simulator at the start, in which the body is upright; without ground, heights are
            those above z = 0.
        body: its name.
    """

    def __init__(self, start: Simulator, body: str) -> None:
        self._row = list(start.mechanism.bodies).index(body)
        ground = start.mechanism.ground
        self._normal = upwards(start.mechanism)
        self._level = 0.0 if ground is None else ground.height
        # the ground's normal in the axes of the body at the start
        turn = rotation_matrix(start.body_orientation(body))
        self._up = list(turn.T @ np.array(self._normal))

    @property
    def bounds(self) -> Mapping[str, float]:
        """Name and bound of every entry of the observation."""
        orientation = {f"orientation_{component}": 1.0 for component in "wxyz"}
        velocity = {f"velocity_{axis}": MAX_SPEED for axis in "xyz"}
        spin = {f"angular_velocity_{axis}": MAX_SPIN for axis in "xyz"}
        return {"height": 1000.0} | orientation | velocity | spin

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position [m], velocity [m/s] and uprightness of the body, each (...,).

        The height is that of its centre of mass above the ground.
        """
        state = sim.body_states[..., self._row, :]
        x, y, z = unstack(state[..., :3])
        x_velocity, y_velocity, _ = unstack(state[..., 7:10])
        k, m, n = self._normal
        normal = stack(*(0.0 * x + component for component in self._normal))
        a, b, c = unstack(rotate_to_body(state[..., 3:7], normal))
        u, v, w = self._up
        height = k * x + m * y + n * z - self._level
        ground = sim.mechanism.ground
        if ground is not None and ground.terrain is not None:
            height = height_above_ground(sim, state[..., :3])
        return {
            "_base": state,
            "x_position": x,
            "y_position": y,
            "height": height,
            "x_velocity": x_velocity,
            "y_velocity": y_velocity,
            "upright": u * a + v * b + w * c,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return height, orientation, and velocities in the body's axes (..., 11)."""
        state = quantities["_base"]
        velocity = rotate_to_body(state[..., 3:7], state[..., 7:10])
        height = np.asarray(quantities["height"])[..., None]
        return np.concatenate((height, state[..., 3:7], velocity, state[..., 10:]), axis=-1)


def upwards(mechanism: Mechanism) -> list[float]:
    """Return the normal (3,) of the ground, without one the z axis."""
    return [0.0, 0.0, 1.0] if mechanism.ground is None else list(mechanism.ground.normal)


def can_fall(mechanism: Mechanism) -> bool:
    """Return whether nothing holds the height of a robot above its ground, or above z = 0."""
    base = robot_base(mechanism)
    return base is not None and base.lift(upwards(mechanism)) is not None


def has_fallen(quantities: Quantities, min_upright: float, min_height: float) -> Flags:
    """Return whether a robot fell (...,).

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
    """Warn of shapes that touch nothing, and of a robot without shapes that can fall."""
    shapes = len(mechanism.collisions)
    if shapes and ground is None and not mechanism.contact_names:
        warnings.warn(
            f"{mechanism.name!r}: {shapes} <collision> shapes touch nothing: the robot cannot "
            "fall, so there is no ground (ground=True adds it, ground=False is silent)",
            stacklevel=2,
        )
    if not shapes and mechanism.ground is not None and can_fall(mechanism):
        warnings.warn(
            f"{mechanism.name!r}: found no <collision> shape: the robot falls through the ground",
            stacklevel=2,
        )
