"""A mechanism as text."""

from typing import TYPE_CHECKING

from vigym.mechanism.joints import Joint
from vigym.mechanism.parts import Body

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def summary(mech: "Mechanism") -> str:
    """Return bodies, joints, frames, counts and the report of a mechanism, one element a line."""
    bodies = [_body_row(body) for body in mech.bodies.values()]
    joints = [_joint_row(joint) for joint in mech.tree_joints]
    frames = [[frame.name, f"on {frame.body}"] for frame in mech.frames.values()]
    mass = sum(body.mass for body in mech.bodies.values())
    lines = [
        f"{mech.name}: {len(bodies)} bodies, {len(joints)} joints, {mass:.6g} kg",
        f"degrees of freedom: {mech.degrees_of_freedom}",
        f"redundant constraints: {mech.redundant_constraints}",
        f"actuated: {len(mech.actuator_names)}",
        *_table("bodies", bodies),
        *_table("joints", joints),
        *_table("frames", frames),
        *_table("not simulated as written", [[str(entry)] for entry in mech.report]),
    ]
    return "\n".join(lines)


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
