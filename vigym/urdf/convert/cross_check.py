"""Comparison of the numbers read from a file with the numbers of pybullet's loader.

The loader gets a clean copy: short names, one element a line, full digits, a path of its own, no
shapes. Each avoids a crash or a silent change of numbers: long names and malformed meshes crash the
loader, lines over 8191 characters are cut inside numbers, a known path returns the old content. Its
physics is never stepped.
"""

import contextlib
import functools
import locale
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vigym.captured_output import captured_output
from vigym.mechanism.elements.checks import Array, inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.joint_types import JOINT_TYPES, JointType
from vigym.spatial import Origin, Pose, rotation_matrix
from vigym.urdf.convert.tree import LinkOrder
from vigym.urdf.read.joints import UNLIMITED
from vigym.urdf.read.records import Link, Robot, TreeJoint

_EXACT = 0.0
_POSE_TOLERANCE = 1e-9  # relative; poses pass through the inertial frames and back
# Relative to the sum of the moments: pybullet's Jacobi iteration stops once the largest entry off
# the diagonal is 1e-6 of it, and turns that one away. The two that it leaves have no moment beyond
# sqrt(2) of that.
_INERTIA_TOLERANCE = np.sqrt(2.0) * 1e-6
_MARGIN = 1e-6  # relative; pybullet may call moments impossible that are this near to it
_MOST_QUOTED = 300  # characters of the loader's output in an error


def cross_check(robot: Robot, order: LinkOrder) -> None:
    """Compare the links and joints of a file with the ones that pybullet's loader reads.

    Raises:
        UrdfError: the loader refuses the file, or reads a number differently.
    """
    loaded, output = _load(_clean_copy(robot, order))
    if loaded is None:
        reason = output.strip()[-_MOST_QUOTED:]
        found = f"a file that pybullet's loader refuses ({reason})"
        raise UrdfError(f"{robot.path}: found {found}, expected a file that it reads")
    names = [link.encode() for link in _short_names(len(order))]
    if [entry["name"] for entry in loaded[1:]] != names[1:]:
        found = f"{len(loaded)} links in another order"
        expected = f"{len(order)} links of the file"
        raise UrdfError(f"{robot.path}: tree: found by pybullet {found}, expected {expected}")
    numbers = {name: k for k, (name, _) in enumerate(order)}
    for (name, joint), entry in zip(order, loaded, strict=True):
        _check_link(robot, robot.links[name], entry)
        if joint is not None:
            _check_joint(robot, joint, entry, loaded[numbers[joint.parent]])


def _short_names(count: int) -> list[str]:
    return [f"l{k}" for k in range(count)]


def _clean_copy(robot: Robot, order: LinkOrder) -> str:
    """Return the text of the copy; its links are l0, l1, ... in order, the joint of lk is jk."""
    short = _short_names(len(order))
    names = {name: copied for (name, _), copied in zip(order, short, strict=True)}
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


def _copied_type(joint: TreeJoint) -> JointType:
    """Return the joint's type in the copy: fixed for types that pybullet does not have."""
    return JOINT_TYPES["fixed"] if joint.joint_type.pybullet is None else joint.joint_type


def _parameters(joint: TreeJoint) -> Array:
    """Return damping, friction, limits, effort and velocity (6,), infinite ones the largest."""
    limits = joint.limits if joint.joint_type.bounded and joint.limits else UNLIMITED
    damping = np.max(joint.damping)
    values = (damping, joint.friction, *limits, joint.effort or 0.0, joint.velocity or 0.0)
    found: Array = np.nan_to_num(np.array(values))
    return found


def _joint_lines(joint: TreeJoint, names: dict[str, str]) -> list[str]:
    damping, friction, lower, upper, effort, velocity = _parameters(joint).tolist()
    bounds = f'lower="{lower!r}" upper="{upper!r}" ' if joint.joint_type.bounded else ""
    child = names[joint.child]
    return [
        f'<joint name="j{child[1:]}" type="{_copied_type(joint).name}">',
        f'<parent link="{names[joint.parent]}"/>',
        f'<child link="{child}"/>',
        _origin_line(joint.origin),
        f'<axis xyz="{_text(joint.axis)}"/>',
        f'<limit {bounds}effort="{effort!r}" velocity="{velocity!r}"/>',
        f'<dynamics damping="{damping!r}" friction="{friction!r}"/>',
        "</joint>",
    ]


def _origin_line(pose: Origin) -> str:
    return f'<origin xyz="{_text(pose.position)}" rpy="{_text(pose.rpy)}"/>'


def _text(values: Array) -> str:
    return " ".join(repr(value) for value in values.tolist())


