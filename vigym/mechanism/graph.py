"""Who hangs on whom: the tree of a mechanism and the loops that are refused."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vigym.mechanism.errors import MechanismError
from vigym.mechanism.joints import Joint
from vigym.mechanism.parts import WORLD

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def spanning_tree(mech: "Mechanism") -> list[tuple[Joint, str]]:
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


def refuse_loop(joint: Joint, joints: Iterable[Joint]) -> None:
    """Raise MechanismError when `joint` would close a loop with `joints`, which form trees."""
    carrier = {other.child: other for other in joints}
    if joint.child in carrier:
        raise MechanismError(
            f"joint {joint.name!r}: body {joint.child!r} already hangs on joint {carrier[joint.child].name!r}; "
            "closed loops are not supported yet (where there is no loop, swap parent and child)"
        )
    chain, body = [joint.parent], joint.parent
    while body in carrier and body != joint.child:
        body = carrier[body].parent
        chain.append(body)
    if body == joint.child:
        raise MechanismError(
            f"joint {joint.name!r}: closes the loop {' - '.join([joint.child, *chain])}; "
            "closed loops are not supported yet"
        )
