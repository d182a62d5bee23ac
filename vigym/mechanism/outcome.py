"""What a simulator tells about a step: its outcome, and energies."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Status(NamedTuple):
    """Outcome of a step; arrays (batch,) in a batch.

    Attributes:
        converged: whether every sub-step met the tolerance, or where its largest terms are so large that rounding
            hides it, a few roundings of those; if not, the state is the one before the call.
        iterations: Newton increments over all sub-steps.
        residual: largest scaled residual that was accepted; of a failed step, the one it ended with (inf: diverged).
        halvings: how often a sub-step was halved.
        clipped: whether a torque went beyond its joint's effort and was clipped to it.
    """

    converged: Any
    iterations: Any
    residual: Any
    halvings: Any
    clipped: Any


class Energy(NamedTuple):
    """Energies at the knot [J]."""

    kinetic: Any
    potential: Any
    total: Any


def status_of(rows: NDArray[np.float64], single: bool) -> Status:
    """The status that the kernels wrote to (count, 5) rows; plain values for one environment (``single``)."""
    if single:
        converged, iterations, residual, halvings, clipped = rows[0].tolist()
        return Status(bool(converged), int(iterations), residual, int(halvings), bool(clipped))
    converged, iterations, residual, halvings, clipped = rows.T
    counts = iterations.astype(np.int64), halvings.astype(np.int64)
    return Status(converged > 0, counts[0], residual.copy(), counts[1], clipped > 0)
