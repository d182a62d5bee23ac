"""Imports between modules: no cycles, type hints counted, and where numba may be imported."""

import ast
import re
from pathlib import Path

import pytest
from sources import SOURCES, Source, imported

COMPILER = "vigym/core/compiler"  # the only folder that imports numba
# private parts of numba: what serves tested versions alone, and what has no public hook
PRIVATE = (f"{COMPILER}/linking/", f"{COMPILER}/cache.py")
# names for extensions of numba's types: https://numba.readthedocs.io/en/stable/extending/
EXTENSION_API = {
    "numba.carray",
    "numba.cfunc",
    "numba.config",
    "numba.njit",
    "numba.typeof",
    "numba.types",
    "numba.core.cgutils",
    "numba.core.event",
    "numba.core.imputils.lower_cast",
    "numba.core.imputils.lower_getattr_generic",
    "numba.core.imputils.lower_setattr_generic",
    "numba.core.typing.templates.AbstractTemplate",
    "numba.core.typing.templates.AttributeTemplate",
    "numba.core.typing.templates.infer_getattr",
    "numba.core.typing.templates.infer_global",
    "numba.core.typing.templates.signature",
}


def graph() -> dict[str, set[str]]:
    """Return the modules of the package that each imports, in functions and for type hints too."""
    modules = {source.module for source in SOURCES}
    edges = {}
    for source in SOURCES:
        names = set(imported(source.tree, source.package))
        found = {name if name in modules else name.rpartition(".")[0] for name in names}
        edges[source.module] = (found & modules) - {source.module}
    return edges


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules that import each other, directly or through others, group by group."""
    reached = {module: set(below) for module, below in edges.items()}
    for middle in edges:
        for below in reached.values():
            if middle in below:
                below |= reached[middle]
    return sorted(
        {tuple(sorted(m for m in reached[n] if n in reached[m])) for n in edges if n in reached[n]}
    )


def libraries(source: Source, *names: str) -> set[str]:
    """Return what a file imports of these libraries."""
    return {name for name in imported(source.tree, source.package) if name.split(".")[0] in names}


def test_cycles_are_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"f"}, "f": {"e"}}
    assert cycles(edges) == [("a", "b", "c"), ("e", "f")]


def test_modules_do_not_import_each_other_in_a_circle():
    assert cycles(graph()) == []


def private_names(names: set[str]) -> set[str]:
    """Return the names that numba does not document as public or for extensions."""
    public = {name for name in names if name.startswith(("numba.extending.", "numba.types."))}
    return names - public - EXTENSION_API


def dynamic_imports(source: Source) -> list[str]:
    """Return the calls that import numba by a text, and all of `__import__`."""
    calls = [node for node in source.nodes if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func).split(".")[-1], ast.unparse(call)) for call in calls]
    return [
        text
        for name, text in named
        if name == "__import__" or (name == "import_module" and re.search("numba|llvmlite", text))
    ]


@pytest.mark.parametrize(
    "code",
    [
        "from numba import core",
        "import numba._dispatcher",
        "import numba.np.arrayobj",
        "import numba",
    ],
)
def test_private_parts_of_numba_are_found(code: str):
    assert private_names(set(imported(ast.parse(code), [])))


def test_dynamic_imports_are_found(tmp_path: Path):
    file = tmp_path / "file.py"
    file.write_text('__import__("numba")\nimport_module("numba.core")\nimport_module(name)\n')
    assert len(dynamic_imports(Source(file))) == 2


def test_only_the_compiler_imports_numba():
    users = {source.name for source in SOURCES if libraries(source, "numba", "llvmlite")}
    assert {name for name in users if not name.startswith(f"{COMPILER}/")} == set()
    assert {s.name: dynamic_imports(s) for s in SOURCES if dynamic_imports(s)} == {}


def test_private_parts_of_numba_are_used_for_linking_and_caching_only():
    for source in SOURCES:
        if source.name.startswith(f"{COMPILER}/") and not source.name.startswith(PRIVATE):
            assert private_names(libraries(source, "numba")) == set(), source.name
