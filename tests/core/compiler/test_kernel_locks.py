"""Kernels that several processes need at once: one compiles them, the others wait."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from vigym.core.compiler import cache, locks, processes

pytest.importorskip("fcntl")
CALL = """
import module_of_a_kernel
from vigym.core.compiler import cache, events, locks, processes
processes.processor_count = lambda: 1
cache.POLL_SECONDS = 0.01
events.listen(lambda *names: print("begins", flush=True), print)
module_of_a_kernel.double({value})
stats = module_of_a_kernel.double.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def start(program: str) -> subprocess.Popen[str]:
    """Start another process with the modules of this one."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


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


def test_a_lock_has_one_owner_until_it_is_released(tmp_path):
    first, other = tmp_path / "first.lock", tmp_path / "other.lock"
    lock = locks.take_lock(first)
    assert locks.take_lock(first) is None
    assert locks.take_lock(other) not in (None, locks.NO_LOCK)
    locks.release_lock(lock)
    locks.release_lock(lock)  # its number may be another file's now
    again = locks.take_lock(first)
    assert again not in (None, locks.NO_LOCK)
    locks._forget()
    assert not locks._taken


def test_a_lock_ends_with_its_process(tmp_path):
    path = tmp_path / "a.lock"
    taking = f"import pathlib; lock = locks.take_lock(pathlib.Path({str(path)!r}))"
    program = f"from vigym.core.compiler import locks; {taking}; print(lock, flush=True); input()"
    process = start(program)
    assert int(process.stdout.readline()) > 0
    assert locks.take_lock(path) is None
    process.kill()
    process.communicate()
    lock = locks.take_lock(path)
    assert lock is not None
    locks.release_lock(lock)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_no_locks_of_its_parent(tmp_path):
    path = tmp_path / "a.lock"
    lock = locks.take_lock(path)
    ready, done = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        os.write(ready[1], b"1")
        os.read(done[0], 1)  # lives until the parent has looked
        os._exit(0)
    os.read(ready[0], 1)
    locks.release_lock(lock)
    again = locks.take_lock(path)
    os.write(done[1], b"1")
    os.waitpid(process, 0)
    for file in (*ready, *done):
        os.close(file)
    assert again is not None
    locks.release_lock(again)


def test_where_there_are_no_locks_everyone_goes_on(tmp_path, monkeypatch):
    assert locks.take_lock(tmp_path / "missing" / "a.lock") == locks.NO_LOCK
    monkeypatch.setitem(sys.modules, "fcntl", None)
    for _ in range(2):
        assert locks.take_lock(tmp_path / "a.lock") == locks.NO_LOCK
    locks.release_lock(locks.NO_LOCK)


def test_who_writes_forever_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "MOST_WRITING", 0.05)
    lock = locks.take_lock(tmp_path / "a.lock")
    with locks.held(tmp_path / "a.lock"):
        assert lock in locks._taken
    assert lock in locks._taken
    locks.release_lock(lock)


def test_a_kernel_that_another_process_compiles_is_waited_for(double, kinds):
    lock = double._cache.reserve(kinds)
    waiting = start(CALL.format(value=1.5))
    assert waiting.stdout.readline() == "begins\n"
    processes._reserved.add((double.py_func, kinds))  # this process compiles it
    try:
        double.compile(kinds)
    finally:
        processes._reserved.clear()
    assert last_line(waiting) == "1 0"  # loaded while the lock was still held
    locks.release_lock(lock)


def test_a_kernel_is_compiled_where_another_process_gave_it_up(double, kinds):
    lock = double._cache.reserve(kinds)
    waiting = start(CALL.format(value=1.5))
    assert waiting.stdout.readline() == "begins\n"
    locks.release_lock(lock)
    assert last_line(waiting) == "0 1"


def test_nobody_waits_forever(double, kinds, monkeypatch):
    monkeypatch.setattr(cache, "MOST_WAITING", 0.02)
    monkeypatch.setattr(cache, "POLL_SECONDS", 0.01)
    lock = double._cache.reserve(kinds)
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_misses.values()) == 1
    locks.release_lock(lock)


def test_where_nothing_can_be_stored_nobody_waits(double, kinds, monkeypatch):
    lock = double._cache.reserve(kinds)
    monkeypatch.setattr(double._cache, "is_writable", lambda: False)
    assert double(1.5) == 3.0
    locks.release_lock(lock)


def test_who_has_waited_lets_others_compile_at_once(double, kinds, monkeypatch):
    """The one before has not stored the kernel: perhaps nobody can."""
    monkeypatch.setattr(cache, "POLL_SECONDS", 0.01)
    lock = double._cache.reserve(kinds)
    threading.Timer(0.1, locks.release_lock, [lock]).start()
    taken = []
    load = double._cache.contains
    monkeypatch.setattr(
        double._cache,
        "contains",
        lambda *given: (taken.append(len(locks._taken)), load(*given))[1],
    )
    assert double(1.5) == 3.0
    assert taken[-1] == 1  # that of the table of versions


def test_another_version_is_not_waited_for(double, kinds):
    lock = double._cache.reserve(kinds)
    assert double(2) == 4.0
    locks.release_lock(lock)


def test_a_version_is_released_where_it_is_compiled_or_fails(double, kinds, monkeypatch):
    def fail(*given):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(double._cache, "save_overload", fail)
        with pytest.raises(MemoryError):
            double.compile(kinds)
    assert not locks._taken
    double.overloads.clear()
    double.compile(kinds)
    assert not locks._taken
    assert not double._cache._locks


def test_several_processes_compile_a_kernel_once(double):
    started = [start(CALL.format(value=1.5)) for _ in range(3)]
    assert sorted(map(last_line, started)) == ["0 1", "1 0", "1 0"]


def test_versions_are_written_one_at_a_time(double, kinds, tmp_path):
    """The table of versions would lose one else, or name the file of another."""
    double.compile((double.typeof_pyval(1),))
    assert len(kept(tmp_path)) == 1
    processes._reserved.add((double.py_func, kinds))  # it looks at the table only to write
    lock = locks.take_lock(double._cache._index_lock)
    compiling = threading.Thread(target=double.compile, args=(kinds,))
    compiling.start()
    compiling.join(0.5)
    assert compiling.is_alive()
    assert len(kept(tmp_path)) == 1
    locks.release_lock(lock)
    compiling.join()
    processes._reserved.clear()
    assert len(kept(tmp_path)) == 2


def test_no_process_starts_for_what_another_one_compiles(double, kinds):
    lock = double._cache.reserve(kinds)
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert not processes._running
    locks.release_lock(lock)
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert len(processes._running) == 1
    assert double._cache.reserve(kinds) is None  # the process has the lock
    assert not locks._taken
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1


def test_locks_are_released_where_no_process_starts(double, monkeypatch):
    def fail(*given, **options):
        raise OSError

    monkeypatch.setattr(processes.subprocess, "Popen", fail)
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert not processes._running
    assert not locks._taken


@pytest.mark.parametrize(("forks", "count"), [(True, 3), (False, 1)])
def test_workers_that_cannot_agree_have_one_processor_each(monkeypatch, forks, count):
    monkeypatch.setattr(processes, "FORKS", forks)
    monkeypatch.setattr(processes.multiprocessing, "parent_process", lambda: "a process")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 3, 8}, raising=False)
    assert processes.processor_count() == count
