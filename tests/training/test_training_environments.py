"""Vectors to train in: spread episodes, the same steps in several processes, and a curriculum."""

from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from scenes.env_cases import assert_same
from vigym.training.environments import CurriculumCallback, TimedVecEnv
from vigym.training.run import TrainingRun, train

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


def test_a_curriculum_changes_the_options_of_all_environments():
    made = TimedVecEnv(ID, 2, {})
    callback = CurriculumCallback(lambda progress, returns: {"reset_noise_scale": progress}, 100)
    with closing(made) as envs:
        for steps, expected in ((0, 0.0), (50, 0.5), (200, 1.0)):
            callback.change(envs, steps, [])
            assert [task.reset_noise_scale for task in envs.get_attr("task")] == [expected] * 2
        with pytest.raises(ValueError, match="option curriculum: found 3, expected a dictionary"):
            CurriculumCallback(lambda progress, returns: 3, 100).change(envs, 0, [])
        with pytest.raises(ValueError, match="curriculum: options of Pendulum: found 'nix'"):
            CurriculumCallback(lambda progress, returns: {"nix": 1}, 100).change(envs, 0, [])


def test_a_training_asks_its_curriculum_before_each_rollout(tmp_path):
    calls = []
    with pytest.raises(
        ValueError, match="curriculum: .* expected none: CartPole-v1 is not of vigym"
    ):
        train(TrainingRun(env_id="CartPole-v1", out=tmp_path, curriculum=calls.append))

    def curriculum(progress, returns):
        calls.append((progress, len(returns)))
        return {"control_weight": 0.1 * progress}

    small = {"n_envs": 4, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "n_timesteps": 256}
    options = {"max_episode_steps": 10}
    more = {"hyperparameters": small, "options": options, "episodes": 1, "curriculum": curriculum}
    train(TrainingRun(env_id=ID, out=tmp_path, **more))
    assert [progress for progress, _ in calls] == [0.0, 0.0, 0.25, 0.5, 0.75]
    assert [count for _, count in calls][:2] == [0, 0]
    assert calls[-1][1] > calls[2][1] >= 4  # episodes
