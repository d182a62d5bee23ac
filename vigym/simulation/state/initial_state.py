"""Initial states: coordinates that close the loops, and floating bodies placed on the ground.

With loops, what is given is held and the rest follows. Floating bodies are moved along the ground's normal until what
hangs on them just touches it.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.core import assemble as kernels
from vigym.core import readings
from vigym.mechanism.elements.bodies import WORLD, Report
from vigym.mechanism.elements.contacts import contact_names
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.state.batch import LaneGroups
from vigym.simulation.state.coordinates import Array, Coordinates

LARGE, SMALL = 0.2, 0.01  # [rad or m] a move of the assembly, and a gap as a part of it, that do not go together
HELD = 1e-6  # part of the fastest rate by which a given one may be changed to close the loops
CLOSED = 1e-10  # scaled gap, and scaled rate of it, of loops that count as closed


class LoopStart:
    """Starts of a mechanism's loops and couplings, on the arrays of a simulator.

    Args:
        mechanism: whose joints are named in errors.
        coordinates: its coordinates.
        groups: the simulator's arrays.

    Attributes:
        needed: whether there is something to close.
        closing: joints that close loops -> their names and those of their coordinates.
    """

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates, groups: LaneGroups) -> None:
        self._coordinates, self._groups = coordinates, groups
        self.closing = {joint.name: {joint.name, *joint.names} for joint in mechanism.closing_joints}
        self._couplings = list(mechanism.couplings)
        self.needed = bool(self.closing or self._couplings)
        self._always = _always_weak(mechanism, coordinates) if self.needed else 0

    def __call__(
        self, rest: Array, given: tuple[Array, Array], rates: Array, chosen: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Positions (count, n_positions) and velocities (count, n_velocities) at which all loops are closed.

        Args:
            rest: (count, n_positions) of the assembly poses.
            given: positions and velocities that are held, NaN where they follow.
            rates: velocities to start from.
            chosen: (count,) environments that have to be closed.

        Raises:
            AssemblyError: the given values leave a loop open; names joints and gaps.
        """
        start = rest.copy()
        q, qd, tree = start.copy(), rates.copy(), slice(0, self._coordinates.tree_positions)
        held, held_rates = given[0].copy(), given[1].copy()
        held[:, tree.stop :] = np.nan
        for values, base, apart in zip((held, held_rates), (start, rates), self._coordinates.apart, strict=True):
            np.copyto(values, base, where=np.isnan(values) & apart)
        outcome = np.zeros((len(q), kernels.JOINT_GAPS + max(1, len(self.closing))))
        arguments = q, start.copy(), held, start, qd, held_rates, outcome
        self._groups.call((kernels.assemble_single, kernels.assemble_lanes), *arguments, chosen=chosen)
        self._check_singular(outcome[chosen], given[1][chosen], qd[chosen])
        fastest = np.maximum(1.0, np.abs(qd).max(axis=1, initial=0.0))
        self._check_closed(outcome, kernels.GAP_LEFT, 1.0, chosen)
        self._check_closed(outcome, kernels.RATE_LEFT, fastest, chosen)
        q[:, tree.stop :] = given[0][:, tree.stop :]
        qd[:, self._coordinates.tree_velocities :] = 0.0
        return q, qd

    def _check_singular(self, outcome: Array, given: Array, rates: Array) -> None:
        """Raise AssemblyError where rates were completed at a pose with more of them than the mechanism elsewhere."""
        if not (np.abs(given) > 0.0).any():  # no rates that others would follow
            return
        closed = outcome[:, kernels.GAP_LEFT] <= CLOSED
        many = closed & (outcome[:, kernels.WEAK_ROWS] > self._always)
        changed = np.nan_to_num(np.abs(rates - given)).max(axis=1, initial=0.0)
        moved = changed > HELD * np.abs(rates).max(axis=1, initial=1.0)
        if (many | (closed & moved)).any():
            raise AssemblyError(
                "velocities: found a pose where the loops leave more motions than elsewhere, so that several complete "
                "the given rates; name those of more joints of the loops, or start from another pose"
            )

    def _check_closed(self, outcome: Array, column: int, scale: Array | float, chosen: NDArray[np.bool_]) -> None:
        """Raise AssemblyError where a gap or its rate is left."""
        fine = outcome[:, column] <= CLOSED * scale
        if not (fine | ~chosen).all():
            row = int(np.argmax(chosen & ~fine))
            where = "" if self._groups.single else f" of environment {row}"
            raise AssemblyError(self._complaint(outcome[row], column, where))

    def _complaint(self, outcome: Array, column: int, where: str) -> str:
        names = [*self.closing] or self._couplings
        if column == kernels.RATE_LEFT:
            return (
                f"velocities{where}: found given rates that open a loop or coupling ({', '.join(names)}) by "
                f"{outcome[column]:.3g} length scales or rad a second, expected rates that keep it closed; name fewer "
                "joints"
            )
        if not self.closing:
            return (
                f"positions{where}: found values that leave a coupling ({', '.join(names)}) open by "
                f"{outcome[column]:.3g} m or rad, expected values at which all hold; name fewer joints"
            )
        gaps = outcome[kernels.JOINT_GAPS :]
        worst = int(np.argmax(gaps[: len(names)]))
        return (
            f"positions{where}: found values that leave joint {names[worst]!r} open by {gaps[worst]:.3g} m or rad, "
            "expected values at which every loop closes; name fewer joints"
        )


