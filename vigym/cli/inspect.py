"""Command `vigym inspect`: description of a robot's file and its import.

A URDF file that makes no mechanism is described as far as it can be read, with all its faults.
"""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import click
import numpy as np

from vigym.cli.output import (
    PLOTS,
    check_file,
    console,
    json_option,
    overwrite_option,
    print_table,
    spinner,
    write_json,
    writes_to_standard,
)
from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.errors import AssemblyError, MechanismError, UrdfError
from vigym.mechanism.elements.shapes import Mesh, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.summary import describe, describe_joint, mass_properties
from vigym.mechanism.topology.bases import looks_like_arm, suggest_fixed
from vigym.robot_files import load
from vigym.urdf.convert.inertias import is_point
from vigym.urdf.convert.survey import fault_of, survey
from vigym.urdf.read.records import UrdfJoint
from vigym.urdf.read.xml import root_tag

FLAT = 1e-6  # of the largest moment: distance of a plate from the triangle inequality
NAMED = 3  # elements that a line of equal notes names
EQUAL = 1e-3  # of the largest moment: difference of moments that count as equal
MASS = "mass [kg]"
CHECKED = "read by vigym and by pybullet, which found the same numbers"
READ_BY = {"mujoco": "compiled by mujoco", "sdf": "read by vigym alone"}  # by the root's tag
UNCHECKED = "read by vigym alone; pybullet, which would check the numbers, is not installed"
BODY_COLUMNS = ["body", MASS, "centre of mass [m]", "moments [kg m²]", "inertia"]
LINK_COLUMNS = ["link", MASS, "centre of mass in the link [m]", "moments [kg m²]"]
JOINT_COLUMNS = ["joint", "type", "parent -> child", "limits", "effort", "more"]
# elements in words: title of the table, heads of its columns
ELEMENTS = {
    "loops": ["loop-closing joint", "rows"],
    "springs": ["spring", "ends", "stiffness", "rest length", "damping"],
    "motors": ["joint", "target", "kp", "kd", "effort", "model"],
    "couplings": ["coupling", "type", "equation"],
    "contacts": ["contact", "shape", "place", "surface"],
    "pairs": ["body", "other"],
    "skates": ["skate", "body", "place", "direction"],
    "wheels": ["wheel", "body", "place", "axis", "radius"],
}


def describe_checked(mech: Mechanism) -> dict[str, Any]:
    """Return the description of a mechanism with a check of each body's inertia."""
    found = describe(mech, mech.structure)
    for row, body in zip(found["bodies"], mech.bodies.values(), strict=True):
        row["check"] = check_inertia(body)
    return found


def check_inertia(body: Body) -> str:
    """Return a warning about an improbable inertia, else "ok"."""
    if not body.mass:
        return "no mass: a link between joints"
    moments = np.linalg.eigvalsh(body.inertia)
    gyration = body.gyration  # of the distance from the centre
    extent = _extent(body.shapes)
    if extent and gyration > extent:
        return f"too large: mass {gyration:.2g} m from its centre, shapes reach {extent:.2g} m"
    if is_point(body.mass, body.inertia):
        return f"too small: mass {gyration:.2g} m from its centre, denser than matter"
    least, middle, largest = moments
    if least + middle - largest < FLAT * largest:
        return "flat: a plate or rod without thickness"
    is_ball = bool(body.shapes) and all(isinstance(shape, Sphere) for shape in body.shapes)
    if largest - least < EQUAL * largest and not is_ball:
        return "three equal moments: a ball or cube, or a guess"
    return "ok"


def _extent(shapes: tuple[Shape, ...]) -> float:
    """Return the largest distance of shapes from the centre of mass [m].

    It is 0 without shapes or with a mesh, whose file is not read.
    """
    if not shapes or any(isinstance(shape, Mesh) for shape in shapes):
        return 0.0
    distances = [float(np.linalg.norm(np.asarray(shape.position))) for shape in shapes]
    return max(d + shape.bounding_radius for d, shape in zip(distances, shapes, strict=True))


def describe_refused(
    file: str, base: str | None, inertias: str, error: MechanismError
) -> dict[str, Any]:
    """Return the readable part of a file refused with `error`, values as written, and its faults.

    Raises:
        UrdfError: no part of the file can be read.
    """
    found = survey(file, base, inertias)
    first = fault_of(file, error)
    faults = found.faults if first in found.faults else [first, *found.faults]
    return {
        "name": found.name,
        "mass": sum(link.mass for link in found.links),
        "faults": [{"element": element, "fault": fault} for element, fault in faults],
        "links": [
            mass_properties(link.name, link.mass, link.inertial.position, link.inertia)
            for link in found.links
        ],
        "joints": [
            *(_joint_as_written(joint, closes_loop=False) for joint in found.joints),
            *(_joint_as_written(joint, closes_loop=True) for joint in found.loops),
        ],
        "loops": [loop.name for loop in found.loops],
    }


