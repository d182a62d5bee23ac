"""Mechanisms of the papers: thin uniform rods in the plane of x and z, on hinges along y."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

import vigym

Y = (0.0, 1.0, 0.0)
RADIUS = 0.05  # of rods [m]; matters about their own axis alone
Point = tuple[float, float] | NDArray[np.float64]  # x and z [m]


def add_rod(mech: vigym.Mechanism, name: str, start: Point, end: Point, density: float) -> None:
    """Add a rod [kg/m] between two points; its own z axis leads from one to the other."""
    x, z = np.add(start, end) / 2
    dx, dz = np.subtract(end, start)
    length, angle = np.hypot(dx, dz), np.arctan2(dx, dz)
    mass = density * length
    across, along = mass * length**2 / 12.0, mass * RADIUS**2 / 2.0
    turned = np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0
    mech.add_body(name, mass, (across, across, along), (x, 0.0, z), turned)


def pin(mech: vigym.Mechanism, ends: tuple[str, str], at: Point, kind: str = "revolute") -> None:
    """Join two bodies at a point, by a hinge along y or another type of joint."""
    mech.add_joint("-".join(ends), kind, *ends, (at[0], 0.0, at[1]), Y)


def linkage(
    points: Iterable[Point], kind: str = "revolute", closed: bool = False, density: float = 1.0
) -> vigym.Mechanism:
    """Return rods from point to point, the first on the world; closed: the end of the last, too."""
    mech, places = vigym.Mechanism(), list(points)
    parent = "world"
    for number, (start, end) in enumerate(zip(places, places[1:], strict=False)):
        name = f"rod{number}"
        add_rod(mech, name, start, end, density)
        pin(mech, (parent, name), start, kind)
        parent = name
    if closed:
        mech.add_joint("end", kind, "world", parent, (places[-1][0], 0.0, places[-1][1]), Y)
    return mech


def chain(
    count: int, angle: float, length: float = 1.0, kind: str = "revolute", density: float = 1.0
) -> vigym.Mechanism:
    """Return rods in line, turned by an angle [rad] from hanging down, x to the right."""
    way = length * np.array([np.sin(angle), -np.cos(angle)])
    return linkage([i * way for i in range(count + 1)], kind, density=density)


def arc(count: int, turned: float = 0.5) -> list[Point]:
    """Return the ends of rods of 1 m on half a circle below the origin, turned by an angle."""
    radius = 0.5 / np.sin(np.pi / (2 * count))
    angles = np.pi * np.arange(count + 1) / count
    x, z = radius * (1.0 - np.cos(angles)), -radius * np.sin(angles)
    c, s = np.cos(turned), np.sin(turned)
    return list(np.column_stack([c * x - s * z, s * x + c * z]))


def rhombus(half: float, turned: float) -> list[Point]:
    """Return the corners of a rhombus of 1 m that hangs on the origin, the first also the last.

    Args:
        half: half of the angle between its upper sides [rad].
        turned: angle of its diagonal from hanging down [rad].
    """
    ways = [np.array([np.sin(turned + s), -np.cos(turned + s)]) for s in (half, -half)]
    return [np.zeros(2), ways[0], ways[0] + ways[1], ways[1], np.zeros(2)]


def segments(count: int, half: float = 0.7, turned: float = 0.6) -> vigym.Mechanism:
    """Return a chain of rhombi of four rods, each on the corner of the one above (MC Fig. 6)."""
    mech, corner = vigym.Mechanism(), np.zeros(2)
    above = "world"
    for k in range(count):
        a, b, d, c, _ = (corner + point for point in rhombus(half, turned))
        names = [f"{k}{side}" for side in ("ab", "ac", "bd", "cd")]
        for name, ends in zip(names, ((a, b), (a, c), (b, d), (c, d)), strict=True):
            add_rod(mech, name, *ends, 1.0)
        first, second, third, fourth = names
        pin(mech, (above, first), a)
        pin(mech, (first, second), a)
        pin(mech, (first, third), b)
        pin(mech, (second, fourth), c)
        pin(mech, (third, fourth), d)
        above, corner = third, d
    return mech


def binary_tree(levels: int) -> vigym.Mechanism:
    """Return a binary tree of rods on ball joints (BAR Fig. 3)."""
    mech = vigym.Mechanism()
    for k in range(1, 2**levels):
        level = k.bit_length() - 1
        start = np.array([4.0 * ((k + 0.5) / 2**level - 1.5), -0.5 * level])
        add_rod(mech, f"rod{k}", start, start - (0.0, 0.5), 2.0)
        pin(mech, (f"rod{k // 2}" if k > 1 else "world", f"rod{k}"), start, "spherical")
    return mech
