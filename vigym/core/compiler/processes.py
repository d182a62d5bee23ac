"""A process that compiles the longest kernel of a first use, while this one compiles the others.

The kernel comes back through the folder of compiled kernels.
"""

import atexit
import contextlib
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing.util import Finalize
from typing import Any

from vigym.core.compiler.events import announce_compilation, announce_plan, announce_waiting

POLL_SECONDS = 0.5  # [s] between signs of life while this process waits for others
# of the new process: it imports what this process imports
_COMMAND = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from vigym.core.compiler.processes import compile_request; compile_request()"
)
Key = tuple[Any, tuple[Any, ...]]  # function of a kernel, and types of its arguments
_running: dict[Key, subprocess.Popen[bytes]] = {}  # kernel -> process that compiles it
_announced: set[Key] = set()  # kernels that a message has named
_starting = threading.Lock()  # simulators may be made in several threads
_alone = False  # whether other processes keep the processors busy


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_alone() -> None:
    """Compile all kernels in this process from now on: it types what they share once."""
    global _alone
    _alone = True


def compile_beside(kind: str, calls: Sequence[tuple[Any, tuple[Any, ...]]], longest: Any) -> None:
    """Say which kernels will compile, and start on the longest one in a new process.

    Without a place to store it no process starts: what it compiles would not come back.

    Args:
        kind: of the mechanisms that need them, for messages.
        calls: entry kernels that are kept on disk, each with arguments such as it will be called
            with.
        longest: the one that takes the longest to compile.
    """
    typed = [(kernel, tuple(map(kernel.typeof_pyval, given))) for kernel, given in calls]
    missing = {kernel: kinds for kernel, kinds in typed if _is_missing(kernel, kinds)}
    if not missing:
        return
    if not missing.items() <= _announced:  # some may never be called
        announce_plan(kind, [kernel.py_func.__name__ for kernel in missing])
        _announced.update(missing.items())
    if longest not in missing or not longest._cache.is_writable():
        return
    if _alone or processor_count() == 1 or not sys.executable or getattr(sys, "frozen", False):
        return
    # the system may allow no process: the first call compiles the kernel then
    with _starting, contextlib.suppress(OSError):
        if (longest.py_func, missing[longest]) not in _running:
            _start(longest.py_func, missing[longest])


def _is_missing(kernel: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether a kernel is not compiled, nor about to be by a process of this one."""
    if kinds in kernel.overloads or (kernel.py_func, kinds) in _running:
        return False
    return not kernel._cache.contains(kinds)


def _start(function: Any, kinds: tuple[Any, ...]) -> None:
    """Start a process that compiles a kernel."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _COMMAND],  # imports nothing of the working folder
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches this process alone, whose end stops it
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as pipe:  # ended: it says so later
        pipe.write(pickle.dumps(sys.path))
        pipe.write(pickle.dumps((function.__module__, function.__name__, kinds)))
    _running[function, kinds] = process
    if multiprocessing.parent_process() is not None:  # workers leave out what atexit has
        Finalize(None, stop, exitpriority=0)


def compile_request() -> None:
    """Compile the kernel that is named on standard input, and keep it on disk."""
    module, name, kinds = pickle.load(sys.stdin.buffer)
    getattr(importlib.import_module(module), name).compile(kinds)
    os._exit(0)  # clearing away what the compiler made would take seconds


def wait_for(function: Any, kinds: Sequence[Any]) -> int:
    """Wait until the process that compiles a kernel for arguments of these types has ended.

    Returns:
        Its code; 0 if there is none.
    """
    process = _running.pop((function, tuple(kinds)), None)
    if process is None:
        return 0
    if process.poll() is not None:
        return process.returncode
    with announce_compilation(function):
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(POLL_SECONDS)
            announce_waiting()


def stop() -> None:
    """Stop all processes that compile."""
    for process in _running.values():
        process.kill()
        process.wait()
    _running.clear()


def _forget() -> None:
    """Leave the processes to the parent, in a process that was forked."""
    global _starting
    _starting = threading.Lock()  # another thread may have held it
    for process in _running.values():
        process.returncode = 0  # else the end of this object would ask for it
    _running.clear()


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
