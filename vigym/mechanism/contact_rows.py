"""What the compiled core sees of contacts, skates and wheels: rows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.check import Array
from vigym.mechanism.collisions import Collision
from vigym.mechanism.mobility import Mobility
from vigym.mechanism.touching import touch_points

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

RIMS = (T.RIM, T.RIM_1, T.RIM_2, T.RIM_3)


def _field(offset: int, width: int) -> slice:
    return slice(offset // LANES, offset // LANES + width)


def across(axis: Array) -> Array:
    """A unit vector perpendicular to a unit vector (3,)."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    side = other - (axis @ other) * axis
    unit: Array = side / np.linalg.norm(side)
    return unit


def touched(point: Array, radius: float) -> Array:
    """Points (7, 3) of a body that a ball or rim about a point touches with."""
    return point + radius * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])


def _row(mobility: Mobility, body: str, point: Array, radius: float, axis: Array, along: Array) -> Array:
    row = np.zeros(T.CONSTANT_TOUCH)
    row[_field(T.POINT, 3)], row[_field(T.RADIUS, 1)] = point, radius
    row[_field(T.RIM_AXIS, 3)], row[_field(T.RIM_SIDE, 3)] = axis, across(axis)
    row[_field(T.ALONG, 3)], row[_field(T.HEFT, 1)] = along, mobility.mass_at(body, touched(point, radius))
    return row


def _touching(mechanism: Mechanism, mobility: Mobility, collision: Collision) -> list[tuple[int, bool, bool, Array]]:
    """Kind, whether its tangents turn with the body, whether it resists spin, and constants of each contact point."""
    found: list[tuple[int, bool, bool, Array]] = []
    own = mechanism.ground.friction if mechanism.ground is not None else None
    friction = collision.friction if own is None else own
    directed = bool(np.ptp(friction) > 0.0)
    for part in touch_points(collision):
        row = _row(mobility, collision.body, part.point, part.radius, part.axis, collision.direction)
        along, side, backward = friction
        row[_field(T.MU_ALONG, 3)] = along, backward, side
        row[_field(T.MU_SPIN, 1)], row[_field(T.BOUNCE, 1)] = collision.torsion, collision.restitution
        kinds = RIMS if part.kind == "rim" else (T.BALL_POINT,)
        found.extend((kind, directed, collision.torsion > 0.0, row) for kind in kinds)
    return found


def contact_rows(mechanism: Mechanism, mobility: Mobility | None, bodies: dict[str, int]) -> tuple[np.ndarray, Array]:
    """Plan (n, TOUCH_PLAN) and constants (n, CONSTANT_TOUCH) of all contacts with the ground, skates and wheels last.

    Args:
        mechanism: what touches.
        mobility: of its bodies; None where nothing touches.
        bodies: row of each body.
    """
    plan: list[tuple[int, int, bool, bool]] = []
    rows: list[Array] = []
    if mobility is None:
        return np.zeros((0, T.TOUCH_PLAN), np.int64), np.zeros((0, T.CONSTANT_TOUCH))
    collisions = mechanism.collisions.values() if mechanism.ground is not None else ()
    for collision in collisions:
        for kind, directed, spins, row in _touching(mechanism, mobility, collision):
            plan.append((bodies[collision.body], kind, directed, spins))
            rows.append(row)
    for skate in mechanism.skates.values():
        row = _row(mobility, skate.body, skate.position, 0.0, np.zeros(3), skate.direction)
        plan.append((bodies[skate.body], T.SKATE, True, False))
        rows.append(row)
    for wheel in mechanism.wheels.values():
        row = _row(mobility, wheel.body, wheel.position, wheel.radius, wheel.axis, wheel.axis)
        plan.append((bodies[wheel.body], T.WHEEL, True, False))
        rows.append(row)
    return np.array(plan, np.int64).reshape(-1, T.TOUCH_PLAN), np.array(rows).reshape(-1, T.CONSTANT_TOUCH)


def ground_constants(mechanism: Mechanism) -> list[float]:
    """Normal, a tangent, height [m] of the ground; of the plane z = 0 where there is none."""
    ground = mechanism.ground
    normal = np.array([0.0, 0.0, 1.0]) if ground is None else np.asarray(ground.normal)
    east = np.array([1.0, 0.0, 0.0])
    flat = east - (normal @ east) * normal
    tangent = flat / np.linalg.norm(flat) if np.linalg.norm(flat) > 1e-6 else across(normal)
    return [*normal, *tangent, 0.0 if ground is None else ground.height]
