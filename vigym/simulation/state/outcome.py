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
        clipped: whether a torque went beyond its joint's effort and was clipped to it, or a motor gave all it can in
            one of the sub-steps.
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


class Contacts(NamedTuple):
    """Contact points in the order of ``mechanism.contact_names``; a leading axis (batch,) in a batch.

    Attributes:
        gap: (..., n) distance from the ground [m], negative below it; of a pair "a/b" that of the two shapes.
        force: (..., n, 3) on the body, of a pair on that of a [N, world]: the impulse of the last step at its first
            knot over its length.
        position: (..., n, 3) of the point that comes lowest, of a pair a's point that is nearest to b [m, world].
        normal: (..., n, 3) of the ground, of a pair from b to a [world].
        slip: (..., n) velocity of the point along the ground, or along the other body [m/s].
    """

    gap: Any
    force: Any
    position: Any
    normal: Any
    slip: Any


def status_of(rows: NDArray[np.float64], single: bool) -> Status:
    """The status that the kernels wrote to (count, 6) rows; plain values for one environment (``single``)."""
    if single:
        converged, iterations, residual, halvings, clipped, _ = rows[0].tolist()
        return Status(bool(converged), int(iterations), residual, int(halvings), bool(clipped))
    converged, iterations, residual, halvings, clipped, _ = rows.T
    counts = iterations.astype(np.int64), halvings.astype(np.int64)
    return Status(converged > 0, counts[0], residual.copy(), counts[1], clipped > 0)
