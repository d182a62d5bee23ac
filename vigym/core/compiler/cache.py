"""Folder that keeps compiled kernels, and files in it that are damaged or cannot be written.

Numba's own cache notices edits only in the file of the cached function. Entry kernels contain code
from the whole package, so the cache folder is keyed by a hash of every source file of
``vigym.core``: any edit gives a new folder.

Numba hands on whatever goes wrong when it reads or writes its files, and has no public hook for
it. Here a kernel whose file cannot be read, or is not as it was written, is compiled anew; one that
cannot be written serves its process alone. Either writes one line on standard error.

Where several processes need the same kernel at the same time, such as the workers of a vector
environment, one of them compiles it and the others wait. Numba would compile it in all of them, and
lets them write over each other's files.
"""

import contextlib
import errno
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from filelock import FileLock, Timeout
from numba import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from vigym.core.compiler.events import announce_compilation, announce_waiting
from vigym.core.compiler.linking.versions import ENABLED
from vigym.core.compiler.processes import POLL_SECONDS, wait_for
from vigym.core.compiler.processor import PROCESSOR
from vigym.files import read_file, whole_file
from vigym.ownership import UnsafeFolderError, check_program, own_files, private_folder

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)  # of a disk, of the share that a user has
ROOM = 50_000_000  # bytes; the step, the largest kernel, takes 5 MB
# [s] longest waiting for another process that compiles or writes: it may be suspended
MOST_WAITING, MOST_WRITING = 600.0, 10.0
_printed: set[str] = set()  # messages that this process has printed


def _sources_hash() -> str:
    """Return a hash of the sources of the core, of the compiler and of the processor."""
    made_by = (
        numba.__version__,
        llvmlite.__version__,
        ENABLED,
        PROCESSOR,
        str(getattr(config, "OPT", "")),
    )
    digest = hashlib.sha256(repr(made_by).encode())
    core = Path(__file__).parents[1]
    for path in sorted(core.rglob("*.py")):
        digest.update(path.relative_to(core).as_posix().encode())
        digest.update(read_file(path, "a source of vigym"))
    return f"{PROCESSOR.name}-{digest.hexdigest()[:16]}"


def _writing_error(folder: Path) -> OSError | None:
    """Create a folder of the user in one of the user; return the error of that, or of writing."""
    try:
        private_folder(folder.parent)
        with tempfile.TemporaryFile(dir=private_folder(folder)):
            return None
    except OSError as error:
        return error


def cache_folder() -> Path | None:
    """Find the folder of the compiled kernels, and create it.

    ``VIGYM_CACHE_DIR`` wins, then numba's own ``NUMBA_CACHE_DIR``, then the user's cache folder,
    then the system's temporary folder: a read-only installation and a home that cannot be written
    still start. Kernels are programs: a folder in which another user could put his own is named in
    a line and left.

    Returns:
        The folder; None where there is none, and kernels of this process serve it alone.
    """
    errors: list[OSError] = []
    tried = []
    for candidate in _candidates():
        error = _writing_error(candidate / SOURCES)
        if error is None:
            return (candidate / SOURCES).resolve()
        if isinstance(error, UnsafeFolderError):
            _print_once(f"keeps no kernels in {candidate}:", str(error))
        errors.append(error)
        tried.append(str(candidate))
    full = any(error.errno in NO_SPACE for error in errors)
    unsafe = any(isinstance(error, UnsafeFolderError) for error in errors)
    missing = "no space in" if full else f"no {'safe' if unsafe else 'writable'} folder among"
    _print_once("keeps", f"no compiled kernels, found {missing} {', '.join(tried)}")
    return None


def _candidates() -> Iterator[Path]:
    """Yield the folders that may keep kernels; the last one is new."""
    named = [os.environ.get("VIGYM_CACHE_DIR"), os.environ.get("NUMBA_CACHE_DIR")]
    with contextlib.suppress(RuntimeError):  # of users without a home
        named.append(os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser()))
    yield from (Path(name) / "vigym" for name in named if name)
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with contextlib.suppress(OSError):  # where there is no temporary folder
        yield Path(tempfile.gettempdir()) / f"vigym-{user}"
        earlier = own_files(f"vigym-{user}-*")  # of processes that came this far
        yield from earlier
        if not earlier:
            yield Path(tempfile.mkdtemp(prefix=f"vigym-{user}-"))


