"""Layers of the package: who imports whom, which libraries, what lies at the top of a checkout."""

import ast
import sys

from sources import PACKAGE, ROOT, SCRIPTS, SOURCES, Source, imported

# layer: the layers of the package it may import, beside itself
ARROWS = {
    "ownership": set(),
    "files": {"ownership"},
    "announce": {"core"},
    "captured_output": set(),
    "assets": set(),
    "spatial": set(),
    "core": {"files", "ownership"},
    "metrics": {"core"},
    "mechanism": {"files", "spatial"},
    "simulation": {"announce", "core", "mechanism", "metrics", "spatial"},
    "baselines": {"core", "mechanism", "simulation", "spatial"},
    "urdf": {"captured_output", "files", "mechanism", "spatial"},
    "mjcf": {"files", "mechanism", "spatial"},
    "sdf": {"mechanism", "spatial", "urdf"},
    "robot_files": {"mechanism", "mjcf", "sdf", "urdf"},
    "referee": {"mechanism", "mjcf", "simulation"},
    "render": {"captured_output", "core", "mechanism", "simulation", "spatial"},
    "control": {"mechanism", "simulation"},
    "policies": {"files"},
    "envs": {
        "assets",
        "control",
        "mechanism",
        "metrics",
        "mjcf",
        "render",
        "robot_files",
        "simulation",
        "spatial",
        "urdf",
    },
    "wrappers": {"envs", "metrics"},
    "evaluation": {"assets", "control", "core", "envs", "files", "policies"},
    "training": {"envs", "evaluation", "files", "policies", "wrappers"},
    "cli": {
        "assets",
        "baselines",
        "core",
        "envs",
        "evaluation",
        "files",
        "mechanism",
        "mjcf",
        "policies",
        "referee",
        "render",
        "robot_files",
        "simulation",
        "training",
        "urdf",
    },
    "__init__": {
        "assets",
        "baselines",
        "control",
        "envs",
        "evaluation",
        "mechanism",
        "mjcf",
        "policies",
        "robot_files",
        "sdf",
        "simulation",
        "urdf",
        "wrappers",
    },
    "__main__": {"cli"},
}
# file: the layers above it that its methods import when they are called
LATE = {"vigym/mechanism/mechanism.py": {"urdf"}}  # `to_urdf`
# layer: the libraries it may import, beside Python's own
LIBRARIES = {
    "ownership": set(),
    "files": set(),
    "announce": {"tqdm"},
    "captured_output": set(),
    "assets": set(),
    "spatial": {"numpy"},
    "core": {"numpy", "numba", "llvmlite", "filelock"},
    "metrics": {"numpy"},
    "mechanism": {"numpy", "trimesh"},
    "simulation": {"numpy"},
    "baselines": {"numpy", "sympy"},
    "urdf": {"numpy", "pybullet", "yaml"},
    "mjcf": {"numpy", "mujoco"},
    "robot_files": set(),
    "sdf": {"numpy"},
    "referee": {"numpy", "mujoco"},
    "render": {"numpy", "pybullet", "PIL", "pygame", "viser"},
    "control": {"numpy"},
    "policies": {"numpy", "onnx", "safetensors"},
    "envs": {"numpy", "gymnasium"},
    "wrappers": {"numpy", "gymnasium", "stable_baselines3", "tensordict", "torch"},
    "evaluation": {
        "numpy",
        "gymnasium",
        "matplotlib",
        "moviepy",
        "mujoco",
        "ray",
        "stable_baselines3",
        "torch",
    },
    "training": {"numpy", "cma", "gymnasium", "matplotlib", "ray", "stable_baselines3", "torch"},
    "cli": {"numpy", "click", "gymnasium", "rich", "matplotlib"},
    "__init__": set(),
    "__main__": set(),
}
FOLDERS = {"vigym", "assets", "tests", "train", "examples", "docs"}
FILES = {
    "pyproject.toml",
    "mkdocs.yml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
}
PUBLIC = {
    "vigym",
    "vigym/baselines",
    "vigym/control",
    "vigym/wrappers",
}  # a person imports from these
CHOOSES = "vigym/core/compiler"  # between compiled kernels and plain Python


def imports_of(source: Source, late: bool = True) -> set[str]:
    return set(imported(source.tree, source.package, late))


def inner_layers(source: Source, late: bool = True) -> set[str]:
    """Return the other layers that a file imports, for type hints too."""
    parts = [name.split(".") for name in imports_of(source, late)]
    return {module[1] for module in parts if module[0] == "vigym" and len(module) > 1} - {
        source.layer
    }


def libraries(source: Source) -> set[str]:
    names = {name.split(".")[0] for name in imports_of(source)}
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
    tree, package = ast.parse(code), ["top", "middle"]
    found = set(imported(tree, package, hints=False))
    inside = {"top.middle.h", "top.middle.i.j", "top.k.l"}
    assert found == {"a.b", "d", "e.f.g", "n.o"} | inside
    assert found - set(imported(tree, package, late=False, hints=False)) == {"n.o"}
    assert set(imported(tree, package)) - found == {"m"}


def test_every_layer_has_its_rules():
    assert {source.layer for source in SOURCES} <= set(ARROWS)
    assert set(ARROWS) == set(LIBRARIES)


def test_arrows_have_no_way_back():
    below = {layer: set(ARROWS[layer]) for layer in ARROWS}
    for _ in ARROWS:
        below = {
            layer: seen.union(*(below[other] for other in seen)) for layer, seen in below.items()
        }
    assert [layer for layer, seen in below.items() if layer in seen] == []


def test_a_file_imports_only_along_the_arrows():
    for source in SOURCES:
        allowed = ARROWS[source.layer]
        assert inner_layers(source, late=False) - allowed == set(), source.name
        assert inner_layers(source) - allowed == LATE.get(source.name, set()), source.name
        assert libraries(source) - LIBRARIES[source.layer] == set(), source.name


def test_scripts_leave_pybullet_and_the_kernels_to_the_package():
    allowed = {
        "baselines",
        "envs",
        "mechanism",
        "simulation",
        "metrics",
        "control",
        "wrappers",
        "render",
        "spatial",
        "assets",
        "urdf",
        "evaluation",
        "training",
        "policies",
        "cli",
    }
    for source in SCRIPTS:
        if not source.folder.startswith("tests"):  # tests look into everything
            assert "pybullet" not in libraries(source), source.name
            used = {name.split(".")[1] for name in imports_of(source) if name.startswith("vigym.")}
            layers = {layer for layer in used if list(PACKAGE.glob(f"{layer}*"))}
            assert layers <= allowed, source.name


def test_only_public_packages_export_names_of_others():
    for source in SOURCES:
        if source.path.name == "__init__.py" and source.folder not in PUBLIC | {CHOOSES}:
            assert all(isinstance(node, ast.Expr) for node in source.tree.body), source.name


def test_nothing_else_lies_at_the_top():
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    built = {"dist", "build", "runs", "film.mp4", *(path.name for path in ROOT.glob("*.egg-info"))}
    assert found - built <= FOLDERS | FILES
