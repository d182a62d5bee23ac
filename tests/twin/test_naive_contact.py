"""The slow twin's contact, limits and drives tested alone, so that agreement with it means something."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_contact import TouchingTwin
from oracle.naive_laws import Drag, Drive, Slip, Stop, miss, solve
from oracle.naive_touching import Touching
from scenes import touching_scenes as scenes
from scenes.trees import unit

MOVING = {
    "box": lambda: scenes.box(0.5, (0.3, 0.5, 0.7), torsion=0.05, direction=(0.3, 1.0, 0.2)),
    "tilted": lambda: scenes.box(0.5, 0.3, scenes.tilted(0.3)),
    "ball": lambda: scenes.ball(0.3),
    "capsule": scenes.capsule,
    "quadruped": scenes.quadruped,
}


@pytest.mark.parametrize("seed", range(3))
def test_solutions_meet_the_laws(seed):
    """Random dense problems with every law, more contacts than freedoms among them."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(14, 8))
    laws = [
        Stop(0),
        Slip((1, 2), 0, (0.5, 0.2, 0.9)),
        Drag(3, 0.1, 0),
        Stop(4),
        Slip((5, 6), 4, (0.3, 0.3, 0.3)),
    ]
    laws += [Stop(7), Stop(8), Drag(9, 0.4), Drive(10, 0.7), Drive(11, 0.7, 12, 0.1)]
    W = root[:12] @ root[:12].T
    W = np.vstack([W, W[11]])
    W[10:12] *= -2.0  # a drive's wish falls as its force grows
    for _ in range(20):
        b = rng.normal(size=13)
        f = solve(laws, W, b, np.zeros(12))
        assert miss(laws, f, b + W @ f, W) < 1e-11 * (1.0 + np.abs(f).max())
        assert f[[0, 4, 7, 8]].min() >= -1e-12
        assert np.hypot(*(f[5:7] / 0.3)) <= f[4] * (1.0 + 1e-9) + 1e-12


def test_friction_dissipates_the_most():
    """Against every allowed force of a fan, forward unlike backward."""
    law = Slip((1, 2), 0, (0.5, 0.2, 0.9))
    W = np.eye(3)
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    fan = np.array([np.cos(angles), np.sin(angles)]).T
    fan[:, 0] *= np.where(fan[:, 0] < 0.0, 0.5, 0.9)
    fan[:, 1] *= 0.2
    for slip in np.random.default_rng(0).normal(size=(50, 2)):
        b = np.array([-2.0, *(10.0 * slip)])
        f = solve([Stop(0), law], W, b, np.zeros(3))
        u = b[1:] + f[1:]
        assert u @ f[1:] <= (f[0] * fan @ u).min() + 1e-12
        assert f[1:] @ f[1:] > 0.0


def shaken(mech, seed=0, speed=0.5):
    """A twin with every body at a random rate that its joints allow."""
    twin = TouchingTwin(mech)
    twin.reset({}, speed * np.random.default_rng(seed).normal(size=twin.n_tree))
    twin.step()
    return twin


@pytest.mark.parametrize("name", MOVING)
def test_forces_act_along_what_they_bound(name):
    """Rows of forces against differences of gaps, slips and spins over a short step from the knot now."""
    twin, eps = shaken(MOVING[name]()), 1e-6
    touching = Touching(twin.contacts, twin.x, twin.q)
    found = []
    for direction in np.eye(6 * twin.n).reshape(-1, twin.n, 6):
        up, down = (sign * eps * direction for sign in (1.0, -1.0))
        ends = [touching.quantities(*twin.ahead(V[:, :3], V[:, 3:], 1.0), V[:, 3:], 1.0, touching.gaps)
                for V in (up, down)]  # fmt: skip
        found.append((ends[0] - ends[1]) / (2.0 * eps))
    np.testing.assert_allclose(touching.rows(), np.transpose(found), atol=1e-8)


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01])
def test_box_lands_on_the_ground_and_stays(h):
    twin, gaps = TouchingTwin(scenes.box(0.4 + scenes.EDGE / 2.0), h, prox=0.0), []
    for _ in range(round(0.5 / h)):
        twin.step()
        gaps.append(min(contact.gap(twin.x, twin.q) for contact in twin.contacts))
    assert min(gaps) > -1e-12
    assert gaps[-1] < 1e-12
    assert np.abs(twin.knot_velocities()[0]).max() < 1e-12
    assert twin.touched.sum(axis=0) == pytest.approx([0.0, 0.0, scenes.GRAVITY], abs=1e-9)


