"""vigym record: an episode as a film."""

from typing import Any

import click

from vigym.cli.evaluate import option_option, shadow_option
from vigym.cli.output import FILMS, UNSOLVED, bar, checked_file
from vigym.evaluation.environments import known_id


@click.command()
@click.argument("env_id", metavar="ID")
@click.option("-c", "--controller", default="random", show_default=True, help="A name, module:name, or model.zip.")
@click.option("-f", "--file", default="film.mp4", show_default=True, help="Film to write, an .mp4.")
@click.option("-s", "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the episode.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Length at most.  [default: the episode]")
@option_option
@shadow_option
def command(
    env_id: str,
    controller: str,
    file: str,
    seed: int,
    seconds: float | None,
    options: dict[str, Any],
    shadow: bool,
) -> int:
    """Film an episode of the environment ID. No display is needed.

    \b
    vigym record vigym/Minitaur-v0 -c trot --seconds 3
    vigym record vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip -f up.mp4 --seed 7
    vigym record vigym/Urdf-v0 -o urdf=robot.urdf

    Exit code 3: the film is there, but ends with a step that the solver could not make.
    """  # noqa: D301
    checked_file(file, "--file", FILMS)
    known_id(env_id)
    from vigym.evaluation.video import film

    with bar(file) as progress:
        solved = film(env_id, controller, file, seed, options | {"shadow": shadow}, progress, seconds or float("inf"))
    print(file)
    if not solved:
        click.echo("vigym record: the film ends early: with a step that the solver could not make", err=True)
    return 0 if solved else UNSOLVED
