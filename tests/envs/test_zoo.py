"""Robots with loops: their loops and energies under random motions, and closed forms of their kinematics."""

import gymnasium as gym
import numpy as np
import pytest

from vigym.control.kinematics.delta import delta_angles
from vigym.control.kinematics.engine import lever, piston_height
from vigym.control.kinematics.jansen import ROWS, feet
from vigym.control.kinematics.stewart import stewart_strokes
from vigym.envs.registry import ENVIRONMENTS, ZOO
from vigym.evaluation.builtin import INVERSE

NAMES = [entry.id for entry in ENVIRONMENTS if entry.task.startswith(ZOO)]
CONTROL_STEPS, HELD = 50, 5  # in an episode; of one random action
SAMPLES = 20


def largest(name, seed, parts):
    """Return the largest gap, imbalance and kinetic energy with `parts` times as many, shorter steps."""
    task = gym.make(name).unwrapped.task
    steps = {"timestep": task.timestep / parts, "frame_skip": task.frame_skip * parts}
    env = gym.make(name, **steps)
    env.reset(seed=seed)
    draw, found = np.random.default_rng(seed), []
    for k in range(CONTROL_STEPS):
        if k % HELD == 0:
            action = draw.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)
        _, _, terminated, _, info = env.step(action)
        assert info["solver_converged"]
        keys = ("constraint_residual_max", "energy_balance", "energy_kinetic")
        found.append([abs(info[key]) for key in keys])
        if terminated:
            break
    return np.max(found, axis=0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", NAMES)
def test_loops_stay_closed_and_energy_is_balanced(name, seed):
    gap, surplus, energy = largest(name, seed, 1)
    finer_gap, finer_surplus, _ = largest(name, seed, 4)
    assert max(gap, finer_gap) <= 1e-9
    assert surplus <= 0.02 * energy
    assert finer_surplus <= 0.5 * surplus  # of second order without impacts, of first with them


@pytest.mark.parametrize("name", INVERSE)
def test_closed_forms_are_the_inverse_of_the_mechanism(name):
    """The simulator closes the loops of random motor positions; the place that it finds leads back to them."""
    env = gym.make(name).unwrapped
    low, high = env.task.motor_range
    middle, half = 0.5 * (low + high), 0.3 * (high - low)
    for shares in np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLES, low.size)):
        motors = middle + half * shares
        env.reset(options={"positions": dict(zip(env.mechanism.motor_names, motors, strict=True))})
        found = INVERSE[name](env.task.place(env.sim))
        # Loops are closed to 1e-10; lengths of the Jacobian's rows are at most ten.
        assert found == pytest.approx(motors, abs=1e-8)


@pytest.mark.parametrize(
    ("place", "degrees"),
    [((0.0, 0.0, -0.9), (-20.5, -20.5, -20.5)), ((-0.5, 0.3, -1.1), (47.5, -11.6, 21.4))],
)
def test_angles_of_the_delta_robot_are_the_published_ones(place, degrees):
    """Williams's examples, in axes that are turned by a quarter: the first arm is along x here."""
    gripper = np.array(place) - (0.0, 0.0, 0.07)
    assert np.degrees(delta_angles(gripper)) == pytest.approx(degrees, abs=0.05)


def test_places_beyond_the_reach_have_no_angles():
    with np.errstate(invalid="ignore"):
        assert np.isnan(delta_angles(np.array((0.0, 0.0, -3.0)))).all()


def test_legs_of_the_stewart_platform_are_as_long_as_a_lift_makes_them():
    """A lift h without turns makes all legs as long: length^2 = side^2 + (rise + h)^2."""
    lift, rise = 0.2, 1.25 - 0.12
    length = 1.2836190662780638
    strokes = stewart_strokes(np.array((0.0, 0.0, lift, 0.0, 0.0, 0.0)))
    expected = np.sqrt(length**2 - rise**2 + (rise + lift) ** 2) - length
    assert strokes == pytest.approx(np.full(6, expected), abs=1e-12)


def test_feet_of_jansen_s_linkage_are_where_its_lengths_put_them():
    sim = gym.make("vigym/Jansen-v0").unwrapped.sim
    for crank in np.random.default_rng(0).uniform(-np.pi, np.pi, SAMPLES):
        sim.reset({"root": (0.0, 0.5, 0.0), "crank": crank})
        axle = sim.body_position("shaft")[[0, 2]]
        lowest = sim.contacts.position.reshape(ROWS, 2, 3)[
            ..., [0, 2]
        ]  # of each row, front and rear
        found = np.concatenate((lowest[:, 0], lowest[:, 1])) + (0.0, 0.02) - axle
        assert found == pytest.approx(feet(crank), abs=1e-9)


def test_jansen_s_lengths_carry_the_shaft_level():
    """His search asked for this: of three rows one foot is always lowest, within a millimetre of a level."""
    paths = feet(np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False))
    lowest = paths[..., 1].min(axis=-1)
    assert np.ptp(lowest) < 1e-3
    path = paths[:, 0]
    step = path[path[:, 1] < lowest.min() + 0.02]
    assert len(step) > 0.5 * len(path)  # more than half of a turn on the ground
    assert np.ptp(step[:, 0]) == pytest.approx(0.65, abs=0.01)
    assert np.ptp(path[:, 1]) == pytest.approx(0.224, abs=0.001)


def test_the_piston_is_where_the_crank_puts_it():
    sim = gym.make("vigym/Engine-v0").unwrapped.sim
    for crank in np.random.default_rng(0).uniform(-np.pi, np.pi, SAMPLES):
        sim.reset({"crank": crank}, {"crank": 1.0})
        # of the centres of mass; that of the piston is 0.3 m above its pin
        piston, shaft = sim.body_position("piston"), sim.body_position("flywheel")
        assert piston[2] - 0.3 - shaft[2] == pytest.approx(piston_height(crank), abs=1e-9)
        assert sim.joint_velocities[2] == pytest.approx(lever(crank), abs=1e-9)


def test_steam_does_not_turn_a_crank_in_a_dead_centre():
    """The rod's line passes through the shaft: all work of the steam is zero to second order."""
    assert lever(np.array((-0.5 * np.pi, 0.5 * np.pi))) == pytest.approx(np.zeros(2), abs=1e-15)
