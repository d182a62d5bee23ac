"""Limits of ball joints: a cone, a twist and a whole turn, hard, without energy of their own."""

import numpy as np
import pytest

from scenes.balls import angles_of, ball_chain, ball_pendulum
from scenes.touching import energies, gain, moving, stepped
from vigym import Mechanism, Simulator
from vigym.core.compiler import COMPILES

OVER = 1e-8  # no limit is exceeded by more [rad, m]
STEPS = (0.05, 0.01, 0.002)
PLANE = {"inertia": (0.02, 0.02, 0.01), "place": (0.0, 0.0, -0.5)}


@pytest.mark.parametrize("angle", ["swing", "turn"])
@pytest.mark.parametrize("h", STEPS)
def test_a_ball_pendulum_against_its_limit_gains_no_energy(angle, h):
    """It swings in a plane, where both angles are that of a hinge."""
    sim = moving(ball_pendulum(**PLANE, **{angle: 0.5}), h, {"ball": (3.0, 0.0, 0.0)})
    found, total = [], [sim.energy().total]
    for _ in stepped(sim, round(0.5 / h)):
        found.append(angles_of(sim.joint_positions)[angle])
        total.append(sim.energy().total)
    assert max(found) == pytest.approx(0.5, abs=OVER)
    assert gain(np.array(total)) <= 30.0 * h**2 * np.ptp(total)


def test_the_work_balance_of_a_cone_falls_with_the_square_of_the_step():
    missing = []
    for h in (0.01, 0.005):
        sim = moving(ball_pendulum(**PLANE, swing=0.5), h, {"ball": (3.0, 0.0, 0.0)})
        energies(sim, round(0.3 / h))
        metrics = sim.metrics()
        assert metrics["dissipated"] > 0.5
        missing.append(abs(metrics["energy_balance"]))
    assert missing[0] <= 2e-3
    assert missing[0] / missing[1] == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize("h", [0.02, 0.01])
@pytest.mark.parametrize(
    "limits",
    [
        {"swing": 0.5},
        {"turn": 0.6},
        {"swing": 0.4, "twist": (-0.1, 0.15)},
        {"swing": 0.4, "stiffness": 5.0, "damping": 0.05, "friction": 0.05},
    ],
)
def test_limits_of_a_ball_in_space(limits, h):
    """Each is met and held, with any axes of inertia; what is lost is booked."""
    mech = ball_pendulum((0.06, 0.08, 0.05), **limits)
    sim = moving(mech, h, {"ball": (2.0, 1.0, 3.0)})
    quaternions, total = [], [sim.energy().total]
    for _ in stepped(sim, round(1.0 / h)):
        quaternions.append(sim.joint_positions)
        total.append(sim.energy().total)
    found = angles_of(np.array(quaternions))
    for angle in {"swing", "twist", "turn"} & set(limits):
        lower, upper = np.broadcast_to(limits[angle], 2) * ((1, 1) if angle == "twist" else (-1, 1))
        assert found[angle].max() <= upper + OVER
        assert found[angle].min() >= lower - OVER
        assert np.abs(found[angle] - upper).min() <= 1e-8
    assert gain(np.array(total)) <= 30.0 * h**2 * np.ptp(total)
    assert abs(sim.metrics()["energy_balance"]) <= 0.3 * h * np.ptp(total)


def test_narrow_limits_of_slender_bodies_give_no_energy():
    """The direction of a limit turns in a step, by as much as a radian, about axes of any inertia."""
    rises = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        slender = 0.03 * np.array([1.0, 1.0, 10.0 ** -rng.uniform(0.5, 2.0)])
        most = 10.0 ** rng.uniform(-1.5, 0.0)
        angles = [{"turn": most}, {"swing": most}, {"swing": most, "twist": (-most, 0.5 * most)}]
        place = (0.0, 0.0, -rng.uniform(0.0, 0.2))
        mech = ball_pendulum(rng.permutation(slender), place, **angles[seed % 3])
        sim = moving(mech, rng.choice([0.005, 0.01, 0.02]), {"ball": rng.normal(0.0, 3.0, 3)})
        found = [sim.energy()] + [sim.energy() for _ in stepped(sim, 150)]
        total = np.array([each.total for each in found])
        largest = max(each.kinetic for each in found) + np.ptp(total)
        rises.append((np.maximum.accumulate(total[::-1])[::-1] - total).max() / largest)
    assert max(rises) <= 0.1
    assert np.mean(np.array(rises) > 0.02) <= 0.1


@pytest.mark.parametrize("part", [0.9, 1.0, 1.1, 1.2])
@pytest.mark.parametrize(
    ("limits", "rate"),
    [
        ({"swing": 3.1}, (20.0, 0.0, 0.0)),
        ({"turn": 3.1}, (20.0, 3.0, 0.0)),
        ({"twist": (-3.1, 3.1), "swing": 3.0}, (0.0, 0.3, 20.0)),
    ],
)
def test_a_limit_near_half_a_turn_is_not_jumped_over(limits, rate, part):
    """A step of 0.4 rad begins before the limit and would end beyond half a turn."""
    sim = moving(ball_pendulum(**PLANE, **limits), 0.02, {"ball": part * np.array(rate)})
    angle = next(iter(limits))
    found = [0.0]
    for _ in stepped(sim, 15):
        found.append(angles_of(sim.joint_positions)[angle])
    assert max(found) == pytest.approx(3.1, abs=0.01)
    assert np.abs(np.diff(found)).max() < 0.6


