"""Kernels that processes of their own compile, and what happens where that fails."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenes.chains import rod_chain
from scenes.loops_plane import slider_crank
from vigym import Simulator, announce
from vigym.core.compiler import cache, events, processes
from vigym.core.kernels import assemble, read, reset, start, step
from vigym.simulation import plant

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def ends(process):
    """Wait for the end of a process, by its number; return whether it comes within seconds."""
    status = Path(f"/proc/{process}/stat")
    for _ in range(100):
        if not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_kernel_comes_from_its_process(double, monkeypatch, capfd):
    heard, waits = [], []
    monkeypatch.setattr(processes, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(events, "_listeners", [])
    events.listen(
        lambda *names: heard.append(names),
        lambda *names: heard.append(names),
        lambda: waits.append(1),
    )
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert len(processes._running) == 1
    processes.compile_beside("trees", [(double, (2.5,))], double)  # the same types
    assert len(processes._running) == 1
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert sum(double.stats.cache_misses.values()) == 0
    assert heard == 2 * [("module_of_a_kernel", "double")]  # it was waited for
    assert waits
    processes.compile_beside("trees", [(double, (1.5,))], double)  # it is compiled already
    assert not processes._running
    assert capfd.readouterr() == ("", "")


def test_one_of_several_processes_that_compile_starts_no_other(double, monkeypatch):
    monkeypatch.setattr(processes, "_alone", False)
    processes.compile_alone()
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert not processes._running


def test_files_of_the_working_folder_are_not_taken_for_the_library(
    double, tmp_path, monkeypatch, capfd
):
    (tmp_path / "_compat_pickle.py").write_text("raise ValueError")
    monkeypatch.chdir(tmp_path)
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1
    assert capfd.readouterr().err == ""


def test_a_kernel_on_disk_needs_no_process(double):
    double.compile((double.typeof_pyval(1.5),))
    double.overloads.clear()  # as in a new process
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert not processes._running


def test_a_process_that_fails_is_told_and_replaced(double, tmp_path, capfd):
    (tmp_path / "module_of_a_kernel.py").write_text("raise ValueError")
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert double(1.5) == 3.0
    said = capfd.readouterr().err
    assert said.startswith("vigym compiles double itself, found a process for it that ended with")
    assert said.count("\n") == 1


def test_one_processor_starts_no_process(double, monkeypatch):
    monkeypatch.setattr(processes, "processor_count", lambda: 1)
    processes.compile_beside("trees", [(double, (1.5,))], double)
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
    processes.compile_beside("trees", [(double, (1.5,))], double)
    assert not processes._running
    assert double(1.5) == 3.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of processes")
def test_a_process_ends_with_the_one_that_started_it(double):
    program = """
import module_of_a_kernel as m
from vigym.core.compiler import processes
processes._COMMAND = "import time; time.sleep(60)"
processes.processor_count = lambda: 2
processes.compile_beside("trees", [(m.double, (1.5,))], m.double)
(compiler,) = processes._running.values()
print(compiler.pid)
"""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    assert ends(done.stdout.strip())


def start_and_tell(double, pipe):
    """Start a process that compiles, in a worker that ends at once."""
    processes._COMMAND = "import time; time.sleep(60)"
    processes.compile_beside("trees", [(double, (1.5,))], double)
    (compiler,) = processes._running.values()
    pipe.send(compiler.pid)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_ends_with_the_worker_that_started_it(double):
    """Workers end without what is registered with atexit."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    worker = context.Process(target=start_and_tell, args=(double, there))
    worker.start()
    process = here.recv()
    worker.join()
    assert worker.exitcode == 0
    assert ends(process)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_leaves_the_compiler_to_its_parent(double):
    processes.compile_beside("trees", [(double, (1.5,))], double)
    process = os.fork()
    if process == 0:
        os._exit(len(processes._running))
    assert os.waitpid(process, 0)[1] == 0
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1


def test_threads_share_one_process(double):
    """A later process, of a thread that asks while another one waits, waits for the first one."""
    asked = threading.Barrier(4)

    def ask(_):
        asked.wait()
        processes.compile_beside("trees", [(double, (1.5,))], double)
        running = list(processes._running.values())  # others change it meanwhile
        return len(set(running)), double(1.5)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(ask, range(4)))
    assert {count for count, _ in results} <= {0, 1}
    assert {value for _, value in results} == {3.0}
    assert sum(double.stats.cache_misses.values()) == 0


def test_a_closed_error_stream_does_no_harm(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stderr", None)
    announcer = announce._Announcer()
    announcer.begin("vigym.core.kernels.step", "step")
    announcer.wait()
    announcer.end("vigym.core.kernels.step", "step")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("options", [{}, {"batch": 3}, {"batch": 3, "precision": "float32"}])
def test_kernels_are_compiled_for_the_types_that_they_are_called_with(options, looped, monkeypatch):
    if looped and "precision" in options:
        pytest.skip("loops need double precision")
    asked = []
    monkeypatch.setattr(plant, "compile_beside", lambda kind, calls, longest: asked.extend(calls))
    mech = slider_crank() if looped else rod_chain(2)
    Simulator(mech, **options)
    expected = {kernel: tuple(map(kernel.typeof_pyval, given)) for kernel, given in asked}
    called = {}

    def noting(kernel):
        def call(*given):
            called.setdefault(kernel, set()).add(tuple(map(kernel.typeof_pyval, given)))
            return kernel(*given)

        return call

    for module in (assemble, reset, start, read, step):
        name = module.__name__.rpartition(".")[2]
        monkeypatch.setattr(module, name, noting(getattr(module, name)))
    sim = Simulator(mech, **options)
    sim.step()
    sim.metrics()
    assert called == {kernel: {kinds} for kernel, kinds in expected.items()}
    assert len(called) == (5 if looped else 3)


def test_a_message_says_what_compiles_and_how_much_is_left(monkeypatch, capfd):
    heard = announce._Announcer()
    monkeypatch.setattr(processes, "announce_plan", heard.plan)
    monkeypatch.setattr(processes, "processor_count", lambda: 1)
    monkeypatch.setattr(processes, "_announced", set())
    monkeypatch.setattr(processes, "_is_missing", lambda kernel, kinds: kernel is not read.read)
    calls = [(kernel, (1.5,)) for kernel in (reset.reset, step.step, read.read)]
    for _ in range(2):  # the second simulator has no message of its own
        processes.compile_beside("trees", calls, step.step)
    for name in ("reset", "step", "draw"):
        heard.begin(f"vigym.core.kernels.{name}", name)
        heard.end(f"vigym.core.kernels.{name}", name)
    assert capfd.readouterr().err.splitlines() == [
        "vigym compiles 2 kernels for trees, once for this version; "
        "that takes a minute or more on two processors",
        "  reset: 0 s, 1 left",
        "  step: 0 s",
        "vigym compiles the kernel draw, once for this version",
        "  draw: 0 s",
    ]
