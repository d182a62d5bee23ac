"""Where the robots that come with the package lie: name -> file."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_FOLDERS = (_HERE / "_assets", _HERE.parent / "assets")  # in an installed package, in a checkout


def names() -> list[str]:
    """Return the names of the robots, sorted."""
    return sorted(file.parent.name for file in _folder().glob("*/*.urdf") if file.stem == file.parent.name)


def path(name: str) -> Path:
    """Return the URDF file of the robot `name`.

    Raises:
        ValueError: no robot of that name.
    """
    if name not in names():
        raise ValueError(f"asset: found {name!r}, expected one of: {', '.join(names())}")
    return _folder() / name / f"{name}.urdf"


def _folder() -> Path:
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"assets: found neither {_FOLDERS[0]} nor {_FOLDERS[1]}, expected one; install again")
