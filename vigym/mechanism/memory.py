"""Whether a batch fits the memory of this machine."""

import math
import os


def require_memory(count: int, each: float) -> None:
    """Raise MemoryError where `count` environments of `each` bytes take more memory than the machine has.

    Systems promise more memory than there is, and end a process that takes them at their word.
    """
    needed, present = count * each, _present()
    if needed > present:
        raise MemoryError(
            f"batch: found {count} environments, whose states alone take {needed / 1e9:.3g} GB, expected at most the "
            f"{present / 1e9:.3g} GB that this machine has"
        )


def _present() -> float:
    """Memory of the machine [bytes]; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
