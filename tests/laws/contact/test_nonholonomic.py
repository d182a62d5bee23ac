"""Skates and wheels: exact at the velocity level, what their forces may change, how wheels stand, roll and lift."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oracle.naive_drives import Rolling
from oracle.naive_joints import rotate
from scenes import touching_scenes as scenes
from scenes.shapes import box_inertia
from scenes.touching import energies, moving, run, stepped
from scenes.touching_scenes import turned
from vigym import Ground, Mechanism, MechanismError, Simulator
from vigym.mechanism.elements.shapes import Cylinder

MASS = 2.0
MOMENT = 0.3
OFFSET = 0.2


def residual(sim):
    """Largest velocity of a skate or wheel along what it forbids, at the knot [m/s]."""
    mech = sim.mechanism
    index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
    q = np.array([[1.0, 0.0, 0.0, 0.0], *(sim.body_orientation(name) for name in mech.bodies)])
    rows = Rolling(mech, index).rows(q, len(mech.bodies))
    return np.abs(rows @ sim.body_states[:, 7:].ravel()).max()


def sleigh_rates(_, y):
    """Chaplygin's equations for (speed along the blade, spin, heading, x, y) of the centre of mass."""
    u, w, angle = y[:3]
    side = OFFSET * w
    return [OFFSET * w**2, -MASS * OFFSET * u * w / (MOMENT + MASS * OFFSET**2), w,
            u * np.cos(angle) - side * np.sin(angle), u * np.sin(angle) + side * np.cos(angle)]  # fmt: skip


def sleigh_start(u, w):
    return {"plane": (u, OFFSET * w, w)}


@pytest.mark.parametrize("start", [(1.0, 1.0), (-1.0, 2.0), (0.0, 3.0)])
def test_chaplygin_sleigh_moves_by_its_equations(start):
    exact = solve_ivp(sleigh_rates, (0.0, 2.0), [*start, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12).y[
        :, -1
    ]
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = run(moving(scenes.sleigh(OFFSET), h, sleigh_start(*start)), round(2.0 / h))
        errors.append(np.abs(sim.body_position("sleigh")[:2] - exact[3:]).max())
        assert residual(sim) <= 1e-9
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)
    assert errors[2] < 1e-3


def test_energy_of_the_sleigh_is_kept_and_it_turns_round():
    """Thrown backwards it turns over, runs forward, and goes straight."""
    sim = moving(scenes.sleigh(OFFSET), 0.01, sleigh_start(-1.0, 0.5))
    found = energies(sim, 2000)
    assert np.abs(found - found[0]).max() <= 2e-3 * found[0]
    assert found[-200:].mean() == pytest.approx(found[:1].mean(), rel=1e-3)
    heading = rotate(sim.body_orientation("sleigh"), np.array([1.0, 0.0, 0.0]))
    assert sim.body_velocity("sleigh") @ heading == pytest.approx(
        np.sqrt(2.0 * found[0] / MASS), rel=1e-2
    )
    assert abs(sim.body_angular_velocity("sleigh")[2]) < 0.05


def test_a_blade_changes_momentum_across_itself_alone():
    """Along the blade's direction at each knot; a blade below the centre of mass keeps the spin."""
    mech = scenes.sleigh(0.0)
    sim = moving(mech, 0.01, {"plane": (1.0, 0.0, 2.0)})
    for _ in stepped(sim, 100):
        assert sim.body_angular_velocity("sleigh")[2] == pytest.approx(2.0, abs=1e-8)
        assert np.linalg.norm(sim.body_velocity("sleigh")) == pytest.approx(1.0, rel=1e-3)
        assert residual(sim) <= 1e-9
    # It runs round a circle of v / w.
    angle = 2.0 * sim.time
    np.testing.assert_allclose(
        sim.body_position("sleigh")[:2],
        0.5 * np.array([np.sin(angle), 1.0 - np.cos(angle)]),
        atol=1e-3,
    )


def test_wheel_rolls_without_slip():
    """Driven by a torque, the carrier follows the wheel: J + (m) r^2 at the axle."""
    mech = scenes.unicycle(0.1)
    sim = moving(mech, 0.01)
    for _ in stepped(sim, 100, torques=[0.05]):
        assert residual(sim) <= 1e-9
    turn = sim.joint_positions[mech.position_names.index("axle")]
    assert sim.body_position("carrier")[0] == pytest.approx(0.1 * turn, rel=1e-4)
    axle = 0.005 * 0.5 + 1.5 * 0.01
    assert turn == pytest.approx(0.5 * 0.05 / axle, rel=2e-3)


