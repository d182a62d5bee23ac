"""Shapes of every kind, of random sizes: tests that take theirs from here have a new kind too."""

from __future__ import annotations

import numpy as np

from scenes.trees import unit
from vigym import Mechanism
from vigym.mechanism.elements.shapes import SHAPES, size_fields

SOLIDS = [kind for kind in SHAPES if kind != "mesh"]  # what a mesh is stands in its file


def box_inertia(mass, sizes):
    """Principal moments (3,) of a uniform box of three edges [kg m^2]."""
    a, b, c = np.square(sizes)
    return mass * np.array([b + c, a + c, a + b]) / 12.0


def sample(kind, seed=0, placed=True):
    """A shape with sizes of 0.1 to 0.5 m, placed and turned in its body if asked for."""
    rng = np.random.default_rng(seed)
    sizes = {
        size.name: rng.uniform(0.1, 0.5, None if size.type is float else 3)
        for size in size_fields(SHAPES[kind])
    }
    pose = {"position": rng.uniform(-0.1, 0.1, 3), "orientation": unit(rng.normal(size=4))}
    return SHAPES[kind](**sizes, **(pose if placed else {}))


def support(parts, d):
    """How far the touching parts reach along directions (n, 3): what a plane with that normal would be touched by."""
    beyond = {
        "point": lambda part: part.radius,
        "rim": lambda part: part.radius * np.linalg.norm(np.cross(d, part.axis), axis=1),
    }
    return np.max([d @ part.point + beyond[part.kind](part) for part in parts], axis=0)


def thrown(kind):
    """A body of 1 kg above the ground, of a shape whose origin is beside its centre of mass."""
    mech, shape = Mechanism(ground=True), sample(kind)
    height = shape.bounding_radius + np.linalg.norm(shape.position) + 0.05
    mech.add_body("thrown", 1.0, (0.02, 0.025, 0.03), (0.0, 0.0, height))
    mech.add_collision("skin", "thrown", shape, friction=0.5)
    return mech
