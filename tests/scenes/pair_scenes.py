"""Bodies that touch each other in the tests: free pairs of shapes, heaps on a table, a hand, a chain that coils."""

from __future__ import annotations

import numpy as np

from scenes.linkages import Y, add_rod
from scenes.touching_scenes import turned
from scenes.trees import unit
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Capsule, Sphere

LYING = turned(np.pi / 2.0, (0, 1, 0))  # turns the axis of a capsule along x
ACROSS = turned(np.pi / 2.0, (1, 0, 0))  # along y
BALL = Sphere(radius=0.1)
ROD = Capsule(radius=0.05, length=0.4)
BRICK = Box(size=(0.4, 0.3, 0.2))
SHAPES = {"ball": BALL, "rod": ROD, "brick": BRICK}
PAIRS = [("ball", "ball"), ("ball", "rod"), ("ball", "brick"), ("rod", "rod"), ("rod", "brick")]
DEEPEST = 1e-6  # that anything may sink in [m]
MEETS = ["-".join(pair) for pair in PAIRS]


def inertia_of(shape, mass):
    """Principal moments of a solid about its own axes; a capsule's are those of its cylinder and a ball of its ends."""
    if isinstance(shape, Sphere):
        return (0.4 * mass * shape.radius**2,) * 3
    if isinstance(shape, Box):
        size = np.asarray(shape.size) ** 2
        return tuple(mass / 12.0 * (size.sum() - size))
    across = mass * (shape.length**2 / 12.0 + shape.radius**2 / 4.0)
    return across, across, 0.5 * mass * shape.radius**2


def add(mech, name, shape, position, orientation=(1, 0, 0, 0), mass=1.0, **surface):
    """A free solid that touches."""
    mech.add_body(name, mass, inertia_of(shape, mass), position, orientation)
    mech.add_collision(name, name, shape, **surface)


def space():
    """Without ground or gravity."""
    return Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)


def meeting(kinds, seed=0, partner_mass=2.0, apart=0.8, **surface):
    """Two solids that turn in free space, and their rates: the first flies at the second, a little off its centre."""
    rng, mech = np.random.default_rng(seed), space()
    first, second = kinds.split("-")
    add(mech, "a", SHAPES[first], (0.0, 0.0, 0.0), unit(rng.normal(size=4)), **surface)
    add(
        mech,
        "b",
        SHAPES[second],
        (apart, 0.0, 0.0),
        unit(rng.normal(size=4)),
        partner_mass,
        **surface,
    )
    mech.add_pair("a", "b")
    rates = {"a:floating": (2.0, *(0.05 * rng.normal(size=2)), *(2.0 * rng.normal(size=3)))}
    return mech, rates | {"b:floating": (0.0, 0.0, 0.0, *rng.normal(size=3))}


def row(count, friction=0.0, restitution=0.0, gap=0.05, masses=None):
    """Balls in a row along x in free space, each paired with the next."""
    mech = space()
    for i in range(count):
        mass = 1.0 if masses is None else masses[i]
        add(
            mech,
            f"ball{i}",
            BALL,
            ((0.2 + gap) * i, 0, 0),
            mass=mass,
            friction=friction,
            restitution=restitution,
        )
        if i:
            mech.add_pair(f"ball{i - 1}", f"ball{i}")
    return mech


def table(friction=0.5, mass=1.0):
    """A brick on the ground, its top 0.2 m above it; the ground's friction is the brick's."""
    mech = Mechanism(ground=True)
    add(mech, "table", BRICK, (0.0, 0.0, 0.1), mass=mass, friction=friction)
    return mech


def laid(kind, place=(0.05, 0.02), height=0.0, friction=0.5, orientation=None):
    """A table with a ball or a lying rod, `height` [m] above it."""
    mech, shape = table(friction), SHAPES[kind]
    turn = orientation if orientation is not None else (LYING if kind == "rod" else (1, 0, 0, 0))
    add(mech, kind, shape, (*place, 0.2 + shape.radius + height), turn, friction=friction)
    mech.add_pair("table", kind)
    return mech


def overhanging(height=0.0):
    """A rod of 0.6 m across a table of 0.3 m: it lies on two of its edges."""
    mech = table()
    add(mech, "rod", Capsule(radius=0.05, length=0.6), (0.0, 0.02, 0.25 + height), ACROSS)
    mech.add_pair("table", "rod")
    return mech


