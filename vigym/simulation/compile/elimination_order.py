"""Symbolic elimination of the loops: paths of loop rows up the tree, and their couplings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vigym.core.tables.plan import (
    COUPLED_ROW,
    FILL_IN_PLAN,
    LOOP_ROW_PLAN,
    PRESCRIBED_ROW,
    VELOCITY_ROW,
)


@dataclass(frozen=True)
class LoopRow:
    """Scalar equation of a loop, of a coupling or of a contact of two bodies.

    Attributes:
        kind: POSITION_ROW, ORIENTATION_ROW, COMPLIANT_..._ROW, COUPLED_ROW, CONTACT_ROW,
            PRESCRIBED_ROW or VELOCITY_ROW.
        owner: row of the loop in the tables of bodies; of a coupling that of body a; of a contact
            row the contact; of a velocity constraint its number.
        a: row of the first body it holds, 0 the world; of a coupling the body that its first joint
            carries.
        b: row of the second body.
        dof: degree of freedom where it yields, or the first that it couples, else -1.
        constants: () of LOOP_ROW_MODEL.
        other_dof: the second degree of freedom that it couples, else -1.
        others: rows of further bodies that it holds, of a velocity constraint.
    """

    kind: int
    owner: int
    a: int
    b: int
    dof: int
    constants: np.ndarray
    other_dof: int = -1
    others: tuple[int, ...] = ()

    @property
    def bodies(self) -> tuple[int, ...]:
        """Rows of all bodies that it holds."""
        return self.a, self.b, *self.others

    def closing_body(self, parents: list[int]) -> int:
        """Find the body where its paths to the root meet, past the dofs that it couples.

        Velocity constraints go on to the world: they may move all of their bodies at once.
        """
        if self.kind == VELOCITY_ROW:
            return 0
        if self.kind in (COUPLED_ROW, PRESCRIBED_ROW):
            return common_ancestor(parents, parents[self.a], parents[self.b])
        return common_ancestor(parents, self.a, self.b)


def _ancestors(parents: list[int], body: int) -> list[int]:
    """List a body and its ancestors in the tree, without the world."""
    chain = []
    while body:
        chain.append(body)
        body = parents[body]
    return chain


def common_ancestor(parents: list[int], a: int, b: int) -> int:
    """Return the body where the paths of a and b to the root meet, 0 for the world."""
    above = set(_ancestors(parents, a))
    return next((body for body in _ancestors(parents, b) if body in above), 0)


class Loops:
    """Loop rows in the order of their elimination, and their fill-in rows at the bodies between.

    Args:
        rows: all rows; those of one loop together.
        parents: row of each body's parent, parents before children.
        local: eliminate each row where its two paths meet; else all in one node behind the last
            body.
        groups: (first, end) of the rows of bodies that stand side by side.

    Attributes:
        rows: in the order of elimination.
        plan: (rows,) of LOOP_ROW_PLAN.
        fill_in_plan: (fill-in rows,) of FILL_IN_PLAN.
        eliminated: per body (first, count) of the loop rows that are eliminated there.
        fill_ins: per body (first, count, step) of the fill-in rows of loop rows that pass it.
        schur_count: number of elements of the lower triangle of S that are kept.
    """

    def __init__(
        self,
        rows: list[LoopRow],
        parents: list[int],
        local: bool,
        groups: list[tuple[int, int]] | None = None,
    ) -> None:
        closing = [row.closing_body(parents) if local else 0 for row in rows]
        order = sorted(range(len(rows)), key=lambda r: -closing[r])
        self.rows = [rows[r] for r in order]
        self._closing = [closing[r] for r in order]
        self._passing = self._passing_rows(parents)
        self.eliminated = [
            (self._closing.index(body) if body in self._closing else 0, self._closing.count(body))
            for body in range(len(parents))
        ]
        self._index: dict[tuple[int, int], int] = {}  # (body, row) -> fill-in row
        self.fill_ins = self._number_fill_ins(groups or [])
        self.fill_in_plan = self._paths(parents)
        self.plan, self.schur_count = self._profile()

    def _passing_rows(self, parents: list[int]) -> list[list[int]]:
        """Return the rows that pass the degrees of freedom of each body."""
        passing: list[list[int]] = [[] for _ in parents]
        for r, (row, top) in enumerate(zip(self.rows, self._closing, strict=True)):
            path = {body for end in row.bodies for body in _ancestors(parents, end)}
            for body in path - set(_ancestors(parents, top)):
                passing[body].append(r)
        return passing

    def _number_fill_ins(self, groups: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
        """Assign numbers to fill-in rows: at each body first those of rows eliminated there.

        Of bodies side by side that as many rows pass, the first row of each comes first, then the
        second row of each, and so on.
        """
        fill_ins = [(0, 0, 1)] * len(self._passing)
        ends = dict(groups)
        body = 1
        while body < len(fill_ins):
            end = ends.get(body, body)
            alike = len({len(self._passing[b]) for b in range(body, end)}) == 1
            if alike and not any(self.eliminated[b][1] for b in range(body, end)):
                count, size = len(self._passing[body]), end - body
                for k in range(count * size):
                    at = body + k % size
                    self._index[at, self._passing[at][k // size]] = len(self._index)
                start = len(self._index) - count * size
                fill_ins[body:end] = [(start + b, count, size) for b in range(size)]
                body = end
                continue
            first, eliminated = self.eliminated[body]
            passing = self._passing[body]
            for r in [*range(first, first + eliminated), *passing]:
                self._index[body, r] = len(self._index)
            fill_ins[body] = len(self._index) - len(passing), len(passing), 1
            body += 1
        return fill_ins

    def fill_in(self, body: int, row: int) -> int:
        """Return the fill-in row of a loop row at a body, -1 for none."""
        return self._index.get((body, row), -1)

    def _paths(self, parents: list[int]) -> np.ndarray:
        """Find the parent's fill-in row of each one; all but the first to arrive are added."""
        table = FILL_IN_PLAN.rows(len(self._index))
        table["parent_fill_in"] = table["adds"] = -1
        written = {(end, r) for r, row in enumerate(self.rows) for end in row.bodies}
        for (_, r), at in self._index.items():
            table[at]["loop_row"] = r
        for body in range(len(parents) - 1, 0, -1):
            for r in self._passing[body]:
                there = parents[body], r
                at = self._index[body, r]
                table[at]["parent_fill_in"] = self._index.get(there, -1)
                table[at]["adds"] = there in written
                written.add(there)
        return table

    def _profile(self) -> tuple[np.ndarray, int]:
        """Return the profile of S, outside of which nothing fills in, as rows of the plan."""
        table = LOOP_ROW_PLAN.rows(len(self.rows))
        reach = [
            min([r, *(min(rows) for rows in self._passing if r in rows)])
            for r in range(len(self.rows))
        ]
        start = 0
        for r, (row, top) in enumerate(zip(self.rows, self._closing, strict=True)):
            entry = table[r]
            entry["kind"] = row.kind
            entry["owner"] = row.owner
            entry["dof"] = row.dof
            entry["endpoint_a"] = self._index.get((row.a, r), -1)
            entry["endpoint_b"] = self._index.get((row.b, r), -1)
            entry["other_body"], entry["other_dof"] = row.b, row.other_dof
            entry["at_closing_body"] = self._index.get((top, r), -1)
            entry["profile_start"], entry["schur_start"] = reach[r], start - reach[r]
            entry["profile_end"] = max(m for m in range(r, len(self.rows)) if reach[m] <= r)
            start += r - reach[r] + 1
        return table, start
