"""Processor that kernels are compiled for: a level of x86-64 that many share, else the one at hand.

Kernels of a level are the same on every processor that has it, so that they can come with the
package, and compute the same everywhere. ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` name another
processor. Without the accelerator of compilation numba makes code for the one at hand alone.
"""

from typing import NamedTuple

from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba import config

from vigym.core.compiler.linking.versions import ENABLED


class Processor(NamedTuple):
    """What code is made for.

    Attributes:
        name: LLVM's name of the processor.
        features: what it has beside those that its name says, in LLVM's form ``+fma,-avx``.
    """

    name: str
    features: str

    def has(self, feature: str) -> bool:
        """Return whether it has a feature for sure."""
        known = _KNOWN.get(self.name, ())
        return feature in known or f"+{feature}" in self.features.split(",")


_V3 = "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"
_V4 = *_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3}  # the best first, with the features that tell them
_KNOWN = {**LEVELS, "haswell": _V3, "skylake-avx512": _V4}


def _processor() -> Processor:
    """Find the processor that kernels are compiled for."""
    name, features = (getattr(config, key, None) for key in ("CPU_NAME", "CPU_FEATURES"))
    if name not in (None, "host"):
        return Processor(name, features or "")
    if features is not None:
        return Processor(get_host_cpu_name(), features)
    found = get_host_cpu_features()
    for level, needed in LEVELS.items():
        if ENABLED and all(found.get(feature, False) for feature in needed):
            return Processor(level, "")
    return Processor(get_host_cpu_name(), found.flatten())


PROCESSOR = _processor()