@functools.lru_cache(maxsize=16)  # tasks load their robot anew; to connect takes milliseconds
def _load(text: str) -> tuple[list[dict[str, Any]] | None, str]:
    """Return pybullet's numbers of the base and each link of the copy, or None; its output."""
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", encoding="ascii") as file:
        file.write(text)
        file.flush()
        with captured_output() as output, _c_numbers():
            import pybullet  # prints a line on import

            client = pybullet.connect(pybullet.DIRECT)
            try:
                loaded = _read_back(pybullet, client, file.name)
            except pybullet.error:
                loaded = None
            finally:
                pybullet.disconnect(client)
    return loaded, output.text


def _read_back(pybullet: Any, client: int, path: str) -> list[dict[str, Any]]:
    flags = (
        pybullet.URDF_USE_INERTIA_FROM_FILE
        | pybullet.URDF_IGNORE_VISUAL_SHAPES
        | pybullet.URDF_IGNORE_COLLISION_SHAPES
    )
    body = pybullet.loadURDF(path, flags=flags, physicsClientId=client)
    entries = []
    for index in range(-1, pybullet.getNumJoints(body, physicsClientId=client)):
        dynamics = pybullet.getDynamicsInfo(body, index, physicsClientId=client)
        entry = {
            "mass": dynamics[0],
            "moments": np.array(dynamics[2]),
            "inertial": _pose(dynamics[3], dynamics[4]),
        }
        if index >= 0:
            info = pybullet.getJointInfo(body, index, physicsClientId=client)
            entry |= {
                "name": info[12],
                "type": info[2],
                "axis": np.array(info[13]),
                "offset": _pose(info[14], info[15]),
                "dynamics": info[6:12],
            }
        entries.append(entry)
    return entries


def _pose(position: Sequence[float], quaternion: Sequence[float]) -> Pose:
    """Return the pose of a position and a quaternion (x, y, z, w)."""
    return Pose(np.array(position), rotation_matrix(np.roll(quaternion, 1)))


@contextlib.contextmanager
def _c_numbers() -> Iterator[None]:
    """Read numbers with a decimal point in every locale: the loader's atof follows the locale."""
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
    if not entry["moments"].any() and inertia_fault(link.inertia, tolerance=-_MARGIN):
        return  # pybullet zeroes inertias at the bound of the triangle inequality
    frame = link.inertial.rotation
    axes = entry["inertial"].rotation
    found = axes @ np.diag(entry["moments"]) @ axes.T
    written = frame @ link.inertia @ frame.T
    tolerance = float((_INERTIA_TOLERANCE * np.abs(np.linalg.eigvalsh(link.inertia))).sum())
    _compare(robot, f"{place} inertia", found, written, tolerance)


def _check_joint(
    robot: Robot, joint: TreeJoint, entry: dict[str, Any], parent: dict[str, Any]
) -> None:
    """Compare a joint; pybullet gives axis and pose in the inertial frames of child and parent."""
    place = f"joint {joint.name!r}"
    copied = _copied_type(joint)
    if entry["type"] != copied.pybullet:
        message = f"found by pybullet type {entry['type']}, expected {joint.type}"
        raise UrdfError(f"{robot.path}: {place}: {message}")
    inertial = entry["inertial"]
    if copied.dofs == 1:  # the loader forgets the axis of the others
        axis = inertial.rotation @ entry["axis"]
        _compare(robot, f"{place} <axis>", axis, joint.axis, _POSE_TOLERANCE)
    offset = Pose(entry["offset"].position, entry["offset"].rotation.T)
    origin = parent["inertial"] @ offset @ Pose(np.zeros(3), inertial.rotation.T)
    for part, found, expected in (
        ("xyz", origin.position, joint.origin.position),
        ("rpy", origin.rotation, joint.origin.rotation),
    ):
        scale = max(1.0, float(np.abs(expected).max()))
        _compare(robot, f"{place} <origin> {part}", found, expected, _POSE_TOLERANCE, scale)
    if copied.dofs == 1:
        read = np.array(entry["dynamics"])
        _compare(robot, f"{place} <dynamics>, <limit>", read, _parameters(joint), _EXACT)


def _compare(
    robot: Robot, place: str, found: Any, expected: Any, tolerance: float, scale: float = 1.0
) -> None:
    """Raise UrdfError where numbers differ by more than a tolerance relative to `scale`."""
    if not np.abs(np.asarray(found) - expected).max() <= tolerance * scale:
        found = np.asarray(found).tolist()
        expected = np.asarray(expected).tolist()
        raise UrdfError(f"{robot.path}: {place}: found by pybullet {found}, expected {expected}")
