"""Command `vigym evaluate`: metrics of controllers over episodes."""

import os
from collections.abc import Callable, Iterable
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from vigym.cli.output import (
    PLOTS,
    UNCONVERGED,
    VIDEOS,
    check_file,
    csv_option,
    json_option,
    overwrite_option,
    print_table,
    progress_bar,
    shortened,
    spinner,
    write_csv,
    write_json,
    writes_to_standard,
)
from vigym.evaluation.controllers import check_controller, parse_value
from vigym.evaluation.environments import check_env_id
from vigym.evaluation.evaluate import Evaluation, evaluate
from vigym.evaluation.tables import as_row, summary_of, table_of
from vigym.evaluation.workers import BACKENDS
from vigym.robot_files import ENDINGS

ROBOT = "vigym/Robot-v0"


def parse_options(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Return the environment options of "name=value" texts.

    Raises:
        BadParameter: a text of another form, or a name that is there twice.
    """
    return named_values((text.partition("=") for text in texts), str.isidentifier)


def named_values(
    parts: Iterable[tuple[str, str, str]], is_name: Callable[[str], bool]
) -> dict[str, Any]:
    """Return values by name.

    Args:
        parts: name, equals sign and value of each text; without a sign it has another form.
        is_name: whether a text may be a name.

    Raises:
        BadParameter: a text of another form, or a name that is there twice.
    """
    values: dict[str, Any] = {}
    for name, equals, value in parts:
        if not (equals and is_name(name)):
            raise click.BadParameter(f"found {name + equals + value!r}, expected name=value")
        if name in values:
            raise click.BadParameter(f"found {name!r} twice, expected it once")
        values[name] = parse_value(value)
    return values


def find_environment(text: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return id and options of an environment, or of the robot in a URDF, MJCF or SDF file.

    Raises:
        UsageError: no such file, or the option `robot` beside a file.
        ValueError: an unknown id.
    """
    if not is_file(text):
        check_env_id(text)
        return text, options
    if not os.path.exists(text):
        raise click.UsageError(
            f"found no file {shortened(text)!r}, expected a URDF, MJCF or SDF file"
        )
    for option in ("robot", "urdf"):
        if option in options:
            expected = f"none beside the file {shortened(text)!r}"
            found = f"option {option}: found {options[option]!r}"
            raise click.UsageError(f"{found}, expected {expected}")
    return ROBOT, {"robot": str(Path(text).absolute()), **options}


def is_file(text: str) -> bool:
    """Return whether a text stands for a robot's file, not for the id of an environment."""
    return text.endswith(ENDINGS) or os.path.isfile(text)


option_option = click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    callback=parse_options,
    metavar="NAME=VALUE",
    help="Environment option; may be repeated.",
)
environment_argument = click.argument("environment", metavar="ID|FILE")
controller_help = (
    "Name of `vigym list`, module:name, .safetensors of vigym export; or model.zip or folder of a "
    "run, which can run code: only those that you trust"
)
controller_option = click.option(
    "-c",
    "--controller",
    default="random",
    show_default=True,
    metavar="C",
    help=f"{controller_help}.",
)
seed_option = click.option(
    "-s",
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first episode.",
)
shadow_option = click.option(
    "--shadow/--no-shadow",
    default=True,
    show_default=True,
    help="Draw shadows in videos, or not.",
)


