"""What is round rolls down a slope by the closed law at every step size, however far it turns in a step."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_joints import conj, mul, rotation_vector
from scenes.touching_scenes import turned
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere

# [m], moments about and along the axis of one kilogram [kg m^2]
RADIUS = 0.1
ACROSS = 0.01
ALONG = 0.005
PULL = 2.0  # of gravity along the ground [m/s^2]
# velocities [m/s] and angular velocities [rad/s] of balls that roll and spin
ROLLING = (0.3, -0.5, 0, 5, 3, 10), (1, 0, 0, 0, 10, 20), (0, -1.2, 0, 12, 0, 5)
SHAPES = {
    "cylinder": Cylinder(RADIUS, 0.4),
    "capsule": Capsule(RADIUS, 0.4),
    "ball": Sphere(RADIUS),
}


def roller(shape, pull=PULL):
    """One kilogram, its axis along y, on a ground along which gravity pulls to x."""
    mech = Mechanism(gravity=(pull, 0.0, -9.81), ground=True)
    mech.add_body(
        "roller", 1.0, (ACROSS, ACROSS, ALONG), (0.0, 0.0, RADIUS), turned(-np.pi / 2.0, (1, 0, 0))
    )
    mech.add_collision("roller", "roller", SHAPES[shape], friction=0.8)
    return mech


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("h", [0.1, 0.05, 0.025, 0.01])
def test_rolls_down_a_slope_as_the_law_says(shape, h):
    """By x = a t^2 / 2 with a = pull / (1 + J / (m r^2)); in the end it turns by 0.4 to 4 rad in a step."""
    sim, t = Simulator(roller(shape), timestep=h), 3.0
    for _ in range(round(t / h)):
        assert sim.step().converged
    a = PULL / (1.0 + ALONG / RADIUS**2)
    np.testing.assert_allclose(
        sim.body_position("roller"), (0.5 * a * t * t, 0.0, RADIUS), atol=1e-7
    )
    np.testing.assert_allclose(sim.body_velocity("roller"), (a * t, 0.0, 0.0), atol=1e-7)
    np.testing.assert_allclose(
        sim.body_angular_velocity("roller"), (0.0, 0.0, a * t / RADIUS), atol=1e-6
    )


@pytest.mark.parametrize("turn", [1.05, 2.2, 3.2, 8.0])
def test_what_turns_by_radians_in_a_step_rolls_in_parts(turn):
    """It begins with a part of less than a radian, not after all methods have failed."""
    mech = Mechanism(ground=True)
    mech.add_body("roller", 1.0, (0.004,) * 3, (0.0, 0.0, RADIUS))
    mech.add_contact("skin", "roller", (0.0, 0.0, 0.0), RADIUS, 0.8)
    sim = Simulator(mech, timestep=0.01)
    rate = turn / sim.timestep
    twist = (RADIUS * rate, 0.0, 0.0, 0.0, rate, 0.1 * rate)
    sim.reset(velocities={"roller:floating": twist}, place_on_ground=True)
    start = sim.energy().total
    for _ in range(100):
        status = sim.step()
        assert status.converged
        assert status.iterations <= 100
        assert status.halvings > 0
    assert sim.energy().total == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("floors", [[], [((0.0, 0.0, 0.0), 0.0)]], ids=["ground", "box"])
@pytest.mark.parametrize("turn", [0.2, 0.9])
def test_a_ball_turns_by_its_way_over_its_radius(turn, floors):
    """To turn^4 / 480 of it: 3e-6 at 0.2 rad a step."""
    h = 0.01
    sim = Simulator(rolling_ball(floors, (0.0, 0.0, RADIUS), 1.0), timestep=h)
    rate = turn / h
    sim.reset(velocities={"roller:floating": (RADIUS * rate, 0.0, 0.0, 0.0, rate, 0.0)})
    total, before = 0.0, sim.body_orientation("roller")
    for _ in range(100):
        assert sim.step().converged
        after = sim.body_orientation("roller")
        total += rotation_vector(mul(conj(before), after))[1]
        before = after
    assert total == pytest.approx(100.0 * turn, rel=turn**4 / 450.0 + 1e-5)
    assert sim.body_position("roller")[0] == pytest.approx(100.0 * RADIUS * turn, rel=1e-5)


def test_a_tilted_cylinder_that_spins_stays_on_its_rim():
    """No point of the rim but the deepest one touches, however far the cylinder turns about its axis in a step."""
    mech = Mechanism(ground=True)
    tilt = turned(0.6, (0, 1, 0))
    height = RADIUS * np.sin(0.6) + 0.05 * np.cos(0.6)
    mech.add_body("top", 1.0, (0.003, 0.003, 0.005), (0.0, 0.0, height + 1e-3), tilt)
    mech.add_collision("top", "top", Cylinder(RADIUS, 0.1), friction=0.0)
    sim = Simulator(mech, timestep=0.02)
    sim.reset(velocities={"top:floating": (0.0, 0.0, 0.0, 0.0, 0.0, 60.0)})
    touched = 0
    for _ in range(40):
        assert sim.step().converged
        pressed = np.linalg.norm(sim.contacts.force, axis=1) > 0.0
        touched += pressed.any()
        assert (sim.contacts.gap[pressed] <= 1e-6).all()
    assert touched > 5


def sphere_chain(count, heaviest=1.0, friction=0.3):
    """Balls of 25 cm on ball joints, in a row on the ground; the last has ``heaviest`` kg."""
    mech, radius = Mechanism(ground=True), 0.25
    for i, mass in enumerate(np.geomspace(1.0, heaviest, count)):
        x = 2.0 * radius * i
        mech.add_body(f"ball{i}", mass, (0.4 * mass * radius**2,) * 3, (x, 0.0, radius))
        mech.add_contact(f"skin{i}", f"ball{i}", (0.0, 0.0, 0.0), radius=radius, friction=friction)
        if i > 0:
            mech.add_joint(
                f"pin{i}", "spherical", f"ball{i - 1}", f"ball{i}", (x - radius, 0.0, radius)
            )
    return mech


@pytest.mark.parametrize("count", [10, 20, 60])
def test_balls_in_a_row_take_as_many_iterations_however_many_they_are(count):
    """All contacts stick or slip together: the steps remember which method solves them."""
    sim = Simulator(sphere_chain(count), timestep=0.01)
    sim.reset(velocities=np.random.default_rng(1).normal(size=3 * count + 3) * 0.3 / count)
    taken = []
    for k in range(100):
        status = sim.step()
        assert status.converged
        taken.append(status.iterations)
        if k == 60:
            kept = sim.state
    assert np.mean(taken) < 12.0
    end = sim.body_states
    sim.set_state(kept)  # with what it remembers
    again = [sim.step().iterations for _ in range(39)]
    assert again == taken[61:]
    np.testing.assert_array_equal(sim.body_states, end)


@pytest.mark.parametrize("heaviest", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_balls_of_unlike_mass_that_roll_gain_no_energy(heaviest, seed):
    """Contacts that stick are stiff beside the lightest ball; what is read at a knot has no error of theirs."""
    sim, rng = (
        Simulator(sphere_chain(5, heaviest, 1.4), timestep=0.004),
        np.random.default_rng(seed),
    )
    turn = np.array([1.0, 0.0, 0.0, 0.0]) + rng.normal(size=4) * [0.0, 0.3, 0.3, 0.3]
    twist = np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3)])
    start = {"ball0:floating": (0.0, 0.0, 0.0, *turn / np.linalg.norm(turn))}
    sim.reset(start, {"ball0:floating": twist}, place_on_ground=True)
    energies = [sim.energy().total]
    for _ in range(300):
        assert sim.step().converged
        energies.append(sim.energy().total)
    # where a ball ceases to slip the energy that is read dips for one knot
    before = np.maximum(energies[1:-1], energies[:-2])
    assert (energies[2:] - before).max() < 2e-3 * energies[0]  # (h w)^2 of what turns by 10 rad/s


def energies(sim, seconds):
    """Return the energies [J] after the steps of some seconds."""
    found = []
    for _ in range(round(seconds / sim.timestep)):
        assert sim.step().converged
        found.append(sim.energy().total)
    return np.array(found)


def eccentric_ball():
    """A ball of one kilogram whose centre is 4 cm off the centre of mass, all moments unlike."""
    mech = Mechanism(ground=True)
    mech.add_body("roller", 1.0, (0.004, 0.005, 0.006), (0.0, 0.0, RADIUS))
    mech.add_contact("skin", "roller", (0.03, 0.01, -0.02), RADIUS, 1.0)
    return mech


def assert_no_trend(sim, seconds):
    """Step, and assert that the energy has no trend once landing has slipped out."""
    found = energies(sim, seconds)[round(0.4 / sim.timestep) :]
    first, last = np.array_split(found, 2)
    assert last.mean() == pytest.approx(first.mean(), rel=5e-4)
    assert np.ptp(found) <= 5e-3 * found[0]


@pytest.mark.parametrize("rates", ROLLING)
def test_energy_of_a_ball_that_rolls_and_spins_has_no_trend(rates):
    """In steps of 0.01 s it turns by up to 0.2 rad."""
    for h in (0.01, 0.005):
        sim = Simulator(eccentric_ball(), timestep=h)
        sim.reset(velocities={"roller:floating": rates}, place_on_ground=True)
        assert_no_trend(sim, 4.0)


@pytest.mark.parametrize("friction", [0.3, 1.0])
@pytest.mark.parametrize("tilt", [0.2, 0.4])
def test_energy_of_a_coin_that_spins_on_its_edge_has_no_trend(tilt, friction):
    """After its landing has slipped out; a fast spin holds it up."""
    mech = Mechanism(ground=True)
    upright = turned(np.pi / 2.0 - tilt, (1, 0, 0))
    moments = (0.25 * RADIUS**2, 0.25 * RADIUS**2, 0.5 * RADIUS**2)
    mech.add_body("roller", 1.0, moments, (0.0, 0.0, RADIUS), upright)
    mech.add_collision("rim", "roller", Cylinder(RADIUS, 0.01), friction=friction)
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities={"roller:floating": (0, 0, 0, 0, 0, 40.0)}, place_on_ground=True)
    found = energies(sim, 3.0)
    settled = found[150:].reshape(-1, 10).mean(axis=1)
    assert np.ptp(settled) <= 2e-3 * settled[0]


def rolling_ball(floors, place, friction, offset=(0.0, 0.0, 0.0)):
    """One kilogram in a ball above boxes at rest, or above the ground where there are none.

    ``floors`` are places and turns about y of the middles of their upper faces; the ball's centre is off its centre
    of mass by ``offset``.
    """
    mech = Mechanism(ground=not floors)
    mech.add_body("roller", 1.0, (0.004, 0.005, 0.006), place)
    mech.add_collision("skin", "roller", Sphere(RADIUS, position=offset), friction=friction)
    for k, (top, angle) in enumerate(floors):
        turn = turned(angle, (0, 1, 0))
        middle = np.array(top) - 0.1 * np.array([np.sin(angle), 0.0, np.cos(angle)])
        mech.add_body(f"floor{k}", 1.0, (1.0, 1.0, 1.0), middle, turn)
        mech.add_joint(f"hold{k}", "fixed", "world", f"floor{k}", (0.0, 0.0, 0.0))
        mech.add_collision(f"slab{k}", f"floor{k}", Box((20.0, 20.0, 0.2)), friction=friction)
        mech.add_pair("roller", f"floor{k}")
    return mech


@pytest.mark.parametrize("h", [0.01, 0.02])
@pytest.mark.parametrize("friction", [0.1, 1.0])
def test_a_ball_rolls_on_a_box_as_on_the_ground(friction, h):
    """It slips, rolls and spins; on a box rolling was of order one in time."""
    ends = []
    for floors in ([], [((0.0, 0.0, 0.0), 0.0)]):
        sim = Simulator(rolling_ball(floors, (0.0, 0.0, RADIUS), friction), timestep=h)
        sim.reset(velocities={"roller:floating": (1.0, -0.5, 0.0, 3.0, 6.0, 8.0)})
        for _ in range(round(1.0 / h)):
            assert sim.step().converged
        ends.append(np.append(sim.body_position("roller"), sim.body_angular_velocity("roller")))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


@pytest.mark.parametrize("rates", ROLLING)
def test_energy_of_a_ball_that_rolls_and_spins_on_a_box_has_no_trend(rates):
    floor = [((0.0, 0.0, 0.0), 0.0)]
    mech = rolling_ball(floor, (0.0, 0.0, RADIUS + 0.02), 1.0, (0.03, 0.01, -0.02))
    for h in (0.01, 0.005):
        sim = Simulator(mech, timestep=h)
        sim.reset(velocities={"roller:floating": rates})
        assert_no_trend(sim, 4.0)


@pytest.mark.parametrize("h", [0.001, 0.005, 0.01])
@pytest.mark.parametrize("speed", [0.0, 0.5, 1.5])
@pytest.mark.parametrize(("slope", "friction"), [(2.0, 0.6), (2.0, 0.8), (1.0, 1.2), (1.0, 3.0)])
def test_friction_does_not_squeeze_a_ball_that_rolls_in_a_groove(slope, friction, speed, h):
    """Its two contacts can hold each other: by each other's errors of rolling they pressed ever harder."""
    angle = np.arctan(slope)
    floors = [((side * np.cos(angle), 0.0, np.sin(angle)), -side * angle) for side in (1.0, -1.0)]
    mech = rolling_ball(floors, (0.0, 0.0, RADIUS * np.hypot(1.0, slope) + 0.01), friction)
    sim = Simulator(mech, timestep=h)
    rates = (0.0, speed, 0.0, 1.0, 0.5, 0.0)
    sim.reset(velocities={"roller:floating": rates})
    forces, iterations = [], []
    for _ in range(200):
        status = sim.step()
        assert status.converged
        iterations.append(status.iterations)
        forces.append(np.abs(sim.contacts.force).max())
    assert np.mean(iterations) < 3.0
    assert max(forces[100:]) <= 1.01 * max(forces[:100])
    assert sim.contacts.gap.min() > -1e-7


