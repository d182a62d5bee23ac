"""Free chains of bodies whose joints have springs too stiff for the steps that they are given."""

from __future__ import annotations

import numpy as np

from scenes.trees import unit
from vigym import Ground
from vigym.mechanism.elements.shapes import Box
from vigym.mechanism.mechanism import Mechanism

AXES = {"revolute": 1, "prismatic": 1, "cylindrical": 1, "universal": 2}


def box_inertia(rng, mass, length):
    """Moments of a box of random sides."""
    sides = length * (0.4 * np.abs(rng.normal(size=3)) + 0.15)
    return mass / 12.0 * np.roll(sides**2, 1) + mass / 12.0 * np.roll(sides**2, -1)


def add_sprung_joint(mech, rng, kind, name, parent, child, place, stiffness):
    """Join two bodies by a joint with springs along all of its freedoms."""
    axis = unit(rng.normal(size=3))
    axes = {"axis": axis, "axis2": unit(np.cross(axis, rng.normal(size=3)))}
    given = {key: axes[key] for key in list(axes)[: AXES.get(kind, 0)]}
    mech.add_joint(name, kind, parent, child, place, stiffness=stiffness, **given)


def add_sprung_points(mech, rng, name, parent, child, place, stiffness):
    """Join two bodies by a ball and two springs between points on both sides of it."""
    mech.add_joint(name, "spherical", parent, child, place)
    for side in (-1.0, 1.0):
        off = 0.3 * side * unit(rng.normal(size=3))
        ends = place + off - 0.4 * unit(place), place + off + 0.4 * unit(rng.normal(size=3))
        own = [
            end - mech.bodies[body].position
            for end, body in zip(ends, (parent, child), strict=True)
        ]
        length = float(np.linalg.norm(ends[1] - ends[0]))
        mech.add_spring(f"{name}{side:+.0f}", parent, child, *own, stiffness, length)


def sprung_chain(kind, seed, stiffness, mech=None):
    """A floating body that carries three or four others, each joint of one kind: hardly any is aligned.

    In a mechanism of its own without gravity, or in one that is given.
    """
    rng = np.random.default_rng(seed)
    mech = Mechanism(gravity=(0.0, 0.0, 0.0)) if mech is None else mech
    mech.add_body("body", 1.0, (0.1, 0.12, 0.15))
    mech.add_joint("free", "floating", "world", "body", (0.0, 0.0, 0.0))
    parent, place = "body", np.array([0.5, 0.0, 0.0])
    for i in range(int(rng.integers(3, 5))):
        way = rng.uniform(0.3, 1.0) * unit(rng.normal(size=3))
        mass, child = 10.0 ** rng.uniform(-1.5, 0.5), f"link{i}"
        moments = box_inertia(rng, mass, np.linalg.norm(way))
        mech.add_body(child, mass, moments, place + 0.5 * way)
        if kind == "points":
            add_sprung_points(mech, rng, f"joint{i}", parent, child, place, stiffness)
        else:
            add_sprung_joint(mech, rng, kind, f"joint{i}", parent, child, place, stiffness)
        parent, place = child, place + way
    return mech


def sprung_rates(mech, seed):
    """Rates of all joints, of some radians and metres a second."""
    rng = np.random.default_rng(seed)
    return {
        name: 2.0 * rng.normal(size=joint.dofs) for name, joint in mech.joints.items() if joint.dofs
    }


