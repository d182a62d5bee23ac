"""Words of the house: names and prose use the words of the field."""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from sources import ROOT, SOURCES, Function, Source

GLOSSARY = Path(__file__).with_name("glossary.txt")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Entry(NamedTuple):
    """Line of the glossary."""

    old: str
    new: str
    places: tuple[str, ...]  # where the old word has a meaning of its own
    only: bool  # whether the old word is refused in these places alone
    in_prose: bool  # whether docstrings, comments, messages and pages are checked too

    def holds(self, file: str) -> bool:
        """Return whether a file has to avoid the old word."""
        return file.startswith(self.places) == self.only

    def matches(self, name: str) -> bool:
        """Return whether a name is the old word, or has it as a part."""
        whole = "_" in self.old or self.old != self.old.lower()
        return name == self.old if whole else self.old in words(name)


@cache
def words(name: str) -> list[str]:
    """Split a name such as `motor_law` or `MotorLaw` into words, but for `degrees_of_freedom`."""
    return [word.lower() for word in WORD.findall(name.replace("degrees_of_freedom", ""))]


def read_glossary() -> Iterator[Entry]:
    """Read the entries, each below the heading that says what is checked."""
    prose = False
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            prose = "prose" in line
        elif line and not line.startswith("#"):
            old, _, rest = line.partition(" -> ")
            new, _, kept = rest.partition(" | ")
            places = tuple(kept.removeprefix("only ").split(", ")) if kept else ()
            yield Entry(old, new, places, kept.startswith("only "), prose)


def names(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Yield the names that a file defines, its own with them."""
    yield source.tree, source.path.stem
    for node in source.nodes:
        if isinstance(node, ast.ClassDef | Function):
            yield node, node.name
        elif isinstance(node, ast.arg):
            yield node, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node, node.attr


@cache
def prose(text: str) -> list[str]:
    """Split a text into words, without names, code in backticks and `degrees of freedom`."""
    text = re.sub(r"`[^`]*`|\w*_\w*|degrees? of freedom|degrees?-of-freedom", " ", text)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", text)]


def texts(source: Source) -> Iterator[tuple[int, str]]:
    """Yield docstrings, other strings and comments of a file, with their lines."""
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(StringIO("\n".join(source.lines)).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def page_lines(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown page with their numbers, without blocks of code."""
    in_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        if not in_code:
            yield number, line


@cache  # when a test asks for them: pytest reads this file in every one of its processes
def all_prose() -> list[tuple[str, int, set[str]]]:
    """List file, line and words of all texts that a reader or user meets."""
    found = [
        (source.name, line, set(prose(text))) for source in SOURCES for line, text in texts(source)
    ]
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        found += [(name, number, set(prose(line))) for number, line in page_lines(page)]
    return found


@cache
def all_names() -> list[tuple[Source, ast.AST, str]]:
    """List the names that the sources define."""
    return [(source, node, name) for source in SOURCES for node, name in names(source)]


@cache
def all_docstrings() -> list[tuple[Source, ast.AST, str]]:
    """List the docstrings of the sources."""
    return [(source, node, text) for source in SOURCES for node, text in source.docstrings()]


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [page for folder in ("docs", "vigym") for page in sorted((ROOT / folder).rglob("*.md"))]
ENTRIES = list(read_glossary())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.old)
def test_names_are_those_of_the_field(entry: Entry):
    found = [(source, node, name) for source, node, name in all_names() if entry.matches(name)]
    assert [f"{s.at(node)} {name}" for s, node, name in found if entry.holds(s.name)] == []


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.in_prose], ids=lambda entry: entry.old)
def test_prose_has_the_words_of_the_field(entry: Entry):
    found = [
        f"{name}:{line}"
        for name, line, used in all_prose()
        if entry.old in used and entry.holds(name)
    ]
    assert found == []


def test_prose_is_found_wherever_it_stands(tmp_path: Path):
    file = tmp_path / "file.py"
    file.write_text('"""Heft."""\nraise Error(f"{x}: {y} ease")  # rub `coast`, a_gate\n')
    assert [prose(text) for _, text in texts(Source(file))] == [
        ["heft"],
        [],
        ["ease"],
        ["rub"],
    ]
    page = tmp_path / "page.md"
    page.write_text("one\n```bash\ntwo\n```\nthree\n")
    lines = [line for _, line in page_lines(page)]
    assert "two" not in lines
    assert {"one", "three"} < set(lines)


def unnamed_items(text: str) -> list[str]:
    """Return lines of a docstring's sections that open an item without "name: ".

    The site lists the items of a section; a line that is indented further goes on with the last.
    """
    listed = r"^(?:Args|Attributes|Raises):\n((?:[ ]{4}.*\n?|\n)+)"
    sections = re.findall(listed, text, re.MULTILINE)
    lines = [line for section in sections for line in section.splitlines()]
    return [line for line in lines if re.match(r" {4}\S", line) and not re.match(r" {4}.+: ", line)]


def test_items_without_a_name_are_found():
    text = "Sum.\n\nArgs:\n    a: one\n        more\n    b, c,\n        d: two\n\nNotes."
    assert unnamed_items(text) == ["    b, c,"]


def test_items_of_docstrings_are_named_on_their_first_line():
    found = [
        (s.at(node), line) for s, node, text in all_docstrings() for line in unnamed_items(text)
    ]
    assert found == []
