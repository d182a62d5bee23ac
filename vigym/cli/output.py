"""Output of commands: tables that fit the terminal, progress bars, JSON and CSV files."""

import csv
import io
import json
import os
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

from vigym.files import check_output, is_stream, write_file

Report = Callable[[float], None]  # called with the finished part, in [0, 1]
UNLIMITED = 10_000  # columns of output that is no terminal
GAP, EDGES = 3, 2  # blanks between the columns of a table, and at its ends
PLOTS, VIDEOS = (".png", ".svg", ".pdf"), (".mp4", ".gif", ".webp")  # file formats
UNCONVERGED = 3  # exit code of a finished command with steps that did not converge
STANDARD = "-"  # in place of a file: standard output
OVERWRITE = "vigym.overwrite"  # key of click's context: whether files may be replaced
NAMED = "vigym.named"  # key of click's context: option by the file that it names
QUOTED = 60  # characters of a name that an error quotes

json_option = click.option(
    "--json", "json_file", metavar="F", help="Write JSON to a file, or to standard output ('-')."
)
csv_option = click.option(
    "--csv", "csv_file", metavar="F", help="Write CSV to a file, or to standard output ('-')."
)


def _note_overwrite(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[OVERWRITE] = given


overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_note_overwrite,
    help="Replace files that exist.",
)


def on_terminal() -> bool:
    """Return whether standard output is a terminal; it is None where it is closed."""
    return sys.stdout is not None and sys.stdout.isatty()


def console() -> Console:
    """Return standard output, as wide as the terminal; unlimited without a terminal."""
    return Console(width=None if on_terminal() else UNLIMITED, highlight=False)


def print_table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Iterable[int] = (),
) -> None:
    """Print a table; the columns numbered in `right` are right-aligned."""
    rows, right = [list(row) for row in rows], set(right)
    out = console()
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
    """Return column widths that fit `room`; the first column and words stay whole if possible."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [
        max((len(word) for cell in column for word in cell.split()), default=0)
        for column in columns
    ]
    first = widths[0] if widths[0] < room // 2 else min(words[0], room // 3)
    room -= GAP * (len(columns) - 1) + EDGES
    ones = [1] * len(words)
    for least in ([first, *words[1:]], [first, *ones[1:]], ones):
        while sum(widths) > room:
            spare = [width if width > few else 0 for width, few in zip(widths, least, strict=True)]
            if not any(spare):
                break
            widths[spare.index(max(spare))] -= 1
    return widths


def writes_to_standard(json_file: str | None, csv_file: str | None = None) -> bool:
    """Return whether one of the files is standard output, so that no table may be printed.

    Raises:
        UsageError: both files are standard output, or it is closed, or a file cannot be written.
    """
    check_file(json_file, "--json")
    check_file(csv_file, "--csv")
    count = [json_file, csv_file].count(STANDARD)
    if count > 1:
        raise click.UsageError("--json and --csv: found '-' twice, expected a file for one of them")
    if count and sys.stdout is None:
        option = "--json" if json_file == STANDARD else "--csv"
        raise click.UsageError(f"{option}: found '-', but standard output is closed: name a file")
    return count == 1


def write_json(file: str | None, content: Any) -> None:
    """Write JSON to a file or standard output; None: nowhere."""
    if file is None:
        return
    _write(file, json.dumps(content, indent=2, allow_nan=False) + "\n")


def write_csv(file: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with equal keys to a file or standard output; None: nowhere."""
    if file is None:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _write(file, text.getvalue())


def _write(file: str, text: str) -> None:
    """Write a text to a file or standard output."""
    if file == STANDARD:
        sys.stdout.write(text)
    else:
        write_file(file, text)


def check_file(file: str | None, option: str, endings: tuple[str, ...] = ()) -> None:
    """Raise UsageError for a file that cannot be written, or is there and may not be replaced.

    So is one that another option of the command names.
    """
    if file is None or file == STANDARD and not endings:
        return
    if endings and Path(file).suffix.lower() not in endings:
        expected = f"expected a name that ends in {' or '.join(endings)}"
        raise click.UsageError(f"{option}: found {file!r}, {expected}")
    folder = Path(file).absolute().parent
    if not os.path.isdir(folder):
        found = shortened(str(Path(file).parent))
        raise click.UsageError(f"{option}: folder {found!r} does not exist")
    _check_other_options(file, option)
    try:
        os.stat(file)
    except FileNotFoundError:
        return _check_writable(file, option)
    except OSError as error:
        found = f"{shortened(file)!r} ({error.strerror})"
        raise click.UsageError(f"{option}: found {found}, expected the name of a file") from error
    context = click.get_current_context(silent=True)
    replaces = context is not None and context.meta.get(OVERWRITE)
    if os.path.isfile(file) and not replaces and not is_stream(file):
        raise click.UsageError(f"{option}: {file!r} exists: give another name, or --overwrite")
    _check_writable(file, option)


def _check_other_options(file: str, option: str) -> None:
    """Raise UsageError for a file, no pipe or device, that another option of the command names."""
    context = click.get_current_context(silent=True)
    if context is None or os.path.exists(file) and not os.path.isfile(file):
        return
    other = context.meta.setdefault(NAMED, {}).setdefault(os.path.realpath(file), option)
    if other != option:
        expected = f"expected another file than that of {other}"
        raise click.UsageError(f"{option}: found {shortened(file)!r}, {expected}")


def check_folder(folder: Path, option: str) -> None:
    """Raise UsageError for a name that no folder can have."""
    for name in (str(folder), *folder.parts):  # behind a missing folder no name is looked at
        try:
            os.stat(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            found = f"{shortened(str(folder))!r} ({error.strerror})"
            expected = "expected the name of a folder"
            raise click.UsageError(f"{option}: found {found}, {expected}") from error


def _check_writable(file: str, option: str) -> None:
    """Raise UsageError for a file that cannot be written; leave it as it is."""
    try:
        check_output(file)
    except OSError as error:
        found = f"{shortened(file)!r} cannot be written ({error.strerror or error})"
        raise click.UsageError(f"{option}: {found}") from error


def shortened(text: str) -> str:
    """Return a text, or its start where it is too long to be quoted."""
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}..."


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Yield a function to call with the finished part; a bar shows it on a terminal."""
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
def spinner(title: str) -> Iterator[None]:
    """Show on a terminal that work without known progress goes on."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(title):
        yield
