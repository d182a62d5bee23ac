"""Loops that a simulator warns of, refuses or has to follow although nothing acts there."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import MechanismError

ACROSS = (0.0, 1.0, 0.0)


def hinged_twice():
    """A link with a second one on two hinges of one axis: the second closes a loop without constraints."""
    mech = Mechanism()
    mech.add_body("upper", 1.0, (0.01,) * 3, position=(0, 0, -0.2))
    mech.add_joint("root", "revolute", "world", "upper", (0, 0, 0), axis=ACROSS)
    mech.add_body("lower", 1.0, (0.01,) * 3, position=(0, 0, -0.6))
    for name in ("hinge", "twin"):
        mech.add_joint(name, "revolute", "upper", "lower", (0, 0, -0.4), axis=ACROSS)
    return mech


def four_bar(masses, armature=0.0):
    """Three links between two hinges of the world."""
    mech, above = Mechanism(), "world"
    points = np.array([(0, 0, 0), (0, 0, 0.4), (0.6, 0, 0.5), (0.6, 0, 0)], float)
    for i, (mass, a, b) in enumerate(zip(masses, points, points[1:], strict=False)):
        inertia = mass * np.sum((b - a) ** 2) / 12.0
        mech.add_body(f"link{i}", mass, (inertia,) * 3, position=0.5 * (a + b))
        mech.add_joint(
            f"hinge{i}", "revolute", above, f"link{i}", a, axis=ACROSS, armature=armature
        )
        above = f"link{i}"
    mech.add_joint("last", "revolute", "world", above, points[-1], axis=ACROSS)
    return mech


def net(size, off=0.0):
    """Bodies in a square that hangs by one of them, ball joints between neighbours."""
    rng, mech = np.random.default_rng(0), Mechanism()
    places = list(itertools.product(range(size), repeat=2))
    for i, j in places:
        position = np.array([i, j, 0.0]) + off * rng.normal(size=3)
        mech.add_body(f"b{i}{j}", 1.0, (0.02,) * 3, position=position)
    mech.add_joint("hang", "spherical", "world", "b00", (0, 0, 0.3))
    for (i, j), (di, dj) in itertools.product(places, ((1, 0), (0, 1))):
        if max(i + di, j + dj) < size:
            at = np.array([i + 0.5 * di, j + 0.5 * dj, 0.0]) + off * rng.normal(size=3)
            name = f"{'xy'[dj]}{i}{j}"
            mech.add_joint(name, "spherical", f"b{i}{j}", f"b{i + di}{j + dj}", at)
    return mech


def taut_net(off=0.0):
    """A net of two rows that hangs by a corner, and between two edges that it just reaches."""
    mech = net(2, off)
    for k in range(2):
        mech.add_joint(f"left{k}", "spherical", "world", f"b0{k}", (-0.5, k, 0.0))
        mech.add_joint(f"right{k}", "spherical", "world", f"b1{k}", (1.5, k, 0.0))
    return mech


def flat_parallelogram():
    """Uprights and coupler in one line, and a pendulum on a ball joint beside them."""
    mech = Mechanism()
    for name, mass, x in (("left", 1.0, 0.25), ("coupler", 1.3, 1.0), ("right", 0.8, 1.25)):
        mech.add_body(name, mass, (0.03,) * 3, position=(x, 0, 0))
    mech.add_joint("ground0", "revolute", "world", "left", (0, 0, 0), axis=ACROSS)
    mech.add_joint("top0", "revolute", "left", "coupler", (0.5, 0, 0), axis=ACROSS)
    mech.add_joint("ground1", "revolute", "world", "right", (1, 0, 0), axis=ACROSS)
    mech.add_joint("top1", "revolute", "right", "coupler", (1.5, 0, 0), axis=ACROSS)
    mech.add_body("bob", 1.0, (0.02,) * 3, position=(0, 2, -0.5))
    mech.add_joint("pin", "spherical", "world", "bob", (0, 2, 0))
    return mech


def test_a_closing_joint_without_constraints_is_followed():
    sim = Simulator(hinged_twice())
    sim.reset({"root": 0.5}, {"root": 2.0, "hinge": -3.0})
    for _ in range(9):
        assert sim.step().converged
        assert sim.constraint_residual() < 1e-10
        names = sim.mechanism.position_names
        hinge, twin = (sim.joint_positions[names.index(name)] for name in ("hinge", "twin"))
        assert twin == pytest.approx(hinge, abs=1e-10)


def test_a_link_too_light_for_its_loop_is_refused():
    """Only as the link that the closing joint holds does it hide the others."""
    with pytest.raises(MechanismError, match="'last'.*'link2'.*1e\\+08 times at most.*armature"):
        Simulator(four_bar((1.0, 1.0, 5e-14)))
    for masses in ((5e-14, 1.0, 1.0), (1.0, 5e-14, 1.0), (1.0, 1.0, 1e-7)):
        sim = Simulator(four_bar(masses))
        sim.reset({"hinge0": 0.1})
        for _ in range(50):
            assert sim.step().converged
            assert sim.constraint_residual() < 1e-10
    Simulator(four_bar((1.0, 1.0, 5e-14), armature=1e-3))


@pytest.mark.parametrize(
    "mech", [net(3, 1e-6), taut_net(), taut_net(1e-6)], ids=["flat", "taut", "almost"]
)
def test_nets_that_are_almost_flat_or_taut_are_named(mech):
    """Next to a singular pose steps take thousands of iterations; from a taut one nothing moves."""
    with pytest.warns(UserWarning, match="as in a taut net.*move bodies"):
        Simulator(mech)


def test_a_flat_net_is_named_and_off_the_plane_it_runs():
    with pytest.warns(UserWarning, match="'y10', 'y11', 'y20', 'y21'.*move bodies.*0.001"):
        sim = Simulator(net(3))
    assert [note.action for note in sim.mechanism.notes] == ["singular"]
    assert not sim.step().converged  # otherwise the warning says too much
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mech in (net(3, off=1e-3), net(2)):
            sim = Simulator(mech)
            for _ in range(20):
                assert sim.step().converged
                assert sim.constraint_residual() < 1e-10


def test_a_ball_joint_elsewhere_does_not_spoil_a_singular_start():
    """Of its 3x3 pivot there are no pivots of single dofs, which the damped attempt would read."""
    with pytest.warns(UserWarning, match="'top1'"):
        sim = Simulator(flat_parallelogram())
    for _ in range(20):
        assert sim.step().converged
        assert sim.constraint_residual() < 1e-10


def test_beside_a_loop_joints_start_within_limits_and_their_followers_with_them():
    """The loop is closed at zero and stays there; the limits of both leave the leader 0.25 to 0.5."""
    mech = four_bar((1.0, 1.0, 1.0))
    for name, limits in (("leader", (0.2, 0.5)), ("follower", (0.5, 1.0))):
        mech.add_body(name, 1.0, (0.01,) * 3, position=(0, 1, -0.2))
        mech.add_joint(name, "revolute", "world", name, (0, 1, 0), ACROSS, limits=limits)
    mech.add_coupling("belt", "mimic", "follower", "leader", 2.0)
    sim = Simulator(mech)
    start = dict(zip(sim.mechanism.position_names, sim.joint_positions, strict=True))
    assert (start["leader"], start["follower"]) == pytest.approx((0.375, 0.75), abs=1e-12)
    assert not any(start[name] for name in start if name.startswith("hinge"))
    assert sim.mechanism.notes == []
