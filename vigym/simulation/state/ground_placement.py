"""Placement of floating bodies on the ground."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.contacts import contact_names
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.state.coordinates import Coordinates


class ContactGroup(NamedTuple):
    """Floating bodies that are placed as one, and the contacts, by index, of all they carry."""

    bodies: list[str]
    contacts: list[int]


class GroundPlacement:
    """Moves floating bodies along the ground's normal until their contacts just touch it.

    Args:
        mechanism: mechanism to place.
        coordinates: its joint coordinates.

    Attributes:
        possible: whether there is a ground, and a floating body with contacts.
    """

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates) -> None:
        ground, groups = mechanism.ground, contact_groups(mechanism)
        self.possible = ground is not None and bool(groups)
        self._normal = np.zeros(3) if ground is None else np.asarray(ground.normal)
        self._contacts = len(mechanism.ground_contact_names)  # these come first
        self._groups = [
            ([coordinates.base_columns(body) for body in group.bodies], group.contacts)
            for group in groups
        ]

    def place(self, positions: Array, gaps: Array) -> Array:
        """Return positions (count, n_positions) at which each group just touches the ground.

        Args:
            positions: (count, n_positions) to move from.
            gaps: (count, n_contacts) of the contacts there [m].
        """
        placed: Array = positions.copy()
        ground_gaps = gaps[:, : self._contacts]
        for columns, contacts in self._groups:
            offset = ground_gaps[:, contacts].min(axis=1)[:, None] * self._normal
            for base in columns:
                placed[:, base] -= offset
        return placed


def contact_groups(mechanism: Mechanism) -> list[ContactGroup]:
    """Return the floating bodies with contacts, grouped.

    Bodies whose trees are connected by loop-closing joints or contact pairs form a group. A group
    that a loop-closing joint connects to the world, or to a body fixed there, is left out.
    """
    roots = _roots(mechanism)
    label = {root: root for root in roots.values()}
    loops = [(roots[joint.parent], roots[joint.child]) for joint in mechanism.closing_joints]
    pairs = [(roots[a], roots[b]) for a, b in mechanism.pairs]
    for a, b in [*loops, *(pair for pair in pairs if WORLD not in pair)]:
        old, new = label[a], label[b]
        label = {root: new if name == old else name for root, name in label.items()}
    collisions = mechanism.collisions.values()
    contacts = [label[roots[c.body]] for c in collisions for _ in contact_names(c)]
    groups = []
    for name in dict.fromkeys(label.values()):
        if name != label[WORLD] and name in contacts:
            bodies = [root for root in label if label[root] == name]
            indices = [index for index, found in enumerate(contacts) if found == name]
            groups.append(ContactGroup(bodies, indices))
    return groups


def _roots(mechanism: Mechanism) -> dict[str, str]:
    """Return for each body the floating body at the root of its tree, or else the world."""
    carriers = {joint.child: joint for joint in mechanism.tree_joints}
    roots = {WORLD: WORLD}
    for body in carriers:
        root = body
        while carriers[root].parent != WORLD:
            root = carriers[root].parent
        roots[body] = root if carriers[root].type == "floating" else WORLD
    return roots
