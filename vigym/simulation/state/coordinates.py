"""Joint coordinates and velocities by name: columns, defaults, checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import LARGEST, Array, has_bools_or_strings
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import tree_joints_on_loops
from vigym.mechanism.topology.joint_frames import relative_pose

# joint or coordinate name -> value, or all values
Given = Mapping[str, ArrayLike] | ArrayLike | None
# floating body -> part of its pose or velocity -> value
Base = Mapping[str, Mapping[str, ArrayLike]] | None


class Coordinates:
    """Positions and velocities of a mechanism's joints: names, assembly pose, checks.

    Args:
        mechanism: mechanism whose joints they belong to.

    Attributes:
        position_names, velocity_names: names of all coordinates and velocities.
        tree_positions, tree_velocities: number of coordinates and velocities of the tree's joints;
            those of loop-closing joints follow.
        assembled: (n_positions,) coordinates of the assembly pose, loops closed.
        independent: masks of the positions (n_positions,) and velocities (n_velocities,) of tree
            joints that no loop and no coupling constrains.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        joints = mechanism.ordered_joints
        tree = mechanism.tree_joints
        self.position_names = mechanism.position_names
        self.velocity_names = mechanism.velocity_names
        self.tree_positions = sum(len(joint.joint_type.positions) for joint in tree)
        self.tree_velocities = sum(joint.dofs for joint in tree)
        self.assembled = self.assembled_pose(mechanism)
        self._has_angles = {j.name: 0 < len(j.joint_type.rotations) < 3 for j in joints}
        self._translations = {j.name: len(j.joint_type.translations) for j in joints}
        widths = [(joint, len(joint.joint_type.positions)) for joint in joints]
        self._position_spans = _spans(widths, self.position_names)
        widths = [(joint, joint.dofs) for joint in joints]
        self._velocity_spans = _spans(widths, self.velocity_names)
        floating = [j for j in tree if j.type == "floating" and j.parent == "world"]
        self._floating = {joint.child: joint.name for joint in floating}
        quaternions = [self._position_spans[j.name] for j in joints if j.joint_type.has_quaternion]
        self._quaternions = [slice(span.stop - 4, span.stop) for span in quaternions]
        free = _unconstrained_joints(mechanism)
        self.independent = (
            _mask(free, self._position_spans, len(self.position_names)),
            _mask(free, self._velocity_spans, len(self.velocity_names)),
        )

    @staticmethod
    def built_pose(mechanism: Mechanism) -> Array:
        """Return the coordinates (n_positions,) at which bodies were added, loops left open."""
        parts = [_joint_assembly(mechanism, joint) for joint in mechanism.ordered_joints]
        return np.concatenate([np.zeros(0), *parts])

    @staticmethod
    def assembled_pose(mechanism: Mechanism) -> Array:
        """Return the coordinates (n_positions,) of the assembly pose, loops closed."""
        pose = Coordinates.built_pose(mechanism)
        limits = [joint.limits for joint in mechanism.tree_joints if joint.limits is not None]
        if (
            mechanism.closing_joints
            or mechanism.couplings
            or any((each[:, 0] > 0.0).any() or (each[:, 1] < 0.0).any() for each in limits)
        ):
            pose[: len(mechanism.structure.assembly)] = mechanism.structure.assembly
        return pose

    def arrays(
        self, count: int, single: bool, positions: Given, velocities: Given, base: Base
    ) -> tuple[Array, Array]:
        """Check given values and return them as arrays, NaN where nothing is given.

        Where some components of a quaternion are given, the others are as assembled. Quaternions
        are scaled to length one.

        Args:
            count: number of environments.
            single: whether there is one environment without a leading axis.
            positions: values by joint or coordinate name, or a whole array.
            velocities: values by joint or velocity name, or a whole array.
            base: poses and velocities of floating bodies.

        Returns:
            Positions (count, n_positions) and velocities (count, n_velocities).

        Raises:
            MechanismError: unknown names, wrong shapes, values that are not finite, quaternions of
                length zero.
        """
        q = np.empty((count, len(self.position_names)))
        qd = np.empty((count, len(self.velocity_names)))
        _write_given(q, positions, self._position_spans, "positions", single)
        _write_given(qd, velocities, self._velocity_spans, "velocities", single)
        _require_mapping(base or {}, "base", "floating body -> values")
        for body, values in (base or {}).items():
            self._write_base(q, qd, body, values, single)
        for quaternion in self._quaternions:
            if isinstance(positions, Mapping):
                self._complete(q, quaternion)
            squares = (q[:, quaternion] * q[:, quaternion]).sum(axis=1, keepdims=True)
            length = np.sqrt(squares)
            if (length < 1e-6).any():
                raise MechanismError(
                    "positions: found a quaternion of length 0, expected (w, x, y, z) of length 1"
                )
            q[:, quaternion] /= length
        return q, qd

    def _complete(self, q: Array, quaternion: slice) -> None:
        """Take components of a quaternion that are not given from the assembly, if others are."""
        missing = np.isnan(q[:, quaternion])
        if missing.any() and not missing.all():
            np.copyto(q[:, quaternion], self.assembled[quaternion], where=missing)

    def remove_turns(self, given: Given, joints: Collection[str]) -> Given:
        """Reduce angles of the named joints to [-pi, pi]: full turns do not change the pose."""
        if not isinstance(given, Mapping):
            return given
        return {
            name: self._remove_turns(name, value) if name in joints else value
            for name, value in given.items()
        }

    def _remove_turns(self, name: str, value: ArrayLike) -> ArrayLike:
        if not self._has_angles[name]:
            return value
        given = np.asarray(value, dtype=np.float64)
        angles = given - 2.0 * np.pi * np.round(given / (2.0 * np.pi))
        columns = np.arange(max(1, given.shape[-1] if given.ndim else 1))
        reduced = np.where(columns < self._translations[name], given, angles)
        return reduced.reshape(given.shape)

    def reorder(self, other: Mechanism, positions: Array, velocities: Array) -> tuple[Array, Array]:
        """Reorder coordinates of a mechanism with the same names; NaN for names that it lacks.

        Args:
            other: mechanism whose order the arrays have.
            positions: (count, n_positions) of it.
            velocities: (count, n_velocities) of it.
        """
        q = _reorder(self.position_names, other.position_names, positions)
        qd = _reorder(self.velocity_names, other.velocity_names, velocities)
        return q, qd

    def _write_base(
        self, q: Array, qd: Array, body: str, values: Mapping[str, ArrayLike], single: bool
    ) -> None:
        if body not in self._floating:
            names = ", ".join(self._floating) or "there is none"
            raise MechanismError(f"base: found {body!r}, expected a floating body: {names}")
        position = self._position_spans[self._floating[body]]
        velocity = self._velocity_spans[self._floating[body]]
        parts = {
            "position": (q, slice(position.start, position.start + 3)),
            "orientation": (q, slice(position.start + 3, position.stop)),
            "velocity": (qd, slice(velocity.start, velocity.start + 3)),
            "angular_velocity": (qd, slice(velocity.start + 3, velocity.stop)),
        }
        _require_mapping(values, f"base of {body!r}", "position, orientation or velocities by name")
        for key, value in values.items():
            if key not in parts:
                raise MechanismError(
                    f"base of {body!r}: found {key!r}, expected {', '.join(parts)}"
                )
            target, span = parts[key]
            _write_columns(target, span, value, f"base of {body!r}, {key}", single)


