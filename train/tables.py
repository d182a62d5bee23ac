"""Tables of training: recipes, scores and curves of finished runs, and the best of these.

python train/tables.py runs --write train/results.md    # into the page, between its marks
python train/tables.py runs                             # to the screen
python train/tables.py runs --seeds                     # means over seeds alone; needs scipy
"""

import csv
import json
import re
import sys
from math import isfinite
from pathlib import Path
from typing import Any

import click
import numpy as np

from vigym.envs.registry import EARLIER, ENVIRONMENTS
from vigym.evaluation.evaluate import evaluate
from vigym.evaluation.tables import deviation_of, with_deviation
from vigym.policies.shipped import shipped_ids
from vigym.training.recipes import DEFAULTS, PPO, Recipe

PREFIX = "vigym/"
TENTHS = 10  # columns of the table of curves
# controllers beside which the policies of the package are measured
SCRIPTED = {
    "vigym/Pendulum-v0": "energy_swing_up",
    "vigym/InvertedDoublePendulum-v0": "lqr",
    "vigym/Acrobot-v0": "energy_swing_up",
    "vigym/MinitaurLeg-v0": "hop",
    "vigym/Minitaur-v0": "trot",
    "vigym/Quadruped-v1": "sine_gait",
    "vigym/QuadrupedCommand-v1": "zero",
    "vigym/Exoskeleton-v0": "tracking",
    "vigym/Snake-v0": "lateral_undulation",
    "vigym/SnakeSidewinding-v0": "sidewinding",
}
EPISODES, SEED = 10, 4_000_000  # neither training nor the cards of policies played these


