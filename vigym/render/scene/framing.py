"""Where the camera, the light and the floor go, so that a mechanism is well seen without being told."""

import math
from dataclasses import dataclass, replace

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.camera import UP, Array, Camera, View, direction, fitting_distance, look
from vigym.render.scene.reach import Reach

ROOM = 1.4  # what the camera follows is seen smaller, so that its motion shows
MARGIN = 1.06  # empty rim around what the mechanism can reach
SIDEWAYS, ABOVE = 0.3, 0.2  # [rad] off the hinge axis: a flat mechanism still looks solid
CORNER, RAISED = -math.pi / 3, 0.35  # azimuth and elevation [rad] for mechanisms that move in space
OVERHEAD = 1.0  # elevation [rad] for mechanisms that move in a horizontal plane
SUN = (-0.5, 0.45, 1.0)  # direction to the light: along the camera's right, towards the camera, up
SHADOW_MAP, NARROW = 256, 0.05  # pixels of the light's picture; its opening angle [rad], nearly parallel rays
HANGING_FLOOR = 0.05  # gap between the reach of an anchored mechanism and the floor below, in units of the reach


@dataclass(frozen=True, eq=False)
class Floor:
    """Plane normal . x = height [m], seen from above; `tile` [m] is the edge of its squares.

    `below` tells that it is not the mechanism's ground, only a backdrop below its reach.
    """

    normal: Array
    height: float
    tile: float
    below: bool

    def seen_from(self, shift: Array) -> "Floor":
        """Return the floor in a frame moved by `shift` (3,) [m]; where its squares lie is left to the painter."""
        return replace(self, height=self.height - float(self.normal @ shift))


def bounds(reach: Reach) -> tuple[Array, Array]:
    """Return the lower and upper corner (3,) [m] of a box around the reach."""
    if not len(reach.radii):
        return np.zeros(3), np.zeros(3)
    spread = reach.radii[:, None]
    return (reach.centres - spread).min(axis=0), (reach.centres + spread).max(axis=0)


def floor_of(mech: Mechanism, reach: Reach, size: float) -> Floor | None:
    """Return the ground of `mech`, else a floor below what hangs on the world; None in free flight."""
    tile = rounded_down(size / 6)
    if mech.ground is not None:
        return Floor(np.asarray(mech.ground.normal), mech.ground.height, tile, below=False)
    falls_down = mech.gravity[2] < 0.0 and not mech.gravity[:2].any()
    floats = any(joint.parent == WORLD and len(joint.prototype.translations) > 1 for joint in mech.tree_joints)
    if floats or not falls_down:
        return None
    return Floor(UP, float(bounds(reach)[0][2]) - HANGING_FLOOR * size, tile, below=True)


def plane_frame(floor: Floor) -> tuple[Array, Array, Array]:
    """Return origin and two directions (3,) that span the floor."""
    helper = np.eye(3)[np.argmin(np.abs(floor.normal))]
    e1 = np.cross(helper, floor.normal)
    e1 /= np.linalg.norm(e1)
    return floor.height * floor.normal, e1, np.cross(floor.normal, e1)


def rounded_down(value: float) -> float:
    """Return the largest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... that is at most `value` > 0: tiles serve as a scale."""
    power = 10.0 ** math.floor(math.log10(value))
    return power * max(step for step in (1.0, 2.0, 5.0) if step * power <= value * (1 + 1e-9))


def first_view(camera: Camera, reach: Reach, width: int, height: int) -> View:
    """Return a view that shows the whole reach, with what `camera` fixes."""
    low, high = bounds(reach)
    target = (low + high) / 2 if camera.target is None else np.array(camera.target, dtype=np.float64)
    azimuth, elevation = _standpoint(reach.hinge)
    azimuth = azimuth if camera.azimuth is None else camera.azimuth
    elevation = elevation if camera.elevation is None else camera.elevation
    towards = direction(azimuth, elevation)
    distance = camera.distance
    if distance is None:
        distance = _distance(reach, target, towards, camera.field_of_view, (width, height))
    return look(target, towards, distance, camera.field_of_view, width, height)


def _distance(reach: Reach, target: Array, towards: Array, opening: float, size: tuple[int, int]) -> float:
    """Return the distance [m] from which the reach fills a picture of `size`, with an empty rim."""
    if not len(reach.radii):
        return 1.0
    around = ROOM if reach.followed else 1.0
    needed = around * fitting_distance(target, towards, opening, size, reach.centres, reach.radii)
    if len(reach.limbs):
        needed = max(needed, fitting_distance(target, towards, opening, size, reach.limbs, np.zeros(len(reach.limbs))))
    return MARGIN * needed or 1.0


def light_view(view: View, reach: Reach) -> View:
    """Return the view of a sun that stands behind the camera's left shoulder."""
    right, up, back = view.view[:3, :3]
    level = back - back[2] * UP
    towards = level / np.linalg.norm(level) * SUN[1] + right * SUN[0] + UP * SUN[2]
    towards /= np.linalg.norm(towards)
    low, high = bounds(reach)
    middle, size = (low + high) / 2, (SHADOW_MAP, SHADOW_MAP)
    distance = _distance(reach, middle, towards, NARROW, size)
    return look(middle, towards, distance, NARROW, *size)


def _standpoint(hinge: Array | None) -> tuple[float, float]:
    """Return azimuth and elevation [rad] that show the motion: along a shared hinge axis, else from a corner."""
    if hinge is None:
        return CORNER, RAISED
    if abs(hinge[2]) > 0.7:
        return -math.pi / 2 + SIDEWAYS, OVERHEAD
    side = hinge if hinge @ np.array([0.5, -1.0, 0.0]) > 0.0 else -hinge  # x to the right, or y where x is the axis
    return math.atan2(side[1], side[0]) + SIDEWAYS, ABOVE
