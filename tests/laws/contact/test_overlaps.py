"""Bodies that overlap are led apart without energy from nothing, at every step size."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.batches import alone, assert_same_rows, stacked
from scenes.touching_scenes import ball
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Capsule, Sphere
from vigym.metrics import momentum

G = 9.81
RADIUS = 0.1
TIMESTEPS = 1e-6, 1e-5, 1e-4, 1e-3, 1e-2
LYING = np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0


def largest_kinetic_energy(sim, steps):
    energies = []
    for _ in range(steps):
        assert sim.step().converged
        energies.append(sim.energy().kinetic)
    return max(energies)


@pytest.mark.parametrize("h", TIMESTEPS)
@pytest.mark.parametrize("overlap", [1e-9, 1e-7, 1e-6, 1e-5])
def test_a_ball_rises_no_faster_than_it_would_fall_as_deep(overlap, h):
    sim = Simulator(ball(RADIUS), timestep=h)
    sim.reset(base={"ball": {"position": (0.0, 0.0, RADIUS - overlap)}})
    mass = 1.0
    assert sim.mechanism.bodies["ball"].mass == mass
    kinetic = largest_kinetic_energy(sim, 50)
    # what a step of free fall adds is the error of reading at any size of step
    assert kinetic <= 1.01 * mass * G * overlap + 0.5 * mass * (G * h) ** 2
    assert -overlap - 1e-15 <= sim.contacts.gap.min()


@pytest.mark.parametrize("h", [1e-6, 1e-4, 1e-2])
def test_overlaps_end(h):
    """Of a micrometre all is gone after the time of a fall from as high."""
    sim = Simulator(ball(RADIUS), timestep=h)
    sim.reset(base={"ball": {"position": (0.0, 0.0, RADIUS - 1e-6)}})
    for _ in range(int(2.0 * np.sqrt(2.0 * 1e-6 / G) / h) + 2):
        assert sim.step().converged
    assert sim.contacts.gap.min() >= -1e-9


@pytest.mark.parametrize("ratio", [1.0, 1e4])
@pytest.mark.parametrize("h", TIMESTEPS)
def test_a_heavy_ball_that_overlaps_a_light_one_does_not_fly_off(h, ratio):
    mech, overlap = Mechanism(ground=True), 1e-6
    for name, mass, z in (("low", 1.0, RADIUS), ("high", ratio, 3.0 * RADIUS - overlap)):
        inertia = np.full(3, 0.4 * mass * RADIUS**2)
        mech.add_body(name, mass, inertia, position=(0.0, 0.0, z))
        mech.add_collision(name, name, Sphere(radius=RADIUS), friction=0.5)
    mech.add_pair("high", "low")
    sim = Simulator(mech, timestep=h)
    sim.reset()
    kinetic = largest_kinetic_energy(sim, 50)
    # the light one is pressed a little below the ground, and is led back at the same time
    assert kinetic <= 2.0 * ratio * G * overlap + 0.5 * (1.0 + ratio) * (G * h) ** 2


KINDS = "box-capsule", "box-sphere", "capsule-capsule", "capsule-sphere", "sphere-sphere"


def solid(kind, size):
    """A shape that fits into a box of that size [m]."""
    if kind == "box":
        return Box(size)
    return Capsule(size.min() / 2.0, size.max()) if kind == "capsule" else Sphere(size.min() / 2.0)


def deep_pair(kind, seed):
    """Two bodies that start in each other, of random sizes and masses, without gravity."""
    rng, mech = np.random.default_rng(seed), Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    depth = 10.0 ** rng.uniform(-2.0, -0.5)
    for name, shape in zip("ab", kind.split("-"), strict=True):
        size = rng.uniform(0.2, 1.0, 3)
        mass = 10.0 ** rng.uniform(-1.0, 1.0)
        inertia = mass * (np.sum(size**2) - size**2) / 12.0
        mech.add_body(name, mass, inertia, position=depth * rng.normal(size=3))
        mech.add_collision(name, name, solid(shape, size), friction=rng.choice([0.0, 0.5, 1.5]))
    mech.add_pair("a", "b")
    sim = Simulator(mech, timestep=rng.choice([1e-4, 1e-3, 2e-3, 1e-2]))
    speed, start = rng.choice([0.1, 0.5, 3.0]), {}
    for name in "ab":
        turn, twist = rng.normal(size=4), speed * rng.normal(size=6)
        start[name] = {
            "orientation": turn / np.linalg.norm(turn),
            "velocity": twist[:3],
            "angular_velocity": twist[3:],
        }
    sim.reset(base=start)
    return sim


@pytest.mark.parametrize("kind", KINDS)
def test_what_starts_deep_in_another_body_gets_no_deeper_and_gains_no_energy(kind):
    for seed in range(30):
        sim = deep_pair(kind, seed)
        start, energy = np.concatenate(momentum(sim)), sim.energy().kinetic
        for _ in range(100):
            status = sim.step()
            assert status.converged
            assert status.iterations <= 60
            now = sim.energy().kinetic
            assert now <= 1.01 * energy
            energy = min(energy, now)
        np.testing.assert_allclose(np.concatenate(momentum(sim)), start, atol=1e-9)


@pytest.mark.parametrize("h", [1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_overlapping_balls_rebound_by_the_law_of_restitution(restitution, h):
    """They are not led apart besides, which would add to their energy."""
    for depth in (1e-7, 1e-3, 0.1):
        mech, speed = Mechanism(gravity=(0.0, 0.0, -G), ground=False), 0.2
        for name, x in (("left", 0.0), ("right", 0.4 - depth)):
            mech.add_body(name, 1.0, (0.01, 0.01, 0.01), position=(x, 0.0, 0.0))
            mech.add_collision(name, name, Sphere(0.2), restitution=restitution)
        mech.add_pair("left", "right")
        sim = Simulator(mech, timestep=h)
        rates = {"left": {"velocity": (speed, 0, 0)}, "right": {"velocity": (-speed, 0, 0)}}
        sim.reset(base=rates)
        for _ in range(4):
            assert sim.step().halvings == 0
        assert sim.body_velocity("right")[0] == pytest.approx(restitution * speed, rel=1e-3)


@pytest.mark.parametrize("friction", [0.5, 1.2])
def test_overlapping_balls_that_roll_off_each_other_get_no_deeper(friction):
    for overlap in (0.01, 0.05, 0.1):
        mech, radius = Mechanism(ground=True), 0.3
        way = radius * (2.0 - overlap)
        places = (0.0, 0.0, radius), (way * np.sin(0.5), 0.0, radius + way * np.cos(0.5))
        for name, place in zip(("low", "high"), places, strict=True):
            mech.add_body(name, 1.0, (0.4 * radius**2,) * 3, position=place)
            mech.add_collision(name, name, Sphere(radius), friction=friction)
        mech.add_pair("high", "low")
        sim = Simulator(mech, timestep=0.01)
        sim.reset()
        start = sim.contacts.gap.min()
        for _ in range(100):
            assert sim.step().converged
            assert sim.contacts.gap.min() >= start - 1e-6


def rod_on_a_hinge(depth, upper, friction):
    """A level rod on a hinge whose upper limit keeps its tip, below the ground, from rising."""
    mech = Mechanism(ground=True)
    mech.add_body("rod", 1.0, (0.01, 0.01, 0.001), position=(0.1, 0.0, 0.1))
    limits = (-1.0, upper)
    mech.add_joint("hinge", "revolute", "world", "rod", (0.0, 0.0, 0.1), (0, -1, 0), limits=limits)
    mech.add_contact("tip", "rod", position=(0.1, 0.0, -0.1 - depth), friction=friction)
    return mech


def hanging_rod(depth, offset, friction):
    """A rod that hangs on a hinge, its tip below the ground: no turn lifts it at first."""
    mech = Mechanism(ground=True)
    mech.add_body("rod", 1.0, (0.01, 0.01, 0.001), position=(offset, 0.0, 0.1))
    mech.add_joint("hinge", "revolute", "world", "rod", (0.0, 0.0, 0.2), (0, 1, 0))
    mech.add_contact("tip", "rod", position=(0.0, 0.0, -0.1 - depth), friction=friction)
    return mech


def locked_slide(depth, friction):
    """A body on a slide that its limits lock, its foot below the ground."""
    mech = Mechanism(ground=True)
    mech.add_body("foot", 1.0, (0.01, 0.01, 0.01), position=(0.0, 0.0, 0.1))
    place = 0.0, 0.0, 0.1
    mech.add_joint("slide", "prismatic", "world", "foot", place, (0, 0, 1), limits=(0.0, 0.0))
    mech.add_contact("sole", "foot", position=(0.0, 0.0, -0.1 - depth), friction=friction)
    return mech


def wedged_ball(depth, friction):
    """A ball that a slide along x holds between two others, overlapping both."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0), ground=False)
    for name, x in (("left", -0.2 + depth), ("ball", 0.0), ("right", 0.2 - depth)):
        mech.add_body(name, 1.0, (0.004, 0.004, 0.004), position=(x, 0.0, 0.0))
        mech.add_collision(name, name, Sphere(radius=RADIUS), friction=friction)
        kind, axis = ("prismatic", (1, 0, 0)) if name == "ball" else ("fixed", (1, 0, 0))
        mech.add_joint(f"{name}_joint", kind, "world", name, (x, 0.0, 0.0), axis)
    mech.add_pair("ball", "left")
    mech.add_pair("ball", "right")
    return mech


