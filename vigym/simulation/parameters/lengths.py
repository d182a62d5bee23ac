"""Mechanisms of longer or shorter bodies: all points fixed to a body move with its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Shape, size_fields
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree

# part of the distance from the centres of mass, below which joint frames that coincided still do
COINCIDENT = 1e-12


def with_lengths(mechanism: Mechanism, factors: Mapping[str, float]) -> Mechanism:
    """Return a copy of a mechanism, its bodies longer or shorter about their centres of mass.

    Bodies keep their orientation at the assembly and stay connected along the tree. Loops that do
    not close any more are closed like those that were added open.

    Args:
        mechanism: mechanism as built; it is not changed.
        factors: body -> factor > 0; masses and inertias are left to the caller.

    Raises:
        MechanismError: a body that has a curve, a surface or a joint of the user's own.
    """
    for track in mechanism.tracks.values():
        for body in (track.a, track.b):
            if factors.get(body, 1.0) != 1.0:
                raise MechanismError(
                    f"length of {body!r}: found joint {track.name!r} on it, expected a body "
                    "without curves, surfaces and joints of your own"
                )
    points = _AssemblyPoints(mechanism, factors)

    def scaled_fields(element: Any, end: str, *sizes: str) -> dict[str, Any]:
        factor = factors.get(getattr(element, end), 1.0)
        return {name: getattr(element, name) * factor for name in sizes}

    def resized_elements(elements: Mapping[str, Any], *sizes: str) -> dict[str, Any]:
        """Return elements fixed to one body with these attributes multiplied."""
        return {
            name: replace(e, **scaled_fields(e, "body", *sizes)) for name, e in elements.items()
        }

    other = mechanism.with_replaced_elements(
        bodies={
            name: replace(body, position=points.centres[name])
            for name, body in mechanism.bodies.items()
        },
        joints={name: _joint(joint, points) for name, joint in mechanism.joints.items()},
        springs={
            name: replace(s, **scaled_fields(s, "a", "point_a"), **scaled_fields(s, "b", "point_b"))
            for name, s in mechanism.springs.items()
        },
        frames=resized_elements(mechanism.frames, "position"),
        skates=resized_elements(mechanism.skates, "position"),
        wheels=resized_elements(mechanism.wheels, "position", "radius"),
        collisions={
            name: _collision(c, factors.get(c.body, 1.0))
            for name, c in mechanism.collisions.items()
        },
    )
    other.reset_structure()
    return other


class _AssemblyPoints:
    """Points of the bodies at the assembly pose, from the root of the tree to its leaves.

    Attributes:
        centres: body -> centre of mass (3,) [m].
    """

    def __init__(self, mechanism: Mechanism, factors: Mapping[str, float]) -> None:
        origin = np.zeros(3)
        self._factors = factors
        self._built: dict[str, Array] = {WORLD: origin}
        self._built |= {body.name: body.position for body in mechanism.bodies.values()}
        self.centres: dict[str, Array] = {WORLD: origin}
        for joint, child in spanning_tree(mechanism):
            if joint.type == "floating":  # its coordinates are the pose of the centre of mass
                lever = self._built[child] - self._built[joint.parent]
                self.centres[child] = self.centres[joint.parent] + lever
                continue
            lever = self._factors.get(child, 1.0) * (self._built[child] - joint.position)
            self.centres[child] = self.new_position(joint.parent, joint.position) + lever

    def new_position(self, body: str, point: Array) -> Array:
        """Return the new place (3,) [m, world] of a point of a body."""
        lever = self._factors.get(body, 1.0) * (point - self._built[body])
        place: Array = self.centres[body] + lever
        return place


def _joint(joint: Joint, points: _AssemblyPoints) -> Joint:
    parent = points.new_position(joint.parent, joint.position)
    child = points.new_position(joint.child, joint.child_position)
    near = np.abs(parent - child).max() <= COINCIDENT * (1.0 + np.abs(parent).max())
    closed = bool((joint.position == joint.child_position).all()) and near
    return replace(joint, position=parent, child_position=parent if closed else child)


def _collision(collision: Collision, factor: float) -> Collision:
    values = {name: getattr(collision, name) * factor for name in ("position", "radius", "corners")}
    shape = None if collision.shape is None else _shape(collision.shape, factor)
    return replace(collision, shape=shape, **values)


def _shape(shape: Shape, factor: float) -> Shape:
    sizes = [size.name for size in size_fields(type(shape)) if size.name != "path"]
    names = ["position", *sizes]
    return replace(shape, **{name: np.asarray(getattr(shape, name)) * factor for name in names})
