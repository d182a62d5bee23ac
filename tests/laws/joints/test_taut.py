"""Bodies between stretched springs and on taut rods swing faster than a step follows, and gain no energy."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.batches import assert_batch_moves_as_alone
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Sphere

GAIN = 0.02  # in parts of all energy at the start, most of which the springs store
CENTRE = (0.0, 0.0, 0.0)


def weightless(bodies):
    """Free bodies without gravity: name -> (mass, moments of inertia, position)."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    for name, (mass, inertia, position) in bodies.items():
        mech.add_body(name, mass, inertia, position)
    return mech


def stretch(mech, a, b, point_a, point_b, tension, stiffness, damping=0.0):
    """Tie two points by a spring that pulls with a tension at the assembly."""
    ends = [np.array(point) for point in (point_a, point_b)]
    for k, name in enumerate((a, b)):
        if name != "world":
            ends[k] = ends[k] + mech.bodies[name].position
    rest = max(np.linalg.norm(ends[1] - ends[0]) - tension / stiffness, 0.0)
    name = f"spring_{len(mech.springs)}"
    mech.add_spring(name, a, b, point_a, point_b, stiffness, rest, damping)


def between_two(tension, mass=0.05, stiffness=1e4, damping=0.0, length=0.3):
    """A mass in the middle of two springs in line."""
    mech = weightless({"mass": (mass, (1e-3 * mass,) * 3, CENTRE)})
    for x in (-length, length):
        stretch(mech, "world", "mass", (x, 0.0, 0.0), CENTRE, tension, stiffness, damping)
    return mech


def beaded_string(masses, tension, stiffness):
    """Beads at equal distances on a string of 1 m."""
    length = 1.0 / (len(masses) + 1)
    beads = {
        f"bead_{k}": (mass, (1e-4 * mass,) * 3, ((k + 1) * length, 0.0, 0.0))
        for k, mass in enumerate(masses)
    }
    mech = weightless(beads)
    for a, b in zip(("world", *beads), beads, strict=False):
        stretch(mech, a, b, CENTRE, CENTRE, tension, stiffness)
    stretch(mech, "world", b, (1.0, 0.0, 0.0), CENTRE, tension, stiffness)
    return mech


def net(masses, tension, stiffness):
    """Knots of a square net in a frame, each between four springs of 0.3 m."""
    count, length = len(masses), 0.3
    knots = {
        f"knot_{i}{j}": (masses[i][j], (1e-4 * masses[i][j],) * 3, (i * length, j * length, 0.0))
        for i in range(count)
        for j in range(count)
    }
    mech = weightless(knots)
    for i in range(count):
        for j in range(count):
            for step in ((1, 0), (0, 1)):
                before, after = (i - step[0], j - step[1]), (i + step[0], j + step[1])
                own = f"knot_{i}{j}"
                if min(before) < 0:
                    frame = (*(length * k for k in before), 0.0)
                    stretch(mech, "world", own, frame, CENTRE, tension, stiffness)
                if max(after) == count:
                    frame = (*(length * k for k in after), 0.0)
                    stretch(mech, "world", own, frame, CENTRE, tension, stiffness)
                else:
                    other = f"knot_{after[0]}{after[1]}"
                    stretch(mech, own, other, CENTRE, CENTRE, tension, stiffness)
    return mech


def cable_robot(tension, mass, stiffness, damping=0.0):
    """A plate between eight cables, from its corners outwards."""
    arm, reach = 0.05, 0.6
    mech = weightless({"plate": (mass, (0.4 * mass * arm**2,) * 3, CENTRE)})
    for corner in np.ndindex(2, 2, 2):
        way = 2.0 * np.array(corner) - 1.0
        stretch(mech, "world", "plate", reach * way, arm * way, tension, stiffness, damping)
    return mech


