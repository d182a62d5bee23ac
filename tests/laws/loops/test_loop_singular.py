"""Through poses where the freedoms of a loop jump: all bars of equal four-bars in line."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.reference import falling_row
from scenes.loops_plane import UPRIGHT, double_four_bar, parallel_motion
from vigym import Ground, Simulator, load_urdf
from vigym.assets import path

IN_LINE = 0.5 * np.pi  # angle of the uprights from the vertical
# On the pose itself the force that keeps the uprights together is undetermined for one step: alone,
# they would gain 11.1 and 11.8 rad/s^2, so it decides about 7e-3 rad/s. [rad, J]
SHOVE = 7e-3


YAWED = np.array(
    [np.cos(0.35), 0.0, np.sin(0.35), 0.0]
)  # about the vertical: the same motion in another plane


def leaning(windows, angle, rate, turn=YAWED, **options):
    """The double four-bar with its uprights at an angle from the vertical, all parallel."""
    sim = Simulator(double_four_bar(windows, turn), **options)
    sim.reset(*parallel_motion(windows, angle, rate))
    return sim


def uprights(sim, windows):
    """Angles of all uprights from the vertical."""
    names = list(sim.mechanism.position_names)
    return -sim.joint_positions[[names.index(f"ground{i}") for i in range(windows + 1)]]


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("windows", [1, 2, 5])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_bars_in_line_are_passed_both_ways(way, windows, loops):
    """Bars stay parallel from pass to pass, and the motion is that of one freedom, as if there were no such pose."""
    sim = leaning(windows, 0.0, way, loops=loops, tolerance=1e-12)
    before = sim.energy().total
    found = []
    errors = []
    for _ in range(500):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
        assert sim.constraint_residual() <= 1e-10
        found.append(uprights(sim, windows))
        errors.append(sim.energy().total - before)
    expected, known = falling_row(windows, 0.01, 500, 0.0, way)
    np.testing.assert_allclose(found, np.tile(expected[:, None], windows + 1), atol=1e-7)
    np.testing.assert_allclose(errors, known, atol=1e-6)


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("windows", [1, 2])
@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, -1e-9, 1e-7, -1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("way", [5.0, -5.0])
@pytest.mark.parametrize("turn", [UPRIGHT, YAWED], ids=["upright", "yawed"])
def test_started_at_the_pose_or_next_to_it(turn, way, off, windows, loops):
    """A knot there: the bars' forces are infinite; in a plane off the axes rounding hides what is left of the rows."""
    sim = leaning(windows, IN_LINE + off, way, turn, loops=loops)
    before = sim.energy().total
    expected, known = falling_row(windows, 0.01, 100, IN_LINE + off, way)
    for _ in range(100):
        assert sim.step().converged
        assert sim.constraint_residual() <= 1e-10
        assert np.ptp(uprights(sim, windows)) < 1e-6
        assert abs(sim.energy().total - before) <= np.abs(known).max() + SHOVE
    np.testing.assert_allclose(uprights(sim, windows), expected[-1], atol=SHOVE)


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("windows", [1, 2])
@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-6])
def test_started_there_at_rest(off, windows, loops):
    """Which branch the bars take is theirs to choose; the loops stay closed and no energy appears."""
    sim = leaning(windows, IN_LINE + off, 0.0, loops=loops)
    before = sim.energy().total
    for _ in range(300):
        assert sim.step().converged
        assert sim.constraint_residual() <= 1e-10
        assert sim.energy().total == pytest.approx(before, abs=0.05)


@pytest.mark.parametrize("windows", [1, 2])
def test_started_at_every_pass_of_two_turns(windows):
    """Starts on every pass of two turns, slow and fast, each after the motion before."""
    sim = leaning(windows, IN_LINE, 0.0)
    for angle in np.pi * np.arange(0.5, 4.0):
        for rate in (2.0, -7.0):
            sim.reset(*parallel_motion(windows, angle, rate))
            before = sim.energy().total
            _, known = falling_row(windows, 0.01, 20, angle, rate)
            for _ in range(20):
                assert sim.step().converged
                assert sim.constraint_residual() <= 1e-10
                assert abs(sim.energy().total - before) <= np.abs(known).max() + SHOVE


