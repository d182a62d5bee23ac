"""Shapes of bodies, drawn or for collisions; poses in the body frame (centre of mass)."""

from collections.abc import Iterable
from copy import copy
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.checks import (
    ReadOnly,
    require_direction,
    require_positive,
    require_vector,
)
from vigym.mechanism.elements.errors import MechanismError

GREY = (0.6, 0.6, 0.6, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape(ReadOnly):
    """Pose and colour: base of all shapes.

    Args:
        position: origin of the shape in the body frame (3,) [m].
        orientation: unit quaternion (w, x, y, z), shape to body (4,).
        rgba: red, green, blue, opacity (4,), each in [0, 1].

    Raises:
        MechanismError: a value of wrong size, not finite, or out of range.
    """

    kind: ClassVar[str] = ""
    position: ArrayLike = (0.0, 0.0, 0.0)
    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    rgba: ArrayLike = GREY

    def __post_init__(self) -> None:
        self._place(self.position, self.orientation)
        rgba = require_vector(self.rgba, f"{self.kind} rgba", 4)
        if rgba.min() < 0.0 or rgba.max() > 1.0:
            raise MechanismError(
                f"{self.kind} rgba: found {rgba.tolist()}, expected numbers in [0, 1]"
            )
        self._store("rgba", rgba)

    def at(self, position: ArrayLike, orientation: ArrayLike) -> Self:
        """Return the shape at another position (3,) [m], with another unit quaternion (4,).

        Raises:
            MechanismError: a value of wrong size, or not finite.
        """
        placed = copy(self)  # its sizes and colour are checked
        placed._place(position, orientation)
        return placed

    @property
    def bounding_radius(self) -> float:
        """Bound of the distance of the shape's points from its origin [m]; 0 of unread meshes."""
        return 0.0

    def _place(self, position: ArrayLike, orientation: ArrayLike) -> None:
        turn = require_direction(orientation, f"{self.kind} orientation", 4)
        self._store("position", require_vector(position, f"{self.kind} position"))
        self._store("orientation", turn)

    def _store(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """Box with full edge lengths `size` (3,) [m] along its axes."""

    kind: ClassVar[str] = "box"
    size: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        size = require_vector(self.size, "box size")
        if size.min() <= 0.0:
            raise MechanismError(f"box size: found {size.tolist()}, expected numbers > 0")
        self._store("size", size)

    @property
    def bounding_radius(self) -> float:
        """Half of the box's diagonal [m]."""
        return float(np.linalg.norm(np.asarray(self.size))) / 2.0


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """Ball of `radius` [m]."""

    kind: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("radius", require_positive(self.radius, "sphere radius"))

    @property
    def bounding_radius(self) -> float:
        """Radius of the ball [m]."""
        return self.radius


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """Cylinder of `radius` [m] and `length` [m], its axis is the shape's z axis."""

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._store("radius", require_positive(self.radius, f"{self.kind} radius"))
        self._store("length", require_positive(self.length, f"{self.kind} length"))

    @property
    def bounding_radius(self) -> float:
        """Distance of the rims from the centre [m]."""
        return float(np.hypot(self.radius, self.length / 2.0))


@dataclass(frozen=True, eq=False)
class Capsule(Cylinder):
    """Cylinder with half balls on its ends; `length` [m] is the distance of the balls' centres."""

    kind: ClassVar[str] = "capsule"

    @property
    def bounding_radius(self) -> float:
        """Bound of the distance of the ends from the centre [m]."""
        return float(np.hypot(self.radius, self.length / 2.0 + self.radius))


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """Triangle mesh read from the file `path`, scaled by `scale` (3,) along its axes.

    Pictures leave it out if it is `optional` and cannot be read; a warning tells.
    """

    kind: ClassVar[str] = "mesh"
    path: Path
    scale: ArrayLike = (1.0, 1.0, 1.0)
    optional: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        scale = require_vector(self.scale, "mesh scale")
        if np.any(scale == 0.0):
            raise MechanismError(
                f"mesh scale: found {scale.tolist()}, expected numbers that are not zero"
            )
        self._store("path", Path(self.path))
        self._store("scale", scale)


# tests of every shape take them from here
SHAPES: dict[str, type[Shape]] = {
    shape.kind: shape for shape in (Box, Sphere, Cylinder, Capsule, Mesh)
}


def size_fields(shape: type[Shape]) -> list["Field[Any]"]:
    """Return the fields of a class of shapes that are sizes, or the path of a file."""
    others = (*Shape.__dataclass_fields__, "optional")
    return [size for size in fields(shape) if size.name not in others]


def check_shapes(shapes: Iterable[Shape], element: str) -> tuple[Shape, ...]:
    """Return `shapes` as a tuple; raise MechanismError naming `element` for anything else."""
    checked = tuple(shapes)
    for shape in checked:
        if not isinstance(shape, Shape) or shape.kind not in SHAPES:
            expected = " or ".join(known.__name__ for known in SHAPES.values())
            raise MechanismError(f"{element} shapes: found {shape!r}, expected {expected}")
    return checked
