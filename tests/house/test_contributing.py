"""CONTRIBUTING.md: its map has every folder, and its recipes name files that exist."""

import re

import pytest
from sources import ROOT, SOURCES

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = sorted({source.folder for source in SOURCES if source.layer != "core"})


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != "vigym"])
def test_the_map_has_every_folder(folder):
    assert f"`{folder}/`" in TEXT or not list((ROOT / folder).glob("[!_]*.py"))


def test_the_map_and_the_recipes_name_what_exists():
    named = re.findall(r"`((?:vigym|tests|train|assets|examples)/[\w./]*)`", TEXT)
    assert len(named) > 40
    assert [name for name in named if "NAME" not in name and not (ROOT / name).exists()] == []


def test_the_recipes_are_as_short_as_they_say():
    for recipe in re.split(r"^### ", TEXT.partition("## Recipes")[2], flags=re.MULTILINE)[1:]:
        (said,) = re.findall(r"(\d) files?[:;]", recipe)[:1]
        assert int(said) == len(re.findall(r"^\d\. `", recipe, re.MULTILINE)), recipe.splitlines()[
            0
        ]
