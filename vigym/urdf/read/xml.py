"""XML elements with their place in the file: values are checked, errors name the place."""

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from vigym.files import MOST_TEXT, check_xml, read_file
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import UrdfError

# float() also accepts "1_0", "nan", "infinity" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_XACRO = " (expand this file with xacro first)"
_DEFINITIONS = {"property", "arg"}  # of xacro; without them nothing is missing
_DRAKE = ' (declare the prefix: <robot xmlns:drake="http://drake.mit.edu" ...>, or <sdf ...>)'
FORMATS = {"robot": "a URDF file", "sdf": "an SDF file"}  # by the tag of the root
ROOTS = ("robot", "model")  # elements around links and joints
_SHOWN = 60  # characters of a text that an error quotes
_MOST_QUOTED = 300  # characters of the output of xacro that an error quotes
_EXPANSION = 60.0  # longest run of xacro [s]


class Node:
    """Element of the file.

    Args:
        element: of the parsed file.
        place: the element in words ("link 'arm' <inertial>").
        path: of the file.
        notes: of all elements of the file.

    Attributes:
        tag: name of the element without its namespace.
    """

    def __init__(self, element: ET.Element, place: str, path: Path, notes: list[Note]) -> None:
        self.element = element
        self.place = place
        self.path = path
        self.notes = notes
        self.tag = local_name(element)

    def error(self, found: str, expected: str) -> UrdfError:
        """Return the error of this element."""
        return UrdfError(f"{self.path}: {self.place}: found {found}, expected {expected}")

    def note(self, action: str, message: str) -> None:
        """Add a note about this element; arguments as in `Note`."""
        self.notes.append(Note(action, self.place, message))

    @property
    def is_plain(self) -> bool:
        """Whether the element has no namespace."""
        return self.element.tag == self.tag

    @property
    def is_drake(self) -> bool:
        """Whether the namespace of the element is that of Drake."""
        return "drake" in self.element.tag.rpartition("}")[0]

    def unexpanded(self) -> Iterator[UrdfError]:
        """Yield the errors of children that xacro would replace by elements of URDF."""
        for child in self.element:
            namespace, _, local = str(child.tag).rpartition("}")
            if namespace.endswith("xacro") and local not in _DEFINITIONS:
                yield self.error(f"<xacro:{local}>", f"plain URDF{_XACRO}")

    def children(self, tag: str) -> list["Node"]:
        """Return the children called `tag`; places of several have names or numbers."""
        found = self.element.findall(tag)
        return [self._child(child, k, len(found)) for k, child in enumerate(found)]

    def every(self) -> Iterator["Node"]:
        """Yield all children, with places as those of `children`; the caller may remove them."""
        counts = Counter(child.tag for child in self.element)
        seen: Counter[str] = Counter()
        for child in list(self.element):
            yield self._child(child, seen[child.tag], counts[child.tag])
            seen[child.tag] += 1

    def only(self, tag: str) -> "Node | None":
        """Return the child called `tag`, None without.

        Raises:
            UrdfError: several.
        """
        found = self.children(tag)
        if len(found) > 1:
            raise self.error(f"{len(found)} <{found[0].tag}> elements", "one")
        return found[0] if found else None

    def need(self, tag: str) -> "Node":
        """Return the child called `tag`.

        Raises:
            UrdfError: none, or several.
        """
        child = self.only(tag)
        if child is None:
            raise self.error(f"no <{tag}>", "one")
        return child

    def has(self, attribute: str) -> bool:
        """Return whether the attribute is given."""
        return attribute in self.element.attrib

    def optional_text(self, attribute: str) -> str:
        """Return an attribute, empty without it.

        Raises:
            UrdfError: an expression of xacro.
        """
        value = self.element.get(attribute, "")
        if _has_expression(value):
            raise self.error(f"{attribute}={_short(value)}", f"plain URDF{_XACRO}")
        return value

    def text(self, attribute: str) -> str:
        """Return an attribute.

        Raises:
            UrdfError: a missing or empty attribute, or an expression of xacro.
        """
        value = self.optional_text(attribute)
        if not value.strip():
            missing = "empty" if self.has(attribute) else "no"
            raise self.error(f"{missing} {attribute}", f"the attribute {attribute}")
        return value

    def number(
        self,
        attribute: str,
        default: float | None = None,
        low: float = -np.inf,
        infinite: bool = False,
    ) -> float:
        """Return an attribute that is a number >= `low`; required without a `default`.

        Raises:
            UrdfError: a missing attribute or another value; infinity, unless `infinite`.
        """
        given = None if default is None else (default,)
        return float(self.numbers(attribute, 1, given, low, infinite)[0])

    def numbers(
        self,
        attribute: str,
        count: int | None,
        default: tuple[float, ...] | None = None,
        low: float = -np.inf,
        infinite: bool = False,
    ) -> Array:
        """Return an attribute of `count` numbers >= `low` separated by blanks (count,); None: any.

        Raises:
            UrdfError: a missing attribute without `default`, or another value; infinity, unless
                `infinite`.
        """
        if default is not None and not self.has(attribute):
            return np.array(default)
        text = self.text(attribute)
        values = _numbers_of(text, count, low, infinite)
        if values is None:
            expected = f"{_counted(count, infinite)}{_bound(low)}"
            expected += "" if count == 1 else " separated by blanks"
            raise self.error(f"{attribute}={_short(text)}", expected)
        return values

    def one_or_each(
        self, attribute: str, count: int, low: float = -np.inf, infinite: bool = False
    ) -> float | Array:
        """Return an attribute that is one number >= `low`, or `count` of them; 0 without it."""
        several = len(self.element.get(attribute, "").split()) > 1
        if several and count > 1:
            return self.numbers(attribute, count, None, low, infinite)
        return self.number(attribute, 0.0, low, infinite)

    def content(self, count: int = 1, low: float = -np.inf) -> Array:
        """Return `count` finite numbers >= `low` (count,) of the text or the attribute `value`.

        Raises:
            UrdfError: another text.
        """
        text = self.element.get("value") or self.element.text or ""
        values = _numbers_of(text, count, low)
        if values is None:
            expected = f"{count} finite number{'s' * (count > 1)}{_bound(low)}"
            expected += _XACRO if _has_expression(text) else ""
            raise self.error(_short(text.strip()), expected)
        return values

    def _child(self, child: ET.Element, index: int = 0, count: int = 1) -> "Node":
        return Node(child, self._place(child, index, count), self.path, self.notes)

    def _place(self, child: ET.Element, index: int, count: int) -> str:
        local = local_name(child)
        name = child.get("name")
        number = f" {index + 1}" if count > 1 and not name else ""
        if self.tag in ROOTS and name and local in ("link", "joint"):
            return f"{local} {_short(name, quote='')!r}"
        place = f"<{local}>{number}" + (f" {_short(name, quote='')!r}" if name else "")
        return place if self.tag in ROOTS else f"{self.place} {place}"