def _joint_as_written(joint: UrdfJoint, closes_loop: bool) -> dict[str, Any]:
    limits = None if joint.limits is None else np.reshape(joint.limits, (-1, 2)).tolist()
    return describe_joint(joint, limits, closes_loop)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--base",
    type=click.Choice(["fixed", "floating"]),
    help="Fix the root link to the world, or let it float.",
)
@click.option(
    "--inertias",
    type=click.Choice(["error", "report"]),
    default="error",
    show_default=True,
    help="Refuse inertias that no rigid body has, or mend and list them.",
)
@json_option
@click.option(
    "--plot", metavar="F", help="Draw the mechanism and its graph into a .png, .svg or .pdf."
)
@overwrite_option
def command(
    file: str, base: str | None, inertias: str, json_file: str | None, plot: str | None
) -> None:
    """Describe the mechanism in a URDF, MJCF or SDF FILE and what its import changed.

    No kernel of a simulator is compiled. A file that cannot be simulated as it is written is
    refused with exit code 1; of URDF its readable part and all faults are shown. <collision> meshes
    that cannot be read are left out and listed; so are mended inertias with --inertias report.

    \b
    vigym inspect robot.urdf
    vigym inspect robot.urdf --base floating --inertias report
    vigym inspect robot.urdf --plot robot.png
    vigym inspect robot.urdf --json - | jq '.notes[].element'
    """  # noqa: D301
    quiet = writes_to_standard(json_file)
    check_file(plot, "--plot", PLOTS)
    try:
        mech = load(file, base=base, missing_meshes="report", inertias=inertias)
    except (UrdfError, AssemblyError) as error:
        if root_tag(file) in READ_BY:
            raise
        refused = describe_refused(file, base, inertias, error)
        write_json(json_file, refused)
        if not quiet:
            _print_refused(refused)
        raise
    found = describe_checked(mech)
    write_json(json_file, found)
    if plot:
        from vigym.cli.draw import draw

        with spinner(plot):
            draw(mech, plot)
    if not quiet:
        checked = CHECKED if find_spec("pybullet") is not None else UNCHECKED
        _print(found, READ_BY.get(root_tag(file), checked))
        if base is None and looks_like_arm(mech):
            print(f"\n{suggest_fixed(mech)}")


def _print_refused(found: dict[str, Any]) -> None:
    """Print the readable part of a file; the importer's error follows."""
    faults = f"faults {len(found['faults'])}"
    counts = _counts(found, "links", "joints", "loops")
    text = f"{found['name']}: {faults}; readable: {found['mass']:.6g} kg, {counts}"
    console().print(text, style="bold", markup=False)
    _print_section("faults", ["element", "fault"], map(dict.values, found["faults"]))
    _print_section("links, as written", LINK_COLUMNS, map(_link_line, found["links"]), [1])
    _print_section("joints, as written", JOINT_COLUMNS, map(_joint_line, found["joints"]), [4])
    print()


def _print(found: dict[str, Any], read_by: str) -> None:
    """Print the description of a mechanism."""
    counts = _counts(found, "bodies", "joints", "loops", "actuated")
    text = f"{found['name']}: {found['mass']:.6g} kg, {counts}"
    console().print(text, style="bold", markup=False)
    dofs, redundant = found["degrees_of_freedom"], found["redundant_constraints"]
    print(f"degrees of freedom {dofs}, redundant constraints {redundant}")
    print(read_by)
    bodies = ([*_link_line(body), body["check"]] for body in found["bodies"])
    _print_section("bodies", BODY_COLUMNS, bodies, [1])
    _print_section("joints", JOINT_COLUMNS, map(_joint_line, found["joints"]), [4])
    for title, head in ELEMENTS.items():
        _print_section(title, head, map(dict.values, found[title]))
    _print_section("links that are part of a body", ["link", "body"], found["frames"].items())
    notes = _grouped(found["notes"])
    _print_section("notes of the importer", ["action", "element", "reason"], notes)


def _grouped(notes: Iterable[dict[str, str]]) -> Iterator[list[str]]:
    """Yield a line for all notes with one action and reason: it counts elements, and names some."""
    elements: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        elements.setdefault((note["action"], note["message"]), []).append(note["element"])
    for (action, message), places in elements.items():
        count = f"{len(places)} times: " if len(places) > 1 else ""
        more = ", ..." if len(places) > NAMED else ""
        yield [action, f"{count}{', '.join(places[:NAMED])}{more}", message]


def _counts(found: dict[str, Any], *names: str) -> str:
    return ", ".join(f"{name} {len(found[name])}" for name in names)


def _print_section(
    title: str, head: list[str], rows: Iterable[Iterable[str]], right: Iterable[int] = ()
) -> None:
    lines = [list(row) for row in rows]
    if lines:
        print()
        print_table(title, head, lines, right)


def _link_line(link: dict[str, Any]) -> list[str]:
    if not link["mass"]:
        return [link["name"], "0", "", ""]
    position, moments = _numbers(link["position"]), _numbers(link["principal_moments"], 3)
    return [link["name"], f"{link['mass']:.4g}", position, moments]


def _joint_line(joint: dict[str, Any]) -> list[str]:
    ends = f"{joint['parent']} -> {joint['child']}"
    limits = "; ".join(_range(*pair) for pair in joint["limits"] or ())
    effort = f"{joint['effort']:g}" if joint["effort"] else ""
    parameters = ("velocity", "damping", "stiffness", "armature", "friction")
    more = [f"{name} {_one_or_more(joint[name])}" for name in parameters if np.any(joint[name])]
    more += ["closes a loop"] if joint["closes_loop"] else []
    return [joint["name"], joint["type"], ends, limits, effort, ", ".join(more)]


def _range(*limits: float | None) -> str:
    ends = ["free" if value is None else f"{value:.4g}" for value in limits]
    return " to ".join(ends if limits != (None, None) else ends[:1])


def _one_or_more(value: float | list[float]) -> str:
    return _numbers(value) if isinstance(value, list) else f"{value:g}"


def _numbers(values: list[float], digits: int = 4) -> str:
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values)
