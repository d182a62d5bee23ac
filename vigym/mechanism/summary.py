"""Text of a mechanism: its elements, degrees of freedom and notes."""

from collections.abc import Iterable, Mapping

from vigym.mechanism.elements.bodies import Body, Ground
from vigym.mechanism.elements.collection import Elements
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling, Skate, Wheel
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.elements.springs import Spring
from vigym.mechanism.topology.analysis import Structure
from vigym.mechanism.topology.loop_constraints import LoopConstraints

_VISIBLE = 1e-12  # misfits below are rounding [m, rad]


def summary(mechanism: Elements, structure: Structure | AssemblyError) -> str:
    """Return all elements, counts and notes of a mechanism, one element a line.

    Args:
        mechanism: the mechanism.
        structure: of the mechanism, or the error that its assembly raised.
    """
    constraints = structure.loop_constraints if isinstance(structure, Structure) else {}
    loops = loop_rows(mechanism.closing_joints, constraints)
    mass = sum(body.mass for body in mechanism.bodies.values())
    counts = f"{len(mechanism.bodies)} bodies, {len(mechanism.ordered_joints)} joints"
    tables = {
        "bodies": map(_body_row, mechanism.bodies.values()),
        "joints": map(_joint_row, mechanism.ordered_joints),
        "loops": ([f"{name} closes a loop", rows] for name, rows in loops),
        "springs": map(_spring_row, mechanism.springs.values()),
        "motors": map(_motor_row, mechanism.motors.values()),
        "couplings": map(coupling_row, mechanism.couplings.values()),
        "contacts": map(collision_row, mechanism.collisions.values()),
        "pairs": map(list, mechanism.pairs),
        "skates": map(_skate_row, mechanism.skates.values()),
        "wheels": map(_wheel_row, mechanism.wheels.values()),
        "frames": ([frame.name, f"on {frame.body}"] for frame in mechanism.frames.values()),
        "not simulated as written": ([str(note)] for note in mechanism.notes),
    }
    lines = [
        f"{mechanism.name}: {counts}, {mass:.6g} kg",
        *_structure_lines(structure),
        f"actuated: {len(mechanism.actuator_names)}",
        *([] if mechanism.ground is None else [_ground_line(mechanism.ground)]),
        *(line for title, rows in tables.items() for line in _table(title, list(rows))),
    ]
    return "\n".join(lines)


def _structure_lines(structure: Structure | AssemblyError) -> list[str]:
    if isinstance(structure, AssemblyError):
        return [f"cannot be assembled: {structure}"]
    return [
        f"degrees of freedom: {structure.dofs}",
        f"redundant constraints: {structure.redundant_constraints}",
    ]


def loop_rows(
    closing_joints: Iterable[Joint], constraints: Mapping[str, LoopConstraints]
) -> list[list[str]]:
    """Return name and constraints in words of each loop-closing joint.

    Args:
        closing_joints: joints that close loops.
        constraints: constraints that they impose, by name; none where loops cannot be closed.
    """
    return [
        [joint.name, _loop_text(joint, constraints.get(joint.name))] for joint in closing_joints
    ]


def _loop_text(joint: Joint, constraints: LoopConstraints | None) -> str:
    parts = ["open as described"] if joint.is_open else []
    if constraints is not None and constraints.redundant:
        redundant = constraints.redundant
        count = len(constraints.translations) + len(constraints.rotations) + redundant
        parts.append(f"{redundant} of {count} rows implied by the tree and not imposed")
        pairs = zip(constraints.misfit, ("m", "rad"), strict=True)
        misfits = [f"{value:.1e} {unit}" for value, unit in pairs if value > _VISIBLE]
        parts += [f"they are off by up to {' and '.join(misfits)}"] if misfits else []
    return ", ".join(parts)


def _ground_line(ground: Ground) -> str:
    friction = "" if ground.friction is None else f", friction {_numbers(ground.friction)}"
    return f"ground: height {ground.height:g} m, normal {_numbers(ground.normal)}{friction}"


def _spring_row(spring: Spring) -> list[str]:
    damping = f"damping {spring.damping:g} N s/m" if spring.damping else ""
    ends = f"{spring.a} {_numbers(spring.point_a)} - {spring.b} {_numbers(spring.point_b)}"
    return [
        spring.name,
        ends,
        f"stiffness {spring.stiffness:g} N/m",
        f"rest length {spring.rest_length:g} m",
        damping,
    ]


def _motor_row(motor: Motor) -> list[str]:
    kind = "to a position" if motor.kp else "to a rate"
    model = f"{motor.model.voltage:g} V, {motor.model.resistance:g} Ohm" if motor.model else ""
    return [
        motor.joint,
        kind,
        f"kp {motor.kp:g}",
        f"kd {motor.kd:g}",
        f"effort {motor.effort:g}",
        model,
    ]


def coupling_row(coupling: Coupling) -> list[str]:
    """Return name, type and equation of a coupling."""
    offset = f" + {coupling.offset:g}" if coupling.offset else ""
    return [
        coupling.name,
        coupling.type,
        f"{coupling.joint} = {coupling.ratio:g} {coupling.other}{offset}",
    ]


def collision_row(collision: Collision) -> list[str]:
    """Return name, kind and body, position, and surface of a contact or collision shape."""
    kind = (
        collision.shape.kind
        if collision.shape is not None
        else "ball"
        if collision.radius
        else "point"
    )
    along, across, backward = collision.friction
    isotropic = along == across == backward
    friction = f"friction {along:g}" if isotropic else f"friction {_numbers(collision.friction)}"
    values = {"restitution": collision.restitution, "torsion": collision.torsion}
    extras = [friction, *(f"{name} {value:g}" for name, value in values.items() if value)]
    if not isotropic:
        extras.append(f"along {_numbers(collision.direction)}")
    return [
        collision.name,
        f"{kind} of {collision.body}",
        f"at {_numbers(collision.position)}",
        ", ".join(extras),
    ]


def _skate_row(skate: Skate) -> list[str]:
    return [
        skate.name,
        skate.body,
        f"at {_numbers(skate.position)}",
        f"held along {_numbers(skate.direction)}",
    ]


def _wheel_row(wheel: Wheel) -> list[str]:
    axis = f"axis {_numbers(wheel.axis)}"
    return [
        wheel.name,
        wheel.body,
        f"at {_numbers(wheel.position)}",
        axis,
        f"radius {wheel.radius:g} m",
    ]


def _body_row(body: Body) -> list[str]:
    return [body.name, f"{body.mass:.6g} kg", f"at {_numbers(body.position)}"]


def _joint_row(joint: Joint) -> list[str]:
    values = {
        "damping": joint.damping,
        "stiffness": joint.stiffness,
        "armature": joint.armature,
        "friction": joint.friction,
        "effort": joint.effort or 0.0,
        "velocity": joint.velocity or 0.0,
    }
    extras = [f"{name} {value:g}" for name, value in values.items() if value]
    if joint.limits is not None:
        extras.insert(0, "limits " + ", ".join(_numbers(pair) for pair in joint.limits))
    ends = f"{joint.parent} -> {joint.child}"
    return [joint.name, joint.type, ends, f"axis {_numbers(joint.axis)}", ", ".join(extras)]


def _numbers(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in values) + ")"


def _table(title: str, rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    padded = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return [f"{title}:", *(f"  {line.rstrip()}" for line in padded)]
