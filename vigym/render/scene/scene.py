"""A mechanism as a scene: what is drawn, on which floor, seen from where."""

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.camera import Array, Camera
from vigym.render.scene.framing import bounds, first_view, floor_of, light_view
from vigym.render.scene.pieces import Piece, pieces_of
from vigym.render.scene.reach import Reach, reach_of
from vigym.spatial import broadcast_product, rotation_matrix

CALM = 0.25  # how far what is followed may rise and fall before the camera does, in units of the reach


class Scene:
    """What a backend needs to know of a mechanism.

    Args:
        mechanism: what is drawn, as it is now; later additions are not seen.
        camera: what is fixed of the view; the rest is chosen so that the mechanism fills the picture.
        width, height: size of the picture [pixels].

    Attributes:
        pieces: what is drawn.
        bodies: number of bodies; also that of the world among the pieces' bodies.
        floor: the mechanism's ground; where it has none and hangs on the world under gravity, a floor below its reach;
            else None.
        centre: middle of the reach at assembly (3,) [m].
        size: diagonal of a box around the reach [m].
        weight: of all bodies [N].
        view: what the camera sees before it follows anything.
        follows: whether the camera moves with what floats or slides far.
        light: what the light sees then; square, it holds all that throws a shadow.

    Raises:
        ValueError: a size that is not positive, or no whole number of pixels.
    """

    def __init__(self, mechanism: Mechanism, camera: Camera, width: int, height: int) -> None:
        if min(width, height) < 1:
            raise ValueError(f"picture size: found {width} x {height}, expected at least 1 x 1 pixels")
        if not all(isinstance(pixels, (int, np.integer)) for pixels in (width, height)):
            raise ValueError(f"picture size: found {width} x {height}, expected whole numbers of pixels")
        self.pieces: list[Piece] = pieces_of(mechanism)
        self.bodies = len(mechanism.bodies)
        self._carrier = np.array([piece.body for piece in self.pieces], dtype=np.intp)
        self._offset = np.array([piece.position for piece in self.pieces]).reshape(-1, 3)
        self._turn = np.array([piece.orientation for piece in self.pieces]).reshape(-1, 4)
        self._corners = np.array([piece.corners for piece in self.pieces]).reshape(-1, 8, 3)
        reach = reach_of(mechanism, self.pieces)
        self._followed = list(reach.followed)
        low, high = bounds(reach)
        self.centre: Array = (low + high) / 2
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.weight = float(np.linalg.norm(mechanism.gravity)) * sum(body.mass for body in mechanism.bodies.values())
        self.floor = floor_of(mechanism, reach, self.size)
        starts = np.array([body.position for body in mechanism.bodies.values()]).reshape(-1, 3)
        self.follows = camera.target is None and bool(self._followed)
        standing = self._standing(reach)
        self._start = self._middle(starts) + standing
        self.view = first_view(camera, reach, width, height).moved(standing if self.follows else np.zeros(3))
        self.light = light_view(self.view, reach).moved(standing)

    def _standing(self, reach: Reach) -> Array:
        """Return the shift (3,) [m] that puts what the camera follows on the mechanism's own ground."""
        if self.floor is None or self.floor.below or not self._followed:
            return np.zeros(3)
        lowest = (reach.centres @ self.floor.normal - reach.radii).min()
        return (self.floor.height - float(lowest)) * self.floor.normal

    def _middle(self, positions: Array) -> Array:
        """Return the middle of the followed bodies (3,) [m]."""
        return positions[self._followed].mean(axis=0) if self._followed else np.zeros(3)

    def shifts(self, positions: Array) -> tuple[Array, Array]:
        """Return how far camera and light (3,) [m] have moved for bodies at `positions` (n_bodies, 3) [m]."""
        none = np.zeros(3)
        if not self._followed:
            return none, none
        shift = self._middle(positions) - self._start
        if self.floor is not None:  # glide along the floor, rise only when the mechanism leaves the picture
            rise = float(self.floor.normal @ shift)
            shift -= float(np.clip(rise, -CALM * self.size, CALM * self.size)) * self.floor.normal
        return (shift if self.follows else none), shift

    def checked(self, positions: ArrayLike, orientations: ArrayLike) -> tuple[Array, Array]:
        """Return the poses as float arrays (n_bodies, 3) and (n_bodies, 4).

        Raises:
            ValueError: a wrong shape or a number that is not finite.
        """
        return _poses("positions", positions, self.bodies, 3), _poses("orientations", orientations, self.bodies, 4)

    def place(self, positions: Array, orientations: Array, world: ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
        """Return the poses of the pieces, (n_pieces, 3) [m] and (n_pieces, 4), for those of bodies and world."""
        where = np.concatenate((positions, np.reshape(world, (1, 3))))[self._carrier]
        turn = np.concatenate((orientations, [[1.0, 0.0, 0.0, 0.0]]))[self._carrier]
        moved = where + np.einsum("nij,nj->ni", rotation_matrix(turn), self._offset)
        return moved, broadcast_product(turn, self._turn)

    def corners(self, placed: Array, turned: Array) -> Array:
        """Return the corners (8 n_pieces, 3) [m] of boxes that hold the pieces at world poses from `place`."""
        turned_corners = np.einsum("nij,nkj->nki", rotation_matrix(turned), self._corners)
        spread: Array = (placed[:, None] + turned_corners).reshape(-1, 3)
        return spread


def _poses(name: str, values: ArrayLike, bodies: int, size: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (bodies, size):
        raise ValueError(f"{name}: found shape {array.shape}, expected ({bodies}, {size})")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: found nan or infinity, expected finite numbers")
    return array
