"""Compiler of the kernels: lane values, rows as objects, decorators. Only here numba is used.

With ``VIGYM_COMPILE=0`` in the environment nothing is compiled. Modules of ``plain`` then stand in
for those that need numba, and kernels run as the Python functions that they are.
"""

import os
import sys

COMPILES = os.environ.get("VIGYM_COMPILE", "1") != "0"

if not COMPILES:
    from vigym.core.compiler.plain import callbacks, kernel, rows, values

    sys.modules |= {
        f"{__name__}.{name}": module
        for module, names in {
            values: ("simd", "lanes", "packs"),
            kernel: ("kernel", "events", "processes"),
            rows: ("rows",),
            callbacks: ("callbacks",),
        }.items()
        for name in names
    }
