"""Slots of contacts in the tables of one environment, where alike ones lie side by side in lanes.

Where most bodies touch the plane of the ground by balls alike, as the links of a snake do, contacts
are *aligned*: each lies in the lane of its body. A block holds one contact of each of its bodies,
and bodies without one have an empty slot, a ball far above the ground. Kernels then combine blocks
of contacts with blocks of bodies. Elsewhere the leading contacts that are alike lie in blocks by
their order.
"""

import itertools
from typing import NamedTuple

import numpy as np

from vigym.core.compiler.simd import LANES
from vigym.core.tables.plan import ALIGNED, BALL_CONTACT, IN_BLOCK, LONE, PAIR_BALL_CONTACT

LEAST_ALIKE = 3  # contacts, joints or bodies that are faster side by side than one by one
SHAPE = ["kind", "tangents_follow_body", "has_torsion"]  # common fields of the contacts of a block
OUT_OF_REACH = -1e9  # radius of the contact in an empty slot [m]


class ContactSlots(NamedTuple):
    """Slots of the contacts of a mechanism.

    Attributes:
        slots: (n,) slot of each contact.
        contacts: (slots,) contact whose constants a slot has; empty ones have those of another.
        bodies: (slots,) row of the body in each slot.
        empty: (slots,) whether a slot is empty.
        membership: (n,) LONE, IN_BLOCK or ALIGNED.
        block_count: number of blocks.
    """

    slots: np.ndarray
    contacts: np.ndarray
    bodies: np.ndarray
    empty: np.ndarray
    membership: np.ndarray
    block_count: int


def place_contacts(plan: np.ndarray, on_terrain: bool) -> ContactSlots:
    """Place contacts in slots, aligned with their bodies if most of them can be.

    Args:
        plan: (n,) rows of CONTACT_PLAN.
        on_terrain: whether contacts have planes of their own.
    """
    if on_terrain or len(plan) < LEAST_ALIKE or plan["kind"][0] >= PAIR_BALL_CONTACT:
        return _in_order(plan, 0)
    groups = _aligned_groups(plan) if plan["kind"][0] == BALL_CONTACT else {}
    if 2 * sum(map(len, groups.values())) >= len(plan):
        return _aligned(plan, groups)
    differs = np.flatnonzero(plan[SHAPE] != plan[SHAPE][0])
    return _in_order(plan, int(differs[0]) // LANES * LANES if len(differs) else len(plan))


def _in_order(plan: np.ndarray, count: int) -> ContactSlots:
    """Place contacts by their order, the first ``count`` of them in blocks."""
    slots = np.arange(len(plan))
    block_count = -(-count // LANES)
    contacts = np.minimum(np.arange(max(len(plan), block_count * LANES)), len(plan) - 1)
    membership = np.where(slots < count, IN_BLOCK, LONE)
    empty = np.arange(len(contacts)) >= len(plan)
    return ContactSlots(slots, contacts, plan["body"][contacts], empty, membership, block_count)


def _aligned_groups(plan: np.ndarray) -> dict[tuple[int, int], list[int]]:
    """Find groups of contacts of the first one's shape, by (count of earlier ones, body block).

    From the first count on whose groups are too small for blocks all are left out: the forces on a
    body are always added up in the same order.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    counts: dict[int, int | None] = {}  # None behind a contact of another shape
    for c, body in enumerate(plan["body"].tolist()):
        count = counts.get(body, 0)
        if count is None or plan[SHAPE][c] != plan[SHAPE][0]:
            counts[body] = None
        else:
            groups.setdefault((count, body // LANES), []).append(c)
            counts[body] = count + 1
    sizes: dict[int, list[int]] = {}  # of the groups of each count
    for (count, _), members in groups.items():
        sizes.setdefault(count, []).append(len(members))
    worth = {count for count, found in sizes.items() if sum(found) >= LEAST_ALIKE * len(found)}
    end = next(count for count in itertools.count() if count not in worth)
    return {key: groups[key] for key in sorted(groups) if key[0] < end}


def _aligned(plan: np.ndarray, groups: dict[tuple[int, int], list[int]]) -> ContactSlots:
    """Place groups of contacts in the lanes of their bodies, all others behind them."""
    slots = np.full(len(plan), -1)
    contacts: list[int] = []
    bodies: list[int] = []
    for (_, block), members in groups.items():
        first = len(contacts)
        contacts += [members[0]] * LANES
        bodies += range(block * LANES, (block + 1) * LANES)
        for c in members:
            slots[c] = first + plan["body"][c] % LANES
            contacts[slots[c]] = c
    membership = np.where(slots >= 0, ALIGNED, LONE)
    lone = np.flatnonzero(slots < 0)
    slots[lone] = len(contacts) + np.arange(len(lone))
    every = np.array([*contacts, *lone.tolist()])
    body_rows = np.array([*bodies, *plan["body"][lone].tolist()])
    empty = np.ones(len(every), bool)
    empty[slots] = False
    return ContactSlots(slots, every, body_rows, empty, membership, len(groups))
