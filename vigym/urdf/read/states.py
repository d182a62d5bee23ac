"""Named states of a robot: the <group_state> elements of the SRDF file beside its URDF file."""

import os
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

from vigym.files import MOST_TEXT, check_xml, read_file
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.read.xml import Node

_FLOATING = 7  # values of a floating base, whose place options set


def read_states(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Return by name the position of each joint with one coordinate [rad, m]; {} without SRDF.

    States of one name are joined; a warning tells where they differ, and of several values of a
    joint. The SRDF file has the name of the URDF file, or is the only one, in its folder or in
    `../srdf`.

    Args:
        path: of the URDF file.

    Raises:
        UrdfError: a file that cannot be read, no XML, or a value that is no number.
    """
    file = _srdf_of(Path(path))
    if file is None:
        return {}
    data = read_file(file, "an SRDF file", most=MOST_TEXT, error=UrdfError)
    check_xml(data, str(file), UrdfError)
    try:
        robot = Node(ET.fromstring(data), "<robot>", file, [])
    except (ET.ParseError, ValueError, LookupError) as error:
        found = f"{file}: found invalid XML ({error})"
        raise UrdfError(f"{found}, expected an SRDF file") from error
    states: dict[str, dict[str, float]] = {}
    for state in robot.children("group_state"):
        joints = states.setdefault(state.text("name"), {})  # of groups, which may share a name
        for joint in state.children("joint"):
            count = len(joint.text("value").split())
            if count > 1:
                joint.numbers("value", count)
                if count != _FLOATING:
                    _warn(joint, f"{count} values are ignored, expected one")
                continue
            name, value = joint.text("name"), joint.number("value")
            if joints.setdefault(name, value) != value:
                _warn(joint, f"{value:g} replaces {joints[name]:g} of a state of this name")
            joints[name] = value
    return states


def _warn(joint: Node, message: str) -> None:
    warnings.warn(f"{joint.path}: {joint.place}: {message}", stacklevel=3)


def _srdf_of(path: Path) -> Path | None:
    folder = path.resolve().parent
    for place in (folder, folder.parent / "srdf"):
        named = place / f"{path.stem}.srdf"
        found = [named] if named.is_file() else sorted(place.glob("*.srdf"))
        if len(found) == 1 and found[0].is_file():
            return found[0]
    return None
