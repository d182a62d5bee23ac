"""Ownership of programs, such as kernels: they are loaded where no other user can put his own."""

import os
import stat
import tempfile
from pathlib import Path

FileName = str | os.PathLike[str]


class UnsafeFolderError(PermissionError):
    """Error of a folder in which another user could put programs."""


def private_folder(folder: Path) -> Path:
    """Return a folder of the user for programs, without links; create it.

    Others may then not write in it: if they might, its mode becomes 0700.

    Raises:
        UnsafeFolderError: it, a folder above it or a link on the way is of another user than the
            owner or root, or others may write in one above it and so replace it.
        OSError: it cannot be created.
    """
    folder = folder.absolute()
    for part in (*reversed(folder.parents), folder):
        if not part.exists():
            part.mkdir(mode=0o700, exist_ok=True)
    real = folder.resolve()
    if not hasattr(os, "getuid"):  # this system has other owners and modes
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
    """Raise ValueError for a file of another user, one that others may write, and for a link.

    No file is none of them. The file has to lie in a `private_folder`.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    is_own = found.st_uid in trusted_users() and not _others_may_write(found)
    if not (stat.S_ISREG(found.st_mode) and is_own):
        has = f"user {found.st_uid}, mode {stat.filemode(found.st_mode)}"
        raise ValueError(f"{path}: found {has}, expected a file that only this user may write")


def open_lock(path: FileName) -> int:
    """Open the file of a lock, which is created; return its descriptor."""
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.open(path, os.O_RDWR | os.O_CREAT | more, 0o600)


def own_files(pattern: str) -> list[Path]:
    """Return the paths in the temporary folder, sorted, that belong to the user."""
    found = sorted(Path(tempfile.gettempdir()).glob(pattern))
    return [path for path in found if path.lstat().st_uid in trusted_users()]


def _unsafe(part: Path, found: str) -> str:
    return f"{part}: found {found}, expected a folder that only this user and root may write"


def trusted_users() -> tuple[int, int]:
    """Return the numbers of the users whose programs are run: this one and root."""
    return (os.getuid() if hasattr(os, "getuid") else 0), 0


def _others_may_write(found: os.stat_result) -> bool:
    """Return whether the mode lets other users write; a group of the user alone is none."""
    if not hasattr(os, "getuid"):
        return False
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid)


def _is_private(gid: int) -> bool:
    """Return whether a group has the user's name and no other member, as many systems make it."""
    import grp  # no system has it but Unix
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and {user.pw_name}.issuperset(group.gr_mem)