@pytest.mark.parametrize("friction", [0.5, (0.3, 0.5, 0.7)])
def test_sliding_is_uniform_deceleration_at_the_knots(friction):
    """To rounding at every knot, read-out included, along a slip that is along and one that is backward."""
    for sign, mu in ((1.0, np.atleast_1d(friction)[0]), (-1.0, np.atleast_1d(friction)[-1])):
        twin = TouchingTwin(scenes.puck(friction), 0.01)
        twin.reset({}, [3.0 * sign, 0.0, 0.0, 0.0, 0.0, 0.0])
        for _ in range(20):
            twin.step()
        slower = mu * scenes.GRAVITY
        assert twin.x[1, 0] == pytest.approx(sign * (3.0 * 0.2 - 0.5 * slower * 0.04), abs=1e-12)
        assert twin.knot_velocities()[0][0, 0] == pytest.approx(
            sign * (3.0 - slower * 0.2), abs=1e-12
        )


def test_a_slip_that_starts_rolls_as_a_ball_does():
    """5/7 of the speed of a ball that slid; the friction has done its work by 2 v / (7 mu g)."""
    twin = TouchingTwin(scenes.ball(friction=0.5))
    twin.reset({}, [2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(30):
        twin.step()
    V, _ = twin.knot_velocities()
    assert V[0, 0] == pytest.approx(2.0 * 5.0 / 7.0, abs=2e-3)
    assert V[0, 4] * 0.1 == pytest.approx(V[0, 0], abs=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_a_tumbling_box_only_loses_energy(seed):
    rng = np.random.default_rng(seed)
    twin = TouchingTwin(scenes.box(0.6, 0.5, orientation=unit(rng.normal(size=4))), 0.01, prox=0.0)
    twin.reset({}, rng.normal(size=6))
    energies = [sum(twin.energy())]
    for _ in range(60):
        twin.step()
        energies.append(sum(twin.energy()))
        assert min(contact.gap(twin.x, twin.q) for contact in twin.contacts) > -1e-11
    assert (
        np.diff(energies).max() < 1e-5 * energies[0]
    )  # rotation between impacts oscillates with h^2
    assert energies[-1] < 0.8 * energies[0]


def test_pendulum_stops_at_its_limits():
    twin, angles = TouchingTwin(scenes.pendulum(limits=(-0.5, 0.4))), []
    twin.reset({}, [4.0])
    for _ in range(100):
        twin.step()
        angles.append(twin.angles["pin"][0])
    assert max(angles) == pytest.approx(0.4, abs=1e-12)
    assert min(angles) >= -0.5 - 1e-12


def test_dry_friction_of_a_joint_holds_and_lets_go():
    """A rail with 2 N of friction: 1.9 N moves nothing, 3 N accelerates by 1 m/s^2; let go, it stops and stays."""
    twin = TouchingTwin(scenes.slider(friction=2.0, effort=10.0))
    for _ in range(10):
        twin.step([1.9])
    assert abs(twin.x[1, 0]) < 1e-15
    twin.reset()
    for _ in range(50):
        twin.step([3.0])
    assert twin.x[1, 0] == pytest.approx(0.5 * 0.5**2, rel=1e-9)
    assert twin.knot_velocities()[1] == pytest.approx([0.5], rel=1e-9)
    for _ in range(40):
        twin.step()
    assert twin.knot_velocities()[1] == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("name", ["geared", "screw", "sleigh", "unicycle"])
def test_couplings_and_skates_hold(name):
    mech = getattr(scenes, name)()
    twin = TouchingTwin(mech)
    twin.reset(
        {},
        {"geared": [1.0, -2.0], "sleigh": [1.0, 0.0, 1.0], "unicycle": [1.0, 0.0, 0.0, 10.0]}.get(
            name
        ),
    )
    for _ in range(20):
        twin.step()
    V, _ = twin.knot_velocities()
    assert np.abs(twin.constraint(twin.x, twin.q)).max() < 1e-12
    assert np.abs(twin.rolling.rows(twin.q, twin.n) @ V.ravel()).max(initial=0.0) < 1e-12
