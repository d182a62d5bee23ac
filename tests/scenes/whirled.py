"""Trees of unlike bodies that are thrown so hard that they turn far in every step."""

from __future__ import annotations

import numpy as np

from scenes.sprung import AXES
from scenes.trees import unit
from vigym.mechanism.mechanism import Mechanism

KINDS = (*AXES, "planar", "spherical")


def slender_inertia(mass, length):
    """Moments of a box that is long along x."""
    squares = np.array([length, 0.2, 0.3 * length]) ** 2
    return mass / 12.0 * (squares.sum() - squares)


def whirled_tree(seed, sprung):
    """A floating body that carries two to five others of a hundredth to ten times its mass.

    ``sprung`` is the share of joints with a spring.
    """
    rng = np.random.default_rng(seed)
    falls = rng.random() < 0.5
    mech = Mechanism(gravity=(0.0, 0.0, -9.81 if falls else 0.0))
    mech.add_body("body", 1.0, (0.04, 0.08, 0.1))
    mech.add_joint("free", "floating", "world", "body", (0.0, 0.0, 0.0))
    places = [np.zeros(3)]
    for i in range(int(rng.integers(2, 6))):
        parent = len(places) - 1 if rng.random() < 0.5 else int(rng.integers(len(places)))
        way = rng.uniform(0.3, 1.0) * unit(rng.normal(size=3))
        mass, kind = 10.0 ** rng.uniform(-2.0, 1.0), str(rng.choice(KINDS))
        moments = slender_inertia(mass, np.linalg.norm(way))
        pose = places[parent] + way, unit(np.append(1.0, 0.5 * rng.normal(size=3)))
        mech.add_body(f"link{i}", mass, moments, *pose)
        axis = unit(rng.normal(size=3))
        axes = {"axis": axis, "axis2": unit(np.cross(axis, rng.normal(size=3)))}
        count = 1 if kind == "planar" else AXES.get(kind, 0)
        given = {key: axes[key] for key in list(axes)[:count]}
        stiffness = 10.0 ** rng.uniform(0.0, 4.0) if rng.random() < sprung else 0.0
        names = "body" if parent == 0 else f"link{parent - 1}", f"link{i}"
        place = places[parent] + 0.5 * way
        mech.add_joint(f"joint{i}", kind, *names, place, stiffness=stiffness, **given)
        places.append(places[parent] + way)
    return mech


def whirling_rates(mech, seed):
    """Rates of all joints that turn bodies by some .1 rad in a step of 20 ms."""
    rng = np.random.default_rng(seed)
    return {
        name: 4.0 * rng.normal(size=joint.dofs) for name, joint in mech.joints.items() if joint.dofs
    }
