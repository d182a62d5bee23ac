"""Kernels that come with the package: looked for first, and never written."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from vigym.core.compiler import cache
from vigym.core.compiler.kernel import entry

pytestmark = pytest.mark.filterwarnings("error")


def half(x):
    return x / 2


@pytest.fixture
def start(tmp_path, monkeypatch, capfd):
    """Start anew with a folder of kernels; return what was said and how many were compiled."""

    def start(folder: str):
        monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / folder))
        monkeypatch.setattr(cache, "_printed", set())
        kernel = entry(half)
        assert (kernel(3.0), kernel(3)) == (1.5, 1.5)
        return capfd.readouterr().err, sum(kernel.stats.cache_misses.values())

    return start


@pytest.fixture
def shipped(start, tmp_path, monkeypatch):
    """Kernels of a package that nobody may write."""
    assert start("built") == ("", 2)
    package = tmp_path / "package"
    shutil.copytree(next((tmp_path / "built" / "vigym").iterdir()), package)
    monkeypatch.setattr(cache, "SHIPPED", package)
    return package


def kernels(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_nothing_is_compiled_nor_stored(start, shipped, tmp_path):
    for path in shipped.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.read_bytes() for path in kernels(shipped)}
    assert start("empty") == ("", 0)
    assert kernels(tmp_path / "empty") == []
    assert {path: path.read_bytes() for path in kernels(shipped)} == before


def test_they_serve_where_no_folder_can_be_written(start, shipped, monkeypatch):
    monkeypatch.setattr(cache, "_writing_error", lambda folder: OSError(errno.EROFS, "read-only"))
    said, compiled = start("none")
    assert said.startswith("vigym keeps no compiled kernels, found no writable folder among ")
    assert compiled == 0


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("data", [b"", b"damaged", bytes(999)])
def test_damaged_ones_are_told_in_a_line_and_compiled(start, shipped, pattern, data):
    for path in shipped.rglob(pattern):
        path.write_bytes(data)
    said, compiled = start("own")
    assert said.startswith(f"vigym compiles kernels anew, found damaged files in {shipped}")
    assert said.count("\n") == 1
    assert compiled == 2
    assert start("own")[1] == 0  # from the user's folder


def test_those_of_another_module_do_not_serve(start, shipped):
    """As after an edit: its kernels lie in folders that are named after the content."""
    for folder in list(shipped.iterdir()):
        folder.rename(folder.with_name("test_shipped_kernels_0123456789abcdef"))
    assert start("own") == ("", 2)
