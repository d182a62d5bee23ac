"""Text of a URDF file that `vigym.load_urdf` reads back as the same mechanism.

Loop-closing joints become `<loop_joint>` elements, frames become massless links on fixed joints.
An element that the format does not support is an error if the motion depends on it, else a comment
at the top of the file.
"""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.files import write_file
from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD, Frame
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.joints import FLOATING_SUFFIX, Joint
from vigym.spatial import batch_rotation_matrix
from vigym.urdf.read.records import LARGEST_FRICTION
from vigym.urdf.write.elements import (
    LinkFrame,
    body_element,
    collision_elements,
    element_of,
    fixed_joint_element,
    joint_element,
    loop_joint_element,
    visual_element,
)

_GRAVITY = (0.0, 0.0, -9.81)  # of mechanisms from files
_SAME_FRAME = 1e-12  # [m], or difference of rotation matrices
_BOUNDED_TYPES = [row.name for row in JOINT_TYPES.values() if row.bounded]
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, eq=False)
class _Layout:
    """Links of the file.

    Attributes:
        links: by name.
        root: name of the root link.
        fixed: pairs (parent, child) on fixed joints.
    """

    links: dict[str, LinkFrame]
    root: str
    fixed: list[tuple[str, str]]


def to_urdf(mech: Elements, path: str | os.PathLike[str] | None = None) -> str:
    """Return the text of a file of a mechanism; see `Mechanism.to_urdf`."""
    for fault in _faults(mech):
        raise MechanismError(f"mechanism {mech.name!r} as URDF: {fault}")
    layout = _layout(mech)
    elements: list[Any] = [
        ET.Comment(f" {comment} ".replace("--", "- -")) for comment in _comments(mech, layout)
    ]
    elements += _link_elements(mech, layout)
    elements += _joint_elements(mech, layout)
    robot = element_of("robot", elements, name=mech.name)
    ET.indent(robot)
    text = '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"
    if path is not None:
        write_file(path, text)
    return text


def _link_elements(mech: Elements, layout: _Layout) -> Iterator[ET.Element]:
    """Yield the links: the root, bodies, frames."""
    collisions_of = _collisions_by_link(mech)
    for name in dict.fromkeys([layout.root, *mech.bodies, *mech.frames]):
        link = layout.links[name]
        children: list[ET.Element] = []
        collisions = collisions_of.get(name, [])
        if collisions:
            body = mech.bodies[collisions[0].body]
            body_frame = LinkFrame(body.name, body.position, layout.links[body.name].rotation)
            children = collision_elements(collisions, link, body_frame)
        if name in mech.bodies:
            yield body_element(mech.bodies[name], link, children)
        else:
            shapes = mech.world_shapes if name == WORLD else ()
            visuals = [visual_element(shape, link, link) for shape in shapes]
            yield element_of("link", [*visuals, *children], name=name)


def _joint_elements(mech: Elements, layout: _Layout) -> Iterator[ET.Element]:
    """Yield the joints: of the tree, of frames, of loops."""
    links = layout.links
    closing = {joint.name for joint in mech.closing_joints}
    followers = {coupling.joint: coupling for coupling in mech.couplings.values()}
    for joint in mech.joints.values():
        if joint.name not in closing:
            coupling = followers.get(joint.name)
            yield joint_element(joint, links[joint.parent], links[joint.child], coupling)
    for parent, child in layout.fixed:
        name = _unused_name(f"{child}_mount", mech.joints)
        yield fixed_joint_element(name, links[parent], links[child])
    for joint in mech.closing_joints:
        yield loop_joint_element(joint, links[joint.parent], links[joint.child])


def _unused_name(name: str, taken: Container[str]) -> str:
    return _unused_name(name + "_", taken) if name in taken else name


def _collisions_by_link(mech: Elements) -> dict[str | None, list[Collision]]:
    """Return the collisions by the link that gets them; None has those without a link.

    A link has one <contact>; other surfaces of a body go to the links of its frames.
    """
    found: dict[str | None, list[Collision]] = {}
    for collision in mech.collisions.values():
        frames = [frame.name for frame in mech.frames.values() if frame.body == collision.body]
        frames.sort(key=lambda name: name != collision.name)
        links = [collision.body, *frames]
        surface = _surface(collision)
        same = [name for name in links if name in found and _surface(found[name][0]) == surface]
        free = [name for name in links if name not in found]
        found.setdefault(next(iter(same + free), None), []).append(collision)
    return found


