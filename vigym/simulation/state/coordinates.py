"""Names to numbers: a mechanism's joint coordinates as arrays, and the columns of what the core reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.core.readings import READ_CONTACT
from vigym.core.readout import READ_COUNT, READ_KINETIC, READ_POTENTIAL
from vigym.mechanism.elements.checks import no_numbers
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import loop_joints
from vigym.mechanism.topology.joint_frames import relative_pose

Array = NDArray[np.float64]
Given = Mapping[str, ArrayLike] | ArrayLike | None  # joint or coordinate name -> value, or all values
Base = Mapping[str, Mapping[str, ArrayLike]] | None  # floating body -> part of its pose or velocity -> value


class Coordinates:
    """Positions and velocities of a mechanism: names, defaults, checks.

    Attributes:
        positions, velocities, energies, scalars, contacts, efforts: slices of a reading's columns.
        columns: number of columns of a reading.
        carried: index in ``mechanism.bodies`` of the body that each joint of the tree carries.
        tree_positions, tree_velocities: number of coordinates of the tree; those of closing joints follow.
        rest: (n_positions,) the assembly pose.
        apart: whether a position (n_positions,), and a velocity (n_velocities,), is that of a joint of the tree that no
            loop and no coupling ties.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        joints, tree = mechanism.ordered_joints, mechanism.tree_joints
        self.position_names, self.velocity_names = mechanism.position_names, mechanism.velocity_names
        self._turning = {j.name: 0 < len(j.prototype.rotations) < 3 for j in joints}
        self._slides = {j.name: len(j.prototype.translations) for j in joints}
        self._bodies = {name: i for i, name in enumerate(mechanism.bodies)}
        self.carried = [self._bodies[joint.child] for joint in tree]
        self.tree_positions = sum(len(joint.prototype.positions) for joint in tree)
        self.tree_velocities = sum(len(joint.prototype.velocities) for joint in tree)
        self._position_slices = _slices([(j, len(j.prototype.positions)) for j in joints], self.position_names)
        self._velocity_slices = _slices([(j, len(j.prototype.velocities)) for j in joints], self.velocity_names)
        self._floating = {j.child: j.name for j in tree if j.type == "floating" and j.parent == "world"}
        self.rest = self.rest_pose(mechanism)
        tied = {name for coupling in mechanism.couplings.values() for name in (coupling.joint, coupling.other)}
        looped = {*loop_joints(mechanism), *(joint.name for joint in tree if tied & joint.names)}
        apart = [joint.name for joint in tree if joint.name not in looped]
        self.apart = np.zeros(self.rest.size, np.bool_), np.zeros(len(self.velocity_names), np.bool_)
        for columns, spans in zip(self.apart, (self._position_slices, self._velocity_slices), strict=True):
            for name in apart:
                columns[spans[name]] = True
        self._quaternions = [self._position_slices[j.name] for j in joints if j.prototype.has_quaternion]
        n_v, start = len(self.velocity_names), 13 * len(self._bodies)
        self.positions = slice(start, start + self.rest.size)
        self.velocities = slice(self.positions.stop, self.positions.stop + n_v)
        self.scalars = slice(self.velocities.stop, self.velocities.stop + READ_COUNT)
        self.energies = slice(self.scalars.start + READ_KINETIC, self.scalars.start + READ_POTENTIAL + 1)
        self.contacts = slice(self.scalars.stop, self.scalars.stop + READ_CONTACT * len(mechanism.contact_names))
        others = READ_CONTACT * (len(mechanism.skates) + len(mechanism.wheels))
        self.efforts = slice(self.contacts.stop + others, self.contacts.stop + others + len(mechanism.actuator_names))
        self.columns = self.efforts.stop
        self._n_velocities = n_v

    @staticmethod
    def assembly_pose(mechanism: Mechanism) -> Array:
        """Coordinates (n_positions,) of the pose that the bodies were added at, loops as open as they are there."""
        return np.concatenate([np.zeros(0), *(_assembly(mechanism, joint) for joint in mechanism.ordered_joints)])

    @staticmethod
    def rest_pose(mechanism: Mechanism) -> Array:
        """Coordinates (n_positions,) of the assembly pose, loops closed."""
        rest = Coordinates.assembly_pose(mechanism)
        if mechanism.closing_joints or mechanism.couplings:
            rest[: len(mechanism.structure.assembly)] = mechanism.structure.assembly
        return rest

    def body_index(self, name: str) -> int:
        """Index of a body in ``mechanism.bodies``.

        Raises:
            MechanismError: unknown name.
        """
        if name not in self._bodies:
            raise MechanismError(f"body: found {name!r}, expected one of {', '.join(self._bodies)}")
        return self._bodies[name]

    def base_columns(self, body: str) -> slice:
        """Columns of a floating body's position in the world."""
        start = self._position_slices[self._floating[body]].start
        return slice(start, start + 3)

    def arrays(self, count: int, single: bool, positions: Given, velocities: Given, base: Base) -> tuple[Array, Array]:
        """Checked arrays (count, n_positions) and (count, n_velocities): what is given, NaN elsewhere.

        Raises:
            MechanismError: unknown names, wrong shapes, values that are not finite, quaternions of length zero.
        """
        q, qd = np.empty((count, self.rest.size)), np.empty((count, self._n_velocities))
        _fill(q, positions, self._position_slices, "positions", single)
        _fill(qd, velocities, self._velocity_slices, "velocities", single)
        for body, values in (base or {}).items():
            self._fill_base(q, qd, body, values, single)
        for span in self._quaternions:
            quaternion = slice(span.stop - 4, span.stop)
            length = np.sqrt((q[:, quaternion] * q[:, quaternion]).sum(axis=1, keepdims=True))
            if (length < 1e-6).any():
                raise MechanismError("positions: found a quaternion of length 0, expected (w, x, y, z) of length 1")
            q[:, quaternion] /= length
        return q, qd

    def without_turns(self, given: Given, joints: Collection[str]) -> Given:
        """The same with the angles of the named joints between -pi and pi: full turns change no pose."""
        if not isinstance(given, Mapping):
            return given
        return {name: self._least(name, value) if name in joints else value for name, value in given.items()}

    def _least(self, name: str, value: ArrayLike) -> ArrayLike:
        if not self._turning[name]:
            return value
        angles = np.asarray(value, dtype=np.float64)
        slides = self._slides[name]
        rest = angles - 2.0 * np.pi * np.round(angles / (2.0 * np.pi))
        return np.where(np.arange(max(1, angles.shape[-1] if angles.ndim else 1)) < slides, angles, rest).reshape(
            angles.shape
        )

    def translated(self, other: Mechanism, positions: Array, velocities: Array) -> tuple[Array, Array]:
        """Positions and velocities (count, n) from those of a mechanism that names the same coordinates."""
        tables = []
        for names, theirs, values in (
            (self.position_names, other.position_names, positions),
            (self.velocity_names, other.velocity_names, velocities),
        ):
            table = np.full((np.atleast_2d(values).shape[0], len(names)), np.nan)
            common = [name for name in names if name in theirs]
            columns = [theirs.index(name) for name in common]
            table[:, [names.index(name) for name in common]] = np.atleast_2d(values)[:, columns]
            tables.append(table)
        return tables[0], tables[1]

    def _fill_base(self, q: Array, qd: Array, body: str, values: Mapping[str, ArrayLike], single: bool) -> None:
        if body not in self._floating:
            raise MechanismError(
                f"base: found {body!r}, expected a floating body: {', '.join(self._floating) or 'there is none'}"
            )
        p, v = self._position_slices[self._floating[body]], self._velocity_slices[self._floating[body]]
        parts = {
            "position": (q, slice(p.start, p.start + 3)), "orientation": (q, slice(p.start + 3, p.stop)),
            "velocity": (qd, slice(v.start, v.start + 3)), "angular_velocity": (qd, slice(v.start + 3, v.stop)),
        }  # fmt: skip
        for key, value in values.items():
            if key not in parts:
                raise MechanismError(f"base of {body!r}: found {key!r}, expected {', '.join(parts)}")
            target, span = parts[key]
            _put(target, span, value, f"base of {body!r}, {key}", single)


