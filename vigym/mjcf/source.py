"""Text of an MJCF file with its includes and asset files, read here and nowhere else.

MuJoCo gets texts and bytes alone, and reads no file itself. Textures, skins and sizes of memory
are left out: nothing in them moves.
"""

import contextlib
import os
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from vigym.files import MOST_BYTES, MOST_TEXT, check_xml, read_file
from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.errors import MechanismError

MOST_INCLUDED = 200  # files
MOST_COPIES = 10000  # of an element by `count`
DIRECTORIES = ("assetdir", "meshdir", "texturedir", "strippath")
DROPPED = ("texture", "skin", "size", "layer")
ASSETS = ("mesh", "hfield")


@dataclass
class Source:
    """Model as text and bytes.

    Attributes:
        root: element <mujoco>, without includes, textures and names of folders.
        assets: bytes by the names that the elements have now.
        meshes: path of the file by the name of the mesh.
        notes: on elements that are not read.
    """

    root: ET.Element
    assets: dict[str, bytes] = field(default_factory=dict)
    meshes: dict[str, Path] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def is_mjcf(path: Path) -> bool:
    """Return whether a file can be read, and its root element is <mujoco>."""
    try:
        return str(_parse(path).tag) == "mujoco"
    except (MechanismError, ET.ParseError):  # the reader of another format tells the reason
        return False


def read_source(path: Path, missing_meshes: str) -> Source:
    """Return the model of a file with all that it refers to.

    Args:
        path: of the file.
        missing_meshes: "error", or "report" to leave out meshes that are not there, with a note.

    Raises:
        MechanismError: a file that cannot be read; names it.
    """
    try:
        root = _parse(path)
    except ET.ParseError as error:
        raise MechanismError(f"{path}: found invalid XML ({error}), expected MJCF") from error
    if root.tag != "mujoco":
        raise MechanismError(f"{path}: root element: found <{root.tag}>, expected <mujoco>")
    _include(root, path, path.parent, [path.resolve()])
    _check_counts(root, path)
    source = Source(root)
    folders = _folders(root, path.parent)
    _drop(root)
    missing: set[str] = set()
    for number, element in enumerate(each for each in root.iter() if each.get("file")):
        _read_asset(source, path, element, number, folders, missing_meshes, missing)
    _drop_geoms(source, missing)
    return source


def _parse(path: Path) -> ET.Element:
    data = read_file(path, "an MJCF file", most=MOST_TEXT, error=MechanismError)
    check_xml(data, str(path), MechanismError)
    try:
        return ET.fromstring(data)
    except (ValueError, LookupError) as error:
        raise ET.ParseError(str(error)) from error


def _include(element: ET.Element, path: Path, main: Path, read: list[Path]) -> None:
    """Replace <include> by the content of its file; places are relative to the main file."""
    for index in reversed(range(len(element))):
        child = element[index]
        if child.tag != "include":
            _include(child, path, main, read)
            continue
        file = main / child.get("file", "")
        if not file.is_file():
            file = path.parent / child.get("file", "")
        if file.resolve() in read or len(read) > MOST_INCLUDED:
            found = f"{child.get('file')!r} again, or more than {MOST_INCLUDED} files"
            raise MechanismError(f"{path}: <include>: found {found}, expected each file once")
        read.append(file.resolve())
        try:
            included = _parse(file)
        except ET.ParseError as error:
            raise MechanismError(f"{file}: found invalid XML ({error}), expected MJCF") from error
        _include(included, file, main, read)
        element[index : index + 1] = list(included)


def _check_counts(element: ET.Element, path: Path, above: float = 1.0) -> None:
    """Raise MechanismError for elements that make too many copies of what is in them."""
    for each in element.get("count", "").split():
        with contextlib.suppress(ValueError):  # mujoco tells what is wrong with it
            above *= max(1.0, float(each))
    if not above <= MOST_COPIES:
        found = f"{above:g} copies, with those of the elements around it"
        expected = f"at most {MOST_COPIES}"
        raise MechanismError(f"{path}: <{element.tag}>: found {found}, expected {expected}")
    for child in element:
        _check_counts(child, path, above)


def _folders(root: ET.Element, folder: Path) -> list[Path]:
    """Return the folders of asset files, and remove their names from <compiler>."""
    named = dict.fromkeys(DIRECTORIES, "")
    for compiler in root.iter("compiler"):
        for name in DIRECTORIES:
            named[name] = compiler.attrib.pop(name, named[name])
    return [folder / (named["meshdir"] or named["assetdir"]), folder]


def _drop(root: ET.Element) -> None:
    """Remove elements and attributes in which nothing moves."""
    for element in list(root.iter()):
        for child in [each for each in element if each.tag in DROPPED]:
            element.remove(child)
        if element.tag == "material":
            element.attrib.pop("texture", None)


def _read_asset(
    source: Source,
    path: Path,
    element: ET.Element,
    number: int,
    folders: list[Path],
    missing_meshes: str,
    missing: set[str],
) -> None:
    """Read the file of an element, which has a name of its own from now on."""
    written = element.get("file", "")
    place = f"{path}: <{element.tag}> {written!r}"
    if element.tag not in ASSETS:
        expected = "a model in one file: <mesh> and <hfield> alone have files"
        raise MechanismError(f"{place}: found a file, expected {expected}")
    names = (written, Path(written).name)  # MuJoCo's `strippath`
    candidates = [folder / name for name in names for folder in folders]
    file = next((each for each in candidates if os.path.isfile(each)), candidates[0])
    name = element.get("name") or Path(written).stem
    element.set("name", name)
    if element.tag == "mesh" and missing_meshes == "report" and not os.path.isfile(file):
        source.notes.append(Note("dropped", f"mesh {name!r}", f"found no file {file}"))
        missing.add(name)
        return
    element.set("file", f"{number}{Path(written).suffix.lower()}")
    most = MOST_BYTES - sum(map(len, source.assets.values()))
    data = read_file(file, "an asset", place, most, MechanismError)
    source.assets[element.get("file", "")] = data
    if element.tag == "mesh":
        source.meshes[name] = file.resolve()


def _drop_geoms(source: Source, missing: set[str]) -> None:
    """Remove missing meshes and the geoms of them."""
    for element in list(source.root.iter()) if missing else ():
        for child in list(element):
            lost = child.get("name") if child.tag == "mesh" else child.get("mesh")
            if child.tag in ("mesh", "geom") and lost in missing:
                element.remove(child)