def rods_in_line(masses, tension, stiffness):
    """Thin rods of 0.2 m with springs of 0.15 m between their ends."""
    inertia = np.array([0.01, 1.0, 1.0]) * 0.2**2 / 12.0
    half, pitch = 0.1, 0.35
    rods = {f"rod_{k}": (m, m * inertia, (k * pitch, 0.0, 0.0)) for k, m in enumerate(masses)}
    mech, ends = weightless(rods), ((-half, 0.0, 0.0), (half, 0.0, 0.0))
    stretch(mech, "world", "rod_0", (half - pitch, 0.0, 0.0), ends[0], tension, stiffness)
    for a, b in zip(rods, list(rods)[1:], strict=False):
        stretch(mech, a, b, ends[1], ends[0], tension, stiffness)
    last = len(masses) * pitch - half
    stretch(mech, "world", list(rods)[-1], (last, 0.0, 0.0), ends[1], tension, stiffness)
    return mech


def random_masses(rng, *shape):
    """Masses that differ by up to a factor of three."""
    return 10.0 ** rng.uniform(-3.0, 0.0) * rng.uniform(0.5, 1.5, shape)


KINDS = {
    "string": lambda rng, *pull: beaded_string(random_masses(rng, rng.integers(1, 9)), *pull),
    "net": lambda rng, *pull: net(random_masses(rng, 2, 2), *pull),
    "cables": lambda rng, *pull: cable_robot(pull[0], 10.0 ** rng.uniform(-3.0, 0.0), pull[1]),
    "rods": lambda rng, *pull: rods_in_line(random_masses(rng, rng.integers(1, 5)), *pull),
}


