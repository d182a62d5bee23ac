"""The message on the first use: kernels are being compiled, with a bar where there is a terminal and tqdm."""

import sys
import time
from typing import Any

from numba.core import event


class _Announcer(event.Listener):
    """Says on stderr that kernels are being compiled, with a bar where there is a terminal and tqdm."""

    def __init__(self) -> None:
        self._entry: str | None = None
        self._bar: Any = None
        self._told, self._start = False, 0.0

    def on_start(self, event: Any) -> None:
        """A function begins to compile: an entry kernel opens the message, the pieces it needs move the bar."""
        function = event.data["dispatcher"].py_func
        if self._entry is None and function.__name__ in _PIECES and function.__module__.startswith("vigym.core"):
            self._entry, self._start = function.__name__, time.perf_counter()
            if not self._told:
                print("vigym compiles its kernels, once for this machine and version ...", file=sys.stderr, flush=True)
                self._told = True
            self._bar = _bar(function.__name__)
        elif self._bar is not None:
            self._bar.update()

    def on_end(self, event: Any) -> None:
        """The entry kernel is compiled."""
        if self._entry != event.data["dispatcher"].py_func.__name__:
            return
        if self._bar is not None:
            self._bar.total = self._bar.n
            self._bar.close()
        else:
            print(f"  {self._entry}: {time.perf_counter() - self._start:.0f} s", file=sys.stderr, flush=True)
        self._entry = self._bar = None


def _bar(name: str) -> Any:
    """Return a progress bar, or None where it could not be seen."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=_PIECES[name], desc=f"  {name}", leave=True, ncols=72, bar_format="{desc:18}|{bar}| {elapsed}")


# entry kernels, and about how many functions numba compiles for each in its usual place: what the bar counts to
_PIECES = {
    "reset_single": 61, "read_single": 101, "step_single": 71, "reset_lanes": 62, "read_lanes": 80, "step_lanes": 62,
    "refresh": 3, "react_single": 60, "react_lanes": 40, "assemble_single": 155, "assemble_lanes": 155,
}  # fmt: skip
_LISTENERS: list[_Announcer] = []


def announce() -> None:
    """From now on say when kernels of vigym are compiled; once is enough for a process."""
    if not _LISTENERS:
        _LISTENERS.append(_Announcer())
        event.register("numba:compile", _LISTENERS[0])
