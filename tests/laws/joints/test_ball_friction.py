"""Dry friction of ball joints, about each of the child's axes, and limits of what slides beside."""

import numpy as np
import pytest

from scenes.balls import ball_chain, ball_pendulum
from scenes.touching import moving, run, stepped
from vigym import Mechanism, Simulator
from vigym.core.compiler import COMPILES

J = np.array([0.02, 0.03, 0.01])
OVER = 1e-8  # [m] by which no limit is exceeded


def free_ball(**options):
    mech = Mechanism(gravity=(0, 0, 0))
    mech.add_body("ball", 1.0, J)
    mech.add_joint("joint", "spherical", "world", "ball", (0, 0, 0), effort=np.inf, **options)
    return mech


@pytest.mark.parametrize("stiffness", [0.0, 2.0])
def test_friction_below_its_bound_holds_exactly(stiffness):
    """Each moment is below its bound, their sum of squares is not."""
    sim = moving(free_ball(friction=0.1, stiffness=stiffness), 0.01)
    run(sim, 25, torques=[0.09, -0.095, 0.08])
    assert np.abs(sim.joint_positions[1:]).max() <= 1e-10
    assert np.abs(sim.joint_velocities).max() <= 1e-10
    assert abs(sim.metrics()["dissipated"]) <= 1e-10


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("h", [0.02, 0.005])
def test_friction_stops_a_spin_after_its_energy(axis, h):
    """Its moment times the angle is the energy that it had."""
    sim, rate = Simulator(free_ball(friction=0.05), timestep=h), np.eye(3)[axis]
    sim.reset(None, {"joint": 2.0 * rate})
    start = sim.energy().total
    run(sim, round(2.0 * J[axis] * 2.0 / 0.05 / h))
    angle = 2.0 * np.arctan2(sim.joint_positions[1 + axis], sim.joint_positions[0])
    assert np.abs(sim.joint_velocities).max() <= 1e-10
    assert 0.05 * angle == pytest.approx(start, rel=0.01)
    assert sim.metrics()["dissipated"] == pytest.approx(start, rel=1e-3)
    assert abs(sim.metrics()["energy_balance"]) <= 10.0 * h**2 * start


@pytest.mark.parametrize("h", [0.02, 0.01])
@pytest.mark.parametrize("options", [{}, {"stiffness": 5.0}, {"stiffness": 50.0, "damping": 0.02}])
def test_friction_takes_what_a_swinging_body_loses(options, h):
    sim = moving(ball_pendulum(friction=0.3, **options), h, {"ball": (1.0, 0.5, 0.7)})
    total = [sim.energy().total]
    for _ in stepped(sim, round(1.0 / h)):
        total.append(sim.energy().total)
    lost = total[0] - total[-1]
    assert np.diff(total).max() <= 1e-4
    assert sim.metrics()["dissipated"] == pytest.approx(lost, rel=0.06 if h > 0.01 else 0.015)


@pytest.mark.parametrize("friction", [1.0, 3.0])
def test_friction_beside_a_spring_takes_few_iterations(friction):
    """Each moment sees the rate about its own axis, though the spring mixes all three."""
    sim = Simulator(ball_chain(friction=friction, stiffness=5.0 * friction**2), timestep=0.02)
    sim.reset(
        {"shoulder": (0.8, 0.3, 0.2, 0.3), "elbow": (0.9, -0.3, 0.2, 0.1)},
        {"shoulder": (2.0, -1.0, 1.0), "elbow": (2.0, 2.0, -2.0)},
    )
    taken = [sim.metrics()["solver_iterations"] for _ in stepped(sim, 20)]
    assert np.mean(taken) <= 6.0


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("stiffness", [0.0, 3.0])
def test_friction_of_balls_in_trees_and_loops(closes, stiffness):
    sim = Simulator(ball_chain(closes, friction=0.3, stiffness=stiffness), timestep=0.01)
    sim.push([[0.0, 0.4, 0.0], [0.3, 0.5, 0.2]])
    start = sim.energy().total
    run(sim, 20)
    lost = start - sim.energy().total
    assert lost > 0.01
    assert sim.metrics()["dissipated"] == pytest.approx(lost, rel=0.05)


@pytest.mark.skipif(not COMPILES, reason="single precision needs compiled kernels")
def test_friction_in_single_precision():
    """It takes the same energy, and holds to the roundings of some hundred steps."""
    mech = ball_pendulum(friction=0.3)
    pair = [Simulator(mech, batch=2, precision=kind) for kind in ("float64", "float32")]
    for sim in pair:
        sim.reset(None, {"ball": np.array([(1.0, 0.5, 0.7)] * 2)})
        assert sim.step(substeps=100).converged.all()
    double, single = (sim.metrics()["dissipated"] for sim in pair)
    np.testing.assert_allclose(single, double, rtol=1e-3)


def test_friction_beside_translations_acts_on_the_ball_alone():
    mech = Mechanism(gravity=(0, 0, 0))
    mech.add_body("bead", 1.0, J)
    mech.add_joint("wire", "point_on_line", "world", "bead", (0, 0, 0), friction=0.1)
    sim = moving(mech, 0.01, {"wire": (0.5, 0.0, 0.0, 1.0)})
    run(sim, 100)
    assert sim.joint_velocities == pytest.approx((0.5, 0.0, 0.0, 0.0), abs=1e-10)


def test_limits_of_the_translations_beside_a_ball():
    mech = Mechanism()
    mech.add_body("puck", 1.0, J, position=(0.1, 0.0, 0.05))
    bounds = np.array([(-0.1, 0.2), (-0.3, 0.1)])
    mech.add_joint("table", "point_on_plane", "world", "puck", (0, 0, 0), limits=bounds)
    sim = moving(mech, 0.01, {"table": (1.0, 0.7, 1.0, 2.0, 3.0)})
    seen = np.array([sim.joint_positions[:2] for _ in stepped(sim, 100)])
    assert (seen >= bounds[:, 0] - OVER).all()
    assert (seen <= bounds[:, 1] + OVER).all()
    assert np.abs(seen - bounds[:, 1]).min(axis=0).max() <= OVER


@pytest.mark.parametrize("closes", [False, True])
def test_a_loop_is_closed_within_limits_beside_a_ball(closes):
    """The bead of a wire next to a pivot; the wire may close the loop, or the pivot."""
    mech = Mechanism()
    mech.add_body("rod", 1.0, J, position=(0.3, 0.0, 0.0))
    joints = [
        ("pivot", "spherical", (0, 0, 0), {}),
        ("wire", "point_on_line", (0.6, 0, 0), {"limits": (0.1, 0.2)}),
    ]
    for name, kind, place, options in joints[:: 1 if closes else -1]:
        mech.add_joint(name, kind, "world", "rod", place, **options)
    assert dict(mech.structure.beyond_limits).keys() == {"wire.distance"}
