"""Imports between modules: no cycles, type hints counted, and where numba may be imported."""

from sources import SOURCES, Source, imported

COMPILER = "vigym/core/compiler"  # the only folder that imports numba
# private parts of numba: what serves tested versions alone, and what has no public hook
PRIVATE = {f"{COMPILER}/linking.py", f"{COMPILER}/cache.py"}
# names for extensions of numba's types: https://numba.readthedocs.io/en/stable/extending/
EXTENSION_API = {
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


def test_only_the_compiler_imports_numba():
    users = {source.name for source in SOURCES if libraries(source, "numba", "llvmlite")}
    assert {name for name in users if not name.startswith(f"{COMPILER}/")} == set()


def test_private_parts_of_numba_are_used_for_linking_and_caching_only():
    for source in SOURCES:
        if source.folder == COMPILER and source.name not in PRIVATE:
            used = {name for name in libraries(source, "numba") if name.startswith("numba.core.")}
            assert used - EXTENSION_API == set(), source.name