def given_names(given: Given) -> Collection[str]:
    """Return the names in given values; a whole array has none."""
    return given.keys() if isinstance(given, Mapping) else ()


def _spans(widths: list[tuple[Joint, int]], names: list[str]) -> dict[str, slice]:
    """Return the columns of each joint and of each single coordinate, by name."""
    spans: dict[str, slice] = {name: slice(i, i + 1) for i, name in enumerate(names)}
    start = 0
    for joint, width in widths:
        spans[joint.name] = slice(start, start + width)
        start += width
    return spans


def _unconstrained_joints(mechanism: Mechanism) -> list[str]:
    """Return the names of tree joints that no loop and no coupling constrains."""
    couplings = mechanism.couplings.values()
    coupled = {name for coupling in couplings for name in (coupling.joint, coupling.other)}
    tree = mechanism.tree_joints
    constrained = {
        *tree_joints_on_loops(mechanism),
        *(j.name for j in tree if coupled & j.coordinate_names),
    }
    return [joint.name for joint in tree if joint.name not in constrained]


def _mask(joints: list[str], spans: dict[str, slice], size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, np.bool_)
    for name in joints:
        mask[spans[name]] = True
    return mask


def _joint_assembly(mechanism: Mechanism, joint: Joint) -> Array:
    """Return a joint's coordinates at the assembly pose.

    Zero, the identity, or for a floating joint the pose of its child in its parent.
    """
    if joint.type == "floating":
        return relative_pose(mechanism, joint.parent, joint.child)
    coordinates = np.zeros(len(joint.joint_type.positions))
    if joint.joint_type.has_quaternion:
        coordinates[-4] = 1.0
    return coordinates


