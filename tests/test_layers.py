"""The house keeps its order: who imports whom, how large a file grows, what lies at the top."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vigym"
SOURCES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = sorted(path for folder in ("train", "examples", "tests") for path in (ROOT / folder).rglob("*.py"))

# layer: the layers of the package it may import, beside itself
ARROWS = {
    "announce": set(),
    "captured_output": set(),
    "assets": set(),
    "spatial": set(),
    "core": set(),
    "metrics": {"core"},
    "mechanism": {"spatial"},
    "simulation": {"announce", "core", "mechanism", "metrics", "spatial"},
    "urdf": {"captured_output", "mechanism", "spatial"},
    "render": {"captured_output", "mechanism", "simulation", "spatial"},
    "control": {"mechanism", "simulation"},
    "envs": {"assets", "control", "mechanism", "metrics", "render", "simulation", "spatial", "urdf"},
    "wrappers": {"envs", "metrics"},
    "evaluation": {"assets", "control", "core", "envs"},
    "cli": {"assets", "core", "envs", "evaluation", "mechanism", "render", "simulation", "urdf"},
    "__init__": {"envs", "evaluation", "mechanism", "simulation", "urdf"},
    "__main__": {"cli"},
}
# file: the layers above it that its methods import when they are called
LATE = {"vigym/mechanism/mechanism.py": {"simulation", "urdf"}}  # `compile`, `to_urdf`
# layer: the libraries it may import, beside Python's own
LIBRARIES = {
    "announce": {"numba", "tqdm"},
    "captured_output": set(),
    "assets": set(),
    "spatial": {"numpy"},
    "core": {"numpy", "numba", "llvmlite"},
    "metrics": {"numpy"},
    "mechanism": {"numpy"},
    "simulation": {"numpy"},
    "urdf": {"numpy", "pybullet"},
    "render": {"numpy", "pybullet", "PIL", "trimesh", "viser"},
    "control": {"numpy"},
    "envs": {"numpy", "gymnasium"},
    "wrappers": {"numpy", "gymnasium", "stable_baselines3"},
    "evaluation": {"numpy", "gymnasium", "matplotlib", "moviepy", "stable_baselines3"},
    "cli": {"numpy", "click", "rich", "matplotlib"},
    "__init__": set(),
    "__main__": set(),
}
TOP = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "vigym", "assets", "tests", "train", "examples"}
PUBLIC = {"vigym", "vigym/wrappers"}  # a person imports from these
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
MOST_MODULES = 12  # of a folder, beside its __init__
VAGUE = {"utils", "util", "helpers", "helper", "misc", "common"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_hint(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imported(tree: ast.AST, package: list[str], late: bool = True) -> Iterator[str]:
    """Yield the absolute names of all that a file of `package` imports; not what only hints need.

    What functions import when they are called is `late`.
    """
    if is_hint(tree):
        tree = ast.Module(body=tree.orelse, type_ignores=[])
    for node in ast.iter_child_nodes(tree):
        if late or not isinstance(node, ast.FunctionDef):
            yield from imported(node, package, late)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *([node.module] if node.module else [])]
            # `from package import name` may fetch a module
            yield from (".".join([*module, alias.name]) for alias in node.names)


def imports_of(path: Path, late: bool = True) -> set[str]:
    package = list(path.relative_to(ROOT).with_suffix("").parts[:-1])
    return set(imported(ast.parse(path.read_text()), package, late))


def inner_layers(path: Path, late: bool = True) -> set[str]:
    parts = [name.split(".") for name in imports_of(path, late)]
    return {module[1] for module in parts if module[0] == "vigym" and len(module) > 1} - {layer_of(path)}


def libraries(path: Path) -> set[str]:
    names = {name.split(".")[0] for name in imports_of(path)}
    return {name for name in names if name not in sys.stdlib_module_names} - {"vigym"}


def test_imports_are_found_wherever_they_hide():
    code = """
import a.b as c, d
from e.f import g
from . import h
from .i import j
from ..k import l
if TYPE_CHECKING:
    import m
def late():
    from n import o
"""
    found = set(imported(ast.parse(code), ["top", "middle"]))
    inside = {"top.middle.h", "top.middle.i.j", "top.k.l"}
    assert found == {"a.b", "d", "e.f.g", "n.o"} | inside
    assert found - set(imported(ast.parse(code), ["top", "middle"], late=False)) == {"n.o"}


def test_every_layer_has_its_rules():
    assert {layer_of(path) for path in SOURCES} <= set(ARROWS)
    assert set(ARROWS) == set(LIBRARIES)


def test_arrows_have_no_way_back():
    below = {layer: set(ARROWS[layer]) for layer in ARROWS}
    for _ in ARROWS:
        below = {layer: seen.union(*(below[other] for other in seen)) for layer, seen in below.items()}
    assert [layer for layer, seen in below.items() if layer in seen] == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_imports_only_along_the_arrows(path):
    layer = layer_of(path)
    assert inner_layers(path, late=False) - ARROWS[layer] == set()
    assert inner_layers(path) - ARROWS[layer] == LATE.get(name_of(path), set())
    assert libraries(path) - LIBRARIES[layer] == set()


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_scripts_leave_pybullet_and_the_kernels_to_the_package(path):
    if path.is_relative_to(ROOT / "tests"):
        allowed = {"core", *ARROWS}  # tests look into everything
    else:
        allowed = {"envs", "mechanism", "simulation", "metrics", "control", "wrappers", "assets", "urdf", "evaluation"}
        assert "pybullet" not in libraries(path)
    used = {name.split(".")[1] for name in imports_of(path) if name.startswith("vigym.")}
    modules = {layer for layer in used if (PACKAGE / layer).exists() or (PACKAGE / f"{layer}.py").exists()}
    assert modules <= allowed


@pytest.mark.parametrize("path", [*SOURCES, *SCRIPTS], ids=name_of)
def test_a_file_is_small_enough_to_see_whole(path):
    lines = len(path.read_text().splitlines())
    assert lines <= LONGEST_FILE, f"{name_of(path)} has {lines} lines"


@pytest.mark.parametrize("path", [*SOURCES, *SCRIPTS], ids=name_of)
def test_a_file_says_what_it_is(path):
    assert path.stem not in VAGUE
    assert ast.get_docstring(ast.parse(path.read_text())), f"{name_of(path)} has no docstring"


def test_a_folder_is_small_enough_to_find_a_file_in():
    crowded = {name_of(path.parent) for path in SOURCES}
    crowded = {name for name in crowded if len(list((ROOT / name).glob("*.py"))) > MOST_MODULES + 1}
    assert crowded <= {"vigym/core"}


def test_only_public_packages_export_names_of_others():
    for path in SOURCES:
        if path.name == "__init__.py" and name_of(path.parent) not in PUBLIC:
            statements = ast.parse(path.read_text()).body
            assert all(isinstance(node, ast.Expr) for node in statements), name_of(path)


@pytest.mark.parametrize("path", [*SOURCES, *SCRIPTS], ids=name_of)
def test_a_function_is_small_enough_to_see_whole(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= LONGEST_FUNCTION, f"{name_of(path)}: {node.name} has {lines} lines"


def test_nothing_else_lies_at_the_top():
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found - {"dist", "build", "runs"} - {path.name for path in ROOT.glob("*.egg-info")} <= TOP
