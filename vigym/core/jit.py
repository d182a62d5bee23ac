"""The kernel decorators, and where compiled code is kept.

numba's own cache notices edits only in the file of the cached function. Our entry kernels inline code from the whole
package, so the cache folder is keyed by a hash of every source file of ``vigym.core``: any edit gives a new folder.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from numba import config, njit, types

from .gathered import Waiting, Whole

_OPTIONS = {"error_model": "numpy", "boundscheck": False, "nogil": True, "no_cfunc_wrapper": True}
_PART = {**_OPTIONS, "no_cpython_wrapper": True, "pipeline_class": Waiting}


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
        return njit(cache=True, pipeline_class=Whole, **_OPTIONS)(function)
    finally:
        config.CACHE_DIR = previous


def phase(function):
    """Compile a phase of a kernel: called, not inlined, so that each stays one readable piece of machine code."""
    return _by_type(njit(forceinline=False, **_PART)(function))  # said: numba hands a caller's inlining down


def inline(function):
    """Compile a small piece of algebra that is always inlined."""
    return _by_type(njit(forceinline=True, **_PART)(function))


def _by_type(dispatcher):
    """Take constants by their types: numba would compile the function for each of their values."""
    chosen = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: chosen(tuple(map(_plain, args)), kws)
    return dispatcher


def _plain(kind):
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return types.BaseTuple.from_types(tuple(map(_plain, kind)))
    return types.unliteral(kind)
