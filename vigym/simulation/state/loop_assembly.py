"""Assembly of loops and couplings: coordinates and velocities at which they are closed."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from vigym.core.kernels import assemble
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.analysis import limit_notes
from vigym.simulation.plant import Plant
from vigym.simulation.state.coordinates import Coordinates

# a warning is due where a small gap of a loop takes a large move of a coordinate to close
LARGE_MOVE = 0.2  # [rad or m]
SMALL_GAP = 0.01  # part of that move
OFF_SINGULAR = 1e-3  # part of a loop's size: from poses so far off singular ones steps are made
RATE_CHANGE = 1e-6  # part of the fastest rate by which a given one may change to close the loops
CLOSED = 1e-10  # scaled gap, and scaled rate of it, of loops that count as closed


class LoopAssembly:
    """Assembly of a plant's loops and couplings.

    Args:
        plant: mechanism and memory.

    Attributes:
        needed: whether there are loops or couplings to close.
        closing: loop-closing joint -> names of the joint and its coordinates.
    """

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self._couplings = [*plant.mechanism.couplings, *plant.mechanism.tracks]
        joints = plant.mechanism.closing_joints
        self.closing = {joint.name: {joint.name, *joint.coordinate_names} for joint in joints}
        self.needed = bool(self.closing or self._couplings or plant.mechanism.tracks)
        self._redundant = _redundant_rows(plant) if self.needed else 0

    def close(
        self, given: tuple[Array, Array], start_rates: Array, mask: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Return coordinates and velocities at which all loops and couplings are closed.

        Args:
            given: positions (count, n_positions) and velocities (count, n_velocities) that are
                held, NaN where they follow.
            start_rates: (count, n_velocities) to start from.
            mask: (count,) environments to close.

        Raises:
            AssemblyError: the given values leave a loop open; names joints and gaps.
        """
        coordinates = self._plant.coordinates
        closing_positions = slice(coordinates.tree_positions, None)
        start = self._plant.assembled.copy(), start_rates.copy()
        held = given[0].copy(), given[1].copy()
        held[0][:, closing_positions] = np.nan
        for values, base, independent in zip(held, start, coordinates.independent, strict=True):
            np.copyto(values, base, where=np.isnan(values) & independent)
        q, qd, result = self._plant.assemble(held, start, mask)
        self._check_singular(result[mask], given[1][mask], qd[mask])
        fastest = np.maximum(1.0, np.abs(qd).max(axis=1, initial=0.0))
        self._check_closed(result, assemble.GAP_LEFT, 1.0, mask)
        self._check_closed(result, assemble.RATE_LEFT, fastest, mask)
        q[:, closing_positions] = given[0][:, closing_positions]
        qd[:, coordinates.tree_velocities :] = 0.0
        return q, qd

    def _check_singular(self, result: Array, given: Array, rates: Array) -> None:
        """Raise AssemblyError where rates were completed at a singular pose.

        There the given rates do not determine the others.
        """
        if not (np.abs(given) > 0.0).any():  # no rates that others would follow
            return
        closed = result[:, assemble.GAP_LEFT] <= CLOSED
        singular = closed & (result[:, assemble.WEAK_ROWS] > self._redundant)
        change = np.nan_to_num(np.abs(rates - given)).max(axis=1, initial=0.0)
        changed = change > RATE_CHANGE * np.abs(rates).max(axis=1, initial=1.0)
        if (singular | (closed & changed)).any():
            raise AssemblyError(
                "velocities: found a singular pose of the loops, where the given velocities do not "
                "determine the others; expected those of more joints of the loops, or another pose"
            )

    def _check_closed(
        self, result: Array, column: int, scale: Array | float, mask: NDArray[np.bool_]
    ) -> None:
        """Raise AssemblyError where a gap or its rate is left."""
        closed = result[:, column] <= CLOSED * scale
        if not (closed | ~mask).all():
            row = int(np.argmax(mask & ~closed))
            where = "" if self._plant.single else f" of environment {row}"
            raise AssemblyError(self._message(result[row], column, where))

    def _message(self, result: Array, column: int, where: str) -> str:
        names = [*self.closing] or self._couplings
        listed = ", ".join(names)
        if column == assemble.RATE_LEFT:
            return (
                f"velocities{where}: found given rates that open a loop or coupling ({listed}) by "
                f"{result[column]:.3g} length scales or rad a second, expected rates that keep it "
                "closed; name fewer joints"
            )
        if not self.closing:
            return (
                f"positions{where}: found values that leave a coupling, curve or surface joint "
                f"({listed}) open by "
                f"{result[column]:.3g} m or rad, expected values at which all hold; name fewer "
                "joints"
            )
        gaps = result[assemble.JOINT_GAPS :]
        worst = int(np.argmax(gaps[: len(names)]))
        return (
            f"positions{where}: found values that leave joint {names[worst]!r} open by "
            f"{gaps[worst]:.3g} m or rad, expected values at which every loop closes; name fewer "
            "joints"
        )


