"""PPO of RLlib by the recipes: files of a run, and its checkpoint as a controller."""

import json
import re

import pytest

import vigym

pytest.importorskip("ray.rllib")
pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
import ray

from vigym.evaluation.tables import as_row
from vigym.training.rllib import RllibRun, train

ID = "vigym/Pendulum-v0"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Short run of two processes beside the one that learns."""
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    settings = RllibRun(
        env_id=ID,
        out=tmp_path_factory.mktemp("run"),
        options={"max_episode_steps": 50},
        runners=2,
        timesteps=8192,
        episodes=3,
    )
    train(settings)
    yield settings
    ray.shutdown()


def test_a_run_writes_its_scores_and_its_newest_checkpoint_is_a_controller(run):
    row = json.loads((run.out / "results.json").read_text())
    assert (row["env"], row["learner"], row["runners"]) == (ID, "rllib", 2)
    steps = sorted(int(path.name) for path in (run.out / "checkpoints").iterdir())
    assert len(steps) == 2
    assert row["timesteps"] == steps[-1] >= 8192
    newest = run.out / "checkpoints" / str(steps[-1])
    by_run, by_checkpoint, shared, first = (
        [as_row(row) for row in vigym.evaluate(ID, str(path), 3, together=2, **more).rows]
        for path, more in (
            (run.out, {}),
            (newest, {}),
            (run.out, {"workers": 2}),
            (newest.with_name(str(steps[0])), {}),
        )
    )
    assert by_run == by_checkpoint == shared
    assert first != by_run


def test_what_is_no_checkpoint_is_refused(run, tmp_path):
    message = (
        f"controller '{re.escape(str(tmp_path))}': found no .*, expected a checkpoint of RLlib"
    )
    with pytest.raises(ValueError, match=message):
        vigym.evaluate(ID, str(tmp_path), 1)
    with pytest.raises(ValueError, match=r"found observation space \(3,\), expected \(5,\)"):
        vigym.evaluate("vigym/CartPole-v0", str(run.out), 1)
