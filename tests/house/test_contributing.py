"""CONTRIBUTING.md: its map has every folder, and its recipes name files that exist."""

import re

import pytest
from sources import ROOT, SOURCES

from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.shapes import SHAPES

MOST_FILES = {"A joint type": 3, "A contact shape": 4, "An environment": 4}
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = sorted({source.folder for source in SOURCES if source.layer != "core"})


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != "vigym"])
def test_the_map_has_every_folder(folder):
    assert f"`{folder}/`" in TEXT or not list((ROOT / folder).glob("[!_]*.py"))


def test_the_map_and_the_recipes_name_what_exists():
    named = re.findall(r"`((?:vigym|tests|train|assets|examples)/[\w./]*)`", TEXT)
    assert len(named) > 40
    assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == []


def recipes() -> list[tuple[str, str]]:
    """Return title and text of every recipe."""
    text = TEXT.partition("## Recipes")[2].partition("\n## ")[0]
    parts = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    return [tuple(part.split("\n", 1)) for part in parts]


@pytest.mark.parametrize(("title", "text"), recipes())
def test_the_recipes_are_as_short_as_they_say(title: str, text: str):
    head, _, items = text.partition("\n1. ")
    (said,) = re.findall(r"(\d) files?[:.;]", head)[:1]
    counted = len(re.findall(r"^\d\. `", f"1. {items}", re.MULTILINE))
    assert int(said) == counted <= MOST_FILES.get(title, counted)
    # all files are items of the list: none hides in the sentence above it
    assert re.findall(r"`(?:vigym|tests|train|docs|assets|examples)/\S*`|`\w+\.md`", head) == []


def test_the_recipes_with_a_bound_are_there():
    assert set(MOST_FILES) <= {title for title, _ in recipes()}


@pytest.mark.parametrize("page", ["README.md", "docs/mechanisms.md"])
def test_pages_do_not_list_what_a_recipe_adds_to(page: str):
    """A list of all joint types or shapes would be one more file of a recipe."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for paragraph in re.split(r"\n\s*\n|\n- ", text):
        found = set(re.findall(r"[a-z]+", paragraph.lower()))
        for kinds in (JOINT_TYPES, SHAPES):
            named = {kind for kind in kinds if {kind, f"{kind}s", f"{kind}es"} & found}
            assert len(named) < len(kinds), paragraph
