"""How a mechanism's loops close: its assembled pose, the rows its closing joints impose, its degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.elements.checks import Array, ReadOnly
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.topology.joint_frames import Halves, split
from vigym.mechanism.topology.kinematics import Tree
from vigym.mechanism.topology.loop_closure import CLOSED, Closing, close_loops, generic_rank, measure
from vigym.mechanism.topology.loop_constraints import ClosureRows, System, frozen, gaps, units
from vigym.mechanism.topology.redundancy import impose

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing

MISFIT = 2e-5  # of a loop's size, or rad: what implied rows may be off; angles written to four decimals are by 1.5e-5
_COINCIDENT = 1e-12  # halves that near are where they should be
_SAMPLES = 8
_AMPLITUDES = np.repeat((1e-3, 0.03, 0.1, 0.3, 1.0, 2.0), 3)[:, None]  # of starts where zero leads nowhere


@dataclass(frozen=True, eq=False)
class Structure(ReadOnly):
    """What is known of a mechanism before it moves.

    Attributes:
        assembly: coordinates of the tree joints at which all loops are closed and all couplings hold, next to zero
            (floating, spherical: their assembly pose).
        closures: rows of each closing joint, by name.
        degrees_of_freedom: number of independent velocities at a generic assembled pose; skates and wheels, which take
            away velocities but no positions, do not count.
        redundant_constraints: number of dependent constraint rows there; implied rows count.
    """

    assembly: Array
    closures: dict[str, ClosureRows]
    degrees_of_freedom: int
    redundant_constraints: int


def analyse(mechanism: Listing) -> Structure:
    """Return the structure of a mechanism.

    Raises:
        AssemblyError: loops that cannot be closed; names the joint that is farthest apart and its gap.
    """
    tree, closing = Tree(mechanism), mechanism.closing_joints
    if not closing:
        return Structure(frozen(tree.start), {}, len(tree.leaders), 0)
    halves = [split(mechanism, joint) for joint in closing]
    sizes = _loop_sizes(mechanism, tree, halves)
    generator = np.random.default_rng(1)
    samples = tree.poses(_random_coordinates(tree, units(tree, halves, sizes), generator))
    rows = [impose(tree, half, size, samples) for half, size in zip(halves, sizes, strict=True)]
    assembly = _assemble(System(tree, halves, rows, sizes), halves, sizes, generator)
    rank = sum(generic_rank(part, assembly, generator) for part in _independent(tree, halves, rows, sizes))
    raw = sum(len(row.translations) + len(row.rotations) + row.implied for row in rows)
    closures = {half.joint.name: row for half, row in zip(halves, rows, strict=True)}
    return Structure(frozen(assembly[0]), closures, len(tree.leaders) - rank, raw - rank)


def _loop_sizes(mechanism: Listing, tree: Tree, halves: list[Halves]) -> Array:
    """Sizes of the loops [m]: the longest distance of a joint from the closing one, or radius of gyration."""
    poses = tree.poses(tree.zero[None])
    bodies = mechanism.bodies.values()
    gyrations = np.array([0.0, *(np.sqrt(np.trace(body.inertia) / (2.0 * body.mass)) for body in bodies)])
    anchors, sizes = tree.anchors(poses)[0], []
    for half in halves:
        path = tree.carried[half.a] != tree.carried[half.b]
        ends = [poses.x[0, i] + poses.R[0, i] @ r for i, r in ((half.a, half.anchor_a), (half.b, half.anchor_b))]
        distances = [np.linalg.norm(anchors[path] - end, axis=1).max(initial=0.0) for end in ends]
        sizes.append(max(*distances, gyrations[half.a], gyrations[half.b]))
    return np.array(sizes)


def _independent(tree: Tree, halves: list[Halves], rows: list[ClosureRows], sizes: Array) -> list[System]:
    """Systems of loops that share freedoms with each other and with no others: their ranks add up."""
    groups: list[tuple[Array, list[int]]] = []
    for i, half in enumerate(halves):
        path, members = np.abs(tree.carried[half.a] - tree.carried[half.b]) @ np.abs(tree.motions) != 0.0, [i]
        touching = [bool((other & path).any()) for other, _ in groups]
        for (other, others), touches in zip(groups, touching, strict=True):
            path, members = (path | other, others + members) if touches else (path, members)
        groups = [group for group, touches in zip(groups, touching, strict=True) if not touches] + [(path, members)]
    return [System(tree, [halves[i] for i in g], [rows[i] for i in g], sizes[g]) for _, g in groups]


def _random_coordinates(tree: Tree, unit: Array, generator: np.random.Generator) -> Array:
    """Tree coordinates (S, n_q) all over the joints' range, loops open; slides about the size of their loops."""
    rates = generator.uniform(-1.0, 1.0, size=(_SAMPLES, tree.freedoms)) * np.where(tree.turns, np.pi, unit)
    return tree.move(np.repeat(tree.zero[None], _SAMPLES, axis=0), rates)


def _assemble(system: System, halves: list[Halves], sizes: Array, generator: np.random.Generator) -> Array:
    """Tree coordinates (1, n_q) next to zero where all loops are closed; exactly zero where they are closed there."""
    zero = system.tree.start[None]
    first = here = measure(system, zero)
    if here.gap[0] > _COINCIDENT:
        first = here = close_loops(system, zero)
    if not _fits(system, halves, sizes, here).any():
        rates = generator.uniform(-1.0, 1.0, (len(_AMPLITUDES), system.freedoms)) * _AMPLITUDES
        rates[:, ~system.moving] = 0.0
        here = close_loops(system, system.move(np.repeat(zero, len(rates), axis=0), rates))
    fits = _fits(system, halves, sizes, here)
    if not fits.any():
        raise AssemblyError(_complaint(system, halves, sizes, first))
    distance = np.linalg.norm(here.coordinates - zero, axis=1)
    nearest: Array = here.coordinates[[int(np.argmin(np.where(fits, distance, np.inf)))]]
    return nearest


def _apart(system: System, halves: list[Halves], closing: Closing) -> Array:
    """Gaps of all closing joints (S, joints, 2) [m, rad], implied rows among them."""
    poses = system.tree.poses(closing.coordinates)
    return np.stack([np.stack(gaps(half, poses), axis=-1) for half in halves], axis=1)


def _fits(system: System, halves: list[Halves], sizes: Array, closing: Closing) -> Array:
    """Whether loops are closed (S,): imposed rows exactly, implied ones as far as inexact input allows."""
    misfit = _apart(system, halves, closing) / np.stack([sizes, np.ones(len(sizes))], axis=-1)
    fits: Array = (closing.gap < CLOSED) & (misfit.max(axis=(1, 2)) < MISFIT)
    return fits


def _complaint(system: System, halves: list[Halves], sizes: Array, closing: Closing) -> str:
    apart = _apart(system, halves, closing)[0]
    worst = int(np.argmax((apart / np.stack([sizes, np.ones(len(sizes))], axis=-1)).max(axis=1)))
    distance, angle = np.where(apart[worst] > _COINCIDENT, apart[worst], 0.0)
    reason = "no motion of its loop changes that" if closing.gap[0] < CLOSED else "its loop comes no nearer"
    return (
        f"joint {halves[worst].joint.name!r}: found its two halves {distance:.3g} m and {angle:.3g} rad apart at the "
        f"nearest pose, expected a loop that can be closed; {reason}"
    )