def thrown(mech, rng, speed):
    """Random velocities of all bodies, for `reset`."""
    return {
        name: {"velocity": speed * rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        for name in mech.bodies
    }


def largest_level(sim, steps):
    """Step, and return the largest energy of all windows' minima, over that at the start; and the halvings."""
    energies, halvings = [sim.energy().total], 0
    for _ in range(steps):
        status = sim.step()
        assert status.converged
        energies.append(sim.energy().total)
        halvings += status.halvings
    levels = np.reshape(energies[1:], (-1, 10)).min(axis=1)  # over vibrations
    return levels.max() / energies[0], halvings


@pytest.mark.parametrize("h", [0.005, 0.01, 0.02])
@pytest.mark.parametrize(("tension", "mass"), [(600.0, 0.05), (150.0, 0.05), (600.0, 0.2)])
@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_a_mass_between_two_springs_gains_no_energy(tension, mass, damping, h):
    sim = Simulator(between_two(tension, mass, damping=damping), timestep=h)
    sim.reset(base={"mass": {"velocity": (0.0, 0.1, 0.0)}})
    start = sim.energy().total
    for _ in range(200):
        assert sim.step().converged
        assert sim.energy().total <= (1.0 + 1e-4) * start


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_between_stretched_springs_gain_no_energy(kind):
    """Tensions of 1 to 600 N, springs of all stiffnesses and masses of 1 g to 1 kg, in steps of 1 to 20 ms."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        tension, h = 10.0 ** rng.uniform(0.0, 2.78), 10.0 ** rng.uniform(-3.0, -1.7)
        mech = KINDS[kind](rng, tension, tension * 10.0 ** rng.uniform(1.0, 3.0))
        sim = Simulator(mech, timestep=h)
        sim.reset(base=thrown(mech, rng, 10.0 ** rng.uniform(-2.0, 0.0)))
        level, _ = largest_level(sim, 200)
        assert level <= 1.0 + GAIN, seed


@pytest.mark.parametrize("order", [4, 6])
def test_a_string_gains_no_energy_in_steps_of_higher_order(order):
    sim = Simulator(beaded_string((0.01,) * 8, 20.0, 2e4), timestep=0.01, order=order)
    sim.reset(base={"bead_3": {"velocity": (0.0, 0.0, 0.5)}})
    level, _ = largest_level(sim, 100)
    assert level <= 1.0 + GAIN


@pytest.mark.parametrize(("square", "parts"), [(1.9, False), (2.1, True)])
def test_steps_are_made_in_parts_where_the_swing_is_too_fast(square, parts):
    """The square of the swing's rate times the step is h^2 2 T / (l m)."""
    tension, mass = 100.0, 0.05
    h = float(np.sqrt(square * mass * 0.3 / (2.0 * tension)))
    sim = Simulator(between_two(tension, mass, 1e5, length=0.3), timestep=h)
    sim.reset(base={"mass": {"velocity": (0.0, 0.01, 0.0)}})
    _, halvings = largest_level(sim, 100)
    assert (halvings > 0) == parts


@pytest.mark.parametrize("tension", [0.0, -100.0])
def test_slack_and_compressed_springs_ask_for_no_parts(tension):
    """The mass vibrates along springs that push or do nothing."""
    sim = Simulator(between_two(tension, 0.01), timestep=0.01)
    sim.reset(base={"mass": {"velocity": (0.01, 0.0, 0.0)}})
    _, halvings = largest_level(sim, 100)
    assert halvings == 0


def test_a_spring_that_turns_asks_for_no_parts():
    """Its tension holds two bodies on their circle, by 0.3 rad a step: that is no swing."""
    mech = weightless({f"end_{x}": (1.0, (1e-3,) * 3, (x, 0.0, 0.0)) for x in (-1.0, 1.0)})
    stretch(mech, *mech.bodies, CENTRE, CENTRE, 900.0, 1e7)
    sim = Simulator(mech, timestep=0.01)
    sim.reset(base={f"end_{x}": {"velocity": (0.0, 30.0 * x, 0.0)} for x in (-1.0, 1.0)})
    level, halvings = largest_level(sim, 200)
    assert level <= 1.0 + GAIN
    assert halvings == 0


def test_taut_springs_in_a_batch_are_those_of_single_environments():
    mech = beaded_string((0.01,) * 3, 20.0, 2e4)
    given = [({}, {"bead_1:floating": (0.0, 0.1 * e, 0.05 * e, 0.0, 0.0, 0.0)}) for e in range(11)]
    assert_batch_moves_as_alone(mech, given, 60, timestep=0.01)


LENGTH, RADIUS = 0.2, 0.01  # of the rod and its bead [m]
LEAN = 0.5  # of the rod at the start [rad]

RODS_GAIN = 0.02  # in all of a run, in parts of the kinetic energy at its start


def weight_on_a_rod(mass):
    """A weight of 1 kg slides up and down below the ground, on a rod whose bead lies on the ground."""
    mech = Mechanism(ground=True)
    place = np.array([0.0, 0.0, RADIUS - LENGTH * np.cos(LEAN)])
    half = 0.5 * LENGTH * np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    mech.add_body("weight", 1.0, (1e-3, 1e-3, 1e-3), place)
    mech.add_joint("slide", "prismatic", "world", "weight", place, (0, 0, 1))
    mech.add_body("rod", mass, (mass * LENGTH**2 / 12.0,) * 3, place + half)
    mech.add_joint("hinge", "revolute", "weight", "rod", place, (0, 1, 0))
    mech.add_collision("bead", "rod", Sphere(radius=RADIUS, position=tuple(half)), friction=0.0)
    return mech


@pytest.mark.parametrize("h", [1e-2, 2e-3, 2e-4])
@pytest.mark.parametrize("mass", [1e-2, 1e-4, 1e-5])
def test_a_rod_that_is_pulled_taut_gives_no_energy(mass, h):
    """The weight falls until the rod is taut; then the rod has all the energy, and turns by a radian in a step."""
    # a rod of 10 mg would turn by tens of radians in a step of 10 ms: it takes up to 5,600 iterations
    sim = Simulator(weight_on_a_rod(mass), timestep=h, max_iterations=10_000)
    for speed in np.linspace(0.5, 2.0, 10):
        sim.reset(velocities={"slide": -speed})
        start = sim.energy()
        for _ in range(round(0.15 / h)):
            assert sim.step().converged
            assert sim.energy().total <= start.total + RODS_GAIN * start.kinetic
        assert sim.joint_positions[0] != pytest.approx(0.0)
