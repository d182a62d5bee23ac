"""vigym list: the environments of the registry."""

from typing import Any

import click

from vigym.cli.output import csv_option, json_option, show, to_standard, write_csv, write_json
from vigym.envs.env import task_class
from vigym.envs.registry import ENVIRONMENTS, Entry
from vigym.evaluation.builtin import NAMED
from vigym.evaluation.controllers import fitting


@click.command()
@json_option
@csv_option
def command(json_file: str | None, csv_file: str | None) -> None:
    """Environments, their tasks, and the controllers that drive them.

    \b
    vigym list
    vigym list --json - | jq -r '.[].id'
    """  # noqa: D301
    quiet = to_standard(json_file, csv_file)
    rows = [_row(entry) for entry in ENVIRONMENTS]
    write_json(json_file, rows)
    write_csv(csv_file, [row | {"controllers": " ".join(row["controllers"])} for row in rows])
    if not quiet:
        lines = [[row["id"], row["task"], str(row["steps"]), " ".join(row["controllers"])] for row in rows]
        show("", ["id", "task", "steps", "controllers"], lines, right=[2])
        print(f"Any of them: {', '.join(name for name, entry in NAMED.items() if not entry.ids)}.")


def _row(entry: Entry) -> dict[str, Any]:
    says = (task_class(entry.task).__doc__ or "").partition("\n")[0]
    own = [name for name in fitting(entry.id) if NAMED[name].ids]
    threshold = entry.reward_threshold
    return {"id": entry.id, "task": says, "steps": entry.max_episode_steps, "solved": threshold, "controllers": own}
