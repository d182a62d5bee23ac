"""Where a collision can touch a plane: the points, balls and rims of its shape."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from vigym.mechanism.check import Array, ReadOnly
from vigym.mechanism.collisions import Collision
from vigym.mechanism.quaternions import matrix
from vigym.mechanism.shapes import Box, Capsule, Cylinder, Sphere

RIM_CONTACTS = 4  # the deepest point of a rim, and those 90, 180 and 270 degrees on


@dataclass(frozen=True, eq=False)
class TouchPoint(ReadOnly):
    """Part of a body that touches a plane first; all in the body frame.

    Attributes:
        kind: "point": a ball of `radius` about `point`, or the point itself; "rim": a circle about `point`.
        point: centre (3,) [m].
        radius: [m]; 0 for a bare point.
        axis: unit normal of a rim's circle (3,); zero for a point.
    """

    kind: str
    point: Array
    radius: float
    axis: Array


def touch_points(collision: Collision) -> list[TouchPoint]:
    """Return the parts of a collision that can touch a plane first.

    A point or ball is itself; a sphere 1 ball, a capsule 2, a box its 8 corners, a cylinder 2 rims, a mesh the corners
    of its convex hull.
    """
    shape = collision.shape
    if shape is None:
        return [_ball(collision.position, collision.radius)]
    if len(collision.corners):
        return [_ball(corner) for corner in collision.corners]
    center, turn = np.asarray(shape.position), matrix(np.asarray(shape.orientation))
    if isinstance(shape, Box):
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return [_ball(center + turn @ offset) for offset in signs * np.asarray(shape.size)]
    if isinstance(shape, Sphere):
        return [_ball(center, shape.radius)]
    assert isinstance(shape, Cylinder)  # or a capsule
    axis = turn[:, 2]
    ends = [center + sign * shape.length * axis for sign in (-0.5, 0.5)]
    if isinstance(shape, Capsule):
        return [_ball(end, shape.radius) for end in ends]
    return [TouchPoint("rim", end, shape.radius, axis) for end in ends]


def contact_names(collision: Collision) -> list[str]:
    """Return one name per contact point: the collision's own for one, `name:0`, `name:1`, ... for several."""
    count = sum(RIM_CONTACTS if part.kind == "rim" else 1 for part in touch_points(collision))
    return [collision.name] if count == 1 else [f"{collision.name}:{i}" for i in range(count)]


def _ball(point: Array, radius: float = 0.0) -> TouchPoint:
    return TouchPoint("point", point, radius, np.zeros(3))
