"""Robots with loops: their loops and energies under random motions, and closed forms of their kinematics."""

import gymnasium as gym
import numpy as np
import pytest

from vigym.control.kinematics import biped
from vigym.control.kinematics.cassie import CYCLE, LIFT, leg_angles, walking_angles
from vigym.control.kinematics.delta import delta_angles
from vigym.control.kinematics.engine import lever, piston_height
from vigym.control.kinematics.gripper import finger_angle
from vigym.control.kinematics.jansen import ROWS, feet
from vigym.control.kinematics.stewart import stewart_strokes
from vigym.control.kinematics.wheel_leg import RADIUS, hip_angle
from vigym.envs.registry import ENVIRONMENTS, ZOO
from vigym.envs.zoo.legs.cassie_base import SIDES, SPRINGS
from vigym.evaluation.builtin import INVERSE

NAMES = [entry.id for entry in ENVIRONMENTS if entry.task.startswith(ZOO)]
GRIPPER = "vigym/Gripper-v0"  # its place is that of the ball, which no motor moves
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


@pytest.mark.parametrize("name", [name for name in INVERSE if name != GRIPPER])
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


def test_fingers_open_as_wide_as_their_angle_tells_and_pads_stay_upright():
    sim = gym.make(GRIPPER).unwrapped.sim
    for angle in np.random.default_rng(0).uniform(-0.5, 0.5, SAMPLES):
        sim.reset({"drive": angle})
        right, left = sim.body_position("pad_right"), sim.body_position("pad_left")
        opening = right[1] - left[1] - 0.01  # pads are 10 mm thick
        assert finger_angle(opening) == pytest.approx(angle, abs=1e-8)
        assert right[2] == pytest.approx(left[2], abs=1e-9)
        assert np.abs(sim.body_orientation("pad_right")[1:]).max() < 1e-9


def test_a_ball_between_closed_pads_is_held_by_friction_alone():
    """By virtual work the torque of the drive presses, less the weights that pads lift as they close."""
    env = gym.make(GRIPPER).unwrapped
    env.reset(seed=0)
    for target in (-1.0, 0.0):  # closes, then lifts
        for _ in range(40):
            _, _, _, _, info = env.step(np.array((target, -1.0), dtype=np.float32))
    # of each finger: both cranks, their centres half as far, the pad, and half of the ball
    weight = 9.81 * (0.04 + 0.05 + 0.05)
    angle = finger_angle(np.array(0.06))
    press = (0.5 * 4.0 + 0.1 * np.sin(angle) * weight) / (0.1 * np.cos(angle))
    pads = env.sim.contacts.force[-2:]
    assert np.sort(pads[:, 1]) == pytest.approx((-press, press), rel=1e-6)
    assert np.abs(pads[:, 2]) == pytest.approx(np.full(2, 0.5 * 0.1 * 9.81), rel=1e-6)
    assert info["place"] == pytest.approx((0.0, 0.15), abs=0.005)
    assert info["slip"] < 1e-6


def test_wheels_stand_under_the_hips_at_any_height():
    sim = gym.make("vigym/WheelLeg-v0").unwrapped.sim
    for height in np.random.default_rng(0).uniform(0.26, 0.47, SAMPLES):
        hip = float(hip_angle(np.array(height)))
        sim.reset({"root": (0.0, height - 0.3, 0.0), "hip_front": hip, "hip_rear": hip})
        assert sim.body_position("wheel") == pytest.approx((0.0, 0.0, RADIUS), abs=1e-9)


def test_the_biped_stands_on_level_feet_under_its_centre_of_mass_at_any_height():
    env = gym.make("vigym/Cassie-v0").unwrapped
    mechanism, sim = env.mechanism, env.sim
    masses = np.array([body.mass for body in mechanism.bodies.values()])
    springs = dict.fromkeys([f"{side}-{name}" for side in SIDES for name in SPRINGS], 0.0)
    for height in np.random.default_rng(0).uniform(0.85, 1.1, SAMPLES):
        stand = np.tile((0.0, 0.0, *map(float, leg_angles(np.array(height)))), len(SIDES))
        motors = dict(zip(mechanism.motor_names, stand, strict=True))
        sim.reset(motors | springs, place_on_ground=True)
        assert sim.joint_positions[2] == pytest.approx(height, abs=1e-3)
        places = sim.contacts.position
        ends = places[np.argsort(places[:, 2])[:4]]  # of both feet
        assert ends[:, 2] == pytest.approx(np.zeros(4), abs=1e-3)
        center = masses @ sim.body_states[:, 0] / masses.sum()
        assert ends[:, 0].mean() == pytest.approx(center, abs=1e-3)


