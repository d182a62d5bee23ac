"""vigym evaluate: how controllers do over episodes."""

from pathlib import Path
from typing import Any

import click

from vigym.cli.output import (
    FILMS,
    PICTURES,
    UNSOLVED,
    bar,
    checked_file,
    csv_option,
    json_option,
    show,
    to_standard,
    waiting,
    write_csv,
    write_json,
)
from vigym.evaluation.controllers import value_of
from vigym.evaluation.environments import known_id
from vigym.evaluation.evaluate import Evaluation, evaluate
from vigym.evaluation.tables import as_row, summary_of, table_of


def options_of(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Return the environment's options of "name=value" texts.

    Raises:
        BadParameter: a text of another form.
    """
    options = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"found {text!r}, expected name=value")
        options[name] = value_of(value)
    return options


option_option = click.option(
    "-o", "--option", "options", multiple=True, callback=options_of, metavar="NAME=VALUE", help="Of the environment."
)
shadow_option = click.option("--shadow/--no-shadow", default=True, show_default=True, help="On the floor of films.")


@click.command()
@click.argument("env_id", metavar="ID")
@click.option("-c", "--controller", "controllers", multiple=True, required=True, metavar="C",
              help="A name, module:name, or model.zip; give it again to compare.")  # fmt: skip
@click.option("-n", "--episodes", type=click.IntRange(min=1), default=20, show_default=True, help="Of each controller.")
@click.option("-s", "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the first episode.")
@option_option
@csv_option
@json_option
@click.option("--plot", metavar="F", help="Draw returns, trajectories, energy and residuals into a .png, .svg or .pdf.")
@click.option("--video", metavar="F", help="Film the first episode into an .mp4.")
@shadow_option
def command(
    env_id: str,
    controllers: tuple[str, ...],
    episodes: int,
    seed: int,
    options: dict[str, Any],
    csv_file: str | None,
    json_file: str | None,
    plot: str | None,
    video: str | None,
    shadow: bool,
) -> int:
    """Score controllers in the environment ID, over episodes with the seeds SEED, SEED + 1, ...

    A controller is one of `vigym list`; module:name, a callable of yours (observation, info -> action), or a class or
    function that makes one; or a model that stable-baselines3 saved. Parameters follow a name: trot,frequency=2.5

    \b
    vigym evaluate vigym/Minitaur-v0 -c trot
    vigym evaluate vigym/Minitaur-v0 -c trot -c trot,frequency=2.5 -c bound --plot gaits.png
    vigym evaluate vigym/Snake-v0 -o links=5 -c lateral_undulation --csv snake.csv
    vigym evaluate vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip --video up.mp4
    vigym evaluate vigym/Acrobot-v0 -c mine:swing_up -n 100 --seed 1000 --json -

    Exit code 3: all was scored, but some episodes ended with a step that the solver could not make.
    """  # noqa: D301
    quiet = to_standard(json_file, csv_file)
    checked_file(plot, "--plot", PICTURES)
    checked_file(video, "--video", FILMS)
    known_id(env_id)
    traces = _traced() if plot else ()
    scored = []
    for controller in controllers:
        with bar(controller) as progress:
            one = evaluate(env_id, controller, episodes, seed, options=options, traces=traces, progress=progress)
        scored.append(one)
    write_csv(csv_file, [{"controller": one.controller} | as_row(row) for one in scored for row in one.rows])
    write_json(json_file, _content(env_id, options, seed, scored))
    if plot:
        from vigym.evaluation.plots import draw

        with waiting(plot):
            draw(scored, plot)
    if not quiet:
        last = f"{seed} to {seed + episodes - 1}" if episodes > 1 else f"{seed}"
        heads = ["", "", *controllers]
        show(f"{env_id}, seeds {last}", heads, table_of(scored), right=range(2, len(heads)))
    if video:
        for controller in controllers:
            _film(env_id, controller, seed, options | {"shadow": shadow}, video, several=len(controllers) > 1)
    return _complain_of_lost(scored)


def _complain_of_lost(scored: list[Evaluation]) -> int:
    """Say how many episodes ended with a step that the solver could not make; return the exit code."""
    for one in scored:
        if one.lost:
            told = f"{one.controller}: {one.lost} of {len(one.rows)} episodes ended with a step"
            click.echo(f"vigym evaluate: {told} that the solver could not make", err=True)
    return UNSOLVED if any(one.lost for one in scored) else 0


def _traced() -> tuple[str, ...]:
    from vigym.evaluation.plots import TRACES

    return TRACES


def _content(env_id: str, options: dict[str, Any], seed: int, scored: list[Evaluation]) -> dict[str, Any]:
    found = [
        {"controller": one.controller, "summary": summary_of(one), "episodes": [as_row(row) for row in one.rows]}
        for one in scored
    ]
    return {"id": env_id, "options": options, "seed": seed, "controllers": found}


def _film(env_id: str, controller: str, seed: int, options: dict[str, Any], video: str, several: bool) -> None:
    from vigym.evaluation.video import film

    name = "".join(letter if letter.isalnum() else "-" for letter in controller)
    path = Path(video)
    with bar(f"film of {controller}") as progress:
        film(env_id, controller, path.with_stem(f"{path.stem}-{name}") if several else path, seed, options, progress)
