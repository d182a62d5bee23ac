"""Starts of every kind against constraints of every kind: allowed velocities, rebounds, books."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.loops_plane import five_bar
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Sphere

TINY = 1e-6  # [s] step in which no force but those of the start takes or gives energy
# A part of what a start adds: forces of gravity and of motors of at most 200 N, at some m/s
OWN = 200.0 * TINY * TINY * 10.0


def _free(mech, *, mass=1.0, place=(0.0, 0.0, 0.1), name="body"):
    mech.add_body(name, mass, (0.01, 0.02, 0.03), position=place)
    return mech


def on_ground(restitution=0.0, **options):
    """A box on the ground."""
    mech = _free(Mechanism(ground=True))
    mech.add_collision("box", "body", Box((0.4, 0.3, 0.2)), restitution=restitution, **options)
    return mech


def rebounding():
    """The same, of a restitution of 0.7."""
    return on_ground(0.7, friction=0.3)


def stacked():
    """A ball on a ball on the ground."""
    mech = Mechanism(ground=True)
    for name, z in (("low", 0.1), ("high", 0.3)):
        mech.add_body(name, 1.0, (0.004,) * 3, position=(0.0, 0.0, z))
        mech.add_collision(name, name, Sphere(0.1), friction=0.4, restitution=0.5)
    mech.add_pair("high", "low")
    return mech


def hinged(**options):
    """An arm on a hinge that starts at its upper limit."""
    mech = _free(Mechanism(), place=(0.5, 0.0, 0.0))
    options = {"limits": (-1.0, 0.0)} | options
    mech.add_joint("hinge", "revolute", "world", "body", (0, 0, 0), axis=(0, 1, 0), **options)
    return mech


def rotor():
    """The same, with a rotor on its hinge."""
    return hinged(armature=0.3)


def with_velocity_constraint():
    """A free body, and a sum of its velocities that is prescribed."""
    mech = _free(Mechanism(gravity=(0, 0, 0)))
    mech.add_velocity_constraint("sum", {"body": ((1, 0.5, 0), (0, 0.3, 0))}, rate=lambda t: 0.7)
    return mech


def skate():
    """A free body on a skate that is not below its centre."""
    mech = _free(Mechanism(gravity=(0, 0, 0)))
    mech.add_skate("skate", "body", (0.2, 0.1, 0.0), (0.0, 0.6, 0.8))
    return mech


def skate_on_ground(restitution=1.0):
    """A ball on the ground that a skate keeps from moving along a slanting line."""
    mech = _free(Mechanism(ground=True))
    mech.add_collision("ball", "body", Sphere(0.1), friction=0.0, restitution=restitution)
    mech.add_skate("skate", "body", (0.0, 0.0, 0.0), (0.0, 0.6, 0.8))
    return mech


def looped():
    """A five-bar linkage."""
    return five_bar()


SCENES = (
    on_ground,
    rebounding,
    stacked,
    hinged,
    rotor,
    with_velocity_constraint,
    skate,
    skate_on_ground,
    looped,
)


def given(sim, rng):
    """Start with velocities of all coordinates."""
    sim.reset(velocities=rng.normal(size=len(sim.mechanism.velocity_names)))


def pushed(sim, rng):
    """Push every body, in the middle of a motion."""
    sim.reset()
    sim.step(substeps=3)
    sim.push(rng.normal(size=(len(sim.mechanism.bodies), 3)))


def with_other_parameters(sim, rng):
    """Start anew with other masses, then with velocities."""
    sim.set_parameters({"mass": 2.0})
    given(sim, rng)


STARTS = (given, pushed, with_other_parameters)


def balance(sim):
    """The energy balance [J]."""
    return sim.metrics()["energy_balance"]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_steps_after_a_start_find_nothing_left_to_take(scene, start):
    """Neither energy nor velocities jump in the first steps: the start had all impacts."""
    for seed in range(4):
        sim = Simulator(scene(), timestep=TINY)
        start(sim, np.random.default_rng(seed))
        kinetic, velocities = sim.energy().kinetic, sim.joint_velocities
        start_balance = balance(sim)
        assert sim.step(substeps=2).converged
        in_play = max(kinetic, 1e-3)
        assert abs(balance(sim) - start_balance) < 1e-8 * in_play + OWN
        # by 200 N on the lightest inertia of 0.01 kg m^2
        jump = np.abs(sim.joint_velocities - velocities).max()
        assert jump < 2.0 * TINY * 200.0 / 0.01


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_start_gives_no_energy(scene, start):
    """What projections and rebounds leave is at most what was given."""
    for seed in range(4):
        sim, free = (Simulator(each, timestep=TINY) for each in (scene(), scene()))
        start(sim, np.random.default_rng(seed))
        if start is pushed or sim.mechanism.velocity_constraints:  # which may give energy
            continue
        rng = np.random.default_rng(seed)
        v = rng.normal(size=len(free.mechanism.velocity_names))
        factor = 2.0 if start is with_other_parameters else 1.0
        assert sim.energy().kinetic <= factor * _kinetic(free.mechanism, v) * (1.0 + 1e-3)


def _kinetic(mech, velocities):
    """Kinetic energy of given joint velocities, of scenes of free bodies and one arm [J]."""
    if mech.closing_joints:
        return np.inf  # rates of its loops follow from others
    if "hinge" in mech.joints:
        return 0.5 * velocities[0] ** 2 * (0.25 + 0.02 + mech.joints["hinge"].armature)
    total = 0.0
    for body, v in zip(mech.bodies.values(), velocities.reshape(-1, 6), strict=True):
        total += 0.5 * (body.mass * v[:3] @ v[:3] + v[3:] @ body.inertia @ v[3:])
    return total


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_a_ball_that_starts_or_is_pushed_into_the_ground_rebounds(restitution):
    """The velocities after it are those of Newton's law of restitution."""
    mech = _free(Mechanism(ground=True))
    mech.add_collision("ball", "body", Sphere(0.1), friction=0.0, restitution=restitution)
    sim = Simulator(mech, timestep=1e-3)
    sim.reset(velocities={"body:floating": (1, 0, -2, 0, 0, 0)})
    assert sim.body_velocity("body") == pytest.approx((1, 0, 2 * restitution), abs=1e-9)
    sim.reset()
    sim.step()
    sim.push([[0.0, 0.0, -2.0]])
    assert sim.body_velocity("body")[2] == pytest.approx(2 * restitution, abs=1e-9)
    height = sim.energy().total
    sim.step(substeps=50)
    # the body rests on the ground, or flies: half a step of its weight is what a knot leaves
    assert sim.energy().total == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_start_rebounds_with_what_a_skate_leaves_of_its_approach(restitution):
    sim = Simulator(skate_on_ground(restitution), timestep=1e-3)
    sim.reset(velocities={"body:floating": (1.0, 0.5, -1.0, 0.0, 0.0, 0.0)})
    # the skate takes (0.5 * 0.6 - 1.0 * 0.8) of (0, 0.6, 0.8): (1, 0.8, -0.6) is left
    after = (1.0, -0.8 * restitution, 0.6 * restitution)
    assert sim.body_velocity("body") == pytest.approx(after, abs=1e-9)


