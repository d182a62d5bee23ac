"""Mechanisms with curve and surface joints."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism
from vigym.mechanism.tracks.sides import (
    Bezier,
    BSpline,
    Cylinder,
    Ellipsoid,
    Fitted,
    Helix,
    Patch,
    Plane,
    Point,
    Torus,
)

R, TUBE = 0.3, 0.12  # [m] of the tori of a chain
HALF = np.sqrt(0.5)
SPIN = (0.05, 0.06, 0.09)


def torus_chain(count):
    """Interlinked tori below each other, across in turns; the first one on a ball joint."""
    mech = Mechanism(name=f"torus chain of {count}")
    for i in range(count):
        turned = (HALF, HALF, 0.0, 0.0) if i % 2 == 0 else (HALF, 0.0, HALF, 0.0)
        mech.add_body(f"t{i}", 1.0, SPIN, (0.0, 0.0, -2.0 * i * (R - TUBE)), turned)
    mech.add_joint("pin", "spherical", "world", "t0", (0.0, 0.0, R))
    for i in range(count - 1):
        mech.add_surface_joint(f"c{i}", f"t{i}", f"t{i + 1}", Torus(R, TUBE), Torus(R, TUBE))
    return mech


def hanging(name):
    """One body that hangs in a surface or on a curve of the world."""
    mech = Mechanism(name=name)
    surface, own, position = SURFACES[name]
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025), position)
    mech.add_surface_joint("touch", "world", "body", surface, own)
    return mech


def bump(height=0.2):
    """A Bezier patch of 25 control points over a square of 2 m."""
    places = np.linspace(-1.0, 1.0, 5)
    x, y = np.meshgrid(places, places, indexing="ij")
    return Patch(np.stack([x, y, height * np.cos(2.0 * x) * np.cos(1.5 * y)], axis=2))


SURFACES = {
    "ball on ball": (Point((0.0, 0.0, 0.5), 0.3), Point((0.0, 0.0, 0.1), 0.1), (0.1, 0.05, 0.0)),
    "ball on ellipsoid": (Ellipsoid((0.5, 0.3, 0.2)), Point(radius=0.1), (0.1, 0.0, -0.3)),
    "ball on torus": (Torus(0.5, 0.1), Point(radius=0.1), (0.5, 0.1, -0.2)),
    "torus on torus": (Torus(0.5, 0.1), Torus(0.3, 0.05, orientation=(HALF, HALF, 0.0, 0.0)), (0.5, 0.0, -0.16)),
    "torus on ellipsoid": (
        Ellipsoid((0.5, 0.3, 0.2)), Torus(0.3, 0.05, orientation=(HALF, HALF, 0.0, 0.0)), (0.1, 0.0, -0.6),
    ),
    "ellipsoid on ellipsoid": (Ellipsoid((0.5, 0.3, 0.2)), Ellipsoid((0.2, 0.15, 0.1)), (0.15, 0.05, -0.3)),
    "ball on patch": (bump(-0.2), Point(radius=0.1), (0.1, 0.2, 0.0)),
    "board on patch": (bump(-0.2), Plane((0.0, 0.0, -0.05)), (0.1, 0.1, -0.2)),
    "point on cylinder": (Cylinder(0.3, orientation=(HALF, 0.0, HALF, 0.0)), Point(), (0.0, 0.05, -0.3)),
}  # fmt: skip
RAIL = [
    (0, 0, 0),
    (0.3, 0.2, -0.5),
    (0.8, 0, -0.8),
    (1.2, -0.3, -0.9),
    (1.7, 0, -0.8),
    (2.2, 0.2, -0.4),
    (2.5, 0, 0),
]
RING = [(0.5, 0.0, 0.1), (0.0, 0.6, -0.2), (-0.5, 0.0, 0.1), (0.0, -0.6, -0.2)]
CURVES = {
    "circle": (Helix(0.5, orientation=(HALF, HALF, 0.0, 0.0)), (0.3, 0.0, -0.4)),
    "helix": (Helix(0.5, 0.1, turns=4.0), (0.3, 0.4, 0.2)),
    "line": (Cylinder(orientation=(np.cos(1.0), 0.0, np.sin(1.0), 0.0)), (0.1, 0.0, 0.0)),
    "Bezier": (Bezier(RAIL), (0.6, 0.05, -0.5)),
    "closed spline": (Fitted(RING, closed=True), (0.4, 0.2, 0.0)),
    "closed B-spline": (BSpline(RING, closed=True), (0.3, 0.2, 0.0)),
}  # fmt: skip


def sliding(name, axis=None):
    """One body with a point on a curve of the world, off its centre of mass."""
    mech = Mechanism(name=name)
    curve, position = CURVES[name]
    mech.add_body("body", 1.0, (0.02, 0.03, 0.025), position)
    mech.add_curve_joint("rail", "world", "body", curve, (0.05, 0.0, 0.1), axis)
    return mech
