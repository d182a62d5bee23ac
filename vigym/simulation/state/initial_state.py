"""Initial states: given coordinates, completed so that loops close, optionally on the ground."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.core.contact.at_knot import CLOSED_GAP
from vigym.core.kernels.read import READ_GAP
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import AssemblyError, MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import FreeBase, free_bases
from vigym.simulation.parameters.parameters import Parameters
from vigym.simulation.plant import Plant
from vigym.simulation.state.coordinates import Base, Given, given_names
from vigym.simulation.state.loop_assembly import LoopAssembly, with_tree_joints
from vigym.simulation.state.options import Options
from vigym.simulation.state.readings import Readings

# part of a start by which a given one may differ from that of a prescribed motion
STARTED = 1e-6
MOST_NAMED = 5  # contacts that an error names
OPEN = 1e-8  # [m or rad] gap of curve and surface joints that a start may not have


class InitialState:
    """Initial states of a plant.

    Args:
        plant: mechanism and memory.
        readings: its readings.
        parameters: its parameters.
    """

    def __init__(self, plant: Plant, readings: Readings, parameters: Parameters) -> None:
        self._plant = plant
        self._readings = readings
        self._parameters = parameters
        self._loops = LoopAssembly(plant)

    @cached_property
    def _ground_placement(self) -> GroundPlacement:
        return GroundPlacement(self._plant.mechanism)

    def reset(
        self,
        positions: Given,
        velocities: Given,
        base: Base,
        mask: NDArray[np.bool_],
        place_on_ground: bool,
        terrain_map: ArrayLike | None = None,
        overlaps: str = "hold",
    ) -> None:
        """Start the environments of a mask (count,), see `Simulator.reset`."""
        q, qd = self._complete(positions, velocities, base, mask)
        checked = bool(self._plant.mechanism.tracks) or overlaps == "refuse"
        before = self._plant.pack_state() if checked else None
        if terrain_map is not None:
            self._plant.set_terrain_maps(terrain_map, mask)
        self._place(q, qd, mask)
        if place_on_ground and self._ground_placement.possible:
            self._place_on_ground(q, qd, mask)
        if before is not None:
            self._check_places(before, mask)
            if overlaps == "refuse":
                self._refuse_overlaps(before, mask)
        self._plant.start(mask)
        self._readings.update(mask)
        self._readings.restart(mask)

    def _place_on_ground(self, q: Array, qd: Array, mask: NDArray[np.bool_]) -> None:
        """Move bases until they just touch the ground, each environment by itself."""
        moving = mask.copy()
        for _ in range(self._ground_placement.moves):
            moved = self._ground_placement.place(q, self._readings.gaps)
            self._place(moved, qd, moving)
            far = np.nanmax(np.abs(moved - q), axis=1) >= PLACED
            q = np.where(moving[:, None], moved, q)
            moving &= far
            if not moving.any():
                break

    def _check_places(self, before: Array, mask: NDArray[np.bool_]) -> None:
        """Raise AssemblyError where curve or surface joints are open; the state is then as before.

        From the places at the assembly others were found then than those that were closed.
        """
        gaps = self._readings.scalar(READ_GAP)
        if (gaps[mask] > OPEN).any():
            worst = float(gaps[mask].max())
            self._plant.unpack_state(before)
            self._readings.clear()
            raise AssemblyError(
                f"positions: found curve or surface joints open by {worst:.3g} m or rad, expected "
                "poses whose places of touch are nearer to those of the assembly"
            )

    def _refuse_overlaps(self, before: Array, mask: NDArray[np.bool_]) -> None:
        """Raise AssemblyError where contacts start deep; the state is then as before."""
        gaps = np.where(mask[:, None], self._readings.gaps, 0.0)
        deep = gaps.min(axis=0, initial=0.0)
        if (deep < -CLOSED_GAP).any():
            self._plant.unpack_state(before)
            self._readings.clear()
            names, count = self._plant.mechanism.contact_names, np.count_nonzero(deep < -CLOSED_GAP)
            worst = deep.argsort()[: min(count, MOST_NAMED)]
            found = ", ".join(f"{names[k]!r} {-deep[k]:.3g} m" for k in worst)
            raise AssemblyError(
                f"overlaps: found {count} contacts below the ground or in another body, deepest "
                f"{found}, expected none; place_on_ground=True lifts floating bodies"
            )

    def _place(self, q: Array, qd: Array, mask: NDArray[np.bool_]) -> None:
        self._plant.place(q, qd, mask)
        self._readings.update(mask)

    def _complete(
        self, positions: Given, velocities: Given, base: Base, mask: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Return complete coordinates (count, n_positions) and velocities (count, n_velocities).

        Joints without given values follow, from the assembly pose at rest.
        """
        plant = self._plant
        q, qd = plant.coordinates.arrays(plant.count, plant.single, positions, velocities, base)
        if plant.is_imposed:
            self._start_motions(q, qd, mask)
        if not self._loops.needed:
            # whole arrays are finite: they were checked
            return (
                q if type(positions) is np.ndarray else _filled(q, plant.assembled),
                qd if type(velocities) is np.ndarray else _filled(qd, 0.0),
            )
        names = {*given_names(positions), *given_names(velocities)}
        closing = {name for name, own in self._loops.closing.items() if names & own}
        if closing:
            reduced = plant.coordinates.remove_turns(positions, closing)
            start = self._through_closing_joints(closing, reduced, velocities, base, mask)
            turns = slice(plant.coordinates.tree_positions, None)  # as they were given
            start[0][:, turns] = _filled(q[:, turns], start[0][:, turns])
            q, qd = start
        rates = np.where(np.isnan(qd), 0.0, qd)
        if not (closing or velocities is None or isinstance(velocities, Mapping)):
            qd[:] = np.nan  # a whole array is projected
            self._start_motions(q, qd, mask)
        return self._loops.close((q, qd), rates, mask)

    def _start_motions(self, q: Array, qd: Array, mask: NDArray[np.bool_]) -> None:
        """Write the start of prescribed motions to coordinates and velocities (count, n).

        Raises:
            MechanismError: another value is given.
        """
        mechanism = self._plant.mechanism
        for name, motion in mechanism.motions.items():
            columns = mechanism.position_names.index(name), mechanism.velocity_names.index(name)
            for table, column, start in zip((q, qd), columns, motion.at(0.0), strict=True):
                given = table[mask, column]
                off = np.abs(np.where(np.isnan(given), start, given) - start)
                if (off > STARTED * max(1.0, abs(start))).any():
                    raise MechanismError(
                        f"motion of {name!r}: found a start at {given[off.argmax()]:g}, expected "
                        f"{start:g}, as the motion prescribes at 0 s"
                    )
                table[:, column] = start

    def _through_closing_joints(
        self,
        closing: set[str],
        positions: Given,
        velocities: Given,
        base: Base,
        mask: NDArray[np.bool_],
    ) -> tuple[Array, Array]:
        """Complete values given for loop-closing joints, on a mechanism with these in its tree.

        Args:
            closing: names of the loop-closing joints.
            positions: given positions.
            velocities: given velocities.
            base: given poses and velocities of floating bodies.
            mask: (count,) environments to complete.

        Raises:
            AssemblyError: a loop that cannot be closed, or too many given values.
        """
        names = {*given_names(positions), *given_names(velocities)}
        options = Options(timestep=self._plant.options.timestep, batch=self._plant.options.batch)
        other = Plant(with_tree_joints(self._plant.mechanism, closing, names), options)
        readings = Readings(other)
        start = InitialState(other, readings, Parameters(other))
        start.reset(None, None, None, np.ones(other.count, bool), place_on_ground=False)
        environments = self._parameters.environments_with_factors()
        mechanisms = [self._parameters.mechanism_of(e) for e in environments]
        mechanisms = [with_tree_joints(mechanism, closing, names) for mechanism in mechanisms]
        other.set_mechanisms(environments, mechanisms)
        readings.clear()
        start.reset(positions, velocities, base, mask, place_on_ground=False)
        return self._plant.coordinates.reorder(
            other.mechanism, readings.joint_positions, readings.joint_velocities
        )


