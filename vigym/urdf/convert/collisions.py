"""What the links of a file touch with becomes contacts and collisions of the mechanism's bodies."""

from collections import Counter
from itertools import combinations
from typing import Any

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.collisions import PAIRABLE
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.mechanism.elements.shapes import Mesh
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import Pose
from vigym.urdf.convert.merge import Cluster, Rigid, in_body, placed
from vigym.urdf.read.records import Link, Robot, Touch


def add_collisions(
    mech: Mechanism, robot: Robot, cluster: Cluster, relative: dict[str, Pose], rigid: Rigid, missing_meshes: str
) -> None:
    """Add what a body touches with.

    Args:
        mech: with the body.
        robot: what the file says.
        cluster: links of the body.
        relative: pose of each link in the carrier's frame.
        rigid: the body's centre of mass in it.
        missing_meshes: what becomes of meshes that cannot be read: "error", or "report" and left out.

    Raises:
        UrdfError: a mesh that cannot be read.
        MechanismError: names that clash.
    """
    names = Counter(touch.name for link in robot.links.values() for touch in link.touches)
    for link in cluster.links:
        for number, touch in enumerate(link.touches, start=1):
            name = touch.name if names[touch.name] == 1 and touch.name else _name(link, number)
            pose = in_body(relative[link.name] @ touch.pose, rigid.center)
            try:
                _add(mech, name, cluster.carrier.name, touch, pose)
            except MechanismError as error:
                if not isinstance(touch.shape, Mesh):
                    raise
                if missing_meshes == "error":
                    message = f"{robot.path}: {touch.place}: {error} (missing_meshes='report' leaves it out)"
                    raise UrdfError(message) from error
                mech.report.append(Note("dropped", touch.place, f"it touches nothing: {error}"))


def _name(link: Link, number: int) -> str:
    return link.name if len(link.touches) == 1 else f"{link.name} {number}"


def _add(mech: Mechanism, name: str, body: str, touch: Touch, pose: Pose) -> None:
    surface = touch.surface
    values: dict[str, Any] = {
        "friction": surface.friction,
        "restitution": surface.restitution,
        "torsion": surface.torsion,
    }
    direction = pose.rotation @ surface.direction
    if touch.shape is None:
        mech.add_contact(name, body, pose.position, direction=direction, **values)
        return
    collision = mech.add_collision(name, body, placed(touch.shape, pose), direction=direction, **values)
    if isinstance(touch.shape, Mesh):
        message = f"its convex hull touches, by {len(collision.corners)} corners"
        mech.report.append(Note("changed", touch.place, message))


def add_pairs(mech: Mechanism) -> None:
    """Pair all bodies that no joint holds together; those with shapes that touch the ground alone are reported."""
    shapes = {name: set[str]() for name in mech.bodies}
    for collision in mech.collisions.values():
        if collision.shape is not None:
            shapes[collision.body].add(collision.shape.kind)
    for name, kinds in shapes.items():
        if not kinds <= set(PAIRABLE):
            message = f"touches the ground alone, not other bodies: {', '.join(sorted(kinds - set(PAIRABLE)))}"
            mech.report.append(Note("ignored", f"body {name!r} <collision>", message))
    able = [name for name, kinds in shapes.items() if kinds and kinds <= set(PAIRABLE)]
    held = {frozenset((joint.parent, joint.child)) for joint in mech.joints.values()}
    for a, b in combinations(able, 2):
        if frozenset((a, b)) in held:
            continue
        if "box" in shapes[a] & shapes[b]:
            message = "both have boxes, which do not touch each other"
            mech.report.append(Note("ignored", f"pair {a!r}, {b!r}", message))
        else:
            mech.add_pair(a, b)
