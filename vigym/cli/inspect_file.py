"""vigym inspect: a URDF file as the simulator has it."""

from collections.abc import Iterable
from typing import Any

import click

from vigym.cli.inspection import facts
from vigym.cli.output import PICTURES, checked_file, console, json_option, show, to_standard, waiting, write_json
from vigym.mechanism.errors import UrdfError
from vigym.urdf.faults import inertia_faults
from vigym.urdf.load import load_urdf


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="Weld the root to the world, or let it go.")
@json_option
@click.option("--plot", metavar="F", help="Draw the mechanism and its graph into a .png, .svg or .pdf.")
def command(file: str, base: str | None, json_file: str | None, plot: str | None) -> None:
    """Bodies, joints, loops, freedoms and contacts of the URDF FILE, and what the importer kept, changed or dropped.

    No kernel is compiled. A file that cannot be simulated truthfully is refused, with the reason.

    \b
    vigym inspect robot.urdf
    vigym inspect robot.urdf --plot robot.png
    vigym inspect robot.urdf --json - | jq '.report[].element'
    """  # noqa: D301
    quiet = to_standard(json_file)
    checked_file(plot, "--plot", PICTURES)
    try:
        mech = load_urdf(file, base=base)
    except UrdfError as error:
        _explain(file, str(error))
        raise
    found = facts(mech)
    write_json(json_file, found)
    if plot:
        from vigym.cli.drawing import draw

        with waiting(plot):
            draw(mech, plot)
    if not quiet:
        _print(found)


def _explain(file: str, error: str) -> None:
    """Where the importer stopped at an inertia, list all that are wrong."""
    faults = inertia_faults(file) if "<inertia>" in error else {}
    if len(faults) > 1:
        show("inertias that no rigid body has", ["link", "fault"], faults.items())
        print()


def _print(found: dict[str, Any]) -> None:
    freedoms, redundant = found["degrees_of_freedom"], found["redundant_constraints"]
    counts = ", ".join(f"{what} {len(found[what])}" for what in ("bodies", "joints", "loops", "actuated"))
    console().print(f"{found['name']}: {found['mass']:.6g} kg, {counts}", style="bold", markup=False)
    print(f"degrees of freedom {freedoms}, redundant constraints {redundant}")
    _section("bodies", ["body", "mass [kg]", "centre of mass [m]", "moments [kg m²]", "inertia"],
             [_body_line(body) for body in found["bodies"]], right=[1])  # fmt: skip
    _section("joints", ["joint", "type", "parent -> child", "limits", "effort", "more"],
             [_joint_line(joint) for joint in found["joints"]], right=[4])  # fmt: skip
    _section("loops", ["closing joint", "rows"], [[loop["joint"], loop["rows"]] for loop in found["loops"]])
    _section("couplings", ["coupling", "type", "equation"], [list(one.values()) for one in found["couplings"]])
    _section("contacts", ["contact", "shape", "place", "surface"], [list(one.values()) for one in found["contacts"]])
    _section("links that are part of a body", ["link", "body"], found["frames"].items())
    _section("importer", ["", "element", "what became of it"], [list(one.values()) for one in found["report"]])


def _section(title: str, head: list[str], rows: Iterable[Any], right: Iterable[int] = ()) -> None:
    rows = [list(row) for row in rows]
    if rows:
        print()
        show(title, head, rows, right)


def _body_line(body: dict[str, Any]) -> list[str]:
    return [body["name"], f"{body['mass']:.4g}", _list(body["position"]), _list(body["principal_moments"], 3),
            body["check"]]  # fmt: skip


def _joint_line(joint: dict[str, Any]) -> list[str]:
    limits = "; ".join(f"{_end(low)} to {_end(high)}" for low, high in joint["limits"] or ())
    more = [f"{name} {joint[name]:g}" for name in ("velocity", "damping", "friction") if joint[name]]
    more += ["closes a loop"] if joint["closes_loop"] else []
    effort = f"{joint['effort']:g}" if joint["effort"] else ""
    return [joint["name"], joint["type"], f"{joint['parent']} -> {joint['child']}", limits, effort, ", ".join(more)]


def _end(value: float | None) -> str:
    return "free" if value is None else f"{value:.4g}"


def _list(values: list[float], digits: int = 4) -> str:
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values)
