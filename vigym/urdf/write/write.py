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
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.couplings import Coupling
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.joints import FLOATING_SUFFIX
from vigym.spatial import batch_rotation_matrix
from vigym.urdf.read.records import LARGEST_FRICTION
from vigym.urdf.write.elements import (
    LinkFrame,
    addition_element,
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
    elements += _additions(mech, layout)
    robot = element_of("robot", elements, name=mech.name)
    ET.indent(robot)
    text = '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"
    if path is not None:
        write_file(path, text)
    return text


def _link_elements(mech: Elements, layout: _Layout) -> Iterator[ET.Element]:
    """Yield the links: the root, bodies, frames."""
    centers = _centers(mech, layout)
    for name in dict.fromkeys([layout.root, *mech.bodies, *mech.frames]):
        link = layout.links[name]
        if name in mech.bodies:
            body = mech.bodies[name]
            collisions = [each for each in mech.collisions.values() if each.body == name]
            frame = LinkFrame(name, body.position, link.rotation)
            more = collision_elements(collisions, link, frame)
            for tag, records in (("skate", mech.skates), ("wheel", mech.wheels)):
                own = [record for record in records.values() if record.body == name]
                more += [addition_element(tag, record, centers) for record in own]
            yield body_element(body, link, more)
        else:
            shapes = mech.world_shapes if name == WORLD else ()
            visuals = [visual_element(shape, link, link) for shape in shapes]
            yield element_of("link", visuals, name=name)


def _joint_elements(mech: Elements, layout: _Layout) -> Iterator[ET.Element]:
    """Yield the joints: of the tree, of frames, of loops."""
    links, motors = layout.links, mech.motors
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        if joint.name not in closing:
            coupling = mech.couplings.get(joint.name)
            mimic = coupling if coupling and _is_mimic(mech, coupling) else None
            ends = links[joint.parent], links[joint.child]
            yield joint_element(joint, *ends, mimic, motors.get(joint.name))
    for parent, child in layout.fixed:
        name = _unused_name(f"{child}_mount", mech.joints)
        yield fixed_joint_element(name, links[parent], links[child])
    for joint in mech.closing_joints:
        ends = links[joint.parent], links[joint.child]
        yield loop_joint_element(joint, *ends, motors.get(joint.name))


def _is_mimic(mech: Elements, coupling: Coupling) -> bool:
    """Return whether URDF has a coupling: one of joints, with the name of that which follows."""
    known = coupling.type == "mimic" and coupling.name == coupling.joint
    return known and coupling.other in mech.joints


def _additions(mech: Elements, layout: _Layout) -> Iterator[ET.Element]:
    """Yield what URDF lacks, and connects links or joints."""
    centers = _centers(mech, layout)
    for spring in mech.springs.values():
        yield addition_element("spring", spring, centers)
    for a, b in mech.pairs:
        yield ET.Element("pair", a=a, b=b)
    for coupling in mech.couplings.values():
        if not _is_mimic(mech, coupling):
            yield addition_element("coupling", coupling, centers)


def _centers(mech: Elements, layout: _Layout) -> dict[str, Array]:
    """Return the origin of each body's frame in its link (3,), and that of the world."""
    bodies = mech.bodies.values()
    found = {body.name: layout.links[body.name].coordinates(body.position) for body in bodies}
    return found | {WORLD: np.zeros(3)}


def _unused_name(name: str, taken: Container[str]) -> str:
    return _unused_name(name + "_", taken) if name in taken else name


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
        ("potential", mech.potentials),
        ("velocity constraint", mech.velocity_constraints),
    )
    for kind, names in unsupported:
        for name in names:
            yield f"{kind} {name!r}: found a {kind}, expected none; add it again after loading"
    yield from _collision_faults(mech)
    for name in mech.tracks:
        kind = "curve, surface or custom joint"
        yield f"{kind} {name!r}: found one, which URDF does not have, expected none"
    for motion in mech.motions.values():
        yield f"motion of {motion.coordinate!r}: found a prescribed motion, expected none"
    yield from _root_faults(mech)
    still = {each.child for each in mech.joints.values() if (each.parent, each.dofs) == (WORLD, 0)}
    for a, b in mech.pairs:
        for body in still & {a, b}:
            found = f"found {body!r}, which is fixed to the world"
            yield f"pair {a!r}, {b!r}: {found}, expected bodies that move: URDF has no obstacles"
    additions = (*mech.springs, *mech.couplings, *mech.skates, *mech.wheels)
    named = (*mech.bodies, *mech.joints, *mech.frames, *mech.collisions, *additions)
    for name in (mech.name, *named):
        if _NOT_IN_XML.search(name):
            yield f"name {name!r}: found a character that XML does not allow, expected others"
    for joint in mech.joints.values():
        if joint.velocity == 0.0 and joint.name in mech.motors:
            yield f"joint {joint.name!r}: found velocity 0 with a motor, expected a number > 0"
        row, limits = joint.joint_type, joint.limits
        if row.dofs == 1 and not row.bounded and limits is not None and np.isfinite(limits).any():
            found = f"found limits {limits.tolist()} on type {joint.type!r}"
            yield f"joint {joint.name!r}: {found}, expected one of: {', '.join(_BOUNDED_TYPES)}"


def _collision_faults(mech: Elements) -> Iterator[str]:
    """Yield friction that is not read from files."""
    for collision in mech.collisions.values():
        largest = collision.friction.max()
        if largest > LARGEST_FRICTION:
            expected = f"expected at most {LARGEST_FRICTION:g}, as is read from files"
            yield f"collision {collision.name!r}: found friction {largest:g}, {expected}"


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


def _comments(mech: Elements, layout: _Layout) -> Iterator[str]:
    """Yield elements that the file does not hold and the motion does not depend on."""
    if mech.ground is not None:
        yield "the ground is not in this file: it is an argument of load_urdf"
    for name in mech.starts:
        yield f"start {name!r} is not in this file: a state of an SRDF file beside it may have it"
    closing = {joint.name for joint in mech.closing_joints}
    for joint in mech.joints.values():
        if joint.velocity == 0.0:
            yield f"joint {joint.name!r}: velocity 0 is read as no limit"
        if joint.dofs == 0 and joint.name not in closing:
            merged = f"readers make one body of {joint.parent!r} and {joint.child!r}"
            yield f"joint {joint.name!r}: fixed, {merged}"
    if layout.root not in (WORLD, *mech.bodies, *mech.frames):
        yield f"link {layout.root!r}: added, because a root has the axes of the world"