def _redundant_rows(plant: Plant) -> int:
    """Return the number of loop rows that constrain nothing at a generic pose."""
    structure = plant.mechanism.structure
    constraints = structure.loop_constraints.values()
    imposed = sum(len(rows.translations) + len(rows.rotations) for rows in constraints)
    imposed += len(plant.mechanism.couplings)
    imposed += sum(track.rows for track in plant.mechanism.tracks.values())
    return imposed - (plant.coordinates.tree_velocities - structure.dofs)


def report_assembly(mechanism: Mechanism, coordinates: Coordinates) -> None:
    """Add notes on loops that were open at the assembly pose, and on singular loops.

    Warns when a small gap took a large move, and of singular poses.
    """
    _report_singular(mechanism)
    noted = {(note.action, note.element) for note in mechanism.notes}
    beyond = limit_notes(mechanism.structure)
    mechanism.notes += [note for note in beyond if (note.action, note.element) not in noted]
    open_joints = [joint for joint in mechanism.closing_joints if joint.is_open]
    gaps = {joint.name: _gap(joint) for joint in open_joints}
    if not gaps:
        return
    tree = slice(0, coordinates.tree_positions)
    moves = np.abs(coordinates.assembled[tree] - Coordinates.built_pose(mechanism)[tree])
    farthest = int(np.argmax(moves))
    name, position = mechanism.position_names[farthest], coordinates.assembled[farthest]
    moved = f"{name!r} went farthest, to {position:.6g}"
    if not any(action == "assembled" for action, _ in noted):
        for name, gap in gaps.items():
            message = (
                f"its joint frames are {gap:.3g} m or rad apart at the assembly pose; closed, "
                f"{moved}"
            )
            mechanism.notes.append(Note("assembled", f"joint {name!r}", message))
    largest = max(gaps.values())
    if moves[farthest] > LARGE_MOVE and largest < SMALL_GAP * moves[farthest]:
        warnings.warn(
            f"mechanism {mechanism.name!r}: a gap of {largest:.3g} m or rad in closing joints took "
            f"a large move of other joints ({moved}) to close: check lengths and axes",
            stacklevel=3,
        )


def _report_singular(mechanism: Mechanism) -> None:
    """Add a note, and warn, that the loops have more motions at the assembly than elsewhere."""
    names = mechanism.structure.singular_joints
    if not names or any(entry.action == "singular" for entry in mechanism.notes):
        return
    listed = ", ".join(repr(name) for name in names)
    message = (
        "found constraints that depend on each other at the assembly pose, or almost, but not next "
        "to it, or that let nothing move from there, as in a taut net; expected a pose where the "
        "loops have no more motions than elsewhere; which of them a first step from there takes is "
        "undecided, and it may not converge: move bodies or joints "
        f"off that pose by {OFF_SINGULAR:g} of the loop's size, or start from other positions"
    )
    mechanism.notes.append(Note("singular", f"joints {listed}", message))
    warnings.warn(f"mechanism {mechanism.name!r} joints {listed}: {message}", stacklevel=4)


def _gap(joint: Joint) -> float:
    """Return the larger of distance [m] and angle [rad] of a joint's frames at assembly."""
    rotation = joint.child_rotation
    angle = 2.0 * np.arctan2(np.linalg.norm(rotation[1:]), abs(rotation[0]))
    return float(max(np.linalg.norm(joint.child_position - joint.position), angle))


def with_tree_joints(
    mechanism: Mechanism, names: Collection[str], given: Collection[str]
) -> Mechanism:
    """Return a mechanism of the same bodies and joints with other joints closing the loops.

    Args:
        mechanism: mechanism with loops.
        names: loop-closing joints that are to be joints of the tree.
        given: names of joints and coordinates that are to stay in the tree.

    Raises:
        AssemblyError: one of the given joints closes a loop then, or one of the names is open at
            the assembly pose.
    """
    other = Mechanism(mechanism.gravity, name=mechanism.name)
    for body in mechanism.bodies.values():
        other.add_body(body.name, body.mass, body.inertia, body.position, body.orientation)
    for joint in sorted(mechanism.joints.values(), key=lambda joint: joint.name not in names):
        if joint.name in names and joint.is_open:
            raise AssemblyError(
                f"found given coordinates of joint {joint.name!r}, whose loop is open at the "
                "assembly pose; name other joints of its loop"
            )
        other.add_joint(
            joint.name,
            joint.type,
            joint.parent,
            joint.child,
            joint.position,
            joint.axis,
            axis2=joint.axis2,
            child_position=joint.child_position,
            child_rotation=joint.child_rotation,
        )
    for coupling in mechanism.couplings.values():
        other.add_coupling(
            coupling.name,
            coupling.type,
            coupling.joint,
            coupling.other,
            coupling.ratio,
            coupling.offset,
        )
    _check_independent(other, set(given))
    return other


def _check_independent(mechanism: Mechanism, given: set[str]) -> None:
    """Raise AssemblyError where a given joint or coordinate is one of a loop-closing joint."""
    for joint in mechanism.closing_joints:
        if joint.name in given or joint.coordinate_names & given:
            raise AssemblyError(
                f"found given coordinates of {', '.join(sorted(given))}, of which {joint.name!r} "
                "follows from the others; name fewer joints"
            )