def test_wheel_steers_its_carrier_round():
    """Rolling and turning: a circle of speed over spin, at order two; energy stays, it is odd in time."""
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = moving(scenes.unicycle(0.1), h, {"plane": (0.5, 0.0, 3.0), "axle": 5.0})
        found = energies(sim, round(2.0 / h))
        assert np.ptp(found) <= 1e-7 * found[0]
        circle = 0.5 / 3.0 * np.array([np.sin(6.0), 1.0 - np.cos(6.0)])
        errors.append(np.abs(sim.body_position("carrier")[:2] - circle).max())
        assert residual(sim) <= 1e-9
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_wheel_that_leans_and_turns_keeps_energy():
    """Its axle is tilted and off the centre of mass; the error is of order two, until it lies flat."""
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = moving(scenes.leaning_wheel(), h, {"free": (0.8, 0.0, 0.0, 0.0, 8.0, 3.0)})
        found = energies(sim, round(0.4 / h))[1:]  # the rim's way down ends in the first step
        assert residual(sim) <= 1e-9
        errors.append(np.ptp(found) / found[0])
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4, 1e-5])
def test_wheels_on_one_axle_agree(h):
    """Both hold the cart aside: their constraints are one, however it turns and rolls."""
    sim = moving(
        scenes.cart(), h, {"plane": (0.5, 0.0, 3.0), "left_axle": -1.0, "right_axle": 11.0}
    )
    found = energies(sim, 200)
    assert np.ptp(found) <= 1e-7 * found[0]
    assert residual(sim) <= 1e-7


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
def test_axles_of_a_cart_rub(h):
    """Dry friction of 0.02 N m on both: the cart loses what that takes of its wheels' turning."""
    sim = moving(
        scenes.cart(friction=0.02),
        h,
        {"plane": (0.5, 0.0, 3.0), "left_axle": -1.0, "right_axle": 11.0},
    )
    before, lost = sim.energy().total, 0.0
    for _ in stepped(sim, 200):
        lost += 0.02 * h * np.abs(sim.joint_velocities[3:]).sum()
    assert before - sim.energy().total == pytest.approx(lost, rel=0.02)
    assert residual(sim) <= 1e-7


def test_rates_against_a_blade_are_projected_at_the_start():
    sim = moving(scenes.sleigh(OFFSET), 0.01, {"plane": (1.0, 0.7, 0.0)})
    assert residual(sim) <= 1e-9


G = 9.81
RADIUS = 0.1
SPIN = 0.005  # about the axle of one kilogram [kg m^2]: half of m r^2


def lone_wheel(height=RADIUS, turn=(1.0, 0.0, 0.0, 0.0), **options):
    """One kilogram on a wheel alone, its axle along y."""
    mech = Mechanism(**options)
    mech.add_body("disc", 1.0, (0.003, SPIN, 0.003), (0.0, 0.0, height), turn)
    mech.add_wheel("tyre", "disc", (0.0, 0.0, 0.0), (0, 1, 0), RADIUS)
    return mech


def car():
    """Ten kilograms on four driven wheels of half a kilogram, the middle 0.1 m ahead of their middle."""
    mech = Mechanism(ground=True)
    mech.add_body("chassis", 10.0, (0.5, 1.0, 1.2), (0.1, 0.0, 0.2))
    for name, x, y in (("fl", 0.4, 0.3), ("fr", 0.4, -0.3), ("rl", -0.4, 0.3), ("rr", -0.4, -0.3)):
        place = (x, y, RADIUS)
        mech.add_body(name, 0.5, (SPIN / 4.0, SPIN / 2.0, SPIN / 4.0), place)
        mech.add_joint(f"{name}_axle", "continuous", "chassis", name, place, (0, 1, 0), effort=10.0)
        mech.add_wheel(f"{name}_tyre", name, (0.0, 0.0, 0.0), (0, 1, 0), RADIUS)
    return mech


def rolling(speed):
    """Velocities of all that rolls along x."""
    return (speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0)


@pytest.mark.parametrize("turn", [0.02, 0.2, 0.7])
def test_a_wheel_alone_carries_its_body_and_rolls(turn):
    """It turns by its way over its radius: to (turn/2)^4/30 of it."""
    h = 0.01
    sim = Simulator(lone_wheel(), timestep=h)
    sim.reset(velocities={"disc:floating": rolling(RADIUS * turn / h)})
    total, before = 0.0, sim.body_orientation("disc")
    for _ in range(90):
        assert sim.step().converged
        after = sim.body_orientation("disc")
        total += 2.0 * np.arccos(np.clip(abs(before @ after), 0.0, 1.0))
        before = after
    assert sim.body_position("disc")[2] == pytest.approx(RADIUS, abs=1e-8)
    assert sim.body_position("disc")[0] == pytest.approx(RADIUS * total, rel=1e-5 + turn**4 / 470)
    assert dict(zip(sim.mechanism.contact_names, sim.contacts.force[:, 2], strict=True)) == {
        "tyre:0": pytest.approx(G, rel=1e-6), **{f"tyre:{i}": 0.0 for i in (1, 2, 3)}
    }  # fmt: skip
    # the rim is a little soft as it takes the load: 5e-9 m of way of the weight
    assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=1e-8 * G)