def _filled(given: Array, others: Array | float) -> Array:
    """Return given values (count, n), or a copy with others where they are NaN."""
    missing = np.isnan(given)
    return np.where(missing, others, given) if np.count_nonzero(missing) else given


PLACED = 1e-12  # [m] move on terrain after which the bodies are placed
MOST_MOVES = 200  # on terrain, where a move along z does not just close the gap along a normal


class ContactGroup(NamedTuple):
    """Bases that are placed as one, and the contacts, by index, of all bodies that they carry."""

    bases: list[FreeBase]
    contacts: list[int]


class GroundPlacement:
    """Placement of bases until the contacts of what they carry just touch the ground.

    Those that float move along its normal, others in their plane.

    Args:
        mechanism: mechanism to place.

    Attributes:
        possible: whether there is a ground, and a base that can be placed, with contacts.
        moves: largest number of moves: on a plane one is exact.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        groups = contact_groups(mechanism)
        self.possible = bool(groups)
        self.moves = MOST_MOVES if mechanism.planes_of_ground > 1 else 1
        self._contacts = len(mechanism.ground_contact_names)  # these come first
        self._groups = [(_lift(mechanism, group.bases), group.contacts) for group in groups]

    def place(self, positions: Array, gaps: Array) -> Array:
        """Return positions (count, n_positions) at which each group just touches the ground.

        Args:
            positions: (count, n_positions) to move from.
            gaps: (count, n_contacts) of the contacts there [m].
        """
        placed: Array = positions.copy()
        ground_gaps = gaps[:, : self._contacts]
        for lift, contacts in self._groups:
            placed -= ground_gaps[:, contacts].min(axis=1)[:, None] * lift
        return placed


def _lift(mechanism: Mechanism, group: list[FreeBase]) -> Array:
    """Return the changes of all positions (n_positions,) that raise a group by 1 m."""
    assert mechanism.ground is not None
    names = mechanism.position_names
    changes = np.zeros(len(names))
    for base in group:
        changes[[names.index(name) for name in base.translations]] = base.lift(
            mechanism.ground.normal
        )
    return changes


def contact_groups(mechanism: Mechanism) -> list[ContactGroup]:
    """Return the bases that can be placed on the ground and have contacts, grouped.

    Bodies whose trees are connected by loop-closing joints or contact pairs form a group. A group
    that a loop-closing joint connects to the world, or to a body fixed there, is left out.
    """
    if mechanism.ground is None:
        return []
    movable = {
        base.joints[0].child: base
        for base in free_bases(mechanism)
        if base.lift(mechanism.ground.normal) is not None
    }
    roots = _roots(mechanism, movable)
    label = {root: root for root in roots.values()}
    loops = [(roots[joint.parent], roots[joint.child]) for joint in mechanism.closing_joints]
    pairs = [(roots[a], roots[b]) for a, b in mechanism.pairs]
    for a, b in [*loops, *(pair for pair in pairs if WORLD not in pair)]:
        old, new = label[a], label[b]
        label = {root: new if name == old else name for root, name in label.items()}
    contacts = [label[roots[body]] for body in mechanism.ground_contact_bodies]
    groups = []
    for name in dict.fromkeys(label.values()):
        if name != label[WORLD] and name in contacts:
            group = [movable[root] for root in label if label[root] == name]
            indices = [index for index, found in enumerate(contacts) if found == name]
            groups.append(ContactGroup(group, indices))
    return groups


def _roots(mechanism: Mechanism, movable: Collection[str]) -> dict[str, str]:
    """Return for each body that at the root of its tree, if it is among movable, or the world."""
    carriers = {joint.child: joint for joint in mechanism.tree_joints}
    roots = {WORLD: WORLD}
    for body in carriers:
        root = body
        while carriers[root].parent != WORLD:
            root = carriers[root].parent
        roots[body] = root if root in movable else WORLD
    return roots
