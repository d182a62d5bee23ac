"""Command `vigym compare`: the product's step beside methods of other papers."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from vigym.cli.evaluate import is_file, named_values, option_option, seed_option
from vigym.cli.output import (
    PLOTS,
    UNCONVERGED,
    check_file,
    json_option,
    overwrite_option,
    print_table,
    progress_bar,
    shortened,
    spinner,
    write_json,
    writes_to_standard,
)
from vigym.evaluation.environments import check_env_id, make_env, task_env
from vigym.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from vigym.baselines.compare import Run
    from vigym.mechanism.mechanism import Mechanism

HEAD = ["method", "order", "steps", "energy error [J]", "at the end", "gap [m, rad]"]
HEAD += ["iterations", "factorisations", "step [us]"]
BESIDE = ["simulator", "step [s]", "step [us]", "times real time", "gap of loops [m, rad]"]
BESIDE += ["depth of contacts [m]", "energy gain [J]"]
FLOOR = 1e-17  # value of exact zeros on a logarithmic axis
ABOVE = 1e3  # times the largest error of the finished runs: end of a logarithmic axis
READABLE = 1.0  # J, m or rad: least end of a logarithmic axis
TAKEN = ("environment", "timestep", "seconds", "other", "json_file", "overwrite")  # by --with
RATES = 1.0  # largest rate at the start [rad/s or m/s]


def parse_coordinates(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Return the values of coordinates in "name=value" texts, whatever characters names have.

    Raises:
        BadParameter: a text of another form, or a name that is there twice.
    """
    return named_values((text.rpartition("=") for text in texts), bool)


@click.command()
@click.argument("environment", metavar="ID|FILE")
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    metavar="M",
    help="Method; may be repeated.  [default: all that simulate the mechanism]",
)
@click.option("--timestep", type=float, default=0.01, show_default=True, help="Step size [s].")
@click.option("--seconds", type=float, default=10.0, show_default=True, help="Simulated time [s].")
@click.option(
    "--tolerance",
    type=float,
    default=1e-10,
    show_default=True,
    help="Of the equations that a step solves.",
)
@click.option(
    "--position",
    "positions",
    multiple=True,
    callback=parse_coordinates,
    metavar="NAME=VALUE",
    help="Coordinate at the start [rad or m]; may be repeated.",
)
@click.option(
    "--velocity",
    "velocities",
    multiple=True,
    callback=parse_coordinates,
    metavar="NAME=VALUE",
    help="Rate at the start; may be repeated.",
)
@seed_option
@option_option
@click.option(
    "--with",
    "other",
    type=click.Choice(["mujoco"]),
    help="Simulate an MJCF FILE in another simulator, too, in place of methods.",
)
@click.option("--bare", is_flag=True, help="Bodies and joints alone: no limits, forces, contacts.")
@click.option("--plot", "plot_file", metavar="F", help="Plot energy errors and gaps over time.")
@json_option
@overwrite_option
def command(
    environment: str,
    methods: tuple[str, ...],
    timestep: float,
    seconds: float,
    tolerance: float,
    positions: dict[str, Any],
    velocities: dict[str, Any],
    seed: int,
    options: dict[str, Any],
    other: str | None,
    bare: bool,
    plot_file: str | None,
    json_file: str | None,
) -> int:
    """Simulate the mechanism of ID or FILE by several methods, without torques.

    An environment starts as it does with the seed. The robot of a file starts from its
    assembly pose with random rates up to 1 rad/s or 1 m/s, or with --position and --velocity.
    Methods: vigym (the product), explicit-euler, semi-implicit-euler, heun, rk4, riqn, newton,
    broyden, third-order (trees, in joint coordinates), multipliers, baumgarte, ggl (also loops).

    \b
    vigym compare arm.urdf --bare
    vigym compare vigym/PendulumChain-v0 --timestep 0.005 --plot energies.png
    vigym compare assets/four_bar/four_bar.urdf --bare -m vigym -m multipliers -m ggl
    vigym compare arm.urdf --bare -m vigym -m rk4 --position shoulder=1.5 --json -
    vigym compare robot.xml --with mujoco --timestep 0.005 --seconds 2
    """  # noqa: D301
    check_other(methods, other)
    if other is not None:
        return compare_files(environment, timestep, seconds, json_file)
    from vigym.baselines import compare as comparison  # imports numba

    quiet = writes_to_standard(json_file)
    check_file(plot_file, "--plot", PLOTS)
    mechanism, start = _mechanism(environment, options, seed, positions, velocities)
    mechanism = comparison.bare(mechanism) if bare else mechanism
    names = list(dict.fromkeys(methods)) or comparison.able_methods(mechanism)
    setting = comparison.Setting(timestep, seconds, tolerance, **start)
    runs: list[Run] = []
    with progress_bar("simulating") as report:
        for done, name in enumerate(names, start=1):
            runs += comparison.compare(mechanism, [name], setting)
            report(done / len(names))
    out = {} if methods else comparison.left_out(mechanism)
    rows = [run.row() for run in runs]
    content = {"mechanism": mechanism.name, "timestep": timestep, "runs": rows, "left_out": out}
    write_json(json_file, content)
    if plot_file is not None:
        _plot(runs, f"{mechanism.name}, step {timestep:g} s", plot_file)
    if not quiet:
        _print(mechanism, runs, out)
    return UNCONVERGED if any(run.failure for run in runs) else 0