def test_steps_of_the_biped_swing_one_foot_and_move_the_other_one_against_the_pelvis():
    """Errors are those of the closed form, which takes the tarsus for parallel to the thigh."""
    env = gym.make("vigym/Cassie-v0").unwrapped
    mechanism, sim = env.mechanism, env.sim
    springs = dict.fromkeys([f"{side}-{name}" for side in SIDES for name in SPRINGS], 0.0)
    speed, places = 0.8, []
    times = 2.0 * CYCLE + CYCLE * np.array((0.05, 0.25, 0.45))  # the left foot swings
    for angles in walking_angles(times, np.array(speed)):
        sim.reset(dict(zip(mechanism.motor_names, angles, strict=True)) | springs)
        pelvis = sim.joint_positions[:3]
        places.append([sim.body_position(f"{side}-foot") - pelvis for side in SIDES])
    left, right = np.array(places).swapaxes(0, 1)
    assert right[:, 0] - right[0, 0] == pytest.approx(speed * (times[0] - times), abs=5e-3)
    assert right[:, 2] == pytest.approx(right[0, 2], abs=5e-3)
    lift = LIFT * 0.5 * (1.0 - np.cos(4.0 * np.pi * np.array((0.05, 0.25, 0.45))))
    assert left[:, 2] - right[:, 2] == pytest.approx(lift, abs=5e-3)
    assert left[2, 0] - left[0, 0] == pytest.approx(
        0.5 * speed * CYCLE * np.cos(0.1 * np.pi), abs=5e-3
    )


def ankles(values):
    """Return pitch and roll of the left foot, then of the right one, by joint name."""
    names = [f"{side}_ankle_{axis}" for axis in ("pitch", "roll") for side in biped.SIDES]
    return dict(zip(names, values, strict=True))


def test_rods_turn_the_cranks_as_the_closed_form_tells_in_place_and_rate():
    env = gym.make("vigym/Biped-v0").unwrapped
    mechanism, sim = env.mechanism, env.sim
    names = [f"{side}_{rod}_crank" for side in biped.SIDES for rod in ("outer", "inner")]
    places = [mechanism.position_names.index(name) for name in names]
    rates = [mechanism.velocity_names.index(name) for name in names]
    draw, step = np.random.default_rng(0), 1e-6
    for _ in range(SAMPLES):
        feet, turning = draw.uniform(-0.5, 0.5, (2, 4)) * (1.0, 1.0, 0.5, 0.5)
        aloft = {"pelvis:floating": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)}
        sim.reset(ankles(feet) | aloft, ankles(turning))
        below, found, above = (
            biped.crank_angles(*np.split(feet + k * step * turning, 2)).ravel() for k in (-1, 0, 1)
        )
        assert sim.joint_positions[places] == pytest.approx(found, abs=1e-9)
        change = (above - below) / (2.0 * step)  # of second order, rounded to 1e-16 / step
        assert sim.joint_velocities[rates] == pytest.approx(change, abs=1e-8)


def test_ratios_of_the_biped_s_cranks_are_their_rates_at_zero():
    for column, foot in zip(biped.RATIOS.T, np.eye(2) * 1e-7, strict=True):
        pitch, roll = np.outer(foot, (1.0, 0.0))
        left, _ = biped.crank_angles(pitch, roll)
        assert left == pytest.approx(1e-7 * column, abs=1e-13)


def test_the_tree_is_as_heavy_as_the_biped_and_observes_the_same():
    closed, tree = (gym.make("vigym/Biped-v0", tree=tree) for tree in (False, True))
    assert (closed.action_space, closed.observation_space) == (
        tree.action_space,
        tree.observation_space,
    )
    start, other = (env.reset(seed=0)[0] for env in (closed, tree))
    assert other == pytest.approx(start, abs=1e-6)
    mechanisms = [env.unwrapped.mechanism for env in (closed, tree)]
    assert not mechanisms[1].closing_joints
    dofs, masses, centers = zip(*(totals(each) for each in mechanisms), strict=True)
    assert dofs[0] == dofs[1]
    assert masses[0] == pytest.approx(masses[1], rel=1e-12)
    assert centers[0] == pytest.approx(centers[1], abs=1e-9)


def totals(mechanism):
    """Return the number of degrees of freedom, the mass and the centre of all mass."""
    bodies = mechanism.bodies.values()
    mass = sum(body.mass for body in bodies)
    return (
        mechanism.degrees_of_freedom,
        mass,
        sum(body.mass * body.position for body in bodies) / mass,
    )