def _surface(collision: Collision) -> tuple[float, ...]:
    return float(collision.friction[0]), collision.restitution, collision.torsion


def _layout(mech: Elements) -> _Layout:
    """Return the frames of the links.

    The link of a body has the body's axes and its origin in the body's joint; the root link is the
    world's frame. A floating body with other axes hangs on a massless root: a frame of it that
    coincides with the world's, or a new one.
    """
    origin = (np.zeros(3), np.eye(3))
    links = {WORLD: LinkFrame(WORLD, *origin)}
    for joint in mech.tree_joints:
        rotation = batch_rotation_matrix(mech.bodies[joint.child].orientation)
        links[joint.child] = LinkFrame(joint.child, joint.position, rotation)
    frames = {frame.name: _frame_in_world(mech, frame) for frame in mech.frames.values()}
    parents = {frame.name: frame.body for frame in mech.frames.values()}
    root = WORLD
    for body in _floating_bodies(mech):
        root = body
        if (links[body].rotation != np.eye(3)).any():
            candidates = [name for name, parent in parents.items() if parent == body]
            at_origin = [name for name in candidates if _is_world_frame(frames[name])]
            unused = _unused_name(f"{body}_root", {*links, *frames})
            root = at_origin[0] if at_origin else unused
            parents[body] = root
            parents.pop(root, None)
        links[root] = LinkFrame(root, *origin)
    return _Layout(frames | links, root, [(parent, child) for child, parent in parents.items()])


def _frame_in_world(mech: Elements, frame: Frame) -> LinkFrame:
    rotation = batch_rotation_matrix(frame.orientation)
    if frame.body == WORLD:
        return LinkFrame(frame.name, frame.position, rotation)
    body = mech.bodies[frame.body]
    body_rotation = batch_rotation_matrix(body.orientation)
    position = body.position + body_rotation @ frame.position
    return LinkFrame(frame.name, position, body_rotation @ rotation)


def _is_world_frame(link: LinkFrame) -> bool:
    distance = np.abs(link.position).max()
    return bool(max(distance, np.abs(link.rotation - np.eye(3)).max()) < _SAME_FRAME)


def _floating_bodies(mech: Elements) -> list[str]:
    """Return the bodies that no joint carries."""
    return [joint.child for joint in mech.tree_joints if joint.name.endswith(FLOATING_SUFFIX)]


def _faults(mech: Elements) -> Iterator[str]:
    """Yield elements that the format does not support and the motion depends on."""
    if tuple(mech.gravity) != _GRAVITY:
        found = f"found {mech.gravity.tolist()}, expected {_GRAVITY}"
        yield f"gravity: {found}; set `gravity` again after loading"
    unsupported = (
        ("spring", mech.springs),
        ("potential", mech.potentials),
        ("velocity constraint", mech.velocity_constraints),
        ("skate", mech.skates),
        ("wheel", mech.wheels),
    )
    for kind, names in unsupported:
        for name in names:
            yield f"{kind} {name!r}: found a {kind}, expected none; add it again after loading"
    for a, b in mech.pairs:
        found = "found bodies that touch each other, expected none"
        yield f"pair {a!r}, {b!r}: {found}; pair them again after loading"
    yield from _collision_faults(mech)
    for name in mech.tracks:
        kind = "curve, surface or custom joint"
        yield f"{kind} {name!r}: found one, which URDF does not have, expected none"
    for motion in mech.motions.values():
        yield f"motion of {motion.coordinate!r}: found a prescribed motion, expected none"
    for coupling in mech.couplings.values():
        for name in (coupling.joint, coupling.other):
            if name not in mech.joints:
                found = f"found the coordinate {name!r}"
                expected = "expected joints of one degree of freedom"
                yield f"coupling {coupling.name!r}: {found}, {expected}"
    yield from _root_faults(mech)
    for name in (mech.name, *mech.bodies, *mech.joints, *mech.frames, *mech.collisions):
        if _NOT_IN_XML.search(name):
            yield f"name {name!r}: found a character that XML does not allow, expected others"
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        for fault in _joint_faults(joint, joint.name in closing):
            yield f"joint {joint.name!r}: {fault}"