@pytest.mark.parametrize("closes", [False, True])
def test_limits_of_balls_in_trees_and_loops(closes):
    sim = Simulator(ball_chain(closes, swing=0.3, twist=(-0.2, 0.1)), timestep=0.01)
    sim.push([[0.0, 1.0, 0.0], [0.5, 1.0, 0.3]])
    most = []
    for _ in stepped(sim, 60):
        q = sim.joint_positions.reshape(-1, 4)
        found = angles_of(q)
        assert (found["swing"] <= 0.3 + OVER).all()
        assert (found["twist"] <= 0.1 + OVER).all()
        assert (found["twist"] >= -0.2 - OVER).all()
        most.append(found["swing"].max())
    assert max(most) == pytest.approx(0.3, abs=OVER)


def test_limits_hold_the_axis_of_the_joint():
    """About another axis, at a pose of the assembly that is turned."""
    axis, q = np.array([0.6, 0.0, -0.8]), (0.8, 0.0, 0.36, 0.48)
    mech = Mechanism()
    mech.add_body("bob", 1.0, (0.02, 0.03, 0.01), position=(0.1, 0.2, -0.5), orientation=q)
    mech.add_joint("ball", "spherical", "world", "bob", (0, 0, 0), axis, swing=0.3)
    sim = moving(mech, 0.01, {"ball": (1.0, -3.0, 2.0)})
    turned = []
    start = sim.body_orientation("bob")
    for _ in stepped(sim, 50):
        turned.append(
            _rotated(sim.body_orientation("bob"), _rotated(start * [1, -1, -1, -1], axis))
        )
    assert np.arccos(np.min(np.array(turned) @ axis)) == pytest.approx(0.3, abs=OVER)


def _rotated(q, v):
    return v + 2.0 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)


def test_limits_of_the_translations_beside_a_ball():
    mech = Mechanism()
    mech.add_body("puck", 1.0, (0.02, 0.03, 0.01), position=(0.1, 0.0, 0.05))
    bounds = np.array([(-0.1, 0.2), (-0.3, 0.1)])
    mech.add_joint("table", "point_on_plane", "world", "puck", (0, 0, 0), limits=bounds, swing=0.4)
    sim = moving(mech, 0.01, {"table": (1.0, 0.7, 1.0, 2.0, 3.0)})
    seen = []
    for _ in stepped(sim, 100):
        seen.append(sim.joint_positions)
        assert angles_of(sim.joint_positions[2:])["swing"] <= 0.4 + OVER
    seen = np.array(seen)[:, :2]
    assert (seen >= bounds[:, 0] - OVER).all()
    assert (seen <= bounds[:, 1] + OVER).all()
    assert np.abs(seen - bounds[:, 1]).min(axis=0).max() <= OVER


def test_environments_of_a_batch_move_as_alone_and_states_are_restored():
    mech = ball_pendulum(swing=0.3, twist=(-0.1, 0.2), friction=0.02, stiffness=1.0)
    alone, batch = Simulator(mech), Simulator(mech, batch=2)
    alone.reset(None, {"ball": (2.0, 1.0, 3.0)})
    batch.reset(None, {"ball": np.array([(2.0, 1.0, 3.0), (-1.0, 3.0, 0.0)])})
    for _ in range(20):
        alone.step()
        batch.step()
    assert batch.joint_positions[0].tolist() == alone.joint_positions.tolist()
    saved = alone.state
    first = [alone.step() and alone.joint_positions.tolist() for _ in range(5)]
    alone.set_state(saved)
    assert [alone.step() and alone.joint_positions.tolist() for _ in range(5)] == first


@pytest.mark.skipif(not COMPILES, reason="single precision needs compiled kernels")
def test_single_precision_refuses_a_cone():
    """As it does loops: an angle with limits is a row of a loop."""
    with pytest.raises(ValueError, match="found swing of joint 'ball'"):
        Simulator(ball_pendulum(swing=0.3), batch=4, precision="float32")


def test_the_structure_names_angles_that_loops_leave_beyond_limits():
    """The coupler of two cranks is turned out of its cone; a wider cone is not mentioned."""

    def beyond(swing):
        mech = Mechanism()
        mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 0))
        mech.add_joint("ball", "spherical", "world", "rod", (0, 0, 0), swing=swing)
        turn = (np.cos(0.25), np.sin(0.25), 0.0, 0.0)
        mech.add_joint("lock", "fixed", "world", "rod", (0, 0, 0), child_rotation=turn)
        return dict(mech.structure.beyond_limits)

    assert beyond(0.6) == {}
    ((name, numbers),) = beyond(0.4).items()
    assert name == "ball:swing"
    assert numbers == pytest.approx((0.5, -np.inf, 0.4))
