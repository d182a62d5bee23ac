"""Inverse kinematics of the excavator of `assets/excavator`, in closed form.

Places are in the plane of the arm: x forwards and z upwards [m], angles upwards from x [rad].
"""

import numpy as np

from vigym.control.actuators import Array

FOOT = np.array((0.0, 1.9))  # of the boom on the chassis [m]
BOOM, STICK = 5.7, 2.9  # between pins [m]
BUCKET = 1.5  # from its pin to its teeth [m]
# Pins of the cylinders: on the chassis; from the boom's foot, x to the stick; from the stick's pin
# on the boom, x to the bucket; from the bucket's pin, x to its teeth [m].
CHASSIS_PIN = np.array((0.6, 1.45))
BOOM_EYE, BOOM_TOP = np.array((2.5, 0.45)), np.array((2.7, 1.25))
STICK_EYE, STICK_TOP = np.array((-0.75, 0.2)), np.array((0.35, 0.5))
ROCKER_PIN, LUG = np.array((2.45, 0.05)), np.array((-0.15, 0.42))
ROCKER, COUPLER = 0.62, 0.6  # lengths [m]
ZERO = np.array((6.5, 0.3, -1.7))  # teeth and bucket's angle at the file's zero


def cylinder_strokes(place: Array) -> Array:
    """Return how far the cylinders of boom, stick and bucket are out (..., 3) [m].

    Args:
        place: (..., 3) x and z of the teeth [m], angle of the bucket [rad]; nan beyond the reach.
    """
    return _lengths(np.asarray(place, dtype=np.float64)) - _lengths(ZERO)


def _lengths(place: Array) -> Array:
    """Return the lengths (..., 3) [m] of the cylinders at a place (..., 3)."""
    teeth, curl = place[..., :2], place[..., 2]
    wrist = teeth - BUCKET * _direction(curl)
    boom = _angle(wrist - FOOT) + _corner(BOOM, _length(wrist - FOOT), STICK)
    elbow = FOOT + BOOM * _direction(boom)
    stick = _angle(wrist - elbow)
    rocker_pin, lug = elbow + _turned(ROCKER_PIN, stick), wrist + _turned(LUG, curl)
    rocker = _angle(lug - rocker_pin) + _corner(ROCKER, _length(lug - rocker_pin), COUPLER)
    knee = rocker_pin + ROCKER * _direction(rocker)
    lengths = (
        _length(FOOT + _turned(BOOM_EYE, boom) - CHASSIS_PIN),
        _length(elbow + _turned(STICK_EYE, stick) - FOOT - _turned(BOOM_TOP, boom)),
        _length(knee - elbow - _turned(STICK_TOP, stick)),
    )
    return np.stack(lengths, axis=-1)


def _direction(angle: Array) -> Array:
    """Return the unit vector (..., 2) of an angle (...,) [rad]."""
    return np.stack((np.cos(angle), np.sin(angle)), axis=-1)


def _angle(vector: Array) -> Array:
    """Return the angle (...,) [rad] of a vector (..., 2)."""
    angle: Array = np.arctan2(vector[..., 1], vector[..., 0])
    return angle


def _length(vector: Array) -> Array:
    """Return the length (...,) of a vector (..., 2)."""
    length: Array = np.hypot(vector[..., 0], vector[..., 1])
    return length


def _turned(point: Array, angle: Array) -> Array:
    """Return a point (2,) of a body's axes, which are turned by an angle (...,) [rad]: (..., 2)."""
    x, z = point
    along, up = _direction(angle), _direction(angle + 0.5 * np.pi)
    turned: Array = x * along + z * up
    return turned


def _corner(one: float, other: Array, opposite: float) -> Array:
    """Return the angle (...,) [rad] between two sides of a triangle, by the law of cosines."""
    corner: Array = np.arccos((one**2 + other**2 - opposite**2) / (2.0 * one * other))
    return corner
