"""Line search: errors along an increment, the length that is chosen, and parts of an increment."""

import numpy as np
import pytest

from scenes.plain_python import TOLERANCE, Fields, evaluated_step
from scenes.touching_scenes import double_pendulum, puck
from vigym import Simulator
from vigym.core.solver import line_search
from vigym.core.solver.attempts import PROJECTIONS
from vigym.core.solver.iteration import Iteration, LawErrors

H = 0.01
ONE = np.float64(1.0)
ITERATION = Iteration(1, PROJECTIONS, 1e-5, 0.0, 0.0, ONE, ONE, ONE, TOLERANCE)


def sliding():
    """Three balls that slide as one body and spin."""
    sim = Simulator(puck(), timestep=H)
    sim.reset(velocities={"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)})
    assert sim.step().converged
    return sim


def between_limits():
    """Two rods with dry friction that fall on their limits."""
    sim = Simulator(double_pendulum((-0.2, 0.2), (-0.1, 0.1), friction=0.3), timestep=H)
    sim.reset([0.2, 0.05], [2.0, 3.0])
    return sim


@pytest.mark.parametrize("make", [sliding, between_limits])
def test_errors_of_laws_before_and_after_the_increment_are_those_of_the_evaluation(make):
    d, step, found = evaluated_step(make(), H)
    assert found.nonsmooth
    assert found.squared_errors > 1e-3
    for length, expected in ((0.0, found.squared_errors), (1.0, found.errors.squared)):
        squared = line_search.squared_law_errors(d, np.float64(length), 1.0 / step.h, 1e-5, True)
        assert squared == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("make", [sliding, between_limits])
def test_two_halves_of_an_increment_are_the_whole(make):
    ends = []
    for count in (1, 2):
        d, step, _ = evaluated_step(make(), H)
        forces = [d.contact(c) for c in range(d.contact_count)] + [
            d.dof(p) for p in range(d.dof_count)
        ]
        goals = [
            np.array(row.affine_force if hasattr(row, "affine_force") else row.affine_forces)
            for row in forces
        ]
        assert not line_search.take_step(d, step, ONE, np.False_, False)  # of other lanes nothing
        start = [np.array(row.force if hasattr(row, "force") else row.forces) for row in forces]
        for part in range(count):
            line_search.take_step(d, step, ONE / (count - part), np.True_, False)
        ends.append(np.array(d.pose(step.knot3, 1).velocity))
        for row, goal in zip(forces, goals, strict=True):
            assert np.array(row.force if hasattr(row, "force") else row.forces) == pytest.approx(
                goal, abs=1e-9
            )
        assert any(
            np.abs(goal - first).max() > 1e-2 for goal, first in zip(goals, start, strict=True)
        )


def searched(monkeypatch, squared, longest=ONE):
    """Length chosen for an error that is a function of it."""
    monkeypatch.setattr(
        line_search,
        "squared_law_errors",
        lambda d, length, *given: np.float64(squared(length)),
    )
    errors = LawErrors(ONE, np.float64(squared(1.0)), ONE, ONE, ONE)
    found = Fields(nonsmooth=np.True_, squared_errors=np.float64(squared(0.0)), errors=errors)
    return line_search.search_step_length(Fields(), longest, 1e-20, 1.0 / H, ITERATION, found)


def test_increments_are_halved_until_errors_fall(monkeypatch):
    assert searched(monkeypatch, lambda x: (1.0 - x) ** 2) == 1.0
    assert searched(monkeypatch, lambda x: (1.0 - 3.0 * x) ** 2) == 0.5
    assert searched(monkeypatch, lambda x: (1.0 - 15.0 * x) ** 2) == 0.125
    assert searched(monkeypatch, lambda x: (1.0 - 3.0 * x) ** 2, ONE / 8.0) == 0.125


def test_where_errors_only_grow_the_best_length_is_taken(monkeypatch):
    assert searched(monkeypatch, lambda x: 1.0 + (x - 0.25) ** 2 if x else 1.0) == 0.25


@pytest.mark.parametrize(("rotation", "most"), [(0.1, 1.0), (4.0, 1.0), (0.1, 0.3)])
def test_no_body_turns_too_far_and_forces_stay_in_their_cones(rotation, most):
    found = Fields(nonsmooth=np.False_, errors=LawErrors(ONE, ONE, np.float64(most), ONE, ONE))
    length = line_search.choose_step_length(
        Fields(), Fields(h=H), np.float64(rotation), found, ITERATION
    )
    assert length == min(most, 1.0, line_search.MAX_ROTATION / rotation)


def test_laws_are_softened_and_become_firm_again():
    prox = np.float64(1e-5)
    firm, sizes = np.float64(1e-5), []
    for refused in (True, False, False, False, False):
        prox = line_search.choose_firmness(prox, np.bool_(refused), firm)
        sizes.append(prox)
    assert sizes[0] == line_search.SOFTENED_PROX
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == firm
