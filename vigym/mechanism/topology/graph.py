"""Who hangs on whom: the tree of a mechanism and the joints that close its loops.

Joints are taken in the order they were added. A joint carries its child, unless the child already hangs on another
joint or carries the joint's own parent: then the joint closes a loop. The same joints in the same order always give
the same tree.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint

if TYPE_CHECKING:
    from vigym.mechanism.elements.collection import Listing


def spanning_tree(mech: "Listing") -> list[tuple[Joint, str]]:
    """Return (joint, child body name) depth-first from the world, parents before children.

    Children of one body come in the order of `mech.tree_joints`; implicit floating joints are included.
    """
    children: dict[str, list[Joint]] = {}
    for joint in mech.tree_joints:
        children.setdefault(joint.parent, []).append(joint)
    order: list[tuple[Joint, str]] = []
    stack = children.get(WORLD, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append((joint, joint.child))
        stack.extend(reversed(children.get(joint.child, [])))
    return order


def closes_loop(joint: Joint, tree: Iterable[Joint]) -> bool:
    """Whether `joint` closes a loop with those of `tree`: its child already hangs on one, or carries its parent."""
    carrier = {other.child: other.parent for other in tree}
    if joint.child in carrier:
        return True
    body = joint.parent
    while body in carrier and body != joint.child:
        body = carrier[body]
    return body == joint.child


def check_closing(joint: Joint) -> None:
    """Raise MechanismError for what a loop-closing joint cannot carry."""
    element = f"joint {joint.name!r} closes a loop"
    if joint.type == "floating":
        raise MechanismError(f"{element}: found type 'floating', which closes nothing")
    for quantity in ("effort", "armature", "friction"):
        if getattr(joint, quantity):
            raise MechanismError(
                f"{element}: found {quantity} {getattr(joint, quantity):g}, expected 0: only the joints of the tree "
                "have one; add this joint before the others of its loop"
            )
    if len(joint.prototype.rotations) > 1 and (joint.damping or joint.stiffness):
        raise MechanismError(
            f"{element}: found a spring or damper on a {joint.type} joint, expected none; "
            "add this joint before the others of its loop"
        )


def check_open(joint: Joint) -> None:
    """Raise MechanismError when a joint of the tree has its two halves apart: only a loop may have to be closed."""
    if joint.is_open:
        raise MechanismError(
            f"joint {joint.name!r}: found child_position or child_rotation on a joint that closes no loop"
        )


def check_coordinates(joint: Joint, others: Iterable[Joint]) -> None:
    """Raise MechanismError when a coordinate of a joint has the name of one of another joint."""
    taken = {name for other in others for name in other.names}
    double = sorted(joint.names & taken)
    if double:
        raise MechanismError(f"joint {joint.name!r}: coordinate name {double[0]!r} is taken by another joint")


def loop_joints(mech: "Listing") -> set[str]:
    """Names of the tree's joints that lie on a loop."""
    carriers = {joint.child: joint for joint in mech.tree_joints}

    def path(body: str) -> set[str]:
        names = set()
        while body in carriers:
            names.add(carriers[body].name)
            body = carriers[body].parent
        return names

    loops = [path(joint.parent) ^ path(joint.child) for joint in mech.closing_joints]
    return set().union(*loops)
