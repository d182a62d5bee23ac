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
FLEXIBLE = ("flexcomp", "flex", "flexvert", "flexstrain")
ASSETS = ("mesh", "hfield")


@dataclass
class Source:
    """Model as text and bytes.

    Attributes:
        root: element <mujoco>, without includes, textures and names of folders.
        missing_meshes: "error", or "report" to leave out meshes that are not there, with a note.
        models: attached models by the names of files that the elements have now.
        assets: bytes by such names.
        meshes: path of the file by the name that the element has for it now.
        notes: on elements that are not read.
    """

    root: ET.Element
    missing_meshes: str = "error"
    models: dict[str, bytes] = field(default_factory=dict)
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
    source = Source(ET.Element("mujoco"), missing_meshes)
    source.root = _read_model(source, path, [])
    return source


def _read_model(source: Source, path: Path, above: list[Path]) -> ET.Element:
    """Return the root element of a file, with its assets in the source.

    Args:
        source: of the main file.
        path: of the file.
        above: files of the models that attach it.
    """
    try:
        root = _parse(path)
    except ET.ParseError as error:
        raise MechanismError(f"{path}: found invalid XML ({error}), expected MJCF") from error
    if root.tag != "mujoco":
        raise MechanismError(f"{path}: root element: found <{root.tag}>, expected <mujoco>")
    within = [*above, path.resolve()]
    _include(root, path, path.parent, [path.resolve()])
    _check_counts(root, path)
    folders = _folders(root, path.parent)
    flexible = _drop(root)
    if flexible:
        source.notes.append(Note("dropped", f"{flexible} flexible bodies", "bodies are rigid"))
    missing: set[str] = set()
    for element in [each for each in root.iter() if each.get("file")]:
        if element.tag == "model":
            _read_attached(source, path, element, within)
        elif not _read_asset(source, path, element, folders):
            missing.add(element.get("name", ""))
    _drop_geoms(root, missing)
    return root


def _read_attached(source: Source, path: Path, element: ET.Element, within: list[Path]) -> None:
    """Read the file of a <model>, of which parts are attached."""
    file = path.parent / element.get("file", "")
    if file.resolve() in within:
        found = f"{element.get('file')!r} again"
        raise MechanismError(f"{path}: <model>: found {found}, expected a model without this one")
    root = _read_model(source, file, within)
    element.set("file", f"{len(source.models)}.xml")
    source.models[element.get("file", "")] = ET.tostring(root)


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


def _drop(root: ET.Element) -> int:
    """Remove elements in which nothing moves, and flexible ones; return the number of these."""
    flexible = 0
    for element in list(root.iter()):
        for child in [each for each in element if each.tag in DROPPED + FLEXIBLE]:
            element.remove(child)
            flexible += child.tag in FLEXIBLE
        if element.tag in ("material", "light"):
            element.attrib.pop("texture", None)
    return flexible


def _read_asset(source: Source, path: Path, element: ET.Element, folders: list[Path]) -> bool:
    """Read the file of an element, which has a name of its own from now on.

    Return whether it is there; another answer than an error is for missing meshes.
    """
    written = element.get("file", "")
    place = f"{path}: <{element.tag}> {written!r}"
    if element.tag not in ASSETS:
        expected = "none: <mesh>, <hfield>, <model> and <include> alone have files here"
        raise MechanismError(f"{place}: found a file, expected {expected}")
    names = (written, Path(written).name)  # MuJoCo's `strippath`
    candidates = [folder / name for name in names for folder in folders]
    file = next((each for each in candidates if os.path.isfile(each)), candidates[0])
    name = element.get("name") or Path(written).stem
    element.set("name", name)
    mesh = element.tag == "mesh"
    if mesh and source.missing_meshes == "report" and not os.path.isfile(file):
        source.notes.append(Note("dropped", f"mesh {name!r}", f"found no file {file}"))
        return False
    element.set("file", f"{len(source.assets)}{Path(written).suffix.lower()}")
    most = MOST_BYTES - sum(map(len, source.assets.values()))
    data = read_file(file, "an asset", place, most, MechanismError)
    source.assets[element.get("file", "")] = data
    if mesh:
        source.meshes[element.get("file", "")] = file.resolve()
    return True


def _drop_geoms(root: ET.Element, missing: set[str]) -> None:
    """Remove missing meshes and the geoms of them."""
    for element in list(root.iter()) if missing else ():
        for child in list(element):
            lost = child.get("name") if child.tag == "mesh" else child.get("mesh")
            if child.tag in ("mesh", "geom") and lost in missing:
                element.remove(child)
