"""Words of the house: those of the field, and sentences that begin with a verb or a noun."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from sources import SOURCES, Function, Source

GLOSSARY = Path(__file__).with_name("glossary.txt")
# first words of docstrings that are neither a verb nor a noun
QUESTIONS = {"What", "How", "Where", "When", "Who", "Whose", "Which", "Why"}
OTHERS = {
    "That",
    "This",
    "These",
    "It",
    "There",
    "All",
    "Every",
    "Same",
    "Such",
    "As",
    "If",
    "In",
    "On",
    "Of",
}
ARTICLES = {"A", "An", "The", "One"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Entry(NamedTuple):
    """Line of the glossary."""

    old: str
    new: str
    kept: tuple[str, ...]  # where the old word has a meaning of its own
    in_prose: bool  # whether docstrings are checked too

    def holds(self, source: Source) -> bool:
        """Return whether a file has to avoid the old word."""
        return not source.name.startswith(self.kept) if self.kept else True

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
            prose = "docstrings" in line
        elif line and not line.startswith("#"):
            old, _, rest = line.partition(" -> ")
            new, _, kept = rest.partition(" | ")
            yield Entry(old, new, tuple(kept.split(", ")) if kept else (), prose)


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
    """Split a docstring into words, without code in backticks and `degrees of freedom`."""
    text = re.sub(r"`[^`]*`|degrees? of freedom|degrees?-of-freedom", " ", text)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", text)]


def is_property(node: ast.AST) -> bool:
    """Return whether a function is read like an attribute."""
    return any(
        "property" in ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())
    )


ENTRIES = list(read_glossary())
NAMES = [(source, node, name) for source in SOURCES for node, name in names(source)]
DOCSTRINGS = [(source, node, text) for source in SOURCES for node, text in source.docstrings()]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.old)
def test_names_are_those_of_the_field(entry: Entry):
    found = [(source, node, name) for source, node, name in NAMES if entry.matches(name)]
    assert [f"{s.at(node)} {name}" for s, node, name in found if entry.holds(s)] == []


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.in_prose], ids=lambda entry: entry.old)
def test_docstrings_have_the_words_of_the_field(entry: Entry):
    found = [(source, node) for source, node, text in DOCSTRINGS if entry.old in prose(text)]
    assert [source.at(node) for source, node in found if entry.holds(source)] == []


def test_docstrings_of_functions_begin_with_a_verb():
    """Ruff's rule D401 looks at the mood of the verb."""
    refused = QUESTIONS | OTHERS | ARTICLES
    firsts = {
        s.at(n): text.split()[0]
        for s, n, text in DOCSTRINGS
        if isinstance(n, Function) and not is_property(n)
    }
    assert {
        place: first
        for place, first in firsts.items()
        if first in refused or not first[0].isalpha()
    } == {}


def test_docstrings_of_classes_and_modules_begin_with_a_noun():
    found = [
        (s, n, text) for s, n, text in DOCSTRINGS if not isinstance(n, Function) or is_property(n)
    ]
    firsts = {f"{s.at(n)} {getattr(n, 'name', '')}": text.split()[0] for s, n, text in found}
    assert {place: first for place, first in firsts.items() if first in QUESTIONS | OTHERS} == {}
