"""A mechanism as text."""

from typing import TYPE_CHECKING

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling, Skate, Wheel
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.elements.springs import Spring
from vigym.mechanism.topology.loop_constraints import ClosureRows

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

_VISIBLE = 1e-12  # misfits below are rounding [m, rad]


def summary(mech: "Mechanism") -> str:
    """Return all elements, counts and the report of a mechanism, one element a line."""
    bodies = [_body_row(body) for body in mech.bodies.values()]
    joints = [_joint_row(joint) for joint in mech.ordered_joints]
    springs = [_spring_row(spring) for spring in mech.springs.values()]
    motors = [_motor_row(motor) for motor in mech.motors.values()]
    collisions = [collision_row(collision) for collision in mech.collisions.values()]
    frames = [[frame.name, f"on {frame.body}"] for frame in mech.frames.values()]
    mass = sum(body.mass for body in mech.bodies.values())
    lines = [
        f"{mech.name}: {len(bodies)} bodies, {len(joints)} joints, {mass:.6g} kg",
        *_freedoms(mech),
        f"actuated: {len(mech.actuator_names)}",
        *([_ground(mech)] if mech.ground is not None else []),
        *_table("bodies", bodies),
        *_table("joints", joints),
        *_table("loops", [[f"{name} closes a loop", rows] for name, rows in loop_rows(mech)]),
        *_table("springs", springs),
        *_table("motors", motors),
        *_table("couplings", [coupling_row(coupling) for coupling in mech.couplings.values()]),
        *_table("contacts", collisions),
        *_table("pairs", [[a, b] for a, b in mech.pairs]),
        *_table("skates", [_skate_row(skate) for skate in mech.skates.values()]),
        *_table("wheels", [_wheel_row(wheel) for wheel in mech.wheels.values()]),
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


def loop_rows(mech: "Mechanism") -> list[list[str]]:
    """Return for every closing joint its name and how it closes its loop."""
    try:
        closures = mech.structure.closures
    except AssemblyError:
        closures = {}
    return [[joint.name, _closure(joint, closures.get(joint.name))] for joint in mech.closing_joints]


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


def _ground(mech: "Mechanism") -> str:
    ground = mech.ground
    assert ground is not None
    friction = "" if ground.friction is None else f", friction {_numbers(ground.friction)}"
    return f"ground: height {ground.height:g} m, normal {_numbers(ground.normal)}{friction}"


def _motor_row(motor: Motor) -> list[str]:
    kind = "to a position" if motor.kp else "to a rate"
    model = f"{motor.model.voltage:g} V, {motor.model.resistance:g} Ohm" if motor.model else ""
    return [motor.joint, kind, f"kp {motor.kp:g}", f"kd {motor.kd:g}", f"effort {motor.effort:g}", model]


def coupling_row(coupling: Coupling) -> list[str]:
    """Return name, type and equation of a coupling."""
    offset = f" + {coupling.offset:g}" if coupling.offset else ""
    return [coupling.name, coupling.type, f"{coupling.joint} = {coupling.ratio:g} {coupling.other}{offset}"]


def collision_row(collision: Collision) -> list[str]:
    """Return name, kind and body, place, and surface of what touches."""
    kind = collision.shape.kind if collision.shape is not None else "ball" if collision.radius else "point"
    along, across, backward = collision.friction
    isotropic = along == across == backward
    friction = f"friction {along:g}" if isotropic else f"friction {_numbers(collision.friction)}"
    values = {"restitution": collision.restitution, "torsion": collision.torsion}
    extras = [friction, *(f"{name} {value:g}" for name, value in values.items() if value)]
    if not isotropic:
        extras.append(f"along {_numbers(collision.direction)}")
    return [collision.name, f"{kind} of {collision.body}", f"at {_numbers(collision.position)}", ", ".join(extras)]


def _skate_row(skate: Skate) -> list[str]:
    return [skate.name, skate.body, f"at {_numbers(skate.position)}", f"held along {_numbers(skate.direction)}"]


def _wheel_row(wheel: Wheel) -> list[str]:
    axis = f"axis {_numbers(wheel.axis)}"
    return [wheel.name, wheel.body, f"at {_numbers(wheel.position)}", axis, f"radius {wheel.radius:g} m"]


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


def _numbers(values: object) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in values) + ")"  # type: ignore[attr-defined]


def _table(title: str, rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [f"{title}:", *(f"  {line.rstrip()}" for line in padded)]
