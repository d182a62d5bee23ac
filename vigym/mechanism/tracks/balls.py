"""Angles of ball joints that have limits, as coordinates along which forces act."""

from __future__ import annotations

from typing import NamedTuple

from vigym.mechanism.elements.joints import ANGLES, Joint
from vigym.mechanism.tracks.slides import Coordinate, Slide


class Ball(NamedTuple):
    """Joint with three free rotations whose angles have limits.

    Attributes:
        name: of the joint.
        a, b: parent and child.
        joint: the joint.
    """

    name: str
    a: str
    b: str
    joint: Joint


def ball_coordinates(joint: Joint) -> list[tuple[Ball, Coordinate]]:
    """Return the angles of a joint that have limits; the parameter is the number in `ANGLES`."""
    ball = Ball(joint.name, joint.parent, joint.child, joint)
    return [
        (ball, Coordinate(f"{joint.name}:{angle}", ANGLES.index(angle), 1.0, limits, Slide()))
        for angle, limits in joint.angle_limits.items()
    ]
