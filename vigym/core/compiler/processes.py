"""A process that compiles kernels before they are called.

It types the kernels in turn, in the order in which they will be called. All that follows is done
in processes that it forks, so that the next kernel is typed meanwhile. Compiled kernels come back
through the folder of compiled kernels; the process writes their numbers to its output. Where it
cannot fork it compiles the longest kernel alone: the step, about half of a first use. The caller
compiles the others meanwhile, when it calls them.
"""

import atexit
import contextlib
import importlib
import multiprocessing
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import partial
from multiprocessing.util import Finalize
from typing import Any

from vigym.core.compiler.events import announce_compilation, announce_plan, announce_waiting
from vigym.core.compiler.linking.passes import FORKS, compile_in_fork, lower_ahead
from vigym.core.compiler.locks import NO_LOCK, POLL_SECONDS, release_lock

# of the new process: it imports what this process imports
_COMMAND = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from vigym.core.compiler.processes import compile_requests; compile_requests()"
)
Key = tuple[Any, tuple[Any, ...]]  # function of a kernel, and types of its arguments
# kernel -> process that compiles it, and its number among the kernels of that process
_running: dict[Key, tuple["_Compiler", int]] = {}
_lock = threading.RLock()  # of the above: simulators may be made in several threads
_reserved: set[Key] = set()  # kernels that this process compiles for the one that started it


class _Compiler:
    """A process that compiles kernels.

    Args:
        requests: module, name and types of the arguments of each kernel.
        locks: open files of the kernels' locks, which it keeps until it ends.

    Raises:
        OSError: the system allows no process.
    """

    def __init__(
        self, requests: list[tuple[str, str, tuple[Any, ...]]], locks: Sequence[int]
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _COMMAND],  # imports nothing of the working folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that those which it forks can be stopped with it
            pass_fds=[lock for lock in locks if lock != NO_LOCK],
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.lock = threading.Lock()  # held by the thread that waits for the process
        self._stored: set[int] = set()
        self._pipe = self.process.stdout
        with contextlib.suppress(OSError), self.process.stdin as pipe:  # ended: it says so later
            pipe.write(pickle.dumps(sys.path) + pickle.dumps(requests))

    def has_stored(self, number: int) -> bool:
        """Return whether it says that a kernel is compiled and stored."""
        while number not in self._stored and self._has_news(0.0) and self._read():
            pass
        return number in self._stored

    def wait(self, number: int) -> int:
        """Wait until a kernel is stored or the process ends; return its code then, else 0."""
        while number not in self._stored:
            while not self._has_news(POLL_SECONDS):
                announce_waiting()
            if not self._read():
                return self.process.wait() or 1
        return 0

    def end(self) -> None:
        """Wait for the end of the process, which has nothing left to compile."""
        self.process.wait()
        self._pipe.close()

    def forget(self) -> None:
        """Leave the process to the parent, in a process that was forked."""
        self.process.returncode = 0  # else the end of this object would ask for it
        self._pipe.close()

    def stop(self) -> None:
        """Stop the process, and those that it forked."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.end()

    def _has_news(self, seconds: float) -> bool:
        """Wait so long for news; return whether there is any to read."""
        if FORKS:
            poll = select.poll()
            poll.register(self._pipe, select.POLLIN)
            return bool(poll.poll(1000.0 * seconds))
        try:
            self.process.wait(seconds)  # it compiles one kernel
        except subprocess.TimeoutExpired:
            return False
        return True

    def _read(self) -> bool:
        """Read which kernels are stored; return whether the process has not ended."""
        news = os.read(self._pipe.fileno(), 256)
        self._stored.update(news)
        return bool(news)


def processor_count() -> int:
    """Return the number of processors that this process may use.

    Workers share the processors with their like. Where these cannot agree on one that compiles they
    have one processor each.
    """
    if not FORKS and multiprocessing.parent_process() is not None:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_beside(kind: str, calls: Sequence[tuple[Any, tuple[Any, ...]]], longest: Any) -> None:
    """Compile kernels in a new process: those that are not compiled yet, by whatever process.

    Without a place to store them no process starts: what it compiles would not come back.

    Args:
        kind: of the mechanisms that need them, for messages.
        calls: entry kernels that are kept on disk, in the order in which they will be called, each
            with arguments such as it will be called with.
        longest: the one that takes the longest to compile.
    """
    typed = [(kernel, tuple(map(kernel.typeof_pyval, given))) for kernel, given in calls]
    lacking = [(kernel, kinds) for kernel, kinds in typed if _is_missing(kernel, kinds)]
    if not lacking:
        return
    announce_plan(kind, len(lacking))
    if processor_count() == 1 or not sys.executable:
        return
    with _lock:
        missing, locks = _reserve(lacking, longest)
        if not missing:
            return
        try:
            compiler = _Compiler([(f.__module__, f.__name__, kinds) for f, kinds in missing], locks)
        except OSError:  # the system allows no process: the first calls compile the kernels
            return
        finally:  # the process has them now
            for lock in locks:
                release_lock(lock)
        _running.update({key: (compiler, number) for number, key in enumerate(missing)})
        if multiprocessing.parent_process() is not None:  # workers leave out what atexit has
            Finalize(None, stop, exitpriority=0)


def _reserve(
    lacking: Sequence[tuple[Any, tuple[Any, ...]]], longest: Any
) -> tuple[list[Key], list[int]]:
    """Take the locks of kernels that no process compiles yet; return these kernels and locks."""
    missing: list[Key] = []
    locks: list[int] = []
    for dispatcher, kinds in lacking:
        if (FORKS or dispatcher is longest) and dispatcher._cache.is_writable():
            lock = dispatcher._cache.reserve(kinds)
            if lock is not None:
                missing.append((dispatcher.py_func, kinds))
                locks.append(lock)
    return missing, locks


def _is_missing(dispatcher: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether a kernel is not compiled, nor about to be."""
    if kinds in dispatcher.overloads or (dispatcher.py_func, kinds) in _running:
        return False
    return not dispatcher._cache.contains(kinds)


