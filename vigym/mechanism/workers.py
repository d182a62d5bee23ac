"""Threads that share the lane groups of a batch: a pool per process, made when a call first needs it.

Kernels release the interpreter lock, so plain threads run side by side. Threads do not survive a fork: a child forgets
its parent's pools and makes its own. Nothing a thread does depends on the others, so that results are the same for
every number of them.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

_POOLS: dict[int, ThreadPoolExecutor] = {}  # number of threads -> pool
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)


def shares(groups: int, threads: int) -> list[tuple[int, int]]:
    """First group and the one behind the last of as many even shares as there are threads, none of them empty."""
    parts = max(1, min(threads, groups))
    return list(pairwise(groups * k // parts for k in range(parts + 1)))


def side_by_side(work: Callable[[int], None], count: int) -> None:
    """Call ``work`` with 0 to count - 1, each in a thread of its own; the caller takes the first and waits for all."""
    others: list[Future[None]] = []
    try:
        others.extend(_submitted(work, part, count - 1) for part in range(1, count))
        work(0)
    finally:
        wait(others)
    for other in others:
        other.result()


def _submitted(work: Callable[[int], None], part: int, size: int) -> Future[None]:
    """Give a part to the pool; do it at once where no thread can start, as when the interpreter is ending."""
    pool = _POOLS.get(size) or _POOLS.setdefault(size, ThreadPoolExecutor(size, thread_name_prefix="vigym"))
    try:
        return pool.submit(work, part)
    except RuntimeError:
        done: Future[None] = Future()
        work(part)
        done.set_result(None)
        return done
