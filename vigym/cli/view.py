"""Command `vigym view`: episodes live, in the browser or in a window."""

from typing import Any

import click

from vigym.cli.evaluate import (
    controller_option,
    environment_argument,
    find_environment,
    option_option,
    seed_option,
)


@click.command()
@environment_argument
@controller_option
@click.option(
    "-n",
    "--episodes",
    type=click.IntRange(min=1),
    help="Number of episodes.  [default: until Ctrl-C]",
)
@seed_option
@option_option
@click.option("--window", is_flag=True, help="Open a window in place of a page for the browser.")
def command(
    environment: str,
    controller: str,
    episodes: int | None,
    seed: int,
    options: dict[str, Any],
    window: bool,
) -> None:
    """Show episodes of the environment ID, or of the robot in a FILE.

    They are shown at most as fast as in reality.

    The address of the page for the browser is printed. The mouse turns and zooms the view. Ctrl-C,
    or closing the window, ends it.

    \b
    vigym view vigym/Minitaur-v0 -c trot
    vigym view vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip --window
    vigym view robot.urdf -n 1
    """  # noqa: D301
    env_id, options = find_environment(environment, options)
    from vigym.evaluation.video import watch
    from vigym.render.errors import RenderError, WindowClosedError

    mode = "human" if window else "browser"
    try:
        for one in watch(env_id, controller, mode, seed, options, episodes):
            print(f"seed {one.seed}: return {one.total:.3g} in {one.steps} steps", flush=True)
    except KeyboardInterrupt:
        click.echo("", err=True)
    except WindowClosedError:
        pass
    except RenderError as error:
        hint = "; without --window a page for the browser is shown" if window else ""
        raise click.ClickException(f"view: {error}{hint}") from error
