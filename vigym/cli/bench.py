"""Command `vigym bench`: speed of environments."""

from typing import Any

import click

from vigym.cli.evaluate import find_environment, option_option
from vigym.cli.output import (
    csv_option,
    json_option,
    overwrite_option,
    print_table,
    progress_bar,
    write_csv,
    write_json,
    writes_to_standard,
)

HEAD = [
    "id",
    "environments",
    "environment steps/s",
    "physics steps/s",
    "step [us]",
    "physics [us]",
    "reset [us]",
    "memory [kB]",
]


def parse_counts(context: click.Context, parameter: click.Parameter, text: str) -> list[int]:
    """Return the numbers of "1,8,64".

    Raises:
        BadParameter: a text of another form.
    """
    words = text.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        expected = "expected whole numbers above 0, separated by commas"
        raise click.BadParameter(f"found {text!r}, {expected}")
    return [int(word) for word in words]


@click.command()
@click.argument("environments", nargs=-1, metavar="[ID|FILE]...")
@click.option(
    "-e",
    "--environments",
    "counts",
    default="1,8,64,512",
    show_default=True,
    callback=parse_counts,
    help="Numbers of environments in a vector.",
)
@click.option(
    "-t",
    "--threads",
    default="1",
    show_default=True,
    callback=parse_counts,
    help="Numbers of threads of a vector.",
)
@click.option(
    "-p",
    "--precision",
    "precisions",
    type=click.Choice(["float64", "float32"]),
    multiple=True,
    default=["float64"],
    show_default=True,
    help="Precision of vectors; may be repeated.",
)
@option_option
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Measurements of each case; the best counts.",
)
@click.option(
    "--peers/--no-peers",
    default=True,
    show_default=True,
    help="Also time similar environments in MuJoCo, or not.",
)
@click.option("--cold", is_flag=True, help="Time the compilation of all kernels, too: minutes.")
@csv_option
@json_option
@overwrite_option
def command(
    environments: tuple[str, ...],
    counts: list[int],
    threads: list[int],
    precisions: tuple[str, ...],
    options: dict[str, Any],
    repeats: int,
    peers: bool,
    cold: bool,
    csv_file: str | None,
    json_file: str | None,
) -> None:
    """Time environments with random actions, single and in vectors.

    Times are CPU times of one thread; with several numbers of threads they are wall times. Cases
    take turns, and the best repeat counts. Times are per environment; physics is the simulator
    alone.

    \b
    vigym bench
    vigym bench vigym/Minitaur-v0 -e 64,512 -t 1,2
    vigym bench vigym/Acrobot-v0 -p float64 -p float32
    vigym bench mine:me/Positioner-v0 vigym/Acrobot-v0
    vigym bench robot.urdf -o control=position
    vigym bench vigym/Snake-v0 -o links=5 --no-peers --csv speed.csv
    """  # noqa: D301
    # these import numba
    from vigym.evaluation.speed.environments import time_environments
    from vigym.evaluation.speed.startup import time_startup
    from vigym.evaluation.speed.timing import machine

    quiet = writes_to_standard(json_file, csv_file)
    ids = []
    for environment in environments:
        env_id, options = find_environment(environment, options)
        ids.append(env_id)
    with progress_bar("timing") as report:
        settings: dict[str, Any] = {"precisions": precisions, "options": options}
        rows = time_environments(ids or None, counts, threads, repeats, peers, report, **settings)
    if "float32" in precisions:
        for name in without_float32(rows):
            click.echo(f"vigym bench: {name} does not support float32: left out", err=True)
    startup = time_startup(repeats, cold)
    content = {"machine": machine(), "environments": rows, "start": startup}
    write_json(json_file, content)
    write_csv(csv_file, rows)
    if not quiet:
        print(machine())
        print_table(_title(rows), HEAD, [_line(row) for row in rows], right=range(1, len(HEAD)))
        _print_startup(startup, cold)


def without_float32(rows: list[dict[str, Any]]) -> list[str]:
    """Return the ids of vigym's environments without a row in single precision."""
    supported = {row["id"] for row in rows if row["precision"] == "float32"}
    ours = dict.fromkeys(row["id"] for row in rows if row["engine"] == "vigym")
    return [name for name in ours if name not in supported]


def _title(rows: list[dict[str, Any]]) -> str:
    clock = "wall clock" if rows[0]["clock"] == "wall" else "CPU time of a thread"
    lanes: dict[str, int] = {}
    for row in rows:
        precision = row["precision"]
        lanes[precision] = max(row["lanes"], lanes.get(precision, 0))
    widths = " and ".join(f"{count} lanes of {precision}" for precision, count in lanes.items())
    return f"random actions, {clock}, {widths} in vectors"


def _print_startup(rows: list[dict[str, Any]], cold: bool) -> None:
    heads = {"seconds": "cached"} | ({"compiling_seconds": "compiling"} if cold else {})
    lines = [[row["stage"], *(f"{row[key]:.2f}" for key in heads)] for row in rows]
    print_table("new process [s]", ["", *heads.values()], lines, right=[1, 2])


def _line(row: dict[str, Any]) -> list[str]:
    count = str(row["environments"] or "single")
    count += f", {row['threads']} threads" if row["threads"] > 1 else ""
    count += ", float32" if row["precision"] == "float32" else ""
    speeds = (row[key] for key in ("environment_steps_per_second", "physics_steps_per_second"))
    times = (row[key] for key in ("step_us", "physics_us", "reset_us"))
    return [
        row["id"],
        count,
        *(f"{speed:,.0f}" for speed in speeds),
        *("" if time is None else f"{time:.3g}" for time in times),
        "" if row["memory_kb"] is None else f"{row['memory_kb']:.0f}",
    ]