def compile_requests() -> None:
    """Compile the kernels that are named on standard input, and keep them on disk."""
    requests = pickle.load(sys.stdin.buffer)
    lower_ahead(processor_count() - 1)
    forked = []
    for number, (module, name, kinds) in enumerate(requests):
        kernel = getattr(importlib.import_module(module), name)
        _reserved.add((kernel.py_func, kinds))
        done = partial(os.write, 1, bytes([number]))
        forked.append(compile_in_fork(kernel, kinds, done))
    failed = [process for process in forked if process and os.waitpid(process, 0)[1]]
    os._exit(bool(failed))  # clearing away what the compiler made would take seconds


def is_reserved(function: Any, kinds: Sequence[Any]) -> bool:
    """Return whether this process was started to compile a kernel, and has its lock since then."""
    return (function, tuple(kinds)) in _reserved


def wait_for(function: Any, kinds: Sequence[Any]) -> int:
    """Wait until no other process compiles a kernel for arguments of these types.

    Returns:
        The code of a process that ended without it; 0 if it is compiled, or if there is no process.
    """
    key = function, tuple(kinds)
    with _lock:
        if key not in _running:
            return 0
        compiler, number = _running[key]
    code = 0
    with compiler.lock:
        if key not in _running:  # another thread has waited for it
            return 0
        if not compiler.has_stored(number):
            with announce_compilation(function):
                code = compiler.wait(number)
        with _lock:
            _running.pop(key, None)  # the process may have been stopped
            if not any(other is compiler for other, _ in _running.values()):
                compiler.end()
    return code


def stop() -> None:
    """Stop all processes that compile."""
    for compiler in {compiler for compiler, _ in _running.values()}:
        compiler.stop()
    _running.clear()


def _forget() -> None:
    """Leave the processes to the parent, in a process that was forked."""
    global _lock
    for compiler in {compiler for compiler, _ in _running.values()}:
        compiler.forget()
    _running.clear()
    _lock = threading.RLock()  # another thread may have held it


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
