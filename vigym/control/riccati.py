"""The discrete-time algebraic Riccati equation.

By the structure-preserving doubling algorithm, which squares the closed loop in every iteration and needs no inverse of
A (that of a mechanism with loops is singular): E. K.-W. Chu, H.-Y. Fan, W.-W. Lin and C.-S. Wang, Structure-preserving
algorithms for periodic discrete-time algebraic Riccati equations, International Journal of Control 77 (2004). It
converges quadratically to the stabilising solution where (A, B) can be stabilised and Q sees every unstable motion, in
ten lines of numpy: nothing more has to be installed.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DOUBLINGS, CHANGE = 60, 1e-13  # iterations at most; relative change of the solution at which they end
UNBOUNDED = 1e100  # costs beyond that never end


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return P (n, n) with P = Q + A' P A - A' P B (R + B' P B)^-1 B' P A that makes the closed loop stable.

    Args:
        A: (n, n) of x' = A x + B u.
        B: (n, m).
        Q: (n, n) cost of the state, symmetric, not negative.
        R: (m, m) cost of the control, symmetric, positive.

    Raises:
        ValueError: there is no such solution: the controls do not reach an unstable motion, or Q does not see it.
    """
    F, G, H = A, B @ np.linalg.solve(R, B.T), Q
    one = np.eye(len(A))
    for _ in range(DOUBLINGS):
        W = np.linalg.solve(one + G @ H, np.hstack([F, G]))
        step = F.T @ H @ W[:, : len(A)]
        G, H = G + F @ W[:, len(A) :] @ F.T, H + 0.5 * (step + step.T)
        F = F @ W[:, : len(A)]
        if not np.abs(H).max(initial=0.0) < UNBOUNDED:
            break
        if np.abs(step).max(initial=0.0) <= CHANGE * np.abs(H).max(initial=0.0):
            closed = A - B @ gain(A, B, R, H)
            if np.abs(np.linalg.eigvals(closed)).max(initial=0.0) < 1.0:
                return np.asarray(H)
            break
    raise ValueError(
        "riccati: found no stabilising solution, expected controls that reach every unstable motion and a cost of the "
        "state that sees it"
    )


def gain(A: Array, B: Array, R: Array, P: Array) -> Array:
    """Return K (m, n) of the optimal control u = -K x."""
    result: Array = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    return result
