"""Slides: springs, dampers, dry friction and limits along curves, and the edges of patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.errors import MechanismError


@dataclass(frozen=True)
class Slide:
    """Forces along the arc length s of a curve joint, measured from its parameter 0.

    Of a joint of your own they act along a coordinate; units are those of the coordinate then.

    Args:
        damping: [N s/m], >= 0.
        stiffness: of a spring [N/m], >= 0.
        rest: arc length at which the spring is slack [m].
        friction: Coulomb friction [N], >= 0.
        limits: (lower, upper) arc lengths [m]; None: the ends of an open curve, else none.

    Raises:
        MechanismError: a value out of range.
    """

    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    friction: float = 0.0
    limits: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("damping", "stiffness", "friction"):
            checks.require_number(getattr(self, name), f"Slide {name}", 0.0)
        checks.require_number(self.rest, "Slide rest")
        if self.limits is None:
            return
        limits = checks.require_numbers(self.limits, "Slide limits", "(lower, upper)")
        if limits.shape != (2,) or not limits[0] <= limits[1]:
            raise MechanismError(
                f"Slide limits: found {self.limits!r}, expected (lower, upper), lower <= upper in m"
            )

    def range(self, otherwise: tuple[float, float]) -> tuple[float, float]:
        """Return the limits (lower, upper), replaced where they are missing."""
        if self.limits is None:
            return otherwise
        lower, upper = np.asarray(self.limits, dtype=np.float64).tolist()
        return lower, upper


class Coordinate(NamedTuple):
    """Coordinate of a curve or surface joint along which forces act.

    Attributes:
        name: of the joint, behind a colon the parameter.
        parameter: number of the parameter: two of side a, two of side b.
        per_parameter: coordinate per unit of the parameter, of a patch [m].
        limits: (lower, upper) [m].
        forces: damper, spring and friction along it.
    """

    name: str
    parameter: int
    per_parameter: float
    limits: tuple[float, float]
    forces: Slide

    @property
    def has_limits(self) -> bool:
        """Whether a limit is finite."""
        return bool(np.isfinite(self.limits).any())