def ball_on_turntable(turn, place, velocity):
    """A ball of 1 kg that rolls on a heavy table, which turns about z by ``turn`` [rad/s]; returns it and its start."""
    mech = Mechanism(ground=False)
    mech.add_body("table", 1e6, (1e6, 1e6, 1e6), (0.0, 0.0, -0.05))
    mech.add_joint("axle", "revolute", "world", "table", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    mech.add_collision("top", "table", Box((8.0, 8.0, 0.1)), friction=5.0)
    mech.add_body("ball", 1.0, (0.4 * RADIUS**2,) * 3, (*place, RADIUS))
    mech.add_collision("skin", "ball", Sphere(RADIUS), friction=5.0)
    mech.add_pair("ball", "table")
    below = turn * np.array([-place[1], place[0]])  # velocity of the table
    spin = (below[1] - velocity[1]) / RADIUS, (velocity[0] - below[0]) / RADIUS, 0.0
    ball = {"position": (*place, RADIUS), "velocity": (*velocity, 0.0), "angular_velocity": spin}
    return mech, {"velocities": {"axle": turn}, "base": {"ball": ball}}


@pytest.mark.parametrize(
    ("velocity", "centre"), [((0.0, 0.0), (0.5, 0.2)), ((0.6, -0.3), (0.85, 0.9))]
)
def test_a_ball_on_a_turntable_rolls_in_a_circle(velocity, centre):
    """It turns by 2/7 of the table's rate [Weltner, American Journal of Physics 47, 1979], by order two."""
    turn, seconds = 3.0, 2.0
    place, rate = np.array([0.5, 0.2]), turn / 3.5
    arm = np.array([velocity[1], -velocity[0]]) / rate
    np.testing.assert_allclose(place - arm, centre, atol=1e-12)
    cosine, sine = np.cos(rate * seconds), np.sin(rate * seconds)
    exact = centre + np.array([[cosine, -sine], [sine, cosine]]) @ arm
    errors = []
    for h in (0.02, 0.01):
        mech, start = ball_on_turntable(turn, place, velocity)
        sim = Simulator(mech, timestep=h)
        sim.reset(**start)
        for _ in range(round(seconds / h)):
            assert sim.step().converged
        errors.append(np.abs(sim.body_position("ball")[:2] - exact).max())
    assert errors[1] <= max(errors[0] / 3.5, 1e-5)
    assert errors[0] <= 1e-3
