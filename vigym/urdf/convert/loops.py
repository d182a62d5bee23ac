"""Loop-closing joints of a mechanism, from the loop joints of a file."""

from dataclasses import replace

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Note
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.analysis import limit_notes
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_closure import CLOSED
from vigym.mechanism.topology.loop_constraints import joint_gaps
from vigym.spatial import IDENTITY, Pose, quaternion_from_matrix
from vigym.urdf.read.records import LoopJoint, Robot

_ROUNDING = 1e-12  # relative; joint frames nearer than that coincide


def add_loops(
    mech: Mechanism, robot: Robot, owners: dict[str, str], poses: dict[str, Pose]
) -> None:
    """Add the loop-closing joints.

    Args:
        mech: with all bodies and the joints of the tree.
        robot: the file.
        owners: body (or "world") of each link.
        poses: pose of each link in the world at zero.

    Raises:
        UrdfError: two links of one rigid body.
        MechanismError: parameters that loop-closing joints cannot have.
    """
    owners = {WORLD: WORLD} | owners
    poses = {WORLD: IDENTITY} | poses
    for written in robot.loops:
        loop = _with_moving_child(mech, robot, written, owners)
        parent = poses[loop.parent] @ loop.parent_frame
        child = poses[loop.child] @ loop.child_frame
        turn = child.rotation @ parent.rotation.T
        distance = np.abs(child.position - parent.position).max()
        tolerance = _ROUNDING * max(1.0, float(np.abs(parent.position).max()))
        is_open = max(distance, np.abs(turn - np.eye(3)).max()) > tolerance
        mech.add_joint(
            loop.name,
            loop.type,
            owners[loop.parent],
            owners[loop.child],
            parent.position,
            parent.rotate_axis(loop.axis),
            axis2=None if loop.axis2 is None else parent.rotate_axis(loop.axis2),
            child_position=child.position if is_open else None,
            child_rotation=quaternion_from_matrix(turn) if is_open else None,
            **loop.arguments(),
        )


def _with_moving_child(
    mech: Mechanism, robot: Robot, loop: LoopJoint, owners: dict[str, str]
) -> LoopJoint:
    """Return the loop joint of two bodies, reversed if its child is the world."""
    body = owners[loop.parent]
    if owners[loop.child] == body:
        found = f"links {loop.parent!r} and {loop.child!r}, both part of {body!r}"
        raise robot.error(loop.place, found, "links of two bodies")
    if owners[loop.child] != WORLD:
        return loop
    forces = (loop.damping, loop.stiffness, loop.friction, loop.effort, loop.armature)
    has_forces = any(map(np.any, forces))
    is_symmetric = JOINT_TYPES[loop.type].is_symmetric
    if loop.limits is not None or has_forces or not is_symmetric:
        kind = "joint with limits, forces or an actuator" if is_symmetric else f"{loop.type} joint"
        child = f"the world as the child of a {kind}"
        expected = "the world as the parent: exchange the two links"
        raise robot.error(loop.place, f"{child} ({loop.child!r})", expected)
    message = f"reversed: its coordinates are those of {body!r} relative to the world"
    mech.notes.append(Note("changed", loop.place, message))
    return replace(
        loop,
        parent=loop.child,
        child=loop.parent,
        parent_frame=loop.child_frame,
        child_frame=loop.parent_frame,
        axis=loop.axis if loop.axis2 is None else loop.axis2,
        axis2=None if loop.axis2 is None else loop.axis,
    )


def note_gaps(mech: Mechanism, robot: Robot) -> None:
    """Add a note for every loop that is open at the file's zero, with its gap once assembled.

    Raises:
        AssemblyError: loops that cannot be closed.
    """
    if not robot.loops:
        mech.notes += limit_notes(mech.structure)
        return
    tree = TreeKinematics(mech)
    assembly = mech.structure.assembly
    poses = tree.poses(np.array([tree.zero, assembly]))
    for loop in robot.loops:
        joint = mech.joints[loop.name]
        rounding = _ROUNDING * max(1.0, float(np.abs(joint.position).max()))
        gaps = joint_gaps(joint_frames(mech, joint), poses)
        (distance, distance_left), (angle, angle_left) = (
            np.where(gap < rounding, 0.0, gap) for gap in gaps
        )
        if not distance and not angle:
            continue
        apart = f"joint frames {distance:.3g} m and {angle:.3g} rad apart at the file's zero"
        message = f"{apart}; simulators start with the loop closed"
        if max(distance_left, angle_left) > CLOSED:
            left = f"{distance_left:.3g} m and {angle_left:.3g} rad stay"
            message += f"; {left}, no motion of the tree changes them"
        mech.notes.append(Note("assembled", loop.place, message))
    mech.notes += limit_notes(mech.structure)
    moves = np.abs(assembly - tree.zero)
    farthest = int(np.argmax(moves))
    if moves[farthest] > 0.0:
        name = mech.position_names[farthest]
        message = f"farthest from the file's zero is {name!r}, at {assembly[farthest]:.6g}"
        mech.notes.append(Note("assembled", "pose", message))