def check_other(methods: tuple[str, ...], other: str | None) -> None:
    """Raise UsageError for options that --with does not take, and its simulators as methods."""
    context = click.get_current_context()
    if other is None:
        if "mujoco" in methods:
            expected = "a method; --with mujoco simulates an MJCF FILE in MuJoCo"
            raise click.UsageError(f"-m: found 'mujoco', expected {expected}")
        return
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name not in TAKEN
        and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]
    if given:
        expected = "--timestep, --seconds and --json alone"
        raise click.UsageError(f"--with: found {', '.join(given)}, expected {expected}")


def compare_files(file: str, timestep: float, seconds: float, json_file: str | None) -> int:
    """Print runs of an MJCF file in vigym and in MuJoCo, from its first keyframe, without controls.

    Raises:
        MechanismError: a file that cannot be read.
    """
    from vigym.referee import SHARES, compare_with_mujoco

    with spinner(file):
        sides = compare_with_mujoco(Path(file), timestep, seconds)
    rows: list[dict[str, Any]] = [
        {
            "simulator": side.name,
            "timestep": side.timestep,
            "step_us": side.step_us,
            "times_real_time": 1e6 * side.timestep / side.step_us,
            "gap_of_loops": side.gap,
            "depth_of_contacts": side.depth,
            "energy_gain_J": float(side.energies[-1]),
            "apart_from_first": side.distances(sides[0]),
            "unsolved": side.unsolved,
        }
        for side in sides
    ]
    write_json(json_file, {"file": file, "seconds": seconds, "shares": SHARES, "runs": rows})
    if not writes_to_standard(json_file):
        head = [*BESIDE, *(f"apart at {share * seconds:g} s [m]" for share in SHARES)]
        lines = [
            [row["simulator"], *(f"{value:.3g}" for value in list(row.values())[1:7])]
            + [f"{distance:.1e}" for distance in row["apart_from_first"]]
            for row in rows
        ]
        print_table(f"{file}, {seconds:g} s", head, lines, right=range(1, len(head)))
        print("apart: largest distance of a body's centre of mass from that of the first row")
    return UNCONVERGED if any(side.unsolved for side in sides) else 0


