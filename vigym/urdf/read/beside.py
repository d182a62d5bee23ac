"""Loops that URDF files of CAD exporters have outside of URDF's own elements.

onshape-to-robot leaves a loop open, with a link `closing_NAME_1` at one end and `closing_NAME_2` at
the other, which coincide where the loop is closed (no axis is written: their origins are joined).

Collections of parallel robots have a YAML file beside the URDF file, `NAME.yaml` or `robot.yaml`:
`closed_loop`, pairs of links or joints (which stand for their child links) whose frames coincide;
`type`, for each pair `3d` (their origins) or `6d` (their axes, too); `name_mot`, the joints that
motors drive; `joint_name` and `joint_type`, joints that are SPHERICAL, FIXED or UJOINT_XY (turns
about x, then y) where URDF has no such type.
"""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from vigym.files import read_file
from vigym.mechanism.elements.errors import UrdfError
from vigym.spatial import IDENTITY
from vigym.urdf.read.records import LoopJoint, TreeJoint
from vigym.urdf.read.xml import Node

_MOST = 1 << 20  # bytes of a YAML file
_TYPES = {"3d": "spherical", "6d": "fixed"}
_AXES = dict(zip("XYZ", np.eye(3), strict=True))
_LISTS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


def closing_frames(
    robot: Node, links: Collection[str], loops: Collection[LoopJoint]
) -> Iterator[LoopJoint]:
    """Yield the loop joints of frames of onshape-to-robot that no loop joint of the file joins."""
    joined = {frozenset((loop.parent, loop.child)) for loop in loops}
    for first in links:
        found = re.fullmatch(r"(closing_.*)_1", first)
        second = f"{found[1]}_2" if found else ""
        if found is None or second not in links or frozenset((first, second)) in joined:
            continue
        place = f"links {first!r} and {second!r}"
        robot.note("changed", f"{place} close a loop: their origins are joined")
        yield _joint(found[1], "spherical", place, first, second)


def read_yaml(
    robot: Node, links: Collection[str], joints: list[TreeJoint]
) -> tuple[list[TreeJoint], list[LoopJoint]]:
    """Return the joints as the YAML file beside a URDF file changes them, and its loop joints.

    Raises:
        UrdfError: a file without PyYAML, or with other content than that of this module's text.
    """
    names = (f"{robot.path.stem}.yaml", f"{robot.path.stem}.yml", "robot.yaml")
    read = ((robot.path.parent / name, _lists_of(robot.path.parent / name)) for name in names)
    file, found = next((each for each in read if each[1]), (robot.path, {}))
    if not found:
        return joints, []
    place = f"{file.name} closed_loop"
    frames = {joint.name: joint.child for joint in joints} | {name: name for name in links}
    loops = []
    for pair, kind in zip(found["closed_loop"], found["type"], strict=True):
        first, second = (frames.get(name) for name in pair)
        if first is None or second is None:
            raise UrdfError(f"{file}: closed_loop: found {pair}, expected links or joints")
        loops.append(_joint("-".join(pair), _TYPES[kind.lower()], place, first, second))
    robot.note("changed", f"loops of {file.name} are closed: {len(loops)}")
    kinds = dict(zip(found["joint_name"], found["joint_type"], strict=True))
    changed = [_of_kind(file, joint, kinds.get(joint.name, "")) for joint in joints]
    motors = found["name_mot"]
    if motors:
        passive = {joint.name for joint in joints if joint.name not in motors}
        changed = [replace(j, effort=0.0) if j.name in passive else j for j in changed]
    return changed, loops


def _joint(name: str, type: str, place: str, parent: str, child: str) -> LoopJoint:
    """Return a loop joint that joins the frames of two links."""
    return LoopJoint(
        name=name,
        type=type,
        place=place,
        parent=parent,
        child=child,
        parent_frame=IDENTITY,
        child_frame=IDENTITY,
        axis=np.array([1.0, 0.0, 0.0]),
    )


def _of_kind(file: Path, joint: TreeJoint, kind: str) -> TreeJoint:
    """Return a joint with a type of the YAML file, without the limits and forces of its own."""
    if not kind:
        return joint
    universal = re.fullmatch(r"UJOINT_?([XYZ])([XYZ])", kind)
    if kind not in ("SPHERICAL", "FIXED") and (universal is None or universal[1] == universal[2]):
        expected = "SPHERICAL, FIXED or UJOINT_XY"
        raise UrdfError(f"{file}: joint_type: found {kind!r}, expected {expected}")
    free = replace(joint, limits=None, effort=None, friction=0.0, velocity=None, mimic=None)
    if universal is None:
        return replace(free, type=kind.lower())
    return replace(free, type="universal", axis=_AXES[universal[1]], axis2=_AXES[universal[2]])


def _lists_of(file: Path) -> dict[str, list[Any]]:
    """Return the lists of a YAML file; none of a file without loops."""
    if not os.path.isfile(file):
        return {}
    data = read_file(file, "loops as YAML", most=_MOST, error=UrdfError)
    if b"closed_loop" not in data:
        return {}
    if find_spec("yaml") is None:
        message = "found loops as YAML without PyYAML, expected it: pip install 'vigym[yaml]'"
        raise UrdfError(f"{file}: {message}")
    import yaml

    try:
        content = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UrdfError(f"{file}: found invalid YAML ({reason}), expected loops") from error
    given = content if isinstance(content, dict) else {}
    lists: dict[str, Any] = {key: given.get(key) or [] for key in _LISTS}
    for key in _LISTS[1:]:
        _require_names(file, key, lists[key])
    pairs = lists["closed_loop"] if isinstance(lists["closed_loop"], list) else [None]
    for pair in pairs:
        _require_names(file, "closed_loop", pair, 2)
    for names, kinds in (("closed_loop", "type"), ("joint_name", "joint_type")):
        if len(lists[names]) != len(lists[kinds]):
            message = f"{names}: found {len(lists[names])} entries, expected {len(lists[kinds])}"
            raise UrdfError(f"{file}: {message} as of {kinds}")
    if any(kind.lower() not in _TYPES for kind in lists["type"]):
        raise UrdfError(f"{file}: type: found {lists['type']}, expected 3d or 6d")
    return lists


def _require_names(file: Path, key: str, found: Any, count: int | None = None) -> None:
    """Raise UrdfError for anything but a list of names, `count` of them."""
    is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
    if not is_list or (count is not None and len(found) != count):
        expected = "a list of names" if count is None else f"lists of {count} names"
        raise UrdfError(f"{file}: {key}: found {str(found)[:60]}, expected {expected}")
