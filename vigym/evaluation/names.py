"""Names that a person gives: the nearest known one, and modules, of which the working directory has some too."""

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType


def nearest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" where something is near, else what is expected."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"


def module_from_here(name: str) -> ModuleType:
    """Import a module, also from the working directory.

    Raises:
        ImportError: no such module.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(name)
