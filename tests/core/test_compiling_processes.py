"""Kernels that a process of their own compiles: the step, and what happens where that fails."""

import importlib
import sys
from types import SimpleNamespace

import pytest

import vigym
from scenes.chains import rod_chain
from vigym.core.compiler import cache, events, processes
from vigym.core.kernels.step import step
from vigym.simulation.state import batch

MODULE = """
from vigym.core.compiler.kernel import entry

@entry
def double(x):
    return 2.0 * x
"""


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A kernel in a module of its own, kept below ``tmp_path``."""
    (tmp_path / "module_of_a_kernel.py").write_text(MODULE)
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(processes, "has_spare_processor", lambda: True)
    monkeypatch.setattr(cache, "_printed", set())
    monkeypatch.setattr(processes, "_running", {})  # those of other tests go on
    yield importlib.import_module("module_of_a_kernel").double
    processes.stop()
    del sys.modules["module_of_a_kernel"]


def test_a_kernel_comes_from_its_process(double, capfd):
    heard = []
    events.listen(lambda *names: heard.append(names), lambda *names: heard.append(names))
    processes.compile_beside(double, (1.5,))
    assert len(processes._running) == 1
    processes.compile_beside(double, (2.5,))  # the same types
    assert len(processes._running) == 1
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert sum(double.stats.cache_misses.values()) == 0
    assert heard == 2 * [("module_of_a_kernel", "double")]  # it was waited for
    processes.compile_beside(double, (1.5,))  # it is compiled already
    assert not processes._running
    assert capfd.readouterr() == ("", "")


def test_files_of_the_working_folder_are_not_taken_for_the_library(
    double, tmp_path, monkeypatch, capfd
):
    (tmp_path / "_compat_pickle.py").write_text("raise ValueError")
    monkeypatch.chdir(tmp_path)
    processes.compile_beside(double, (1.5,))
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert capfd.readouterr().err == ""


def test_a_kernel_on_disk_needs_no_process(double):
    double.compile((double.typeof_pyval(1.5),))
    double.overloads.clear()  # as in a new process
    processes.compile_beside(double, (1.5,))
    assert not processes._running


def test_a_process_that_fails_is_told_and_replaced(double, tmp_path, capfd):
    (tmp_path / "module_of_a_kernel.py").write_text("raise ValueError")
    processes.compile_beside(double, (1.5,))
    assert double(1.5) == 3.0
    said = capfd.readouterr().err
    assert said.startswith("vigym compiles double itself, found a process for it that ended with")
    assert said.count("\n") == 1


def test_one_processor_starts_no_process(double, monkeypatch):
    monkeypatch.setattr(processes, "has_spare_processor", lambda: False)
    processes.compile_beside(double, (1.5,))
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
    processes.compile_beside(double, (1.5,))
    assert not processes._running
    assert double(1.5) == 3.0


@pytest.mark.parametrize("options", [{}, {"batch": 3}, {"batch": 3, "precision": "float32"}])
def test_the_step_is_compiled_for_the_types_that_it_is_called_with(options, monkeypatch):
    asked = []
    monkeypatch.setattr(batch, "compile_beside", lambda *given: asked.append(given))
    sim = vigym.Simulator(rod_chain(2), **options)
    sim.step()
    ((kernel, arguments),) = asked
    kinds = tuple(map(kernel.typeof_pyval, arguments))
    called = []
    monkeypatch.setattr(batch.step, "step", lambda *given: called.append(given) or step(*given))
    sim.step()
    assert [tuple(map(step.typeof_pyval, given)) for given in called] == [kinds]
