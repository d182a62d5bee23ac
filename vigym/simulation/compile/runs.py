"""Order of the tree's bodies: depth-first, but alike subtrees side by side, as runs of rows.

One environment takes the bodies of a run through the elimination together, in lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.compiler.simd import LANES
from vigym.core.model.contact_slots import LEAST_ALIKE
from vigym.core.tables.plan import HINGE_PIVOT, ORIENTATION_ROW, POSITION_ROW
from vigym.mechanism.topology.graph import spanning_tree

if TYPE_CHECKING:
    from vigym.mechanism.elements.joints import Joint
    from vigym.mechanism.mechanism import Mechanism
    from vigym.simulation.compile.elimination_order import Loops

Siblings = list[list["Joint"]]


def pieces_of_lanes(first: int, end: int) -> list[tuple[int, int]]:
    """Split rows into pieces of LANES at most; too small ones, which gain nothing, are left out."""
    pieces = [(start, min(start + LANES, end)) for start in range(first, end, LANES)]
    return [(start, stop) for start, stop in pieces if stop - start >= LEAST_ALIKE]


def is_hinge(joint: Joint) -> bool:
    """Return whether the only degree of freedom of a joint is a rotation."""
    kind = joint.joint_type
    return (len(kind.translations), len(kind.rotations)) == (0, 1)


class TreeOrder:
    """Joints of the tree in the order of their bodies' rows, parents before children.

    Legs that are alike stand side by side where one environment can take them together: first the
    hips of all, then the knees of all.

    Attributes:
        joints: in this order.
        runs: (first, end) of the rows of bodies that stand side by side, as many as a register
            has lanes at most; the world's row is 0.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        depth_first = [joint for joint, _ in spanning_tree(mechanism)]
        self._children: dict[str, list[Joint]] = {}
        for joint in depth_first:
            self._children.setdefault(joint.parent, []).append(joint)
        self._shapes = self._find_shapes(depth_first)
        self.joints: list[Joint] = []
        self.runs: list[tuple[int, int]] = []
        together = mechanism.ground is not None
        roots = [joint for joint in depth_first if joint.parent not in self._shapes]
        stack = self._siblings(roots, together)[::-1]
        while stack:
            group = stack.pop()
            first = len(self.joints) + 1
            self.joints += group
            if len(group) > 1:
                self.runs += pieces_of_lanes(first, first + len(group))
                below = [self._children.get(joint.child, []) for joint in group]
                stack += [list(nth) for nth in zip(*below, strict=True)][::-1]
            else:
                children = self._children.get(group[0].child, [])
                stack += self._siblings(children, together)[::-1]

    def _find_shapes(self, depth_first: list[Joint]) -> dict[str, int]:
        """Find a number for the shape of the subtree that each body carries, itself included."""
        known: dict[tuple[object, ...], int] = {}
        shapes: dict[str, int] = {}
        for joint in reversed(depth_first):
            kind = joint.joint_type
            dofs = kind.translations, kind.rotations
            below = tuple(shapes[child.child] for child in self._children.get(joint.child, []))
            shapes[joint.child] = known.setdefault((dofs, below), len(known))
        return shapes

    def _siblings(self, joints: list[Joint], together: bool) -> Siblings:
        """List siblings on hinges with alike subtrees together, if they are several."""
        groups: dict[int, list[Joint]] = {}
        for joint in joints:
            groups.setdefault(self._shapes[joint.child], []).append(joint)
        found: Siblings = []
        for joint in joints:
            alike = groups[self._shapes[joint.child]]
            if not (together and is_hinge(joint)) or len(alike) < LEAST_ALIKE:
                found.append([joint])
            elif joint is alike[0]:
                found.append(alike)
        return found


def set_runs(bodies: np.ndarray, groups: list[tuple[int, int]], loops: Loops) -> None:
    """Write which groups of alike bodies one environment eliminates together.

    Those on hinges. They hang on one body, or on one each that follow each other as they do. If
    loop rows pass them, these are rows of joints: others act in some bodies alone.

    Args:
        bodies: rows of BODY_PLAN, written.
        groups: (first, end) of their rows.
        loops: loop rows and their fill-in rows.
    """
    for first, end in groups:
        run = bodies[first:end]
        shared = len(set(run["parent"].tolist())) == 1
        hinges = (run["pivot_kind"] == HINGE_PIVOT).all() and not run["loop_row_count"].any()
        if (
            hinges
            and (shared or _are_consecutive(run["parent"]))
            and _rows_are_alike(run, loops, shared)
        ):
            run["run_first"], run["run_end"] = first, end
            run["run_shares_parent"] = shared


def _are_consecutive(numbers: np.ndarray) -> bool:
    """Return whether numbers follow each other."""
    return bool((np.diff(numbers) == 1).all())


def _rows_are_alike(run: np.ndarray, loops: Loops, shared: bool) -> bool:
    """Return whether as many loop rows pass all bodies of a run, of joints, in the same way."""
    count = int(run["fill_in_count"][0])
    if (run["fill_in_count"] != count).any():
        return False
    if count and (run["fill_in_step"] != len(run)).any():
        return False
    first = int(run["first_fill_in"][0])
    for k in range(count):
        rows = loops.fill_in_plan[first + k * len(run) : first + (k + 1) * len(run)]
        kinds = loops.plan[rows["loop_row"]]["kind"]
        if not np.isin(kinds, (POSITION_ROW, ORIENTATION_ROW)).all():
            return False
        follow = _are_consecutive(rows["parent_fill_in"]) and len(set(rows["adds"].tolist())) == 1
        if not (shared or follow):
            return False
    return True
