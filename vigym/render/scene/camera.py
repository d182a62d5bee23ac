"""Camera: settings, poses, and projective maps between world, picture and planes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEAR, FAR = 0.05, 20.0  # clipping distances in units of the distance to the target
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Camera:
    """User settings of the view; None: chosen such that the mechanism fills the picture.

    Args:
        target: point in the middle of the picture, world axes (3,) [m]; None: the camera follows
            floating bodies.
        distance: from the target to the camera [m].
        azimuth: of the camera seen from the target, from the x axis about z [rad].
        elevation: of the camera above the horizontal plane through the target, inside
            (-pi/2, pi/2) [rad].
        field_of_view: smaller of the opening angles of width and height, inside (0, pi) [rad].

    Raises:
        ValueError: a value that is not finite or out of range.
    """

    target: tuple[float, float, float] | None = None
    distance: float | None = None
    azimuth: float | None = None
    elevation: float | None = None
    field_of_view: float = 0.6

    def __post_init__(self) -> None:
        target = self.target
        if target is not None:
            if np.shape(target) != (3,) or not all(map(_is_finite, target)):
                raise ValueError(f"camera target: found {target!r}, expected 3 finite numbers [m]")
            # equal cameras have equal hashes
            object.__setattr__(self, "target", tuple(float(each) for each in target))
        if self.distance is not None:
            _check("distance [m]", self.distance, 0.0, math.inf)
        if self.azimuth is not None:
            _check("azimuth [rad]", self.azimuth, -math.inf, math.inf)
        if self.elevation is not None:
            _check("elevation [rad]", self.elevation, -math.pi / 2, math.pi / 2)
        _check("field_of_view [rad]", self.field_of_view, 0.0, math.pi)


CameraOption = Camera | Mapping[str, Any] | None  # a mapping has some of the camera's fields


def parse_camera(value: CameraOption) -> Camera:
    """Return the camera that the option `camera` of an environment describes.

    Raises:
        ValueError: another type, an unknown field, or a value that is out of range.
    """
    if value is None:
        return Camera()
    if isinstance(value, Camera):
        return value
    known = [field.name for field in fields(Camera)]
    if not isinstance(value, Mapping) or not set(value) <= set(known):
        expected = f"a Camera, or a dictionary with some of {known}"
        raise ValueError(f"option camera: found {value!r}, expected {expected}")
    return Camera(**value)


def _check(name: str, value: object, low: float, high: float) -> None:
    if not (_is_finite(value) and low < float(value) < high):  # type: ignore[arg-type]
        raise ValueError(
            f"camera {name}: found {value!r}, expected a number inside ({low:g}, {high:g})"
        )


def _is_finite(value: object) -> bool:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_number and math.isfinite(float(value))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class View:
    """Camera at one pose, with its projection.

    Attributes:
        position: of the camera in the world (3,) [m].
        target: point in the middle of the picture (3,) [m].
        view: world to camera, OpenGL convention (4, 4).
        projection: camera to clip space (4, 4).
        width, height: size of the picture [pixels].
    """

    position: Array
    target: Array
    view: Array
    projection: Array
    width: int
    height: int

    @property
    def matrix(self) -> Array:
        """World to clip space (4, 4)."""
        return self.projection @ self.view

    @property
    def near(self) -> float:
        """Distance from the camera in front of which nothing is drawn [m]."""
        return NEAR * float(np.linalg.norm(self.position - self.target))

    def plane_to_clip(self, origin: Array, e1: Array, e2: Array) -> Array:
        """Return the homography (3, 3) from plane coordinates (s, t, 1) to clip (x, y, w).

        The plane coordinates stand for the point origin + s e1 + t e2.
        """
        points = self.matrix[:, :3] @ np.column_stack((e1, e2, origin))
        points[:, 2] += self.matrix[:, 3]
        homography: Array = points[[0, 1, 3]]
        return homography

    def to_pixels(self, points: Array) -> tuple[Array, Array]:
        """Return pixels (column, row) (n, 2) of points (n, 3) [m] and their clip depth w (n,)."""
        clip = points @ self.matrix[:, :3].T + self.matrix[:, 3]
        depth = clip[:, 3:]
        with np.errstate(divide="ignore", invalid="ignore"):
            places = (clip[:, :2] / depth * [1.0, -1.0] + 1.0) / 2 * [self.width, self.height]
        return places, depth[:, 0]

    def pixel_grid(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return normalised device x (1, width) and y (height, 1) of the pixel centres."""
        x = (np.arange(self.width) + 0.5) * (2.0 / self.width) - 1.0
        y = 1.0 - (np.arange(self.height) + 0.5) * (2.0 / self.height)
        return x[None, :].astype(np.float32), y[:, None].astype(np.float32)

    def translated(self, shift: Array) -> "View":
        """Return the view of a camera moved by `shift` (3,) [m]."""
        view = self.view.copy()
        view[:3, 3] -= view[:3, :3] @ shift
        position = self.position + shift
        return replace(self, position=position, target=self.target + shift, view=view)


def look_at(
    target: Array, direction: Array, distance: float, field_of_view: float, width: int, height: int
) -> View:
    """Return the view of `target` (3,) from the point at `distance` [m] along `direction` (3,)."""
    position = target + distance * direction
    right = np.cross(UP, direction)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(direction, right), direction
    view[:3, 3] = -view[:3, :3] @ position
    projection = _projection(distance, field_of_view, width, height)
    return View(position, target, view, projection, width, height)


def _projection(distance: float, field_of_view: float, width: int, height: int) -> Array:
    near, far = NEAR * distance, FAR * distance
    focal = min(width, height) / math.tan(field_of_view / 2)
    projection = np.zeros((4, 4))
    projection[0, 0] = focal / width
    projection[1, 1] = focal / height
    projection[2, 2:] = (far + near) / (near - far), 2 * far * near / (near - far)
    projection[3, 2] = -1.0
    return projection


def view_direction(azimuth: float, elevation: float) -> Array:
    """Return the unit vector (3,) from target to camera at the given angles [rad]."""
    level = math.cos(elevation)
    return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])


def fitting_distance(
    target: Array,
    direction: Array,
    field_of_view: float,
    size: tuple[int, int],
    centres: Array,
    radii: Array,
) -> float:
    """Return the least distance [m] at which balls (n, 3), (n,) [m] fit a picture of `size`."""
    right = np.cross(UP, direction)
    right /= np.linalg.norm(right)
    axes = np.column_stack((right, np.cross(direction, right), direction))
    offsets = (centres - target) @ axes
    distance = 0.0
    for axis, pixels in enumerate(size):
        half = math.atan(math.tan(field_of_view / 2) * pixels / min(size))
        # a ball touches the plane through the camera and the edge of the picture
        needed = (np.abs(offsets[:, axis]) * math.cos(half) + radii) / math.sin(half)
        distance = max(distance, float((offsets[:, 2] + needed).max()))
    return distance
