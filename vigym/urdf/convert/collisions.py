"""Contacts, collision shapes and body pairs of a mechanism, from <collision> elements."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, count
from typing import Any

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import PAIRABLE
from vigym.mechanism.elements.errors import MechanismError, UrdfError
from vigym.mechanism.elements.shapes import Mesh
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import Pose
from vigym.urdf.convert.merge import LinkGroup, move_origin, place_shape
from vigym.urdf.read.records import Link, Robot, UrdfCollision


def name_collisions(
    robot: Robot, links: Iterable[Link], notes: list[Note]
) -> dict[UrdfCollision, str]:
    """Return the names of the collision shapes of links, unique among them.

    A shape has the name in the file where no other shape of the file has it, else its link's, with
    a number where the link has several. Where another shape has a name so made, too, one gets a
    number more, and a note is added: names in a file need not differ.
    """
    shared = Counter(shape.name for link in robot.links.values() for shape in link.collisions)
    written: dict[UrdfCollision, str] = {}
    made_up: dict[UrdfCollision, str] = {}
    for link in links:
        for number, shape in enumerate(link.collisions, start=1):
            if shape.name and shared[shape.name] == 1:
                written[shape] = shape.name
            else:
                several = len(link.collisions) > 1
                made_up[shape] = f"{link.name} {number}" if several else link.name
    taken = set(written.values())
    reserved = taken.union(made_up.values())
    for shape, name in made_up.items():
        if name in taken:
            numbered = (f"{name} {number}" for number in count(2))
            made_up[shape] = next(free for free in numbered if free not in reserved)
            message = f"called {made_up[shape]!r}: another shape is {name!r}"
            notes.append(Note("changed", shape.place, message))
            reserved.add(made_up[shape])
        taken.add(made_up[shape])
    return written | made_up


def add_collisions(
    mech: Mechanism,
    robot: Robot,
    group: LinkGroup,
    names: dict[UrdfCollision, str],
    relative: dict[str, Pose],
    center: Array,
    missing_meshes: str,
) -> None:
    """Add the collision shapes of a body.

    Args:
        mech: with the body.
        robot: the file.
        group: links of the body.
        names: of the shapes.
        relative: pose of each link in the reference link.
        center: the body's centre of mass in the reference link (3,) [m].
        missing_meshes: "error", or "report" to leave out meshes that cannot be read, with a note.

    Raises:
        UrdfError: a mesh that cannot be read.
        MechanismError: names that clash.
    """
    for link in group.links:
        for collision in link.collisions:
            pose = move_origin(relative[link.name] @ collision.pose, center)
            try:
                _add_collision(mech, names[collision], group.reference.name, collision, pose)
            except MechanismError as error:
                if not isinstance(collision.shape, Mesh):
                    raise
                if missing_meshes == "error":
                    hint = "missing_meshes='report' leaves it out"
                    message = f"{robot.path}: {collision.place}: {error} ({hint})"
                    raise UrdfError(message) from error
                message = f"it touches nothing: {error}"
                mech.notes.append(Note("dropped", collision.place, message))


def _add_collision(
    mech: Mechanism, name: str, body: str, collision: UrdfCollision, pose: Pose
) -> None:
    surface = collision.surface
    values: dict[str, Any] = {
        "friction": surface.friction,
        "restitution": surface.restitution,
        "torsion": surface.torsion,
        "direction": pose.rotation @ surface.direction,
    }
    if collision.shape is None:
        mech.add_contact(name, body, pose.position, collision.radius, **values)
        return
    added = mech.add_collision(name, body, place_shape(collision.shape, pose), **values)
    if isinstance(collision.shape, Mesh):
        message = f"its convex hull touches, by {len(added.corners)} corners"
        mech.notes.append(Note("changed", collision.place, message))


def add_pairs(mech: Mechanism) -> None:
    """Pair all bodies that no joint connects; shapes that only touch the ground become notes."""
    shapes = {name: set[str]() for name in mech.bodies}
    for collision in mech.collisions.values():
        if collision.shape is not None:
            shapes[collision.body].add(collision.shape.kind)
    for name, kinds in shapes.items():
        unpairable = sorted(kinds - set(PAIRABLE))
        if unpairable:
            message = f"touches the ground alone, not other bodies: {', '.join(unpairable)}"
            mech.notes.append(Note("ignored", f"body {name!r} <collision>", message))
    pairable = [name for name, kinds in shapes.items() if kinds and kinds <= set(PAIRABLE)]
    jointed = {frozenset((joint.parent, joint.child)) for joint in mech.joints.values()}
    jointed.update(map(frozenset, mech.pairs))  # those of the file are there
    for a, b in combinations(pairable, 2):
        if frozenset((a, b)) in jointed:
            continue
        if "box" in shapes[a] & shapes[b]:
            message = "both have boxes, which do not touch each other"
            mech.notes.append(Note("ignored", f"pair {a!r}, {b!r}", message))
        else:
            mech.add_pair(a, b)
