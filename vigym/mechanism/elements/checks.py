"""Checks of single values: they return the stored form or raise MechanismError."""

import math
from collections.abc import Callable, Collection, Container
from itertools import chain, islice
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.errors import MechanismError

Array = NDArray[np.float64]
# relative; laminae have equality in the triangle inequality, less rounding
TRIANGLE_TOLERANCE = 1e-6
LARGEST = 1e100  # of coordinates, velocities, impulses and gravity: energies are numbers
UNWRITABLE = ("Cc", "Cs")  # categories of control characters and surrogates
WHITE_SPACE = "\t\n\r"  # control characters that files can have
LARGEST_INERTIA = 1e307  # [kg m^2] sums of nine such numbers are floats
SYMMETRY_TOLERANCE = 1e-9  # relative to the largest entry of the tensor
PERPENDICULAR_TOLERANCE = 1e-9  # cosine of the angle between two axes


class ReadOnly:
    """Base of records that hold numpy arrays: arrays stay read-only through copies and pickles."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)


def require_numbers(value: ArrayLike, element: str, expected: str) -> Array:
    """Return `value` as a read-only array of floats; the error names what was `expected`."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MechanismError(f"{element}: found {value!r}, expected {expected}") from error
    if has_bools_or_strings(value):  # numpy takes True as 1 and "2" as 2
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    return read_only(array)


def read_only(array: Array) -> Array:
    """Return the array itself, made read-only."""
    array.flags.writeable = False
    return array


def has_bools_or_strings(value: Any) -> bool:
    """Return whether a value that converts to numbers has booleans or texts among its entries."""
    if isinstance(value, float):
        return False
    if type(value) in (tuple, list) and all(type(entry) is float for entry in value):
        return False
    entries = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
    kind = entries.dtype.kind
    if kind != "O":
        return kind not in "iuf"
    return any(isinstance(entry, bool | np.bool_ | str | bytes) for entry in entries.flat)


def require_number(value: Any, element: str, low: float = -np.inf, infinite: bool = False) -> float:
    """Return `value` as a float that is not nan, at least `low`, and finite unless `infinite`."""
    expected = "a number" if infinite else "a finite number"
    if low > -np.inf:
        expected += f" >= {low:g}"
    array = require_numbers(value, element, expected)
    if array.shape != () or np.isnan(array) or (np.isinf(array) and not infinite) or array < low:
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    return float(array)


def call(function: Callable[..., Any], arguments: Any, element: str, expected: str) -> Any:
    """Return the result of a function of the user's; the error names the function and its error."""
    try:
        return function(*arguments)
    except Exception as error:  # of the user's function
        found = f"{type(error).__name__}: {error}"
        raise MechanismError(f"{element}: found {found}, expected {expected}") from error


def require_one_or_each(value: Any, element: str, count: int, equal: int) -> float | Array:
    """Return `value` as a number >= 0, or as a read-only array of `count` where they differ.

    The last `equal` ones have to be the same.
    """
    if np.ndim(np.array(value, dtype=object)) == 0:
        return require_number(value, element, 0.0)
    expected = f"a number >= 0, or one for each of {count} degrees of freedom"
    values = require_numbers(value, element, expected)
    if values.shape != (count,) or not (np.isfinite(values) & (values >= 0.0)).all():
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    if equal and np.ptp(values[-equal:]) > 0.0:
        raise MechanismError(
            f"{element}: found {value!r}, expected the same number for all {equal} rotations"
        )
    return float(values[0]) if count and not np.ptp(values) else values


def require_positive(value: Any, element: str) -> float:
    """Return `value` as a finite float above zero."""
    result = require_number(value, element)
    if result <= 0.0:
        raise MechanismError(f"{element}: found {value!r}, expected a number > 0")
    return result


def require_fraction(value: Any, element: str) -> float:
    """Return `value` as a float in [0, 1]."""
    result = require_number(value, element, 0.0)
    if result > 1.0:
        raise MechanismError(f"{element}: found {value!r}, expected a number in [0, 1]")
    return result


def require_friction(value: ArrayLike, element: str) -> Array:
    """Return friction (along, across, backward) given as one number, the first two or all three."""
    expected = "a number >= 0, (along, across) or (along, across, backward)"
    array = np.atleast_1d(require_numbers(value, element, expected))
    if array.shape not in ((1,), (2,), (3,)) or not np.isfinite(array).all() or array.min() < 0.0:
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    result: Array = array[[[0, 0, 0], [0, 1, 0], [0, 1, 2]][len(array) - 1]]
    return read_only(result)


