"""Curve and surface joints: two sides of two bodies that stay in touch, checked."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.sides import Point, Side
from vigym.mechanism.tracks.slides import Coordinate, Slide

ENDLESS = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Track(ReadOnly):
    """Joint of two sides that slide on each other and do not leave each other.

    Attributes:
        name: unique among joints.
        a, b: body names or "world"; `side_a` has at least as many parameters as `side_b`.
        side_a, side_b: their curves and surfaces.
        axis: direction in body b (3,) that follows a curve, or the normal of a surface; or None.
        on_curve: whether a point of b stays on a curve of a.
        spin: whether the bodies may turn against each other about the normal.
        slide: forces along a curve; None without.
    """

    name: str
    a: str
    b: str
    side_a: Side
    side_b: Side
    axis: Array | None = None
    on_curve: bool = False
    spin: bool = True
    slide: Slide | None = None

    @property
    def rows(self) -> int:
        """Number of scalar constraints."""
        if not self.on_curve:
            if self.axis is not None:
                return 3
            return 1 if self.spin else 2
        return 2 if self.axis is None else 4

    @property
    def kind(self) -> str:
        """Phrase for summaries."""
        return f"{self.side_b!r} of {self.b} on {self.side_a!r} of {self.a}"

    @property
    def coordinate_names(self) -> list[str]:
        """Names of the coordinates that motors take."""
        return [self.name] if self.on_curve else []

    def coordinates(self, driven: Container[str] = ()) -> list[Coordinate]:
        """Return the coordinates along which forces act.

        Args:
            driven: names of coordinates with a motor.
        """
        if self.on_curve:
            limits = (self.slide or Slide()).range(self._ends())
            if self.slide is None and limits == ENDLESS and self.name not in driven:
                return []
            return [Coordinate(self.name, 0, 1.0, limits, self.slide or Slide())]
        found = []
        for k, side in enumerate((self.side_a, self.side_b)):
            for j, closed in enumerate((side.closed, side.second_closed)[: side.dimensions]):
                if side.edges is not None and not closed:
                    scale = side.parameter_scale(j)
                    limits = side.edges[0] * scale, side.edges[1] * scale
                    name = f"{self.name}:{k}{'uv'[j]}"
                    found.append(Coordinate(name, 2 * k + j, scale, limits, Slide()))
        return found

    def with_changed_slides(self, change: Callable[[str, Slide], Slide]) -> Self:
        """Return a copy whose slides are changed by a function of their name and themselves."""
        return self if self.slide is None else replace(self, slide=change(self.name, self.slide))

    def _ends(self) -> tuple[float, float]:
        """Return the arc lengths at the ends of the curve [m]."""
        if self.side_a.edges is None:
            return ENDLESS
        ends = np.array(self.side_a.edges)[:, None] * [1.0, 0.0, 0.0]
        lower, upper = self.side_a.lengths(ends).tolist()
        return lower, upper


def make_curve_joint(
    name: str,
    ends: tuple[str, str],
    curve: Any,
    point: ArrayLike,
    axis: ArrayLike | None,
    slide: Any,
) -> Track:
    """Return a checked joint of a point on a curve; its bodies are checked by the caller."""
    element = f"curve joint {name!r}"
    if not isinstance(curve, Side) or curve.dimensions != 1 or curve.offset:
        raise MechanismError(f"{element} curve: found {curve!r}, expected a curve without a tube")
    if not (slide is None or isinstance(slide, Slide)):
        raise MechanismError(f"{element} slide: found {slide!r}, expected a Slide or None")
    direction = None if axis is None else checks.require_direction(axis, f"{element} axis")
    place = Point(checks.require_vector(point, f"{element} point"))
    return Track(name, *_two(element, ends), curve, place, direction, True, slide=slide)


def make_surface_joint(
    name: str, ends: tuple[str, str], sides: tuple[Any, Any], spin: Any
) -> Track:
    """Return a checked joint of two surfaces; its bodies are checked by the caller."""
    element = f"surface joint {name!r}"
    for side in sides:
        if not isinstance(side, Side):
            raise MechanismError(f"{element}: found {side!r}, expected a surface")
    if not isinstance(spin, bool):
        raise MechanismError(f"{element} spin: found {spin!r}, expected True or False")
    a, b = _two(element, ends)
    first, second = sides
    if second.dimensions > first.dimensions:
        a, b = b, a
        first, second = second, first
    if first.dimensions < 2 and not first.offset + second.offset:
        raise MechanismError(
            f"{element}: found {first!r} and {second!r} without a surface, expected one: a torus, "
            "a sphere ...; tracks.add_curve holds a point on a curve"
        )
    axis = second.normal if isinstance(second, Point) else None
    if axis is not None and (first.dimensions < 2 or not spin):
        raise MechanismError(
            f"{element}: found a point with a normal on {first!r} with spin={spin}, expected it on "
            "a plane, ellipsoid or patch with spin=True"
        )
    return Track(name, a, b, first, second, axis, spin=spin)


def _two(element: str, ends: tuple[str, str]) -> tuple[str, str]:
    if ends[0] == ends[1]:
        raise MechanismError(f"{element}: found {ends[0]!r} twice, expected two bodies")
    return ends