def hinged_balls(ground):
    """Two balls on a hinge, which touch the ground if there is one, without friction, and rebound in full."""
    mech = Mechanism(ground=ground)
    _free(mech, mass=1.5, place=(0.0, 0.0, 0.2), name="a")
    _free(mech, mass=0.5, place=(0.4, 0.0, 0.1), name="b")
    mech.add_joint("hinge", "revolute", "a", "b", (0.2, 0.0, 0.2), (0.0, 1.0, 0.0))
    for name, radius in (("a", 0.2), ("b", 0.1)) if ground else ():
        mech.add_collision(name, name, Sphere(radius), friction=0.0, restitution=1.0)
    return mech


def test_a_push_into_the_ground_rebounds_with_the_energy_that_joints_leave():
    for seed in range(6):
        impulses = np.random.default_rng(seed).normal(size=(2, 3))
        free, sim = (Simulator(hinged_balls(ground), timestep=1e-3) for ground in (False, True))
        free.push(impulses)
        sim.push(impulses)
        assert sim.energy().kinetic == pytest.approx(free.energy().kinetic, rel=2e-3)
        assert sim.energy().kinetic <= free.energy().kinetic * (1.0 + 1e-3)


def test_rebounds_that_friction_jams_are_taken_smaller():
    """Else a start would keep its approach, and its books would count the impact as a loss."""
    for seed in (29, 51):
        sim = Simulator(on_ground(0.3, friction=2.0), timestep=0.005)
        sim.reset(velocities=np.random.default_rng(seed).normal(size=6) * 2.0)
        assert balance(sim) == pytest.approx(0.0, abs=1e-8)


def test_environments_that_are_not_pushed_stay_as_they_are():
    """The others of a batch keep their states bit for bit."""
    sim = Simulator(on_ground(), timestep=0.005, batch=11)
    sim.step(substeps=3)
    before, impulses = sim.state, np.zeros((11, 1, 3))
    impulses[4, 0] = 1.0, 0.0, -1.0
    sim.push(impulses)
    changed = np.flatnonzero((sim.state != before).any(axis=1))
    assert changed.tolist() == [4]
    sim.push(np.zeros((11, 1, 3)))
    assert np.array_equal(sim.state[:4], before[:4])


def test_saved_states_bring_their_books_back():
    """All metrics are bit for bit those of the state that was saved, after a start and a push."""
    sim = Simulator(rebounding(), timestep=0.005)
    given(sim, np.random.default_rng(3))
    sim.step(substeps=4)
    sim.push([[1.0, 0.5, -2.0]])
    saved, metrics = sim.state, sim.metrics()
    sim.step(substeps=7)
    after = sim.state
    sim.reset()
    sim.set_state(saved)
    assert sim.metrics() == metrics
    assert np.array_equal(sim.state, saved)
    sim.step(substeps=7)
    assert np.array_equal(sim.state, after)