def _always_weak(mechanism: Mechanism, coordinates: Coordinates) -> int:
    """Number of loop rows that hold nothing at a generic pose."""
    structure = mechanism.structure
    imposed = sum(len(rows.translations) + len(rows.rotations) for rows in structure.closures.values())
    imposed += len(mechanism.couplings)
    return imposed - (coordinates.tree_velocities - structure.degrees_of_freedom)


def state_assembly(mechanism: Mechanism, coordinates: Coordinates) -> None:
    """Report how loops that are open at the assembly pose were closed; warn when a small gap took a large move."""
    gaps = {joint.name: _apart(joint) for joint in mechanism.closing_joints if joint.is_open}
    if not gaps:
        return
    zero = Coordinates.assembly_pose(mechanism)[: coordinates.tree_positions]
    moves = np.abs(coordinates.rest[: coordinates.tree_positions] - zero)
    farthest = int(np.argmax(moves))
    moved = f"{mechanism.position_names[farthest]!r} went farthest, to {coordinates.rest[farthest]:.6g}"
    if not any(entry.action == "assembled" for entry in mechanism.report):
        for name, gap in gaps.items():
            message = f"its halves are {gap:.3g} m or rad apart at the assembly pose; closed, {moved}"
            mechanism.report.append(Report("assembled", f"joint {name!r}", message))
    if moves[farthest] > LARGE and max(gaps.values()) < SMALL * moves[farthest]:
        warnings.warn(
            f"mechanism {mechanism.name!r}: closing joints {max(gaps.values()):.3g} m or rad apart took a large move "
            f"({moved}): do its lengths and axes fit?",
            stacklevel=4,
        )


def _apart(joint: Joint) -> float:
    """Distance [m] or angle [rad] of a joint's two halves at the assembly pose, the larger one."""
    turn = 2.0 * np.arctan2(np.linalg.norm(joint.child_rotation[1:]), abs(joint.child_rotation[0]))
    return float(max(np.linalg.norm(joint.child_position - joint.position), turn))


