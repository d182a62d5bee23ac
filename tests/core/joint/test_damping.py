"""Dampers of degrees of freedom, and of vibrations that a step does not resolve."""

import numpy as np
import pytest

from scenes.plain_python import Fields
from vigym.core.joint import damping

H = np.float64(0.01)


def sprung(stiffness, own=0.0, mass=1.0):
    return Fields(
        stiffness=stiffness, damping=own, effective_mass=mass, slow_rate=0.7, last_rate=0.5
    )


def test_slow_vibrations_are_hardly_damped():
    """At six steps a period, x = 1/4 for (2 / h sin(pi / 6))^2: the damping ratio is 1.2e-3 as its docstring says."""
    stiffness = 1.0 / H**2
    c = damping.vibration_damping(sprung(stiffness), H)
    assert c / (2.0 * np.sqrt(stiffness)) == pytest.approx(1.2e-3 * 2.0, rel=0.05)


def test_fast_vibrations_are_damped_by_a_share_of_the_stiffness():
    stiff = damping.vibration_damping(sprung(1e9), H)
    assert stiff == pytest.approx(damping.UNRESOLVED * H * 1e9)
    assert damping.vibration_damping(sprung(0.0), H) == 0.0
    assert damping.vibration_damping(sprung(1e9, mass=0.0), H) == pytest.approx(stiff)


def test_at_equal_steps_the_damper_is_that_of_one_step():
    dof = sprung(3e4, 0.2)
    c = damping.vibration_damping(dof, H)
    whole, by_slow_rate = damping.damper_at_knot(dof, H, 1.0)
    assert whole == pytest.approx(damping.dof_damping(dof, H)) == pytest.approx(0.2 + c)
    assert by_slow_rate == pytest.approx(c * dof.slow_rate)
    impulse, by_slow_rate = damping.damper_before_knot(dof, H)
    assert (impulse, by_slow_rate) == pytest.approx(
        (0.5 * H * (0.2 + c), 0.5 * H * c * dof.slow_rate)
    )


@pytest.mark.parametrize("rho", [0.1, 10.0])
def test_a_change_of_the_step_leaves_the_slow_rate_the_lesser_damping(rho):
    dof = sprung(3e4)
    before = rho * damping.vibration_damping(dof, rho * H)
    now = damping.vibration_damping(dof, H)
    _, by_slow_rate = damping.damper_at_knot(dof, H, rho)
    assert by_slow_rate == pytest.approx(0.5 * (before + min(before, now)) * dof.slow_rate)


def test_the_slow_rate_follows():
    assert damping.next_slow_rate(sprung(1.0), 0.9) == pytest.approx(0.8)


def test_work_that_is_given_back_is_not_negative():
    dof = sprung(3e4)
    assert damping.work_of_vibration_damping(dof, 0.6, H, 1.0) > 0.0  # slower than it was: driven
    assert damping.work_of_vibration_damping(dof, 0.9, H, 1.0) == 0.0