SOURCES = _sources_hash()
SHIPPED = Path(__file__).parents[2] / "kernels" / SOURCES  # as trusted as the package's sources


class _ContentLocator(UserProvidedCacheLocator):
    """Place of a kernel's files, named after its module's content.

    Numba names it after the module's path. Here checkouts, virtual environments and containers
    share compiled kernels, and an installation anew finds them.
    """

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        self._stamp = hashlib.sha256(read_file(py_file, "the source of a kernel")).hexdigest()[:16]
        self._cache_path = str(Path(config.CACHE_DIR, f"{Path(py_file).stem}_{self._stamp}"))

    def get_source_stamp(self):
        """Return what tells whether a kernel's module has changed."""
        return self._stamp

    @classmethod
    def from_function(cls, py_func, py_file):
        """Return the place of a kernel, which may not exist."""
        return cls(py_func, py_file)

    def ensure_cache_path(self):
        """Create the folder, of the user alone; raise OSError if nothing can be written there."""
        private_folder(Path(self._cache_path))
        super().ensure_cache_path()


class _OwnFiles(IndexDataCacheFile):
    """Files of a kernel: those that another user may have written are not loaded."""

    def _load_index(self):
        check_program(self._index_path)
        return super()._load_index()

    def _load_data(self, name):
        check_program(self._data_path(name))
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, filepath):
        with whole_file(filepath, mode=0o600) as new, new.open("wb") as file:
            yield file


class _CheckedResult(CompileResultCacheImpl):
    """Compiled code as bytes with a checksum: damaged code crashes, or computes wrong numbers."""

    _locator_classes = [_ContentLocator]  # not those that know nothing of the sources

    def reduce(self, cres):
        """Turn compiled code into a checksum and bytes."""
        data = dumps(super().reduce(cres))
        return hashlib.sha256(data).digest(), data

    def rebuild(self, target_context, payload):
        """Turn a checksum and bytes into compiled code.

        Raises:
            ValueError: bytes that are not those that were written.
        """
        checksum, data = payload
        if hashlib.sha256(data).digest() != checksum:
            raise ValueError("wrong checksum")
        return super().rebuild(target_context, pickle.loads(data))


