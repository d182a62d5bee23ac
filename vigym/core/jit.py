"""The kernel decorators, where compiled code is kept, and the message that says that something is being compiled.

numba's own cache notices edits only in the file of the cached function. Our entry kernels inline code from the whole
package, so the cache folder is keyed by a hash of every source file of ``vigym.core``: any edit gives a new folder.
"""

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

from numba import config, njit
from numba.core import event

_OPTIONS = {"error_model": "numpy", "boundscheck": False, "nogil": True}


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> Path:
    """Find the folder of the compiled kernels, and create it.

    ``VIGYM_CACHE_DIR`` wins, then numba's own ``NUMBA_CACHE_DIR``, then the user's cache folder, then the system's
    temporary folder: a read-only installation and a home that cannot be written still start.

    Raises:
        OSError: none of them can be written.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    named = [os.environ.get("VIGYM_CACHE_DIR"), os.environ.get("NUMBA_CACHE_DIR")]
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    candidates = [Path(name) / "vigym" for name in named if name]
    candidates += [home / "vigym", Path(tempfile.gettempdir()) / f"vigym-{user}"]
    for candidate in candidates:
        if _usable(candidate / SOURCES):
            return candidate / SOURCES
    tried = ", ".join(map(str, candidates))
    raise OSError(f"vigym found no writable folder for compiled code, tried {tried}; set VIGYM_CACHE_DIR to one")


SOURCES = _sources_hash()


def entry(function):
    """Compile a kernel that Python calls: cached on disk, without the interpreter lock."""
    previous, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
    try:
        return njit(cache=True, **_OPTIONS)(function)
    finally:
        config.CACHE_DIR = previous


def phase(function):
    """Compile a phase of a kernel: called, not inlined, so that each stays one readable piece of machine code."""
    return njit(**_OPTIONS)(function)


def inline(function):
    """Compile a small piece of algebra that is always inlined."""
    return njit(forceinline=True, **_OPTIONS)(function)


class _Announcer(event.Listener):
    """Says on stderr that kernels are being compiled, with a bar where there is a terminal and tqdm."""

    def __init__(self):
        self._entry, self._bar, self._told, self._start = None, None, False, 0.0

    def on_start(self, event):
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

    def on_end(self, event):
        """The entry kernel is compiled."""
        if self._entry != event.data["dispatcher"].py_func.__name__:
            return
        if self._bar is not None:
            self._bar.total = self._bar.n
            self._bar.close()
        else:
            print(f"  {self._entry}: {time.perf_counter() - self._start:.0f} s", file=sys.stderr, flush=True)
        self._entry = self._bar = None


def _bar(name):
    """Return a progress bar, or None where it could not be seen."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=_PIECES[name], desc=f"  {name}", leave=True, ncols=72, bar_format="{desc:18}|{bar}| {elapsed}")


# entry kernels, and how many functions numba compiles for each where it is the first: what the bar counts to
_PIECES = {
    "reset_single": 63, "read_single": 75, "step_single": 55, "reset_lanes": 31, "read_lanes": 36, "step_lanes": 27,
    "refresh": 3,
}  # fmt: skip
event.register("numba:compile", _Announcer())
