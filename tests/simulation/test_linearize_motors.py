"""Linearised steps with motors: against differences, in the middle of a motion, in loops, and at their bounds."""

import numpy as np
import pytest

from scenes.deviations import FOLLOWS, PAIRS, SIZE, Neighbours
from scenes.loops_plane import five_bar
from scenes.loops_space import minitaur
from vigym import Mechanism, Simulator

GAINS = {"position": (20.0, 1.0), "stiff": (1e4, 1e2), "rate": (0.0, 3.0)}
START = np.array([0.3, -0.5, 0.1, 1.0, 2.0, -0.5])  # coordinates and rates
TORQUES, TARGETS = np.array([0.5, -0.2, 0.3]), np.array([0.5, -0.1, 0.4])


def arm(*kinds):
    """Two hinges and a slide with a motor each."""
    mech, parent = Mechanism(), "world"
    types, axes = (
        ("revolute", "revolute", "prismatic"),
        ((0.0, 1.0, 0.0), (1.0, 0.0, 0.3), (0.0, 0.2, 1.0)),
    )
    for k, (kind, axis) in enumerate(zip(types, axes, strict=True)):
        place = np.array([0.1 * k, 0.0, 0.5 * k])
        mech.add_body(f"body{k}", 1.0, (0.02, 0.03, 0.01), place + [0.0, 0.0, 0.25])
        mech.add_joint(
            f"joint{k}",
            kind,
            parent,
            f"body{k}",
            place,
            axis,
            effort=1e5,
            damping=0.1 * k,
            armature=0.02,
        )
        mech.add_motor(f"joint{k}", *GAINS[kinds[k]])
        parent = f"body{k}"
    return mech


def differences(mech, start, targets, substeps, size=SIZE):
    """What the first steps after a reset make of coordinates, rates, torques and targets, by central differences."""
    sim = Simulator(mech, tolerance=1e-13)

    def end(start):
        sim.reset(start[:3], start[3:6])
        assert sim.step(start[6:9], None if targets is None else start[9:], substeps).converged
        return np.append(sim.joint_positions, sim.joint_velocities)

    start = np.concatenate((start, TORQUES, [] if targets is None else targets))
    return np.array(
        [end(start + size * d) - end(start - size * d) for d in np.eye(len(start))]
    ).T / (2.0 * size)


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("targets", [TARGETS, None], ids=["told", "idle"])
@pytest.mark.parametrize(
    "kinds", [("position", "stiff", "rate"), ("rate", "position", "position")], ids="-".join
)
def test_against_differences(kinds, targets, substeps):
    mech = arm(*kinds)
    sim = Simulator(mech, tolerance=1e-13)
    sim.reset(START[:3], START[3:])
    A, B = sim.linearize(TORQUES, substeps, targets)
    assert B.shape == (6, 6)
    expected = differences(mech, START, targets, substeps)
    found = np.hstack([A, B])[:, : expected.shape[1]]
    np.testing.assert_allclose(found, expected, atol=2e-8 * np.abs(expected).max())
    assert not B[:, 3:].any() if targets is None else np.abs(B[:, 3:]).max(axis=0).min() > 1e-6


def assert_follows_neighbours(sim, substeps=1, size=SIZE):
    """In the middle of a motion, where motors were told something else in the step before."""
    rng, mech = np.random.default_rng(0), sim.mechanism
    n, torques, targets = (
        len(names) for names in (mech.velocity_names, mech.actuator_names, mech.motor_names)
    )
    pairs = [Neighbours(sim, size * rng.normal(size=n), 0.0) for _ in range(PAIRS)]
    for _ in range(3):
        u, aims = rng.normal(size=torques), 0.3 * rng.normal(size=targets)
        assert sim.step(u, aims).converged
        for pair in pairs:
            pair.step(u, targets=aims)
    u, aims = rng.normal(size=torques), 0.3 * rng.normal(size=targets)
    A, B = sim.linearize(u, substeps, aims)
    for pair in pairs:
        pair.torques, pair.targets = (
            size * rng.normal(size=torques),
            size * rng.normal(size=targets),
        )
        before = pair.deviation()
        pair.step(u, substeps, aims)
        after = pair.deviation()
        found = A @ before + B @ np.append(pair.torques, pair.targets)
        found, expected = found / size, after / size
        np.testing.assert_allclose(found, expected, atol=FOLLOWS * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("substeps", [1, 4])
def test_in_the_middle_of_a_motion(substeps):
    sim = Simulator(arm("position", "stiff", "rate"), tolerance=1e-13)
    sim.reset(START[:3], START[3:])
    assert_follows_neighbours(sim, substeps)


def test_in_closed_loops():
    leg = five_bar()
    for joint in leg.actuator_names:
        leg.add_motor(joint, 5.0, 0.2)
    assert_follows_neighbours(Simulator(leg, tolerance=1e-13))
    robot = minitaur(effort=1e3)
    for joint in robot.actuator_names[:5]:  # the other three are pushed by torques alone
        robot.add_motor(joint, 8.0, 0.3)
    assert_follows_neighbours(Simulator(robot, tolerance=1e-13))


def test_at_rest_positions_are_those_that_motors_are_told():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("cart", 2.0, (1.0, 1.0, 1.0))
    mech.add_joint("slide", "prismatic", "world", "cart", (0, 0, 0), axis=(1, 0, 0), effort=10.0)
    mech.add_motor("slide", 30.0, 4.0)
    sim = Simulator(mech, timestep=0.02)
    sim.step()
    A, B = sim.linearize(substeps=5, targets=[0.0])
    settled = np.linalg.solve(np.eye(2) - A, B)  # torque and target held for ever
    np.testing.assert_allclose(settled, [[1.0 / 30.0, 1.0], [0.0, 0.0]], atol=1e-12)
    assert np.abs(np.linalg.eigvals(A)).max() < 1.0


def test_motors_at_their_bounds_are_refused():
    for options, velocity, message in (
        ({"effort": 1.0}, None, "the motor of joint 'slide' at its effort"),
        ({"effort": 1e3}, 0.01, "the motor of joint 'slide' at its velocity limit"),
    ):
        mech = Mechanism(gravity=(0.0, 0.0, 0.0))
        mech.add_body("cart", 2.0, (1.0, 1.0, 1.0))
        mech.add_joint(
            "slide",
            "prismatic",
            "world",
            "cart",
            (0, 0, 0),
            axis=(1, 0, 0),
            velocity=velocity,
            **options,
        )
        mech.add_motor("slide", 100.0, 1.0)
        sim = Simulator(mech)
        before = sim.state
        with pytest.raises(ValueError, match=message):
            sim.linearize(targets=[0.2])
        np.testing.assert_array_equal(sim.state, before)
        assert sim.linearize(targets=[1e-5])[1].shape == (2, 2)
        with pytest.raises(ValueError, match=r"targets: found shape \(2,\), expected \(1,\)"):
            sim.linearize(targets=[0.0, 1.0])
