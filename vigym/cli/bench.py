"""vigym bench: how fast environments are here."""

from typing import Any

import click

from vigym.cli.output import bar, csv_option, json_option, show, to_standard, write_csv, write_json
from vigym.evaluation.environments import known_id

HEAD = ["id", "environments", "environment steps/s", "physics steps/s", "step [us]", "physics [us]", "reset [us]",
        "memory [kB]"]  # fmt: skip


def whole_numbers(context: click.Context, parameter: click.Parameter, given: str) -> list[int]:
    """Return the numbers of "1,8,64".

    Raises:
        BadParameter: something else.
    """
    words = given.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise click.BadParameter(f"found {given!r}, expected whole numbers above 0 with commas between")
    return [int(word) for word in words]


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("-n", "--environments", "counts", default="1,8,64,512", show_default=True, callback=whole_numbers,
              help="Numbers of environments in a vector.")  # fmt: skip
@click.option("-t", "--threads", default="1", show_default=True, callback=whole_numbers, help="Of vectors.")
@click.option("-p", "--precision", "precisions", type=click.Choice(["float64", "float32"]), multiple=True,
              default=["float64"], show_default=True, help="Of vectors; may be given twice.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="The best of them counts.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Gymnasium's on MuJoCo, where one is alike.")
@click.option("--cold", is_flag=True, help="Compile all kernels anew, too, and tell how long it takes: minutes.")
@csv_option
@json_option
def command(
    ids: tuple[str, ...],
    counts: list[int],
    threads: list[int],
    precisions: tuple[str, ...],
    repeats: int,
    peers: bool,
    cold: bool,
    csv_file: str | None,
    json_file: str | None,
) -> None:
    """Time environments with random actions, single and in vectors, on this machine.

    Per core, by the CPU time of the thread; with several numbers of threads by the wall clock. All that is compared
    takes turns, and the best of the repeats counts. Times are per environment; physics is the simulator alone.

    \b
    vigym bench
    vigym bench vigym/Minitaur-v0 -n 64,512 -t 1,2
    vigym bench vigym/Acrobot-v0 -p float64 -p float32
    vigym bench --no-peers --csv speed.csv
    """  # noqa: D301
    from vigym.evaluation.speed.environments import environments  # numba is loaded for those who ask for it
    from vigym.evaluation.speed.starts import starts
    from vigym.evaluation.speed.timing import machine

    quiet = to_standard(json_file, csv_file)
    for name in ids:
        known_id(name)
    with bar("timing") as report:
        rows = environments(ids or None, counts, threads, repeats, peers, report, precisions)
    if "float32" in precisions:
        for name in without_float32(rows):
            click.echo(f"vigym bench: {name} in float32: left out, single precision does not serve for it", err=True)
    stages = starts(repeats, cold)
    write_json(json_file, {"machine": machine(), "environments": rows, "start": stages})
    write_csv(csv_file, rows)
    if not quiet:
        print(machine())
        clock = "wall clock" if rows[0]["clock"] == "wall" else "CPU time of a thread"
        lanes = " and ".join(
            f"{max(r['lanes'] for r in rows if r['precision'] == p)} lanes of {p}" for p in _seen(rows)
        )
        title = f"random actions, {clock}, {lanes} in vectors"
        show(title, HEAD, [_line(row) for row in rows], right=range(1, len(HEAD)))
        head = ["", "cached", *(["compiling"] if cold else [])]
        lines = [[s["stage"], *(f"{s[k]:.2f}" for k in ("seconds", "compiling_seconds") if s[k] is not None)]
                 for s in stages]  # fmt: skip
        show("new process [s]", head, lines, right=[1, 2])


def without_float32(rows: list[dict[str, Any]]) -> list[str]:
    """Return the ids of vigym's environments without a row in single precision."""
    served = {row["id"] for row in rows if row["precision"] == "float32"}
    return list(dict.fromkeys(row["id"] for row in rows if row["engine"] == "vigym" and row["id"] not in served))


def _seen(rows: list[dict[str, Any]]) -> list[str]:
    """Return the precisions of the rows."""
    return list(dict.fromkeys(row["precision"] for row in rows))


def _line(row: dict[str, Any]) -> list[str]:
    count = str(row["environments"] or "single") + (f", {row['threads']} threads" if row["threads"] > 1 else "")
    count += ", float32" if row["precision"] == "float32" else ""
    speeds = [f"{row[key]:,.0f}" for key in ("environment_steps_per_second", "physics_steps_per_second")]
    costs = ["" if row[key] is None else f"{row[key]:.3g}" for key in ("step_us", "physics_us", "reset_us")]
    return [row["id"], count, *speeds, *costs, "" if row["memory_kb"] is None else f"{row['memory_kb']:.0f}"]
