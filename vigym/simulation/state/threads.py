"""Threads that share the lane groups of a batch.

There is a pool per process, made when a call first needs it. Kernels release the interpreter lock,
so plain threads run side by side. Threads do not survive a fork: a child forgets its parent's pools
and makes its own. Results are the same for every number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

SIGNAL_POLL_SECONDS = 0.1  # [s] between looks at signals
_POOLS: dict[int, ThreadPoolExecutor] = {}  # number of threads -> pool

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)


def split_groups(groups: int, threads: int) -> list[tuple[int, int]]:
    """Split groups evenly into (first, end) for each thread; no share is empty."""
    parts = max(1, min(threads, groups))
    return list(pairwise(groups * k // parts for k in range(parts + 1)))


def run_parallel(work: Callable[[int], None], count: int) -> None:
    """Call ``work`` with 0 to count - 1, each in a thread of its own, and wait for all."""
    others: list[Future[None]] = []
    try:
        others.extend(_submitted(work, part, count - 1) for part in range(1, count))
        work(0)
    finally:
        wait(others)
    for other in others:
        other.result()


def run_interruptible(work: Callable[[int], None], count: int, stop: Callable[[], None]) -> None:
    """Call ``work`` with 0 to count - 1, each in a thread, and wait for all or for ctrl-C.

    Args:
        work: called with the number of a part, out of the interpreter's reach.
        count: number of parts.
        stop: called on an exception in this thread, to make them return soon.
    """
    parts: list[Future[None]] = []
    try:
        parts.extend(_submitted(work, part, count) for part in range(count))
        while wait(parts, SIGNAL_POLL_SECONDS).not_done:
            pass  # some systems heed ctrl-C between the waits alone
    except BaseException:
        stop()
        _wait_whatever_comes(parts)
        raise
    for part in parts:
        part.result()


def _wait_whatever_comes(parts: list[Future[None]]) -> None:
    """Wait until all parts are done; ignore exceptions that signals raise meanwhile."""
    while True:
        try:
            wait(parts)
            return
        except BaseException:
            continue


def _submitted(work: Callable[[int], None], part: int, size: int) -> Future[None]:
    """Submit a part to the pool; do it here where no thread can start, as at interpreter exit."""
    pool = _POOLS.get(size) or _POOLS.setdefault(
        size, ThreadPoolExecutor(size, thread_name_prefix="vigym")
    )
    try:
        return pool.submit(work, part)
    except RuntimeError:
        done: Future[None] = Future()
        work(part)
        done.set_result(None)
        return done
