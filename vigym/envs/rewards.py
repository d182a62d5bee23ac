"""Shapes of reward terms, as array expressions of sums, products and quotients only.

Without exponentials each entry of a batch is rounded exactly as a single value.
"""

import numpy as np

from vigym.envs.arrays import Array


def tolerance(
    value: Array, within: float = 0.0, margin: float = 1.0, at_margin: float = 0.1
) -> Array:
    """Return 1 where |value| <= within, falling smoothly to 0 beyond.

    Args:
        value: any shape and unit.
        within: half width of the flat top, unit of `value`.
        margin: distance from the flat top at which the result is `at_margin`, unit of `value`, > 0.
        at_margin: result there, in (0, 1).

    Returns:
        1 / (1 + (1 / at_margin - 1) (d / margin)^2), shape of `value`, with d the distance from the
        flat top.
    """
    distance = np.maximum(abs(value) - within, 0.0) / margin
    return 1.0 / (1.0 + (1.0 / at_margin - 1.0) * distance * distance)
