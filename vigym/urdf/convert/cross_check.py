"""pybullet's loader as second reader: it must understand the file as the gate did.

It gets a clean copy: own short names, one element a line, full digits, a path of its own, no shapes. Each of these
avoids something that crashes the loader or changes numbers silently: long names and garbage meshes crash it, lines
over 8191 characters are cut inside numbers, a path it has seen returns the old content. Its physics is never stepped.
"""

import contextlib
import locale
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from vigym.captured_output import captured_output
from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.joints import JOINT_TYPES
from vigym.spatial import Origin, Pose, rotation_matrix
from vigym.urdf.read.records import Link, Robot, UrdfJoint

Order = list[tuple[str, UrdfJoint | None]]

_EXACT = 0.0
_POSE_TOLERANCE = 1e-9  # relative; poses pass through the inertial frames and back
_INERTIA_TOLERANCE = 1e-6  # relative; pybullet's eigenvalue iteration stops there
_UNLIMITED = (0.0, -1.0)  # pybullet's limits of a joint without


def cross_check(robot: Robot, order: Order) -> None:
    """Compare what pybullet's loader reads with what the gate has read, link by link.

    Raises:
        UrdfError: the loader refuses the file, or reads a number differently.
    """
    loaded = _load(robot, _clean_copy(robot, order))
    names = [link.encode() for link in _names(len(order))]
    if [entry["name"] for entry in loaded[1:]] != names[1:]:
        found, expected = f"{len(loaded)} links in another order", f"{len(order)} links of the file"
        raise UrdfError(f"{robot.path}: tree: found by pybullet {found}, expected {expected}")
    numbers = {name: k for k, (name, _) in enumerate(order)}
    for (name, joint), entry in zip(order, loaded, strict=True):
        _check_link(robot, robot.links[name], entry)
        if joint is not None:
            _check_joint(robot, joint, entry, loaded[numbers[joint.parent]])


def _names(count: int) -> list[str]:
    return [f"l{k}" for k in range(count)]


def _clean_copy(robot: Robot, order: Order) -> str:
    """Return the text of the copy; links are l0, l1, ... in the given order, the joint of lk is jk."""
    names = dict(zip((name for name, _ in order), _names(len(order)), strict=True))
    lines = ['<robot name="copy">']
    for name, joint in order:
        lines += _link_lines(names[name], robot.links[name])
        if joint is not None:
            lines += _joint_lines(joint, names)
    return "\n".join([*lines, "</robot>", ""])


def _link_lines(name: str, link: Link) -> list[str]:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia.tolist()
    return [
        f'<link name="{name}">',
        "<inertial>",
        _origin_line(link.inertial),
        f'<mass value="{link.mass!r}"/>',
        f'<inertia ixx="{xx!r}" ixy="{xy!r}" ixz="{xz!r}" iyy="{yy!r}" iyz="{yz!r}" izz="{zz!r}"/>',
        "</inertial>",
        "</link>",
    ]


def _joint_lines(joint: UrdfJoint, names: dict[str, str]) -> list[str]:
    lower, upper = joint.limits or _UNLIMITED
    bounds = f'lower="{lower!r}" upper="{upper!r}" ' if JOINT_TYPES[joint.type].bounded else ""
    child = names[joint.child]
    return [
        f'<joint name="j{child[1:]}" type="{joint.type}">',
        f'<parent link="{names[joint.parent]}"/>',
        f'<child link="{child}"/>',
        _origin_line(joint.origin),
        f'<axis xyz="{_text(joint.axis)}"/>',
        f'<limit {bounds}effort="{joint.effort or 0.0!r}" velocity="{joint.velocity or 0.0!r}"/>',
        f'<dynamics damping="{joint.damping!r}" friction="{joint.friction!r}"/>',
        "</joint>",
    ]


def _origin_line(pose: Origin) -> str:
    return f'<origin xyz="{_text(pose.position)}" rpy="{_text(pose.rpy)}"/>'


def _text(values: Array) -> str:
    return " ".join(repr(value) for value in values.tolist())


def _load(robot: Robot, text: str) -> list[dict[str, Any]]:
    """Return what pybullet says about the base and each link of the copy."""
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", encoding="ascii") as file:
        file.write(text)
        file.flush()
        with captured_output() as output, _c_numbers():
            import pybullet  # announces itself on standard error, so it is imported in here

            client = pybullet.connect(pybullet.DIRECT)
            try:
                loaded = _read_back(pybullet, client, file.name)
            except pybullet.error:
                loaded = None
            finally:
                pybullet.disconnect(client)
    if loaded is None:
        raise UrdfError(f"{robot.path}: found a file that pybullet's loader refuses ({output.text.strip()[-300:]})")
    return loaded


