"""Starts on the ground: floating bodies moved along its normal until what hangs on them just touches it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.core import readings
from vigym.mechanism.coordinates import Array, Coordinates
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.parts import WORLD
from vigym.mechanism.touching import contact_names


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
