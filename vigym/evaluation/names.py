"""Names that users give: suggestions for unknown ones, import of modules."""

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType


def suggest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" with the nearest of `names`, else the list of expected ones."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"


def import_user_module(name: str) -> ModuleType:
    """Import a module, from the working directory too.

    Raises:
        ImportError: no such module.
    """
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)
