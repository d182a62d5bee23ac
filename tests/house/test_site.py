"""The site: every environment, command, controller and public module has its place there."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from sources import ROOT, imported, sources_below

import vigym
from vigym.envs.registry import ENVIRONMENTS

DOCS = ROOT / "docs"
NAMES = [entry.id.removeprefix("vigym/") for entry in ENVIRONMENTS]
PICTURE_BYTES = 150_000
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
# notebook: values of its constants that make it short, and modules that it needs
QUICK = {
    "train_and_film": ({"TIMESTEPS": 4096, "EPISODES": 2, "SECONDS": 0.5}, ["torch"]),
}
# modules that examples import and that are no interface
INNER = {"vigym.baselines.", "vigym.cli", "vigym.envs.tasks", "vigym.evaluation.speed"}


@pytest.fixture(scope="module")
def site():
    """Return the module that makes pages."""
    pytest.importorskip("click")
    spec = spec_from_file_location("gen_pages", DOCS / "gen_pages.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_every_environment_has_a_page(site, name: str) -> None:
    page = site.environment_page(f"vigym/{name}")
    assert page.startswith(f"# vigym/{name}\n\n![{name} in motion](../pictures/{name}.webp)\n")
    for title in ("Description", "Action Space", "Observation Space", "Rewards", "Arguments"):
        assert f"\n## {title}\n" in page
    assert f"environments/{name}.md" in site.gallery()


@pytest.mark.parametrize("name", NAMES)
def test_every_environment_has_a_small_moving_picture(name: str) -> None:
    image = pytest.importorskip("PIL.Image")
    file = DOCS / "pictures" / f"{name}.webp"
    assert file.stat().st_size <= PICTURE_BYTES
    with image.open(file) as picture:
        assert picture.n_frames >= 20


def test_every_picture_is_shown_and_every_moving_one_is_small() -> None:
    """Those of the environments are on pages that are made from the registry."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    shown = " ".join(page.read_text(encoding="utf-8") for page in pages)
    pictures = [*DOCS.glob("pictures/*.webp"), *DOCS.glob("pictures/*.png")]
    others = [one for one in pictures if one.stem not in NAMES]
    assert [one.name for one in others if f"pictures/{one.name})" not in shown] == []
    assert [one.name for one in DOCS.rglob("*.webp") if one.stat().st_size > PICTURE_BYTES] == []


def test_every_command_has_its_help_on_the_page(site) -> None:
    from vigym.cli.app import COMMANDS

    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- help: (\w+) -->", page) == ["vigym", *COMMANDS]
    filled = site.fill_marks(page)
    assert "Usage: vigym record [OPTIONS] ID" in filled
    assert "<!--" not in filled


def test_every_controller_is_in_the_table(site) -> None:
    from vigym.evaluation.builtin import BUILTIN

    page = (DOCS / "controllers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", site.fill_marks(page), re.MULTILINE)
    assert rows == list(BUILTIN)


def public_modules() -> set[str]:
    """Return the modules of public names, of controllers, and those that examples import."""
    homes = {getattr(vigym, name).__module__ for name in vigym.__all__ if name[0].isupper()} - {
        "builtins"
    }
    homes |= {"vigym", "vigym.assets", "vigym.control", "vigym.wrappers"}
    homes |= {f"vigym.control.{name}" for name in vigym.control.__all__}
    for source in sources_below("examples"):
        names = {name for name in imported(source.tree, source.package) if "vigym." in name}
        homes |= {name if is_module(name) else name.rpartition(".")[0] for name in names}
    return {name for name in homes if not name.startswith(tuple(INNER))}


def is_module(name: str) -> bool:
    """Return whether a dotted name is that of a module."""
    path = ROOT / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def documented() -> list[str]:
    """Return the modules on the pages of the API."""
    pages = sorted((DOCS / "api").glob("*.md"))
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return [name for text in texts for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]


def test_every_public_module_is_on_a_page_of_the_api() -> None:
    found = documented()
    assert len(found) == len(set(found))
    assert [name for name in found if not is_module(name)] == []
    assert sorted(public_modules() - set(found)) == []


def test_the_menu_has_every_page() -> None:
    menu = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert pages <= menu


def test_links_become_links_to_pages(site) -> None:
    text = "[a](../README.md#x) [b](../examples/own_task.py) ![c](pictures/c.png) [d](loops.md)"
    found = site.with_links(text, "docs/contact.md", "contact.md")
    assert found == "[a](index.md#x) b ![c](pictures/c.png) [d](loops.md)"
    papers = site.with_links("[p](vigym/core/README.md#papers)", "README.md", "index.md")
    assert papers == "[p](papers.md)"
    task = site.with_links("[t](../../vigym/envs/tasks/urdf.py)", "docs/api/x.md", "api/x.md")
    assert task == "[t](../environments/Urdf-v0.md)"


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    constants, needed = QUICK.get(file.stem, ({}, []))
    for module in needed:
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), file.name, "exec"), space)
            assert set(constants) <= set(space)
            space |= constants
