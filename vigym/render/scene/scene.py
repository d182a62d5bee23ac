"""Scene of a mechanism: visuals, floor, camera and light."""

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import find_floor, initial_view, light_view
from vigym.render.scene.reach import Reach, find_reach
from vigym.render.scene.visuals import NO_ROTATION, Visual, build_visuals, terrain_visuals
from vigym.spatial import batch_quaternion_product, batch_rotation_matrix

DEAD_BAND = 0.25  # rise or fall that the camera does not follow, in units of the reach


class Scene:
    """Data that render backends need of a mechanism.

    Args:
        mechanism: drawn in its present state; later additions are not drawn.
        camera: user settings of the view; the rest is chosen such that the mechanism fills the
            picture.
        width, height: size of the picture [pixels].

    Attributes:
        visuals: surfaces fixed in bodies and the world.
        bodies: number of bodies; index of the world among the visuals' bodies.
        floor: the mechanism's ground; without one, a floor below the reach if the mechanism is
            anchored to the world under gravity; else None.
        terrain: of the ground, None on a plane; its first map is drawn, the floor is below it.
        terrain_visuals: number of the last visuals, those of the terrain.
        centre: middle of the reach at assembly (3,) [m].
        size: diagonal of the bounding box of the reach [m].
        weight: of all bodies [N].
        view: initial view of the camera.
        follows: whether the camera moves with bodies that float or slide far.
        light: initial view of the light; square, contains everything that casts a shadow.

    Raises:
        ValueError: a size that is not positive, or no whole number of pixels.
    """

    def __init__(self, mechanism: Mechanism, camera: Camera, width: int, height: int) -> None:
        _check_size(width, height)
        visuals = build_visuals(mechanism)
        bodies = mechanism.bodies.values()
        self.bodies = len(bodies)
        reach = find_reach(mechanism, visuals)
        self._followed = list(reach.followed)
        low, high = reach.bounds
        self.centre: Array = (low + high) / 2
        self.size = float(np.linalg.norm(high - low)) or 1.0
        gravity = float(np.linalg.norm(mechanism.gravity))
        self._masses = np.array([body.mass for body in bodies])
        self.weight = gravity * float(self._masses.sum())
        self.floor = find_floor(mechanism, reach, self.size)
        self.terrain = None if mechanism.ground is None else mechanism.ground.terrain
        ground = []
        if self.terrain is not None and self.floor is not None:
            ground = terrain_visuals(self.terrain, self.bodies, self.floor.tile)
        self.terrain_visuals = len(ground)
        self._set_visuals(visuals + ground)
        assembly = np.array([body.position for body in bodies]).reshape(-1, 3)
        self.follows = camera.target is None and bool(self._followed)
        offset = self._offset_to_ground(reach)
        self._start = self._followed_centre(assembly) + offset
        view = initial_view(camera, reach, width, height)
        self.view = view.translated(offset if self.follows else np.zeros(3))
        self.light = light_view(self.view, reach).translated(offset)

    def _set_visuals(self, visuals: list[Visual]) -> None:
        self.visuals = visuals
        self._body = np.array([visual.body for visual in visuals], dtype=np.intp)
        self._position = np.array([visual.position for visual in visuals]).reshape(-1, 3)
        self._orientation = np.array([visual.orientation for visual in visuals]).reshape(-1, 4)
        self._corners = np.array([visual.corners for visual in visuals]).reshape(-1, 8, 3)

    def _offset_to_ground(self, reach: Reach) -> Array:
        """Return the shift (3,) [m] that puts followed bodies on the mechanism's own ground."""
        if self.floor is None or self.floor.is_backdrop or not self._followed:
            return np.zeros(3)
        height = self.floor.height
        if self.terrain is not None:
            height = float(self.terrain.height(self.centre[0], self.centre[1]))
        lowest = (reach.centres @ self.floor.normal - reach.radii).min()
        return (height - float(lowest)) * self.floor.normal

    def _followed_centre(self, positions: Array) -> Array:
        """Return the centre of mass of the followed bodies (3,) [m]."""
        if not self._followed:
            return np.zeros(3)
        masses = self._masses[self._followed]
        centre: Array = masses @ positions[self._followed] / masses.sum()
        return centre

    def shifts(self, positions: Array) -> tuple[Array, Array]:
        """Return displacements of camera and light (3,) [m] for body positions (n_bodies, 3)."""
        zero = np.zeros(3)
        if not self._followed:
            return zero, zero
        shift = self._followed_centre(positions) - self._start
        if self.floor is not None:  # along it; up and down only if the mechanism leaves the picture
            rise = float(self.floor.normal @ shift)
            band = DEAD_BAND * self.size
            shift -= float(np.clip(rise, -band, band)) * self.floor.normal
        return (shift if self.follows else zero), shift

    def check_poses(self, positions: ArrayLike, orientations: ArrayLike) -> tuple[Array, Array]:
        """Return body poses as float arrays (n_bodies, 3) and (n_bodies, 4).

        Raises:
            ValueError: a wrong shape or a number that is not finite.
        """
        checked = _checked("positions", positions, (self.bodies, 3))
        return checked, _checked("orientations", orientations, (self.bodies, 4))

    def visual_poses(
        self, positions: Array, orientations: Array, world: ArrayLike = (0.0, 0.0, 0.0)
    ) -> tuple[Array, Array]:
        """Return the poses of the visuals for poses of the bodies and an origin of the world.

        Args:
            positions: of the bodies (n_bodies, 3) [m].
            orientations: of the bodies (n_bodies, 4).
            world: position of the world frame (3,) [m].

        Returns:
            Positions (n_visuals, 3) [m] and orientations (n_visuals, 4).
        """
        place = np.concatenate((positions, np.reshape(world, (1, 3))))[self._body]
        orientation = np.concatenate((orientations, [NO_ROTATION]))[self._body]
        offset = np.einsum("nij,nj->ni", batch_rotation_matrix(orientation), self._position)
        return place + offset, batch_quaternion_product(orientation, self._orientation)

    def bounding_corners(self, positions: Array, orientations: Array) -> Array:
        """Return bounding box corners (8 n_visuals, 3) [m] at poses from `visual_poses`."""
        rotation = batch_rotation_matrix(orientations)
        rotated = np.einsum("nij,nkj->nki", rotation, self._corners)
        corners: Array = (positions[:, None] + rotated).reshape(-1, 3)
        return corners


def _check_size(width: object, height: object) -> None:
    found = f"picture size: found {width!r} x {height!r}"
    for pixels in (width, height):
        if not isinstance(pixels, int | np.integer) or isinstance(pixels, bool):
            raise ValueError(f"{found}, expected whole numbers of pixels")
        if pixels < 1:
            raise ValueError(f"{found}, expected at least 1 x 1 pixels")


def _checked(name: str, values: ArrayLike, shape: tuple[int, int]) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name}: found shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: found nan or infinity, expected finite numbers")
    return array
