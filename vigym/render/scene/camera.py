"""The camera: where it stands, what it sees, and the projective maps between world, picture and a plane."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NEAR, FAR = 0.05, 20.0  # clipping distances in units of the distance to the target
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Camera:
    """What a person fixes of the view; None is chosen so that the mechanism fills the picture.

    Args:
        target: point in the middle of the picture, world axes (3,) [m]; None follows floating bodies.
        distance: from the target to the camera [m].
        azimuth: of the camera seen from the target, from the x axis about z [rad].
        elevation: of the camera above the horizontal plane through the target, inside (-pi/2, pi/2) [rad].
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
        if self.target is not None and (np.shape(self.target) != (3,) or not np.isfinite(self.target).all()):
            raise ValueError(f"camera target: found {self.target!r}, expected 3 finite numbers [m]")
        _check("distance [m]", self.distance, 0.0, math.inf)
        _check("azimuth [rad]", self.azimuth, -math.inf, math.inf)
        _check("elevation [rad]", self.elevation, -math.pi / 2, math.pi / 2)
        _check("field_of_view [rad]", self.field_of_view, 0.0, math.pi)


def _check(name: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low < value < high:
        raise ValueError(f"camera {name}: found {value!r}, expected a number inside ({low:g}, {high:g})")


@dataclass(frozen=True, eq=False)
class View:
    """A camera at one place.

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

    def plane_to_clip(self, origin: Array, e1: Array, e2: Array) -> Array:
        """Return the homography (3, 3) from (s, t, 1), the point origin + s e1 + t e2, to clip (x, y, w)."""
        points = self.matrix[:, :3] @ np.column_stack((e1, e2, origin))
        points[:, 2] += self.matrix[:, 3]
        homography: Array = points[[0, 1, 3]]
        return homography

    def pixel_grid(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return normalised device x (1, width) and y (height, 1) of the pixel centres, rows from the top."""
        x = (np.arange(self.width) + 0.5) * (2.0 / self.width) - 1.0
        y = 1.0 - (np.arange(self.height) + 0.5) * (2.0 / self.height)
        return x[None, :].astype(np.float32), y[:, None].astype(np.float32)

    def moved(self, shift: Array) -> "View":
        """Return the same view from a camera moved by `shift` (3,) [m]."""
        view = self.view.copy()
        view[:3, 3] -= view[:3, :3] @ shift
        return replace(self, position=self.position + shift, target=self.target + shift, view=view)

    def cropped(self, left: int, top: int, width: int, height: int, samples: int = 1) -> "View":
        """Return the view of a rectangle of this picture [pixels], `samples` times finer, from the same place."""
        crop = np.eye(4)
        crop[0, 0], crop[0, 3] = self.width / width, (self.width - 2 * left - width) / width
        crop[1, 1], crop[1, 3] = self.height / height, -(self.height - 2 * top - height) / height
        return replace(self, projection=crop @ self.projection, width=samples * width, height=samples * height)


def look(target: Array, direction: Array, distance: float, field_of_view: float, width: int, height: int) -> View:
    """Return the view of `target` (3,) from `distance` [m] along the unit vector `direction` (3,)."""
    position = target + distance * direction
    right = np.cross(UP, direction)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(direction, right), direction
    view[:3, 3] = -view[:3, :3] @ position
    return View(position, target, view, _projection(distance, field_of_view, width, height), width, height)


def _projection(distance: float, field_of_view: float, width: int, height: int) -> Array:
    near, far = NEAR * distance, FAR * distance
    focal = min(width, height) / math.tan(field_of_view / 2)
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = focal / width, focal / height
    projection[2, 2:] = (far + near) / (near - far), 2 * far * near / (near - far)
    projection[3, 2] = -1.0
    return projection


def direction(azimuth: float, elevation: float) -> Array:
    """Return the unit vector (3,) at the given angles [rad]."""
    level = math.cos(elevation)
    return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])


def fitting_distance(
    target: Array, towards: Array, field_of_view: float, size: tuple[int, int], centres: Array, radii: Array
) -> float:
    """Return the smallest distance [m] from which the balls (n, 3), (n,) [m] lie inside a picture of `size`."""
    right = np.cross(UP, towards)
    right /= np.linalg.norm(right)
    offsets = (centres - target) @ np.column_stack((right, np.cross(towards, right), towards))
    needed = 0.0
    for axis, pixels in enumerate(size):
        half = math.atan(math.tan(field_of_view / 2) * pixels / min(size))
        # a ball touches the plane through the camera and the picture's edge
        reach = (np.abs(offsets[:, axis]) * math.cos(half) + radii) / math.sin(half)
        needed = max(needed, float((offsets[:, 2] + reach).max()))
    return needed
