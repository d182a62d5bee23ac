"""Joints of the user's own: the child's pose in the parent as a function of coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.joints import ENDLESS, Track
from vigym.mechanism.tracks.sides import Side
from vigym.mechanism.tracks.slides import Coordinate, Slide
from vigym.spatial import rotation_matrix

Transform = Callable[[Any], Any]
Pose = tuple[Array, Array]

MOST_COORDINATES = 5
STEP = 1e-100  # of complex derivatives
DIFFERENCE = 1e-5  # of differences that test them
DERIVATIVE_TOLERANCE = 1e-6  # part of the largest derivative by which they may differ
RIGID = 1e-9  # by which rotations may miss length one and right angles
REGULAR = 1e-6  # volume of the twists, each of length one, below which they depend on each other
PROBES = (0.0, 0.01, -0.013)  # [unit of a coordinate] from the start, where a transform is tested


class Coordinates(Side):
    """Coordinates of a joint of the user's own, three at most, and its frame in a body.

    Args:
        position: origin of the frame in the body (3,) [m].
        rotation: its axes in the body (3, 3).
        dimensions: number of coordinates.
    """

    kind = "coordinates"

    def __init__(self, position: Array, rotation: Array, dimensions: int) -> None:
        super().__init__(position, (1.0, 0.0, 0.0, 0.0))
        self.rotation = rotation
        self.dimensions = dimensions


@dataclass(frozen=True, eq=False)
class CustomJoint(Track):
    """Joint whose child's frame has the pose G(q) in the parent's.

    Attributes:
        transform: G, of coordinates (n,) to (position (3,), orientation).
        start: coordinates (n,) at the assembly.
        of_matrix: whether G returns rotation matrices, else quaternions.
        slides: forces along each coordinate; None without.
    """

    transform: Transform = field(kw_only=True)
    start: Array = field(kw_only=True)
    of_matrix: bool = field(kw_only=True)
    slides: tuple[Slide | None, ...] = field(kw_only=True)

    @property
    def rows(self) -> int:
        """Number of scalar constraints."""
        return 6 - len(self.start)

    @property
    def kind(self) -> str:
        """Phrase for summaries."""
        name = getattr(self.transform, "__name__", "a function")
        return f"{self.b} in {self.a} by {name} of {len(self.start)}"

    @property
    def coordinate_names(self) -> list[str]:
        """Names of its coordinates, which motors take: its own, of several behind it a number."""
        if len(self.start) == 1:
            return [self.name]
        return [f"{self.name}:{k}" for k in range(len(self.start))]

    def coordinates(self, driven: Container[str] = ()) -> list[Coordinate]:
        """Return the coordinates along which forces act.

        Args:
            driven: names of coordinates with a motor.
        """
        return [
            Coordinate(name, k, 1.0, (slide or Slide()).range(ENDLESS), slide or Slide())
            for k, (name, slide) in enumerate(zip(self.coordinate_names, self.slides, strict=True))
            if slide is not None or name in driven
        ]

    def with_changed_slides(self, change: Callable[[str, Slide], Slide]) -> Self:
        """Return a copy whose slides are changed by a function of their name and themselves."""
        pairs = zip(self.coordinate_names, self.slides, strict=True)
        slides = tuple(None if slide is None else change(name, slide) for name, slide in pairs)
        return replace(self, slides=slides)

    def twists(self) -> Array:
        """Return the twists S (6, n) of G at the assembly, about the child's frame."""
        return evaluate_transform(self.transform, self.start)[2]

    def least_motion(self, q: Array) -> float:
        """Return the least motion of the child by a coordinate at q (n,), as part of that at start.

        Numbers that are not finite count as none.
        """
        sizes = [
            np.linalg.norm(evaluate_transform(self.transform, at)[2], axis=0)
            for at in (q, self.start)
        ]
        least = float((sizes[0] / sizes[1]).min())
        return least if np.isfinite(least) else 0.0


