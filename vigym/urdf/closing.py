"""Loops of a file become closing joints of the mechanism."""

from dataclasses import replace

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.joints import PROTOTYPES, axis_frame
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.parts import WORLD, Report
from vigym.urdf.pose import IDENTITY, Pose, direction, quaternion
from vigym.urdf.records import Loop, Robot

_ROUNDING = 1e-12  # relative; halves nearer than that are one


def add_loops(mech: Mechanism, robot: Robot, owners: dict[str, str], poses: dict[str, Pose]) -> None:
    """Add the closing joints; a loop that is open at the file's zero is reported.

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
        axis = direction(parent, loop.axis)
        axis2 = None if loop.axis2 is None else direction(parent, loop.axis2)
        mech.add_joint(
            loop.name,
            loop.type,
            owners[loop.links[0]],
            owners[loop.links[1]],
            parent.position,
            axis,
            limits=loop.limits,
            damping=loop.damping,
            stiffness=loop.stiffness,
            rest=loop.rest,
            axis2=axis2,
            velocity=loop.velocity,
            child_position=child.position if is_open else None,
            child_rotation=quaternion(turn) if is_open else None,
        )
        shift, angle = _gap(loop.type, axis_frame(axis, axis2), child.position - parent.position, turn)
        if max(shift, angle) > apart:
            message = f"halves {shift:.3g} m and {angle:.3g} rad apart at the file's zero: a simulator starts closed"
            mech.report.append(Report("assembled", loop.place, message))


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
    if loop.limits is not None or loop.damping or loop.stiffness:
        found = f"the world as the child of a joint with limits, spring or damper ({loop.links[1]!r})"
        raise robot.error(loop.place, found, "the world as the parent: exchange the two links")
    message = f"turned round: its coordinates are those of {first!r} relative to the world"
    mech.report.append(Report("changed", loop.place, message))
    turned = replace(loop, links=loop.links[::-1], halves=loop.halves[::-1])
    return turned if loop.axis2 is None else replace(turned, axis=loop.axis2, axis2=loop.axis)


def _gap(type: str, frame: Array, shift: Array, turn: Array) -> tuple[float, float]:
    """Return how far the halves are apart along [m] and about [rad] the directions the joint does not leave free."""
    prototype = PROTOTYPES[type]
    bound = [k for k in range(3) if k not in prototype.translations]
    angle = 0.0
    if len(prototype.rotations) == 0:
        angle = 2.0 * float(np.arctan2(np.linalg.norm(quaternion(turn)[1:]), quaternion(turn)[0]))
    elif len(prototype.rotations) == 1:
        other = turn @ frame[:, 2]
        angle = float(np.arctan2(np.linalg.norm(np.cross(frame[:, 2], other)), frame[:, 2] @ other))
    elif len(prototype.rotations) == 2:
        angle = abs(float(np.arcsin(np.clip(frame[:, 2] @ turn @ frame[:, 0], -1.0, 1.0))))
    return float(np.linalg.norm(frame[:, bound].T @ shift)), angle
