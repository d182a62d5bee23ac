"""Compositions of second-order steps into steps of higher order.

The second-order step is symmetric in time. Parts that add up to one, and whose third powers add up
to zero, cancel its leading error. A palindrome of parts is symmetric again: no order is odd.
"""

import numpy as np

from vigym.mechanism.elements.checks import Array

_FOURTH = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
_SIXTH = (
    0.21375583945878254555518066964857,
    0.18329381407425713911385974425217,
    0.17692819473098943794898811709929,
    -0.44329082681170215849622829626258,
    0.11728560432865935385403585669136,
)


def _palindrome(outer: tuple[float, ...]) -> Array:
    """Complete the first half of a composition: the middle part makes the sum one."""
    return np.array([*outer, 1.0 - 2.0 * sum(outer), *reversed(outer)])


# Order -> parts of a step, in turn.
# Order 4: M. Suzuki, Fractal decomposition of exponential operators, Physics Letters A 146 (1990).
# Order 6: M. Sofroniou, G. Spaletta, Derivation of symmetric composition constants for symmetric
# integrators, Optimization Methods and Software 20 (2005). It needs fewer parts for an accuracy
# than that of nine parts by W. Kahan and R.-C. Li, Mathematics of Computation 66 (1997).
COMPOSITIONS: dict[int, Array] = {
    2: np.array([1.0]),
    4: _palindrome((_FOURTH, _FOURTH)),
    6: _palindrome(_SIXTH),
}
