"""Capture of output of C code: pybullet writes to file descriptors, past redirect_stdout."""

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
_LOCK = threading.RLock()  # descriptors belong to the process: captures must not interleave


@dataclass
class Captured:
    """Output of a `captured_output` block, available when the block has ended."""

    text: str = ""


@contextlib.contextmanager
def captured_output() -> Iterator[Captured]:
    """Capture standard output and standard error, those of C code included.

    Output of other threads is captured, too: keep blocks short.

    Yields:
        Captured, whose `text` is the output once the block has ended, with or without an exception.
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
    """Redirect the open streams to `sink`; return copies of their descriptors."""
    saved = {}
    for stream in _STREAMS:
        with contextlib.suppress(OSError):  # a daemon may have closed it
            saved[stream] = os.dup(stream)
            os.dup2(sink.fileno(), stream)
    return saved


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # None, or closed
            stream.flush()
    ctypes.CDLL(None).fflush(None)  # the buffer of C