def evaluate_transform(transform: Transform, q: Array) -> tuple[Array, Array, Array]:
    """Evaluate position (3,), rotation (3, 3) and twists (6, n) of a transform.

    Derivatives are complex steps, exact to rounding. A twist is (velocity, angular velocity) per
    rate of a coordinate, in the axes of the parent's frame.
    """
    n = len(q)
    twists = np.zeros((6, n))
    for k in range(n):
        z = q.astype(np.complex128)
        z[k] += 1j * STEP
        position, rotation = _pose(transform, z)
        twists[:3, k] = position.imag / STEP
        spin = rotation.imag @ rotation.real.T / STEP
        twists[3:, k] = 0.5 * np.array(
            [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
        )
    position, rotation = _pose(transform, q.astype(np.complex128))
    return position.real, rotation.real, twists


def make_custom_joint(
    name: str,
    ends: tuple[tuple[str, Pose], tuple[str, Pose]],
    transform: Transform,
    start: ArrayLike,
    position: ArrayLike,
    slides: Any,
) -> CustomJoint:
    """Return a checked joint; its bodies are checked by the caller.

    Args:
        name: of the joint.
        ends: parent and child, each a name and its pose (position, quaternion) at the assembly.
        transform: of coordinates to (position, orientation).
        start: coordinates at the assembly.
        position: of the parent's frame at the assembly (3,) [m, world].
        slides: a `Slide`, or one or None for each coordinate; None.
    """
    element = f"custom joint {name!r}"
    if ends[0][0] == ends[1][0]:
        raise MechanismError(f"{element}: found {ends[0][0]!r} twice, expected two bodies")
    if not callable(transform):
        raise MechanismError(f"{element} transform: found {transform!r}, expected a function of q")
    expected = f"1 to {MOST_COORDINATES} finite numbers"
    q = np.atleast_1d(checks.require_numbers(start, f"{element} start", expected))
    if q.ndim != 1 or not 1 <= len(q) <= MOST_COORDINATES or not np.isfinite(q).all():
        raise MechanismError(f"{element} start: found {start!r}, expected {expected}")
    of_matrix = _check_transform(element, transform, q)
    place, rotation, _ = evaluate_transform(transform, q)
    origin = checks.require_vector(position, f"{element} position")
    frames = (origin, np.eye(3)), (origin + place, rotation)
    counts = min(len(q), 3), max(len(q) - 3, 0)
    first, second = (
        _coordinates(pose, frame, count)
        for (_, pose), frame, count in zip(ends, frames, counts, strict=True)
    )
    return CustomJoint(
        name,
        ends[0][0],
        ends[1][0],
        first,
        second,
        transform=transform,
        start=q,
        of_matrix=of_matrix,
        slides=_checked_slides(element, slides, len(q)),
    )


def _coordinates(pose: Pose, frame: Pose, count: int) -> Coordinates:
    """Return coordinates with a frame, given by place and axes in the world, fixed in a body."""
    R = rotation_matrix(pose[1])
    return Coordinates(R.T @ (frame[0] - pose[0]), R.T @ frame[1], count)


def _checked_slides(element: str, slides: Any, n: int) -> tuple[Slide | None, ...]:
    """Return a slide or None for each coordinate."""
    given = (None,) * n if slides is None else slides
    if isinstance(given, Slide) and n == 1:
        given = (given,)
    is_list = isinstance(given, Sequence) and len(given) == n
    if not is_list or not all(each is None or isinstance(each, Slide) for each in given):
        raise MechanismError(
            f"{element} slides: found {slides!r}, expected {n}, one for each coordinate: each a "
            "Slide or None"
        )
    return tuple(given)


def _check_transform(element: str, transform: Transform, start: Array) -> bool:
    """Raise MechanismError for a transform that is no rigid motion near the start.

    Returns whether its orientations are matrices.
    """
    of_matrix = False
    for away in PROBES:
        q = start + away * (1.0 + 0.1 * np.arange(len(start)))
        of_matrix = _check_shapes(element, transform, q)
        place, rotation, twists = evaluate_transform(transform, q)
        if not all(np.isfinite(part).all() for part in (place, rotation, twists)):
            raise MechanismError(f"{element} transform: found a value that is not finite at {q}")
        error = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
        if not of_matrix:
            turn = np.asarray(transform(q.astype(np.complex128))[1]).real
            error = max(error, abs(float(np.linalg.norm(turn)) - 1.0))
        if error > RIGID or np.linalg.det(rotation) < 0.0:
            raise MechanismError(
                f"{element} transform: found no rotation at {q}, off by {error:.3g}, expected a "
                "unit quaternion (w, x, y, z) or a rotation matrix"
            )
        _check_derivatives(element, transform, q, twists)
    twists = evaluate_transform(transform, start)[2]
    if _volume(twists) < REGULAR:
        raise MechanismError(
            f"{element} transform: found coordinates at {start} that move the child alike or not "
            "at all, expected motions that are independent of each other"
        )
    return of_matrix


def _check_shapes(element: str, transform: Transform, q: Array) -> bool:
    """Raise MechanismError for results of other shapes; returns whether they have a matrix."""
    expected = "(position (3,), quaternion (4,) or rotation matrix (3, 3)), by numpy's functions"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            found = transform(q.astype(np.complex128))
            position, turn = found
            shapes = np.asarray(position).shape, np.asarray(turn).shape
    except Exception as error:  # of any kind, the user's
        raise MechanismError(
            f"{element} transform: found {type(error).__name__} at complex numbers ({error}), "
            f"expected {expected}"
        ) from error
    if shapes[0] != (3,) or shapes[1] not in ((4,), (3, 3)):
        raise MechanismError(f"{element} transform: found shapes {shapes}, expected {expected}")
    return shapes[1] == (3, 3)


def _check_derivatives(element: str, transform: Transform, q: Array, twists: Array) -> None:
    """Raise MechanismError where complex steps do not agree with differences."""
    for k in range(len(q)):
        way = DIFFERENCE * np.eye(len(q))[k]
        before, after = (_pose(transform, (q + sign * way).astype(complex)) for sign in (-1.0, 1.0))
        here = _pose(transform, q.astype(complex))[1].real
        spin = (after[1].real - before[1].real) @ here.T / (2.0 * DIFFERENCE)
        moved = np.append(
            (after[0].real - before[0].real) / (2.0 * DIFFERENCE),
            0.5
            * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]),
        )
        size = max(np.abs(moved).max(), np.abs(twists[:, k]).max(), 1.0)
        if np.abs(moved - twists[:, k]).max() > DERIVATIVE_TOLERANCE * size:
            raise MechanismError(
                f"{element} transform: found the derivative {twists[:, k]} by coordinate {k} from "
                f"complex numbers, {moved} from differences, expected a smooth function without "
                "abs, norm, conj or parts of complex numbers"
            )


def _volume(twists: Array) -> float:
    """Return the volume that twists (6, n) span, each scaled to length one."""
    lengths = np.linalg.norm(twists, axis=0)
    if lengths.min() <= 1e-12 * lengths.max() or lengths.max() == 0.0:
        return 0.0
    scaled = twists / lengths
    return float(np.sqrt(max(np.linalg.det(scaled.T @ scaled), 0.0)))


def _pose(transform: Transform, q: Any) -> tuple[Any, Any]:
    """Return position (3,) and rotation matrix (3, 3) of a transform, complex."""
    position, turn = (np.asarray(part, dtype=np.complex128) for part in transform(q))
    rotation: Any = turn
    if turn.shape == (4,):
        rotation = rotation_matrix(rotation)
    return position, rotation
