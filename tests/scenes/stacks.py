"""Stacks of unlike bodies that fall on each other: light ones between heavy ones."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism
from vigym.mechanism.elements.shapes import Box, Capsule, Sphere


def solid(generator, kind, size):
    """A shape, its extents and how far it reaches."""
    if kind == "sphere":
        radius = size * generator.uniform(0.2, 0.6)
        return Sphere(radius=radius), np.full(3, 1.6 * radius), radius
    if kind == "capsule":
        radius, length = size * generator.uniform((0.08, 0.4), (0.2, 1.2))
        extents = np.array([2.0 * radius, 2.0 * radius, length + 2.0 * radius])
        return Capsule(radius=radius, length=length), extents, radius + 0.5 * length
    extents = size * generator.uniform(0.2, 1.0, 3)
    return Box(size=tuple(extents)), extents, 0.5 * np.linalg.norm(extents)


def stack(seed, ratio, count=4):
    """A stack whose masses are 1 and ``ratio`` in turn, friction at random; its start."""
    generator = np.random.default_rng(seed)
    mech, base = Mechanism(ground=True), {}
    size, friction = 10.0 ** generator.uniform(-1.5, 1.0), generator.choice([0.0, 0.2, 0.6, 1.2])
    kinds, height = [], 0.0
    for i in range(count):
        kind = str(generator.choice(["sphere", "capsule", "box"]))
        kind = "sphere" if kinds and kinds[-1] == kind == "box" else kind
        shape, extents, reach = solid(generator, kind, size)
        mass = ratio if (i + seed) % 2 else 1.0
        squares = extents**2
        height += 1.02 * reach
        mech.add_body(f"b{i}", mass, mass * (squares.sum() - squares) / 12.0)
        mech.add_collision(f"c{i}", f"b{i}", shape, friction=float(friction))
        turn = generator.normal(size=4)
        aside = 0.05 * size * generator.normal(size=2)
        base[f"b{i}"] = {"position": (*aside, height), "orientation": turn / np.linalg.norm(turn)}
        height += 1.02 * reach
        kinds.append(kind)
    for j in range(count):
        for i in range(j):
            if not kinds[i] == kinds[j] == "box":
                mech.add_pair(f"b{j}", f"b{i}")
    return mech, base, size
