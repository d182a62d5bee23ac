"""Discrete Newton-Euler in joint coordinates, its root finders, and the third order."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from oracle.discrete_action import slopes
from scenes.chains import rod_chain
from scenes.trees import random_tree
from vigym.baselines import METHODS, StepError, discrete, mechanism_tree, recursion

KINDS = ("revolute", "universal", "prismatic", "planar", "cylindrical")
STEP = 0.02


def knots(tree, seed=0):
    """Coordinates at three knots, some tenths apart."""
    rng = np.random.default_rng(seed)
    q = 0.5 * rng.normal(size=tree.dofs)
    change = 0.1 * rng.normal(size=(2, tree.dofs))
    return q - change[0], q, q + change[1]


def evaluated(tree, before, q, after, h=STEP):
    """Joints at the last two knots, displacements of the last step, and momenta that come in."""
    at = [tree.joints(each, np.zeros(tree.dofs)) for each in (before, q, after)]
    R, _ = recursion.poses(tree.links, at[1])
    incoming = discrete.bring_along(discrete.displace(tree.links, at[0], at[1], h))
    incoming[:, 3:] += h * tree.links.inertia[:, 5, 5, None] * (R.transpose(0, 2, 1) @ tree.gravity)
    moved = discrete.displace(tree.links, at[1], at[2], h)
    return SimpleNamespace(now=at[1], ahead=at[2], moved=moved, incoming=incoming)


def residual(tree, before, q, after, dense=False):
    e = evaluated(tree, before, q, after)
    evaluate = discrete.dense_residual if dense else discrete.drnea
    return evaluate(tree.links, e.now, e.moved, e.incoming)


@pytest.mark.parametrize("seed", range(3))
def test_residual_is_the_discrete_euler_lagrange_equation(seed):
    tree = mechanism_tree(random_tree(seed, KINDS, springs=False, armature=False))
    before, q, after = knots(tree, seed)
    expected = -slopes(tree, before, q, STEP)[1] - slopes(tree, q, after, STEP)[0]
    size = np.abs(slopes(tree, q, after, STEP)).max()
    found = residual(tree, before, q, after)
    assert np.abs(found - expected).max() <= 1e-12 * size
    dense = residual(tree, before, q, after, dense=True)
    assert np.abs(found - dense).max() <= 1e-13 * size


def test_derivative_is_exact():
    kinds = (*KINDS, "spherical", "floating")
    tree = mechanism_tree(random_tree(7, kinds, springs=False, armature=False))
    rng = np.random.default_rng(0)
    q = tree.integrate_rates(tree.zero, rng.normal(size=tree.dofs))
    before, after = (tree.integrate_rates(q, 0.1 * rng.normal(size=tree.dofs)) for _ in range(2))
    e = evaluated(tree, before, q, after)
    found = discrete.drnea_derivative(tree.links, e.now, e.ahead, e.moved, STEP)
    d = 1e-5
    columns = [
        residual(tree, before, q, tree.integrate_rates(after, step))
        - residual(tree, before, q, tree.integrate_rates(after, -step))
        for step in d * np.eye(tree.dofs)
    ]
    # central differences: an error of d^2, relative
    assert found == pytest.approx(np.array(columns).T / (2 * d), abs=1e-8 * np.abs(found).max())


class Counter:
    """Function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


@pytest.mark.parametrize("name", ["log_pose", "dlog", "tapply"])
def test_evaluations_are_linear_in_bodies(name, monkeypatch):
    counts = []
    for count in (4, 8, 16):
        tree = mechanism_tree(rod_chain(count))
        before, q, after = knots(tree)
        e = evaluated(tree, before, q, after)
        counter = Counter(getattr(discrete, name))
        with monkeypatch.context() as patch:
            patch.setattr(discrete, name, counter)
            discrete.displace.py_func(tree.links, e.now, e.ahead, STEP)
        counts.append(counter.calls)
    assert counts[2] == 2 * counts[1] == 4 * counts[0]


def iterations(name, guess, steps=200):
    """Evaluations of a step of ten rods of 10 cm that fall from the side (LEE 4.4)."""
    method = METHODS[name](rod_chain(10, length=0.1), timestep=1e-3, tolerance=1e-10)
    method.guess = guess
    method.reset(positions={"hinge0": np.pi / 2})
    found = []
    for _ in range(steps):
        method.step()
        found.append(1 + method.iterations)
    return np.array(found[20:])


def test_iterations_are_those_of_the_paper():
    """LEE Fig. 4b: Newton 4 without deviation, RIQN 5.69 with 1.16, evaluations of the residual."""
    assert iterations("newton", "IG1").mean() == pytest.approx(4.0, abs=0.1)
    assert iterations("riqn", "IG1").mean() == pytest.approx(5.69, abs=1.16)


def test_better_guesses_take_fewer_iterations():
    first, second, third = (iterations("riqn", guess).mean() for guess in ("IG1", "IG2", "IG3"))
    assert first > second > third


def test_broyden_is_between_newton_and_riqn():
    newton, broyden, riqn = (
        iterations(each, "IG2").mean() for each in ("newton", "broyden", "riqn")
    )
    assert newton <= broyden <= riqn


def test_root_finders_find_the_same_root():
    mech = random_tree(2, ("revolute", "spherical", "universal"), springs=True, armature=False)
    for joint in ("j1",):  # springs of three rotations are unknown to them
        slack = replace(mech.joints[joint], stiffness=0.0)
        mech = mech.with_replaced_elements(joints={**mech.joints, joint: slack})
    methods = [METHODS[name](mech, 0.01, tolerance=1e-11) for name in ("riqn", "newton", "broyden")]
    for method in methods:
        method.reset(velocities=np.linspace(-1.0, 1.0, 6))
        for _ in range(20):
            method.step()
    for method in methods[1:]:
        assert method.positions == pytest.approx(methods[0].positions, abs=1e-9)


@pytest.mark.parametrize("name", ["riqn", "newton", "broyden", "third-order"])
def test_a_step_without_solution_is_an_error(name):
    """Rods that turn by radians in a step."""
    method = METHODS[name](rod_chain(6), timestep=0.3)
    method.reset(velocities=np.array([20.0, -40.0, 30.0, -25.0, 40.0, -30.0]))
    with pytest.raises(StepError, match=f"method '{name}' at .* s: found no solution in"):
        walk(method, 20)


def walk(method, steps):
    for _ in range(steps):
        method.step()


def test_long_chains_have_tolerances_that_joint_coordinates_cannot_meet():
    """MC Fig. 8: rounding of poses hides small impulses; steps in maximal coordinates are solved."""
    for name in ("vigym", "riqn", "newton", "third-order"):
        method = METHODS[name](rod_chain(50), timestep=0.01, tolerance=1e-10)
        method.reset(positions={"hinge0": 0.5})
        if name == "vigym":
            walk(method, 3)
        else:
            with pytest.raises(StepError, match="found no solution"):
                walk(method, 3)