@pytest.mark.parametrize("windows", [1, 2])
def test_energy_read_at_the_pose_does_not_jump(windows):
    """The knot velocities at the pose itself, where rows are missing, and a little before and after it."""
    energies = []
    for off in (-1e-4, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 1e-4):
        sim = leaning(windows, IN_LINE + off, 5.0)
        np.testing.assert_allclose(sim.joint_velocities[: windows + 1], -5.0, atol=1e-9)
        energies.append(sim.energy().kinetic)
    np.testing.assert_allclose(energies, energies[0], rtol=1e-9)


def resting_minitaurs(offsets, seed):
    """Starts of Minitaurs on the ground whose thighs are in line but for some angles [rad], and their targets."""
    rng = np.random.default_rng(seed)
    count = len(offsets)
    hips = rng.choice([-1.0, 1.0], (count, 1)) * IN_LINE
    hips = hips + np.array(offsets)[:, None] * rng.normal(size=(count, 8))
    turns = rng.normal(size=(count, 4))
    base = {"orientation": turns, "velocity": 0.5 * rng.normal(size=(count, 3))}
    return hips, base, rng.uniform(-1.57, 1.57, (count, 8))


@pytest.mark.parametrize("loops", ["tail", "local"])
@pytest.mark.parametrize("h", [0.001, 0.0033, 0.01])
def test_lanes_next_to_the_pose_are_single_environments(h, loops):
    """A neighbour on the pose takes many attempts, which change nothing of a lane that is solved."""
    mech = load_urdf(path("minitaur"), ground=Ground(friction=0.9))
    for hip in mech.actuator_names:
        mech.add_motor(hip, kp=8.0, kd=0.3)
    offsets = [0.0, 1e-9, 1e-5, 1e-5, 1e-5, 1e-5]
    batch = Simulator(mech, timestep=h, loops=loops, batch=len(offsets))
    single = Simulator(mech, timestep=h, loops=loops)
    for seed in range(12):
        hips, base, targets = resting_minitaurs(offsets, seed)
        start = {name: hips[:, k] for k, name in enumerate(mech.motor_names)}
        batch.reset(start, base={"base": base}, place_on_ground=True)
        before = np.array(batch.state)
        batch.step(targets=targets)
        for lane, state in enumerate(batch.state):
            single.state = before[lane]
            single.step(targets=targets[lane])
            np.testing.assert_array_equal(single.state, state)


@pytest.mark.parametrize("loops", ["tail", "local"])
def test_a_lane_at_its_limit_beside_one_on_the_pose_is_a_single_environment(loops):
    """Whether a swing may grow is judged by the loads of the lane's own solution."""
    mech = double_four_bar(1, UPRIGHT, limits=(-1.6, 1.6), effort=50.0)
    mech.add_motor("ground0", kp=50.0, kd=1.0)
    batch = Simulator(mech, timestep=0.01, loops=loops, batch=2)
    single = Simulator(mech, timestep=0.01, loops=loops)
    targets = np.array([[0.5], [-1.0]])
    for off, rate in (
        (1e-3, 5.0),
        (1e-3, -5.0),
        (1e-5, 5.0),
        (1e-5, 1.0),
        (-1e-2, 5.0),
        (-0.5, 5.0),
    ):
        lanes = parallel_motion(1, IN_LINE, 0.01), parallel_motion(1, IN_LINE + off, rate)
        (places, rates), (other_places, other_rates) = lanes
        batch.reset(
            {name: [place, other_places[name]] for name, place in places.items()},
            {name: [own, other_rates[name]] for name, own in rates.items()},
        )
        before = np.array(batch.state)
        batch.step(targets=targets)
        single.state = before[1]
        single.step(targets=targets[1])
        np.testing.assert_array_equal(single.state, batch.state[1])
