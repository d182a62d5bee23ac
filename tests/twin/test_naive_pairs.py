"""The slow twin's contacts of two bodies tested alone: geometry by brute force, forces along what they bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from oracle.naive_contact import TouchingTwin
from oracle.naive_joints import matrix
from oracle.naive_pairs import LEVEL, nearest, outside, part_over
from oracle.naive_touching import Touching
from scenes import pair_scenes as scenes
from scenes.trees import unit

HALVES = [np.array([0.2, 0.15, 0.1]), np.array([0.0, 0.0, 0.2]), np.zeros(3)]


def brute(p, d, half):
    """Least distance by bounded least squares over both bodies."""
    thin = np.where(half > 0.0, half, 1e-14)
    found = lsq_linear(
        np.column_stack([d, -np.eye(3)]), -p, ([-1.0, *-thin], [1.0, *thin]), tol=1e-14
    )
    return np.sqrt(2.0 * found.cost)


@pytest.mark.parametrize("half", HALVES, ids=["brick", "rod", "ball"])
def test_nearest_point_is_the_least_of_all(half):
    """But for what pulls it to the middle, LEVEL of the segment's half squared at most."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        p, d = 0.5 * rng.normal(size=3), 0.2 * rng.normal(size=3)
        s = nearest(p, d, half)
        found, least = np.linalg.norm(outside(p + s * d, half)), brute(p, d, half)
        assert least - 1e-9 <= found <= np.sqrt(least**2 + LEVEL * (d @ d)) + 1e-9


@pytest.mark.parametrize("half", HALVES[:2], ids=["brick", "rod"])
def test_ends_of_the_part_over_a_box_bound_what_is_over_it(half):
    """Every place between them is as far outside along one axis alone; beyond them it is outside along others."""
    p, d = np.array([0.05, 0.02, 0.0]), np.array([0.3, 0.02, 0.25])
    if half[0] > 0.0:
        p, d = np.array([0.05, 0.02, 0.2]), np.array([0.3, 0.25, 0.01])
    else:
        p = np.array([0.1, 0.02, 0.0])
    first, last = part_over(nearest(p, d, half), p, d, half)
    assert -1.0 < first < last < 1.0
    free = [0, 1] if half[0] > 0.0 else [2]
    for s in np.linspace(first, last, 9):
        assert np.abs(outside(p + s * d, half)[free]).max() < 1e-12
    for s in (first - 1e-6, last + 1e-6):
        assert np.abs(outside(p + s * d, half)[free]).max() > 1e-8


@pytest.mark.parametrize("kinds", scenes.MEETS)
def test_forces_act_along_what_they_bound(kinds):
    """Rows of forces against differences of gaps and slips, both bodies moving, where they touch.

    What pulls the nearest point to the middle of its segment is LEVEL of the force at most.
    """
    mech, rates = scenes.meeting(kinds)
    twin, eps = TouchingTwin(mech, 0.01), 1e-6
    twin.reset({}, np.concatenate(list(rates.values())))
    while not twin.forces.any():
        twin.step()
    touching = Touching([c for c in twin.contacts if c.which == "nearest"], twin.x, twin.q)
    assert touching.gaps == pytest.approx(0.0, abs=1e-6)
    found = []
    for direction in np.eye(6 * twin.n).reshape(-1, twin.n, 6):
        ends = [
            touching.quantities(*twin.ahead(V[:, :3], V[:, 3:], 1.0), V[:, 3:], 1.0, touching.gaps)
            for V in (eps * direction, -eps * direction)
        ]
        found.append((ends[0] - ends[1]) / (2.0 * eps))
    np.testing.assert_allclose(touching.rows(), np.transpose(found), atol=5.0 * LEVEL)


@pytest.mark.parametrize("bounce", [0.0, 0.5, 1.0])
def test_head_on_impact_is_the_textbooks(bounce):
    """Balls of 1 kg and 3 kg; with restitution the momentum goes over by the coefficient."""
    mech = scenes.row(2, restitution=bounce, masses=(1.0, 3.0))
    twin = TouchingTwin(mech, 0.01, prox=0.0)
    twin.reset({}, [2.0, *np.zeros(11)])
    for _ in range(30):
        twin.step()
    V, _ = twin.knot_velocities()
    common, apart = 2.0 / 4.0, bounce * 2.0
    assert V[:, 0] == pytest.approx([common - 0.75 * apart, common + 0.25 * apart], abs=1e-10)
    assert np.abs(V[:, 1:]).max() < 1e-12


def test_a_tilted_box_meets_a_ball_on_its_face():
    """Gap, normal and points of one pose by hand."""
    mech = scenes.space()
    turn = unit(np.array([1.0, 0.3, -0.2, 0.5]))
    up = matrix(turn)[:, 2]
    scenes.add(mech, "brick", scenes.BRICK, (1.0, 2.0, 3.0), turn)
    scenes.add(mech, "ball", scenes.BALL, np.array([1.0, 2.0, 3.0]) + 0.3 * up)
    mech.add_pair("brick", "ball")
    (contact,) = TouchingTwin(mech).contacts
    twin = TouchingTwin(mech)
    gap, n, own, other = contact.meeting(twin.x, twin.q, 0.0)
    assert gap == pytest.approx(0.3 - 0.1 - 0.1, abs=1e-12)
    np.testing.assert_allclose(n, up, atol=1e-12)
    np.testing.assert_allclose(own - twin.x[1], 0.2 * up, atol=1e-12)
    np.testing.assert_allclose(other - twin.x[1], 0.1 * up, atol=1e-12)
