"""Compositions of second-order steps into steps of higher order.

The second-order step is symmetric in time. Parts that add up to one, and whose third powers add up
to zero, cancel its leading error. A palindrome of parts is symmetric again: no order is odd.
"""

import numpy as np

from vigym.core.compiler.kernel import inline

_FOURTH = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
_SIXTH = (
    0.21375583945878254555518066964857,
    0.18329381407425713911385974425217,
    0.17692819473098943794898811709929,
    -0.44329082681170215849622829626258,
    0.11728560432865935385403585669136,
)


def _palindrome(outer):
    """Complete the first half of a composition: the middle part makes the sum one."""
    return np.array([*outer, 1.0 - 2.0 * sum(outer), *reversed(outer)])


# Order -> parts of a step, in turn.
# Order 4: M. Suzuki, Fractal decomposition of exponential operators, Physics Letters A 146 (1990).
# Order 6: M. Sofroniou, G. Spaletta, Derivation of symmetric composition constants for symmetric
# integrators, Optimization Methods and Software 20 (2005). It needs fewer parts for an accuracy
# than that of nine parts by W. Kahan and R.-C. Li, Mathematics of Computation 66 (1997).
COMPOSITIONS = {
    2: np.array([1.0]),
    4: _palindrome((_FOURTH, _FOURTH)),
    6: _palindrome(_SIXTH),
}
SECOND = COMPOSITIONS[2]
FOURTH = COMPOSITIONS[4]
SIXTH = COMPOSITIONS[6]


@inline
def stage_count(order):
    """Find the number of second-order steps in one of a higher order."""
    if order == 2:
        return SECOND.size
    return FOURTH.size if order == 4 else SIXTH.size


@inline
def stage_fraction(order, stage):
    """Find the part of a step that its second-order step number ``stage`` makes."""
    if order == 2:
        return SECOND[0]
    return FOURTH[stage] if order == 4 else SIXTH[stage]
