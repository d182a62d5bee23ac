"""Trees in joint coordinates: dynamics against Pinocchio, joints from transforms, gradients."""

import numpy as np
import pytest

from scenes.pinocchio_models import PinocchioModel
from scenes.trees import random_tree
from vigym.baselines import GeneralJoint, general_tree, mechanism_tree, recursion
from vigym.baselines.tree import body_inertia
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.topology.joint_frames import joint_frames

KINDS = ("revolute", "spherical", "universal", "prismatic", "revolute", "spherical", "prismatic")


def state(tree, seed=0):
    """Random coordinates and rates, and forces."""
    rng = np.random.default_rng(seed)
    q = tree.integrate_rates(tree.zero, rng.normal(size=tree.dofs))
    return q, rng.normal(size=tree.dofs), rng.normal(size=tree.dofs)


def plain_tree(seed, kinds):
    mech = random_tree(seed, kinds, springs=False, armature=False)
    return mech, mechanism_tree(mech)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical", "universal", None])
def test_dynamics_are_those_of_pinocchio(kind):
    pin = pytest.importorskip("pinocchio")
    mech, tree = plain_tree(3, KINDS if kind is None else (kind,) * 6)
    theirs = PinocchioModel(pin, mech)
    for seed in range(5):
        q, rates, tau = state(tree, seed)
        found = tree.accelerations(q, rates, tau)
        assert found == pytest.approx(theirs.aba(q, rates, tau), rel=1e-10, abs=1e-10)
        forces = tree.joint_forces(q, rates, tau)
        assert forces == pytest.approx(theirs.rnea(q, rates, tau), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("kind", [*JOINT_TYPES])
def test_forward_dynamics_invert_inverse_dynamics(kind):
    mech, tree = plain_tree(1, (kind, "revolute", kind, "spherical"))
    q, rates, tau = state(tree)
    accelerations = tree.accelerations(q, rates, tau)
    # rounding, times the condition of the mass matrix
    assert tree.joint_forces(q, rates, accelerations) == pytest.approx(tau, abs=1e-11)


@pytest.mark.parametrize("kind", [*JOINT_TYPES])
def test_screws_and_their_rates_are_derivatives_of_poses(kind):
    """Central differences of a step 1e-5 are exact to 1e-10 of derivatives of order one."""
    _, tree = plain_tree(2, (kind, kind))
    q, rates, _ = state(tree)
    e = 1e-5

    def at(t):
        joints = tree.joints(tree.integrate_rates(q, t * rates), rates)
        return joints, recursion.twists(tree.links, joints, rates)

    before, after = at(-e)[0], at(e)[0]
    now, v = at(0.0)
    assert (after.S - before.S) / (2 * e) == pytest.approx(now.dS, abs=1e-8)
    turning = np.einsum("nji,njk->nik", now.R, after.R - before.R) / (2 * e)
    own = v.copy()
    for i, k in enumerate(tree.links.parent):
        if k >= 0:
            own[i] -= recursion.adjoint_back(now.R[i], now.p[i]) @ v[k]
    assert turning[:, [2, 0, 1], [1, 2, 0]] == pytest.approx(own[:, :3], abs=1e-8)
    moving = np.einsum("nji,nj->ni", now.R, after.p - before.p) / (2 * e)
    assert moving == pytest.approx(own[:, 3:], abs=1e-8)


def written_out(joint, sympy, frames):
    """Transform of a joint with free translations and rotations of its own frame."""
    kind = frames.joint_type

    def transform(q):
        E = sympy.eye(4)
        for k, column in enumerate(kind.translations):
            step = sympy.eye(4)
            step[column, 3] = q[k]
            E = E * step
        for k, column in enumerate(kind.rotations, len(kind.translations)):
            c, s = sympy.cos(q[k]), sympy.sin(q[k])
            i, j = (column + 1) % 3, (column + 2) % 3
            step = sympy.eye(4)
            step[i, i] = step[j, j] = c
            step[i, j], step[j, i] = -s, s
            E = E * step
        return fixed(sympy, frames.frame_a, frames.anchor_a) * E * inverse(sympy, frames)

    return transform


def fixed(sympy, R, p):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, p
    return sympy.Matrix(pose)


def inverse(sympy, frames):
    return fixed(sympy, frames.frame_b.T, -frames.frame_b.T @ frames.anchor_b)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "planar", "universal"])
def test_joints_derived_from_their_transform_are_the_standard_ones(kind):
    sympy = pytest.importorskip("sympy")
    mech, tree = plain_tree(4, (kind,))
    frames = [joint_frames(mech, joint) for joint in mech.tree_joints]
    joints = [
        GeneralJoint(written_out(joint, sympy, each), joint.dofs)
        for joint, each in zip(mech.tree_joints, frames, strict=True)
    ]
    inertias = [body_inertia(body) for body in mech.bodies.values()]
    general = general_tree([each.a - 1 for each in frames], joints, inertias, mech.gravity)
    q, rates, tau = state(tree)
    expected = tree.accelerations(q, rates, tau)
    assert general.accelerations(q, rates, tau) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_any_transform_is_a_joint():
    """A ball that rolls on a ball, by two angles and a spin, gains no energy."""
    sympy = pytest.importorskip("sympy")

    def on_sphere(q):
        a, b, spin = q
        ways = [(2, a), (1, b), (2, spin)]
        E = sympy.eye(4)
        for column, angle in ways:
            i, j = (column + 1) % 3, (column + 2) % 3
            step = sympy.eye(4)
            step[i, i] = step[j, j] = sympy.cos(angle)
            step[i, j], step[j, i] = -sympy.sin(angle), sympy.sin(angle)
            E = E * step
            if column == 1:
                out = sympy.eye(4)
                out[2, 3] = 2 + sympy.cos(a) / 4
                E = E * out
        return E

    joint = GeneralJoint(on_sphere, 3)
    inertia = np.diag([0.2, 0.3, 0.4, 1.0, 1.0, 1.0])
    tree = general_tree([-1, 0], [joint, joint], [inertia, inertia], (0.0, 0.0, -9.81))
    q, rates = np.array([0.3, 0.8, 0.1, -0.4, 1.1, 0.2]), np.full(6, 0.5)
    start, h = sum(tree.energy(q, rates)), 1e-3
    for _ in range(100):  # the midpoint rule by two fixed-point iterations: errors of h^2
        middle = q, rates
        for _ in range(2):
            middle = q + h / 2 * middle[1], rates + h / 2 * tree.accelerations(*middle)
        q, rates = q + h * middle[1], rates + h * tree.accelerations(*middle)
    assert sum(tree.energy(q, rates)) == pytest.approx(start, abs=1e-4)


def test_gradients_of_the_lagrangian():
    mech, tree = plain_tree(5, ("revolute", "universal", "prismatic", "planar", "cylindrical"))
    q, rates, _ = state(tree)

    def lagrangian(q, rates):
        kinetic, potential = tree.energy(q, rates)
        return kinetic - potential

    joints = tree.joints(q, rates)
    found = recursion.lagrangian_gradient(tree.links, joints, rates, tree.gravity)
    e = 1e-5  # differences are exact to 1e-10 of values up to a hundred
    for k, unit in enumerate(e * np.eye(tree.dofs)):
        by_q = (lagrangian(q + unit, rates) - lagrangian(q - unit, rates)) / (2 * e)
        by_rates = (lagrangian(q, rates + unit) - lagrangian(q, rates - unit)) / (2 * e)
        assert found[0][k] == pytest.approx(by_q, abs=1e-7)
        assert found[1][k] == pytest.approx(by_rates, abs=1e-7)
