"""Mechanisms of Si and Guenter's paper: tori in chains and on a curve, a windmill, a board."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vigym import Mechanism
from vigym.mechanism.tracks.curves import Bezier
from vigym.mechanism.tracks.sides import Point, Side
from vigym.mechanism.tracks.surfaces import Ellipsoid, Patch, Sphere, Torus
from vigym.spatial import quaternion_product, rotation_matrix

R, TUBE = 0.3, 0.06  # [m] of the tori of a chain
HALF = np.sqrt(0.5)
TURNS = (HALF, HALF, 0.0, 0.0), (HALF, 0.0, HALF, 0.0)  # axis z to -y and to x


def torus_inertia(mass: float, radius: float, tube: float) -> tuple[float, float, float]:
    """Return the moments of a solid torus about x, y and its axis z."""
    across = mass * (0.5 * radius**2 + 0.625 * tube**2)
    return across, across, mass * (radius**2 + 0.75 * tube**2)


def add_tori(mech: Mechanism, count: int, first: int = 0, spin: bool = False) -> None:
    """Add interlinked tori below each other, across in turns."""
    for i in range(count):
        place = 0.0, 0.0, -2.0 * i * (R - TUBE)
        mech.add_body(f"t{i}", 1.0, torus_inertia(1.0, R, TUBE), place, TURNS[(i + first) % 2])
    for i in range(count - 1):
        tori = Torus(R, TUBE), Torus(R, TUBE)
        mech.tracks.add_surface(f"c{i}", f"t{i}", f"t{i + 1}", *tori, spin=spin)


def torus_chain(count: int, spin: bool = False) -> Mechanism:
    """Return SI's TC: the first torus on a universal joint, 4 (count - 1) + 2 freedoms in all."""
    mech = Mechanism(name=f"torus chain of {count}")
    add_tori(mech, count, spin=spin)
    mech.add_joint(
        "pin",
        "universal",
        "world",
        "t0",
        (0.0, 0.0, R),
        axis=(1.0, 0.0, 0.0),
        axis2=(0.0, 1.0, 0.0),
    )
    return mech


RAIL = [
    (0, 0, 0),
    (0.3, 0.2, -0.5),
    (0.8, 0, -0.8),
    (1.2, -0.3, -0.9),
    (1.7, 0, -0.8),
    (2.2, 0.2, -0.4),
    (2.5, 0, 0),
]  # SI's figure 3: seven control points


def spline_chain(count: int) -> Mechanism:
    """Return the system of SI's figure 3: tori on a Bezier curve, the first one's axis along it."""
    mech = Mechanism(name=f"torus chain of {count} on a spline")
    add_tori(mech, count, first=1)
    rail = Bezier(np.array(RAIL, dtype=float) * (1.0, 0.5, 0.3) - (1.25, 0.0, -0.18))
    mech.tracks.add_curve("rail", "world", "t0", rail, axis=(0.0, 0.0, 1.0))
    return mech


BALL, AXES = 0.1, (0.12, 0.07, 0.09)  # [m] of an arm of the windmill, the longest axis outwards
RING, WIRE = 0.12, 0.04
TILT = np.array(TURNS[0])
# kind, distance from the hub's centre [m], whether its axis lies across the arm and the axle
ARM = (
    ("sphere", 0.25, False),
    ("ellipsoid", 0.47, False),
    ("sphere", 0.69, False),
    ("torus", 0.95, False),
    ("torus", 1.11, True),
    ("ellipsoid", 1.39, False),
)
SHAPES = {"sphere": Sphere(BALL), "ellipsoid": Ellipsoid(AXES), "torus": Torus(RING, WIRE)}
MOMENTS = {
    "sphere": (0.004, 0.004, 0.004),
    "ellipsoid": (0.0026, 0.0045, 0.0039),
    "torus": torus_inertia(1.0, RING, WIRE),
}


def windmill(arms: int = 3, spin: bool = False) -> Mechanism:
    """Return the system of SI's figure 2: a hub on a hinge and arms of six bodies.

    It has 24 arms + 1 degrees of freedom. Its joints are of sphere on sphere, on ellipsoid and on
    torus, torus on torus and on ellipsoid. The poles of all bodies are along the axle.
    """
    mech = Mechanism(gravity=(0.0, 0.0, -1.0), name="windmill")
    mech.add_body("hub", 4.0, (0.1, 0.1, 0.1))
    mech.add_joint("axle", "revolute", "world", "hub", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    for arm in range(arms):
        half = np.pi * arm / arms - 0.25 * np.pi  # x outwards, z along the axle
        turn = quaternion_product(np.array([np.cos(half), 0.0, np.sin(half), 0.0]), TILT)
        before: tuple[str, Side] = "hub", Sphere(0.15, orientation=TURNS[0])
        for k, (kind, distance, crossed) in enumerate(ARM):
            name = f"{arm}{kind}{k}"
            q = quaternion_product(turn, TILT) if crossed else turn
            mech.add_body(name, 1.0, MOMENTS[kind], distance * rotation_matrix(q)[:, 0], q)
            mech.tracks.add_surface(
                f"{arm}:{k}", before[0], name, before[1], SHAPES[kind], spin=spin
            )
            before = name, SHAPES[kind]
    return mech


def board() -> Mechanism:
    """Return the system of SI's figure 4: a board along a Bezier surface, and a rod on it."""
    mech = Mechanism(name="board on a Bezier surface")
    mech.add_body("board", 2.0, (0.02, 0.05, 0.06), (0.3, 0.2, 0.02))
    mech.add_body("rod", 0.5, (0.01, 0.01, 0.001), (0.3, 0.2, 0.22))
    mech.add_joint(
        "mast",
        "universal",
        "board",
        "rod",
        (0.3, 0.2, 0.02),
        (1.0, 0.0, 0.0),
        axis2=(0.0, 1.0, 0.0),
    )
    point = Point((0.0, 0.0, -0.02), normal=(0.0, 0.0, 1.0))
    mech.tracks.add_surface("slides", "world", "board", bump(-0.4), point)
    return mech


def bump(height: float = 0.2) -> Patch:
    """Return a Bezier patch of 25 control points over a square of 2 m."""
    places = np.linspace(-1.0, 1.0, 5)
    x, y = np.meshgrid(places, places, indexing="ij")
    return Patch(np.stack([x, y, height * np.cos(2.0 * x) * np.cos(1.5 * y)], axis=2))


def turning(mech: Mechanism, rate: float) -> dict[str, NDArray[np.float64] | float]:
    """Return the velocities with which the windmill turns about its axle as one body."""
    omega = np.array([0.0, rate, 0.0])
    return {"axle": rate} | {
        joint.name: np.append(
            np.cross(omega, mech.bodies[joint.child].position),
            rotation_matrix(mech.bodies[joint.child].orientation).T @ omega,
        )
        for joint in mech.tree_joints
        if joint.name != "axle"
    }
