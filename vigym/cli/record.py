"""Command `vigym record`: video of an episode."""

from typing import Any

import click

from vigym.cli.evaluate import (
    controller_option,
    environment_argument,
    find_environment,
    option_option,
    seed_option,
    shadow_option,
)
from vigym.cli.output import UNCONVERGED, VIDEOS, check_file, overwrite_option, progress_bar


def check_seconds(
    context: click.Context, parameter: click.Parameter, seconds: float | None
) -> float | None:
    """Return the longest time; raise BadParameter unless it is a number > 0 or None."""
    if seconds is not None and not seconds > 0.0:  # nan is no number
        raise click.BadParameter(f"found {seconds}, expected a number of seconds > 0")
    return seconds


@click.command()
@environment_argument
@controller_option
@click.option(
    "--video",
    "-f",
    "--file",
    "file",
    default="film.mp4",
    show_default=True,
    metavar="F",
    help="Video file, an .mp4, a .gif or a .webp.",
)
@seed_option
@click.option(
    "--seconds",
    type=float,
    callback=check_seconds,
    help="Longest simulated time.  [default: the whole episode]",
)
@option_option
@shadow_option
@overwrite_option
def command(
    environment: str,
    controller: str,
    file: str,
    seed: int,
    seconds: float | None,
    options: dict[str, Any],
    shadow: bool,
) -> int:
    """Record an episode of the environment ID, or of the robot in a FILE.

    No display is needed.

    \b
    vigym record vigym/Pendulum-v0 -c trained
    vigym record vigym/Minitaur-v0 -c trot --seconds 3
    vigym record vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip --video up.mp4 -s 7
    vigym record robot.urdf -c zero --seconds 2 --video stand.gif

    Exit code 3: the video was written, but the solver did not converge in its last step.
    """  # noqa: D301
    check_file(file, "--video", VIDEOS)
    env_id, options = find_environment(environment, options)
    from vigym.evaluation.video import record_video

    options = {"shadow": shadow} | options
    longest = seconds or float("inf")
    with progress_bar(file) as progress:
        converged = record_video(env_id, controller, file, seed, options, progress, longest)
    print(file)
    if converged:
        return 0
    click.echo("vigym record: the video ends early: the solver did not converge", err=True)
    return UNCONVERGED
