"""Constraint forces read from the stepper, against the twin's multipliers and against statics."""

import numpy as np
import pytest

from oracle.naive import Twin
from oracle.naive_joints import conj, rotate
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator


def net_wrenches(sim, before, positions, forces):
    """Force and moment about the centre of mass (n, 6), world axes, that all its joints exert on each body."""
    bodies = list(sim.mechanism.bodies)
    net = np.zeros((len(bodies), 6))
    for joint, (position, wrench) in zip(
        sim.mechanism.tree_joints, zip(before, forces, strict=True), strict=True
    ):
        for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if name != "world":
                i = bodies.index(name)
                arm = position - positions[i]
                net[i] += sign * np.concatenate(
                    [wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])]
                )
    return net


def anchors(sim, twin):
    """World anchor of each joint on its child, at the knot now."""
    names = list(sim.mechanism.bodies)
    assembled = {name: sim.mechanism.bodies[name] for name in names}
    found = []
    for joint in sim.mechanism.tree_joints:
        body, i = assembled[joint.child], names.index(joint.child)
        local = rotate(conj(body.orientation), joint.position - body.position)
        local = np.zeros(3) if joint.type == "floating" else local
        found.append(twin.x[i + 1] + rotate(twin.q[i + 1], local))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_constraint_forces_are_the_twins_multipliers(seed):
    mech = random_tree(seed, TYPES, damping=0.1)
    positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    sim, twin = Simulator(mech, tolerance=1e-13), Twin(mech, 0.01)
    sim.reset(positions, by_joint(mech, rates))
    twin.reset(positions, rates)
    driven = np.isin(mech.velocity_names, mech.actuator_names)
    u = np.random.default_rng(seed).uniform(-0.3, 0.3, driven.size) * driven
    for _ in range(5):
        before = anchors(sim, twin)
        kept, orientations = twin.x[1:].copy(), twin.q[1:].copy()
        share = 2.0 / (
            1.0 + twin.h1 / twin.h
        )  # the twin's multipliers are impulses over this step alone
        twin.step(u)
        assert sim.step(u[driven]).converged
        expected = share * (twin.lam @ twin.G).reshape(-1, 6)
        expected[:, 3:] = [
            rotate(q, moment) for q, moment in zip(orientations, expected[:, 3:], strict=True)
        ]
        found = net_wrenches(sim, before, kept, sim.joint_forces())
        np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("batch", [None, 3])
def test_a_hanging_chain_carries_its_weight(batch, order):
    mech = Mechanism()
    for i in range(3):
        mech.add_body(f"link{i}", 2.0, (0.1, 0.1, 0.1), position=(0, 0, -0.5 - i))
        parent = f"link{i - 1}" if i else "world"
        mech.add_joint(f"joint{i}", "revolute", parent, f"link{i}", (0, 0, -i), (0, 1, 0))
    sim = Simulator(mech, batch=batch, order=order)
    assert not np.any(sim.joint_forces())  # nothing has moved yet
    expected = np.zeros((3, 6))
    expected[:, 2] = [3 * 2.0 * 9.81, 2 * 2.0 * 9.81, 2.0 * 9.81]
    for _ in range(3):  # the first step too, which has only half a step behind its knot
        sim.step()
        np.testing.assert_allclose(
            sim.joint_forces(), np.broadcast_to(expected, sim.joint_forces().shape), atol=1e-9
        )
