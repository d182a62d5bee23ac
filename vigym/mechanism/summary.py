"""Description of a mechanism as plain data and as text: elements, degrees of freedom, notes."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import Body, Ground
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.couplings import Coupling, Skate, VelocityConstraint, Wheel
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motion, Motor
from vigym.mechanism.elements.springs import Potential, Spring
from vigym.mechanism.topology.analysis import Structure
from vigym.mechanism.topology.loop_constraints import LoopConstraints
from vigym.mechanism.tracks.joints import Track

_VISIBLE = 1e-12  # misfits below are rounding [m, rad]

Row = dict[str, Any]


def describe(mechanism: Elements, structure: Structure | AssemblyError) -> dict[str, Any]:
    """Return counts, elements and notes of a mechanism as plain data, as JSON has it.

    Bodies and joints are numbers, all other elements texts. Infinite limits are None, as are the
    degrees of freedom of a mechanism that cannot be assembled.

    Args:
        mechanism: the mechanism.
        structure: of the mechanism, or the error that its assembly raised.
    """
    found = structure if isinstance(structure, Structure) else None
    constraints = found.loop_constraints if found else {}
    closing = mechanism.closing_joints
    names = {joint.name for joint in closing}
    return {
        "name": mechanism.name,
        "mass": sum(body.mass for body in mechanism.bodies.values()),
        "degrees_of_freedom": found.dofs if found else None,
        "redundant_constraints": found.redundant_constraints if found else None,
        "actuated": mechanism.actuator_names,
        "ground": None if mechanism.ground is None else _ground_text(mechanism.ground),
        "bodies": [_body(body) for body in mechanism.bodies.values()],
        "joints": [
            describe_joint(joint, joint.limits, joint.name in names)
            for joint in mechanism.ordered_joints
        ],
        "loops": [
            {"joint": joint.name, "rows": _loop_text(joint, constraints.get(joint.name))}
            for joint in closing
        ],
        "springs": [_spring(spring) for spring in mechanism.springs.values()],
        "potentials": [_potential(potential) for potential in mechanism.potentials.values()],
        "motors": [_motor(motor) for motor in mechanism.motors.values()],
        "motions": [_motion(motion) for motion in mechanism.motions.values()],
        "velocity_constraints": [
            _velocity_constraint(one) for one in mechanism.velocity_constraints.values()
        ],
        "tracks": [_track(track) for track in mechanism.tracks.values()],
        "couplings": [_coupling(coupling) for coupling in mechanism.couplings.values()],
        "contacts": [_collision(collision) for collision in mechanism.collisions.values()],
        "pairs": [{"body": first, "other": second} for first, second in mechanism.pairs],
        "skates": [_skate(skate) for skate in mechanism.skates.values()],
        "wheels": [_wheel(wheel) for wheel in mechanism.wheels.values()],
        "frames": {frame.name: frame.body for frame in mechanism.frames.values()},
        "notes": [asdict(note) for note in mechanism.notes],
    }


def summary(mechanism: Elements, structure: Structure | AssemblyError) -> str:
    """Return all elements, counts and notes of a mechanism, one element a line.

    Args:
        mechanism: the mechanism.
        structure: of the mechanism, or the error that its assembly raised.
    """
    found = describe(mechanism, structure)
    tables: dict[str, list[list[str]]] = {
        "bodies": [_body_cells(body) for body in found["bodies"]],
        "joints": [_joint_cells(joint) for joint in found["joints"]],
        "loops": [[f"{loop['joint']} closes a loop", loop["rows"]] for loop in found["loops"]],
    }
    for title, rows in found.items():
        if isinstance(rows, list) and title not in {*tables, "actuated", "notes"}:
            tables[title.replace("_", " ")] = [list(row.values()) for row in rows]
    tables["frames"] = [[name, f"on {body}"] for name, body in found["frames"].items()]
    tables["not simulated as written"] = [[str(note)] for note in mechanism.notes]
    dofs = [
        f"degrees of freedom: {found['degrees_of_freedom']}",
        f"redundant constraints: {found['redundant_constraints']}",
    ]
    if isinstance(structure, AssemblyError):
        dofs = [f"cannot be assembled: {structure}"]
    counts = f"{len(found['bodies'])} bodies, {len(found['joints'])} joints"
    lines = [
        f"{found['name']}: {counts}, {found['mass']:.6g} kg",
        *dofs,
        f"actuated: {len(found['actuated'])}",
        *([f"ground: {found['ground']}"] if found["ground"] else []),
        *(line for title, rows in tables.items() for line in _table(title, rows)),
    ]
    return "\n".join(lines)


def mass_properties(
    name: str, mass: float, position: NDArray[np.float64], inertia: NDArray[np.float64]
) -> Row:
    """Return mass, centre of mass (3,) and principal moments (3,) of a body or link."""
    return {
        "name": name,
        "mass": mass,
        "position": position.tolist(),
        "principal_moments": np.linalg.eigvalsh(inertia).tolist(),
    }


def describe_joint(joint: Any, limits: Iterable[Any] | None, closes_loop: bool) -> Row:
    """Return type, bodies, axis and parameters of a joint.

    Args:
        joint: of a mechanism or of a file.
        limits: pairs of lower and upper value, or None.
        closes_loop: whether it closes a loop.
    """
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis.tolist(),
        "limits": None if limits is None else [[_finite(end) for end in pair] for pair in limits],
        "effort": joint.effort,
        "velocity": joint.velocity,
        "damping": np.asarray(joint.damping).tolist(),
        "stiffness": np.asarray(joint.stiffness).tolist(),
        "armature": joint.armature,
        "friction": joint.friction,
        "closes_loop": closes_loop,
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _body(body: Body) -> Row:
    return mass_properties(body.name, body.mass, body.position, body.inertia)


def _loop_text(joint: Joint, constraints: LoopConstraints | None) -> str:
    parts = ["open as described"] if joint.is_open else []
    if constraints is not None and constraints.redundant:
        redundant = constraints.redundant
        count = len(constraints.translations) + len(constraints.rotations) + redundant
        parts.append(f"{redundant} of {count} rows redundant, not imposed")
        pairs = zip(constraints.misfit, ("m", "rad"), strict=True)
        misfits = [f"{value:.1e} {unit}" for value, unit in pairs if value > _VISIBLE]
        parts += [f"they are off by up to {' and '.join(misfits)}"] if misfits else []
    return ", ".join(parts)


def _ground_text(ground: Ground) -> str:
    friction = "" if ground.friction is None else f", friction {_numbers(ground.friction)}"
    if ground.terrain is not None:
        maps, columns, rows = ground.terrain.heights.shape
        size = f"{columns} x {rows} points, cells of {ground.terrain.cell:g} m"
        return f"terrain, {maps} maps of {size}{friction}"
    return f"height {ground.height:g} m, normal {_numbers(ground.normal)}{friction}"


def _spring(spring: Spring) -> Row:
    return {
        "name": spring.name,
        "ends": f"{spring.a} {_numbers(spring.point_a)} - {spring.b} {_numbers(spring.point_b)}",
        "stiffness": f"stiffness {spring.stiffness:g} N/m",
        "rest_length": f"rest length {spring.rest_length:g} m",
        "damping": f"damping {spring.damping:g} N s/m" if spring.damping else "",
    }


def _motor(motor: Motor) -> Row:
    model = motor.model
    return {
        "joint": motor.joint,
        "target": "to a position" if motor.kp else "to a rate",
        "kp": f"kp {motor.kp:g}",
        "kd": f"kd {motor.kd:g}",
        "effort": f"effort {motor.effort:g}",
        "model": f"{model.voltage:g} V, {model.resistance:g} Ohm" if model else "",
    }


def _motion(motion: Motion) -> Row:
    how = "by a function of time"
    if motion.times is not None:
        first, last = motion.times[0], motion.times[-1]
        how = f"by {len(motion.times)} samples from {first:g} s to {last:g} s"
    return {"coordinate": motion.coordinate, "motion": how}


def _velocity_constraint(constraint: VelocityConstraint) -> Row:
    terms = [
        f"{_numbers(weights[:3])} . v + {_numbers(weights[3:])} . w of {body}"
        for body, weights in constraint.terms.items()
    ]
    rate = "a function of time"
    if constraint.times is not None and constraint.values is not None:
        count = len(constraint.times)
        rate = f"{constraint.values[0]:g}" if count == 1 else f"{count} samples"
    frame = {"world": "in the world", "body": "each in its own body"}
    pushes = [
        f"{_numbers(push[:3])}, {_numbers(push[3:])} on {body}"
        for body, push in (constraint.pushes or {}).items()
    ]
    return {
        "name": constraint.name,
        "equation": f"{' + '.join(terms)} = {rate}",
        "frame": frame.get(constraint.frame, f"in {constraint.frame}"),
        "pushes": f"pushes {', '.join(pushes)}" if pushes else "",
    }


def _potential(potential: Potential) -> Row:
    function = getattr(potential.energy, "__name__", repr(potential.energy))
    return {"name": potential.name, "body": f"of {potential.body}", "energy": f"by {function}"}


def _track(track: Track) -> Row:
    return {"name": track.name, "sides": track.kind, "rows": f"{track.rows} rows"}


def _coupling(coupling: Coupling) -> Row:
    offset = f" + {coupling.offset:g}" if coupling.offset else ""
    return {
        "name": coupling.name,
        "type": coupling.type,
        "equation": f"{coupling.joint} = {coupling.ratio:g} {coupling.other}{offset}",
    }


def _collision(collision: Collision) -> Row:
    kind = "ball" if collision.radius else "point"
    if collision.shape is not None:
        kind = collision.shape.kind
    along, across, backward = collision.friction
    isotropic = along == across == backward
    friction = f"{along:g}" if isotropic else _numbers(collision.friction)
    values = {"restitution": collision.restitution, "torsion": collision.torsion}
    surface = [f"friction {friction}"]
    surface += [f"{name} {value:g}" for name, value in values.items() if value]
    surface += [] if isotropic else [f"along {_numbers(collision.direction)}"]
    return {
        "name": collision.name,
        "shape": f"{kind} of {collision.body}",
        "place": f"at {_numbers(collision.position)}",
        "surface": ", ".join(surface),
    }


def _skate(skate: Skate) -> Row:
    return {
        "name": skate.name,
        "body": skate.body,
        "place": f"at {_numbers(skate.position)}",
        "direction": f"held along {_numbers(skate.direction)}",
    }


def _wheel(wheel: Wheel) -> Row:
    return {
        "name": wheel.name,
        "body": wheel.body,
        "place": f"at {_numbers(wheel.position)}",
        "axis": f"axis {_numbers(wheel.axis)}",
        "radius": f"radius {wheel.radius:g} m",
    }


def _body_cells(body: Row) -> list[str]:
    return [body["name"], f"{body['mass']:.6g} kg", f"at {_numbers(body['position'])}"]


def _joint_cells(joint: Row) -> list[str]:
    limits = [
        (-np.inf if low is None else low, np.inf if high is None else high)
        for low, high in joint["limits"] or ()
    ]
    extras = [f"limits {', '.join(map(_numbers, limits))}"] if limits else []
    parameters = ("damping", "stiffness", "armature", "friction", "effort", "velocity")
    extras += [f"{name} {_one_or_more(joint[name])}" for name in parameters if np.any(joint[name])]
    ends = f"{joint['parent']} -> {joint['child']}"
    axis = f"axis {_numbers(joint['axis'])}"
    return [joint["name"], joint["type"], ends, axis, ", ".join(extras)]


def _one_or_more(value: float | list[float]) -> str:
    return _numbers(value) if isinstance(value, list) else f"{value:g}"


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
