"""A mechanism whose bodies are longer or shorter: everything fixed to a body moves away from its centre of mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.shapes import Shape
from vigym.mechanism.topology.graph import spanning_tree

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

SAME = 1e-12  # part of their distance from the centres of mass, below which two halves of a joint that met still do


def stretched(mechanism: Mechanism, factors: Mapping[str, float]) -> Mechanism:
    """Stretch the bodies of a mechanism, in place, about their centres of mass.

    Bodies keep their orientation at the assembly and stay joined along the tree; loops that do not close any more are
    closed as those that were never closed there.

    Args:
        mechanism: a copy that nobody else holds.
        factors: body -> factor > 0; masses and inertias are the caller's.
    """
    places = _Places(mechanism, factors)
    joints = {}
    for joint in mechanism.joints.values():
        parent, child = places.on(joint.parent, joint.position), places.on(joint.child, joint.child_position)
        near = np.abs(parent - child).max() <= SAME * (1.0 + np.abs(parent).max())
        closed = bool((joint.position == joint.child_position).all()) and near
        joints[joint.name] = replace(joint, position=parent, child_position=parent if closed else child)
    mechanism._bodies = {body.name: replace(body, position=places.new[body.name]) for body in mechanism.bodies.values()}
    mechanism._joints = joints

    def longer(element: Any, end: str, point: str, *sizes: str) -> dict[str, Any]:
        factor = factors.get(getattr(element, end), 1.0)
        return {name: getattr(element, name) * factor for name in (point, *sizes)}

    for name, spring in mechanism.springs.items():
        ends = longer(spring, "a", "point_a") | longer(spring, "b", "point_b")
        mechanism._springs[name] = replace(spring, **ends)
    for name, frame in mechanism.frames.items():
        mechanism._frames[name] = replace(frame, **longer(frame, "body", "position"))
    for name, skate in mechanism.skates.items():
        mechanism._skates[name] = replace(skate, **longer(skate, "body", "position"))
    for name, wheel in mechanism.wheels.items():
        mechanism._wheels[name] = replace(wheel, **longer(wheel, "body", "position", "radius"))
    for name, collision in mechanism.collisions.items():
        mechanism._collisions[name] = _collision(collision, factors.get(collision.body, 1.0))
    mechanism._structure = None
    return mechanism


class _Places:
    """Where the bodies' centres of mass go, root to leaves."""

    def __init__(self, mechanism: Mechanism, factors: Mapping[str, float]) -> None:
        self._factors, zero = factors, np.zeros(3)
        self._old: dict[str, Array] = {WORLD: zero} | {b.name: b.position for b in mechanism.bodies.values()}
        self.new: dict[str, Array] = {WORLD: zero}
        for joint, child in spanning_tree(mechanism):
            if joint.type == "floating":  # its coordinates are the pose of the centre of mass
                self.new[child] = self.new[joint.parent] + (self._old[child] - self._old[joint.parent])
                continue
            arm = self._factors.get(child, 1.0) * (self._old[child] - joint.position)
            self.new[child] = self.on(joint.parent, joint.position) + arm

    def on(self, body: str, point: Array) -> Array:
        """Where a point of a body goes, world (3,) [m]."""
        place: Array = self.new[body] + self._factors.get(body, 1.0) * (point - self._old[body])
        return place


def _collision(collision: Collision, factor: float) -> Collision:
    values = {name: getattr(collision, name) * factor for name in ("position", "radius", "corners")}
    return replace(collision, shape=None if collision.shape is None else _shape(collision.shape, factor), **values)


def _shape(shape: Shape, factor: float) -> Shape:
    sizes = {name for name in ("position", "size", "radius", "length", "scale") if hasattr(shape, name)}
    return replace(shape, **{name: np.asarray(getattr(shape, name)) * factor for name in sizes})
