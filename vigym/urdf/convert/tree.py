"""Who hangs on whom in a URDF file: one root, every link on one <joint>; and where links are at zero."""

from vigym.mechanism.elements.bodies import WORLD
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.read.records import Robot, UrdfJoint


def link_order(robot: Robot) -> list[tuple[str, UrdfJoint | None]]:
    """Return (link, joint that carries it) from the root (None) outwards, parents before children, file order kept.

    Raises:
        UrdfError: a joint to an unknown link, a link with two parents, no root or several.
    """
    carriers = _carriers(robot)
    roots = [name for name in robot.links if name not in carriers]
    if len(roots) != 1:
        found = f"links {', '.join(map(repr, roots[:5]))} without parent" if roots else "a loop without root"
        raise robot.error("tree", f"{len(roots)} roots ({found})", "one root link")
    children: dict[str, list[UrdfJoint]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    order: list[tuple[str, UrdfJoint | None]] = []
    stack: list[tuple[str, UrdfJoint | None]] = [(roots[0], None)]
    while stack:
        name, carrier = stack.pop()
        order.append((name, carrier))
        stack.extend((joint.child, joint) for joint in reversed(children.get(name, [])))
    _check_reached(robot, {name for name, _ in order})
    return order


def _carriers(robot: Robot) -> dict[str, UrdfJoint]:
    """Return the joint that carries each link."""
    carriers: dict[str, UrdfJoint] = {}
    for joint in robot.joints.values():
        place = f"joint {joint.name!r}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in robot.links:
                raise robot.error(f"{place} <{role}>", f"unknown link {link!r}", "the name of a link")
        if joint.parent == joint.child:
            raise robot.error(place, f"{joint.child!r} as parent and child", "two links")
        if joint.child in carriers:
            found = f"link {joint.child!r}, which already hangs on joint {carriers[joint.child].name!r}"
            raise robot.error(f"{place} <child>", found, "one parent per link: write this joint as <loop_joint>")
        carriers[joint.child] = joint
    if WORLD in carriers:
        raise robot.error(f"link {WORLD!r}", f"joint {carriers[WORLD].name!r} above it", "the world to be the root")
    return carriers


def _check_reached(robot: Robot, reached: set[str]) -> None:
    lost = [name for name in robot.links if name not in reached]
    if lost:
        found = f"a loop apart from the root, with the links {', '.join(map(repr, lost[:5]))}"
        raise robot.error("tree", found, "one tree; write the joints that close loops as <loop_joint>")


def zero_poses(order: list[tuple[str, UrdfJoint | None]]) -> dict[str, Pose]:
    """Return the pose of every link at the file's zero, in the root link."""
    poses: dict[str, Pose] = {}
    for name, joint in order:
        poses[name] = IDENTITY if joint is None else poses[joint.parent] @ joint.origin
    return poses