def test_a_wheel_rolls_down_a_slope_as_the_law_says():
    angle, t = 0.3, 0.5
    normal = (np.sin(angle), 0.0, np.cos(angle))
    mech = lone_wheel(ground=Ground(normal=normal))
    sim = Simulator(mech)
    sim.reset(place_on_ground=True)
    start = sim.body_position("disc")
    for _ in range(50):
        assert sim.step().converged
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    way = 0.5 * G * np.sin(angle) / 1.5 * t * t
    np.testing.assert_allclose(sim.body_position("disc") - start, way * down, atol=1e-7)


def test_a_car_stands_and_drives_on_four_wheels():
    """Loads are those of the lever; torques of all wheels drive its mass and the wheels' spin."""
    sim = Simulator(car())
    for _ in range(100):
        assert sim.step(torques=[0.5] * 4).converged
    inertia = 12.0 + 4.0 * (SPIN / 2.0) / RADIUS**2
    a = 4.0 * 0.5 / RADIUS / inertia
    assert sim.body_position("chassis")[0] - 0.1 == pytest.approx(0.5 * a, rel=1e-4)
    assert sim.body_position("chassis")[2] == pytest.approx(0.2, abs=1e-7)
    loads = sim.contacts.force[::4, 2]
    assert loads.sum() == pytest.approx(12.0 * G, rel=1e-6)
    # about the middle of the wheels: the weight ahead of it, and what the chassis 0.2 m high and the wheels need
    moment = 10.0 * G * 0.1 - a * (10.0 * 0.2 + 2.0 * RADIUS) - 4.0 * (SPIN / 2.0) * a / RADIUS
    assert loads[:2].sum() - loads[2:].sum() == pytest.approx(moment / 0.4, rel=1e-3)


def test_a_wheel_in_the_air_does_not_roll_until_it_lands():
    """It lands with 1 m/s and no spin, and keeps its momentum about where it touches."""
    sim = Simulator(lone_wheel(height=0.3), timestep=0.005)
    sim.reset(velocities={"disc:floating": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)})
    energies = [sim.energy().total]
    for _ in range(100):
        assert sim.step().converged
        energies.append(sim.energy().total)
        if sim.body_position("disc")[2] > RADIUS + 1e-3:
            assert sim.body_velocity("disc")[0] == pytest.approx(1.0, abs=1e-12)
    assert np.diff(energies).max() < 1e-7 * G  # the rim is a little soft as it takes the load
    assert sim.body_velocity("disc")[0] == pytest.approx(1.0 / 1.5, rel=1e-6)
    assert sim.body_angular_velocity("disc")[1] == pytest.approx(1.0 / 1.5 / RADIUS, rel=1e-6)
    assert sim.metrics()["energy_balance"] == pytest.approx(0.0, abs=1e-3 * energies[0])


def test_a_fast_wheel_that_leans_wobbles_without_a_trend_of_energy():
    """Its error is of order two, and as large after ten seconds as before."""
    errors = []
    for h in (0.01, 0.005):
        sim = Simulator(lone_wheel(turn=turned(0.1, (1, 0, 0))), timestep=h)
        sim.reset(velocities={"disc:floating": rolling(3.0)}, place_on_ground=True)
        found = []
        for _ in range(round(20.0 / h)):
            assert sim.step().converged
            found.append(sim.energy().total)
        errors.append(np.ptp(found))
        trend = np.polyfit(np.arange(len(found)), found, 1)[0] * len(found)
        assert abs(trend) < 0.02 * errors[-1]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_wheel_that_falls_on_its_side_does_not_sink():
    sim = Simulator(lone_wheel(turn=turned(0.2, (1, 0, 0))), timestep=0.005)
    sim.reset(place_on_ground=True)
    deepest = 0.0
    for _ in range(400):
        assert sim.step().converged
        deepest = max(deepest, sim.metrics()["penetration"])
    assert deepest < 1e-6
    assert sim.body_position("disc")[2] < 0.2 * RADIUS


