"""What ends episodes: their time, an aim, a failure of the task or of the solver."""

import vigym  # noqa: F401  registers the environments
from vigym.evaluation.evaluate import evaluate
from vigym.evaluation.tables import table_of


def test_an_aim_that_ends_an_episode_is_no_failure_and_its_table_tells():
    scored = evaluate("vigym/Acrobot-v0", "energy_swing_up", episodes=3)
    assert [(row.terminated, row.failed, row.reached_goal) for row in scored.rows] == [
        (True, False, True)
    ] * 3
    lines = {line[0]: line[1:] for line in table_of([scored])}
    assert lines["goal reached"] == ["episodes", "3"]
    assert lines["failed before the time limit"] == ["episodes", "0"]
    idle = evaluate("vigym/Acrobot-v0", "zero", episodes=2)
    assert [(row.terminated, row.failed, row.reached_goal) for row in idle.rows] == [
        (False, False, False)
    ] * 2
    lost = evaluate("vigym/Acrobot-v0", "zero", episodes=2, options={"timestep": 1e4})
    assert [(row.unconverged_steps, row.failed, row.reached_goal) for row in lost.rows] == [
        (1, True, False)
    ] * 2
    assert lost.unconverged_episodes == 2
    assert "goal reached" not in {
        line[0] for line in table_of([evaluate("vigym/Pendulum-v0", "zero", 1)])
    }
