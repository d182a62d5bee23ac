"""Ownership of files that run code: they are loaded from folders that no other user may write."""

import os
import stat
import tempfile
from pathlib import Path

FileName = str | os.PathLike[str]


class UnsafeFolderError(PermissionError):
    """Error for a folder into which another user could write files that run code."""


def private_folder(folder: Path) -> Path:
    """Create a folder that only the user may write, and return its path without links.

    The mode of the folder becomes 0700 if other users may write in it.

    Raises:
        UnsafeFolderError: The folder, a folder above it or a link on the path belongs to another
            user, not to this one or root, or other users may write in a folder above it.
        OSError: The folder cannot be created.
    """
    folder = folder.absolute()
    for part in (*reversed(folder.parents), folder):
        if not part.exists():
            part.mkdir(mode=0o700, exist_ok=True)
    real = folder.resolve()
    if not hasattr(os, "getuid"):  # the system has no such owners and modes
        return real
    for part in (folder, *folder.parents, real, *real.parents):
        found = part.lstat()
        if found.st_uid not in trusted_users():
            raise UnsafeFolderError(_unsafe(part, f"user {found.st_uid}"))
    for part in real.parents:
        found = part.stat()
        if _others_may_write(found) and not found.st_mode & stat.S_ISVTX:
            raise UnsafeFolderError(_unsafe(part, f"mode {stat.S_IMODE(found.st_mode):04o}"))
    found = real.stat()
    if found.st_uid == os.getuid() and _others_may_write(found):
        real.chmod(0o700)
    return real


def check_program(path: FileName) -> None:
    """Raise ValueError for a link, and for a file that another user owns or may write.

    A missing file is no error. The file has to lie in a `private_folder`.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    is_own = found.st_uid in trusted_users() and not _others_may_write(found)
    if not (stat.S_ISREG(found.st_mode) and is_own):
        has = f"user {found.st_uid}, mode {stat.filemode(found.st_mode)}"
        raise ValueError(f"{path}: found {has}, expected a file that only this user may write")


def own_files(pattern: str) -> list[Path]:
    """Return the paths of files in the temporary folder that the user or root owns, sorted."""
    found = sorted(Path(tempfile.gettempdir()).glob(pattern))
    return [path for path in found if path.lstat().st_uid in trusted_users()]


def _unsafe(part: Path, found: str) -> str:
    return f"{part}: found {found}, expected a folder that only this user and root may write"


def trusted_users() -> tuple[int, int]:
    """Return the numbers of the users whose code may run: this user and root."""
    return (os.getuid() if hasattr(os, "getuid") else 0), 0


def _others_may_write(found: os.stat_result) -> bool:
    """Return whether other users may write; the user may be the only member of a group."""
    if not hasattr(os, "getuid"):
        return False
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid)


def _is_private(gid: int) -> bool:
    """Return whether a group has the user's name and no other member, as on many systems."""
    import grp  # only Unix has it
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and {user.pw_name}.issuperset(group.gr_mem)
