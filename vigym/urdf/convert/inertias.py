"""Inertias that no rigid body has: refused, or mended with a note.

Half the trace of an inertia less a principal moment is the second moment of mass along that
principal axis, a sum of squares. It is negative where a moment is larger than the sum of the other
two. Mended it is zero: the largest moment stays, the other two grow by half of the difference.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.collisions import ContactMaterial, make_collision
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.mechanism.elements.shapes import Shape
from vigym.urdf.read.records import Link

HINT = "inertias='report' mends it"

# Links of a larger body may be points or lines: least ratio of smallest to largest moment.
_LEAST_MOMENT = -1e-9
# Mended bodies may not: a rod a hundredth as thick as it is long has this ratio of second moments.
_THIN = 1e-4
WATER = 1000.0  # density [kg/m^3]
_POINT = 1e-4  # of the radius of a ball of water: no matter is as dense
_ROUNDING = 1e-12  # relative; smaller moments come of rounding


def check_inertia(path: Path, link: Link, alone: bool) -> None:
    """Raise UrdfError for an inertia that a link cannot have.

    Args:
        path: of the file.
        link: to be checked.
        alone: whether no other link of its body has mass; else it may be a point or a line.
    """
    if not link.inertia_given:
        place = f"{path}: link {link.name!r} <inertial>"
        raise UrdfError(f"{place}: found no <inertia>, expected one ({HINT})")
    fault = inertia_fault(link.inertia) if alone else _part_fault(link.inertia)
    if fault:
        raise UrdfError(f"{path}: {_place(link)}: {fault} ({HINT})")


def note_impossible_parts(links: Iterable[Link], notes: list[Note]) -> None:
    """Add a note for every link whose inertia no rigid body has; their body's is possible."""
    for link in links:
        if not link.inertia_given:
            notes.append(_point_note(link))
        elif _part_fault(link.inertia):
            found = f"no rigid body has principal moments {_moments(link.inertia)}"
            message = f"{found}; added as written, since the body with all its links is possible"
            notes.append(Note("merged", _place(link), message))


def mend_link(link: Link, notes: list[Note]) -> Link:
    """Replace an impossible inertia by the nearest possible one, and add a note.

    A link whose file gives none is a point.
    """
    if not link.inertia_given:
        notes.append(_point_note(link))
    if not _part_fault(link.inertia):
        return link
    before, axes = np.linalg.eigh(link.inertia)
    mended = _tensor(np.maximum(_second_moments(before), 0.0), axes)
    message = f"no rigid body has principal moments {_text(before)}: taken as {_moments(mended)}"
    notes.append(Note("changed", _place(link), message))
    return replace(link, inertia=mended)


def mend_body(
    place: str,
    mass: float,
    inertia: Array,
    shapes: Iterable[Shape],
    notes: list[Note],
) -> Array:
    """Return an inertia (3, 3) that a body of its own can have; a change becomes a note.

    A line becomes a thin rod, a point a uniform box about its shapes, or without any that can be
    read a ball with the density of water.

    Args:
        place: the body in words.
        mass: [kg].
        inertia: sum of those of its links (3, 3) [kg m^2].
        shapes: of its links, with poses in the axes of `inertia`.
        notes: of the mechanism.
    """
    point = is_point(mass, inertia)
    if not point and not inertia_fault(inertia, least=_ROUNDING):
        return inertia
    before, axes = np.linalg.eigh(inertia)
    found = f"principal moments {_text(before)} are those of a {'point' if point else 'line'}"
    if not point:
        second = np.maximum(_second_moments(before), 0.0)
        means = "a rod a hundredth as thick as long"
    else:
        size, axes = _bounding_size(shapes), np.eye(3)
        if size.max() > 0.0:
            second = mass * size**2 / 12.0
            sides = " x ".join(f"{side:.3g}" for side in size)
            means = f"a uniform box of its shapes' size, {sides} m"
        else:
            radius = _radius_of_water(mass)
            second = np.full(3, 0.2 * mass * radius**2)
            means = (
                f"a ball of water of its mass, {radius:.3g} m in radius: it has no shape to read"
            )
    mended = _tensor(np.maximum(second, _THIN * second.max()), axes)
    message = f"{found}: taken as {_moments(mended)}, {means}"
    notes.append(Note("changed", place, message))
    return mended


def is_point(mass: float, inertia: Array) -> bool:
    """Return whether a body's mass [kg] is nearer to its centre than matter can be.

    Its radius of gyration is less than a ten-thousandth of the radius of a ball of water.
    """
    return bool(0.5 * np.trace(inertia) <= mass * (_POINT * _radius_of_water(mass)) ** 2)


def _radius_of_water(mass: float) -> float:
    """Return the radius [m] of a ball of water of a mass [kg]."""
    return float((mass / (4.0 / 3.0 * np.pi * WATER)) ** (1.0 / 3.0))


def _part_fault(inertia: Array) -> str:
    """Return the fault of a link's inertia in a larger body; a point without inertia has none."""
    return inertia_fault(inertia, least=_LEAST_MOMENT) if inertia.any() else ""


def _point_note(link: Link) -> Note:
    return Note("changed", f"link {link.name!r} <inertial>", "no <inertia>: a point")


def _place(link: Link) -> str:
    return f"link {link.name!r} <inertial> <inertia>"


def _second_moments(moments: Array) -> Array:
    """Return second moments of mass along principal axes (3,), from the moments about them."""
    second: Array = (0.5 * moments).sum() - moments
    return second


def _tensor(second: Array, axes: Array) -> Array:
    """Return the inertia (3, 3) of second moments of mass (3,) along axes, columns (3, 3)."""
    spread = (axes * second) @ axes.T
    tensor: Array = np.eye(3) * second.sum() - (0.5 * spread + 0.5 * spread.T)
    return tensor


def _bounding_size(shapes: Iterable[Shape]) -> Array:
    """Return the edges (3,) [m] of the box about all shapes that can be read; zero without any."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for shape in shapes:
        try:
            collision = make_collision("size", "size", shape, ContactMaterial())
        except MechanismError:  # a mesh that cannot be read: the importer reports where it is used
            continue
        for feature in contact_features(collision):
            reach = feature.radius * np.sqrt(1.0 - np.minimum(feature.axis**2, 1.0))
            low = np.minimum(low, feature.point - reach)
            high = np.maximum(high, feature.point + reach)
    size: Array = np.maximum(high - low, 0.0)
    return size


def _moments(inertia: Array) -> str:
    return _text(np.linalg.eigh(inertia)[0])


def _text(moments: Array) -> str:
    return "(" + ", ".join(f"{moment:.6g}" for moment in moments) + ")"
