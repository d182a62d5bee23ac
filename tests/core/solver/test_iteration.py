"""Records of iterations: verdicts on lanes, and how long a method may take."""

import numpy as np
import pytest

from scenes.plain_python import step_of
from scenes.touching_scenes import puck
from vigym import Simulator
from vigym.core.solver import attempts, iteration

H = 0.01
TRUE, FALSE = np.True_, np.False_
METHODS = {
    name: method for name, method in vars(attempts).items() if isinstance(method, iteration.Method)
}


def solution(done, failed):
    return iteration.Solution(done, failed, np.float64(7.0), np.float64(1e-12), TRUE)


@pytest.mark.parametrize("wrong", [TRUE, FALSE])
@pytest.mark.parametrize(("done", "failed"), [(TRUE, FALSE), (FALSE, TRUE), (FALSE, FALSE)])
def test_a_rejected_lane_has_failed_and_is_not_done(done, failed, wrong):
    """A lane that idles has no solution to reject: nobody calls it wrong."""
    solved = iteration.reject_lanes(solution(done, failed), wrong & done)
    assert not (solved.done & solved.failed)
    assert solved.done | solved.failed == done | failed
    assert solved.done == (done & ~wrong)
    assert solved[2:] == solution(done, failed)[2:]


@pytest.mark.parametrize("name", METHODS)
def test_an_attempt_is_given_up_after_the_iterations_of_its_method(name):
    """Here without a tolerance, which no residual satisfies."""
    method = METHODS[name]
    sim = Simulator(puck(), timestep=H)
    sim.reset(velocities={"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)})
    d, step = step_of(sim, H)
    d.environment.iterations_left = 1e6
    done, count, _, _ = attempts.attempt(d, step, TRUE, method, 0.0)
    assert not done
    assert 0.0 < count <= iteration.max_iterations(method)
    assert iteration.max_iterations(method) < iteration.max_iterations(attempts.SPLITTING) or (
        method == attempts.SPLITTING
    )
    assert method.brief == (iteration.max_iterations(method) < iteration.ITERATIONS)
