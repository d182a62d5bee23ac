"""Boundary to the file system: all files that the package reads or writes pass here.

Only regular files of bounded size are read, so that reading never waits for another process and
never fills the memory. Files are written whole or not at all: a temporary file is renamed once all
its content is on the disk. `docs/trust.md` is the page for users.
"""

import contextlib
import errno
import json
import os
import pickle
import secrets
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from vigym.ownership import trusted_users

MOST_TEXT = 1 << 25  # bytes of a file of text: URDF, JSON, CSV
MOST_BYTES = 1 << 28  # bytes of any other file, and of the unpacked data of one
MOST_NESTED = 600  # depth of XML elements
FileName = str | os.PathLike[str]
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # errors that name no file


# --- reading --------------------------------------------------------------------------------------


def open_file(
    path: FileName,
    expected: str,
    name: str = "",
    most: int | None = MOST_BYTES,
    error: type[Exception] = ValueError,
    owner: FileName | None = None,
) -> BufferedReader:
    """Open a regular file to read it, without waiting for another process.

    Args:
        path: path of the file.
        expected: kind of file that is expected, for errors.
        name: text in front of the path in errors.
        most: largest number of bytes; None: no limit.
        error: type of the errors.
        owner: of a file that can run code: path that the user named. The file has to belong to the
            user, to root, or to the owner of that path, and not all users may write it.

    Raises:
        error: The file is missing, a pipe, device or folder, too large, of another owner, or all
            users may write it.
    """
    stream, cause = None, None
    try:
        # opening some devices has effects, so that the type is checked before
        found = _fault(os.stat(path), most, owner)
        if not found:
            stream = os.fdopen(os.open(path, os.O_RDONLY | _AT_ONCE), "rb")
            found = _fault(os.fstat(stream.fileno()), most, owner)  # of the file that was opened
    except (OSError, ValueError) as fault:
        found = f"no readable file ({getattr(fault, 'strerror', None) or fault})"
        cause = fault
    if stream is None or found:
        if stream is not None:
            stream.close()
        raise error(f"{name} {path}: found {found}, expected {expected}".lstrip()) from cause
    return stream


def _fault(found: os.stat_result, most: int | None, owner: FileName | None) -> str:
    """Return the reason why a file must not be read, "" if it may be read."""
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "")
    if kind:
        return kind
    if most is not None and found.st_size > most:
        return f"{found.st_size} bytes, more than {most}"
    if owner is not None and found.st_uid not in (*trusted_users(), os.stat(owner).st_uid):
        return f"a program of another user ({found.st_uid})"
    if owner is not None and found.st_mode & stat.S_IWOTH:
        return f"a program that all users may write (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def read_file(
    path: FileName,
    expected: str,
    name: str = "",
    most: int = MOST_BYTES,
    error: type[Exception] = ValueError,
    owner: FileName | None = None,
) -> bytes:
    """Return the bytes of a regular file, no pointer of Git LFS; otherwise as `open_file`."""
    with open_file(path, expected, name, most, error, owner) as stream:
        data = stream.read(most + 1)
    found = f"more than {most} bytes" if len(data) > most else ""  # its size may read 0
    if data.startswith(b"version https://git-lfs"):
        found = "a pointer of Git LFS, not the file (`git lfs pull` fetches it)"
    if found:
        raise error(f"{name} {path}: found {found}, expected {expected}".lstrip())
    return data


def read_json(
    path: FileName, expected: str, name: str = "", owner: FileName | None = None
) -> dict[str, Any]:
    """Return the entries of a file with a JSON object.

    Raises:
        ValueError: `open_file` fails, or the file has no JSON object.
    """
    data = read_file(path, expected, name, MOST_TEXT, owner=owner)
    return parse_object(data, f"{name} {path}".lstrip(), expected)


def parse_object(data: bytes, place: str, expected: str) -> dict[str, Any]:
    """Return the entries of a JSON object.

    Raises:
        ValueError: The data is no JSON object, or is nested too deeply.
    """
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: found no JSON ({error}), expected {expected}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{place}: found a {type(found).__name__}, expected {expected}")
    return found


def read_pickle(path: FileName, owner: FileName) -> Any:
    """Return the content of a pickle. Reading it can run code.

    Args:
        path: path of the file.
        owner: path that the user named, see `open_file`.

    Raises:
        ValueError: `open_file` fails. A damaged pickle may raise any other error.
    """
    return pickle.loads(read_file(path, "a pickle", owner=owner))


def open_archive(stream: IO[bytes], place: str) -> zipfile.ZipFile:
    """Return an open zip archive of bounded size.

    Raises:
        ValueError: The unpacked archive would be too large.
        BadZipFile: The data is no zip archive.
    """
    archive = zipfile.ZipFile(stream)
    size = sum(part.file_size for part in archive.infolist())
    if size > MOST_BYTES:
        raise ValueError(f"{place}: found {size} bytes unpacked, expected at most {MOST_BYTES}")
    return archive


def read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    """Return the bytes of a member of an archive, at most MOST_BYTES of them.

    Raises:
        KeyError: The archive has no such member. zipfile raises further errors.
    """
    with archive.open(member) as part:
        return part.read(MOST_BYTES)  # a bound limits the unpacked bytes, too


