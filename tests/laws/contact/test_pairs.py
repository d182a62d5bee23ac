"""Contacts of two bodies: momentum is kept, nothing sinks in, no impact gains energy, what lies rests."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_joints import rotate
from scenes import pair_scenes as scenes
from scenes.batches import assert_moments_move_alone
from scenes.pair_scenes import started, stepped
from scenes.trees import unit
from vigym import Simulator
from vigym.mechanism.elements.shapes import Capsule
from vigym.metrics import momentum

G, STEPS = 9.81, (0.1, 0.02, 0.005)


def momenta(sim):
    """Linear [kg m/s] and angular momentum about the origin [kg m^2/s]."""
    linear, angular = np.zeros((2, 3))
    for name, body in sim.mechanism.bodies.items():
        v, q = sim.body_velocity(name), sim.body_orientation(name)
        spin = rotate(q, body.inertia @ sim.body_angular_velocity(name))
        linear += body.mass * v
        angular += body.mass * np.cross(sim.body_position(name), v) + spin
    return np.concatenate([linear, angular])


def run(sim, seconds, **given):
    for _ in stepped(sim, round(seconds / sim.timestep), **given):
        pass
    return sim


def speed(sim):
    return np.abs(sim.body_states[:, 7:]).max()


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("kinds", scenes.MEETS)
def test_momentum_is_kept_in_free_space(kinds, h):
    """Linear and angular, at every knot, through impacts with friction: forces are equal, opposite and at one point."""
    mech, rates = scenes.meeting(kinds)
    sim = started(mech, h, rates)
    before, touched = momenta(sim), False
    for _ in stepped(sim, round(1.0 / h)):
        np.testing.assert_allclose(momenta(sim), before, atol=1e-9)
        touched |= sim.contacts.force.any()
    assert touched


@pytest.mark.parametrize("h", [0.05, 0.02, 0.005])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", scenes.MEETS)
def test_impacts_gain_no_energy(kinds, seed, h):
    """From flight to flight; what rotation oscillates by is of order two in the step."""
    mech, rates = scenes.meeting(kinds, seed)
    sim = started(mech, h, rates)
    found, last = [sim.energy().total], False
    for _ in stepped(sim, round(1.0 / h), deepest=5e-6):
        touches = bool(sim.contacts.force.any())
        if not touches and not last:
            found.append(sim.energy().total)
        last = touches
    final = sim.energy().total
    found = np.array(found)
    assert (found - np.minimum.accumulate(found)).max() <= 1e-3 * h * found[0]
    assert final < 0.9 * found[0]


@pytest.mark.parametrize("h", [0.05, 0.01, 0.002])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (3.0, 0.5)])
@pytest.mark.parametrize("bounce", [0.0, 0.4, 1.0])
def test_head_on_impact(bounce, masses, h):
    """Newton's law of restitution, to rounding."""
    sim = started(
        scenes.row(2, restitution=bounce, masses=masses),
        h,
        {"ball0:floating": (2.0, 0, 0, 0, 0, 0)},
    )
    run(sim, 0.5)
    total = sum(masses)
    common, apart = 2.0 * masses[0] / total, 2.0 * bounce
    expected = (common - masses[1] / total * apart, common + masses[0] / total * apart)
    np.testing.assert_allclose(
        [sim.body_velocity(f"ball{i}")[0] for i in range(2)], expected, atol=1e-8
    )


def test_restitution_of_two_surfaces_is_their_geometric_mean():
    mech = scenes.space()
    for i, bounce in enumerate((0.9, 0.4)):
        scenes.add(mech, f"ball{i}", scenes.BALL, (0.3 * i, 0, 0), friction=0.0, restitution=bounce)
    mech.add_pair("ball0", "ball1")
    sim = run(started(mech, rates={"ball0:floating": (1.0, 0, 0, 0, 0, 0)}), 0.5)
    apart = sim.body_velocity("ball1")[0] - sim.body_velocity("ball0")[0]
    assert apart == pytest.approx(0.6, abs=1e-8)


