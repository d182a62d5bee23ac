"""Structure of a mechanism: assembled pose, loop constraints, degrees of freedom."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array, ReadOnly, read_only
from vigym.mechanism.topology.assembly import (
    Loops,
    assemble,
    beyond_limits,
    start_within_limits,
)
from vigym.mechanism.topology.joint_frames import JointFrames, joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_closure import generic_ranks, rows_singular_at_assembly
from vigym.mechanism.topology.loop_constraints import LoopConstraints, rate_units
from vigym.mechanism.topology.redundancy import nonconstant_constraints

_SAMPLES = 8


@dataclass(frozen=True, eq=False)
class Structure(ReadOnly):
    """Assembled pose and constraints of a mechanism.

    Attributes:
        assembly: coordinates of the tree joints at which all loops are closed and all couplings
            hold, within limits and next to zero (floating, spherical: their assembly pose).
        loop_constraints: constraint rows of each loop-closing joint, by name.
        dofs: number of independent velocities at a generic assembled pose; skates and
            wheels, which take away velocities but no positions, do not count.
        redundant_constraints: number of dependent constraint rows there, those not imposed
            included.
        singular_joints: names of the loop-closing joints whose constraint rows depend on each other
            at the assembly, but not next to it: loops have more motions there than elsewhere.
        beyond_limits: coordinates of loops or couplings that are beyond their limits at the
            assembly, by name: value, lower and upper limit (3,). No pose within was found.
    """

    assembly: Array
    loop_constraints: dict[str, LoopConstraints]
    dofs: int
    redundant_constraints: int
    singular_joints: tuple[str, ...] = ()
    beyond_limits: Mapping[str, Array] = field(default_factory=dict)


def analyse_structure(mechanism: Elements) -> Structure:
    """Return the structure of a mechanism.

    Raises:
        AssemblyError: loops that cannot be closed; names the joint with the largest gap.
    """
    tree = TreeKinematics(mechanism)
    closing = mechanism.closing_joints
    if not closing:
        start = start_within_limits(mechanism, tree, tree.start, None)
        beyond = beyond_limits(mechanism, tree, start, None)
        return Structure(read_only(start), {}, len(tree.independent), 0, (), beyond)
    frames = [joint_frames(mechanism, joint) for joint in closing]
    sizes = loop_sizes(mechanism, tree, frames)
    generator = np.random.default_rng(1)
    units = rate_units(tree, frames, sizes)
    samples = tree.poses(_random_coordinates(tree, units, generator))
    rows = [
        nonconstant_constraints(tree, each, size, samples)
        for each, size in zip(frames, sizes, strict=True)
    ]
    loops = Loops(tree, frames, rows, sizes, mechanism.tree_joints)
    assembly = assemble(loops, generator)
    rank, singular = 0, []
    for part in loops.independent_parts():
        own = generic_ranks(part.system, assembly, generator)
        rank += own.rank
        singular += part.joints_of(rows_singular_at_assembly(part.system, assembly, own))
    count = sum(len(row.translations) + len(row.rotations) + row.redundant for row in rows)
    constraints = {joint.name: row for joint, row in zip(closing, rows, strict=True)}
    dofs = len(tree.independent) - rank
    order = tuple(joint.name for joint in closing if joint.name in singular)
    start = start_within_limits(mechanism, tree, assembly[0], loops)
    beyond = beyond_limits(mechanism, tree, start, loops)
    return Structure(read_only(start), constraints, dofs, count - rank, order, beyond)


def limit_notes(structure: Structure) -> list[Note]:
    """Return a note for each coordinate that is beyond its limits at the assembly."""
    message = "loops or couplings have it at {:.6g}, beyond its limits {:g} to {:g}: no pose within"
    return [
        Note("assembled", f"joint {name!r}", f"{message.format(*numbers)} was found")
        for name, numbers in structure.beyond_limits.items()
    ]


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
