"""Vectors to train in: spread episodes, and the same steps in several processes."""

from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from scenes.env_cases import assert_same
from vigym.training.environments import TimedVecEnv

ID = "vigym/Pendulum-v0"


def test_processes_change_no_step_of_a_training():
    made = [TimedVecEnv(ID, 4, {"max_episode_steps": 8}, p, spread=True) for p in (2, None)]
    with closing(made[0]) as several, closing(made[1]) as one:
        several.seed(3), one.seed(3)
        assert_same(several.reset(), one.reset())
        assert_same(several.get_attr("episode_steps"), [np.array([0, 2, 4, 6])] * 4)
        for _ in range(12):
            found, expected = several.step(np.ones((4, 1))), one.step(np.ones((4, 1)))
            for infos in (found[3], expected[3]):
                for info in infos:
                    info.get("episode", {}).pop("t", None)  # of the clock
            assert_same(found, expected)


def test_processes_are_for_tasks_of_vigym():
    with pytest.raises(ValueError, match="option processes: found 2, expected none: CartPole-v1"):
        TimedVecEnv("CartPole-v1", 4, {}, 2)
