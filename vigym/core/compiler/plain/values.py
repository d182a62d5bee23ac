"""Values of lanes as single floats, in place of ``simd``, ``lanes`` and ``packs``.

Numbers are ``numpy.float64``: unlike those of Python they divide by zero as processors do. Masks
are ``numpy.bool_``: unlike truth values of Python they have ``~`` and ``any``.
"""

import numpy as np

LANES = 1
Number = np.float64


def value_of(scalar):
    """Return a number or a truth value as the value of its only lane."""
    return np.bool_(scalar) if isinstance(scalar, bool | np.bool_) else Number(scalar)


def where(mask, a, b):
    """Select ``a`` where the mask is set, else ``b``.

    Raises:
        TypeError: the mask is a number.
    """
    if not isinstance(mask, bool | np.bool_):
        raise TypeError(f"where: found {mask!r}, expected a mask")
    return value_of(a if mask else b)


def maximum(a, b):
    """Find the larger of two values; NaN if either is."""
    return Number(a if a != a or a > b else b)


def minimum(a, b):
    """Find the smaller of two values; ``a`` if either is NaN."""
    return Number(b if a > b else a)


def absolute(a):
    """Find the absolute value."""
    return abs(a)


def sqrt(a):
    """Compute the square root; NaN of a negative number."""
    return np.sqrt(Number(a))


def fma(a, b, c):
    """Compute a b + c with two roundings."""
    return a * b + c


def spread(value, token):
    """Return a number as the value of its only lane."""
    return Number(value)


def load(table, at, token):
    """Read the value at a slot of a table."""
    return table[at]


def store(table, at, value):
    """Write the value at a slot of a table."""
    table[at] = value


def lane(a, index):
    """Return the only lane."""
    return a


def with_lane(a, index, value):
    """Replace the only lane."""
    return value_of(value)


def select_by_precision(pair, like):
    """Select the value for double precision."""
    return Number(pair[0])


def max_over_body_lanes(value, like):
    """Return the value: a phase over bodies returns the maximum of its only lane."""
    return value


def read_column(array, first, column, like):
    """Read a column of an (environments, columns) array in row ``first``."""
    return Number(array[first, column])


def write_column(array, first, column, value):
    """Write a column of an (environments, columns) array in row ``first``."""
    array[first, column] = value


def write_vector(out, first, column, a):
    """Write three columns of an (environments, columns) array."""
    out[first, column : column + 3] = a


def arctan2(y, x):
    """Compute the angle of (x, y) [rad]."""
    return np.arctan2(y, x)


def cosine_sine(angle):
    """Compute cosine and sine of an angle [rad]."""
    return np.cos(angle), np.sin(angle)


def rounded(value):
    """Round to the nearest whole number."""
    return np.rint(value)


def _compiled_only(*arguments):
    """Raise an error in place of a function that only compiled kernels call.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("found VIGYM_COMPILE=0, expected compiled kernels")


# rows of one environment side by side in lanes
run_of_rows = _compiled_only
lanes_of_rows = _compiled_only
add_lanes = _compiled_only
add_lanes_from_last = _compiled_only
# single precision
pointer = _compiled_only
scalar_token = _compiled_only
vector_token = _compiled_only
widen_lanes = _compiled_only
narrow_lanes = _compiled_only
