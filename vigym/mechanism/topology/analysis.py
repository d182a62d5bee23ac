"""Structure of a mechanism: assembled pose, loop constraints, degrees of freedom."""

from dataclasses import dataclass

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.checks import Array, ReadOnly, read_only
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.topology.joint_frames import JointFrames, joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_closure import (
    CLOSED,
    Candidates,
    close_loops,
    evaluate_candidates,
    generic_ranks,
    rows_singular_at_assembly,
)
from vigym.mechanism.topology.loop_constraints import (
    LoopConstraints,
    LoopSystem,
    joint_gaps,
    rate_units,
)
from vigym.mechanism.topology.redundancy import nonconstant_constraints

MISFIT = 2e-5  # largest gap in redundant rows: angles written to four decimals give 1.5e-5
_COINCIDENT = 1e-12  # [m, rad] gaps that count as zero
_SAMPLES = 8
_SIZES = (1e-3, 0.03, 0.1, 0.3, 1.0, 2.0)  # of random displacements where zero leads nowhere
_AMPLITUDES = np.repeat(_SIZES, 3)[:, None]


@dataclass(frozen=True, eq=False)
class Structure(ReadOnly):
    """Assembled pose and constraints of a mechanism.

    Attributes:
        assembly: coordinates of the tree joints at which all loops are closed and all couplings
            hold, next to zero (floating, spherical: their assembly pose).
        loop_constraints: constraint rows of each loop-closing joint, by name.
        dofs: number of independent velocities at a generic assembled pose; skates and
            wheels, which take away velocities but no positions, do not count.
        redundant_constraints: number of dependent constraint rows there, those not imposed
            included.
        singular_joints: names of the loop-closing joints whose constraint rows depend on each other
            at the assembly, but not next to it: loops have more motions there than elsewhere.
    """

    assembly: Array
    loop_constraints: dict[str, LoopConstraints]
    dofs: int
    redundant_constraints: int
    singular_joints: tuple[str, ...] = ()


def analyse_structure(mechanism: Elements) -> Structure:
    """Return the structure of a mechanism.

    Raises:
        AssemblyError: loops that cannot be closed; names the joint with the largest gap.
    """
    tree = TreeKinematics(mechanism)
    closing = mechanism.closing_joints
    if not closing:
        return Structure(read_only(tree.start), {}, len(tree.independent), 0)
    frames = [joint_frames(mechanism, joint) for joint in closing]
    sizes = loop_sizes(mechanism, tree, frames)
    generator = np.random.default_rng(1)
    units = rate_units(tree, frames, sizes)
    samples = tree.poses(_random_coordinates(tree, units, generator))
    rows = [
        nonconstant_constraints(tree, each, size, samples)
        for each, size in zip(frames, sizes, strict=True)
    ]
    loops = _Loops(tree, frames, rows, sizes)
    assembly = _assemble(loops, generator)
    rank, singular = 0, []
    for part in loops.independent_parts():
        own = generic_ranks(part.system, assembly, generator)
        rank += own.rank
        singular += part.joints_of(rows_singular_at_assembly(part.system, assembly, own))
    count = sum(len(row.translations) + len(row.rotations) + row.redundant for row in rows)
    constraints = {joint.name: row for joint, row in zip(closing, rows, strict=True)}
    dofs = len(tree.independent) - rank
    order = tuple(joint.name for joint in closing if joint.name in singular)
    return Structure(read_only(assembly[0]), constraints, dofs, count - rank, order)


def loop_sizes(mechanism: Elements, tree: TreeKinematics, loops: list[JointFrames]) -> Array:
    """Return the sizes of loops [m].

    Longest distance of a joint from the closing one, or radius of gyration of its bodies.
    """
    poses = tree.poses(tree.zero[None])
    bodies = mechanism.bodies.values()
    radii = np.array([0.0, *(body.gyration for body in bodies)])
    anchors, sizes = tree.anchors(poses)[0], []
    for frames in loops:
        a, b = frames.a, frames.b
        on_loop = tree.support[a] != tree.support[b]
        end_a = poses.x[0, a] + poses.R[0, a] @ frames.anchor_a
        end_b = poses.x[0, b] + poses.R[0, b] @ frames.anchor_b
        distances = [
            np.linalg.norm(anchors[on_loop] - end, axis=1).max(initial=0.0)
            for end in (end_a, end_b)
        ]
        sizes.append(max(*distances, radii[a], radii[b]))
    return np.array(sizes)


def _random_coordinates(
    tree: TreeKinematics, units: Array, generator: np.random.Generator
) -> Array:
    """Return tree coordinates (S, n_q) all over the joints' range, loops open.

    Angles reach half a turn, translations the size of their loops.
    """
    rates = generator.uniform(-1.0, 1.0, size=(_SAMPLES, tree.dofs))
    rates *= np.where(tree.is_rotation, np.pi, units)
    return tree.integrate_rates(np.repeat(tree.zero[None], _SAMPLES, axis=0), rates)


class _Loops:
    """Loops of a mechanism with their dimensionless constraint rows.

    Args:
        tree: kinematics of the tree.
        frames: joint frames of the loop-closing joints.
        rows: constraint rows of each.
        sizes: (joints,) sizes of their loops [m].

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
    ) -> None:
        self.frames = frames
        self.system = LoopSystem(tree, frames, rows, sizes)
        self._tree = tree
        self._rows = rows
        self._sizes = sizes

    def independent_parts(self) -> list["_Loops"]:
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

    def _part(self, members: list[int]) -> "_Loops":
        frames = [self.frames[i] for i in members]
        rows = [self._rows[i] for i in members]
        return _Loops(self._tree, frames, rows, self._sizes[members])

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


def _assemble(loops: _Loops, generator: np.random.Generator) -> Array:
    """Return tree coordinates (1, n_q) next to zero where all loops are closed.

    They are exactly zero where loops are closed there.
    """
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
    closed = loops.closed(candidates)
    if not closed.any():
        raise AssemblyError(_open_loop_message(loops, nearest))
    distance = np.linalg.norm(candidates.coordinates - zero, axis=1)
    best = int(np.argmin(np.where(closed, distance, np.inf)))
    result: Array = candidates.coordinates[[best]]
    return result


def _open_loop_message(loops: _Loops, nearest: Candidates) -> str:
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
