"""What the scripts of this folder share: their command line, pictures, tables and times."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vigym.evaluation.speed.timing import table

# colours of vigym and of other methods
OURS = "#1f5fa8"
THEIRS = "#c8402f"
THIRD = "#d9a21b"
# sizes: of a test, of the page, of the paper
QUICK = "quick"
PAGE = "page"
FULL = "full"
ROUNDS = 20  # of a short job
LEAST = 1e-3  # processor time that a measurement takes at least [s]
# functions that restore the start and make the steps, and the number of steps
Run = tuple[Callable[[], object], Callable[[], object], int]


def command(main: Callable[[str, str], object]) -> None:
    """Call `main(out, size)` of a script as its command line asks."""
    module = sys.modules[main.__module__]
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=module.__doc__, formatter_class=style)
    stem = Path(str(module.__file__)).stem
    parser.add_argument("--out", metavar="FILE", default=f"{stem}.png", help="of the picture")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--quick", action="store_true", help="a small setting, for tests")
    group.add_argument("--full", action="store_true", help="the paper's own setting")
    given = parser.parse_args()
    main(given.out, QUICK if given.quick else FULL if given.full else PAGE)


def panels(rows: int, columns: int, titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Return a figure, and its panels with their titles."""
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel, title in zip(axes, titles, strict=True):
        panel.set_title(title, fontsize=10)
        panel.grid(alpha=0.3)
        panel.tick_params(labelsize=8)
    return figure, axes


def over(panel: Axes, counts: Sequence[int], name: str, value: str) -> None:
    """Label logarithmic axes of values over numbers of things."""
    panel.set(xscale="log", xlabel=name, ylabel=value)
    panel.set_xticks(list(counts), [str(count) for count in counts])
    panel.minorticks_off()
    if panel.get_yscale() == "log":
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** 0.6)  # place for the legend


def save(figure: Figure, out: str) -> None:
    """Write a figure, with a legend in each panel that has labels."""
    for panel in figure.axes:
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize=7, framealpha=0.8)
    figure.savefig(out, dpi=100)
    print(f"wrote {out}\n")


def report(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; numbers have three digits."""
    print(table(title, head, [[_cell(value) for value in row] for row in rows]))


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(_cell(each) for each in value)
    if isinstance(value, str):
        return value
    return "" if value != value else f"{value:.3g}"  # nothing: not known


def repeated(job: Callable[[], object]) -> Run:
    """Return a run that does a job several times."""

    def run() -> None:
        for _ in range(ROUNDS):
            job()

    return dict, run, ROUNDS


def step_times(runs: Sequence[Run], repeats: int) -> list[float]:
    """Return the least processor time of a step [s] of runs that take turns.

    Args:
        runs: what is timed.
        repeats: number of turns, beside one that compiles.
    """
    found = []
    for _ in range(repeats + 1):
        for prepare, run, steps in runs:
            spent, made = 0.0, 0
            while spent < LEAST:  # a coarse clock may not move in a short run
                prepare()
                begun = time.process_time()
                run()
                spent, made = spent + time.process_time() - begun, made + steps
            found.append(spent / made)
    turns = [found[turn : turn + len(runs)] for turn in range(0, len(found), len(runs))]
    return [min(times) for times in zip(*turns[1:], strict=True)]
