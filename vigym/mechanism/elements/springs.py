"""Springs between two points: the checked record."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError


@dataclass(frozen=True, eq=False)
class Spring(ReadOnly):
    """Spring and damper along the line between two points of different bodies.

    Attributes:
        name: unique among springs.
        a, b: body names or "world".
        point_a, point_b: ends in the body frames (3,) [m]; of "world": in the world.
        stiffness: [N/m].
        rest_length: length without force [m].
        damping: [N s/m].
    """

    name: str
    a: str
    b: str
    point_a: Array
    point_b: Array
    stiffness: float
    rest_length: float
    damping: float


def make_spring(
    name: str,
    bodies: tuple[str, str],
    points: tuple[ArrayLike, ArrayLike],
    stiffness: float,
    rest_length: float,
    damping: float,
) -> Spring:
    """Return a checked Spring between points of two bodies; names are checked by the caller."""
    element = f"spring {name!r}"
    if bodies[0] == bodies[1]:
        raise MechanismError(f"{element}: found both ends on {bodies[0]!r}, expected two bodies")
    return Spring(
        name,
        *bodies,
        checks.require_vector(points[0], f"{element} point_a"),
        checks.require_vector(points[1], f"{element} point_b"),
        stiffness=checks.require_number(stiffness, f"{element} stiffness", 0.0),
        rest_length=checks.require_number(rest_length, f"{element} rest_length", 0.0),
        damping=checks.require_number(damping, f"{element} damping", 0.0),
    )
