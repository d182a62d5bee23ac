"""Rag dolls: a torso with light limbs of capsules, without motors."""

import numpy as np

from vigym import Mechanism
from vigym.mechanism.elements.shapes import Capsule

TORSO, THIN = 30.0, 2.5e-3  # mass [kg]; thickness of limbs squared, over their length squared
# limbs of one side: parent, start, end [m], mass over the torso's, type of joint
LIMBS = {
    "thigh": ("torso", (0.0, 0.1, -0.25), (0.0, 0.1, -0.7), 0.15, "spherical"),
    "shank": ("thigh", (0.0, 0.1, -0.7), (0.0, 0.1, -1.1), 0.08, "revolute"),
    "foot": ("shank", (-0.02, 0.1, -1.1), (0.18, 0.1, -1.12), 0.02, "revolute"),
    "upper_arm": ("torso", (0.0, 0.2, 0.2), (0.0, 0.2, -0.1), 0.05, "spherical"),
    "forearm": ("upper_arm", (0.0, 0.2, -0.1), (0.0, 0.2, -0.35), 0.03, "revolute"),
}


def add_limb(mech, name, parent, start, end, mass, kind):
    """Add a rod with the shape of a capsule, and the joint at its start."""
    way = end - start
    length = np.linalg.norm(way)
    spread = length**2 * np.eye(3) - np.outer(way, way)
    inertia = mass / 12.0 * spread + THIN * mass * length**2 * np.eye(3)
    mech.add_body(name, mass, inertia, (start + end) / 2.0)
    mech.add_joint(name, kind, parent, name, start, (0.0, 1.0, 0.0), damping=1e-3)
    half = way / length + (0.0, 0.0, 1.0)  # turns the z axis into the rod by half a turn about it
    half = half / np.linalg.norm(half) if np.linalg.norm(half) > 1e-6 else (1.0, 0.0, 0.0)
    shape = Capsule(0.05, length, orientation=(0.0, *half))
    mech.add_collision(name, name, shape, friction=0.7)


def rag_doll(light):
    """A doll that lies anywhere; the masses of its limbs times ``light``."""
    mech = Mechanism(ground=True)
    mech.add_body("torso", TORSO, (0.85, 0.7, 0.33))
    mech.add_joint("base", "floating", "world", "torso", (0.0, 0.0, 0.0))
    mech.add_collision("torso", "torso", Capsule(0.12, 0.3), friction=0.7)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mirror = np.array((1.0, sign, 1.0))
        for limb, (parent, start, end, part, kind) in LIMBS.items():
            parent = parent if parent == "torso" else f"{side}_{parent}"
            ends = mirror * start, mirror * end
            add_limb(mech, f"{side}_{limb}", parent, *ends, light * part * TORSO, kind)
    return mech
