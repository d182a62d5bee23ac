"""XML elements that know their place, so that every value read from them is checked and every error says where."""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import UrdfError

# Python's float() also takes "1_0", "nan", "infinity" and digits of other scripts: no number of a URDF file.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_XACRO = " (expand this file with xacro first)"
_DRAKE = ' (declare the prefix: <robot xmlns:drake="http://drake.mit.edu" ...>)'
_SHOWN = 60  # characters of a found text that an error repeats


class Node:
    """One element of the file, its place in words and the file's path."""

    def __init__(self, element: ET.Element, place: str, path: Path) -> None:
        self.element, self.place, self.path = element, place, path
        self.tag = local_name(element)

    def error(self, found: str, expected: str) -> UrdfError:
        """Return the error of this element."""
        return UrdfError(f"{self.path}: {self.place}: found {found}, expected {expected}")

    def children(self, tag: str) -> list["Node"]:
        """Return the children called `tag`; those with a name are called by it, the others by number if several."""
        found = self.element.findall(tag)
        return [Node(child, self._place(child, k, len(found)), self.path) for k, child in enumerate(found)]

    def others(self, known: set[str]) -> Iterator["Node"]:
        """Yield the children whose tag is not in `known`."""
        for child in self.element:
            if child.tag not in known:
                yield Node(child, self._place(child, 0, 1), self.path)

    def only(self, tag: str) -> "Node | None":
        """Return the child called `tag`, None without; two are an error."""
        found = self.children(tag)
        if len(found) > 1:
            raise self.error(f"{len(found)} <{found[0].tag}> elements", "one")
        return found[0] if found else None

    def need(self, tag: str) -> "Node":
        """Return the child called `tag`, which must be there once."""
        child = self.only(tag)
        if child is None:
            raise self.error(f"no <{tag}>", "one")
        return child

    def has(self, attribute: str) -> bool:
        """Return whether the attribute is given."""
        return attribute in self.element.attrib

    def text(self, attribute: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = self.element.get(attribute)
        if value is None or not value.strip():
            raise self.error(f"no {attribute}" if value is None else f"empty {attribute}", f"the attribute {attribute}")
        return value

    def number(self, attribute: str, default: float | None = None, low: float = -np.inf) -> float:
        """Return an attribute that is a finite number >= `low`; without a `default` it must be there."""
        if default is not None and not self.has(attribute):
            return default
        text = self.text(attribute)
        value = _finite(text)
        expected = "a finite number" + (f" >= {low:g}" if low > -np.inf else "")
        if value is None or value < low:
            raise self.error(f"{attribute}={_short(text)}", expected + _xacro(text))
        return value

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> Array:
        """Return an attribute of `count` finite numbers between blanks (count,)."""
        if default is not None and not self.has(attribute):
            return np.array(default)
        text = self.text(attribute)
        values = [_finite(word) for word in text.split()]
        if len(values) != count or None in values:
            raise self.error(
                f"{attribute}={_short(text)}", f"{count} finite numbers separated by blanks" + _xacro(text)
            )
        return np.array(values, dtype=np.float64)

    def content(self, count: int = 1, low: float = -np.inf) -> Array:
        """Return `count` finite numbers >= `low` (count,), written between the tags or as the attribute `value`."""
        text = self.element.get("value") or self.element.text or ""
        values = [_finite(word) for word in text.split()]
        if len(values) != count or any(value is None or value < low for value in values):
            bound = f" >= {low:g}" if low > -np.inf else ""
            raise self.error(_short(text.strip()), f"{count} finite number{'s' * (count > 1)}{bound}" + _xacro(text))
        return np.array(values, dtype=np.float64)

    def _place(self, child: ET.Element, index: int, count: int) -> str:
        local = local_name(child)
        name = child.get("name")
        number = f" {index + 1}" if count > 1 and not name else ""
        if self.tag == "robot" and name and local in ("link", "joint"):
            return f"{local} {_short(name, quote='')!r}"
        place = f"<{local}>{number}" + (f" {_short(name, quote='')!r}" if name else "")
        return place if self.tag == "robot" else f"{self.place} {place}"


def local_name(element: ET.Element) -> str:
    """Return the tag without its namespace."""
    return str(element.tag).rsplit("}", 1)[-1]


def read_robot(path: str | os.PathLike[str]) -> Node:
    """Return the <robot> element of a URDF file.

    Raises:
        UrdfError: no such file, not well-formed XML, or another root element.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise UrdfError(f"{file}: found no readable file ({error}), expected a URDF file") from error
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):  # in UTF-16 half of every blank is a NUL
        data = data.strip(b"\0 \t\r\n")  # some files in circulation have blanks before <?xml or a NUL at the end
    try:
        element = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise UrdfError(f"{file}: found invalid XML ({error}), expected a URDF file{_hint(data)}") from error
    _strip(element)
    robot = Node(element, "<robot>", file)
    if element.tag != "robot":
        raise UrdfError(f"{file}: root element: found <{robot.tag}>, expected <robot>{_hint(data)}")
    return robot


def _strip(root: ET.Element) -> None:
    """Take the root's namespace, which files made for Drake declare, from all tags: its elements are plain ones."""
    prefix = root.tag[: -len(local_name(root))]
    for element in root.iter() if prefix else ():
        element.tag = str(element.tag).removeprefix(prefix)


def _hint(data: bytes) -> str:
    if b"<drake:" in data and b"xmlns:drake" not in data and data.lstrip().startswith(b"<"):
        return _DRAKE
    return _XACRO if b"xacro" in data else ""


def _xacro(text: str) -> str:
    return _XACRO if "${" in text or "$(" in text else ""


def _finite(text: str) -> float | None:
    text = text.strip()
    value = float(text) if _NUMBER.fullmatch(text) else np.inf
    return value if np.isfinite(value) else None


def _short(text: str, quote: str = '"') -> str:
    return quote + (text if len(text) <= _SHOWN else text[:_SHOWN] + "...") + quote
