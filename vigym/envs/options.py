"""Options of environments: checks of values, names and callables of users, options of pictures."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from vigym.render.scene.camera import CameraOption

MOST = 2**31 - 1  # of any whole number
MOST_LINKS = 1000  # of a robot that is made link by link
_VECTOR = "expected it of `gymnasium.make_vec`, without `vectorization_mode`"
_LIMIT = "expected it of `gymnasium.make` or `make_vec`, or as an attribute of a vector"
_RESET = f"{_VECTOR}; or in `vector_kwargs`, with vectorization_mode='sync' or 'async'"
# options of others than environments, and where they belong
ELSEWHERE = {"max_episode_steps": _LIMIT, "autoreset_mode": _RESET}
ELSEWHERE |= dict.fromkeys(("num_envs", "processes", "threads", "precision", "info_keys"), _VECTOR)


@dataclass(frozen=True, kw_only=True)
class RenderOptions:
    """Options of the pictures of an environment.

    Attributes:
        render_mode: None, "rgb_array" (pictures), "depth_array" (distances along the view [m]),
            "segmentation_array" (indices of bodies), "human" (window) or "browser" (web page).
        width: of pictures [pixels].
        height: of pictures [pixels].
        overlay: drawn over pictures: any of "contacts" (forces as arrows) and "energy" (bars).
        shadow: whether bodies cast a shadow on the floor; pictures without are drawn faster.
        camera: a `vigym.render.scene.camera.Camera`, or some of its fields as a dictionary:
            "target" [m], "distance" [m], "azimuth", "elevation", "field_of_view" [rad]; None: the
            whole mechanism is in the picture.
    """

    render_mode: str | None = None
    width: int = 640
    height: int = 480
    overlay: tuple[str, ...] | str = ()
    shadow: bool = True
    camera: CameraOption = None


def is_number(value: object) -> bool:
    """Return whether an option is a finite real number."""
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and bool(abs(value) < np.inf)  # type: ignore[arg-type]


def is_whole(value: object) -> bool:
    """Return whether an option is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def require(valid: bool, option: str, found: object, expected: str) -> None:
    """Raise ValueError unless an option is valid; the error names found and expected values."""
    if not valid:
        raise ValueError(f"option {option}: found {found!r}, expected {expected}")


def require_positive(option: str, found: object, unit: str) -> None:
    """Raise ValueError unless an option is a finite number above zero."""
    valid = is_number(found) and found > 0.0  # type: ignore[operator]
    require(valid, option, found, f"{unit} > 0")


def require_whole(option: str, found: Any, least: int, most: int = MOST) -> None:
    """Raise ValueError unless an option is a whole number from `least` to `most`."""
    require(is_whole(found) and found >= least, option, found, f"a whole number >= {least}")
    require(found <= most, option, found, f"a whole number of at most {most}")


def require_bool(option: str, found: object) -> None:
    """Raise ValueError unless an option is True or False."""
    require(isinstance(found, bool), option, found, "True or False")


def suggest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" with the nearest of `names`, else the list of expected ones."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"


def checked_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the mode of an option; raise ValueError unless there is one."""
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        expected = f"one of {[known.value for known in AutoresetMode]}"
        raise ValueError(f"option autoreset_mode: found {mode!r}, expected {expected}") from error


def import_user_module(name: str) -> ModuleType:
    """Return an imported module; the working directory is searched, too.

    Raises:
        ImportError: no such module, or a text that is no name of one, such as a path.
    """
    if not all(name.split(".")) or "/" in name or os.sep in name:
        raise ImportError(f"{name!r} is no name of a module")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)


def find_callable(option: str, found: object) -> Callable[..., Any] | None:
    """Return the callable of an option: itself, or the one named "module:name"; None for None.

    Raises:
        ValueError: neither, or a module that has no callable of that name.
        ImportError: no such module.
    """
    if found is None or callable(found):
        return found
    module, colon, name = found.partition(":") if isinstance(found, str) else ("", "", "")
    require(bool(module and colon and name), option, found, 'a callable or "module:name"')
    try:
        value = getattr(import_user_module(module), name, None)
    except ImportError as error:
        expected = "expected a module that can be imported from here, as module:name, no path"
        raise ImportError(f"option {option}: found {found!r}: {error}; {expected}") from error
    require(callable(value), option, found, f"a callable of that name in module {module!r}")
    hook: Callable[..., Any] | None = value
    return hook
