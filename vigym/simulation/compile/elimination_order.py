"""The symbolic half of the loops: which way each loop row takes up the tree, and what it meets there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.core import tables as T

Plan = NDArray[np.int64]


@dataclass(frozen=True)
class LoopRow:
    """One equation of a link.

    Attributes:
        kind: SLIDE, TILT, SOFT_SLIDE, SOFT_TURN or SOFT_LENGTH; COUPLED: two freedoms; TOUCHING_ROW: two bodies.
        link: row of the link in the body tables; of a coupling that of body a; of two bodies that touch the contact.
        a, b: rows of the bodies it holds, 0 the world; of a coupling those that its two freedoms carry.
        freedom: its freedom row where it yields, or the first that it couples, else -1.
        constants: (CONSTANT_ROW,) vector fixed in a, vector fixed in b, or ratio and offset of a coupling.
        other_freedom: the second one that it couples, else -1.
    """

    kind: int
    link: int
    a: int
    b: int
    freedom: int
    constants: NDArray[np.float64]
    other_freedom: int = -1

    def top(self, parents: list[int]) -> int:
        """Row of the body where both its ways to the root meet, past the freedoms that it couples."""
        if self.kind == T.COUPLED:
            return apex(parents, parents[self.a], parents[self.b])
        return apex(parents, self.a, self.b)


def _ancestors(parents: list[int], body: int) -> list[int]:
    """A body and what it hangs on, without the world."""
    chain = []
    while body:
        chain.append(body)
        body = parents[body]
    return chain


def apex(parents: list[int], a: int, b: int) -> int:
    """The body where the ways of a and b to the root meet, 0 for the world."""
    above = set(_ancestors(parents, a))
    return next((body for body in _ancestors(parents, b) if body in above), 0)


class Loops:
    """Loop rows in the order of their elimination, and the bodies that carry them.

    Args:
        rows: all rows; those of one link together.
        parents: row of each body's parent, parents before children.
        local: eliminate each row where its two ways meet; else all in one node behind the last body.

    Attributes:
        rows: in the order of elimination.
        plan: (rows, LOOP_PLAN) and carried: (carried rows, CARRIED_PLAN) entries of the plan.
        eliminated, carries: per body (first, count) of the loop rows eliminated there, and of the carried rows.
        couplings: number of elements of the lower triangle of S that are kept.
    """

    def __init__(self, rows: list[LoopRow], parents: list[int], local: bool) -> None:
        apexes = [row.top(parents) if local else 0 for row in rows]
        order = sorted(range(len(rows)), key=lambda r: -apexes[r])
        self.rows = [rows[r] for r in order]
        self._apexes = [apexes[r] for r in order]
        self._passing = self._passed(parents)
        self.eliminated = [
            (self._apexes.index(body) if body in self._apexes else 0, self._apexes.count(body))
            for body in range(len(parents))
        ]
        self._index: dict[tuple[int, int], int] = {}  # (body, row) -> carried row
        self.carries = self._number()
        self.carried = self._ways(parents)
        self.plan, self.couplings = self._couple()

    def _passed(self, parents: list[int]) -> list[list[int]]:
        """Rows that each body carries past its freedoms."""
        passing: list[list[int]] = [[] for _ in parents]
        for r, (row, top) in enumerate(zip(self.rows, self._apexes, strict=True)):
            ends = {*_ancestors(parents, row.a), *_ancestors(parents, row.b)}
            for body in ends - set(_ancestors(parents, top)):
                passing[body].append(r)
        return passing

    def _number(self) -> list[tuple[int, int]]:
        """Number the carried rows: at each body first those that are eliminated there."""
        carries = []
        for body, passing in enumerate(self._passing):
            first, count = self.eliminated[body]
            for r in [*range(first, first + count), *passing] if body else []:
                self._index[body, r] = len(self._index)
            carries.append((len(self._index) - len(passing) if body else 0, len(passing) if body else 0))
        return carries

    def _ways(self, parents: list[int]) -> Plan:
        """Where each carried row goes, in the order of the elimination; what arrives second is added."""
        table = np.full((len(self._index), T.CARRIED_PLAN), -1, np.int64)
        written = {(end, r) for r, row in enumerate(self.rows) for end in (row.a, row.b)}
        for (_, r), at in self._index.items():
            table[at, T.CARRIED_ROW] = r
        for body in range(len(parents) - 1, 0, -1):
            for r in self._passing[body]:
                there = parents[body], r
                to = self._index.get(there, -1)
                table[self._index[body, r], [T.CARRY_TO, T.CARRY_ADDS]] = to, there in written
                written.add(there)
        return table

    def _couple(self) -> tuple[Plan, int]:
        """Rows of the plan: S is kept in a profile, in which no fill-in falls outside."""
        table = np.full((len(self.rows), T.LOOP_PLAN), -1, np.int64)
        start, reach = 0, [
            min([r, *(min(passing) for passing in self._passing if r in passing)]) for r in range(len(self.rows))
        ]  # fmt: skip
        for r, (row, top) in enumerate(zip(self.rows, self._apexes, strict=True)):
            table[r, [T.KIND, T.LINK, T.ROW_FREEDOM]] = row.kind, row.link, row.freedom
            table[r, [T.END_A, T.END_B]] = self._index.get((row.a, r), -1), self._index.get((row.b, r), -1)
            table[r, [T.OTHER, T.OTHER_FREEDOM]] = row.b, row.other_freedom
            table[r, T.AT_APEX] = self._index.get((top, r), -1)
            table[r, [T.FROM, T.COUPLING]] = reach[r], start - reach[r]
            table[r, T.LAST] = max(m for m in range(r, len(self.rows)) if reach[m] <= r)
            start += r - reach[r] + 1
        return table, start