def require_vector(value: ArrayLike, element: str, size: int = 3, largest: float = np.inf) -> Array:
    """Return `value` as a read-only array of `size` finite numbers, none beyond the `largest`."""
    expected = f"{size} finite numbers"
    array = require_numbers(value, element, expected)
    # Python numbers: files have many short vectors, for which they are several times as fast
    if array.shape != (size,) or not all(map(math.isfinite, array.tolist())):
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    if max(map(abs, array.tolist())) > largest:
        raise MechanismError(f"{element}: found {value!r}, expected {expected} up to {largest:g}")
    return array


def require_direction(value: ArrayLike, element: str, size: int = 3) -> Array:
    """Return `value` scaled to length one; a zero vector has no direction and is an error."""
    array = require_vector(value, element, size)
    largest = max(map(abs, array.tolist()))
    if largest == 0.0:
        raise MechanismError(f"{element}: found {value!r}, expected a vector that is not zero")
    # first by the largest entry: squares of tiny or huge numbers leave the float range
    scaled = array / largest
    length = np.sqrt(scaled @ scaled)
    result: Array = array if largest * length == 1.0 else scaled / length
    return read_only(result)


def require_inertia_tensor(value: ArrayLike, element: str) -> Array:
    """Return the inertia tensor (3, 3) [kg m^2] of principal moments (3,) or a full tensor."""
    expected = "3 principal moments or a symmetric 3x3 tensor of finite numbers [kg m^2]"
    array = require_numbers(value, element, expected)
    if array.shape not in ((3,), (3, 3)) or not np.isfinite(array).all():
        raise MechanismError(f"{element}: found {value!r}, expected {expected}")
    tensor: Array = np.diag(array) if array.ndim == 1 else array
    if np.abs(tensor - tensor.T).max() > SYMMETRY_TOLERANCE * np.abs(tensor).max():
        raise MechanismError(f"{element}: found {tensor.tolist()}, expected a symmetric tensor")
    tensor = tensor / 2.0 + tensor.T / 2.0
    fault = inertia_fault(tensor)
    if fault:
        raise MechanismError(f"{element}: {fault}")
    return read_only(tensor)


def inertia_fault(tensor: Array, tolerance: float = TRIANGLE_TOLERANCE, least: float = 0.0) -> str:
    """Return the reason why no rigid body has this symmetric inertia tensor; empty when one has.

    Args:
        tensor: (3, 3) [kg m^2].
        tolerance: of the triangle inequality, relative; negative asks for a margin.
        least: lower bound of the smallest moment as a fraction of the largest.
    """
    # a power of two: squares of huge or tiny numbers leave the float range
    size = 2.0 ** (np.frexp(np.abs(tensor).max())[1] - 1)
    moments = np.linalg.eigvalsh(tensor / size)
    text = "(" + ", ".join(f"{moment:.6g}" for moment in (moments * size).tolist()) + ")"
    if not moments[0] > least * moments[2]:
        return f"found principal moments {text}, expected all > 0"
    if moments[2] > (moments[0] + moments[1]) * (1.0 + tolerance):
        return f"found principal moments {text}, expected none larger than the sum of the other two"
    return ""


def require_new_name(name: Any, kind: str, *taken: Container[str]) -> str:
    """Return `name`; raise unless it is a text that files can hold and not in any of `taken`."""
    if not isinstance(name, str) or not name.strip():
        raise MechanismError(f"{kind} name: found {name!r}, expected a non-empty string")
    if any(category(each) in UNWRITABLE and each not in WHITE_SPACE for each in name):
        expected = "no control characters or surrogates, which files cannot have"
        raise MechanismError(f"{kind} name: found {name!r}, expected {expected}")
    if any(name in names for names in taken):
        raise MechanismError(
            f"{kind} {name!r}: found a second element of this name, expected unique names"
        )
    return name


def require_one_of(
    value: Any, names: Collection[str], element: str, first: tuple[str, ...] = ()
) -> str:
    """Return `value`; raise unless it is one of `first` and `names`.

    The error lists at most ten of them.
    """
    if isinstance(value, str) and (value in names or value in first):
        return value
    listed = ", ".join(islice(chain(first, names), 10))
    listed += ", ..." if len(first) + len(names) > 10 else ""
    raise MechanismError(f"{element}: found {value!r}, expected one of: {listed}")
