"""Rows of the core's tables for contacts, skates and wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.core.tables.constants import CONTACT_MODEL, LOOP_ROW_MODEL
from vigym.core.tables.plan import (
    BALL_CONTACT,
    CELL_SIZE,
    CONTACT_PLAN,
    CONTACT_ROW,
    FIRST_X,
    FIRST_Y,
    HEIGHTS,
    LARGEST_HEIGHT,
    LONE,
    PAIR_BALL_CONTACT,
    PAIR_HEAD_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_TAIL_CONTACT,
    RIM_CONTACT,
    RIM_HALF_CONTACT,
    RIM_QUARTER_CONTACT,
    RIM_THREE_QUARTER_CONTACT,
    SKATE,
    WHEEL,
)
from vigym.mechanism.elements.bodies import require_ground
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.contacts import (
    BALL,
    HEAD,
    NEAREST,
    TAIL,
    PairContact,
    check_segments_through_joint,
    contact_features,
    core_segment,
    pair_friction,
    rounded_box,
    wheel_rim,
)
from vigym.mechanism.elements.couplings import Wheel
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.simulation.compile.elimination_order import LoopRow

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

PAIR_KINDS = {
    BALL: PAIR_BALL_CONTACT,
    NEAREST: PAIR_NEAREST_CONTACT,
    HEAD: PAIR_HEAD_CONTACT,
    TAIL: PAIR_TAIL_CONTACT,
}
GROUND_KINDS = {
    "point": (BALL_CONTACT,),
    "rim": (RIM_CONTACT, RIM_QUARTER_CONTACT, RIM_HALF_CONTACT, RIM_THREE_QUARTER_CONTACT),
}


def perpendicular(axis: Array) -> Array:
    """Find a unit vector perpendicular to a unit vector (3,)."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    side = other - (axis @ other) * axis
    unit: Array = side / np.linalg.norm(side)
    return unit


def extremes(point: Array, radius: float) -> Array:
    """Return the points (7, 3) of a body that a ball or rim about a point may touch with."""
    return point + radius * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])


def _contact_row(
    mobility: Mobility, body: str, point: Array, radius: float, axis: Array, direction: Array
) -> Any:
    """Return the constants that contacts with the ground, skates and wheels share."""
    row = CONTACT_MODEL.rows(1)[0]
    row["point"], row["radius"] = point, radius
    row["rim_axis"], row["rim_side"] = axis, perpendicular(axis)
    row["direction"] = direction
    scales = mobility.ground_contact_scales_at(body, extremes(point, radius))
    row["effective_mass"], row["law_scale"] = scales
    return row


def _set_friction(row: np.void, friction: Array) -> None:
    """Write the coefficients of friction (along, across, backward)."""
    row["friction_along"], row["friction_across"], row["friction_backward"] = friction


def _ground_contacts(
    mechanism: Mechanism, mobility: Mobility, collision: Collision
) -> list[tuple[int, bool, bool, Any]]:
    """Find kind, whether tangents follow the body, whether it resists spin, and constants."""
    found: list[tuple[int, bool, bool, Any]] = []
    own = mechanism.ground.friction if mechanism.ground is not None else None
    friction = collision.friction if own is None else own
    directed = bool(np.ptp(friction) > 0.0)
    for part in contact_features(collision):
        row = _contact_row(
            mobility, collision.body, part.point, part.radius, part.axis, collision.direction
        )
        _set_friction(row, friction)
        row["torsional_friction"] = collision.torsion
        row["restitution"] = collision.restitution
        found.extend(
            (kind, directed, collision.torsion > 0.0, row) for kind in GROUND_KINDS[part.kind]
        )
    return found


def _wheel_row(mobility: Mobility, wheel: Wheel) -> Any:
    """Return the constants of a wheel, and of its rim, which has no friction of its own."""
    return _contact_row(mobility, wheel.body, wheel.position, wheel.radius, wheel.axis, wheel.axis)


def pair_extremes(row: np.void) -> tuple[Array, Array]:
    """Find points (7, 3) that the own body of a contact may touch with, and its partner's."""
    own = extremes(row["point"], row["radius"] + np.linalg.norm(row["segment"]))
    return own, extremes(
        row["box_centre"], row["box_radius"] + np.linalg.norm(row["box_half_sizes"])
    )


def pair_mass(own: Array | float, partner: Array | float) -> Array:
    """Return masses that scale forces between two bodies: half of the masses in series.

    At least, however the two are connected.
    """
    return np.asarray(0.5 / (1.0 / np.asarray(own) + 1.0 / np.asarray(partner)))


def _pair_contact(mobility: Mobility, pair: PairContact) -> Any:
    """Return the constants of a contact of two bodies."""
    row = CONTACT_MODEL.rows(1)[0]
    own = pair.own
    partner = pair.partner
    row["point"], row["segment"], row["radius"] = core_segment(own)
    row["box_centre"], axes, row["box_half_sizes"], row["box_radius"] = rounded_box(partner)
    row["box_axes"] = axes.ravel()
    reach = np.linalg.norm(row["segment"]) + row["radius"]
    row["reach"] = reach + np.linalg.norm(row["box_half_sizes"]) + row["box_radius"]
    _set_friction(row, np.full(3, pair_friction(own, partner)))
    row["restitution"] = np.sqrt(own.restitution * partner.restitution)
    places = pair_extremes(row)
    masses = (
        mobility.least_effective_mass_at(own.body, places[0]),
        mobility.least_effective_mass_at(partner.body, places[1]),
    )
    row["effective_mass"], row["law_scale"] = pair_mass(*masses), 1.0
    return row


