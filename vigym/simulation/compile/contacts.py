"""What the compiled core sees of contacts, skates and wheels: rows of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.contacts import (
    BALL,
    HEAD,
    NEAREST,
    TAIL,
    PairTouch,
    check_hinged,
    friction_of,
    pair_touches,
    rounded_box,
    segment,
    touch_points,
)
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.simulation.compile.elimination_order import LoopRow

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

PAIR_KINDS = {BALL: T.PAIR_BALL, NEAREST: T.PAIR_NEAREST, HEAD: T.PAIR_HEAD, TAIL: T.PAIR_TAIL}
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


def sides(row: Array) -> tuple[Array, Array]:
    """Points (7, 3) that the own body of a contact, and (7, 3) that its partner's touch with, from its constants."""
    point, segment, centre, half = (row[_field(at, 3)] for at in (T.POINT, T.SEGMENT, T.CENTRE, T.HALF))
    radius, rounded = row[_field(T.RADIUS, 1)], row[_field(T.ROUND, 1)]
    return touched(point, radius + np.linalg.norm(segment)), touched(centre, rounded + np.linalg.norm(half))


def _pair_row(mobility: Mobility, touch: PairTouch) -> Array:
    """Constants of a contact of two bodies."""
    row, own, partner = np.zeros(T.CONSTANT_TOUCH), touch.own, touch.partner
    (middle, half, radius), (centre, axes, sizes, rounded) = segment(own), rounded_box(partner)
    row[_field(T.POINT, 3)], row[_field(T.RADIUS, 1)], row[_field(T.SEGMENT, 3)] = middle, radius, half
    row[_field(T.CENTRE, 3)], row[_field(T.BOX_AXES, 9)], row[_field(T.HALF, 3)] = centre, axes.ravel(), sizes
    row[_field(T.ROUND, 1)] = rounded
    row[_field(T.REACH, 1)] = np.linalg.norm(half) + radius + np.linalg.norm(sizes) + rounded
    row[_field(T.MU_ALONG, 3)] = friction_of(own, partner)
    row[_field(T.BOUNCE, 1)] = np.sqrt(own.restitution * partner.restitution)
    places = sides(row)
    masses = mobility.mass_at(own.body, places[0]), mobility.mass_at(partner.body, places[1])
    row[_field(T.HEFT, 1)] = 0.5 / (1.0 / masses[0] + 1.0 / masses[1])  # at least, however the two are connected
    return row


def pair_rows(mechanism: Mechanism, bodies: dict[str, int]) -> list[LoopRow]:
    """The three loop rows of each contact of two bodies: along its normal and its tangents."""
    first = len(mechanism.ground_contact_names)
    return [
        LoopRow(
            T.TOUCHING_ROW, first + i, bodies[touch.partner.body], bodies[touch.own.body], -1, np.zeros(T.CONSTANT_ROW)
        )
        for i, touch in enumerate(pair_touches(mechanism))
        for _ in range(3)
    ]


def contact_rows(
    mechanism: Mechanism, mobility: Mobility | None, bodies: dict[str, int], loops: list[LoopRow]
) -> tuple[np.ndarray, Array]:
    """Plan (n, TOUCH_PLAN) and constants (n, CONSTANT_TOUCH) of all contacts with the ground, skates and wheels last.

    Args:
        mechanism: what touches.
        mobility: of its bodies; None where nothing touches.
        bodies: row of each body.
        loops: all loop rows in the order of their elimination.
    """
    plan: list[tuple[int, int, bool, bool, int, int]] = []
    rows: list[Array] = []
    if mobility is None:
        return np.zeros((0, T.TOUCH_PLAN), np.int64), np.zeros((0, T.CONSTANT_TOUCH))
    collisions = mechanism.collisions.values() if mechanism.ground is not None else ()
    for collision in collisions:
        for kind, directed, spins, row in _touching(mechanism, mobility, collision):
            plan.append((bodies[collision.body], kind, directed, spins, 0, -1))
            rows.append(row)
    held = [row.link if row.kind == T.TOUCHING_ROW else -1 for row in loops]
    for touch in pair_touches(mechanism):
        check_hinged(mechanism, touch)
        own, partner = bodies[touch.own.body], bodies[touch.partner.body]
        plan.append((own, PAIR_KINDS[touch.kind], True, False, partner, held.index(len(plan))))
        rows.append(_pair_row(mobility, touch))
    for skate in mechanism.skates.values():
        row = _row(mobility, skate.body, skate.position, 0.0, np.zeros(3), skate.direction)
        plan.append((bodies[skate.body], T.SKATE, True, False, 0, -1))
        rows.append(row)
    for wheel in mechanism.wheels.values():
        row = _row(mobility, wheel.body, wheel.position, wheel.radius, wheel.axis, wheel.axis)
        plan.append((bodies[wheel.body], T.WHEEL, True, False, 0, -1))
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
