"""Locks of files, by which processes agree on one that compiles or writes."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from vigym.ownership import open_lock

NO_LOCK = -1  # where there are no locks: every process goes on
POLL_SECONDS = 0.5  # [s] between signs of life while this process waits for others
# Longest wait for others that write, which takes milliseconds, and time between two looks [s]
MOST_WRITING, WRITING_POLL = 10.0, 0.01
_taken: set[int] = set()  # open files of the locks that this process has


def take_lock(path: Path) -> int | None:
    """Take the lock of a file, which is created.

    It ends when it is released, or with the process that has it. A process that it was passed on
    to has it, too.

    Returns:
        The open file; NO_LOCK where the system, the folder or the file system has no locks; None if
        another process has the lock.
    """
    try:
        import fcntl
    except ImportError:  # this system has none
        return NO_LOCK
    try:
        file = open_lock(path)
    except OSError:
        return NO_LOCK
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        return None if isinstance(error, BlockingIOError) else NO_LOCK
    _taken.add(file)
    return file


def release_lock(lock: int) -> None:
    """Release a lock that this process has taken."""
    if lock in _taken:
        _taken.remove(lock)
        os.close(lock)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a file while the block runs; go on without it where others never end."""
    lock = take_lock(path)
    for _ in range(round(MOST_WRITING / WRITING_POLL)):
        if lock is not None:
            break
        time.sleep(WRITING_POLL)
        lock = take_lock(path)
    try:
        yield
    finally:
        release_lock(NO_LOCK if lock is None else lock)


def _forget() -> None:
    """Leave all locks to the parent, in a process that was forked."""
    for lock in list(_taken):
        release_lock(lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
