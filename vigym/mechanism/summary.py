"""A mechanism as text."""

from typing import TYPE_CHECKING

from vigym.mechanism.closures import ClosureRows
from vigym.mechanism.errors import AssemblyError
from vigym.mechanism.joints import Joint
from vigym.mechanism.parts import Body
from vigym.mechanism.springs import Spring

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

_VISIBLE = 1e-12  # misfits below are rounding [m, rad]


def summary(mech: "Mechanism") -> str:
    """Return bodies, joints, springs, frames, counts and the report of a mechanism, one element a line."""
    bodies = [_body_row(body) for body in mech.bodies.values()]
    joints = [_joint_row(joint) for joint in mech.ordered_joints]
    springs = [_spring_row(spring) for spring in mech.springs.values()]
    frames = [[frame.name, f"on {frame.body}"] for frame in mech.frames.values()]
    mass = sum(body.mass for body in mech.bodies.values())
    lines = [
        f"{mech.name}: {len(bodies)} bodies, {len(joints)} joints, {mass:.6g} kg",
        *_freedoms(mech),
        f"actuated: {len(mech.actuator_names)}",
        *_table("bodies", bodies),
        *_table("joints", joints),
        *_table("loops", _loop_rows(mech)),
        *_table("springs", springs),
        *_table("frames", frames),
        *_table("not simulated as written", [[str(entry)] for entry in mech.report]),
    ]
    return "\n".join(lines)


def _freedoms(mech: "Mechanism") -> list[str]:
    try:
        structure = mech.structure
    except AssemblyError as error:
        return [f"cannot be assembled: {error}"]
    return [
        f"degrees of freedom: {structure.degrees_of_freedom}",
        f"redundant constraints: {structure.redundant_constraints}",
    ]


def _loop_rows(mech: "Mechanism") -> list[list[str]]:
    try:
        closures = mech.structure.closures
    except AssemblyError:
        closures = {}
    return [[f"{joint.name} closes a loop", _closure(joint, closures.get(joint.name))] for joint in mech.closing_joints]


def _closure(joint: Joint, rows: ClosureRows | None) -> str:
    """Say how a joint closes its loop."""
    parts = ["open as described"] if joint.is_open else []
    if rows is not None and rows.implied:
        count = len(rows.translations) + len(rows.rotations) + rows.implied
        parts.append(f"{rows.implied} of {count} rows implied by the tree and not imposed")
        pairs = zip(rows.misfit, ("m", "rad"), strict=True)
        misfits = [f"{value:.1e} {unit}" for value, unit in pairs if value > _VISIBLE]
        parts += [f"they are off by up to {' and '.join(misfits)}"] if misfits else []
    return ", ".join(parts)


def _spring_row(spring: Spring) -> list[str]:
    damping = f"damping {spring.damping:g} N s/m" if spring.damping else ""
    ends = f"{spring.a} {_numbers(spring.point_a)} - {spring.b} {_numbers(spring.point_b)}"
    return [spring.name, ends, f"stiffness {spring.stiffness:g} N/m", f"rest length {spring.rest_length:g} m", damping]


def _body_row(body: Body) -> list[str]:
    return [body.name, f"{body.mass:.6g} kg", f"at {_numbers(body.position)}"]


def _joint_row(joint: Joint) -> list[str]:
    values = {
        "damping": joint.damping,
        "stiffness": joint.stiffness,
        "armature": joint.armature,
        "effort": joint.effort or 0.0,
    }
    extras = ", ".join(f"{name} {value:g}" for name, value in values.items() if value)
    return [joint.name, joint.type, f"{joint.parent} -> {joint.child}", f"axis {_numbers(joint.axis)}", extras]


def _numbers(values: object) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in values) + ")"  # type: ignore[attr-defined]


def _table(title: str, rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [f"{title}:", *(f"  {line.rstrip()}" for line in padded)]
