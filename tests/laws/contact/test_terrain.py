"""Ground that is not flat: the laws of the plane on triangles, of edges and corners, of discs that tumble."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import terrains
from scenes.terrains import SHAPES, along_x, thrown
from scenes.touching_scenes import tilted, turned
from vigym import Ground, Mechanism, Simulator, Terrain
from vigym.mechanism.elements.ground import maps
from vigym.mechanism.elements.ground.maps import rough
from vigym.mechanism.elements.shapes import Cylinder, Sphere

G, H = 9.81, 0.005
THROW = {"body:floating": (0.7, 0.3, 0.0, 1.0, 2.0, 3.0)}
DEEPEST = 1e-6  # [m], as on the plane
# [J] by which the energy read at a knot may rise: a spinning body's, (h w)^2 / 8 of it, w = 20 rad/s
RISE = 2e-3


def ball_on(terrain, friction=0.5, height=0.3, **options):
    return thrown("ball", Ground(terrain=terrain), height, friction, **options)


def energies(sim, steps, look=lambda sim: None):
    found = [sim.energy().total]
    for _ in range(steps):
        assert sim.step().converged
        found.append(sim.energy().total)
        look(sim)
    return np.array(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_plane_as_heights_is_the_plane(shape):
    """Thrown on it, to rounding: contacts that a step has missed are found at its end, not on the way."""
    on_heights = Simulator(thrown(shape, Ground(terrain=terrains.flat())), timestep=H)
    on_plane = Simulator(thrown(shape, True), timestep=H)
    for sim in (on_heights, on_plane):
        sim.reset(velocities=THROW)
    for _ in range(150):
        on_heights.step()
        on_plane.step()
        np.testing.assert_allclose(on_heights.body_states, on_plane.body_states, atol=1e-8)


def test_ball_rolls_on_a_plane_of_heights_bit_for_bit():
    on_heights = Simulator(thrown("ball", Ground(terrain=terrains.flat()), 0.05), timestep=H)
    on_plane = Simulator(thrown("ball", True, 0.05), timestep=H)
    for sim in (on_heights, on_plane):
        sim.reset(velocities=THROW)
        sim.step(substeps=300)
    np.testing.assert_array_equal(on_heights.body_states, on_plane.body_states)


@pytest.mark.parametrize(("friction", "slides"), [(0.35, False), (0.25, True)])
def test_box_slides_down_a_slope_iff_friction_is_below_its_tangent(friction, slides):
    """And moves as on a tilted plane: tan(0.291) = 0.3 is between the coefficients."""
    angle = np.arctan(0.3)
    x = 0.5 * (np.arange(13) - 6)
    slope = Ground(terrain=along_x(-0.3 * x, 0.5))
    q = turned(angle, (0, 1, 0))
    places = []
    for ground in (slope, tilted(angle)):
        sim = Simulator(thrown("box", ground, 0.1, friction), timestep=H)
        pose = (*(0.1 * np.array([np.sin(angle), 0.0, np.cos(angle)])), *q)
        sim.reset({"body:floating": pose})
        sim.step(substeps=200)
        places.append(sim.body_position("body"))
    np.testing.assert_allclose(*places, atol=1e-9)
    moved = places[0] - pose[:3]
    expected = 0.5 * G * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    assert np.hypot(moved[0], moved[2]) == pytest.approx(expected, abs=0.01)


def test_ball_rolls_down_a_slope_by_the_law():
    angle = 0.2
    x = 0.5 * (np.arange(25) - 12)
    sim = Simulator(ball_on(along_x(-np.tan(angle) * x, 0.5), 0.8), timestep=H)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    sim.reset({"body:floating": (*(0.05 * normal), 1, 0, 0, 0)})
    sim.step(substeps=200)
    a = G * np.sin(angle) / (1.0 + 0.003 / 0.05**2)  # about y
    way = 0.5 * a * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    np.testing.assert_allclose(sim.body_position("body"), 0.05 * normal + way, atol=1e-6)


def test_ball_rests_in_a_valley_on_both_sides():
    slope = 0.5
    x = 0.25 * (np.arange(41) - 20)
    sim = Simulator(ball_on(along_x(slope * np.abs(x), 0.25), 0.0), timestep=H)
    sim.reset({"body:floating": (0.0, 0.0, 0.05 * np.sqrt(1.0 + slope**2) + 1e-3, 1, 0, 0, 0)})
    sim.step(substeps=200)
    assert np.abs(sim.body_states[:, 7:]).max() < 1e-6
    forces = np.linalg.norm(sim.contacts.force, axis=1)
    cosine = 1.0 / np.sqrt(1.0 + slope**2)
    np.testing.assert_allclose(np.sort(forces), [0.0, *[G / (2.0 * cosine)] * 2], atol=1e-6)


def test_ball_rolls_over_an_edge_and_leaves_it():
    """About the edge it turns until it falls: it is never nearer than its radius, and gains nothing."""
    terrain = along_x(np.where(np.arange(81) < 40, 0.2, 0.0), 0.02)
    corners = terrains.triangles(terrain)
    sim = Simulator(ball_on(terrain), timestep=H)
    sim.reset(
        {"body:floating": (-0.2, 0.0, 0.25, 1, 0, 0, 0)},
        THROW | {"body:floating": (0.4, 0, 0, 0, 8, 0)},
    )
    nearest = []

    def look(sim):
        nearest.append(terrains.distance(sim.body_position("body"), corners))

    energy = energies(sim, 250, look)
    assert min(nearest) > 0.05 - DEEPEST
    assert sim.body_position("body")[2] == pytest.approx(0.05, abs=DEEPEST)
    assert (energy - np.minimum.accumulate(energy)).max() < RISE


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("h", [0.005, 0.02])
def test_ball_that_rolls_over_creases_takes_few_iterations(h, friction):
    """The plane that it runs into takes the force of the one that it leaves: without that 59 and more."""
    for bend in (0.1, 0.5, 1.0):
        x = 0.1 * (np.arange(81) - 40)
        sim = Simulator(ball_on(along_x(0.5 * bend * x**2, 0.1), friction), timestep=h)
        sim.reset(
            {"body:floating": (-0.45, 0.03, 0.0, 1, 0, 0, 0)},
            {"body:floating": (1.0, 0.0, 0.0, 0.0, 20.0, 0.0)},
            place_on_ground=True,
        )
        iterations = []
        for _ in range(round(1.0 / h)):
            status = sim.step()
            assert status.converged
            iterations.append(status.iterations)
        assert max(iterations) <= 35
        assert np.mean(iterations) <= 8.0


def test_ball_stops_at_a_wall():
    terrain = along_x(np.where(np.arange(81) < 45, 0.0, 0.2), 0.02)
    sim = Simulator(ball_on(terrain, 0.0), timestep=H)
    sim.reset(
        {"body:floating": (0.0, 0.0, 0.05, 1, 0, 0, 0)}, {"body:floating": (1.0, 0, 0, 0, 0, 0)}
    )
    energy = energies(sim, 100)
    # the proximal term lets it sink by up to 5e-8 m under its weight
    assert (energy - np.minimum.accumulate(energy)).max() < 5e-8 * G
    # the wall rises by 0.2 m in a cell of 0.02 m from x = 0.08
    assert (
        terrains.distance(sim.body_position("body"), terrains.triangles(terrain)) > 0.05 - DEEPEST
    )
    assert sim.body_position("body")[0] < 0.08


@pytest.mark.parametrize("name", ["boxes", "rough"])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("shape", SHAPES)
def test_thrown_on_random_ground_nothing_falls_through_or_gains_energy(shape, restitution, name):
    terrain = maps.TERRAINS[name]()
    mech = thrown(shape, Ground(terrain=terrain), restitution=restitution)
    rng = np.random.default_rng(3)
    count = 6
    q = np.zeros((count, 7))
    q[:, :2] = rng.uniform((0.6, -1.0), (2.0, 1.0), (count, 2))
    q[:, 2] = 0.5
    q[:, 3:] = rng.normal(size=(count, 4))
    spins = rng.uniform(-8.0, 8.0, (count, 6)) * [0.1, 0.1, 0.1, 1, 1, 1]
    sim = Simulator(mech, timestep=H, batch=count)
    sim.reset({"body:floating": q}, {"body:floating": spins}, terrain_map=np.arange(count))
    highest = first = sim.energy().total
    for _ in range(300):
        assert sim.step().converged.all()
        highest = np.maximum(highest, sim.energy().total)
        x, y, z = sim.body_position("body").T
        assert (z > terrain.height(x, y, np.arange(count))).all()
        if shape != "cylinder":  # whose flat ends do not see what is between their rims' contacts
            assert sim.metrics()["penetration"].max() < DEEPEST
    assert (highest <= first + RISE).all()


def disc_above_jumps(rng, amplitude):
    """A thin disc of 5 to 20 cm above ground whose heights are random from cell to cell, and its start."""
    ground = Terrain(rng.uniform(0.0, amplitude, (61, 61)), cell=0.1)
    radius, turn = rng.uniform(0.05, 0.2), rng.normal(size=4)
    mech, length = Mechanism(ground=Ground(terrain=ground)), 0.4 * radius
    across = (3.0 * radius**2 + length**2) / 6.0
    mech.add_body("disc", 2.0, (across, across, radius**2), position=(0.0, 0.0, 0.5))
    mech.add_collision("disc", "disc", Cylinder(radius, length), friction=0.8)
    start = {"position": (0.0, 0.0, 0.8), "orientation": turn / np.linalg.norm(turn)}
    start |= {"velocity": 0.7 * rng.normal(size=3), "angular_velocity": 3.0 * rng.normal(size=3)}
    return mech, {"disc": start}


@pytest.mark.parametrize("h", [0.002, 0.005])
def test_discs_on_ground_whose_heights_jump_gain_no_energy(h):
    """Between two slopes a disc is held by points that are not its lowest: none of them rolls it."""
    for seed in (4, 6, 18, 33):
        mech, start = disc_above_jumps(np.random.default_rng([4, seed]), 0.12)
        sim = Simulator(mech, timestep=h)
        sim.reset(base=start, place_on_ground=True)
        found, kinetic = [], 0.0
        lowest = np.inf
        for _ in range(round(1.2 / h)):
            energy = sim.energy()
            kinetic = max(kinetic, energy.kinetic)
            found.append(energy.total)
            lowest = min(lowest, max(found[-5:-1], default=np.inf))
            assert energy.total - lowest <= 0.01 * kinetic, seed
            assert sim.step().converged


def test_batch_on_different_maps_is_every_environment_alone():
    terrain = maps.rough(maps=3)
    mech = thrown("box", Ground(terrain=terrain))
    batch = Simulator(mech, timestep=H, batch=3)
    base = {"body": {"position": (0.8, 0.2, 0.4), "angular_velocity": (3.0, 1.0, 2.0)}}
    batch.reset(base=base, terrain_map=[2, 0, 1])
    batch.step(substeps=100)
    np.testing.assert_array_equal(batch.terrain_maps, [2, 0, 1])
    for environment, number in enumerate((2, 0, 1)):
        alone = Simulator(mech, timestep=H)
        alone.reset(base=base, terrain_map=number)
        alone.step(substeps=100)
        np.testing.assert_array_equal(alone.body_states, batch.body_states[environment])
    assert np.ptp(batch.body_states[..., 2]) > 1e-3


def rolling_pair():
    """Two balls in a bowl of triangles that rebound from each other and from it."""
    x = 0.1 * (np.arange(81) - 40)
    heights = 0.25 * x[:, None] ** 2 + 0.15 * x[None, :] ** 2
    mech = Mechanism(ground=Ground(terrain=Terrain(heights, cell=0.1)))
    for name in ("one", "two"):
        mech.add_body(name, 1.0, (0.001, 0.001, 0.001), position=(0.0, 0.0, 1.0))
        mech.add_collision(name, name, Sphere(radius=0.05), friction=0.5, restitution=0.5)
    mech.add_pair("one", "two")
    return mech


@pytest.mark.parametrize("seed", [3, 10])
def test_balls_in_lanes_are_the_singles_where_neighbours_touch(seed):
    """What is no number at a contact that a lane does not touch spoiled its line search: the second differed."""
    count, steps = 11, 300
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1.0, 1.0, (count, 2, 2))
    velocities = rng.normal(size=(count, 2, 3))
    starts = {}
    for i, name in enumerate(("one", "two")):
        heights = np.full((count, 1), 0.8 + 0.2 * i)
        position = np.concatenate([places[:, i], heights], axis=1)
        starts[name] = {"position": position, "velocity": velocities[:, i]}
    batch = Simulator(rolling_pair(), timestep=H, batch=count)
    batch.reset(base=starts)
    found = []
    for _ in range(steps):
        assert batch.step().converged.all()
        found.append(batch.body_states.copy())
    for e in range(count):
        single = Simulator(rolling_pair(), timestep=H)
        single.reset(base={b: {k: v[e] for k, v in own.items()} for b, own in starts.items()})
        for k in range(steps):
            single.step()
            np.testing.assert_array_equal(single.body_states, found[k][e], str((e, k)))


def test_saved_state_has_the_map():
    mech = thrown("ball", Ground(terrain=maps.rough(maps=2)))
    sim, other = (Simulator(mech, timestep=H) for _ in range(2))
    sim.reset(base={"body": {"position": (0.8, 0.2, 0.1)}}, terrain_map=1)
    sim.step(substeps=20)
    other.state = sim.state
    assert other.terrain_maps == 1
    for each in (sim, other):
        each.step(substeps=50)
    np.testing.assert_array_equal(sim.state, other.state)


@pytest.mark.parametrize("shape", SHAPES)
def test_start_on_the_ground_touches_the_terrain(shape):
    terrain = maps.boxes(maps=4)
    sim = Simulator(thrown(shape, Ground(terrain=terrain)), batch=4)
    places = np.array([(x, 0.3, 1.0, 1, 0, 0, 0) for x in (0.0, 0.9, 1.22, 2.0)])
    sim.reset({"body:floating": places}, place_on_ground=True, terrain_map=np.arange(4))
    np.testing.assert_allclose(sim.contacts.gap.min(axis=1), 0.0, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_starts_on_the_ground_are_those_of_single_environments(shape):
    """Each lane was moved as often as the slowest one, which changed its last digits."""
    rng = np.random.default_rng(0)
    mech = thrown(shape, Ground(terrain=maps.rough(maps=1)))
    turns = rng.normal(size=(4, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    poses = np.hstack([rng.uniform(-1.0, 1.0, (4, 2)), np.ones((4, 1)), turns])
    sim, alone = Simulator(mech, batch=4), Simulator(mech)
    sim.reset({"body:floating": poses}, place_on_ground=True)
    for lane, pose in enumerate(poses):
        alone.reset({"body:floating": pose}, place_on_ground=True)
        np.testing.assert_array_equal(sim.state[lane], alone.state)


def test_start_deep_below_the_ground_is_lifted_onto_it():
    x = 0.1 * (np.arange(61) - 30)
    sim = Simulator(ball_on(along_x(1.0 + 0.5 * x, 0.1)), timestep=H)
    for z in (-0.5, 0.5, 0.97, 3.0):
        pose = (0.3, 0.1, z, 1, 0, 0, 0)
        sim.reset({"body:floating": pose}, place_on_ground=True)
        assert sim.contacts.gap.min() == pytest.approx(0.0, abs=1e-9)
        assert sim.body_position("body")[2] == pytest.approx(1.15 + 0.05 * np.hypot(1.0, 0.5))
        sim.reset({"body:floating": pose})
        before = sim.contacts.gap.min()
        sim.step(substeps=20)
        assert sim.contacts.gap.min() >= min(before, -1e-9)  # it never goes further


def test_heights_between_points_are_those_of_the_triangles():
    terrain = Terrain([[0.0, 1.0], [2.0, 5.0]], 1.0, (0.0, 0.0))
    assert terrain.height(0.5, 0.25) == pytest.approx(0.5 * 2.0 + 0.25 * 3.0)
    assert terrain.height(0.25, 0.5) == pytest.approx(0.5 * 1.0 + 0.25 * 4.0)
    np.testing.assert_allclose(terrain.height([-3.0, 9.0], [0.0, 9.0]), [0.0, 5.0])


TIMESTEP = 0.02  # [s]
LANES = 8


def disc():
    """A disc, its axis along y, on rough ground."""
    mech = Mechanism(ground=Ground(terrain=rough(maps=1)))
    upright = np.sqrt([0.5, 0.5, 0.0, 0.0])
    mech.add_body("disc", 1.0, (0.0316 / 12.0, 0.0316 / 12.0, 0.005), (0.0, 0.0, 0.1), upright)
    mech.add_collision("disc", "disc", Cylinder(0.1, 0.04), friction=0.8)
    return mech


def throws(seed, count):
    """Random positions (count, 3), velocities and angular velocities above the ground."""
    rng = np.random.default_rng(seed)
    places = np.column_stack([rng.uniform(-1.0, 1.0, (count, 2)), np.full(count, 0.4)])
    spins = 2.0 * rng.normal(size=(count, 3)), 8.0 * rng.normal(size=(count, 3))
    return {"position": places, "velocity": spins[0], "angular_velocity": spins[1]}


@pytest.mark.parametrize(("seed", "steps"), [(0, 25), (1, 15), (2, 20), (4, 30)])
def test_discs_in_a_batch_move_as_they_would_alone(seed, steps):
    """A contact that is put on a plane in one lane left the rims of the others where they had not turned yet.

    Each lane is compared with a simulator that starts from its state, step by step.
    """
    mech = disc()
    many, one = (Simulator(mech, timestep=TIMESTEP, batch=count) for count in (LANES, None))
    many.reset(base={"disc": throws(seed, LANES)})
    for step in range(steps):
        before = many.state.copy()
        many.step()
        for lane in range(LANES):
            one.state = before[lane]
            one.step()
            np.testing.assert_array_equal(many.state[lane], one.state, err_msg=f"{step} {lane}")


@pytest.mark.parametrize(("seed", "steps"), [(21, 36), (23, 43), (57, 25)])
def test_a_state_tells_all_that_a_step_needs(seed, steps):
    """Parts of a step that failed read forces of the step before, which a state that is restored has not."""
    mech = disc()
    sim = Simulator(mech, timestep=TIMESTEP)
    throw = {name: rows[0] for name, rows in throws(seed, 1).items()}
    sim.reset(base={"disc": throw})
    for step in range(steps):
        other = Simulator(mech, timestep=TIMESTEP)
        other.state = sim.state
        sim.step()
        other.step()
        np.testing.assert_array_equal(sim.state, other.state, err_msg=str(step))