@click.command()
@environment_argument
@click.option(
    "-c",
    "--controller",
    "controllers",
    multiple=True,
    default=["random"],
    show_default=True,
    metavar="C",
    help=f"{controller_help}; repeat it to compare.",
)
@click.option(
    "-n",
    "--episodes",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Episodes per controller.",
)
@seed_option
@option_option
@csv_option
@json_option
@click.option(
    "--plot",
    metavar="F",
    help="Plot returns, trajectories, energies and residuals into a .png, .svg or .pdf.",
)
@click.option("--video", metavar="F", help="Record the first episode as .mp4, .gif or .webp.")
@shadow_option
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that share the episodes.",
)
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="Workers are processes of this machine, or tasks on a cluster of Ray.",
)
@overwrite_option
def command(
    environment: str,
    controllers: tuple[str, ...],
    episodes: int,
    seed: int,
    options: dict[str, Any],
    csv_file: str | None,
    json_file: str | None,
    plot: str | None,
    video: str | None,
    shadow: bool,
    workers: int,
    backend: str,
) -> int:
    """Score controllers in the environment ID over episodes with the seeds SEED, SEED + 1, ...

    A URDF, MJCF or SDF FILE stands for vigym/Robot-v0 with that file.

    A controller is a name of `vigym list`; module:name, a callable (observation, info -> action) or
    a class or function that makes one; a .safetensors file of vigym export; or a model saved by
    stable-baselines3. Parameters follow a name: trot,frequency=2.5

    Code of module:name is run, and model.zip and folders of runs are read with pickle, which can
    run code, too: name only those that you trust. .safetensors and "trained" run none.

    \b
    vigym evaluate vigym/Pendulum-v0 -c trained
    vigym evaluate vigym/Minitaur-v0 -c trot
    vigym evaluate vigym/Minitaur-v0 -c trot -c trot,frequency=2.5 -c bound --plot gaits.png
    vigym evaluate vigym/Snake-v0 -o links=5 -c lateral_undulation --csv snake.csv
    vigym evaluate vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip --video up.mp4
    vigym evaluate vigym/Acrobot-v0 -c mine:swing_up -n 100 --seed 1000 --json -
    vigym evaluate vigym/Minitaur-v0 -c trot -n 1000 --workers 8

    Exit code 3: all episodes were scored, but in some the solver did not converge.
    """  # noqa: D301
    quiet = writes_to_standard(json_file, csv_file)
    check_file(plot, "--plot", PLOTS)
    videos = {} if video is None else _video_paths(controllers, Path(video))
    for path in videos.values():
        check_file(str(path), "--video", VIDEOS)
    env_id, options = find_environment(environment, options)
    for controller in controllers:
        check_controller(controller, env_id)
    traces = _traces() if plot else ()
    results: list[Evaluation] = []
    for controller in controllers:
        with progress_bar(controller) as progress:
            settings: dict[str, Any] = {"options": options, "traces": traces, "progress": progress}
            settings |= {"workers": workers, "backend": backend}
            results.append(evaluate(env_id, controller, episodes, seed, **settings))
    write_csv(csv_file, _csv_rows(results))
    write_json(json_file, _json_content(env_id, options, seed, results))
    if plot:
        _plot(results, plot)
    if not quiet:
        _print(environment, seed, episodes, results)
    for controller, path in videos.items():
        _record(env_id, controller, path, seed, {"shadow": shadow} | options)
    return _exit_code(results)


def _traces() -> tuple[str, ...]:
    from vigym.evaluation.plots import TRACES

    return TRACES


def _plot(results: list[Evaluation], path: str) -> None:
    from vigym.evaluation.plots import draw

    with spinner(path):
        draw(results, path)


def _print(environment: str, seed: int, episodes: int, results: list[Evaluation]) -> None:
    seeds = f"seeds {seed} to {seed + episodes - 1}" if episodes > 1 else f"seed {seed}"
    heads = ["", "", *(one.controller for one in results)]
    right = range(2, len(heads))
    print_table(f"{environment}, {seeds}", heads, table_of(results), right)


def _exit_code(results: list[Evaluation]) -> int:
    """Report episodes in which the solver did not converge; return the exit code."""
    code = 0
    for one in results:
        if one.unconverged_episodes:
            found = f"{one.unconverged_episodes} of {len(one.rows)} episodes"
            text = f"{one.controller}: the solver did not converge in {found}"
            click.echo(f"vigym evaluate: {text}", err=True)
            code = UNCONVERGED
    return code


def _csv_rows(results: list[Evaluation]) -> list[dict[str, Any]]:
    return [{"controller": one.controller} | as_row(row) for one in results for row in one.rows]


def _json_content(
    env_id: str, options: dict[str, Any], seed: int, results: list[Evaluation]
) -> dict[str, Any]:
    controllers = [
        {
            "controller": one.controller,
            "summary": summary_of(one),
            "episodes": [as_row(row) for row in one.rows],
        }
        for one in results
    ]
    return {"id": env_id, "options": options, "seed": seed, "controllers": controllers}


def _video_paths(controllers: tuple[str, ...], path: Path) -> dict[str, Path]:
    """Return the video file of each controller; several files have its name at their end.

    Equal names, of "a=-1" and "a=+1", have numbers.
    """
    if len(controllers) == 1:
        return {controllers[0]: path}
    names: dict[str, str] = {}
    for controller in dict.fromkeys(controllers):
        name = "".join(letter if letter.isalnum() else "-" for letter in controller)
        numbered = (f"{name}-{number}" for number in count(2))
        names[controller] = next(
            one for one in chain([name], numbered) if one not in names.values()
        )
    return {one: path.with_stem(f"{path.stem}-{name}") for one, name in names.items()}


def _record(env_id: str, controller: str, path: Path, seed: int, options: dict[str, Any]) -> None:
    from vigym.evaluation.video import record_video

    with progress_bar(f"video of {controller}") as progress:
        record_video(env_id, controller, path, seed, options, progress)
