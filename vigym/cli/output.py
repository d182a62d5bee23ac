"""Tables that fit the terminal, bars on what takes long, files for machines."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

Report = Callable[[float], None]  # told the part that is done, in [0, 1]
ENDLESS = 10_000  # columns where no terminal folds lines
GAP, EDGES = 3, 2  # blanks between the columns of a table, and at its ends
PICTURES, FILMS = (".png", ".svg", ".pdf"), (".mp4",)  # what can be written
UNSOLVED = 3  # exit code where all was done, but the solver could not make some step
STANDARD = "-"  # in place of a file: standard output

json_option = click.option(
    "--json", "json_file", metavar="F", help="Write JSON into a file, or '-' to standard output."
)
csv_option = click.option("--csv", "csv_file", metavar="F", help="Write CSV into a file, or '-' to standard output.")


def console() -> Console:
    """Return standard output, as wide as the terminal, or endless where there is none."""
    return Console(width=None if sys.stdout.isatty() else ENDLESS, highlight=False)


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> None:
    """Print a table; columns numbered in `right` are flush right."""
    rows, out = [list(row) for row in rows], console()
    widths = _widths([head, *rows], out.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, name in enumerate(head):
        justify: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(Text(name), justify=justify, overflow="fold", width=widths[column])
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    with out.capture() as capture:
        out.print(table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    if title:
        out.print(Text(title, style="bold"))
    print("\n".join(line for line in lines if line))


def _widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of columns in so much room: words stay whole while they can, names in front the longest."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    first = widths[0] if widths[0] < room // 2 else min(words[0], room // 3)
    room -= GAP * (len(columns) - 1) + EDGES
    for least in ([first, *words[1:]], [first, *[1] * (len(words) - 1)], [1] * len(words)):
        while sum(widths) > room:
            spare = [width if width > few else 0 for width, few in zip(widths, least, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths


def to_standard(json_file: str | None, csv_file: str | None = None) -> bool:
    """Whether one of the files is standard output, so that tables would be in the way.

    Raises:
        UsageError: both are, or one could not be written.
    """
    checked_file(json_file, "--json")
    checked_file(csv_file, "--csv")
    count = [json_file, csv_file].count(STANDARD)
    if count > 1:
        raise click.UsageError("--json and --csv: found '-' twice, expected a file for one of them")
    return count == 1


def write_json(file: str | None, content: Any) -> None:
    """Write JSON to a file, or standard output; None writes nothing."""
    if file is not None:
        _write(file, json.dumps(content, indent=2, allow_nan=False) + "\n")


def write_csv(file: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of the same keys to a file, or standard output; None writes nothing."""
    if file is None:
        return
    with open(file, "w", newline="") if file != STANDARD else _kept(sys.stdout) as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def checked_file(file: str | None, option: str, endings: tuple[str, ...] = ()) -> None:
    """Raise UsageError, before the work is done, for a file that could not be written."""
    if file is None or file == STANDARD and not endings:
        return
    if endings and Path(file).suffix.lower() not in endings:
        raise click.UsageError(f"{option}: found {file!r}, expected a name that ends in {' or '.join(endings)}")
    if not Path(file).absolute().parent.is_dir():
        raise click.UsageError(f"{option}: found no folder {str(Path(file).parent)!r}, expected one that is there")


@contextmanager
def bar(title: str) -> Iterator[Report]:
    """Yield what is to be told the part that is done; a bar shows it where there is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=1.0)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show that something goes on, for what cannot tell how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(title):
        yield


def _write(file: str, text: str) -> None:
    if file == STANDARD:
        sys.stdout.write(text)
    else:
        Path(file).write_text(text)


@contextmanager
def _kept(stream: Any) -> Iterator[Any]:
    yield stream
