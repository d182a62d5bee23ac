"""Tree of a URDF file's links: one root, one parent joint for every other link, poses at zero."""

from pathlib import Path

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import UrdfError
from vigym.spatial import Pose
from vigym.urdf.read.records import Robot, TreeJoint

LinkOrder = list[tuple[str, TreeJoint | None]]  # links with their parent joints, the root's is None

_MOST_NAMED = 5  # links that an error lists


def order_links(robot: Robot) -> LinkOrder:
    """Return the links from the root outwards, parents before children, else in the file's order.

    Raises:
        UrdfError: a link with two parents, no root or several, or links apart from the root.
    """
    parents: dict[str, TreeJoint] = {}
    for joint in robot.joints.values():
        add_parent(robot.path, parents, joint)
    if WORLD in parents:
        above = f"joint {parents[WORLD].name!r} above it"
        raise robot.error(f"link {WORLD!r}", above, "the world to be the root")
    roots = [name for name in robot.links if name not in parents]
    if len(roots) != 1:
        found = f"links {_list(roots)} without parent" if roots else "a loop without root"
        raise robot.error("tree", f"{len(roots)} roots ({found})", "one root link")
    children: dict[str, list[TreeJoint]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    order: LinkOrder = []
    stack: LinkOrder = [(roots[0], None)]
    while stack:
        name, parent_joint = stack.pop()
        order.append((name, parent_joint))
        stack.extend((joint.child, joint) for joint in reversed(children.get(name, [])))
    _check_reached(robot, {name for name, _ in order})
    return order


def _list(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_MOST_NAMED]))


def add_parent(path: Path, parents: dict[str, TreeJoint], joint: TreeJoint) -> None:
    """Add a joint to those above each link.

    Raises:
        UrdfError: a joint from a link to itself, or below another parent.
    """
    if joint.parent == joint.child:
        found = f"{joint.child!r} as parent and child"
        raise UrdfError(f"{path}: joint {joint.name!r}: found {found}, expected two links")
    if joint.child in parents:
        other = parents[joint.child].name
        found = f"link {joint.child!r}, which is the child of joint {other!r} already"
        expected = "one parent per link: write this joint as <loop_joint>"
        place = f"joint {joint.name!r} <child>"
        raise UrdfError(f"{path}: {place}: found {found}, expected {expected}")
    parents[joint.child] = joint


def _check_reached(robot: Robot, reached: set[str]) -> None:
    lost = [name for name in robot.links if name not in reached]
    if lost:
        found = f"links that no joint connects to the root, in a loop: {_list(lost)}"
        raise robot.error(
            "joints", found, "one tree; write the joints that close loops as <loop_joint>"
        )


def zero_poses(order: LinkOrder, root: Pose) -> dict[str, Pose]:
    """Return the pose of every link in the world at zero; `root` is that of the root link."""
    poses: dict[str, Pose] = {}
    for name, joint in order:
        poses[name] = root if joint is None else poses[joint.parent] @ joint.origin
    return poses