def _collision_faults(mech: Elements) -> Iterator[str]:
    """Yield friction that a file cannot express, and bodies with more surfaces than links."""
    for collision in mech.collisions.values():
        friction = tuple(collision.friction.tolist())
        if len(set(friction)) > 1:
            yield f"collision {collision.name!r}: found friction {friction}, expected one number"
        elif friction[0] > LARGEST_FRICTION:
            expected = f"expected at most {LARGEST_FRICTION:g}, as is read from files"
            yield f"collision {collision.name!r}: found friction {friction[0]:g}, {expected}"
    for collision in _collisions_by_link(mech).get(None, []):
        values = f"friction, restitution, torsion {_surface(collision)}"
        found = f"found one more {values} on body {collision.body!r}"
        expected = "expected one for each of its links: add a frame"
        yield f"collision {collision.name!r}: {found}, {expected}"


def _root_faults(mech: Elements) -> Iterator[str]:
    """Yield a floating body beside other roots."""
    floating = _floating_bodies(mech)
    if not floating:
        return
    joints = [joint for joint in mech.tree_joints if joint.child not in floating]
    fixed = [each for each in joints if each.parent == WORLD]
    frames = [frame for frame in mech.frames.values() if frame.body == WORLD]
    if len(floating) > 1:
        others = "other bodies that float"
    elif fixed or frames or mech.world_shapes:
        others = "joints, frames or shapes on the world"
    else:
        return
    expected = "one root; carry it by a joint of type 'floating'"
    yield f"body {floating[0]!r}: found no joint that carries it, and {others}, expected {expected}"


def _joint_faults(joint: Joint, closes_loop: bool) -> Iterator[str]:
    yield from _limit_faults(joint)
    for quantity in ("damping", "stiffness"):
        value = getattr(joint, quantity)
        if np.ndim(value):
            yield f"found {quantity} {value.tolist()}, expected one number for all coordinates"
    for angle in joint.angle_limits:
        yield f"found {angle} {getattr(joint, angle)}, expected None"
    if joint.friction and joint.joint_type.has_quaternion:
        yield f"found friction {joint.friction:g} of a ball, expected 0"
    if joint.armature:
        yield f"found armature {joint.armature:g}, expected 0"
    if joint.effort is not None and not np.isfinite(joint.effort):
        yield "found unlimited effort, expected a finite number"
    if len(set(joint.rest)) > 1:
        yield f"found rest {joint.rest}, expected one number for all coordinates"


def _limit_faults(joint: Joint) -> Iterator[str]:
    """Yield limits that the format does not have; infinite ones alone are no limits."""
    if joint.limits is None or np.isinf(joint.limits).all():
        return
    found = f"found limits {joint.limits.tolist()}"
    if not joint.joint_type.bounded:
        yield f"{found} on type {joint.type!r}, expected one of: {', '.join(_BOUNDED_TYPES)}"
    elif np.isinf(joint.limits).any():
        yield f"{found}, expected finite numbers, or none"


def _comments(mech: Elements, layout: _Layout) -> Iterator[str]:
    """Yield elements that the file does not hold and the motion does not depend on."""
    if mech.ground is not None:
        yield "the ground is not in this file: it is an argument of load_urdf"
    for motor in mech.motors.values():
        values = f"kp {motor.kp:g}, kd {motor.kd:g}, effort {motor.effort:g}"
        place = f"motor of joint {motor.joint!r}"
        yield f"{place} is not in this file ({values}): add it again after loading"
    for coupling in mech.couplings.values():
        if (coupling.name, coupling.type) != (coupling.joint, "mimic"):
            written = f"written as <mimic> of joint {coupling.joint!r}"
            yield f"coupling {coupling.name!r}: a {coupling.type}, {written}"
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        if joint.velocity is not None and not 0.0 < joint.velocity < np.inf:
            yield f"joint {joint.name!r}: velocity {joint.velocity:g} is read as no limit"
        if joint.dofs == 0 and joint.name not in closing:
            merged = f"readers make one body of {joint.parent!r} and {joint.child!r}"
            yield f"joint {joint.name!r}: fixed, {merged}"
    if layout.root not in (WORLD, *mech.bodies, *mech.frames):
        yield f"link {layout.root!r}: added, because a root has the axes of the world"