def names_of(given: Given) -> Collection[str]:
    """Names in what was given; a whole array has none."""
    return given.keys() if isinstance(given, Mapping) else ()


def _slices(widths: list[tuple[Joint, int]], names: list[str]) -> dict[str, slice]:
    """Columns of each joint and of each single coordinate."""
    spans: dict[str, slice] = {name: slice(i, i + 1) for i, name in enumerate(names)}
    start = 0
    for joint, width in widths:
        spans[joint.name] = slice(start, start + width)
        start += width
    return spans


def _assembly(mechanism: Mechanism, joint: Joint) -> Array:
    """Coordinates of the assembly pose: zero, the identity, or for a floating joint the child's pose in its parent."""
    if not joint.prototype.has_quaternion:
        return np.zeros(len(joint.prototype.positions))
    if joint.type == "spherical":
        return np.array([1.0, 0.0, 0.0, 0.0])
    return relative_pose(mechanism, joint.parent, joint.child)


def _fill(target: Array, given: Given, spans: dict[str, slice], what: str, single: bool) -> None:
    """Write what is given to rows (count, n), and NaN elsewhere."""
    if given is not None and not isinstance(given, Mapping):
        _put(target, slice(0, target.shape[1]), given, what, single)
        return
    target.fill(np.nan)
    if not given:
        return
    told = np.zeros(target.shape[1], np.bool_)
    for name, value in given.items():
        if name not in spans:
            raise MechanismError(
                f"{what}: found {name!r}, expected names among {', '.join(spans) or 'none, there are no coordinates'}"
            )
        span = spans[name]
        target[:, span] = _rows(value, span.stop - span.start, len(target), f"{what} of {name!r}", single)
        told[span] = True
    if not np.isfinite(target[:, told]).all():  # asked once for all of them
        for name, value in given.items():
            _require_finite(np.asarray(value, dtype=np.float64), f"{what} of {name!r}")


def _put(target: Array, span: slice, value: Any, what: str, single: bool) -> None:
    """Write finite values to columns of rows (count, n)."""
    rows = _rows(value, span.stop - span.start, len(target), what, single)
    _require_finite(rows, what)
    target[:, span] = rows


def _rows(value: Any, width: int, count: int, what: str, single: bool) -> Array:
    """What is given for one environment or for each, as an array that fits (count, width)."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MechanismError(f"{what}: found {value!r}, expected real numbers") from error
    if no_numbers(value):
        raise MechanismError(f"{what}: found {value!r}, expected real numbers")
    if array.shape == (width,) or (width == 1 and not array.shape):
        return array
    if not single and (array.shape == (count, width) or (width == 1 and array.shape == (count,))):
        return array.reshape(count, width)
    shapes: list[tuple[int, ...]] = [(width,), ()] if width == 1 else [(width,)]
    if not single:
        shapes += [(count, width), (count,)] if width == 1 else [(count, width)]
    raise MechanismError(f"{what}: found shape {array.shape}, expected {' or '.join(map(str, shapes))}")


def _require_finite(array: Array, what: str) -> None:
    if not np.isfinite(array).all():
        raise MechanismError(f"{what}: found {array[~np.isfinite(array)].ravel()[0]}, expected finite numbers")