class KernelCache(FunctionCache):
    """Compiled versions of a kernel, in files that may be damaged and on disks that may be full."""

    _impl_class = _CheckedResult

    def __init__(self, py_func):
        super().__init__(py_func)
        names = self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = _OwnFiles(self.cache_path, *names)
        self._shipped = IndexDataCacheFile(SHIPPED / Path(self.cache_path).name, *names)
        self._locks: dict[Any, FileLock] = {}  # of versions that are compiled here

    def load_overload(self, sig, target_context):
        """Load a version; None if there is none that can be read: it is to be compiled here.

        Where another process compiles it, wait for that.
        """
        code = wait_for(self._py_func, sig)
        if code:
            found = f"a process for it that ended with code {code}"
            _print_once("compiles", f"{self._py_func.__name__} itself, found {found}")
        loaded = self._load(sig, target_context)
        if loaded is None and self.is_writable() and self._take(sig):
            loaded = self._load(sig, target_context)
            self.release(sig)  # whoever had it may have stored nothing, and perhaps nobody can
        return loaded

    def _load(self, sig, target_context):
        """Load a version, of the package or of the folder; None if none can be read."""
        rtsys.initialize(target_context)  # what code may call; numba would prepare to compile
        damaged = ""
        for kept in self._kept():
            try:
                data = kept.load(sig)
                if data is not None:
                    return self._impl.rebuild(target_context, data)
            except Exception as error:  # what a damaged pickle raises may be anything
                damaged = f"{Path(kept._index_path).parent} ({_words(error)})"
        if damaged:
            _print_once("compiles", f"kernels anew, found damaged files in {damaged}")
        return None

    def _kept(self):
        """Return the files that may have a version: the package's, and the folder's if any."""
        return (self._shipped, self._cache_file) if self._enabled else (self._shipped,)

    def _index_key(self, sig, codegen):
        """Return what tells versions apart; their folder tells the rest."""
        return sig

    def _take(self, sig):
        """Let other processes wait for a version that is compiled here; return whether one had it.

        Whoever never ends is not waited for. Some file systems have no locks.
        """
        version = hashlib.sha256(repr(sig).encode()).hexdigest()[:16]
        lock = FileLock(Path(self.cache_path, f"{self._py_func.__name__}.{version}.lock"))
        with contextlib.suppress(OSError, NotImplementedError):
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0.0)
                self._locks[sig] = lock
                return False
            with announce_compilation(self._py_func):
                for _ in range(round(MOST_WAITING / POLL_SECONDS)):
                    announce_waiting()
                    with contextlib.suppress(Timeout):
                        lock.acquire(timeout=POLL_SECONDS)
                        self._locks[sig] = lock
                        break
        return True

    def release(self, sig):
        """Let other processes go on that wait until this one has compiled a version."""
        if sig in self._locks:
            self._locks.pop(sig).release()

    def contains(self, sig):
        """Return whether a version is on disk."""
        for kept in self._kept():
            with contextlib.suppress(Exception):  # of a damaged pickle; loading it tells
                if sig in kept._load_index():
                    return True
        return False

    def is_writable(self):
        """Return whether versions can be stored, as far as that shows before they are."""
        folder = Path(self.cache_path)
        if "keeps" in _printed or _writing_error(folder) is not None:
            return False
        return shutil.disk_usage(folder).free >= ROOM

    def save_overload(self, sig, data):
        """Store a version, where there is space for it."""
        try:
            with self._writing():
                try:
                    super().save_overload(sig, data)
                except (pickle.PickleError, EOFError, ValueError, TypeError):  # of a damaged index
                    self.flush()
                    super().save_overload(sig, data)
        except OSError as error:
            found = f"found no way to write them ({_words(error)})"
            _print_once("keeps", f"no compiled kernels, {found}")

    @contextlib.contextmanager
    def _writing(self):
        """Let one process write at a time: the table of versions is read and written anew."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError, NotImplementedError):  # of Timeout, too
                lock = FileLock(Path(self.cache_path, f"{self._py_func.__name__}.lock"))
                stack.enter_context(lock.acquire(timeout=MOST_WRITING))
            yield


def keep_on_disk(dispatcher):
    """Keep the compiled versions of a kernel in the cache folder, if there is one."""
    folder = cache_folder()
    previous, config.CACHE_DIR = config.CACHE_DIR, str(folder or os.devnull)
    try:
        dispatcher._cache = KernelCache(dispatcher.py_func)
    finally:
        config.CACHE_DIR = previous
    if folder is None:
        dispatcher._cache.disable()
    else:
        _open_place(dispatcher._cache)
    dispatcher.compile = _releasing(dispatcher.compile, dispatcher._cache)


def _open_place(kept: KernelCache) -> None:
    """Create the folder of a kernel; leave one in which another user could put his own."""
    try:
        kept._impl.locator.ensure_cache_path()
    except UnsafeFolderError as error:
        _print_once("keeps", f"no compiled kernels, {error}")
        kept.disable()
    except OSError:  # storing tells
        return


def _releasing(compile_version: Callable[[Any], Any], kept: KernelCache) -> Callable[[Any], Any]:
    """Let a function release a version that it has compiled, or failed to compile."""

    @functools.wraps(compile_version)
    def run(sig: Any) -> Any:
        try:
            return compile_version(sig)
        finally:
            kept.release(sig)

    return run


def _words(error: Exception) -> str:
    """Name an error in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _print_once(verb: str, rest: str) -> None:
    """Print what vigym does with its kernels, at most once for each verb."""
    if verb not in _printed:
        _printed.add(verb)
        if sys.stderr is None:
            return
        print(f"vigym {verb} {rest}", file=sys.stderr, flush=True)