def test_cradle_passes_the_blow_on():
    """Through balls that are a little apart: the last one flies off with all of it."""
    sim = run(
        started(scenes.row(5, restitution=1.0), rates={"ball0:floating": (1.0, 0, 0, 0, 0, 0)}), 1.0
    )
    np.testing.assert_allclose(
        [sim.body_velocity(f"ball{i}")[0] for i in range(5)], [0, 0, 0, 0, 1.0], atol=1e-8
    )


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_grazing_ball_takes_its_spin_from_friction(h):
    """Tangential and normal impulse of a ball that slips on another all the while are in the ratio of friction."""
    mech, friction = scenes.space(), 0.2
    for i in range(2):
        scenes.add(mech, f"ball{i}", scenes.BALL, (0.3 * i, 0, 0), friction=friction)
    mech.add_pair("ball0", "ball1")
    sim = run(started(mech, h, {"ball0:floating": (1.0, 0, 0, 0, 0, 50.0)}), 0.4)
    v0, v1 = sim.body_velocity("ball0"), sim.body_velocity("ball1")
    np.testing.assert_allclose(v0 + v1, [1.0, 0.0, 0.0], atol=1e-9)
    assert abs(v1[1] / v1[0]) == pytest.approx(friction, abs=1e-4)
    lost = 50.0 - sim.body_angular_velocity("ball0")[2]
    assert lost * 0.4 * 0.01 == pytest.approx(0.1 * abs(v1[1]), rel=1e-3)


AT_REST = {
    "ball on a table": lambda height: scenes.laid("ball", height=height),
    "rod on a table": lambda height: scenes.laid("rod", height=height),
    "overhanging rod": scenes.overhanging,
    "three balls": scenes.three_balls,
    "stack": scenes.stack,
}


@pytest.mark.parametrize("h", [0.01, 0.002])
@pytest.mark.parametrize("name", AT_REST)
def test_what_lies_stays(name, h):
    """Built in contact it hardly moves: round things may roll with what the first step leaves them."""
    sim = started(AT_REST[name](0.0), h)
    before = sim.body_states[:, :3].copy()
    run(sim, 1.0)
    assert speed(sim) <= 1e-7
    if name != "three balls":  # they fall apart at first: the lower two are 2 mm from each other
        assert np.abs(sim.body_states[:, :3] - before).max() <= 1e-6


@pytest.mark.parametrize("h", [0.05, 0.01, 0.002])
@pytest.mark.parametrize("name", AT_REST)
def test_what_lands_comes_to_rest(name, h):
    sim = started(AT_REST[name](0.02), h)
    start = sim.energy().total
    for _ in stepped(sim, round(1.5 / h)):
        assert sim.energy().total <= start + 2e-6
    assert speed(sim) <= (1e-4 if h > 0.01 else 1e-6)
    weight = sum(body.mass for body in sim.mechanism.bodies.values()) * G
    ground = len(sim.mechanism.ground_contact_names)
    np.testing.assert_allclose(sim.contacts.force[:ground].sum(axis=0), [0, 0, weight], atol=1e-2)


def test_rod_slides_on_a_moving_body_until_friction_stops_it():
    """Thrown along itself on a free table: both end with the common speed, after the textbook's way."""
    mech = scenes.space()
    friction = 0.5
    speed0 = 1.0
    mech.gravity = (0.0, 0.0, -G)
    scenes.add(
        mech,
        "table",
        scenes.Box(size=(2.0, 0.5, 0.2)),
        (0.0, 0.0, 0.1),
        mass=3.0,
        friction=friction,
    )
    mech.add_joint("rail", "prismatic", "world", "table", (0.0, 0.0, 0.1), (1, 0, 0))
    scenes.add(mech, "rod", scenes.ROD, (-0.5, 0.0, 0.25), scenes.LYING, friction=friction)
    mech.add_pair("table", "rod")
    sim = run(started(mech, 0.005, {"rod:floating": (speed0, 0, 0, 0, 0, 0)}), 1.0)
    np.testing.assert_allclose(
        [sim.body_velocity(n)[0] for n in ("table", "rod")], speed0 / 4.0, atol=1e-6
    )
    travelled = sim.body_position("rod")[0] + 0.5 - sim.body_position("table")[0]
    slower = friction * G * (1.0 + 1.0 / 3.0)
    assert travelled == pytest.approx(speed0**2 / (2.0 * slower), abs=2e-4)


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_squeezed_ball_is_held_by_friction(h):
    """Two pads with 20 N and a coefficient of 0.5 hold up to 20 N; with 0.2 they hold 8 N of its 9.81."""
    sim = started(scenes.squeezed(20.0, 0.5), h)
    run(sim, 0.5, torques=(20.0, -20.0))
    assert np.abs(sim.body_position("ball") - [0.0, 0.0, 1.0]).max() <= 1e-6
    contacts = sim.contacts
    along = np.sum(contacts.force * contacts.normal, axis=-1)
    np.testing.assert_allclose(along, 20.0, rtol=1e-6)
    np.testing.assert_allclose(np.abs(contacts.force[:, 2]), G / 2.0, rtol=1e-5)
    sim = started(scenes.squeezed(20.0, 0.2), h)
    run(sim, 0.2, torques=(20.0, -20.0))
    assert sim.body_velocity("ball")[2] == pytest.approx(-(G - 2.0 * 0.2 * 20.0) * 0.2, abs=1e-6)