def local_name(element: ET.Element) -> str:
    """Return the tag without its namespace."""
    return str(element.tag).rsplit("}", 1)[-1]


def root_tag(path: str | os.PathLike[str]) -> str:
    """Return the tag of a file's root element: "robot", "mujoco" or "sdf".

    Raises:
        UrdfError: no readable file, not well-formed XML, XML with entities or too deep, or another
            root element.
    """
    file, expected = Path(path), "a URDF, MJCF or SDF file"
    data = _read(file, expected)
    tag = local_name(_parse(file, data, expected))
    if tag not in (*FORMATS, "mujoco"):
        found = f"{file}: root element: found <{tag}>"
        raise UrdfError(f"{found}, expected <robot>, <mujoco> or <sdf>{_hint(data)}")
    return tag


def parse_xml(path: str | os.PathLike[str], tag: str) -> Node:
    """Return the root element of a file, `tag`: "robot" of a URDF file, "sdf" of an SDF file.

    The program xacro expands a file with the ending .xacro, where it is installed.

    Raises:
        UrdfError: no readable file, a file that xacro cannot expand, not well-formed XML, XML with
            entities or too deep, or another root element.
    """
    file, expected = Path(path), FORMATS[tag]
    data = _read(file, expected)
    program = shutil.which("xacro") if file.suffix == ".xacro" else None
    if program is not None:
        data = _expand(program, file)
    element = _parse(file, data, expected)
    _strip_namespace(element)
    root = Node(element, f"<{tag}>", file, [])
    if program is not None:
        root.note("changed", f"expanded by {program}")
    if element.tag != tag:
        raise UrdfError(f"{file}: root element: found <{root.tag}>, expected <{tag}>{_hint(data)}")
    return root


def _read(file: Path, expected: str) -> bytes:
    return read_file(file, expected, most=MOST_TEXT, error=UrdfError)


def _parse(file: Path, data: bytes, expected: str) -> ET.Element:
    """Return the root element of a text."""
    # Some files have blanks before <?xml or a NUL at the end; in UTF-16 NULs are text.
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.strip(b"\0 \t\r\n")
    check_xml(data, str(file), UrdfError)
    try:
        return ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as error:
        found = f"{file}: found invalid XML ({error})"
        raise UrdfError(f"{found}, expected {expected}{_hint(data)}") from error


def _expand(program: str, file: Path) -> bytes:
    """Return what the program xacro makes of a file."""
    command = [program, str(file.resolve())]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=_EXPANSION)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        reason = " ".join(said.decode(errors="replace").split())[-_MOST_QUOTED:]
        found = f"{file}: found a file that {program} cannot expand ({reason})"
        raise UrdfError(f"{found}, expected xacro") from error
    return done.stdout


def _strip_namespace(root: ET.Element) -> None:
    """Remove the root's namespace, which files made for Drake declare, from all tags."""
    prefix = root.tag[: -len(local_name(root))]
    for element in root.iter() if prefix else ():
        element.tag = str(element.tag).removeprefix(prefix)


def _hint(data: bytes) -> str:
    if b"drake:" in data and b"xmlns:drake" not in data and data.lstrip().startswith(b"<"):
        return _DRAKE
    return _XACRO if b"xacro" in data else ""


def _has_expression(text: str) -> bool:
    return "${" in text or "$(" in text


def _bound(low: float) -> str:
    return f" >= {low:g}" if low > -np.inf else ""


def _counted(count: int | None, infinite: bool = False) -> str:
    kind = "" if infinite else "finite "
    return f"a {kind}number" if count == 1 else f"{count or ''} {kind}numbers".strip()


def _numbers_of(text: str, count: int | None, low: float, infinite: bool = False) -> Array | None:
    """Return the `count` numbers >= `low` of a text (count,), None if it has others."""
    values = [_number(word, infinite) for word in text.split()]
    counted = len(values) == (count or max(len(values), 1))
    if not counted or any(value is None or value < low for value in values):
        return None
    return np.array(values, dtype=np.float64)


def _number(word: str, infinite: bool) -> float | None:
    if infinite and word in ("inf", "-inf"):
        return float(word)
    value = float(word) if _NUMBER.fullmatch(word) else np.inf
    return value if np.isfinite(value) else None


def _short(text: str, quote: str = '"') -> str:
    return quote + (text if len(text) <= _SHOWN else text[:_SHOWN] + "...") + quote
