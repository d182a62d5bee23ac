"""URDF files of the robots that come with the package, by name."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FOLDERS = (_HERE / "_assets", _HERE.parent / "assets")  # of an installed package, of a checkout


def names() -> list[str]:
    """Return the names of the robots, sorted."""
    files = _folder().glob("*/*.urdf")
    return sorted(file.parent.name for file in files if file.stem == file.parent.name)


def path(name: str) -> Path:
    """Return the URDF file of the robot `name`.

    Raises:
        ValueError: an unknown name.
    """
    if name not in names():
        raise ValueError(f"asset: found {name!r}, expected one of: {', '.join(names())}")
    return _folder() / name / f"{name}.urdf"


def _folder() -> Path:
    """Return the folder of the robots.

    Raises:
        FileNotFoundError: an incomplete installation.
    """
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    found = f"found neither {_FOLDERS[0]} nor {_FOLDERS[1]}"
    raise FileNotFoundError(f"assets: {found}, expected one; install again")
