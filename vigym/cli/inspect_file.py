"""vigym inspect: a URDF file as the simulator has it."""

from collections.abc import Iterable
from typing import Any

import click

from vigym.cli.faulty import readable
from vigym.cli.inspection import facts
from vigym.cli.output import PICTURES, checked_file, console, json_option, show, to_standard, waiting, write_json
from vigym.mechanism.errors import AssemblyError, UrdfError
from vigym.urdf.load import load_urdf

JOINTS = ["joint", "type", "parent -> child", "limits", "effort", "more"]  # heads of the table


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--base", type=click.Choice(["fixed", "floating"]), help="Weld the root to the world, or let it go.")
@json_option
@click.option("--plot", metavar="F", help="Draw the mechanism and its graph into a .png, .svg or .pdf.")
def command(file: str, base: str | None, json_file: str | None, plot: str | None) -> None:
    """Bodies, joints, loops, freedoms and contacts of the URDF FILE, and what the importer kept, changed or dropped.

    No kernel is compiled. A file that cannot be simulated truthfully is refused with exit code 1: what can be read of
    it is shown as written, with all faults that are found. Meshes that cannot be read are left out and listed.

    \b
    vigym inspect robot.urdf
    vigym inspect robot.urdf --plot robot.png
    vigym inspect robot.urdf --json - | jq '.report[].element'
    """  # noqa: D301
    quiet = to_standard(json_file)
    checked_file(plot, "--plot", PICTURES)
    try:
        mech = load_urdf(file, base=base, missing_meshes="report")
    except (UrdfError, AssemblyError) as error:
        told = readable(file, base, error)
        write_json(json_file, told)
        if not quiet:
            _print_readable(told)
        raise
    found = facts(mech)
    write_json(json_file, found)
    if plot:
        from vigym.cli.drawing import draw

        with waiting(plot):
            draw(mech, plot)
    if not quiet:
        _print(found)


def _print_readable(found: dict[str, Any]) -> None:
    """Print what there is of a file that makes no mechanism; the importer's error comes after it."""
    counts = ", ".join(f"{what} {len(found[what])}" for what in ("links", "joints", "loops"))
    text = f"{found['name']}: faults {len(found['faults'])}; what can be read: {found['mass']:.6g} kg, {counts}"
    console().print(text, style="bold", markup=False)
    _section("faults", ["element", "fault"], [list(one.values()) for one in found["faults"]])
    _section("links, as written", ["link", "mass [kg]", "centre of mass in the link [m]", "moments [kg m²]"],
             [_link_line(link) for link in found["links"]], right=[1])  # fmt: skip
    _section("joints, as written", JOINTS, [_joint_line(joint) for joint in found["joints"]], right=[4])
    print()


def _print(found: dict[str, Any]) -> None:
    freedoms, redundant = found["degrees_of_freedom"], found["redundant_constraints"]
    counts = ", ".join(f"{what} {len(found[what])}" for what in ("bodies", "joints", "loops", "actuated"))
    console().print(f"{found['name']}: {found['mass']:.6g} kg, {counts}", style="bold", markup=False)
    print(f"degrees of freedom {freedoms}, redundant constraints {redundant}")
    _section("bodies", ["body", "mass [kg]", "centre of mass [m]", "moments [kg m²]", "inertia"],
             [_body_line(body) for body in found["bodies"]], right=[1])  # fmt: skip
    _section("joints", JOINTS, [_joint_line(joint) for joint in found["joints"]], right=[4])
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
    return [*_link_line(body), body["check"]]


def _link_line(link: dict[str, Any]) -> list[str]:
    if not link["mass"]:
        return [link["name"], "0", "", ""]
    return [link["name"], f"{link['mass']:.4g}", _list(link["position"]), _list(link["principal_moments"], 3)]


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
