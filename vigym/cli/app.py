"""Commands by name, imported when they are asked for; errors of one line, exit codes that tell."""

import os
import sys
from importlib import import_module
from pathlib import Path
from sysconfig import get_path
from traceback import extract_tb

import click

import vigym
from vigym.evaluation.names import nearest

# command: where it is, and its line in the list of commands
COMMANDS = {
    "list": ("vigym.cli.list:command", "Environments and the controllers that drive them."),
    "inspect": ("vigym.cli.inspect:command", "What a URDF file describes, and what the importer made of it."),
    "evaluate": (
        "vigym.cli.evaluate:command",
        "Score controllers: compare, plot, film.",
    ),
    "record": ("vigym.cli.record:command", "Film an episode."),
    "bench": ("vigym.cli.bench:command", "How fast environments are on this machine."),
    "warmup": ("vigym.cli.warmup:command", "Compile the kernels, once for this machine and version."),
}
NOT_OWN = (str(Path(vigym.__file__).parent), *map(get_path, ("stdlib", "platstdlib", "purelib", "platlib")))
EXPECTED = (ValueError, OSError, ImportError, SyntaxError)  # those of mechanisms and files are ValueErrors


class Commands(click.Group):
    """Imports a command when it is used, so that others start at once."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names in the order of use."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of a name, None where there is none."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant, or say which one may be."""
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            raise click.UsageError(f"found {arguments[0]!r}, {nearest(arguments[0], list(COMMANDS))}", context)
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(vigym.__version__, prog_name="vigym")
@click.option("--traceback", is_flag=True, help="Show where in the program an error comes from.")
@click.pass_context
def app(context: click.Context, traceback: bool) -> None:
    """Robots and mechanisms for Gymnasium, on physics that keeps its promises.

    \b
    vigym list                                          what is there
    vigym inspect robot.urdf --plot robot.png           look at a file
    vigym evaluate vigym/Minitaur-v0 -c trot -c bound   compare two gaits
    vigym record vigym/Snake-v0 -c lateral_undulation   film one

    Every command explains itself: vigym evaluate --help

    Exit codes: 0 done, 1 an error, 2 asked wrongly, 3 done but for steps that the solver could not make, 130 stopped.
    """  # noqa: D301  \b is click's mark of a block
    context.obj = traceback


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code, as its help tells."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = app.main(arguments, prog_name="vigym", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "vigym"
        mend = f" (vigym {'' if command == 'vigym' else command.removeprefix('vigym ') + ' '}--help)"
        _complain(f"{command}: {error.format_message()}{mend if isinstance(error, click.UsageError) else ''}")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _complain("vigym: stopped")
        return 130
    except BrokenPipeError:  # who reads has seen enough: `vigym list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return 1
    except Exception as error:
        place, expected = _place(error), isinstance(error, EXPECTED)
        if "--traceback" in arguments or not (place or expected):  # an error of vigym's own is told in full
            raise
        _complain(f"vigym: {'' if expected else type(error).__name__ + ': '}{error}{place}")
        return 1
    return code if isinstance(code, int) else 0


def _place(error: Exception) -> str:
    """Return where in a user's own module an error comes from, "" where it does not."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*NOT_OWN, "<"))]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno}; vigym --traceback shows more)" if own else ""


def _complain(text: str) -> None:
    click.echo(" ".join(text.split()), err=True)