def test_a_wheel_has_a_ground_and_names_of_its_own():
    mech = lone_wheel()
    assert mech.contact_names == [f"tyre:{i}" for i in range(4)]
    with pytest.raises(MechanismError, match="contact 'tyre:0'"):
        mech.add_contact("tyre:0", "disc", (0.0, 0.0, 0.0))
    mech.ground = False
    with pytest.raises(MechanismError, match="wheel 'tyre'.*without ground"):
        Simulator(mech)


READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
GAIN = 0.01  # part of the largest kinetic energy by which a reading may rise, as in other falls
SUNK = 1e-6  # no rim is deeper [m]
START = (0.0, 0.0, 0.025, 1.0, 0.0, 0.0, 0.0)


def add_foot(mech, name, place, radius, friction):
    """A cylinder of 5 cm height that stands on the ground."""
    mech.add_body(name, 0.5, box_inertia(0.5, (2.0 * radius, 2.0 * radius, 0.05)), place)
    mech.add_collision(f"{name} skin", name, Cylinder(radius, 0.05), friction=friction)


def random_hinge(rng):
    """Axis, limits and dry friction of a hinge that jams soon."""
    axis = rng.normal(size=3)
    limits = -rng.uniform(0.0, 0.3), rng.uniform(0.0, 0.3)
    return {"axis": axis / np.linalg.norm(axis), "limits": limits, "friction": rng.choice([0, 1])}


def arch(rng):
    """A heavy arch of links between two feet: hinges at random axes, with limits."""
    mech = Mechanism(ground=True)
    friction, radius = rng.choice([0.5, 0.8, 1.2]), rng.uniform(0.02, 0.1)
    width, height = rng.uniform(0.4, 1.0), rng.uniform(0.2, 0.6)
    count = int(rng.integers(3, 7))
    shares = np.linspace(0.0, 1.0, count + 1)
    rise = 0.05 + 4.0 * height * shares * (1.0 - shares)
    places = np.stack([width * shares, 0.1 * rng.normal(size=count + 1), rise], axis=1)
    places[[0, -1], 1] = 0.0
    add_foot(mech, "foot", START[:3], radius, friction)
    mech.add_joint("base", "floating", "world", "foot", START[:3])
    parent = "foot"
    for i in range(count):
        name, mass = f"link{i}", 10.0 ** rng.uniform(-0.5, 1.0)
        middle = 0.5 * (places[i] + places[i + 1])
        mech.add_body(name, mass, box_inertia(mass, (0.1, 0.1, 0.3)), middle)
        mech.add_joint(f"hinge{i}", "revolute", parent, name, places[i], **random_hinge(rng))
        parent = name
    add_foot(mech, "other foot", (width, 0.0, 0.025), radius, friction)
    mech.add_joint("ankle", "revolute", parent, "other foot", places[-1], **random_hinge(rng))
    return mech


def random_push(rng):
    """A horizontal velocity, and a spin about the vertical axis, of the base."""
    return np.concatenate([2.0 * rng.normal(size=2), np.zeros(3), rng.normal(size=1)])


@pytest.mark.parametrize("seed", range(16))
def test_an_arch_that_slides_on_round_feet(seed):
    """Its hinges reach their limits at once, and friction wedges it: feet tip over their rims."""
    rng = np.random.default_rng(seed)
    timestep = float(rng.choice([0.002, 0.005, 0.01]))
    sim = Simulator(arch(rng), timestep=timestep, max_iterations=10_000)
    sim.reset({"base": START}, {"base": random_push(rng)}, place_on_ground=True)
    energies, largest = [sim.energy().total], sim.energy().kinetic
    for _ in range(60):
        assert sim.step().converged
        assert sim.metrics()["penetration"] <= SUNK
        energies.append(sim.energy().total)
        largest = max(largest, sim.energy().kinetic)
        assert energies[-1] - max(energies[-1 - READ : -1]) < GAIN * largest


def test_rims_turn_in_every_environment_as_they_would_alone():
    """Attempts at the steps of other environments leave turned rims where they are."""
    mech, count = arch(np.random.default_rng(3)), 11
    rng = np.random.default_rng(0)
    pushes = np.array([random_push(rng) for _ in range(count)])
    batch, single = Simulator(mech, timestep=0.005, batch=count), Simulator(mech, timestep=0.005)
    batch.reset({"base": np.tile(START, (count, 1))}, {"base": pushes}, place_on_ground=True)
    batch.step(substeps=8)
    for e in range(count):
        single.reset({"base": START}, {"base": pushes[e]}, place_on_ground=True)
        single.step(substeps=8)
        np.testing.assert_array_equal(batch.state[e], single.state)
