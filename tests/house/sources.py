"""Sources of the project as syntax trees, for the rules of the house."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vigym"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """Python file with its text and its syntax tree."""

    path: Path

    @property
    def name(self) -> str:
        """Path from the top of the checkout."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def folder(self) -> str:
        """Folder of the file, from the top of the checkout."""
        return self.path.parent.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """Dotted name that imports the file."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self) -> list[str]:
        """Names of the packages around the file, the outermost first."""
        return list(self.path.relative_to(ROOT).parts[:-1])

    @property
    def layer(self) -> str:
        """First name below the package, such as `core`."""
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text."""
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree of the text."""
        return ast.parse("\n".join(self.lines))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        """Yield all functions, methods and inner ones too."""
        return (node for node in self.nodes if isinstance(node, Function))

    def docstrings(self) -> Iterator[tuple[Documented, str]]:
        """Yield what has a docstring, with it."""
        for node in self.nodes:
            text = ast.get_docstring(node) if isinstance(node, Documented) else None
            if text:
                yield node, text

    def at(self, node: ast.AST) -> str:
        """Name a place in the file for a report."""
        return f"{self.name}:{getattr(node, 'lineno', 1)}"


def sources_below(*folders: str) -> list[Source]:
    """Find the Python files of folders of the checkout, in the order of their paths."""
    return [Source(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def imported(
    tree: ast.AST, package: list[str], late: bool = True, hints: bool = True
) -> Iterator[str]:
    """Yield the absolute names of all that a file of `package` imports.

    Args:
        tree: its syntax tree.
        package: names of the packages around it.
        late: include what functions import when they are called.
        hints: include what only type hints need.
    """
    if not hints and is_hint(tree):
        tree = ast.Module(body=tree.orelse, type_ignores=[])
    for node in ast.iter_child_nodes(tree):
        if late or not isinstance(node, Function):
            yield from imported(node, package, late, hints)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *([node.module] if node.module else [])]
            # `from package import name` may fetch a module
            yield from (".".join([*module, alias.name]) for alias in node.names)


def is_hint(node: ast.AST) -> bool:
    """Return whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


SOURCES = sources_below("vigym")
SCRIPTS = sources_below("train", "examples", "tests")
