"""Tables of runs by `train/tables.py`: rows, the best run, marks of a page; spread first episodes."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from click.testing import CliRunner

from vigym.training.environments import TimedVecEnv

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "train" / "tables.py"))
PAGE = "# Runs\n\n<!-- recipes -->\n<!-- end -->\n\n<!-- scores -->\nold\n<!-- end -->\n\nEnd.\n"
CURVE = "steps,return\n100,1.0\n200,23.456\n"
SCORES = {
    **{"timesteps": 200, "processor_minutes": 1.25, "return_deviation": 0.5, "success_rate": 0.98},
    **{"mean_length": 300.0, "energy_balance": 1e-3, "constraint_residual": 2e-12},
    **{"solver_failures": 0, "steps_per_second": 1234.5},
}


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    found = ("Snake", 10, 5.0), ("Pendulum", 11, 8.0), ("Pendulum", 10, 7.0)
    for name, seed, mean in found:
        run = folder / f"{name}-seed{seed}"
        run.mkdir(parents=True)
        row = {"env": f"vigym/{name}-v0", "seed": seed, "mean_return": mean, **SCORES}
        (run / "results.json").write_text(json.dumps(row))
        (run / "curve.csv").write_text(CURVE)
    other = folder / "other"
    other.mkdir()
    (other / "results.json").write_text(json.dumps({"env": "CartPole-v1", "seed": 0}))
    return folder


def test_tables_have_a_row_for_each_run_in_order(runs):
    found = SCRIPT["finished_runs"](runs)
    rows = SCRIPT["score_table"](found).splitlines()[2:]
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| Pendulum-v0", "10"],
        ["| Pendulum-v0", "11"],
        ["| Snake-v0", "10"],
    ]
    assert "| 1.2 | 7.0 ± 0.5 | 98 % | 300 | 1.0e-03 | 2e-12 | 0 | 1234 |" in rows[0]
    alone = SCRIPT["score_table"]([(run, row | {"return_deviation": None}) for run, row in found])
    assert "| 1.2 | 7.0 | 98 % |" in alone
    curve = SCRIPT["curve_table"](found).splitlines()[4]
    assert curve == f"| Snake-v0 | 10 |{' 1 |' * 7}{' 23.5 |' * 3}"
    assert SCRIPT["best_runs"](found) == [runs / "Pendulum-seed11", runs / "Snake-seed10"]


def test_means_over_seeds(tmp_path):
    pytest.importorskip("scipy")
    for name in ("vigym/Snake-v0", "Snake-v5"):
        for seed, mean in enumerate((1.0, 2.0, 6.0) if name == "Snake-v5" else (4.0, 5.0)):
            (tmp_path / f"{seed}{name[-1]}").mkdir()
            row = {"env": name, "seed": seed, "mean_return": mean, **SCORES}
            (tmp_path / f"{seed}{name[-1]}" / "results.json").write_text(json.dumps(row))
    rows = SCRIPT["seed_table"](tmp_path).splitlines()[2:]
    assert rows == [
        "| Snake-v0 | 200 | 0, 1 | 4.5 | - | 98 % | 1.2 |",
        "| Snake-v5 | 200 | 0, 1, 2 | 3.0 | 1.0 to 6.0 | 98 % | 1.2 |",
    ]


def test_a_page_gets_its_tables(runs, tmp_path):
    page = tmp_path / "results.md"
    page.write_text(PAGE + "<!-- curves -->\n<!-- end -->\n")
    for _ in range(2):  # tables are replaced
        done = CliRunner().invoke(SCRIPT["main"], [str(runs), "--write", str(page)])
        assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.count("| Pendulum-v0 | 10 |") == 2
    assert "old" not in text
    assert text.index("| CartPole-v0 | 500,000 |") < text.index("End.")
    with pytest.raises(ValueError, match="found no mark <!-- curves -->"):
        SCRIPT["with_tables"](PAGE, {"curves": ""})


def test_first_episodes_of_a_training_end_one_after_the_other():
    for spread in (False, True):
        envs = TimedVecEnv("vigym/Pendulum-v0", 4, {"max_episode_steps": 8}, spread=spread)
        envs.seed(0)
        envs.reset()
        rest = np.zeros((4, 1), dtype=np.float32)
        ends = np.array([envs.step(rest)[2] for _ in range(16)])
        last = [np.flatnonzero(column).tolist() for column in ends.T]
        first = (8, 6, 4, 2) if spread else (8, 8, 8, 8)
        assert last == [list(range(one - 1, 16, 8)) for one in first]
        envs.close()
