"""Search for the parameters of a controller, by a hill climb or CMA-ES, in batches of candidates.

python train/search.py vigym/Quadruped-v1 -c sine_gait --measure distance
python train/search.py vigym/Minitaur-v0 -c trot -p frequency=2:0.5 -p swing=0.3:0.1 --method cma
"""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from vigym.cli.evaluate import option_option
from vigym.cli.output import print_table, progress_bar
from vigym.training.search import METHODS, Candidate, Parameter, Search, search_parameters


def read_parameters(context: Any, option: Any, texts: tuple[str, ...]) -> dict[str, Parameter]:
    """Return the parameters of texts NAME=START:SPREAD[:LOWER:UPPER]."""
    found = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        try:
            found[name] = Parameter(*map(float, numbers.split(":")))
        except (TypeError, ValueError) as error:
            expected = "expected NAME=START:SPREAD or NAME=START:SPREAD:LOWER:UPPER"
            raise click.BadParameter(f"found {text!r}, {expected} ({error})") from error
    return found


@click.command()
@click.argument("env_id", metavar="ID")
@click.option("-c", "--controller", required=True, help="Name, or module:name of your own.")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    callback=read_parameters,
    metavar="NAME=START:SPREAD[:LOWER:UPPER]",
    help="Parameter to search.  [default: those known for the controller]",
)
@option_option
@click.option("--method", type=click.Choice(list(METHODS)), default="climb", show_default=True)
@click.option("--measure", default="return_", show_default=True, help="Figure to be large.")
@click.option("--episodes", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--batch", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("-s", "--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="JSON of all.")
def main(out: Path | None, **settings: Any) -> None:
    """Search for the best parameters of a controller in the environment ID and print them."""
    start = time.perf_counter()
    try:
        search = Search(**settings)
        with progress_bar("search") as progress:
            candidates = search_parameters(search, progress)
    except (ImportError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    seconds = time.perf_counter() - start
    if out is not None:
        out.write_text(json.dumps([asdict(one) for one in candidates], indent=1) + "\n")
    report(search, candidates, seconds)


def report(search: Search, candidates: list[Candidate], seconds: float) -> None:
    """Print the best candidate beside the start, and what became of the others."""
    best = max(candidates, key=lambda one: one.merit)
    rows = [
        [name, f"{parameter.start:.4g}", f"{best.parameters[name]:.4g}"]
        for name, parameter in search.space.items()
    ]
    rows.append([search.measure, "", f"{best.score:.4g}"])
    title = f"{search.env_id}, {search.method}, seed {search.seed}, {len(candidates)} episodes"
    print_table(f"{title} in {seconds:.1f} s", ["", "start", "best"], rows, right=[1, 2])
    failed = sum(one.episode.failed for one in candidates)
    unsolved = sum(one.episode.unconverged_steps > 0 for one in candidates)
    print(f"{failed} episodes failed, {unsolved} of them by a step that the solver could not make")
    print(f"play it again: vigym record {search.env_id} -c {best.controller} --seed {search.seed}")


if __name__ == "__main__":
    main()
