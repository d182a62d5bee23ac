"""Compiled kernels on disk: damaged files are told and replaced, a full disk does without."""

import errno
import importlib.util
import os
import pickle
import resource
import sys
from pathlib import Path

import numba
import pytest

from vigym.core.compiler import cache
from vigym.core.compiler.kernel import entry


def double(x):
    """Stand for a kernel, one that compiles at once."""
    return 2.0 * x


@pytest.fixture
def start(tmp_path, monkeypatch, capfd):
    """Call a kernel like a new process with its cache below ``tmp_path``; return what is printed."""
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))

    def start():
        monkeypatch.setattr(cache, "_printed", set())
        kernel = entry(double)
        assert kernel(1.5) == 3.0
        assert kernel(2) == 4.0
        return capfd.readouterr().err, sum(kernel.stats.cache_misses.values())

    return start


def files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.rglob(pattern))
    assert found
    return found


def test_a_later_start_compiles_nothing(start):
    assert start() == ("", 2)
    assert start() == ("", 0)


def test_another_place_of_the_same_module_compiles_nothing(tmp_path, monkeypatch):
    """As in another virtual environment; another module of this name has files of its own."""
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path / "cache"))
    source = (
        "from vigym.core.compiler.kernel import entry\n@entry\ndef scaled(x):\n    return {} * x\n"
    )
    misses = []
    for folder, factor in (("one", 2), ("two", 2), ("three", 5), ("four", 2)):
        file = tmp_path / folder / "scaling.py"
        file.parent.mkdir()
        file.write_text(source.format(factor))
        spec = importlib.util.spec_from_file_location("scaling", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "scaling", module)
        spec.loader.exec_module(module)
        assert module.scaled(1.5) == factor * 1.5
        misses.append(sum(module.scaled.stats.cache_misses.values()))
    assert misses == [1, 0, 1, 0]


def flip(data: bytes) -> bytes:
    """Change a byte of the machine code, which no pickle notices."""
    middle = 2 * len(data) // 3
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "other": lambda data: b"damaged" + data,
}


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [(p, damage) for p in ("*.nbi", "*.nbc") for damage in DAMAGES.values()] + [("*.nbc", flip)],
)
def test_damaged_files_are_told_in_a_line_and_replaced(start, tmp_path, pattern, damage):
    start()
    for path in files(tmp_path, pattern):
        path.write_bytes(damage(path.read_bytes()))
    said, compiled = start()
    assert said.startswith("vigym compiles kernels anew, found damaged files in ")
    assert said.count("\n") == 1
    assert compiled == 2
    assert start() == ("", 0)


def test_one_damaged_file_leaves_the_others(start, tmp_path):
    start()
    files(tmp_path, "*.nbc")[0].write_bytes(b"")
    assert start()[1] == 1
    assert start() == ("", 0)


class Planted:
    """Program in a pickle, as another user could write it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def plant(path: Path, mark: Path) -> None:
    """Write a program in place of a kernel's file."""
    version = pickle.dumps(numba.__version__) if path.suffix == ".nbi" else b""
    path.write_bytes(version + pickle.dumps(Planted(mark)))


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_programs_that_others_may_have_planted_are_not_run(start, tmp_path, pattern):
    start()
    mark = tmp_path / "run"
    for path in files(tmp_path, pattern):
        plant(path, mark)
        path.chmod(0o666)
    said, compiled = start()
    assert "mode -rw-rw-rw-, expected a file that only this user may write" in said
    assert compiled == 2
    assert not mark.exists()
    assert start() == ("", 0)
    plant(files(tmp_path, pattern)[0], mark)  # of the user, who may run what he likes
    start()
    assert mark.exists()


def test_open_folders_are_closed_and_kernels_private(start, tmp_path):
    """Whatever the umask was, and is."""
    before = os.umask(0)
    try:
        start()
    finally:
        os.umask(before)
    kept = [path for path in tmp_path.rglob("*") if path.suffix in ("", ".nbi", ".nbc")]
    assert {path.stat().st_mode & 0o077 for path in kept} == {0}
    for path in kept:
        path.chmod(0o777 if path.is_dir() else 0o600)
    assert start() == ("", 0)
    assert {path.stat().st_mode & 0o077 for path in kept} == {0}


def test_a_folder_that_another_user_could_replace_keeps_no_kernels(start, tmp_path, monkeypatch):
    place, home = tmp_path / "place", tmp_path / "home"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    said, compiled = start()
    assert said == (
        f"vigym keeps no kernels in {place}/vigym: {place}: found mode 0777, expected a folder "
        "that only this user and root may write\n"
    )
    assert compiled == 2
    assert files(home, "*.nbc")
    assert not list(place.rglob("*.nbc"))


def test_a_disk_that_is_full_while_kernels_are_written(start, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # of any file: those of compiled code are larger, what pytest captures is not
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        said, compiled = start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert said.startswith("vigym keeps no compiled kernels, found no way to write them (OSError")
    assert said.count("\n") == 1
    assert compiled == 2
    assert not list(tmp_path.rglob("*.nbc"))
    start()
    assert start() == ("", 0)


@pytest.mark.parametrize("name", ["mkdir", "makedirs"])
def test_a_disk_that_is_full_from_the_start(start, tmp_path, monkeypatch, name):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    target = Path if name == "mkdir" else cache.os  # of the folder, of the kernel's own in it
    monkeypatch.setattr(target, name, full)
    said, compiled = start()
    assert said.startswith("vigym keeps no compiled kernels, found no ")
    assert said.count("\n") == 1
    assert compiled == 2
    assert not list(tmp_path.rglob("*.nb?"))


def test_kernels_are_compiled_where_no_folder_can_be_written(start, monkeypatch):
    monkeypatch.setattr(cache, "_writing_error", lambda folder: PermissionError(errno.EACCES, "no"))
    said, compiled = start()
    assert said.startswith("vigym keeps no compiled kernels, found no writable folder among ")
    assert said.count("\n") == 1
    assert compiled == 2


def test_a_compiler_that_is_switched_off_is_an_error(run_python):
    import_core = "import vigym; vigym.Simulator"
    done = run_python(import_core, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: vigym: found numba's compiler switched off (NUMBA_DISABLE")
