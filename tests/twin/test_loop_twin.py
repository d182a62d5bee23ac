"""The compiled stepper with loops and springs against the slow twin: every closing joint, both eliminations."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive import Twin
from oracle.naive_joints import matrix
from scenes.agreement import assert_same_knot, run_together
from scenes.closing import closed_state
from scenes.loops import BUILDERS, CLOSING
from scenes.loops_plane import crank_and_rockers
from scenes.loops_space import closed_by, random_loops
from scenes.squeezer import squeezer
from scenes.trees import TYPES, by_joint
from vigym import Simulator

PLANS = ("tail", "local")


def trio(mech, seed=0, h=0.01, order=2, speed=0.5):
    """Simulators of both plans and the twin in one random assembled state, and which freedoms are actuated."""
    positions, rates = closed_state(mech, seed, speed=speed)
    sims = [
        Simulator(mech, timestep=h, order=order, tolerance=1e-13, loops=loops) for loops in PLANS
    ]
    for sim in sims:
        sim.reset(positions, by_joint(mech, rates))
    twin = Twin(mech, h, order)
    assert twin.reset(positions, rates)
    return sims, twin, np.isin(mech.velocity_names, mech.actuator_names)


@pytest.mark.parametrize("kind", CLOSING)
def test_each_joint_type_closes(kind):
    run_together(*trio(closed_by(kind, damping=0.3)), steps=20)


@pytest.mark.parametrize("kind", [kind for kind in CLOSING if kind != "fixed"])
def test_each_joint_type_is_driven_where_it_closes(kind):
    run_together(*trio(closed_by(kind, damping=0.3, drive={"effort": np.inf})), steps=20)


@pytest.mark.parametrize("name", BUILDERS)
def test_mechanisms_people_build(name):
    run_together(*trio(BUILDERS[name]()), steps=10, strength=0.3)


@pytest.mark.parametrize("name", BUILDERS)
def test_freedoms_and_dependent_rows_are_counted(name):
    mech = BUILDERS[name]()
    twin = Twin(mech)
    assert twin.reset(*closed_state(mech, 1))
    rows = twin.rows()[0]
    rank = np.linalg.matrix_rank(rows, tol=1e-8)
    assert mech.degrees_of_freedom == 6 * twin.n - rank
    assert mech.redundant_constraints == len(rows) - rank


def test_squeezer_with_its_stiff_spring():
    run_together(*trio(squeezer(), h=5e-4), steps=20, strength=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_with_random_closures(seed):
    rng = np.random.default_rng(seed)
    closings = rng.choice(["revolute", "spherical", "universal", "cylindrical", "planar"], 2)
    mech = random_loops(seed, rng.permutation(TYPES), closings, damping=0.3, to_world=seed != 1)
    run_together(*trio(mech, seed), steps=20)


@pytest.mark.parametrize("kind", ["revolute", "planar"])
def test_fourth_order(kind):
    run_together(*trio(closed_by(kind), order=4), steps=10)


def test_without_springs_dampers_or_armature():
    mech = random_loops(
        5, ["spherical", "universal", "spherical"], ["revolute"], springs=0, armature=False
    )
    run_together(*trio(mech), steps=20)


def wrenches(twin, share):
    """What every joint exerts on its child at its anchor (joints, 6), world axes, from the twin's multipliers."""
    found, start = [], 0
    for joint in twin.joints:
        rows = joint.rows(twin.kept_x, twin.kept_q)[0]
        force = share * twin.lam[start : start + len(rows)] @ rows[:, 6:]
        turn = matrix(twin.kept_q[joint.b])
        found.append(np.append(force[:3], turn @ force[3:] - np.cross(turn @ joint.pb, force[:3])))
        start += len(rows)
    return np.array(found)


@pytest.mark.parametrize(
    "name", ["four-bar", "tilted row", "five-bar", "Bricard's ring", "twice hinged", "balls"]
)
def test_joint_forces_are_the_least(name):
    """Where rows depend on each other, the multipliers of least norm; the twin finds them over all raw rows."""
    sims, twin, driven = trio(BUILDERS[name]())
    u = 0.2 * driven
    for _ in range(3):
        share = 2.0 / (1.0 + twin.h1 / twin.h)
        twin.kept_x, twin.kept_q = twin.x, twin.q
        twin.step(u)
        expected = wrenches(twin, share)
        for sim in sims:
            assert sim.step(u[driven]).converged
            np.testing.assert_allclose(
                sim.joint_forces(), expected, atol=1e-7 * max(1.0, np.abs(expected).max())
            )


@pytest.mark.parametrize("loops", PLANS)
@pytest.mark.parametrize("name", ["tilted row", "five-bar", "quadruped", "balls"])
def test_named_coordinates_are_held_and_the_others_follow(name, loops):
    """One named angle and rate; of the loops the rest moves as little as it must, in the metric of the bodies' mass."""
    mech = BUILDERS[name]()
    driven = mech.actuator_names[0]
    sim = Simulator(mech, loops=loops)
    sim.reset({driven: 0.1}, {driven: 0.7})
    assert sim.constraint_residual() <= 1e-12
    twin = Twin(mech)
    given = np.array([velocity == driven for velocity in mech.velocity_names[: twin.n_tree]])
    base = np.array([":floating" in velocity for velocity in mech.velocity_names[: twin.n_tree]])
    assert twin.reset(tree_positions(sim), np.where(given, 0.7, 0.0), given | base)
    assert twin.angles[driven] == pytest.approx(0.1, abs=1e-14)
    assert_same_knot(sim, twin)


def tree_positions(sim):
    """Coordinates of the tree joints of a simulator by joint name."""
    positions = {}
    start = 0
    values = sim.joint_positions
    for joint in sim.mechanism.tree_joints:
        count = len(joint.joint_type.positions)
        positions[joint.name] = values[start : start + count]
        start += count
    return positions


def test_newton_takes_the_root_next_to_the_last_velocities():
    """Past a dead point, where rates turn within two steps: a guess extrapolated through it leads to other roots."""
    mech = crank_and_rockers(3)
    # at 0.01 s this turn is so abrupt that the step is halved
    sim, twin = Simulator(mech, timestep=0.005), Twin(mech, timestep=0.005)
    sim.reset({"ground0": 4.849034950145967}, {"ground0": 8.245000075917998})
    assert twin.reset(tree_positions(sim), sim.joint_velocities[: twin.n_tree])
    for _ in range(20):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
        twin.step()
        np.testing.assert_allclose(sim.joint_velocities, twin.knot_velocities()[1], atol=1e-5)