def pair_rows(mechanism: Mechanism, bodies: dict[str, int]) -> list[LoopRow]:
    """Make three loop rows for each contact of two bodies: along its normal and its tangents."""
    first = len(mechanism.ground_contact_names)
    constants = LOOP_ROW_MODEL.rows(1)[0]
    return [
        LoopRow(
            CONTACT_ROW, first + i, bodies[pair.partner.body], bodies[pair.own.body], -1, constants
        )
        for i, pair in enumerate(mechanism.pair_contacts)
        for _ in range(3)
    ]


def contact_rows(
    mechanism: Mechanism,
    mobility: Mobility | None,
    bodies: dict[str, int],
    loop_rows: list[LoopRow],
) -> tuple[np.ndarray, np.ndarray]:
    """Make the rows (n,) of CONTACT_PLAN and CONTACT_MODEL, those of skates and wheels last.

    Args:
        mechanism: its collisions, pairs, skates and wheels.
        mobility: of its bodies; None where nothing touches.
        bodies: row of each body.
        loop_rows: all loop rows in the order of their elimination.
    """
    plan: list[tuple[int, ...]] = []
    rows: list[np.void] = []
    if mobility is None:
        return CONTACT_PLAN.rows(0), CONTACT_MODEL.rows(0)
    for collision in mechanism.ground_collisions:
        for kind, directed, has_torsion, row in _ground_contacts(mechanism, mobility, collision):
            for plane in range(mechanism.planes_of_ground):
                plan.append(
                    (bodies[collision.body], kind, directed, has_torsion, 0, -1, plane, LONE)
                )
                rows.append(row)
    for wheel in mechanism.wheels.values():
        require_ground(mechanism.ground, f"wheel {wheel.name!r}")
        rim, row = GROUND_KINDS[wheel_rim(wheel).kind], _wheel_row(mobility, wheel)
        plan.extend((bodies[wheel.body], kind, False, False, 0, -1, 0, LONE) for kind in rim)
        rows.extend(row for _ in rim)
    owners = [row.owner if row.kind == CONTACT_ROW else -1 for row in loop_rows]
    for pair in mechanism.pair_contacts:
        check_segments_through_joint(pair, mechanism.joints.values(), mechanism.bodies)
        own, partner = bodies[pair.own.body], bodies[pair.partner.body]
        row = owners.index(len(plan))
        plan.append((own, PAIR_KINDS[pair.kind], True, False, partner, row, 0, LONE))
        rows.append(_pair_contact(mobility, pair))
    for skate in mechanism.skates.values():
        plan.append((bodies[skate.body], SKATE, True, False, 0, -1, 0, LONE))
        rows.append(
            _contact_row(mobility, skate.body, skate.position, 0.0, np.zeros(3), skate.direction)
        )
    for wheel in mechanism.wheels.values():
        plan.append((bodies[wheel.body], WHEEL, True, False, 0, -1, 0, LONE))
        rows.append(_wheel_row(mobility, wheel))
    return np.array(plan, CONTACT_PLAN.dtype), np.array(rows, CONTACT_MODEL.dtype)


def terrain_numbers(mechanism: Mechanism) -> np.ndarray:
    """Return the floats of the terrain, none on a plane.

    Raises:
        MechanismError: skates or wheels on terrain.
    """
    terrain = None if mechanism.ground is None else mechanism.ground.terrain
    if terrain is None:
        return np.zeros(0)
    for name in (*mechanism.skates, *mechanism.wheels):
        raise MechanismError(
            f"ground terrain: found skate or wheel {name!r}, expected a plane: these roll on planes"
        )
    numbers = np.zeros(HEIGHTS + terrain.heights.size)
    numbers[CELL_SIZE], numbers[[FIRST_X, FIRST_Y]] = terrain.cell, terrain.origin
    numbers[LARGEST_HEIGHT] = terrain.heights.max()
    numbers[HEIGHTS:] = terrain.heights.ravel()
    return numbers


def set_ground(environment: np.void, mechanism: Mechanism) -> None:
    """Write normal, tangent and height [m] of the ground; of the plane z = 0 if there is none."""
    ground = mechanism.ground
    normal = np.array([0.0, 0.0, 1.0]) if ground is None else np.asarray(ground.normal)
    east = np.array([1.0, 0.0, 0.0])
    flat = east - (normal @ east) * normal
    length = np.linalg.norm(flat)
    environment["ground_normal"] = normal
    environment["ground_tangent"] = flat / length if length > 1e-6 else perpendicular(normal)
    environment["ground_height"] = 0.0 if ground is None else ground.height
