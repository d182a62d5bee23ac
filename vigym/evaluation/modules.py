"""Modules of one's own: the working directory counts, also for an installed command."""

import os
import sys
from importlib import import_module
from types import ModuleType


def module_from_here(name: str) -> ModuleType:
    """Import a module, also from the working directory.

    Raises:
        ImportError: no such module.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(name)
