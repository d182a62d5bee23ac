"""Catch what C code prints: pybullet writes to the file descriptors, which redirect_stdout does not see."""

import contextlib
import ctypes
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

_STREAMS = (1, 2)  # file descriptors of standard output and standard error
_LOCK = threading.RLock()  # descriptors belong to the whole process: two captures must not interleave


@dataclass
class Captured:
    """What was printed inside a `captured_output` block; filled when the block ends."""

    text: str = ""


@contextlib.contextmanager
def captured_output() -> Iterator[Captured]:
    """Keep everything written to standard output and standard error from the terminal, C code included.

    Other threads' output during the block is caught too, so keep blocks short.

    Yields:
        Captured, whose `text` holds the output once the block has ended, also when it ended with an exception.
    """
    captured = Captured()
    with _LOCK, tempfile.TemporaryFile() as sink:
        _flush()
        saved = _redirect(sink)
        try:
            yield captured
        finally:
            _flush()
            for stream, copy in saved.items():
                os.dup2(copy, stream)
                os.close(copy)
            sink.seek(0)
            captured.text = sink.read().decode(errors="replace")


def _redirect(sink: IO[bytes]) -> dict[int, int]:
    """Point the streams that are open at `sink`; return copies of where they pointed."""
    saved = {}
    for stream in _STREAMS:
        with contextlib.suppress(OSError):  # a daemon may have closed it: nothing to protect then
            saved[stream] = os.dup(stream)
            os.dup2(sink.fileno(), stream)
    return saved


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # None, or closed
            stream.flush()
    ctypes.CDLL(None).fflush(None)  # C keeps a buffer of its own