def closing_first(mechanism: Mechanism, names: Collection[str], given: Collection[str]) -> Mechanism:
    """The same bodies and joints, the closing joints ``names`` in the tree: others close their loops instead.

    Raises:
        AssemblyError: one of the ``given`` joints closes a loop then, or its halves are apart at the assembly pose.
    """
    other = Mechanism(mechanism.gravity, name=mechanism.name)
    for body in mechanism.bodies.values():
        other.add_body(body.name, body.mass, body.inertia, body.position, body.orientation)
    joints = sorted(mechanism.joints.values(), key=lambda joint: joint.name not in names)
    for joint in joints:
        if joint.name in names and joint.is_open:
            raise AssemblyError(
                f"found given coordinates of joint {joint.name!r}, whose loop is open at the assembly pose; "
                "name other joints of its loop"
            )
        other.add_joint(
            joint.name, joint.type, joint.parent, joint.child, joint.position, joint.axis, axis2=joint.axis2,
            child_position=joint.child_position, child_rotation=joint.child_rotation,
        )  # fmt: skip
    for coupling in mechanism.couplings.values():
        other.add_coupling(
            coupling.name, coupling.type, coupling.joint, coupling.other, coupling.ratio, coupling.offset
        )
    over = [joint.name for joint in other.closing_joints if joint.name in given or joint.names & set(given)]
    if over:
        raise AssemblyError(
            f"found given coordinates of {', '.join(sorted(given))}, of which {over[0]!r} follows from the others; "
            "name fewer joints"
        )
    return other


class Lift:
    """Lifts what floats onto the ground, or lowers it.

    Args:
        mechanism: what moves.
        coordinates: its coordinates.

    Attributes:
        possible: whether there is a ground, and something that can be moved to it.
    """

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates) -> None:
        ground, groups = mechanism.ground, hanging(mechanism)
        self.possible = ground is not None and bool(groups)
        self._normal = np.zeros(3) if ground is None else np.asarray(ground.normal)
        self._contacts = len(mechanism.ground_contact_names)  # those with the ground come first
        self._groups = [([coordinates.base_columns(body) for body in g.bodies], g.contacts) for g in groups]

    def __call__(self, positions: Array, touching: Array) -> Array:
        """Positions (count, n_positions), groups of bodies moved until each just touches.

        Args:
            positions: (count, n_positions), moved from.
            touching: (count, n_contacts, READ_CONTACT) readings of the contacts there.
        """
        moved: Array = positions.copy()
        gaps = touching[:, : self._contacts, readings.CONTACT_GAP]
        for columns, contacts in self._groups:
            down = gaps[:, contacts].min(axis=1)[:, None] * self._normal
            for base in columns:
                moved[:, base] -= down
        return moved


class Group(NamedTuple):
    """Floating bodies that keep their places to each other, and the contacts, by number, of what hangs on them."""

    bodies: list[str]
    contacts: list[int]


def hanging(mechanism: Mechanism) -> list[Group]:
    """What `Lift` moves as one: floating bodies whose trees closing joints or pairs join.

    Left out is what a closing joint holds to the world, or to what is fixed there, and what has no contacts.
    """
    roots = _roots(mechanism)
    label = {root: root for root in roots.values()}
    held = [(roots[joint.parent], roots[joint.child]) for joint in mechanism.closing_joints]
    pairs = [(roots[a], roots[b]) for a, b in mechanism.pairs]
    for a, b in [*held, *(pair for pair in pairs if WORLD not in pair)]:
        old, new = label[a], label[b]
        label = {root: new if name == old else name for root, name in label.items()}
    contacts = [label[roots[c.body]] for c in mechanism.collisions.values() for _ in contact_names(c)]
    groups = []
    for name in dict.fromkeys(label.values()):
        if name != label[WORLD] and name in contacts:
            bodies = [root for root in label if label[root] == name]
            groups.append(Group(bodies, [index for index, found in enumerate(contacts) if found == name]))
    return groups


def _roots(mechanism: Mechanism) -> dict[str, str]:
    """The floating body that each body hangs on; the world where it hangs on none."""
    carriers = {joint.child: joint for joint in mechanism.tree_joints}
    roots = {WORLD: WORLD}
    for body in carriers:
        root = body
        while carriers[root].parent != WORLD:
            root = carriers[root].parent
        roots[body] = root if carriers[root].type == "floating" else WORLD
    return roots
