"""Commands by name, imported on use; one-line errors and exit codes."""

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from sysconfig import get_path
from traceback import extract_tb
from typing import Any

import click

import vigym
from vigym.envs.options import suggest

# command: its module, and its line in the list of commands
COMMANDS = {
    "list": ("vigym.cli.list:command", "List environments and their controllers."),
    "describe": ("vigym.cli.describe:command", "Show the page of an environment."),
    "inspect": ("vigym.cli.inspect:command", "Describe a robot's file and its import."),
    "evaluate": ("vigym.cli.evaluate:command", "Score and compare controllers."),
    "train": ("vigym.cli.train:command", "Train a policy for an environment or a robot's file."),
    "export": ("vigym.cli.export:command", "Write a trained policy as files without code."),
    "record": ("vigym.cli.record:command", "Record a video of an episode."),
    "view": ("vigym.cli.view:command", "Watch episodes in the browser or in a window."),
    "compare": ("vigym.cli.compare:command", "Compare integrators on a mechanism."),
    "bench": ("vigym.cli.bench:command", "Measure the speed of environments."),
    "warmup": ("vigym.cli.warmup:command", "Compile the kernels, once per machine and version."),
}
LIBRARIES = (
    str(Path(vigym.__file__).parent),
    *map(get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
)
EXPECTED = (ValueError, OSError, ImportError, SyntaxError)  # MechanismError is a ValueError


class Commands(click.Group):
    """Group of commands that are imported on use, so that each starts quickly."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names in the order of use."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of a name, None if there is none."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; raise UsageError with a suggestion if unknown."""
        name = arguments[0] if arguments else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"found {name!r}, {suggest(name, list(COMMANDS))}", context)
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)
@click.version_option(vigym.__version__, prog_name="vigym")
@click.option("--traceback", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def app(context: click.Context, traceback: bool) -> None:
    """Simulate robots and mechanisms in Gymnasium on a variational integrator.

    \b
    vigym list                                          list environments
    vigym describe vigym/Minitaur-v0                    show its page
    vigym inspect robot.urdf --plot robot.png           check and draw a file
    vigym evaluate vigym/Minitaur-v0 -c trot -c bound   compare two gaits
    vigym train robot.urdf                              train a policy for a robot
    vigym record vigym/Snake-v0 -c lateral_undulation   record a video
    vigym view vigym/Minitaur-v0 -c trot                watch it in the browser

    Help for a command: vigym evaluate --help

    Exit codes: 0 success, 1 error, 2 usage error, 3 success with solver failures, 130 interrupted.
    """  # noqa: D301  \b is click's mark of a block
    context.obj = traceback


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            code = app.main(arguments, prog_name="vigym", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        _print_error(_usage_text(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _print_error("vigym: interrupted")
        return 130
    except BrokenPipeError:  # the reader stopped: `vigym list | head -1`
        # without this Python prints an error at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        place, expected = _user_place(error), isinstance(error, EXPECTED)
        if "--traceback" in arguments or not (place or expected):  # a fault of vigym itself
            raise
        kind = "" if expected else f"{type(error).__name__}: "
        _print_error(f"vigym: {kind}{error}{place}")
        return 1
    return code if isinstance(code, int) else 0


def _usage_text(error: click.ClickException) -> str:
    """Return the message of an error of click, with the command that shows help."""
    if not isinstance(error, click.UsageError):
        return f"vigym: {error.format_message()}"
    command = error.ctx.command_path if error.ctx else "vigym"
    return f"{command}: {error.format_message()} ({command} --help)"


def _user_place(error: Exception) -> str:
    """Return file and line of an error in a user's own module, else ""."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*LIBRARIES, "<"))]
    if not own:
        return ""
    file = Path(own[-1].filename).name
    return f" ({file}, line {own[-1].lineno}; vigym --traceback shows more)"


def _print_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """Print a warning in one line, without the line of code that gave it."""
    _print_error(f"vigym: warning: {message}")


def _print_error(text: str) -> None:
    """Print a text to standard error in one line."""
    click.echo(" ".join(text.split()), err=True)
