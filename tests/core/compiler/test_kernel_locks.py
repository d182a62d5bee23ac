"""Kernels that several processes need at once: one compiles them, the others wait."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from vigym.core.compiler import cache

CALL = """
import module_of_a_kernel
from vigym.core.compiler import cache, events
cache.POLL_SECONDS = 0.01
events.listen(lambda *names: print("begins", flush=True), print)
module_of_a_kernel.double({value})
stats = module_of_a_kernel.double.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
HOLD = """
import sys, filelock
with filelock.FileLock(sys.argv[1]):
    print("has it", flush=True)
    input()
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start another process with the modules of this one."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, text=True)


def last_line(process: subprocess.Popen[str]) -> str:
    """Return the last line that a process prints, after its end."""
    printed = process.communicate()[0].splitlines()
    assert process.returncode == 0
    return printed[-1]


def kept(folder: Path, pattern: str = "*.nbc") -> list[Path]:
    """Return the compiled kernels in a folder."""
    return sorted(folder.rglob(pattern))


@pytest.fixture
def kinds(double):
    """Types of the arguments of ``double(1.5)``."""
    return (double.typeof_pyval(1.5),)


@pytest.fixture
def holder(double, kinds):
    """Another process that has the lock of ``double(1.5)``."""
    assert double._cache._take(kinds) is False
    path = double._cache._locks[kinds].lock_file
    double._cache.release(kinds)
    process = start(HOLD, path)
    assert process.stdout.readline() == "has it\n"
    yield process
    process.kill()
    process.communicate()


@pytest.fixture(autouse=True)
def _short_waiting(monkeypatch):
    monkeypatch.setattr(cache, "POLL_SECONDS", 0.01)


def test_a_kernel_that_another_process_compiles_is_waited_for(double, kinds, monkeypatch):
    store, waiting = double._cache.save_overload, []

    def save(*given):  # while this process still has the lock
        waiting.append(start(CALL.format(value=1.5)))
        assert waiting[0].stdout.readline() == "begins\n"
        store(*given)

    monkeypatch.setattr(double._cache, "save_overload", save)
    double.compile(kinds)
    assert last_line(waiting[0]) == "1 0"


def test_a_kernel_is_compiled_where_another_process_gave_it_up(holder, double):
    waiting = start(CALL.format(value=1.5))
    assert waiting.stdout.readline() == "begins\n"
    holder.kill()
    assert last_line(waiting) == "0 1"


def test_nobody_waits_forever(holder, double, monkeypatch):
    monkeypatch.setattr(cache, "MOST_WAITING", 0.02)
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_misses.values()) == 1


def test_where_nothing_can_be_stored_nobody_waits(holder, double, monkeypatch):
    monkeypatch.setattr(double._cache, "is_writable", lambda: False)
    assert double(1.5) == 3.0


def test_another_version_is_not_waited_for(holder, double):
    assert double(2) == 4.0


@pytest.mark.parametrize("error", [OSError, NotImplementedError])
def test_where_there_are_no_locks_everyone_goes_on(double, monkeypatch, error, tmp_path):
    def fail(*given, **options):
        raise error

    monkeypatch.setattr(FileLock, "acquire", fail)
    assert double(1.5) == 3.0
    assert len(kept(tmp_path)) == 1


def test_a_version_is_released_where_it_is_compiled_or_fails(double, kinds, monkeypatch):
    def fail(*given):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(double._cache, "save_overload", fail)
        with pytest.raises(MemoryError):
            double.compile(kinds)
    assert not double._cache._locks
    double.overloads.clear()
    double.compile(kinds)
    assert not double._cache._locks


def test_several_processes_compile_a_kernel_once(double):
    started = [start(CALL.format(value=1.5)) for _ in range(3)]
    assert sorted(map(last_line, started)) == ["0 1", "1 0", "1 0"]


def test_versions_are_written_one_at_a_time(double, kinds, tmp_path):
    """The table of versions would lose one else, or name the file of another."""
    double.compile((double.typeof_pyval(1),))
    assert len(kept(tmp_path)) == 1
    with double._cache._writing():
        compiling = threading.Thread(target=double.compile, args=(kinds,))
        compiling.start()
        compiling.join(0.5)
        assert compiling.is_alive()
        assert len(kept(tmp_path)) == 1
    compiling.join()
    assert len(kept(tmp_path)) == 2


def test_who_writes_forever_is_not_waited_for(double, monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "MOST_WRITING", 0.05)
    double.compile((double.typeof_pyval(1),))
    holder = start(HOLD, next(tmp_path.rglob("double.lock")))
    assert holder.stdout.readline() == "has it\n"
    assert double(1.5) == 3.0
    assert len(kept(tmp_path)) == 2
    holder.kill()
    holder.communicate()
