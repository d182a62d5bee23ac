"""Tables of training: recipes, scores and curves of finished runs, and the best of these.

python train/tables.py runs --write train/results.md    # into the page, between its marks
python train/tables.py runs                             # to the screen
"""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import click

from vigym.envs.registry import ENVIRONMENTS
from vigym.training.recipes import DEFAULTS, PPO, Recipe

PREFIX = "vigym/"
TENTHS = 10  # columns of the table of curves


def finished_runs(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return folder and `results.json` of the finished runs of vigym's environments, in order.

    Args:
        folder: which has the folders of the runs.
    """
    order = [entry.id for entry in ENVIRONMENTS]
    found = [(file.parent, json.loads(file.read_text())) for file in folder.glob("*/results.json")]
    own = [(run, row) for run, row in found if row["env"] in order]
    return sorted(own, key=lambda each: (order.index(each[1]["env"]), each[1]["seed"]))


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
    parts = {
        name: value
        for name, value in recipe.algorithm.items()
        if value != default.algorithm.get(name)
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
                f"{row['mean_return']:.1f} ± {row['return_deviation']:.1f}",
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
            returns = [float(line["return"]) for line in csv.DictReader(file)]
        cells = [f"{value:.3g}" for value in returns[:TENTHS]]
        name = row["env"].removeprefix(PREFIX)
        rows.append([name, row["seed"], *cells, *([""] * (TENTHS - len(cells)))])
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
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"page: found no mark <!-- {name} --> with <!-- end --> after it")
        text = pattern.sub(lambda mark, table=table: f"{mark[1]}\n{table}\n\n{mark[2]}", text)
    return text


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--write", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(folder: Path, write: Path | None) -> None:
    """Print tables of the runs in FOLDER, or write them into a page."""
    runs = finished_runs(folder)
    tables = {"recipes": recipe_table(), "scores": score_table(runs), "curves": curve_table(runs)}
    if write is None:
        print("\n\n".join(tables.values()))
    else:
        write.write_text(with_tables(write.read_text(), tables))
    print("best of each environment:", *map(str, best_runs(runs)), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
