"""What a step takes back where bodies are beyond a bound."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.body import correction

H = np.float64(0.01)


def data(leads_back=1.0, gravity=(0.0, 0.0, -9.81)):
    return Fields(environment=Fields(gravity=gravity, leads_back=leads_back))


def test_free_fall():
    assert correction.free_fall_acceleration(data()) == 9.81
    assert correction.free_fall_acceleration(data(gravity=(0.0, 0.0, 0.0))) == 1.0


@pytest.mark.parametrize("depth", [1e-9, 1e-6, 1e-2])
def test_what_is_beyond_comes_back_a_little_and_no_further_than_the_bound(depth):
    end = correction.least_end_distance(data(), np.float64(-depth), H, 1.0)
    assert -depth < end <= 0.0
    assert end + depth <= correction.MAX_CORRECTION * (1.0 + 1e-12)
    assert (
        correction.least_end_distance(data(0.0), np.float64(-depth), H, 1.0) == -depth
    )  # it is held


def test_what_is_not_beyond_ends_at_the_bound():
    assert correction.least_end_distance(data(), np.float64(0.3), H, 1.0) == 0.0


def test_rebounds_have_gaps_of_their_own():
    contact = Fields(rebound_velocity=np.float64(2.0))
    assert correction.find_gap_target(data(), contact, np.float64(0.0), H) == pytest.approx(0.02)