@pytest.mark.parametrize("h", [0.05, 0.01])
@pytest.mark.parametrize("name", ["stack", "three balls"])
def test_contacts_obey_their_law_at_every_step(name, h):
    """No pull, no force at a distance, friction in the cone of both surfaces."""
    sim = started(AT_REST[name](0.03), h)
    mech = sim.mechanism
    first, slopes = (
        len(mech.ground_contact_names),
        {k: v.friction.mean() for k, v in mech.collisions.items()},
    )
    touching = [name.split(":")[0].split("/") for name in mech.contact_names[first:]]
    friction = np.array([np.sqrt(slopes[a] * slopes[b]) for a, b in touching])
    for _ in stepped(sim, round(0.5 / h)):
        before = sim.contacts.normal  # forces of the step to come act along these
        sim.step()
        contacts = sim.contacts
        force = np.sum(contacts.force * before, axis=-1)[first:]
        tangential = contacts.force[first:] - force[:, None] * before[first:]
        assert force.min() >= -1e-9
        assert np.abs(force * contacts.gap[first:]).max() * h <= 2e-6
        assert (np.linalg.norm(tangential, axis=-1) <= friction * force * (1.0 + 1e-6) + 1e-6).all()


@pytest.mark.parametrize("kinds", ["ball-brick", "rod-brick", "ball-rod"])
def test_work_balance_of_impacts(kinds):
    """What is lost is booked; what is missing falls with the square of the step."""
    found = []
    for h in (0.02, 0.005):
        mech, rates = scenes.meeting(kinds, seed=4)
        sim = started(mech, h, rates)
        start = sim.energy().total
        run(sim, 1.0)
        metrics = sim.metrics()
        missing = sim.energy().total - start + metrics["dissipated"]
        assert metrics["energy_balance"] == pytest.approx(missing, abs=1e-9)
        found.append(abs(missing) / start)
    assert found[0] < 5e-3
    assert found[1] < max(found[0] / 4.0, 1e-6)


def test_readings_are_of_the_first_body():
    """Gap, normal from the second to the first, and where the first one touches."""
    mech = scenes.space()
    scenes.add(mech, "ball", scenes.BALL, (0.0, 0.0, 0.5))
    scenes.add(mech, "brick", scenes.BRICK, (0.0, 0.0, 0.0))
    mech.add_pair("brick", "ball")
    sim = started(mech, rates={"ball:floating": (0, 0, -1.0, 0, 0, 0)})
    assert mech.contact_names == ["ball/brick"]
    found = np.hstack([sim.contacts.gap, sim.contacts.normal[0], sim.contacts.position[0]])
    np.testing.assert_allclose(found, [0.3, 0, 0, 1, 0, 0, 0.4], atol=1e-12)
    total = np.zeros(3)
    for _ in stepped(sim, 100):
        total += 0.01 * sim.contacts.force[0]
    np.testing.assert_allclose(total, [0, 0, sim.body_velocity("ball")[2] + 1.0], atol=1e-9)


@pytest.mark.parametrize("h", [0.01, 0.002])
def test_chain_does_not_pass_through_itself(h):
    """A chain that its motors coil up comes to rest against itself."""
    sim = run(started(scenes.coil(4), h), 2.0, targets=np.full(3, 1.9))
    assert sim.contacts.force.any()
    assert speed(sim) <= 1e-8
    loose = run(started(scenes.coil(4, touching=False), h), 2.0, targets=np.full(3, 1.9))
    np.testing.assert_allclose(loose.joint_positions[-3:], 1.9, atol=1e-2)
    assert sim.joint_positions[-3:].max() < 1.8


