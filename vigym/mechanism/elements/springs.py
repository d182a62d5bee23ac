"""Springs between two points, and potentials of one's own: the checked records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.spatial import quaternion_product

DIFFERENCES = (1e-3, 1e-4, 1e-5, 1e-6)  # [m and rad] of differences that test a gradient
GRADIENT_TOLERANCE = 1e-4  # part of the largest force, or torque, by which it may miss them


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


@dataclass(frozen=True)
class Potential:
    """Potential energy of a body by its pose.

    Attributes:
        name: unique among potentials.
        body: body name.
        energy: of (position, orientation) to a number [J].
        forces: of the same to (force, torque) [N, N m, world].
    """

    name: str
    body: str
    energy: Callable[[Array, Array], float]
    forces: Callable[[Array, Array], Any]


def make_potential(
    name: str,
    body: str,
    functions: tuple[Callable[[Array, Array], float], Callable[[Array, Array], Any]],
    pose: tuple[Array, Array],
) -> Potential:
    """Return a checked Potential; its forces are compared with differences of its energy.

    Args:
        name: of the potential.
        body: body name, checked by the caller.
        functions: energy and forces.
        pose: position and orientation of the body at the assembly.
    """
    for what, function in zip(("energy", "forces"), functions, strict=True):
        if not callable(function):
            raise MechanismError(
                f"potential {name!r} {what}: found {function!r}, expected a function of "
                "(position, orientation)"
            )
    potential = Potential(name, body, *functions)
    position, orientation = (np.array(part, dtype=np.float64) for part in pose)
    expected = "(force, torque), three finite numbers each"
    element = f"potential {name!r} forces"
    found = checks.call(potential.forces, (position, orientation), element, expected)
    wrench = checks.require_numbers(found, element, expected)
    if wrench.shape != (2, 3) or not np.isfinite(wrench).all():
        raise MechanismError(f"{element}: found {found!r}, expected {expected}")
    slopes = [_falling_slopes(potential, position, orientation, e) for e in DIFFERENCES]
    if not any(_is_near(wrench, slope) for slope in slopes):
        raise MechanismError(
            f"{element}: found {wrench.tolist()} at the assembly pose, expected minus the "
            f"derivatives of its energy, {slopes[1].tolist()}"
        )
    return potential


def _is_near(wrench: Array, slopes: Array) -> bool:
    """Return whether forces and torques (2, 3) match differences of the energy."""
    size = np.abs([wrench, slopes]).max(axis=(0, 2))
    rounding = 1e-8 * np.abs([wrench, slopes]).max(initial=1e-300)
    return bool((np.abs(wrench - slopes).max(axis=1) <= GRADIENT_TOLERANCE * size + rounding).all())


def _falling_slopes(potential: Potential, position: Array, orientation: Array, e: float) -> Array:
    """Return the fall of the energy per shift and per rotation along the world's axes (2, 3)."""
    element = f"potential {potential.name!r} energy"

    def energy(shift: Array, turn: Array) -> float:
        half = np.append(1.0, 0.5 * turn)
        turned = quaternion_product(half / np.linalg.norm(half), orientation)
        pose = position + shift, turned
        value = checks.call(potential.energy, pose, element, "a finite number")
        return checks.require_number(value, element)

    still, axes = np.zeros(3), e * np.eye(3)
    shifts = [energy(-axis, still) - energy(axis, still) for axis in axes]
    turns = [energy(still, -axis) - energy(still, axis) for axis in axes]
    return np.array([shifts, turns]) / (2.0 * e)
