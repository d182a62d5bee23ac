"""vigym inspect: a URDF file as the simulator has it, or what can be read of one that makes no mechanism.

`facts` and `readable` tell it as plain data, with every fault of a file that is refused.
"""

from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from vigym.cli.output import (
    PLOTS,
    check_file,
    console,
    json_option,
    print_table,
    spinner,
    write_json,
    writes_to_standard,
)
from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.errors import AssemblyError, MechanismError, UrdfError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Box, Cylinder, Mesh, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.summary import collision_row, coupling_row, loop_rows
from vigym.urdf.convert.load import load_urdf
from vigym.urdf.convert.survey import fault_of, survey
from vigym.urdf.read.records import Link, UrdfJoint

FLAT = 1e-6  # of the largest moment: how near to the triangle inequality a plate comes
EVEN = 1e-3  # of the largest moment: moments that differ by less are one number written three times
JOINTS = ["joint", "type", "parent -> child", "limits", "effort", "more"]  # heads of the table


def facts(mech: Mechanism) -> dict[str, Any]:
    """Return everything the command shows, as JSON has it."""
    closing = {joint.name for joint in mech.closing_joints}
    return {
        "name": mech.name,
        "mass": sum(body.mass for body in mech.bodies.values()),
        "degrees_of_freedom": mech.degrees_of_freedom,
        "redundant_constraints": mech.redundant_constraints,
        "actuated": mech.actuator_names,
        "bodies": [_body(body) for body in mech.bodies.values()],
        "joints": [_joint(joint) | {"closes_loop": joint.name in closing} for joint in mech.ordered_joints],
        "loops": [
            {"joint": name, "rows": rows}
            for name, rows in loop_rows(mech.closing_joints, mech.structure.loop_constraints)
        ],
        "couplings": [
            {"name": name, "type": type, "equation": equation}
            for name, type, equation in map(coupling_row, mech.couplings.values())
        ],
        "contacts": [
            {"name": name, "shape": shape, "place": place, "surface": surface}
            for name, shape, place, surface in map(collision_row, mech.collisions.values())
        ],
        "frames": {frame.name: frame.body for frame in mech.frames.values()},
        "report": [
            {"action": entry.action, "element": entry.element, "message": entry.message} for entry in mech.notes
        ],
    }


def _body(body: Body) -> dict[str, Any]:
    moments = np.linalg.eigvalsh(body.inertia)
    return {
        "name": body.name,
        "mass": body.mass,
        "position": body.position.tolist(),
        "principal_moments": moments.tolist(),
        "check": _check(body, moments),
    }


def _check(body: Body, moments: np.ndarray[Any, Any]) -> str:
    """Say what is odd about an inertia that a rigid body can have; "ok" where nothing is."""
    gyration = float(np.sqrt(moments.sum() / (2.0 * body.mass)))  # root mean square distance from the centre of mass
    reach = _reach(body.shapes)
    if reach and gyration > reach:
        return f"too large: mass {gyration:.2g} m from its centre, shapes reach {reach:.2g} m"
    least, middle, largest = moments
    if least + middle - largest < FLAT * largest:
        return "flat: a plate or rod without thickness"
    ball = bool(body.shapes) and all(isinstance(shape, Sphere) for shape in body.shapes)
    if largest - least < EVEN * largest and not ball:
        return "three equal moments: a ball or cube, or a guess"
    return "ok"


def _reach(shapes: tuple[Shape, ...]) -> float:
    """Return how far shapes reach from the centre of mass [m]; 0 without any, or with a mesh, which is not read."""
    if any(isinstance(shape, Mesh) for shape in shapes):
        return 0.0
    return max((float(np.linalg.norm(np.asarray(shape.position))) + _half(shape) for shape in shapes), default=0.0)


def _half(shape: Shape) -> float:
    """Return the largest distance of a shape's points from its origin [m]."""
    if isinstance(shape, Box):
        return float(np.linalg.norm(np.asarray(shape.size))) / 2.0
    if isinstance(shape, Cylinder):  # of a capsule an upper bound
        return float(np.hypot(shape.radius, shape.length / 2.0 + (shape.radius if shape.kind == "capsule" else 0.0)))
    assert isinstance(shape, Sphere)
    return shape.radius


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis.tolist(),
        "limits": None if joint.limits is None else [_finite(pair) for pair in joint.limits],
        "effort": joint.effort,
        "velocity": joint.velocity,
        "damping": joint.damping,
        "friction": joint.friction,
    }


def _finite(pair: np.ndarray[Any, Any]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in pair]


def readable(file: str, base: str | None, error: MechanismError) -> dict[str, Any]:
    """Return what can be read of a file that the importer refuses with `error`, values as written.

    Raises:
        UrdfError: nothing can.
    """
    found = survey(file, base)
    told = fault_of(file, error)
    faults = found.faults if told in found.faults else [told, *found.faults]
    return {
        "name": found.name,
        "mass": sum(link.mass for link in found.links),
        "faults": [{"element": element, "fault": fault} for element, fault in faults],
        "links": [_link(link) for link in found.links],
        "joints": [
            *(_joint_as_written(joint, closes_loop=False) for joint in found.joints),
            *(_joint_as_written(joint, closes_loop=True) for joint in found.loops),
        ],
        "loops": [loop.name for loop in found.loops],
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "mass": link.mass,
        "position": link.inertial.position.tolist(),
        "principal_moments": np.linalg.eigvalsh(link.inertia).tolist(),
    }


def _joint_as_written(joint: UrdfJoint, closes_loop: bool) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis.tolist(),
        "limits": None if joint.limits is None else [list(joint.limits)],
        "effort": joint.effort,
        "velocity": joint.velocity,
        "damping": joint.damping,
        "friction": joint.friction,
        "closes_loop": closes_loop,
    }


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
    quiet = writes_to_standard(json_file)
    check_file(plot, "--plot", PLOTS)
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
        from vigym.cli.draw import draw

        with spinner(plot):
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
        print_table(title, head, rows, right)


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
