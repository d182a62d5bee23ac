"""Kernels that processes of their own compile, and what happens where that fails."""

import importlib
import os
import sys
from types import SimpleNamespace

import pytest

from scenes.chains import rod_chain
from scenes.loops_plane import slider_crank
from vigym import Simulator
from vigym.core.compiler import cache, events, processes
from vigym.core.compiler.linking import libraries
from vigym.core.compiler.linking.passes import FORKS, lower_ahead
from vigym.core.kernels import assemble, read, reset, step
from vigym.simulation import plant

MODULE = """
import math
from vigym.core.compiler.kernel import entry, inline, phase

@inline
def half(x):
    return 0.5 * x

@phase
def third(x):
    return half(2.0 * x) / 3.0

@phase
def sixth(x):
    return third(half(x))

@phase
def root(x):
    return math.sqrt(sixth(6.0 * x) * third(3.0 * x))

@entry
def double(x):
    return root(x) + 6.0 * sixth(x)

@entry
def triple(x):
    return root(x) + 12.0 * half(sixth(2.0 * x))
"""


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A kernel in a module of its own, kept below ``tmp_path``."""
    (tmp_path / "module_of_a_kernel.py").write_text(MODULE)
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(processes, "processor_count", lambda: 2)
    monkeypatch.setattr(cache, "_printed", set())
    monkeypatch.setattr(processes, "_running", {})  # those of other tests go on
    yield importlib.import_module("module_of_a_kernel").double
    processes.stop()
    del sys.modules["module_of_a_kernel"]


def test_a_kernel_comes_from_its_process(double, capfd):
    heard = []
    events.listen(lambda *names: heard.append(names), lambda *names: heard.append(names))
    processes.compile_beside([(double, (1.5,))], double)
    assert len(processes._running) == 1
    processes.compile_beside([(double, (2.5,))], double)  # the same types
    assert len(processes._running) == 1
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert sum(double.stats.cache_misses.values()) == 0
    assert heard == 2 * [("module_of_a_kernel", "double")]  # it was waited for
    processes.compile_beside([(double, (1.5,))], double)  # it is compiled already
    assert not processes._running
    assert capfd.readouterr() == ("", "")


def test_files_of_the_working_folder_are_not_taken_for_the_library(
    double, tmp_path, monkeypatch, capfd
):
    (tmp_path / "_compat_pickle.py").write_text("raise ValueError")
    monkeypatch.chdir(tmp_path)
    processes.compile_beside([(double, (1.5,))], double)
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert capfd.readouterr().err == ""


def test_a_kernel_on_disk_needs_no_process(double):
    double.compile((double.typeof_pyval(1.5),))
    double.overloads.clear()  # as in a new process
    processes.compile_beside([(double, (1.5,))], double)
    assert not processes._running


def test_a_process_that_fails_is_told_and_replaced(double, tmp_path, capfd):
    (tmp_path / "module_of_a_kernel.py").write_text("raise ValueError")
    processes.compile_beside([(double, (1.5,))], double)
    assert double(1.5) == 3.0
    said = capfd.readouterr().err
    assert said.startswith("vigym compiles double itself, found a process for it that ended with")
    assert said.count("\n") == 1


def test_one_processor_starts_no_process(double, monkeypatch):
    monkeypatch.setattr(processes, "processor_count", lambda: 1)
    processes.compile_beside([(double, (1.5,))], double)
    assert not processes._running


@pytest.mark.parametrize("fault", ["full", "read-only", "told"])
def test_a_kernel_that_cannot_be_stored_starts_no_process(double, monkeypatch, fault):
    """It would compile what never comes back, and the kernel would be compiled twice."""
    if fault == "full":
        full = SimpleNamespace(total=10**9, used=10**9, free=0)
        monkeypatch.setattr(cache.shutil, "disk_usage", lambda folder: full)
    elif fault == "read-only":
        monkeypatch.setattr(cache, "_writing_error", lambda folder: PermissionError())
    else:  # this process could not store another one
        monkeypatch.setattr(cache, "_printed", {"keeps"})
    processes.compile_beside([(double, (1.5,))], double)
    assert not processes._running
    assert double(1.5) == 3.0


def test_several_kernels_come_from_one_process(double):
    triple = sys.modules["module_of_a_kernel"].triple
    processes.compile_beside([(double, (1.5,)), (triple, (1.5,))], double)
    ((compiler, _), (other, _)) = processes._running.values()
    assert other is compiler
    assert triple(1.5) == 4.5
    assert list(processes._running) == [(double.py_func, (double.typeof_pyval(1.5),))]
    assert double(1.5) == 3.0
    assert not processes._running
    assert compiler.process.returncode == 0
    for kernel in (double, triple):
        assert (sum(kernel.stats.cache_hits.values()), *kernel.stats.cache_misses) == (1,)


def test_a_process_that_is_stopped_leaves_none_that_it_forked(double):
    processes.compile_beside([(double, (1.5,))], double)
    ((compiler, _),) = processes._running.values()
    processes.stop()
    with pytest.raises(ProcessLookupError):
        os.killpg(compiler.process.pid, 0)
    assert double(1.5) == 3.0


@pytest.mark.skipif(not FORKS, reason="this system, or this numba, compiles in one process")
def test_phases_are_lowered_by_other_processes(double, monkeypatch):
    monkeypatch.setattr(libraries, "PHASES_AHEAD", 1)
    monkeypatch.setattr(libraries, "ahead", libraries.Ahead())
    lower_ahead(9)
    taken = []
    unpack = libraries.PhaseLibrary.unpack
    monkeypatch.setattr(
        libraries.PhaseLibrary,
        "unpack",
        lambda phase, *code: (taken.append(phase.name), unpack(phase, *code)),
    )
    assert double(1.5) == 3.0
    assert set(taken) == {"half", "third", "sixth", "root"}


@pytest.mark.skipif(not FORKS, reason="this system, or this numba, compiles in one process")
def test_work_of_a_fork_that_fails_is_done_here(monkeypatch):
    here = os.getpid()

    def fails_elsewhere():
        if os.getpid() != here:
            raise MemoryError
        return "here"

    assert libraries.Fork(lambda: os.getpid() == here).result() is False
    assert libraries.Fork(fails_elsewhere).result() == "here"

    def fork():
        raise OSError

    monkeypatch.setattr(os, "fork", fork)
    none = libraries.Fork(fails_elsewhere)
    assert none.is_done()
    assert none.result() == "here"


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("options", [{}, {"batch": 3}, {"batch": 3, "precision": "float32"}])
def test_kernels_are_compiled_for_the_types_that_they_are_called_with(options, looped, monkeypatch):
    if looped and "precision" in options:
        pytest.skip("loops need double precision")
    asked = []
    monkeypatch.setattr(plant, "compile_beside", lambda calls, longest: asked.extend(calls))
    mech = slider_crank() if looped else rod_chain(2)
    Simulator(mech, **options)
    expected = {kernel: tuple(map(kernel.typeof_pyval, given)) for kernel, given in asked}
    called = {}

    def noting(kernel):
        def call(*given):
            called.setdefault(kernel, set()).add(tuple(map(kernel.typeof_pyval, given)))
            return kernel(*given)

        return call

    for module, name in ((assemble, "assemble"), (reset, "reset"), (read, "read"), (step, "step")):
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    sim = Simulator(mech, **options)
    sim.step()
    sim.metrics()
    assert called == {kernel: {kinds} for kernel, kinds in expected.items()}
    assert len(called) == (4 if looped else 3)