def check_xml(data: bytes, place: str, error: type[Exception]) -> None:
    """Raise an error for XML that declares entities or is nested too deeply.

    Malformed XML is left to the parser that reads it next.
    """
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_NESTED:
            raise error(
                f"{place}: found <{tag[:40]}> in {depth} others, expected at most {MOST_NESTED}"
            )

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def declare(entity: str, *more: Any) -> None:
        raise error(f"{place}: found the declaration of an entity, {entity[:40]!r}, expected none")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = declare
    # malformed XML or encoding: the parser raises the error
    with contextlib.suppress(expat.ExpatError, LookupError):
        parser.Parse(data, True)


# --- writing --------------------------------------------------------------------------------------


@contextlib.contextmanager
def whole_file(path: FileName, mode: int | None = None) -> Iterator[Path]:
    """Yield the path of an empty temporary file, which replaces the file at `path` after the block.

    During the block, and after an error, the file at `path` stays as it was. If `path` is a link,
    its target is replaced. The content for a standard stream, /dev/null or a pipe with a reader
    is copied to it.

    Args:
        path: path of the file to replace, which need not exist.
        mode: mode of the file; None: mode of the replaced file, or the default of the umask.

    Raises:
        OSError: `path` is a folder, a device, a pipe without a reader, or a link of another user in
            a shared folder, or the disk is full.
    """
    if is_stream(path):
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder, Path(path).name)
            new.touch()
            yield new
            with new.open("rb") as written, _open_stream(path) as stream:
                shutil.copyfileobj(written, stream)
        return
    target = _target(path)
    new = _new_file(target, mode or 0o666)
    try:
        yield new
        _flush(new)
        if mode is None:
            _copy_owner(target, new)
        os.replace(new, target)
    except OSError as error:
        _raise_named(error, new, path)
        raise
    finally:
        new.unlink(missing_ok=True)


def write_file(path: FileName, content: str | bytes) -> None:
    """Write bytes, or a text in UTF-8, as a whole file; errors are those of `whole_file`."""
    data = content.encode() if isinstance(content, str) else content
    with whole_file(path) as new:
        new.write_bytes(data)


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder, which replaces `folder` after the block.

    A process that ends in between leaves the old folder in `FOLDER.old`: see `restore_folder`.
    """
    new, old = (folder.with_name(f"{folder.name}.{end}") for end in ("new", "old"))
    restore_folder(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        for file in new.iterdir():
            _flush(file)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        _raise_named(error, new, folder)
        raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _raise_named(error: OSError, new: Path, path: FileName) -> None:
    """Raise an error of a temporary file or of the disk again, with the path of the target."""
    is_new = error.filename is not None and str(error.filename).startswith(str(new))
    if is_new or error.filename is None and error.errno in _OF_DISK:
        raise OSError(error.errno, error.strerror, str(path)) from error


def restore_folder(folder: Path) -> None:
    """Restore a folder if a process ended while `whole_folder` replaced it."""
    old = folder.with_name(f"{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def check_output(path: FileName) -> None:
    """Raise OSError if a file cannot be written; the file is not changed."""
    if not is_stream(path):
        _new_file(_target(path)).unlink()


def is_stream(path: FileName) -> bool:
    """Return whether a path names a standard stream, /dev/null or a pipe.

    Raises:
        OSError: The path names a folder, another device or a socket.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return False
    kind = _KINDS.get(stat.S_IFMT(found.st_mode))
    if _standard(found) is not None or stat.S_ISFIFO(found.st_mode) or _is_null(found):
        return True
    if kind:
        raise OSError(f"{path}: found {kind}, expected a file, a pipe or a standard stream")
    return False


def _standard(found: os.stat_result) -> int | None:
    """Return the descriptor of standard output or standard error if the file is one of them."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # the stream is closed
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _is_null(found: os.stat_result) -> bool:
    return os.path.exists(os.devnull) and os.path.samestat(found, os.stat(os.devnull))


def _open_stream(path: FileName) -> IO[bytes]:
    """Open a stream for writing; raise OSError for a pipe without a reader."""
    for printed in (sys.stdout, sys.stderr):
        if printed is not None:
            printed.flush()
    standard = _standard(os.stat(path))
    if standard is not None:
        return os.fdopen(os.dup(standard), "wb")
    try:
        descriptor = os.open(path, os.O_WRONLY | _AT_ONCE)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(f"{path}: found a pipe without a reader, expected a reader") from error
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


def _target(path: FileName) -> Path:
    """Return a path without links.

    Raises:
        PermissionError: It is a link that another user planted in a shared folder, such as /tmp.
    """
    link = Path(path)
    if link.is_symlink():
        folder, owner = link.parent.stat(), link.lstat().st_uid
        if folder.st_mode & stat.S_ISVTX and owner not in (*trusted_users(), folder.st_uid):
            raise PermissionError(errno.EACCES, f"a link of user {owner}", str(path))
    return Path(os.path.realpath(path))


def _new_file(target: Path, mode: int = 0o666) -> Path:
    """Create an empty file in the folder of `target`, with the same ending, to replace it later.

    Raises:
        OSError: The folder or the file `target` cannot be written.
    """
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    ending = target.suffix if len(target.suffix) < 16 else ""
    new = target.with_name(f".vigym-{secrets.token_hex(8)}{ending}")
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AT_ONCE, mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
    return new


def _copy_owner(target: Path, new: Path) -> None:
    """Copy owner and mode of a file, if it exists, to a new file."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(target)
        if hasattr(os, "chown"):
            with contextlib.suppress(PermissionError):
                os.chown(new, found.st_uid, found.st_gid)
        new.chmod(stat.S_IMODE(found.st_mode))


def _flush(file: Path) -> None:
    """Write the buffers of a file to the disk; a full disk raises its error here."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())
