"""Command `vigym list`: environments of the registry."""

from typing import Any

import click

from vigym.cli.output import (
    csv_option,
    json_option,
    overwrite_option,
    print_table,
    write_csv,
    write_json,
    writes_to_standard,
)
from vigym.envs.env import task_class
from vigym.envs.registry import ENVIRONMENTS, Entry
from vigym.evaluation.builtin import BUILTIN
from vigym.evaluation.controllers import controllers_for


@click.command()
@json_option
@csv_option
@overwrite_option
def command(json_file: str | None, csv_file: str | None) -> None:
    """List environments, their tasks and their controllers.

    \b
    vigym list
    vigym list --json - | jq -r '.[].id'
    """  # noqa: D301
    quiet = writes_to_standard(json_file, csv_file)
    rows = [_row(entry) for entry in ENVIRONMENTS]
    write_json(json_file, rows)
    write_csv(csv_file, [row | {"controllers": " ".join(row["controllers"])} for row in rows])
    if not quiet:
        lines = [
            [row["id"], row["task"], _steps(row), " ".join(row["controllers"])] for row in rows
        ]
        print_table("", ["id", "task", "steps, solved", "controllers"], lines)
        general = [name for name, entry in BUILTIN.items() if not entry.ids]
        print(f"Controllers of any environment: {', '.join(general)}.")
        print("Solved: with this mean return. vigym describe ID shows more.")


def _steps(row: dict[str, Any]) -> str:
    """Return the steps of an episode, and the return that counts as solved."""
    return f"{row['steps']}" if row["solved"] is None else f"{row['steps']}, {row['solved']:g}"


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "task": (task_class(entry.task).__doc__ or "").partition("\n")[0],
        "steps": entry.max_episode_steps,
        "solved": entry.reward_threshold,
        "controllers": [name for name in controllers_for(entry.id) if BUILTIN[name].ids],
    }
