"""What `vigym inspect` tells of a mechanism, as plain data."""

from typing import Any

import numpy as np

from vigym.mechanism.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.parts import Body
from vigym.mechanism.shapes import Box, Cylinder, Mesh, Shape, Sphere
from vigym.mechanism.summary import collision_row, coupling_row, loop_rows

FLAT = 1e-6  # of the largest moment: how near to the triangle inequality a plate comes
EVEN = 1e-3  # of the largest moment: moments that differ by less are one number written three times


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
        "loops": [{"joint": name, "rows": rows} for name, rows in loop_rows(mech)],
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
            {"action": entry.action, "element": entry.element, "message": entry.message} for entry in mech.report
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
