"""Graph of bodies and joints: the spanning tree and the joints that close its loops.

Joints are taken in the order they were added. A joint carries its child, unless the child already
hangs on another joint or carries the joint's own parent: then the joint closes a loop. The same
joints in the same order always give the same tree.
"""

from vigym.mechanism.content import Elements, Index
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint


def spanning_tree(mechanism: Elements) -> list[tuple[Joint, str]]:
    """Return (joint, child body name) depth-first from the world, parents before children.

    Children of one body come in the order of `tree_joints`; implicit floating joints are included.
    """
    children: dict[str, list[Joint]] = {}
    for joint in mechanism.tree_joints:
        children.setdefault(joint.parent, []).append(joint)
    order: list[tuple[Joint, str]] = []
    stack = children.get(WORLD, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append((joint, joint.child))
        stack.extend(reversed(children.get(joint.child, [])))
    return order


def tree_joints_on_loops(mechanism: Elements) -> set[str]:
    """Return the names of the tree's joints on a loop, or between curves or surfaces that touch."""
    carriers = {joint.child: joint for joint in mechanism.tree_joints}

    def path_to_world(body: str) -> set[str]:
        names = set()
        while body in carriers:
            names.add(carriers[body].name)
            body = carriers[body].parent
        return names

    ends = [(joint.parent, joint.child) for joint in mechanism.closing_joints]
    ends += [(track.a, track.b) for track in mechanism.tracks.values()]
    return set().union(*(path_to_world(a) ^ path_to_world(b) for a, b in ends))


def check_joint_closes_loop(joint: Joint, index: Index) -> bool:
    """Return whether a new joint closes a loop.

    Args:
        joint: to be added.
        index: of the mechanism.

    Raises:
        MechanismError: parameters that a joint in its place cannot have, or coordinate names that
            are taken.
    """
    # its child hangs on the tree already, or carries its parent
    closes_loop = joint.child in index.tree or index.tree.root(joint.parent) == joint.child
    if closes_loop:
        _check_closing_joint(joint)
    elif joint.is_open:
        raise MechanismError(
            f"joint {joint.name!r}: found child_position or child_rotation "
            "on a joint that closes no loop, expected them on loop-closing joints only"
        )
    double = sorted(joint.coordinate_names & index.coordinates.keys())
    if double:
        raise MechanismError(
            f"joint {joint.name!r}: found the coordinate name {double[0]!r}, "
            "which another joint has, expected unique names"
        )
    return closes_loop


def _check_closing_joint(joint: Joint) -> None:
    """Raise MechanismError for parameters that a loop-closing joint cannot have."""
    element = f"joint {joint.name!r} closes a loop"
    if not joint.joint_type.can_close_loop:
        raise MechanismError(
            f"{element}: found type {joint.type!r}, expected one that constrains the bodies"
        )