def stretched_positions(mech, kind, seed, most=0.6):
    """Coordinates at which springs of a chain are stretched by up to `most` [rad], slides by a sixth of it [m]."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, joint in mech.joints.items():
        if joint.dofs and np.any(np.asarray(joint.dof_stiffness) > 0.0):
            stretch = rng.uniform(-most, most, joint.dofs)
            if kind in ("prismatic", "cylindrical"):
                stretch[0] /= 6.0
            if kind == "spherical":
                turn = np.linalg.norm(stretch)
                stretch = np.append(np.cos(turn / 2.0), np.sin(turn / 2.0) * stretch / turn)
            found[name] = stretch
    return found


def hinged_beam(count, stiffness):
    """A beam of 1 m and 1 kg that is clamped at one end: rods in a row, hinges with springs between them."""
    mech, length = Mechanism(gravity=(0.0, 0.0, 0.0)), 1.0 / count
    moment = length**3 / 12.0
    for k in range(count):
        name, parent = f"rod{k}", f"rod{k - 1}" if k else "world"
        mech.add_body(name, length, (0.01 * moment, moment, moment), ((k + 0.5) * length, 0.0, 0.0))
        hinge = (k * length, 0.0, 0.0), (0.0, 1.0, 0.0)
        mech.add_joint(f"hinge{k}", "revolute", parent, name, *hinge, stiffness=stiffness)
    return mech


def box_link_box(seed, ratio, stiffness, rest):
    """A box on the ground that carries another, by a light link: a ball, and a hinge with a spring."""
    rng, size = np.random.default_rng(seed), 0.4
    mech, way = Mechanism(ground=True), unit(rng.normal(size=3))
    moments = np.array([0.4225, 1.0625, 1.36]) * size**2 / 12.0
    mech.add_body("body", 2.0, 2.0 * moments)
    mech.add_collision("box", "body", Box((size, 0.6 * size, 0.25 * size)), friction=0.7)
    mech.add_joint("free", "floating", "world", "body", (0.0, 0.0, 0.0))
    for k, (name, mass) in enumerate({"link": ratio, "load": 1.0}.items()):
        mech.add_body(name, mass, 0.1 * mass * moments, 0.4 * (k + 1) * size * way)
    mech.add_joint("ball", "spherical", "body", "link", 0.2 * size * way)
    given = {"stiffness": stiffness, "rest": rest}
    hinge = 0.6 * size * way, unit(rng.normal(size=3))
    mech.add_joint("hinge", "revolute", "link", "load", *hinge, **given)
    start = {"positions": {"free": (0.0, 0.0, 0.0, *unit(rng.normal(size=4)))}}
    velocity = rng.normal(size=3) - (0.0, 0.0, 1.0)
    start["velocities"] = {"free": (*velocity, *(5.0 * unit(rng.normal(size=3))))}
    return mech, start


def sprung_robot(kind, seed, stiffness, friction):
    """Such a chain on the ground: the floating body is a box, the others touch with a ball each."""
    rng = np.random.default_rng(seed)
    mech = sprung_chain(kind, seed, stiffness, Mechanism(ground=True))
    for name in list(mech.bodies)[1:]:
        mech.add_contact(f"{name} ball", name, 0.3 * unit(rng.normal(size=3)), 0.05, friction)
    mech.add_collision("box", "body", Box((0.5, 0.4, 0.3)), friction=friction)
    return mech


def hopping_chain(kind, seed):
    """Such a chain without springs on a slope of friction 5, that rebounds with half of its velocity."""
    rng = np.random.default_rng(seed)
    tilt = rng.uniform(0.0, 0.6)
    mech = Mechanism(ground=Ground(normal=(np.sin(tilt), 0.0, np.cos(tilt))))
    sprung_chain(kind, seed, 0.0, mech)
    for name in list(mech.bodies)[1:]:
        mech.add_contact(f"{name} ball", name, 0.3 * unit(rng.normal(size=3)), 0.05, 5.0, 0.5)
    mech.add_collision("box", "body", Box((0.5, 0.4, 0.3)), friction=5.0, restitution=0.5)
    timestep = float(rng.choice([0.002, 0.005, 0.01]))
    rates = sprung_rates(mech, seed) | {"free": (0.0, 0.0, -2.0, *rng.normal(size=3))}
    return mech, timestep, rates, {"free": (0.0, 0.0, 0.0, *unit(rng.normal(size=4)))}


def sprung_ring(count, stiffness, mass=0.3, lift=0.0, size=0.4):
    """A free ring of rods on universal joints with springs, one of which closes it.

    The joints lie in a plane, or `lift` [m] above and below it in turns.
    """
    mech = Mechanism(ground=False)
    length, inner = 2.0 * size * np.sin(np.pi / count), size * np.cos(np.pi / count)
    for i, own in enumerate(np.broadcast_to(mass, count)):
        angle = 2.0 * np.pi * (i + 0.5) / count
        place = inner * np.cos(angle), inner * np.sin(angle), 0.0
        across = length**2 + 0.01 * size**2
        moments = own / 12.0 * np.array([across, 0.02 * size**2, across])
        turn = np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)
        mech.add_body(f"rod{i}", float(own), moments, place, turn)
    for i in range(count):
        angle = 2.0 * np.pi * (i + 1) / count
        height = lift * (-1.0) ** i if i < count - 1 - count % 2 else 0.0
        way = np.cos(angle), np.sin(angle), 0.0
        place = size * way[0], size * way[1], height
        ends = f"rod{i}", f"rod{(i + 1) % count}"
        mech.add_joint(
            f"joint{i}",
            "universal",
            *ends,
            place,
            axis=(0.0, 0.0, 1.0),
            axis2=way,
            stiffness=stiffness,
        )
    return mech
