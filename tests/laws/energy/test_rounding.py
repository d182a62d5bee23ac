"""The rounding of positions is no imbalance: of a loop that is held by a stop, of a chain in small steps."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from vigym import Mechanism, Simulator, load_urdf
from vigym.assets import path
from vigym.control.minitaur_gaits import trot


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("h", [0.005, 0.001, 0.0002])
def test_a_leg_falls_onto_the_stop_of_its_slide(h, loops):
    """The rounding of a coordinate, times the stiffness of a stop, is no imbalance of the loop."""
    sim = Simulator(load_urdf(path("minitaur_leg")), timestep=h, loops=loops)
    for _ in range(round(0.6 / h)):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
    assert sim.constraint_residual() <= 1e-9


@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_a_robot_that_stands_takes_one_iteration(h):
    """The rounding of a place, times the stiffness of a contact, is no imbalance of its loops."""
    env = gym.make("vigym/Minitaur-v0", timestep=h, frame_skip=1)
    standing = trot(lift=0.0, swing=0.0)
    observation, info = env.reset(seed=0)
    iterations = []
    for _ in range(round(0.8 / h)):
        observation, _, _, _, info = env.step(standing(observation, info))
        assert info["solver_converged"]
        iterations.append(info["solver_iterations"])
    settled = iterations[round(0.6 / h) :]
    assert np.mean(settled) <= 1.2
    assert max(settled) <= 3


# Positions and rates of a Minitaur that lies: the thighs of its first leg are nearly in line.
LYING = [0.0876479, -0.00748419, 0.09751719, 0.98288712, -0.07449787, 0.05148915, -0.16041149]
IN_LINE = [1.56520378, 0.00114913, -1.56750298, 0.00114913]
FOLDED = [-1.54202325, 0.95781645, -1.59780126, 0.95781645, -1.55462291, 0.95814797]
FOLDED += [-1.58676172, 0.95814797, -1.57035823, 0.95819132, -1.5712304, 0.95819133]
ANKLES = [0.00000093, 1.22419161, 1.22508868, 1.22520598]
TURNING = [-0.027, -0.002, 0.004, 0.107, -0.051, 0.0, 0.017, -0.011, 0.005, -0.011, -0.212, 0.006]
TURNING += [0.183, 0.006, -0.212, 0.006, 0.185, 0.006, -0.007, 0.0, 0.007, 0.0]
TURNING += [0.0, 0.017, 0.016, 0.0]


@pytest.mark.parametrize("h", [1e-3, 3e-4, 1e-4, 3e-5, 1e-5])
def test_thighs_in_line_take_small_steps_on_the_ground(h):
    """Near that pose rows turn the rounding of a gap into a force, which no increment can remove."""
    env = gym.make("vigym/Urdf-v0", urdf=str(path("minitaur")))
    sim = Simulator(env.unwrapped.sim.mechanism, timestep=h)
    rng = np.random.default_rng(0)
    iterations = []
    for _ in range(8):
        rates = TURNING * (1.0 + 0.1 * rng.normal(size=len(TURNING)))
        sim.reset(np.array(LYING + IN_LINE + FOLDED + ANKLES), rates)
        for _ in range(40):
            status = sim.step()
            assert status.converged
            iterations.append(status.iterations)
        assert sim.constraint_residual() <= 1e-10
    assert np.mean(iterations) <= 12.0


@pytest.mark.parametrize("h", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("rate", [1.0, 20.0])
def test_one_hinge_takes_small_steps(rate, h):
    mech = Mechanism()
    mech.add_body("link", 1.0, (1 / 12, 1 / 12, 1 / 12), position=(0.5, 0.0, 0.0))
    mech.add_joint("pin", "revolute", "world", "link", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    sim = Simulator(mech, timestep=h)
    sim.reset(velocities={"pin": rate})
    start = sim.energy().total
    status = sim.step(substeps=20_000)
    assert status.converged
    assert status.iterations <= 2 * 20_000
    assert sim.energy().total == pytest.approx(start, rel=1e-6)


def slide_with_drive(size):
    """Two blocks joined by a light link: a hinge, and a slide with an armature. Times go by the root of size."""
    mech, mass = Mechanism(ground=False), 1e3 * size**3
    for name, own, length, place in (
        ("first", mass, 1.0, 0.0),
        ("link", 1e-3 * mass, 0.3, 0.5),
        ("last", mass, 0.4, 1.0),
    ):
        moment = own * (length * size) ** 2 / 6.0
        mech.add_body(name, own, (moment, moment, moment), (place * size, 0.0, size))
    mech.add_joint("hinge", "revolute", "first", "link", (0.25 * size, 0.0, size), (1.0, 2.0, 0.3))
    given = {"armature": 0.5 * mass, "limits": (-0.1 * size, 0.6 * size)}
    mech.add_joint(
        "slide", "prismatic", "link", "last", (0.75 * size, 0.0, size), (0.3, -1.0, 0.4), **given
    )
    sim = Simulator(mech, timestep=0.01 * np.sqrt(size))
    speed = np.sqrt(9.81 * size)
    rates = {"velocity": (0.0, speed, 0.0), "angular_velocity": speed / size * np.ones(3)}
    sim.reset(base={"first": rates})
    return sim


@pytest.mark.parametrize("size", [1e-3, 1e-2, 0.1, 10.0])
def test_slides_of_all_sizes_are_solved_as_well(size):
    """The same motion in other units: positions of millimetres are not rounded as metres."""
    found = []
    for sim in (slide_with_drive(size), slide_with_drive(1.0)):
        steps = [sim.step() for _ in range(150)]
        assert all(status.converged for status in steps)
        found.append(max(status.residual for status in steps))
    assert found[0] <= 10.0 * max(found[1], 1e-10)


def far_slide(place, size):
    """A pendulum with a slide of 100 kg of armature, some way from the origin."""
    mech = Mechanism()
    for name, mass, along in (("arm", 1.0, 0.0), ("weight", 0.5, size)):
        moments = np.full(3, 0.4 * mass * size**2)
        mech.add_body(name, mass, moments, (place + along, 0.0, 0.0))
    mech.add_joint("hinge", "revolute", "world", "arm", (place, 0.0, size), (0.0, 1.0, 0.0))
    slide = (place + size, 0.0, 0.0), (1.0, 0.0, 0.2)
    mech.add_joint("slide", "prismatic", "arm", "weight", *slide, armature=100.0)
    sim = Simulator(mech, timestep=1e-5)
    sim.reset(velocities={"hinge": 1.0, "slide": 0.3 * size})
    return sim


@pytest.mark.parametrize("size", [0.01, 0.1])
def test_slides_far_from_the_origin_take_small_steps(size):
    """Positions of hundreds of metres are not rounded as centimetres."""
    near, far = far_slide(0.0, size), far_slide(1000.0, size)
    assert near.step(substeps=100).converged
    status = far.step(substeps=100)
    assert status.converged
    assert status.iterations <= 5 * 100
    np.testing.assert_allclose(far.joint_velocities, near.joint_velocities, rtol=1e-4)