def _mechanism(
    text: str, options: dict[str, Any], seed: int, positions: Any, velocities: Any
) -> "tuple[Mechanism, dict[str, Any]]":
    """Return the mechanism of an environment or a robot's file, and its start.

    Raises:
        UsageError: no such file.
        ValueError: an unknown id.
    """
    if is_file(text):
        from vigym.robot_files import load

        if not os.path.exists(text):
            raise click.UsageError(
                f"found no file {shortened(text)!r}, expected a URDF, MJCF or SDF file"
            )
        if options:
            raise click.UsageError("-o: found options of an environment beside a file")
        mechanism = load(text)
        draw = np.random.default_rng(seed).uniform(-RATES, RATES, len(mechanism.velocity_names))
        given = velocities if positions or velocities else draw
        return mechanism, {"positions": positions or None, "velocities": given}
    check_env_id(text)
    env = task_env(make_env(text.rpartition(":")[2], options))
    env.reset(seed=seed)
    sim = env.sim
    start: dict[str, Any] = {"positions": sim.joint_positions, "velocities": sim.joint_velocities}
    if positions or velocities:
        start = {"positions": positions or None, "velocities": velocities or None}
    env.close()
    return sim.mechanism, start


def _print(mechanism: "Mechanism", runs: "list[Run]", left_out: dict[str, list[str]]) -> None:
    """Print the table; failures, and methods that were left out, on standard error."""
    from vigym.baselines.compare import energy_takers

    title = f"{mechanism.name}: bodies {len(mechanism.bodies)}, joints {len(mechanism.joints)}"
    print_table(title, HEAD, [_line(run) for run in runs], right=range(1, len(HEAD)))
    if takers := energy_takers(mechanism):
        print(f"Energy errors contain what these take or give: {', '.join(takers)}.")
    for run in runs:
        if run.failure:
            click.echo(run.failure, err=True)
    for element, names in left_out.items():
        click.echo(f"left out: {', '.join(names)} ({element})", err=True)


def _line(run: "Run") -> list[str]:
    row = run.row()
    numbers = (row[key] for key in ("energy_error_J", "energy_error_end_J", "gap"))
    counts = (row[key] for key in ("iterations", "factorisations"))
    return [
        run.method,
        str(row["order"]),
        str(run.steps),
        *(f"{number:.2e}" for number in numbers),
        *(f"{count:.2f}" for count in counts),
        f"{run.step_us:.0f}",
    ]


def _plot(runs: "list[Run]", title: str, file: str) -> None:
    """Write a plot of energy errors, and of gaps where there are some, over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 4.5), layout="constrained")
    figure.suptitle(title)
    energies, gaps = figure.subplots(1, 2)
    numbered = list(enumerate(runs))
    largest = [(n, run, np.maximum.accumulate(np.abs(run.energies))) for n, run in numbered]
    _plot_errors(energies, largest)
    _plot_errors(gaps, [(n, run, run.gaps) for n, run in numbered if run.gaps.any()])
    energies.set(title="largest energy error so far", xlabel="time [s]", ylabel="J")
    gaps.set(title="largest joint gap", xlabel="time [s]", ylabel="m, rad")
    figure.legend(*energies.get_legend_handles_labels(), loc="outside right upper")
    with whole_file(file) as new:
        figure.savefig(new, dpi=110)


def _plot_errors(ax: "Axes", curves: "list[tuple[int, Run, NDArray[np.float64]]]") -> None:
    """Plot errors of numbered runs over time; a cross marks where a run ended early.

    Errors that grow without bound end at the axis, and their crosses lie there.
    """
    largest = [max(error.max(), FLOOR) for _, _, error in curves]
    finished = [one for one, (_, run, _) in zip(largest, curves, strict=True) if not run.failure]
    readable = ABOVE * max(finished or [min(largest, default=FLOOR)])
    top = min(max(readable, READABLE), max(largest, default=FLOOR))
    for number, run, error in curves:
        colour, line = f"C{number % 10}", "-" if number < 10 else "--"
        label = f"{run.method}, ended early (x)" if run.failure else run.method
        shown = np.clip(error, FLOOR, 10.0 * top)
        ax.semilogy(run.times[1:], shown[1:], line, color=colour, linewidth=1.0, label=label)
        if run.failure:
            ax.semilogy(run.times[-1], min(shown[-1], top), "x", color=colour, clip_on=False)
    if any(error.max() > top for _, _, error in curves):
        ax.set_ylim(top=top)
