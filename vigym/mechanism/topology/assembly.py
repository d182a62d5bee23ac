"""Assembly of loops: the pose next to zero where all are closed, within limits if any is."""

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.topology.joint_frames import JointFrames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_closure import (
    CLOSED,
    Candidates,
    close_loops,
    evaluate_candidates,
)
from vigym.mechanism.topology.loop_constraints import (
    LoopConstraints,
    LoopSystem,
    closing_coordinates,
    joint_gaps,
)

MISFIT = 2e-5  # largest gap in redundant rows: angles written to four decimals give 1.5e-5
_COINCIDENT = 1e-12  # [m, rad] gaps that count as zero
_SIZES = (1e-3, 0.03, 0.1, 0.3, 1.0, 2.0)  # of random displacements where zero leads nowhere
_AMPLITUDES = np.repeat(_SIZES, 3)[:, None]
_BEYOND = 1e-6  # [rad or m] coordinates that are beyond a limit by less are at it
_STARTS = 64  # within limits


class Loops:
    """Loops of a mechanism with their dimensionless constraint rows.

    Args:
        tree: kinematics of the tree.
        frames: joint frames of the loop-closing joints.
        rows: constraint rows of each.
        sizes: (joints,) sizes of their loops [m].
        joints: of the tree.

    Attributes:
        frames: joint frames of the loop-closing joints.
        system: constraint rows of all loops.
    """

    def __init__(
        self,
        tree: TreeKinematics,
        frames: list[JointFrames],
        rows: list[LoopConstraints],
        sizes: Array,
        joints: list[Joint],
    ) -> None:
        self.frames = frames
        self.system = LoopSystem(tree, frames, rows, sizes)
        self._tree = tree
        self._rows = rows
        self._sizes = sizes
        self._joints = joints
        self._limits = _limits_on_loops(self.system, joints)

    def independent_parts(self) -> list["Loops"]:
        """Return groups of loops that share degrees of freedom; the ranks of groups add up."""
        tree = self._tree
        groups: list[tuple[Array, list[int]]] = []
        for i, frames in enumerate(self.frames):
            signs = tree.support[frames.a] - tree.support[frames.b]
            own = np.abs(signs) @ np.abs(tree.velocity_map) != 0.0
            joined = [group for group in groups if (group[0] & own).any()]
            apart = [group for group in groups if not (group[0] & own).any()]
            dofs, members = own, [i]
            for other, others in joined:
                dofs, members = dofs | other, others + members
            groups = [*apart, (dofs, members)]
        return [self._part(members) for _, members in groups]

    def _part(self, members: list[int]) -> "Loops":
        frames = [self.frames[i] for i in members]
        rows = [self._rows[i] for i in members]
        return Loops(self._tree, frames, rows, self._sizes[members], self._joints)

    def joints_of(self, rows: Array) -> list[str]:
        """Return the names of the joints to which rows (rows,) of a mask belong."""
        pairs = zip(self.frames, self.system.spans, strict=True)
        return [frames.joint.name for frames, span in pairs if rows[span].any()]

    def gaps(self, coordinates: Array) -> Array:
        """Return gaps of the loop-closing joints (S, joints, 2) [m, rad], in redundant rows too."""
        poses = self._tree.poses(coordinates)
        pairs = [joint_gaps(frames, poses) for frames in self.frames]
        return np.stack([np.stack(pair, axis=-1) for pair in pairs], axis=1)

    def relative(self, gaps: Array) -> Array:
        """Return gaps (..., joints, 2) with distances measured by the sizes of their loops."""
        return gaps / np.stack([self._sizes, np.ones(len(self._sizes))], axis=-1)

    def closed(self, candidates: Candidates) -> Array:
        """Return whether loops are closed (S,); redundant rows may be as inexact as the input."""
        misfit = self.relative(self.gaps(candidates.coordinates)).max(axis=(1, 2))
        result: Array = (candidates.gap < CLOSED) & (misfit < MISFIT)
        return result

    def opened(self, candidates: Candidates) -> Array:
        """Return how many loop-closing joints are open (S,)."""
        gaps = self.relative(self.gaps(candidates.coordinates)).max(axis=2)
        result: Array = (gaps > MISFIT).sum(axis=1)
        return result

    def within_limits(self, coordinates: Array) -> Array:
        """Return whether coordinates of loops are within their limits (S,)."""
        within = (self._clipped(coordinates) == coordinates).all(axis=1)
        poses = self._tree.poses(coordinates)
        for frames in self.frames:
            if frames.joint.limits is not None:
                lower, upper = frames.joint.limits.T
                found = closing_coordinates(frames, poses)[:, : len(frames.joint.limits)]
                inside = (found >= lower - _BEYOND) & (found <= upper + _BEYOND)
                within = within & inside.all(axis=1)
        result: Array = within
        return result

    def _clipped(self, coordinates: Array) -> Array:
        """Return coordinates (..., n_q) moved into their limits; by rounding none is beyond."""
        lower, upper = self._limits
        clipped = np.clip(coordinates, lower, upper)
        result: Array = np.where(np.abs(clipped - coordinates) > _BEYOND, clipped, coordinates)
        return result

    def half_turns(self, coordinates: Array) -> Array:
        """Return coordinates (S, n_q) with one rotation on a loop after the other turned by pi."""
        tree = self.system.tree
        turning = tree.is_rotation[tree.independent] & self.system.moving
        rates = np.pi * np.eye(self.system.dofs)[turning]
        return self.system.integrate_rates(np.repeat(coordinates[None], len(rates), axis=0), rates)

    def inside_limits(self, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return starts within limits: zero moved into them, and random ones.

        Returns:
            Coordinates (S, n_q), and whether a degree of freedom may move from there (S, dofs): not
            those of the first start that are at their limits.
        """
        system, tree = self.system, self.system.tree
        rates = generator.uniform(-np.pi, np.pi, (_STARTS, system.dofs)) * system.moving
        columns, owners = tree.scalar_coordinates
        lower, upper = (bound[columns] for bound in self._limits)
        moving = np.ones((_STARTS, system.dofs), bool)
        for number, dof in enumerate(tree.independent):
            for low, high, column in zip(
                lower[owners == dof], upper[owners == dof], columns[owners == dof], strict=True
            ):
                unit, zero = system.gains[dof, number], tree.start[column]
                low, high = max(low, zero - np.pi * unit), min(high, zero + np.pi * unit)
                drawn = generator.uniform(min(low, high), high, _STARTS)
                drawn[0] = np.clip(zero, low, high)
                moving[0, number] = drawn[0] == zero
                rates[:, number] = (drawn - zero) / unit * system.moving[number]
        rates[0] *= ~moving[0]
        starts = np.repeat(tree.start[None], _STARTS, axis=0)
        return system.integrate_rates(starts, rates), moving


def _limits_on_loops(system: LoopSystem, joints: list[Joint]) -> Array:
    """Return lower and upper limits (2, n_q) of coordinates on loops; infinite where none is."""
    moved = (np.abs(system.tree.velocity_map) @ system.moving) != 0.0
    return _limits(joints, moved)


def _limits(joints: list[Joint], used: Array) -> Array:
    """Return lower and upper limits (2, n_q), infinite but for a mask of dofs (dofs,)."""
    limits = np.tile([[-np.inf], [np.inf]], sum(len(joint.position_names) for joint in joints))
    start = column = 0
    for joint in joints:
        if joint.limits is not None:
            own = used[start : start + len(joint.limits)]
            limits[:, column : column + len(own)][:, own] = joint.limits.T[:, own]
        start += joint.dofs
        column += len(joint.position_names)
    return limits


def start_within_limits(
    mechanism: Elements, tree: TreeKinematics, coordinates: Array, loops: Loops | None
) -> Array:
    """Return coordinates (n_q,) with those that no loop moves, and their followers, within limits.

    Where limits exclude a coordinate, it is in the middle of those that it and its followers leave
    it, or at the only one.
    """
    lower, upper = _limits(mechanism.tree_joints, np.ones(tree.dofs, bool))
    columns, owners = tree.scalar_coordinates
    result = np.array(coordinates)
    for number in range(len(tree.independent)):
        slopes = tree.velocity_map[owners, number]
        used = columns[slopes != 0.0]
        if not len(used) or (loops is not None and loops.system.moving[number]):
            continue
        slopes = slopes[slopes != 0.0]
        shifts = (np.array([lower, upper])[:, used] - result[used]) / slopes
        low, high = shifts.min(axis=0).max(), shifts.max(axis=0).min()
        if low <= high and not low <= 0.0 <= high:
            middle = 0.5 * low + 0.5 * high
            result[used] += slopes * (middle if np.isfinite(middle) else np.clip(0.0, low, high))
    return result


def beyond_limits(
    mechanism: Elements, tree: TreeKinematics, coordinates: Array, loops: Loops | None
) -> dict[str, Array]:
    """Return coordinates beyond their limits by name: value, lower and upper limit (3,)."""
    lower, upper = _limits(mechanism.tree_joints, np.ones(tree.dofs, bool))
    names = [name for joint in mechanism.tree_joints for name in joint.position_names]
    rows = list(zip(names, coordinates, lower, upper, strict=True))
    poses = tree.poses(coordinates[None])
    for frames in () if loops is None else loops.frames:
        if frames.joint.limits is not None:
            limited = closing_coordinates(frames, poses)[0], *frames.joint.limits.T
            rows += zip(frames.joint.position_names, *limited, strict=False)  # a ball has none
    return {
        name: np.array((value, low, high))
        for name, value, low, high in rows
        if not low - _BEYOND <= value <= high + _BEYOND
    }


def assemble(loops: Loops, generator: np.random.Generator) -> Array:
    """Return tree coordinates (1, n_q) where all loops are closed, within limits if any are.

    They are exactly zero where loops are closed there. Else they are the nearest to zero of those
    that are reached from zero; from random displacements, where that leads nowhere; and from poses
    with joints turned by half a turn and random poses within limits, where those lead beyond
    limits, or nowhere: a frame that is off by half a turn stays so.

    Loops that share no degree of freedom are assembled apart.

    Raises:
        AssemblyError: loops that cannot be closed.
    """
    coordinates = loops.system.tree.start[None].copy()
    for part in loops.independent_parts():
        found = _assemble_part(part, generator)
        coordinates = np.where(found != loops.system.tree.start, found, coordinates)
    return coordinates


def _assemble_part(loops: Loops, generator: np.random.Generator) -> Array:
    """Return tree coordinates (1, n_q) where loops that share degrees of freedom are closed."""
    system = loops.system
    zero = system.tree.start[None]
    nearest = candidates = evaluate_candidates(system, zero)
    if nearest.gap[0] > _COINCIDENT:
        nearest = candidates = close_loops(system, zero)
    if not loops.closed(candidates).any():
        rates = generator.uniform(-1.0, 1.0, (len(_AMPLITUDES), system.dofs)) * _AMPLITUDES
        rates[:, ~system.moving] = 0.0
        starts = np.repeat(zero, len(rates), axis=0)
        candidates = close_loops(system, system.integrate_rates(starts, rates))
    found = [candidates.coordinates[loops.closed(candidates)]]
    if not loops.within_limits(found[0]).any():
        found += [_half_turned(loops, nearest), _from_limits(loops, generator)]
    closed = np.concatenate(found)
    if not len(closed):
        raise AssemblyError(_open_loop_message(loops, nearest))
    within = loops.within_limits(closed)
    selected = closed[within] if within.any() else closed
    best = int(np.argmin(np.linalg.norm(selected - zero, axis=1)))
    return selected[[best]]


def _half_turned(loops: Loops, nearest: Candidates) -> Array:
    """Return closed coordinates (S, n_q) from poses with joints turned by half a turn.

    Several loops may need a turn each: turns go on from the pose with the fewest open loops.
    """
    for _ in loops.frames:
        open_before = loops.opened(nearest).min()
        starts = loops.half_turns(nearest.coordinates[0])
        turned = close_loops(loops.system, starts) if len(starts) else nearest
        closed = loops.closed(turned)
        still_open = loops.opened(turned)
        best = int(np.argmin(still_open))
        if closed.any() or still_open[best] >= open_before:
            reached: Array = turned.coordinates[closed]
            return reached
        nearest = evaluate_candidates(loops.system, turned.coordinates[[best]])
    return nearest.coordinates[:0]


def _from_limits(loops: Loops, generator: np.random.Generator) -> Array:
    """Return closed coordinates (S, n_q) that are reached from poses within limits."""
    candidates = close_loops(loops.system, *loops.inside_limits(generator))
    closed: Array = candidates.coordinates[loops.closed(candidates)]
    return closed


def _open_loop_message(loops: Loops, nearest: Candidates) -> str:
    """Return the message for loops that cannot be closed: the joint with the largest gap."""
    gaps = loops.gaps(nearest.coordinates)[0]
    worst = int(np.argmax(loops.relative(gaps).max(axis=1)))
    distance, angle = np.where(gaps[worst] > _COINCIDENT, gaps[worst], 0.0)
    closed = nearest.gap[0] < CLOSED
    reason = "no motion of its loop changes that" if closed else "its loop comes no nearer"
    return (
        f"joint {loops.frames[worst].joint.name!r}: found its two joint frames "
        f"{distance:.3g} m and {angle:.3g} rad apart at the nearest pose, "
        f"expected a loop that can be closed; {reason}"
    )
