"""Modules given by users by name, those of the working directory too."""

import os
import sys
from importlib import import_module
from types import ModuleType


def import_user_module(name: str) -> ModuleType:
    """Return an imported module; the working directory is searched, too.

    Raises:
        ImportError: no such module.
    """
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)
