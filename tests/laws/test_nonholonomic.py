"""Skates and rolling wheels: exact at the velocity level, and what their forces may change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oracle.naive_drives import Rolling
from oracle.naive_joints import rotate
from scenes import touching_scenes as scenes
from scenes.touching import energies, moving, run, stepped

MASS = 2.0
MOMENT = 0.3
OFFSET = 0.2


def residual(sim):
    """Largest velocity of a skate or wheel along what it forbids, at the knot [m/s]."""
    mech = sim.mechanism
    index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
    q = np.array([[1.0, 0.0, 0.0, 0.0], *(sim.body_orientation(name) for name in mech.bodies)])
    rows = Rolling(mech, index).rows(q, len(mech.bodies))
    return np.abs(rows @ sim.body_states[:, 7:].ravel()).max()


def sleigh_rates(_, y):
    """Chaplygin's equations for (speed along the blade, spin, heading, x, y) of the centre of mass."""
    u, w, angle = y[:3]
    side = OFFSET * w
    return [OFFSET * w**2, -MASS * OFFSET * u * w / (MOMENT + MASS * OFFSET**2), w,
            u * np.cos(angle) - side * np.sin(angle), u * np.sin(angle) + side * np.cos(angle)]  # fmt: skip


def sleigh_start(u, w):
    return {"plane": (u, OFFSET * w, w)}


@pytest.mark.parametrize("start", [(1.0, 1.0), (-1.0, 2.0), (0.0, 3.0)])
def test_chaplygin_sleigh_moves_by_its_equations(start):
    exact = solve_ivp(sleigh_rates, (0.0, 2.0), [*start, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12).y[
        :, -1
    ]
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = run(moving(scenes.sleigh(OFFSET), h, sleigh_start(*start)), round(2.0 / h))
        errors.append(np.abs(sim.body_position("sleigh")[:2] - exact[3:]).max())
        assert residual(sim) <= 1e-9
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)
    assert errors[2] < 1e-3


def test_energy_of_the_sleigh_is_kept_and_it_turns_round():
    """Thrown backwards it turns over, runs forward, and goes straight."""
    sim = moving(scenes.sleigh(OFFSET), 0.01, sleigh_start(-1.0, 0.5))
    found = energies(sim, 2000)
    assert np.abs(found - found[0]).max() <= 2e-3 * found[0]
    assert found[-200:].mean() == pytest.approx(found[:1].mean(), rel=1e-3)
    heading = rotate(sim.body_orientation("sleigh"), np.array([1.0, 0.0, 0.0]))
    assert sim.body_velocity("sleigh") @ heading == pytest.approx(
        np.sqrt(2.0 * found[0] / MASS), rel=1e-2
    )
    assert abs(sim.body_angular_velocity("sleigh")[2]) < 0.05


def test_a_blade_changes_momentum_across_itself_alone():
    """Along the blade's direction at each knot; a blade below the centre of mass keeps the spin."""
    mech = scenes.sleigh(0.0)
    sim = moving(mech, 0.01, {"plane": (1.0, 0.0, 2.0)})
    for _ in stepped(sim, 100):
        assert sim.body_angular_velocity("sleigh")[2] == pytest.approx(2.0, abs=1e-8)
        assert np.linalg.norm(sim.body_velocity("sleigh")) == pytest.approx(1.0, rel=1e-3)
        assert residual(sim) <= 1e-9
    # It runs round a circle of v / w.
    angle = 2.0 * sim.time
    np.testing.assert_allclose(
        sim.body_position("sleigh")[:2],
        0.5 * np.array([np.sin(angle), 1.0 - np.cos(angle)]),
        atol=1e-3,
    )


def test_wheel_rolls_without_slip():
    """Driven by a torque, the carrier follows the wheel: J + (m) r^2 at the axle."""
    mech = scenes.unicycle(0.1)
    sim = moving(mech, 0.01)
    for _ in stepped(sim, 100, torques=[0.05]):
        assert residual(sim) <= 1e-9
    turn = sim.joint_positions[mech.position_names.index("axle")]
    assert sim.body_position("carrier")[0] == pytest.approx(0.1 * turn, rel=1e-4)
    axle = 0.005 * 0.5 + 1.5 * 0.01
    assert turn == pytest.approx(0.5 * 0.05 / axle, rel=2e-3)


def test_wheel_steers_its_carrier_round():
    """Rolling and turning: a circle of speed over spin, at order two; energy stays, it is odd in time."""
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = moving(scenes.unicycle(0.1), h, {"plane": (0.5, 0.0, 3.0), "axle": 5.0})
        found = energies(sim, round(2.0 / h))
        assert np.ptp(found) <= 1e-7 * found[0]
        circle = 0.5 / 3.0 * np.array([np.sin(6.0), 1.0 - np.cos(6.0)])
        errors.append(np.abs(sim.body_position("carrier")[:2] - circle).max())
        assert residual(sim) <= 1e-9
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_wheel_that_leans_and_turns_keeps_energy():
    """Its axle is tilted and off the centre of mass; the error is of order two, until it lies flat."""
    errors = []
    for h in (0.02, 0.01, 0.005):
        sim = moving(scenes.leaning_wheel(), h, {"free": (0.8, 0.0, 0.0, 0.0, 8.0, 3.0)})
        found = energies(sim, round(0.4 / h))[1:]  # the rim's way down ends in the first step
        assert residual(sim) <= 1e-9
        errors.append(np.ptp(found) / found[0])
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4, 1e-5])
def test_wheels_on_one_axle_agree(h):
    """Both hold the cart aside: their constraints are one, however it turns and rolls."""
    sim = moving(
        scenes.cart(), h, {"plane": (0.5, 0.0, 3.0), "left_axle": -1.0, "right_axle": 11.0}
    )
    found = energies(sim, 200)
    assert np.ptp(found) <= 1e-7 * found[0]
    assert residual(sim) <= 1e-7


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
def test_axles_of_a_cart_rub(h):
    """Dry friction of 0.02 N m on both: the cart loses what that takes of its wheels' turning."""
    sim = moving(
        scenes.cart(friction=0.02),
        h,
        {"plane": (0.5, 0.0, 3.0), "left_axle": -1.0, "right_axle": 11.0},
    )
    before, lost = sim.energy().total, 0.0
    for _ in stepped(sim, 200):
        lost += 0.02 * h * np.abs(sim.joint_velocities[3:]).sum()
    assert before - sim.energy().total == pytest.approx(lost, rel=0.02)
    assert residual(sim) <= 1e-7


def test_rates_against_a_blade_are_projected_at_the_start():
    sim = moving(scenes.sleigh(OFFSET), 0.01, {"plane": (1.0, 0.7, 0.0)})
    assert residual(sim) <= 1e-9
