"""Processes that compile a kernel while this process compiles others.

The step takes about half of the time of a first use. A process of its own compiles it beside the
kernels that place and read bodies. The compiled step comes back through the folder of compiled
kernels.
"""

import atexit
import contextlib
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys

from vigym.core.compiler.events import announce_compilation

# of the new process: it imports what this process imports
_COMMAND = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from vigym.core.compiler.processes import compile_request; compile_request()"
)
_running: dict[tuple[object, ...], "subprocess.Popen[bytes]"] = {}  # kernel and types -> process


def has_spare_processor() -> bool:
    """Return whether a second process would have a processor of its own.

    Processes that others started are workers, which share the processors with their like.
    """
    if multiprocessing.parent_process() is not None:
        return False
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) > 1
    return (os.cpu_count() or 1) > 1


def compile_beside(dispatcher, arguments) -> None:
    """Compile a kernel in a new process, unless it is compiled already.

    Without a place to store it no process starts: what it compiles would not come back.

    Args:
        dispatcher: entry kernel that is kept on disk.
        arguments: arguments such as those that it will be called with.
    """
    kinds = tuple(map(dispatcher.typeof_pyval, arguments))
    key = dispatcher.py_func, kinds
    if kinds in dispatcher.overloads or key in _running:
        return
    kept = dispatcher._cache
    if not hasattr(kept, "contains") or not sys.executable or not has_spare_processor():
        return
    if kept.contains(kinds, dispatcher.targetctx) or not kept.is_writable():
        return
    function = dispatcher.py_func
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _COMMAND],  # imports nothing of the working folder
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # the system allows no process: the first call compiles the kernel
        return
    _running[key] = process
    request = pickle.dumps(sys.path) + pickle.dumps((function.__module__, function.__name__, kinds))
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin:  # one that ended already says so later
        process.stdin.write(request)


def compile_request() -> None:
    """Compile the kernel that is named on standard input, and keep it on disk."""
    module, name, kinds = pickle.load(sys.stdin.buffer)
    getattr(importlib.import_module(module), name).compile(kinds)


def wait_for(function, kinds) -> int:
    """Wait until no other process compiles a kernel for arguments of these types.

    Returns:
        The process's return code, 0 if there is none.
    """
    process = _running.get((function, tuple(kinds)))
    if process is None:
        return 0
    if process.poll() is None:
        with announce_compilation(function):
            process.wait()
    del _running[function, tuple(kinds)]
    return process.returncode


def stop() -> None:
    """Stop all processes that compile."""
    for process in _running.values():
        process.kill()
        process.wait()
    _running.clear()


def _forget() -> None:
    """Leave the processes to the parent, in a process that was forked."""
    for process in _running.values():
        process.returncode = 0  # it is not this process's child
    _running.clear()


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
