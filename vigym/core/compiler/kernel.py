"""Decorators of kernels, and the folder that keeps compiled code.

``entry`` kernels are called from Python. ``phase`` functions are called by kernels. ``inline``
functions become part of their callers. Both take constants by their types, not by their values. A
phase that only some mechanisms need is compiled for those alone: ``@phase(needs="contacts")`` is
replaced by nothing in kernels of mechanisms without contacts.

Numba's own cache notices edits only in the file of the cached function. Entry kernels contain code
from the whole package, so the cache folder is keyed by a hash of every source file of
``vigym.core``: any edit gives a new folder.
"""

import functools
import hashlib
import inspect
import os
import tempfile
from pathlib import Path

import numba
from numba import config, njit
from numba.extending import overload

from vigym.core.compiler.linking import (
    ENABLED,
    KERNEL_OPTIONS,
    PHASE_OPTIONS,
    constants_by_type,
)

_OPTIONS = {"error_model": "numpy", "boundscheck": False, "nogil": True, "no_cfunc_wrapper": True}
_PART = {**_OPTIONS, **PHASE_OPTIONS, "no_cpython_wrapper": True}


def _sources_hash() -> str:
    """Hash of the sources of the core, of numba's version and of how it compiles."""
    processor = [getattr(config, name, None) for name in ("CPU_NAME", "CPU_FEATURES")]
    digest = hashlib.sha256(f"{numba.__version__} {ENABLED} {processor}".encode())
    core = Path(__file__).parents[1]
    for path in sorted(core.rglob("*.py")):
        digest.update(path.relative_to(core).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    """Create a folder, and tell whether files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> Path:
    """Find the folder of the compiled kernels, and create it.

    ``VIGYM_CACHE_DIR`` wins, then numba's own ``NUMBA_CACHE_DIR``, then the user's cache folder,
    then the system's temporary folder: a read-only installation and a home that cannot be written
    still start.

    Raises:
        OSError: none of them can be written.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    named = [os.environ.get("VIGYM_CACHE_DIR"), os.environ.get("NUMBA_CACHE_DIR")]
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    candidates = [Path(name) / "vigym" for name in named if name]
    candidates += [home / "vigym", Path(tempfile.gettempdir()) / f"vigym-{user}"]
    for candidate in candidates:
        if _is_writable(candidate / SOURCES):
            return candidate / SOURCES
    tried = ", ".join(map(str, candidates))
    raise OSError(
        f"vigym found no writable folder for compiled code, tried {tried}; "
        "set VIGYM_CACHE_DIR to one"
    )


SOURCES = _sources_hash()


def entry(function):
    """Compile a kernel that Python calls: cached on disk, without the interpreter lock."""
    previous, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
    try:
        return njit(cache=True, **_OPTIONS, **KERNEL_OPTIONS)(function)
    finally:
        config.CACHE_DIR = previous


def nothing(d, *arguments):
    """Stand for a phase without a result that a mechanism does not need."""


def zero(d, *arguments):
    """Stand for a phase that a mechanism does not need, and whose result is then zero."""
    return d.full(0.0)


def phase(function=None, *, needs=None, otherwise=nothing):
    """Compile a phase of a kernel: a function that is called, not inlined.

    Args:
        function: Python function whose first argument is the data of a lane group.
        needs: name of the feature without which the phase is left out, None for phases that all
            kernels have.
        otherwise: function that is called in its place then, with the same arguments.
    """
    if function is None:
        return functools.partial(phase, needs=needs, otherwise=otherwise)
    # not inlined by the caller's own flag, which numba would hand down
    return _part(function, needs, otherwise, forceinline=False)


def inline(function):
    """Compile a small function that becomes part of its callers."""
    return _part(function, None, nothing, forceinline=True)


def _part(function, needs, otherwise, forceinline):
    """Make a function known to numba by its argument types; constants are not compiled in."""
    options = {**_PART, "forceinline": forceinline}
    if ENABLED and needs is None:
        return constants_by_type(njit(**options)(function))

    @functools.wraps(function)
    def called(*arguments, **named):
        raise TypeError(f"{function.__module__}.{function.__name__} is a part of kernels")

    def choose(*arguments):
        return function if needs is None or needs in arguments[0].features else otherwise

    choose.__signature__ = inspect.signature(function)
    overload(called, strict=False, jit_options=options)(choose)
    return called