def _reorder(names: list[str], others: list[str], values: Array) -> Array:
    """Return columns ordered as ``names`` from those ordered as ``others``, NaN where missing."""
    rows = np.atleast_2d(values)
    table = np.full((rows.shape[0], len(names)), np.nan)
    common = [name for name in names if name in others]
    columns = [names.index(name) for name in common]
    table[:, columns] = rows[:, [others.index(name) for name in common]]
    return table


def _write_given(
    target: Array, given: Given, spans: dict[str, slice], label: str, single: bool
) -> None:
    """Write given values to rows (count, n), and NaN elsewhere."""
    if given is not None and not isinstance(given, Mapping):
        _write_columns(target, slice(0, target.shape[1]), given, label, single)
        return
    target.fill(np.nan)
    if not given:
        return
    written = np.zeros(target.shape[1], np.bool_)
    for name, value in given.items():
        if name not in spans:
            names = ", ".join(spans) or "none, there are no coordinates"
            raise MechanismError(f"{label}: found {name!r}, expected names among {names}")
        span = spans[name]
        width = span.stop - span.start
        target[:, span] = _rows(value, width, len(target), f"{label} of {name!r}", single)
        written[span] = True
    if not (np.abs(target[:, written]) <= LARGEST).all():  # one check for all of them
        for name, value in given.items():
            _require_finite(np.asarray(value, dtype=np.float64), f"{label} of {name!r}")


def _write_columns(target: Array, span: slice, value: Any, label: str, single: bool) -> None:
    """Write finite values to columns of rows (count, n)."""
    rows = _rows(value, span.stop - span.start, len(target), label, single)
    _require_finite(rows, label)
    target[:, span] = rows


def _rows(value: Any, width: int, count: int, label: str, single: bool) -> Array:
    """Return values given for one environment or each, in a shape that fits (count, width)."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MechanismError(f"{label}: found {value!r}, expected real numbers") from error
    if has_bools_or_strings(value):
        raise MechanismError(f"{label}: found {value!r}, expected real numbers")
    if array.shape == (width,) or (width == 1 and not array.shape):
        return array
    if not single and (array.shape == (count, width) or (width == 1 and array.shape == (count,))):
        return array.reshape(count, width)
    shapes: list[tuple[int, ...]] = [(width,), ()] if width == 1 else [(width,)]
    if not single:
        shapes += [(count, width), (count,)] if width == 1 else [(count, width)]
    expected = " or ".join(map(str, shapes))
    raise MechanismError(f"{label}: found shape {array.shape}, expected {expected}")


def _require_mapping(value: Any, label: str, expected: str) -> None:
    if not isinstance(value, Mapping):
        raise MechanismError(f"{label}: found {value!r}, expected a dictionary, {expected}")


def _require_finite(array: Array, label: str) -> None:
    fits = np.abs(array) <= LARGEST
    if np.count_nonzero(fits) < array.size:
        found = array[~fits].ravel()[0]
        expected = "finite numbers" + f" up to {LARGEST:g}" * bool(np.isfinite(found))
        raise MechanismError(f"{label}: found {found}, expected {expected}")