ROD = Capsule(radius=0.1, length=0.3)
MOMENTS = np.array(
    [0.013, 0.013, 0.01]
)  # a rod's are alike across it: its energy in flight is exact
DEPTH = 1e-6  # [m]


def thrown(seed):
    """Poses and velocities of two rods, the first on its way to the other; every other time that one turns as well."""
    rng = np.random.default_rng(seed)
    first = {
        "position": np.zeros(3),
        "orientation": unit(rng.normal(size=4)),
        "velocity": (2.0, 0.0, 0.0),
    }
    first["angular_velocity"] = 4.0 * rng.normal(size=3)
    second = {
        "position": (0.8, 0.0, 0.0) + rng.uniform(-0.15, 0.15, 3),
        "orientation": unit(rng.normal(size=4)),
    }
    second |= {
        "velocity": 0.3 * rng.normal(size=3),
        "angular_velocity": 4.0 * rng.normal(size=3) * (seed % 2),
    }
    return {"a": first, "b": second}


def nearly_parallel():
    """Two rods that meet within a step of 0.1 s, nearly parallel: their nearest points run from end to end."""
    first = {
        "position": np.zeros(3),
        "orientation": unit(np.array([-0.11061, 0.4337, -0.87904, 0.16418])),
    }
    first |= {"velocity": (2.0, 0.0, 0.0), "angular_velocity": (-4.51884, -2.93177, 4.15752)}
    second = {"position": (0.79103, -0.02008, -0.04351), "velocity": (-0.56814, -0.1181, -0.00927)}
    second["orientation"] = unit(np.array([-0.57642, 0.55746, -0.57758, -0.15293]))
    return {"a": first, "b": second | {"angular_velocity": np.zeros(3)}}


def simulator(start, h, friction=0.5):
    mech = scenes.space()
    for name, pose in start.items():
        mech.add_body(name, 1.0, MOMENTS, pose["position"], pose["orientation"])
        mech.add_collision(name, name, ROD, friction=friction)
    mech.add_pair("a", "b")
    sim = Simulator(mech, timestep=h)
    sim.reset(base=start)
    return sim


def flies(sim, steps):
    """Let them fly; what has to hold at every step does. Returns the largest force in a step.

    It is that of 1 kg: a force at a knot is zero where the rods met in a part of the step.

    Energies are held against that of the flight before: where bodies touch those of two half steps
        mix in a reading.
    """
    before = momentum(sim)
    energy = sim.energy().total
    force, velocity = 0.0, sim.body_velocity("a")
    for k in range(steps):
        assert sim.step().converged, k
        assert sim.contacts.gap.min() >= -DEPTH, k
        assert sim.energy().total <= energy + 1e-9, k
        change = sim.body_velocity("a") - velocity
        force, velocity = max(force, np.abs(change).max() / sim.timestep), velocity + change
    np.testing.assert_allclose(np.concatenate(momentum(sim)), np.concatenate(before), atol=1e-10)
    return force


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01])
def test_rods_that_meet_nearly_parallel(h):
    assert flies(simulator(nearly_parallel(), h), round(0.8 / h)) > 0.01


@pytest.mark.parametrize("seed", [3, 18, 26, 57, 79, 153])
def test_thrown_rods(seed):
    """At 0.01 s; these are hard: their nearest points run far along them in the step in which they meet."""
    assert flies(simulator(thrown(seed), 0.01), 80) > 1.0


def test_rough_rods_gain_no_energy():
    for seed in range(8):
        flies(simulator(thrown(seed), 0.01, friction=2.0), 80)


def test_a_thrown_stack_moves_side_by_side_as_alone():
    """A contact that has moved to another place in one lane is worked on for its neighbours."""
    sim = Simulator(scenes.stack(0.1), timestep=0.01)
    sim.reset(velocities=2.0 * np.random.default_rng(1).normal(size=len(sim.joint_velocities)))
    assert_moments_move_alone(sim, 8, 6, 12, Simulator.step)
