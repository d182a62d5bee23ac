"""Default camera, light and floor of a mechanism: its whole reach is in the picture."""

import math
from dataclasses import dataclass, replace

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene.camera import (
    UP,
    Array,
    Camera,
    View,
    fitting_distance,
    look_at,
    view_direction,
)
from vigym.render.scene.reach import Reach

FOLLOW_ROOM = 1.4  # factor of the distance of a camera that follows: motion has room in the picture
MARGIN = 1.06  # factor of the distance: empty rim around the reach
SIDEWAYS, ABOVE = 0.3, 0.2  # [rad] off the hinge axis: a flat mechanism still looks solid
CORNER, RAISED = -math.pi / 3, 0.35  # azimuth, elevation [rad] for mechanisms that move in space
OVERHEAD = 1.0  # elevation [rad] for mechanisms that move in a horizontal plane
SUN = (-0.5, 0.45, 1.0)  # direction to the light: along the camera's right, towards it, up
SHADOW_MAP = 256  # width and height of the light's picture [pixels]
SUN_OPENING = 0.05  # field of view of the light [rad], nearly parallel rays
BELOW_TERRAIN = 0.01  # distance of the floor from the lowest place of a terrain, per reach
FLOOR_GAP = 0.05  # between the reach of an anchored mechanism and the floor below it, per reach


@dataclass(frozen=True, eq=False)
class Floor:
    """Plane normal . x = height [m], seen from above, with square tiles.

    Attributes:
        normal: unit vector (3,).
        height: [m].
        tile: edge length of the tiles [m].
        is_backdrop: whether it is a drawn floor below the reach and not the mechanism's ground.
    """

    normal: Array
    height: float
    tile: float
    is_backdrop: bool

    def is_below(self, position: Array) -> bool:
        """Return whether a point (3,) [m] is above the floor."""
        return bool(position @ self.normal > self.height)

    def in_shifted_frame(self, shift: Array) -> "Floor":
        """Return the floor in a frame moved by `shift` (3,) [m]; the phase of the tiles is lost."""
        return replace(self, height=self.height - float(self.normal @ shift))


def find_floor(mech: Mechanism, reach: Reach, size: float) -> Floor | None:
    """Return the ground, else a floor below an anchored mechanism; None in free flight."""
    tile = round_down_125(size / 6)
    if mech.ground is not None:
        normal, terrain = np.asarray(mech.ground.normal), mech.ground.terrain
        height = mech.ground.height
        if terrain is not None:  # seen beyond the terrain alone
            height = float(terrain.heights[0].min()) - BELOW_TERRAIN * size
        return Floor(normal, height, tile, is_backdrop=False)
    falls_down = mech.gravity[2] < 0.0 and not mech.gravity[:2].any()
    roots = [joint for joint in mech.tree_joints if joint.parent == WORLD]
    if any(len(joint.joint_type.translations) > 1 for joint in roots) or not falls_down:
        return None
    return Floor(UP, float(reach.bounds[0][2]) - FLOOR_GAP * size, tile, is_backdrop=True)


def plane_frame(floor: Floor) -> tuple[Array, Array, Array]:
    """Return origin and two orthonormal directions (3,) of the floor plane."""
    helper = np.eye(3)[np.argmin(np.abs(floor.normal))]
    e1 = np.cross(helper, floor.normal)
    e1 /= np.linalg.norm(e1)
    return floor.height * floor.normal, e1, np.cross(floor.normal, e1)


def round_down_125(value: float) -> float:
    """Return the largest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... that is at most `value` > 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return power * max(step for step in (1.0, 2.0, 5.0) if step * power <= value * (1 + 1e-9))


def initial_view(camera: Camera, reach: Reach, width: int, height: int) -> View:
    """Return a view of the whole reach with the settings of `camera`."""
    low, high = reach.bounds
    target = (low + high) / 2
    if camera.target is not None:
        target = np.array(camera.target, dtype=np.float64)
    azimuth, elevation = _default_angles(reach.hinge_axis)
    azimuth = azimuth if camera.azimuth is None else camera.azimuth
    elevation = elevation if camera.elevation is None else camera.elevation
    direction = view_direction(azimuth, elevation)
    distance = camera.distance
    if distance is None:
        distance = _distance(reach, target, direction, camera.field_of_view, (width, height))
    return look_at(target, direction, distance, camera.field_of_view, width, height)


def _distance(
    reach: Reach, target: Array, direction: Array, opening: float, size: tuple[int, int]
) -> float:
    """Return the distance [m] at which the reach, with a margin, fills a picture of `size`."""
    if not len(reach.radii):
        return 1.0
    room = FOLLOW_ROOM if reach.followed else 1.0
    needed = room * fitting_distance(target, direction, opening, size, reach.centres, reach.radii)
    if len(reach.limbs):
        points, radii = reach.limbs, np.zeros(len(reach.limbs))
        needed = max(needed, fitting_distance(target, direction, opening, size, points, radii))
    return MARGIN * needed or 1.0


def light_view(view: View, reach: Reach) -> View:
    """Return the view of a sun that stands behind the camera's left shoulder."""
    right, _, back = view.view[:3, :3]
    level = back - back[2] * UP
    direction = level / np.linalg.norm(level) * SUN[1] + right * SUN[0] + UP * SUN[2]
    direction /= np.linalg.norm(direction)
    low, high = reach.bounds
    middle, size = (low + high) / 2, (SHADOW_MAP, SHADOW_MAP)
    distance = _distance(reach, middle, direction, SUN_OPENING, size)
    return look_at(middle, direction, distance, SUN_OPENING, *size)


def _default_angles(hinge_axis: Array | None) -> tuple[float, float]:
    """Return azimuth and elevation [rad]: along a shared hinge axis, else from a corner."""
    if hinge_axis is None:
        return CORNER, RAISED
    if abs(hinge_axis[2]) > 0.7:
        return -math.pi / 2 + SIDEWAYS, OVERHEAD
    # x to the right, or y where x is the axis
    side = hinge_axis if hinge_axis @ np.array([0.5, -1.0, 0.0]) > 0.0 else -hinge_axis
    return math.atan2(side[1], side[0]) + SIDEWAYS, ABOVE
