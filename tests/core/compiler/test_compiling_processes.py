"""Kernels that processes of their own compile, and what happens where that fails."""

import contextlib
import io
import multiprocessing
import os
import pickle
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
from vigym.core.compiler.linking import libraries
from vigym.core.compiler.linking.passes import FORKS, compile_in_fork, lower_ahead
from vigym.core.kernels import assemble, read, reset, start, step
from vigym.simulation import plant

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
forks = pytest.mark.skipif(not FORKS, reason="this system, or this numba, does not fork")


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


@forks
def test_several_kernels_come_from_one_process(double):
    triple = sys.modules["module_of_a_kernel"].triple
    processes.compile_beside("trees", [(double, (1.5,)), (triple, (1.5,))], double)
    ((compiler, _), (other, _)) = processes._running.values()
    assert other is compiler
    assert triple(1.5) == 4.5
    assert list(processes._running) == [(double.py_func, (double.typeof_pyval(1.5),))]
    assert double(1.5) == 3.0
    assert not processes._running
    assert compiler.process.returncode == 0
    for kernel in (double, triple):
        assert (sum(kernel.stats.cache_hits.values()), *kernel.stats.cache_misses) == (1,)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of processes")
def test_a_process_that_is_stopped_leaves_none_that_it_forked(double, tmp_path, monkeypatch):
    told = tmp_path / "forked"
    forks = f"import os, time; open({str(told)!r}, 'a').write(f'{{os.fork()}}\\n'); time.sleep(60)"
    monkeypatch.setattr(processes, "_COMMAND", forks)
    processes.compile_beside("trees", [(double, (1.5,))], double)
    while len(lines := told.read_text().split() if told.exists() else []) < 2:
        time.sleep(0.05)
    processes.stop()
    (forked,) = set(lines) - {"0"}
    assert ends(forked)
    assert double(1.5) == 3.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of processes")
def test_a_process_ends_with_the_one_that_started_it(double):
    program = """
import module_of_a_kernel as m
from vigym.core.compiler import processes
processes._COMMAND = "import time; time.sleep(60)"
processes.processor_count = lambda: 2
processes.compile_beside("trees", [(m.double, (1.5,))], m.double)
((compiler, _),) = processes._running.values()
print(compiler.process.pid)
"""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    assert ends(done.stdout.strip())


def start_and_tell(double, pipe):
    """Start a process that compiles, in a worker that ends at once."""
    processes._COMMAND = "import time; time.sleep(60)"
    processes.compile_beside("trees", [(double, (1.5,))], double)
    ((compiler, _),) = processes._running.values()
    pipe.send(compiler.process.pid)


@forks
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


@forks
def test_a_kernel_is_typed_here_and_made_by_a_fork(double, tmp_path):
    told = tmp_path / "told"
    kinds = (double.typeof_pyval(1.5),)
    process = compile_in_fork(double, kinds, lambda: told.write_text(str(os.getpid())))
    assert process > 0
    assert os.waitpid(process, 0)[1] == 0
    assert told.read_text() == str(process)
    assert not double.overloads
    assert double(1.5) == 3.0
    assert sum(double.stats.cache_hits.values()) == 1


def test_the_process_lowers_ahead_and_forks_for_each_kernel(double, monkeypatch):
    done = []
    kinds = (double.typeof_pyval(1.5),)
    request = pickle.dumps([("module_of_a_kernel", "double", kinds)])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(request)))
    monkeypatch.setattr(processes, "processor_count", lambda: 5)
    monkeypatch.setattr(processes, "lower_ahead", done.append)
    monkeypatch.setattr(processes, "compile_in_fork", lambda *given: done.append(given[:2]) or 0)
    monkeypatch.setattr(os, "_exit", done.append)
    processes.compile_requests()
    assert done == [4, (double, kinds), False]


def test_threads_share_one_process(double):
    """More of them than one would compile the same kernels."""
    asked = threading.Barrier(4)

    def ask(_):
        asked.wait()
        processes.compile_beside("trees", [(double, (1.5,))], double)
        running = list(processes._running.values())  # others change it meanwhile
        return len({compiler for compiler, _ in running}), double(1.5)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(ask, range(4)))
    assert {count for count, _ in results} <= {0, 1}
    assert {value for _, value in results} == {3.0}
    assert not processes._running


@forks
def test_many_open_files_do_no_harm(double):
    resource = pytest.importorskip("resource")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < 1200:
        pytest.skip("the system allows fewer files")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(1200, limit[0]), limit[1]))
    with contextlib.ExitStack() as files:
        files.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limit)
        for _ in range(1050):
            files.enter_context(open(os.devnull))
        processes.compile_beside("trees", [(double, (1.5,))], double)
        assert double(1.5) == 3.0


def test_a_closed_error_stream_does_no_harm(monkeypatch, capfd):
    monkeypatch.setattr(sys, "stderr", None)
    announcer = announce._Announcer()
    announcer.begin("vigym.core.kernels.step", "step")
    announcer.wait()
    announcer.end("vigym.core.kernels.step", "step")
    assert capfd.readouterr() == ("", "")


@forks
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


@forks
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
    monkeypatch.setattr(processes, "_is_missing", lambda kernel, kinds: kernel is not read.read)
    calls = [(kernel, (1.5,)) for kernel in (reset.reset, step.step, read.read)]
    processes.compile_beside("trees", calls, step.step)
    for name in ("reset", "step", "draw"):
        heard.begin(f"vigym.core.kernels.{name}", name)
        heard.end(f"vigym.core.kernels.{name}", name)
    assert capfd.readouterr().err.splitlines() == [
        "vigym compiles 2 kernels for trees, once for this version; "
        "that takes about a minute on two processors",
        "  reset: 0 s, 1 left",
        "  step: 0 s",
        "vigym compiles the kernel draw, once for this version",
        "  draw: 0 s",
    ]
