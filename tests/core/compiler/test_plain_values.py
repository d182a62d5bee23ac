"""Values in plain Python: choices ignore what they do not choose, and numbers divide as processors do."""

import math

import numpy as np
import pytest

from vigym.core.compiler.plain import values
from vigym.core.compiler.plain.kernel import entry, no_lanes, phase

NUMBERS = -math.inf, -1.0, -0.0, 0.0, 2.0, math.inf


def test_the_larger_and_the_smaller_of_two_numbers():
    for a in NUMBERS:
        for b in NUMBERS:
            assert values.maximum(a, b) == max(a, b)
            assert values.minimum(a, b) == min(a, b)


def test_nan_is_the_larger_and_the_first_stays_the_smaller():
    assert all(np.isnan(values.maximum(*pair)) for pair in ((math.nan, 1.0), (1.0, math.nan)))
    assert np.isnan(values.minimum(math.nan, 1.0))
    assert values.minimum(1.0, math.nan) == 1.0


def test_a_choice_ignores_the_other_value_and_needs_a_mask():
    assert values.where(np.True_, 1.0, math.nan) == 1.0
    assert values.where(np.False_, math.nan, 1.0) == 1.0
    assert ~values.where(np.True_, False, True)  # masks stay masks
    with pytest.raises(TypeError, match="expected a mask"):
        values.where(np.float64(1.0), 1.0, 2.0)


def test_kernels_divide_by_zero_and_take_roots_of_negative_numbers():
    """Also where numpy is told to raise errors."""

    @entry
    def kernel(x, y):
        return x / y, values.sqrt(x)

    with np.errstate(all="raise"):
        found = kernel(-1.0, 0.0)
    assert found[0] == -math.inf
    assert np.isnan(found[1])


def test_what_only_lanes_have_says_so():
    for function in (values.run_of_rows, values.narrow_lanes, values.pointer):
        with pytest.raises(NotImplementedError, match="expected compiled kernels"):
            function(1.0)


@pytest.mark.parametrize("features", [set(), {"contacts"}])
def test_phases_that_a_mechanism_does_without_return_nothing_found(features):
    class Data:
        """Stand-in for data of a mechanism."""

        full = staticmethod(values.value_of)

    Data.features = features

    @phase(needs="contacts", otherwise=no_lanes)
    def touching(d):
        return np.True_

    assert touching(Data) == bool(features)