def _read_back(pybullet: Any, client: int, path: str) -> list[dict[str, Any]]:
    flags = (
        pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_IGNORE_VISUAL_SHAPES | pybullet.URDF_IGNORE_COLLISION_SHAPES
    )
    body = pybullet.loadURDF(path, flags=flags, physicsClientId=client)
    entries = []
    for index in range(-1, pybullet.getNumJoints(body, physicsClientId=client)):
        mass, _, moments, position, orientation, *_ = pybullet.getDynamicsInfo(body, index, physicsClientId=client)
        inertial = Pose(np.array(position), rotation_matrix(np.roll(orientation, 1)))
        entry = {"mass": mass, "moments": np.array(moments), "inertial": inertial}
        if index >= 0:
            info = pybullet.getJointInfo(body, index, physicsClientId=client)
            offset = Pose(np.array(info[14]), rotation_matrix(np.roll(info[15], 1)))
            entry |= {"name": info[12], "type": info[2], "axis": np.array(info[13]), "offset": offset}
            entry |= {"dynamics": info[6:12]}
        entries.append(entry)
    return entries


@contextlib.contextmanager
def _c_numbers() -> Iterator[None]:
    """Read numbers with a decimal point whatever the locale: the loader's atof follows it."""
    before = locale.setlocale(locale.LC_NUMERIC)
    locale.setlocale(locale.LC_NUMERIC, "C")
    try:
        yield
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def _check_link(robot: Robot, link: Link, entry: dict[str, Any]) -> None:
    place = f"link {link.name!r} <inertial>"
    _compare(robot, f"{place} mass", entry["mass"], link.mass, _EXACT)
    _compare(robot, f"{place} origin", entry["inertial"].position, link.inertial.position, _EXACT)
    if not entry["moments"].any() and inertia_fault(link.inertia, tolerance=-_INERTIA_TOLERANCE):
        return  # pybullet zeroes inertias that touch the triangle inequality; the file's own numbers are used
    frame = link.inertial.rotation
    axes = entry["inertial"].rotation
    found = axes @ np.diag(entry["moments"]) @ axes.T
    _compare(robot, f"{place} inertia", found, frame @ link.inertia @ frame.T, _INERTIA_TOLERANCE)


def _check_joint(robot: Robot, joint: UrdfJoint, entry: dict[str, Any], parent: dict[str, Any]) -> None:
    """Compare a joint; pybullet gives axis and pose in the inertial frames of child and parent."""
    place = f"joint {joint.name!r}"
    if entry["type"] != JOINT_TYPES[joint.type].pybullet:
        raise UrdfError(f"{robot.path}: {place}: found by pybullet type {entry['type']}, expected {joint.type}")
    if JOINT_TYPES[joint.type].dofs == 1:  # of all others the loader forgets the axis
        found = entry["inertial"].rotation @ entry["axis"]
        _compare(robot, f"{place} <axis>", found, joint.axis, _POSE_TOLERANCE)
    turned = Pose(entry["offset"].position, entry["offset"].rotation.T)
    origin = parent["inertial"] @ turned @ Pose(np.zeros(3), entry["inertial"].rotation.T)
    _compare(robot, f"{place} <origin> xyz", origin.position, joint.origin.position, _POSE_TOLERANCE)
    _compare(robot, f"{place} <origin> rpy", origin.rotation, joint.origin.rotation, _POSE_TOLERANCE)
    limits = joint.limits or _UNLIMITED
    expected = (joint.damping, joint.friction, *limits, joint.effort or 0.0, joint.velocity or 0.0)
    if JOINT_TYPES[joint.type].dofs == 1:
        _compare(robot, f"{place} <dynamics>, <limit>", np.array(entry["dynamics"]), np.array(expected), _EXACT)


def _compare(robot: Robot, place: str, found: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, float(np.abs(expected).max())) if tolerance == _POSE_TOLERANCE else float(np.abs(expected).max())
    if not np.abs(np.asarray(found) - expected).max() <= tolerance * scale:
        found, expected = np.asarray(found).tolist(), np.asarray(expected).tolist()
        raise UrdfError(f"{robot.path}: {place}: found by pybullet {found}, expected {expected}")
