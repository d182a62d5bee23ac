"""Limits by the interior point: f s = kappa at the solution, and its derivative."""

import numpy as np
import pytest

from scenes.plain_python import Fields, derivative
from vigym.core.joint import interior_limits as limits

D = Fields(environment=Fields(gravity=(0.0, 0.0, -9.81), force_scale=9.81))
KAPPA, PER_H = 1e-3, 100.0


def row(lower, upper=1e30, **values):
    """A degree of freedom at its limits; clearances are rates."""
    given = {
        "relaxation": KAPPA,
        "effective_mass": 1.0,
        "forces": (0.0, 0.0, 0.0),
        "increment": 0.0,
    }
    start = {"limit_forces": (0.0, 0.0), "limit_slacks": (0.0, 0.0)}
    return Fields(lower_clearance=lower, upper_clearance=upper, **(given | start | values))


def solution(lower):
    return KAPPA / lower


def test_the_linearized_law_has_the_solution_and_its_derivative():
    lower = 0.02
    dof = row(lower, limit_forces=(solution(lower), 1e-30), limit_slacks=(lower, limits.FAR))
    forces, slopes = limits.linearize_interior_limits(
        D, dof, PER_H, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    )
    assert forces[1] == pytest.approx(solution(lower))
    found = derivative(lambda motion: solution(lower + PER_H * motion[0]), (1.0,), 1e-8)
    assert -slopes[1] == pytest.approx(found, rel=1e-6)


def test_a_first_force_is_inside():
    for clearance in (0.5, -0.5):
        force, slack = limits.choose_first_limit(0.0, 0.0, clearance, 0.0, KAPPA, 0.01)
        assert force > 0.0
        assert slack == max(clearance, 0.01)
    assert limits.choose_first_limit(3.0, 2.0, 0.5, 0.0, KAPPA, 0.01) == (3.0, 2.0)  # those it has


def test_an_increment_leaves_forces_and_slacks_positive():
    dof = row(0.02, 0.03)
    limits.linearize_interior_limits(D, dof, PER_H, (0.0,) * 3, (0.0,) * 3)
    dof.increment = -1.0  # far beyond the lower limit
    part, _ = limits.update_interior_limits(D, dof, PER_H)
    limits.step_interior_limits(D, dof, part, np.True_)
    assert 0.0 < part < limits.BOUNDARY
    assert min(*dof.limit_forces, *dof.limit_slacks) > 0.0


@pytest.mark.parametrize(
    ("x", "dx", "expected"), [(1.0, -4.0, 0.25), (1.0, -0.5, 1.0), (1.0, 3.0, 1.0)]
)
def test_steps_to_zero(x, dx, expected):
    assert limits.step_to_zero(np.float64(x), np.float64(dx)) == expected


def test_where_there_is_no_limit_nothing_is_wrong():
    assert limits.slack_error(D, np.float64(3.0), np.float64(limits.FAR)) == 0.0
    assert limits.next_slack(D, np.float64(limits.FAR), 1.0) == limits.FAR
    assert limits.next_slack(D, np.float64(0.5), 0.25) == 0.75


def test_light_dofs_get_less():
    light, heavy = (
        limits.share_of_relaxation(D, row(1.0, effective_mass=m), 1.0) for m in (0.01, 1.0)
    )
    assert (light, heavy) == pytest.approx((0.1, 1.0))
