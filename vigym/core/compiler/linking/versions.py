"""Versions of numba that the accelerator of compilation serves.

It optimises the phases of a kernel together, once.

By itself numba finishes every function alone, with all that it calls. A function that lies n calls
deep is then optimised n times, although only the kernel ever runs it. With this accelerator the
code of a phase waits, and the entry kernel links all of it. The arithmetic is the same.

It uses private parts of numba, so it serves only the versions that it was tested with. With any
other version, or with ``VIGYM_LINKING=0`` in the environment, kernels are compiled by plain
``njit``, which takes several times as long.
"""

import os

import numba

TESTED = ("0.68",)  # versions of numba (major.minor) whose private parts are as expected here


def _is_enabled() -> bool:
    """Return whether phases are compiled to machine code with their kernel only."""
    version = ".".join(numba.__version__.split(".")[:2])
    return os.environ.get("VIGYM_LINKING", "1") != "0" and version in TESTED


ENABLED = _is_enabled()
