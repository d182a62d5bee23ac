"""A mechanism as the text of a URDF file: what `vigym.load_urdf` reads back to the same mechanism.

Closing joints are `<loop_joint>` elements, frames are massless links on fixed joints. What a file of this format
cannot hold is an error where it changes the motion, and a comment at the top of the file where it does not.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Frame
from vigym.mechanism.elements.collection import Elements
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import FLOATING_SUFFIX, JOINT_TYPES, Joint
from vigym.spatial import batch_rotation_matrix
from vigym.urdf.write.elements import (
    Placed,
    body_link,
    loop_joint,
    mount,
    parent_of,
    touch,
    tree_joint,
    visual,
)

_GRAVITY = (0.0, 0.0, -9.81)  # of every mechanism that is loaded
_SAME = 1e-12  # m or entry of a rotation matrix: frames as near as that are one
_TREE_TYPES = [kind.name for kind in JOINT_TYPES.values() if kind.urdf]
_BOUNDED = [kind.name for kind in JOINT_TYPES.values() if kind.bounded]
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False)
class _Layout:
    """All links by name, which of them is the root, and the pairs (parent, child) that fixed joints hold."""

    links: dict[str, Placed]
    root: str
    mounts: list[tuple[str, str]]


def to_urdf(mech: Elements, path: str | os.PathLike[str] | None = None) -> str:
    """Return the text of a file that holds a mechanism; see `Mechanism.to_urdf`."""
    for fault in _faults(mech):
        raise MechanismError(f"mechanism {mech.name!r} as URDF: {fault}")
    layout = _layout(mech)
    links, closing = layout.links, {joint.name for joint in mech.closing_joints}
    elements: list[Any] = [ET.Comment(f" {note} ".replace("--", "- -")) for note in _notes(mech, layout)]
    touching = _touching(mech)
    elements += [
        _link(mech, links, name, touching.get(name, []))
        for name in dict.fromkeys([layout.root, *mech.bodies, *mech.frames])
    ]
    carrying = [joint for joint in mech.joints.values() if joint.name not in closing]
    following = {coupling.joint: coupling for coupling in mech.couplings.values()}
    for joint in carrying:
        elements.append(tree_joint(joint, links[joint.parent], links[joint.child], following.get(joint.name)))
    elements += [mount(_fresh(f"{b}_mount", mech.joints), links[a], links[b]) for a, b in layout.mounts]
    elements += [loop_joint(joint, links[joint.parent], links[joint.child]) for joint in mech.closing_joints]
    robot = parent_of(elements, "robot", name=mech.name)
    ET.indent(robot)
    text = '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _fresh(name: str, taken: Container[str]) -> str:
    return _fresh(name + "_", taken) if name in taken else name


def _link(mech: Elements, links: dict[str, Placed], name: str, touching: list[Collision]) -> ET.Element:
    link, found = links[name], []
    if touching:
        body = mech.bodies[touching[0].body]
        found = touch(touching, link, Placed(body.name, body.position, links[body.name].rotation))
    if name in mech.bodies:
        return body_link(mech.bodies[name], link, found)
    shapes = mech.world_shapes if name == WORLD else ()
    return parent_of([*(visual(shape, link, link) for shape in shapes), *found], "link", name=name)


def _touching(mech: Elements) -> dict[str | None, list[Collision]]:
    """Collisions by the link that they are written in, which has one <contact>: the body's, or a frame's of the body.

    None: those for which there is no frame.
    """
    found: dict[str | None, list[Collision]] = {}
    for each in mech.collisions.values():
        frames = [frame.name for frame in mech.frames.values() if frame.body == each.body]
        links = [each.body, *sorted(frames, key=lambda name: name != each.name)]
        same = [name for name in links if name in found and _surface(found[name][0]) == _surface(each)]
        free = [name for name in links if name not in found]
        found.setdefault(next(iter(same + free), None), []).append(each)
    return found


def _surface(collision: Collision) -> tuple[float, ...]:
    return float(collision.friction[0]), collision.restitution, collision.torsion


def _layout(mech: Elements) -> _Layout:
    """Place the links: a body's has the body's axes and lies at the joint that carries it, the root's is the world's.

    A body that floats and has other axes hangs on a massless root: a frame of it that is the world's, or a new one.
    """
    origin = np.zeros(3), np.eye(3)
    links = {WORLD: Placed(WORLD, *origin)}
    for joint in mech.tree_joints:
        rotation = batch_rotation_matrix(mech.bodies[joint.child].orientation)
        links[joint.child] = Placed(joint.child, joint.position, rotation)
    frames = {frame.name: _place(mech, frame) for frame in mech.frames.values()}
    mounts = {frame.name: frame.body for frame in mech.frames.values()}
    root = WORLD
    for body in _free(mech):
        root = body
        if (links[body].rotation != np.eye(3)).any():
            near = [name for name, frame in frames.items() if mounts[name] == body and _is_origin(frame)]
            root = near[0] if near else _fresh(f"{body}_root", {*links, *frames})
            mounts[body] = root
            mounts.pop(root, None)
        links[root] = Placed(root, *origin)
    return _Layout(frames | links, root, [(parent, child) for child, parent in mounts.items()])


def _place(mech: Elements, frame: Frame) -> Placed:
    position, rotation = frame.position, batch_rotation_matrix(frame.orientation)
    if frame.body == WORLD:
        return Placed(frame.name, position, rotation)
    body = mech.bodies[frame.body]
    turn = batch_rotation_matrix(body.orientation)
    return Placed(frame.name, body.position + turn @ position, turn @ rotation)


def _is_origin(link: Placed) -> bool:
    return bool(max(np.abs(link.position).max(), np.abs(link.rotation - np.eye(3)).max()) < _SAME)


def _free(mech: Elements) -> list[str]:
    """Return the bodies that no joint carries."""
    return [joint.child for joint in mech.tree_joints if joint.name.endswith(FLOATING_SUFFIX)]


def _faults(mech: Elements) -> Iterator[str]:
    """Yield what the format cannot hold and what would change the motion if it were left out."""
    if tuple(mech.gravity) != _GRAVITY:
        yield f"gravity: found {mech.gravity.tolist()}, expected {_GRAVITY}; set `gravity` again after loading"
    for kind, names in (("spring", mech.springs), ("skate", mech.skates), ("wheel", mech.wheels)):
        yield from (f"{kind} {name!r}: found a {kind}, expected none; add it again after loading" for name in names)
    for a, b in mech.pairs:
        yield f"pair {a!r}, {b!r}: found bodies that touch each other, expected none; pair them again after loading"
    yield from _surface_faults(mech)
    for coupling in mech.couplings.values():
        for name in (coupling.joint, coupling.other):
            if name not in mech.joints:
                yield f"coupling {coupling.name!r}: found the coordinate {name!r}, expected joints of one freedom"
    free = _free(mech)
    on_world = [joint.name for joint in mech.tree_joints if joint.parent == WORLD and joint.child not in free]
    on_world += [frame.name for frame in mech.frames.values() if frame.body == WORLD]
    if len(free) > 1 or (free and (on_world or mech.world_shapes)):
        others = "other bodies that float" if len(free) > 1 else "joints, frames or shapes on the world"
        expected = "one root; carry it by a joint of type 'floating'"
        yield f"body {free[0]!r}: found no joint that carries it, and {others}, expected {expected}"
    for name in (mech.name, *mech.bodies, *mech.joints, *mech.frames, *mech.collisions):
        if _NO_XML.search(name):
            yield f"name {name!r}: found a character that XML has no place for, expected others"
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        yield from (f"joint {joint.name!r}: {fault}" for fault in _joint_faults(joint, joint.name in closing))


def _surface_faults(mech: Elements) -> Iterator[str]:
    """Yield what <contact> cannot hold: friction that depends on the direction, more surfaces than links."""
    for each in mech.collisions.values():
        along, across, backward = each.friction.tolist()
        if not along == across == backward:
            yield f"collision {each.name!r}: found friction {(along, across, backward)}, expected one number"
    for each in _touching(mech).get(None, []):
        found = f"found one more friction, restitution, torsion {_surface(each)} on body {each.body!r}"
        yield f"collision {each.name!r}: {found}, expected one for each of its links: add a frame"


def _joint_faults(joint: Joint, closes: bool) -> Iterator[str]:
    if not closes and joint.type not in _TREE_TYPES:
        yield f"found type {joint.type!r}, expected one of: {', '.join(_TREE_TYPES)}; only a loop closes by any type"
    if joint.limits is not None and not joint.joint_type.bounded:
        yield f"found limits {joint.limits.tolist()} on type {joint.type!r}, expected one of: {', '.join(_BOUNDED)}"
    if joint.armature:
        yield f"found armature {joint.armature:g}, expected 0"
    if joint.effort is not None and not np.isfinite(joint.effort):
        yield "found unlimited effort, expected a finite number"
    if len(set(joint.rest)) > 1:
        yield f"found rest {joint.rest}, expected one number for all coordinates"


def _notes(mech: Elements, layout: _Layout) -> Iterator[str]:
    """Yield what is not in the file and changes no motion."""
    if mech.ground is not None:
        yield "the ground is not in this file: it is an argument of load_urdf"
    for motor in mech.motors.values():
        found = f"kp {motor.kp:g}, kd {motor.kd:g}, effort {motor.effort:g}"
        yield f"motor of joint {motor.joint!r} is not in this file ({found}): add it again after loading"
    for coupling in mech.couplings.values():
        if (coupling.name, coupling.type) != (coupling.joint, "mimic"):
            yield f"coupling {coupling.name!r}: a {coupling.type}, written as <mimic> of joint {coupling.joint!r}"
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        if joint.velocity is not None and not np.isfinite(joint.velocity):
            yield f"joint {joint.name!r}: unlimited velocity is no limit"
        if joint.type == "fixed" and joint.name not in closing:
            yield f"joint {joint.name!r}: fixed, readers make one body of {joint.parent!r} and {joint.child!r}"
    if layout.root not in (WORLD, *mech.bodies, *mech.frames):
        yield f"link {layout.root!r}: added, because a root has the axes of the world"
