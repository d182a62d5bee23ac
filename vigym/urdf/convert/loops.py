"""Loops of a file become closing joints of the mechanism."""

from dataclasses import replace

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Note
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_closure import CLOSED
from vigym.mechanism.topology.loop_constraints import joint_gaps
from vigym.spatial import IDENTITY, Pose, quaternion_from_matrix
from vigym.urdf.read.records import Loop, Robot

_ROUNDING = 1e-12  # relative; halves nearer than that are one


def add_loops(mech: Mechanism, robot: Robot, owners: dict[str, str], poses: dict[str, Pose]) -> None:
    """Add the closing joints.

    Args:
        mech: with all bodies and the joints of the tree.
        robot: what the file says.
        owners: body (or "world") that each link is part of.
        poses: pose of each link in the world at zero.

    Raises:
        UrdfError: an unknown link, or two links that are parts of one rigid body.
        MechanismError: what no closing joint can have.
    """
    owners, poses = {WORLD: WORLD} | owners, {WORLD: IDENTITY} | poses
    for loop in robot.loops:
        loop = _from_world(mech, robot, loop, owners)
        parent, child = (poses[link] @ half for link, half in zip(loop.links, loop.halves, strict=True))
        turn = child.rotation @ parent.rotation.T
        apart = _ROUNDING * max(1.0, float(np.abs(parent.position).max()))
        is_open = max(np.abs(child.position - parent.position).max(), np.abs(turn - np.eye(3)).max()) > apart
        mech.add_joint(
            loop.name,
            loop.type,
            owners[loop.links[0]],
            owners[loop.links[1]],
            parent.position,
            parent.rotate_axis(loop.axis),
            limits=loop.limits,
            damping=loop.damping,
            stiffness=loop.stiffness,
            rest=loop.rest,
            effort=loop.effort,
            friction=loop.friction,
            axis2=None if loop.axis2 is None else parent.rotate_axis(loop.axis2),
            velocity=loop.velocity,
            child_position=child.position if is_open else None,
            child_rotation=quaternion_from_matrix(turn) if is_open else None,
        )


def _from_world(mech: Mechanism, robot: Robot, loop: Loop, owners: dict[str, str]) -> Loop:
    """Return the loop with its links checked, turned round if its child is the world."""
    for link in loop.links:
        if link not in owners:
            raise robot.error(loop.place, f"unknown link {link!r}", "the name of a link")
    first, second = (owners[link] for link in loop.links)
    if first == second:
        found = f"links {loop.links[0]!r} and {loop.links[1]!r}, both part of {first!r}"
        raise robot.error(loop.place, found, "links of two bodies")
    if second != WORLD:
        return loop
    if loop.limits is not None or loop.damping or loop.stiffness or loop.friction:
        found = f"the world as the child of a joint with limits, spring, damper or friction ({loop.links[1]!r})"
        raise robot.error(loop.place, found, "the world as the parent: exchange the two links")
    message = f"turned round: its coordinates are those of {first!r} relative to the world"
    mech.report.append(Note("changed", loop.place, message))
    turned = replace(loop, links=loop.links[::-1], halves=loop.halves[::-1])
    return turned if loop.axis2 is None else replace(turned, axis=loop.axis2, axis2=loop.axis)


def report_gaps(mech: Mechanism, robot: Robot) -> None:
    """Report every loop that is open at the file's zero, and what is left of that where simulators start.

    Raises:
        AssemblyError: loops that cannot be closed.
    """
    if not robot.loops:
        return
    tree, structure = TreeKinematics(mech), mech.structure
    poses = tree.poses(np.array([tree.zero, structure.assembly]))
    for loop in robot.loops:
        joint = mech.joints[loop.name]
        rounding = _ROUNDING * max(1.0, float(np.abs(joint.position).max()))
        apart = joint_gaps(joint_frames(mech, joint), poses)
        (distance, left), (angle, turn_left) = (np.where(gap < rounding, 0.0, gap) for gap in apart)
        if not distance and not angle:
            continue
        message = f"halves {distance:.3g} m and {angle:.3g} rad apart at the file's zero; simulators start assembled"
        if max(left, turn_left) > CLOSED:
            message += f"; {left:.3g} m and {turn_left:.3g} rad stay, no motion of the tree changes them"
        mech.report.append(Note("assembled", loop.place, message))
    moves = np.abs(structure.assembly - tree.zero)
    farthest = int(np.argmax(moves))
    if moves[farthest] > 0.0:
        message = f"farthest from the file's zero is {mech.position_names[farthest]!r}"
        mech.report.append(Note("assembled", "pose", f"{message}, at {structure.assembly[farthest]:.6g}"))