def crossed(height=0.0):
    """One rod on the ground, another across it and the ground's height above."""
    mech = Mechanism(ground=True)
    for name, x in (("left", -0.15), ("right", 0.15)):
        add(mech, name, ROD, (x, 0.0, 0.05), ACROSS)
    add(mech, "top", ROD, (0.0, 0.03, 0.15 + height), LYING)
    mech.add_pair("left", "top")
    mech.add_pair("right", "top")
    return mech


def stack(height=0.0):
    """A rod on a table, and a ball in the notch between it and another rod beside it."""
    mech = table()
    for name, y in (("left", -0.06), ("right", 0.06)):
        add(mech, name, ROD, (0.0, y, 0.25 + height), LYING)
        mech.add_pair("table", name)
    add(mech, "ball", BALL, (0.0, 0.0, 0.25 + 2.0 * height + np.sqrt(0.15**2 - 0.06**2)))
    mech.add_pair("left", "right")
    mech.add_pair("left", "ball")
    mech.add_pair("right", "ball")
    return mech


def three_balls(height=0.0):
    """Two balls side by side on the ground and a third on both of them."""
    mech = Mechanism(ground=True)
    for name, x in (("left", -0.101), ("right", 0.101)):
        add(mech, name, BALL, (x, 0.0, 0.1))
    add(mech, "top", BALL, (0.0, 0.0, 0.1 + np.sqrt(0.2**2 - 0.101**2) + height))
    for pair in (("left", "right"), ("left", "top"), ("right", "top")):
        mech.add_pair(*pair)
    return mech


def squeezed(force=20.0, friction=0.5):
    """A ball in the air between two pads that slide on rails along x, driven against each other by their actuators."""
    mech = Mechanism(ground=False)
    for name, x in (("left", -0.15), ("right", 0.15)):
        mech.add_body(name, 0.5, (0.01, 0.01, 0.01), (x, 0.0, 1.0))
        mech.add_collision(name, name, Box(size=(0.1, 0.2, 0.2)), friction=friction)
        mech.add_joint(
            f"{name} rail", "prismatic", "world", name, (x, 0.0, 1.0), (1, 0, 0), effort=force
        )
    add(mech, "ball", BALL, (0.0, 0.0, 1.0), friction=friction)
    for name in ("left", "right"):
        mech.add_pair(name, "ball")
    return mech


def coil(links, effort=20.0, kp=20.0, kd=1.0, touching=True):
    """A chain of rods in free space on hinges about z with motors; all that do not hang on each other touch."""
    mech, rod = space(), Capsule(radius=0.05, length=0.3)
    for i in range(links):
        add(mech, f"link{i}", rod, (0.5 * i, 0.0, 0.0), LYING)
        if i:
            place, values = (0.5 * i - 0.25, 0.0, 0.0), {"effort": effort}
            mech.add_joint(
                f"bend{i}", "revolute", f"link{i - 1}", f"link{i}", place, (0, 0, 1), **values
            )
            mech.add_motor(f"bend{i}", kp, kd)
        for j in range(i - 1 if touching else 0):
            mech.add_pair(f"link{j}", f"link{i}")
    return mech


def struck_four_bar(loose=True):
    """A four-bar whose coupler, a rod that touches, swings onto a ball that flies, or that a hinge holds."""
    mech = Mechanism(ground=False)
    points = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (2.0, 0.0, 1.5), (2.5, 0.0, 0.0))
    for name, a, b in zip("abc", points, points[1:], strict=False):
        add_rod(mech, name, a, b)
    for i, (parent, child) in enumerate((("world", "a"), ("a", "b"), ("b", "c"), ("world", "c"))):
        mech.add_joint(f"j{i}", "revolute", parent, child, points[i], Y)
    turn = turned(np.arctan2(2.0, 0.5), (0, 1, 0))
    mech.add_collision("coupler", "b", Capsule(radius=0.05, length=1.6, orientation=turn))
    add(mech, "ball", BALL, (1.2, 0.0, 1.7), mass=0.5)
    mech.add_pair("b", "ball")
    if not loose:
        mech.add_joint("arm", "revolute", "world", "ball", (2.2, 0.0, 1.7), Y)
    return mech


def started(mech, h=0.01, rates=None):
    sim = Simulator(mech, timestep=h)
    sim.reset(velocities=rates)
    return sim


def stepped(sim, steps, deepest=DEEPEST, **given):
    """Step one by one, each converged and nothing deeper than allowed; yields the simulator at every knot."""
    for _ in range(steps):
        assert sim.step(**given).converged
        assert sim.metrics()["penetration"] <= deepest
        yield sim