# What a contact feels where it is led back [kg]: the inertia over the square of the lever.
STUCK = {
    "limit": (lambda depth, friction: rod_on_a_hinge(depth, 0.0, friction), 0.0),
    "limit after some steps": (lambda depth, friction: rod_on_a_hinge(depth, 1e-5, friction), 1.0),
    "singular": (lambda depth, friction: hanging_rod(depth, 0.0, friction), 0.0),
    "almost singular": (lambda depth, friction: hanging_rod(depth, 1e-3, friction), 0.02 / 1e-6),
    "locked": (locked_slide, 0.0),
    "wedged": (wedged_ball, 0.0),
}


@pytest.mark.parametrize("h", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("kind", STUCK)
def test_what_cannot_be_led_back_stays_where_it_is(kind, h):
    make, felt_mass = STUCK[kind]
    for depth in (1e-7, 1e-6, 1e-5, 1e-3):
        for friction in (0.0, 0.5):
            sim = Simulator(make(depth, friction), timestep=h)
            start, counts = sim.contacts.gap.min(), []
            for _ in range(100):
                status = sim.step()
                assert status.converged
                assert status.halvings == 0
                counts.append(status.iterations)
                assert sim.energy().kinetic <= 1.01 * felt_mass * G * depth + 1e-11
            assert sim.contacts.gap.min() >= start - 5e-8
            assert np.mean(counts) <= 8.0


def jammed_robot(seed):
    """A robot whose links overlap those that they hang on, with narrow limits, above the ground."""
    rng, mech = np.random.default_rng(seed), Mechanism(ground=True)
    mech.add_body("base", 1.0, (0.01, 0.008, 0.012), position=(0.0, 0.0, 0.1))
    mech.add_collision("base", "base", Box((0.3, 0.2, 0.1)), friction=rng.choice([0.0, 0.5, 1.5]))
    along_x, links = (2.0**-0.5, 0.0, 2.0**-0.5, 0.0), ["base"]
    for i in range(1, int(rng.integers(3, 6))):
        name, parent = f"link_{i}", rng.choice(links)
        mass = 10.0 ** rng.uniform(-2.0, 0.0)
        inertia = mass * np.array([0.001, 0.008, 0.008])
        mech.add_body(name, mass, inertia, position=(0.2 * i, 0.0, 0.1))
        shape = Capsule(0.06, 0.2, orientation=along_x)
        mech.add_collision(name, name, shape, restitution=rng.choice([0.0, 0.5]))
        axis, place = rng.normal(size=3), (0.2 * i - 0.1, 0.0, 0.12)
        limits = (-rng.uniform(0.0, 0.5), rng.choice([0.0, 0.5]))
        axis /= np.linalg.norm(axis)
        mech.add_joint(f"joint_{i}", "revolute", parent, name, place, axis, limits=limits)
        for other in links:
            mech.add_pair(other, name)
        links.append(name)
    return mech


def jammed_start(mech, seed):
    """Arguments of a reset: positions beyond limits, and a base that flies."""
    rng = np.random.default_rng(seed)
    joints = [joint.name for joint in mech.tree_joints if joint.type == "revolute"]
    turn = rng.normal(size=4)
    base = {
        "position": (0.0, 0.0, rng.uniform(0.0, 0.4)),
        "orientation": turn / np.linalg.norm(turn),
        "velocity": rng.normal(size=3),
    }
    positions = {name: rng.uniform(-0.4, 0.4) for name in joints}
    return {"positions": positions, "base": {"base": base}}


@pytest.mark.parametrize("h", [1e-5, 1e-3, 1e-2])
def test_links_that_jam_each_other_are_released(h):
    """No force holds them apart on both sides of a joint that does not move: it would be infinite."""
    counts = []
    for seed in range(30):
        mech = jammed_robot(seed)
        sim = Simulator(mech, timestep=h)
        sim.reset(**jammed_start(mech, seed))
        start = sim.energy()
        for _ in range(30):
            status = sim.step()
            assert status.converged
            counts.append(status.iterations)
            assert sim.energy().total <= start.total + 0.01 * start.kinetic
    assert np.mean(counts) <= 30.0


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("tilt", [0.0, 0.1])
@pytest.mark.parametrize("depth", [1e-3, 5e-3])
def test_a_capsule_that_lies_in_a_table_rolls_no_deeper(depth, tilt, h):
    """A point of its skin was held at its depth, and turned away: it sank by up to 4 cm in two seconds."""
    mech, radius = Mechanism(ground=False), 0.05
    mech.add_body("table", 5.0, (1.0, 1.0, 1.0), (0.0, 0.0, -0.05))
    mech.add_joint("slide", "prismatic", "world", "table", (0.0, 0.0, -0.05), (1.0, 0.0, 0.0))
    mech.add_collision("top", "table", Box((4.0, 4.0, 0.1)), friction=0.5)
    half = np.pi / 4.0 + 0.5 * tilt
    lying = np.cos(half), np.sin(half), 0.0, 0.0
    mech.add_body("rod", 1.0, (0.01, 0.01, 0.00125), (0.0, 0.0, radius - depth), lying)
    mech.add_collision("skin", "rod", Capsule(radius, 0.2), friction=0.5)
    mech.add_pair("rod", "table")
    sim = Simulator(mech, timestep=h)
    sim.reset(base={"rod": {"velocity": (0.6, 0.0, 0.0)}})
    start = sim.contacts.gap.min()
    for _ in range(round(1.0 / h)):
        assert sim.step().converged
        assert sim.contacts.gap.min() >= start - 1e-6


def leaning_stack(seed):
    """Two to four boxes, balls and lying capsules on each other that lean, and overlap a little by that."""
    rng = np.random.default_rng([11, seed])
    mech, kinds = Mechanism(), []
    height = 0.0
    count = int(rng.integers(2, 5))
    for k, mass in enumerate(10.0 ** rng.uniform(-1.0, 2.0, count)):
        kind = str(rng.choice(["box", "ball", "capsule"]))
        kinds.append("ball" if kinds and kinds[-1] == "box" and kind == "box" else kind)
        size = rng.uniform(0.05, 0.15)
        shape, half = {
            "box": (Box((2.5 * size, 2.0 * size, size)), 0.5 * size),
            "ball": (Sphere(size), size),
            "capsule": (Capsule(0.5 * size, 2.0 * size, orientation=LYING), 0.5 * size),
        }[kinds[-1]]
        turn = np.append(1.0, 0.005 * rng.normal(size=3))
        place = *(0.2 * size * rng.normal(size=2)), height + half
        inertia = (0.4 * mass * size**2,) * 3
        mech.add_body(f"b{k}", mass, inertia, place, turn / np.linalg.norm(turn))
        friction = float(rng.choice([0.0, 0.5, 2.0]))
        mech.add_collision(f"b{k}", f"b{k}", shape, friction=friction)
        height += 2.0 * half
        for other in range(k):
            if not kinds[other] == kinds[k] == "box":
                mech.add_pair(f"b{other}", f"b{k}")
    return mech


def test_stacks_that_overlap_a_little_do_not_fall_through_each_other():
    """Bodies are released only where nothing else solves a step: some of these stacks fell by 0.1 m."""
    for seed in range(60):
        sim = Simulator(leaning_stack(seed), timestep=0.002)
        sim.reset(place_on_ground=True)
        deepest = sim.contacts.gap.min()
        for _ in range(200):
            assert sim.step().converged
            assert sim.contacts.gap.min() > deepest - 0.005, seed


def three_deep_bodies():
    mech = Mechanism(gravity=(0.0, 0.0, -G), ground=True)
    shapes = {"box": Box((0.4, 0.3, 0.2)), "rod": Capsule(0.1, 0.4), "ball": Sphere(radius=0.15)}
    for mass, (name, shape) in enumerate(shapes.items(), start=1):
        mech.add_body(name, mass, (0.01 * mass,) * 3)
        mech.add_collision(name, name, shape, friction=0.6)
    for pair in (("rod", "box"), ("ball", "box"), ("ball", "rod")):
        mech.add_pair(*pair)
    return mech


OVERLAPS = {
    "bodies": (three_deep_bodies, [0.0]),
    "rod": (lambda: rod_on_a_hinge(1e-4, 1e-5, 0.3), [-1e-3, -1e-6, 0.0, 1e-5]),
    "robot": (lambda: jammed_robot(1), [-0.4, -0.2, 0.1, 0.3]),
}


@pytest.mark.parametrize("kind", OVERLAPS)
def test_overlaps_in_a_batch_are_those_of_single_environments(kind):
    """Lanes that hold or release bodies beside others: bit for bit, and after a saved state."""
    make, turns = OVERLAPS[kind]
    mech, count = make(), 11
    rng = np.random.default_rng(3)
    given = []
    for _ in range(count):
        positions = {}
        for joint in mech.tree_joints:
            if joint.type == "floating":
                turn = rng.normal(size=4)
                place = np.add(rng.normal(size=3) * 10.0 ** rng.uniform(-2.0, 0.0), (0, 0, 0.3))
                positions[joint.name] = (*place, *(turn / np.linalg.norm(turn)))
            else:
                positions[joint.name] = rng.choice(turns)
        given.append((positions, {}))
    options = {"timestep": 0.005}
    batch, singles = Simulator(mech, batch=count, **options), alone(mech, given, **options)
    batch.reset(stacked([positions for positions, _ in given]))
    for _ in range(60):
        batch.step()
        for single in singles:
            assert single.step().converged
        assert_same_rows(batch, singles)
    again = Simulator(mech, **options)
    again.state = singles[4].state
    for _ in range(20):
        assert again.step() == singles[4].step()
    np.testing.assert_array_equal(again.state, singles[4].state)