def finished_runs(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return folder and `results.json` of the finished runs of vigym's environments, in order.

    Args:
        folder: which has the folders of the runs.
    """
    order = [entry.id for entry in (*ENVIRONMENTS, *EARLIER)]
    found = [(file.parent, json.loads(file.read_text())) for file in folder.glob("*/results.json")]
    own = [(run, row) for run, row in found if row["env"] in order]
    return sorted(own, key=lambda each: (order.index(each[1]["env"]), each[1]["seed"]))


def seed_table(folder: Path) -> str:
    """Return the mean return over the seeds of each environment, those of others included.

    Intervals are bootstrapped ones of 95 %, of three seeds or more.

    Args:
        folder: which has the folders of the runs.
    """
    from scipy.stats import bootstrap  # type: ignore[import-untyped]

    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("*/results.json")):
        row = json.loads(file.read_text())
        groups.setdefault((row["env"].removeprefix(PREFIX), row["timesteps"]), []).append(row)
    head = ["environment", "control steps", "seeds", "return", "95 %", "success"]
    rows = []
    for (name, steps), group in sorted(groups.items()):
        returns = [row["mean_return"] for row in group]
        interval = "-"
        if len(returns) >= 3:
            found = bootstrap((returns,), np.mean, rng=0, method="percentile").confidence_interval
            interval = f"{found.low:.1f} to {found.high:.1f}"
        rates = [row["success_rate"] for row in group if row["success_rate"] is not None]
        success = f"{100.0 * np.mean(rates):.0f} %" if rates else ""
        seeds = ", ".join(str(seed) for seed in sorted(row["seed"] for row in group))
        minutes = f"{np.mean([row['processor_minutes'] for row in group]):.1f}"
        rows.append(
            [name, f"{steps:,}", seeds, f"{np.mean(returns):.1f}", interval, success, minutes]
        )
    return markdown([*head, "minutes of processor"], rows)


def markdown(head: list[str], rows: list[list[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def recipe_table() -> str:
    """Return what the recipe of each environment has that differs from the default one."""
    rows = [
        [env_id.removeprefix(PREFIX), f"{recipe.n_timesteps:,}", _differences(recipe)]
        for env_id, recipe in PPO.items()
    ]
    return markdown(["environment", "control steps", "what differs"], rows)


def _differences(recipe: Recipe) -> str:
    default = DEFAULTS["ppo"]
    algorithm = {"policy_kwargs": {"log_std_init": 0.0}} | recipe.algorithm  # its own default
    parts = {
        name: value for name, value in algorithm.items() if value != default.algorithm.get(name)
    }
    for name in ("n_envs", "learning_rate", "normalize"):
        if getattr(recipe, name) != getattr(default, name):
            parts[name] = getattr(recipe, name)
    parts |= parts.pop("policy_kwargs", {})
    texts = [f"`{name}` {value}" for name, value in parts.items()]
    texts += [f"trained with `{name}` {value:.4g}" for name, value in recipe.training.items()]
    return ", ".join(texts) or "nothing"


def score_table(runs: list[tuple[Path, dict[str, Any]]]) -> str:
    """Return the scores of runs, a row each."""
    head = [
        *("environment", "seed", "control steps", "minutes of processor", "return", "success"),
        *("episode length", "energy balance, largest [J]", "constraint residual, largest"),
        *("unsolved steps", "environment steps/s"),
    ]
    rows = []
    for _, row in runs:
        success = row["success_rate"]
        rows.append(
            [
                row["env"].removeprefix(PREFIX),
                row["seed"],
                row["timesteps"],
                f"{row['processor_minutes']:.1f}",
                with_deviation(row["mean_return"], row["return_deviation"], ".1f"),
                "" if success is None else f"{100.0 * success:.0f} %",
                f"{row['mean_length']:.0f}",
                f"{row['energy_balance']:.1e}",
                f"{row['constraint_residual']:.0e}",
                row["solver_failures"],
                f"{row['steps_per_second']:.0f}",
            ]
        )
    return markdown(head, rows)


def curve_table(runs: list[tuple[Path, dict[str, Any]]]) -> str:
    """Return the mean returns of the evaluations in training, a row for each run."""
    head = ["environment", "seed", *(f"{100 * part // TENTHS} %" for part in range(1, TENTHS + 1))]
    rows = []
    for run, row in runs:
        with (run / "curve.csv").open(newline="") as file:
            points = [(int(line["steps"]), float(line["return"])) for line in csv.DictReader(file)]
        last = points[-1][0]
        cells = [_nearest(points, last * part / TENTHS) for part in range(1, TENTHS + 1)]
        name = row["env"].removeprefix(PREFIX)
        rows.append([name, row["seed"], *(f"{cell:.3g}" for cell in cells)])
    return markdown(head, rows)


def _nearest(points: list[tuple[int, float]], steps: float) -> float:
    """Return the value of the point that is nearest to a number of steps."""
    distances = [abs(at - steps) for at, _ in points]
    return points[distances.index(min(distances))][1]


def scripted_table() -> str:
    """Return returns, speeds and powers of scripted controllers and of the package's policies."""
    rows = []
    for env_id, scripted in SCRIPTED.items():
        for controller in (scripted, "trained") if env_id in shipped_ids() else (scripted,):
            scores = evaluate(env_id, controller, EPISODES, SEED)
            returns = scores.column("return_")
            speed, power, cost = (
                scores.column(name).mean() for name in ("speed", "power", "cost_of_transport")
            )
            travels = isfinite(speed)
            rows.append(
                [
                    env_id.removeprefix(PREFIX),
                    f"`{controller}`",
                    with_deviation(returns.mean(), deviation_of(returns), ".1f"),
                    f"{speed:.2f}" if travels else "",
                    f"{power:.1f}" if isfinite(power) else "",
                    f"{cost:.2f}" if travels and isfinite(cost) else "",
                ]
            )
    head = ["environment", "controller", "return", "speed [m/s]", "power [W]", "cost of transport"]
    return markdown(head, rows)


def best_runs(runs: list[tuple[Path, dict[str, Any]]]) -> list[Path]:
    """Return the run of each environment whose policy has the best mean return."""
    best: dict[str, tuple[float, Path]] = {}
    for run, row in runs:
        known = best.get(row["env"])
        if known is None or row["mean_return"] > known[0]:
            best[row["env"]] = row["mean_return"], run
    return [run for _, run in best.values()]


def with_tables(text: str, tables: dict[str, str]) -> str:
    """Return a page with tables between its marks `<!-- NAME -->` and `<!-- end -->`.

    Raises:
        ValueError: the page lacks a mark.
    """
    for name, table in tables.items():
        found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)
        if found is None:
            raise ValueError(f"page: found no mark <!-- {name} --> with <!-- end --> after it")
        text = f"{text[: found.start(1)]}\n{table}\n\n{text[found.end(1) :]}"
    return text


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--write", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--scripted", is_flag=True, help="Scripted controllers, too: they play episodes.")
@click.option("--seeds", is_flag=True, help="Print means over seeds alone.")
def main(folder: Path, write: Path | None, scripted: bool, seeds: bool) -> None:
    """Print tables of the runs in FOLDER, or write them into a page."""
    if seeds:
        print(seed_table(folder))
        return
    runs = finished_runs(folder)
    tables = {"recipes": recipe_table(), "scores": score_table(runs), "curves": curve_table(runs)}
    if scripted:
        tables["scripted"] = scripted_table()
    if write is None:
        print("\n\n".join(tables.values()))
    else:
        write.write_text(with_tables(write.read_text(), tables))
    print("best of each environment:", *map(str, best_runs(runs)), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
