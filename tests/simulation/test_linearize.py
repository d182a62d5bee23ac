"""Linearised steps: against central differences of the step, with loops and couplings, and where they are refused."""

from __future__ import annotations

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.closing import closed_state
from scenes.deviations import FOLLOWS, PAIRS, SIZE, Neighbours, differenced
from scenes.linkages import ladder
from scenes.loops import BUILDERS, CLOSING
from scenes.loops_plane import five_bar
from scenes.loops_space import closed_by, hanging_rope, minitaur
from scenes.moving import whip
from scenes.sprung import AXES, sprung_chain, sprung_rates
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator
from vigym.simulation.linearization.derivative import LinearStep

MOVING = [kind for kind in TYPES if kind != "fixed"]


def started(mech, seed=0, h=0.01, order=2):
    """A simulator of a tree in a random state, and random torques."""
    sim = Simulator(mech, timestep=h, order=order, tolerance=1e-13)
    sim.reset(random_positions(seed, mech), by_joint(mech, random_rates(seed, mech)))
    return sim, np.random.default_rng(seed).normal(size=len(mech.actuator_names))


def assert_close(found, expected, relative):
    assert np.abs(found - expected).max(initial=0.0) <= relative * max(
        1.0, np.abs(expected).max(initial=0.0)
    )


@pytest.mark.parametrize("kind", MOVING)
def test_each_joint_type_against_differences(kind):
    sim, u = started(random_tree(1, [kind], damping=0.3), 1)
    A, B = sim.linearize(u)
    A_, B_ = differenced(sim, u)
    assert_close(A, A_, 1e-8)
    assert_close(B, B_, 1e-10)


@pytest.mark.parametrize(
    "options", [{"damping": 0.5}, {"damping": 0.5, "to_world": False}, {}], ids=str
)
def test_trees_against_differences(options):
    sim, u = started(random_tree(3, TYPES, **options), 3, order=2 if options else 4)
    A, B = sim.linearize(u)
    A_, B_ = differenced(sim, u)
    assert_close(A, A_, 1e-7)
    assert_close(B, B_, 1e-10)


def assert_follows_neighbours(sim, substeps=1, size=SIZE):
    """A x + B u is what the next steps make of deviations that closed loops allow, in the middle of a motion."""
    rng, mech = np.random.default_rng(0), sim.mechanism
    torques = rng.normal(size=(4, len(mech.actuator_names)))
    n = len(mech.velocity_names)
    pairs = [
        Neighbours(sim, *(size * rng.normal(size=m) for m in (n, torques.shape[1])))
        for _ in range(PAIRS)
    ]
    for u in torques[:-1]:
        assert sim.step(u).converged
        for pair in pairs:
            pair.step(u)
    A, B = sim.linearize(torques[-1], substeps)
    for pair in pairs:
        pair.share_slow_rates(sim)  # these are held: a part of the state that A does not have
        before = pair.deviation()
        pair.step(torques[-1], substeps)
        after = pair.deviation()
        assert_close((A @ before + B @ pair.torques) / size, after / size, FOLLOWS)
        assert np.abs(after - before).max() > 1e-4 * np.abs(before).max()


def closed(mech, order=2):
    positions, rates = closed_state(mech, 0)
    sim = Simulator(mech, timestep=0.01, order=order, tolerance=1e-13)
    sim.reset(positions, by_joint(mech, rates))
    return sim


@pytest.mark.parametrize("kind", CLOSING)
def test_each_closing_joint(kind):
    assert_follows_neighbours(closed(closed_by(kind, damping=0.3)))


@pytest.mark.parametrize("name", BUILDERS)
def test_loops(name):
    assert_follows_neighbours(closed(BUILDERS[name]()))


def test_damped_tree_in_the_middle_of_a_motion():
    assert_follows_neighbours(started(random_tree(5, TYPES, damping=2.0))[0])


@pytest.mark.parametrize(("order", "substeps"), [(2, 1), (2, 3), (4, 1)])
@pytest.mark.parametrize("kind", [*AXES, "spherical", "points"])
def test_springs_that_no_step_resolves(kind, order, substeps):
    """Their vibrations are damped, by more than the joints' own dampers."""
    mech = sprung_chain(kind, 0, 3e3)
    sim = Simulator(mech, timestep=0.01, order=order, tolerance=1e-13)
    sim.reset(velocities={name: 0.2 * rate for name, rate in sprung_rates(mech, 0).items()})
    assert_follows_neighbours(sim, substeps)


def test_several_steps_and_fourth_order():
    assert_follows_neighbours(closed(hanging_rope()), substeps=4)
    assert_follows_neighbours(closed(BUILDERS["four-bar"](), order=4))


def test_couplings_in_trees_and_loops():
    mech = scenes.double_pendulum()
    mech.add_coupling("gear", "gear", "elbow", "shoulder", -0.7)
    pendulum = Simulator(mech, tolerance=1e-13)
    pendulum.reset({"shoulder": 1.0}, {"shoulder": 2.0})
    assert_follows_neighbours(pendulum)
    leg = five_bar()
    leg.add_coupling("alike", "gear", *leg.actuator_names, -1.0)
    assert leg.degrees_of_freedom == 1
    assert_follows_neighbours(Simulator(leg, tolerance=1e-13))


def test_a_mass_on_a_slide():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("cart", 2.0, (1.0, 1.0, 1.0))
    mech.add_joint("slide", "prismatic", "world", "cart", (0, 0, 0), axis=(1, 0, 0), effort=10.0)
    A, B = Simulator(mech, timestep=0.1).linearize([3.0], substeps=2)
    np.testing.assert_allclose(A, [[1.0, 0.2], [0.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose(B, [[0.01], [0.1]], atol=1e-14)


def test_deviations_that_loops_forbid_are_projected():
    sim = closed(ladder(2))
    A, _ = sim.linearize()
    n, tree = len(sim.mechanism.velocity_names), len(sim.mechanism.tree_joints)
    assert np.linalg.matrix_rank(A, tol=1e-8) == 2 * sim.mechanism.degrees_of_freedom
    assert not A[:, [*range(tree, n), *range(n + tree, 2 * n)]].any()


def test_batch_and_state():
    mech = minitaur()
    many, one = Simulator(mech, batch=3), Simulator(mech)
    rates = 0.1 * np.arange(3)
    many.reset(velocities={"front_hip0": rates})
    before = many.state
    A, B = many.linearize(np.tile(np.arange(8.0), (3, 1)) * [[0.0], [0.1], [0.2]])
    np.testing.assert_array_equal(many.state, before)
    for i, rate in enumerate(rates):
        one.reset(velocities={"front_hip0": rate})
        A_, B_ = one.linearize(0.1 * i * np.arange(8.0))
        assert_close(A[i], A_, 1e-9)
        assert_close(B[i], B_, 1e-9)


def pendulum(**options):
    mech = Mechanism(**options)
    mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 0.5))
    return mech


def limited():
    mech = pendulum()
    mech.add_joint(
        "pin", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0), limits=(0.0, 1.0), effort=1.0
    )
    return mech


def rubbing():
    mech = pendulum()
    mech.add_joint(
        "pin", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0), friction=1.0, effort=1.0
    )
    return mech


def driven():
    return scenes.dc_drive()


def skating():
    mech = pendulum()
    mech.add_skate("blade", "arm", (0, 0, 0), (0, 1, 0))
    return mech


@pytest.mark.parametrize(
    ("mech", "message"),
    [
        (limited, "joint 'pin' at its limit"),
        (rubbing, "joint 'pin' with friction"),
        (driven, "electric model of the motor of joint"),
        (skating, "skate 'blade'"),
        (scenes.box, "contact .* on the ground"),
    ],
)
def test_what_is_not_smooth_is_refused(mech, message):
    sim = Simulator(mech())
    sim.reset(place_on_ground=True)
    before = sim.state
    with pytest.raises(ValueError, match=message):
        sim.linearize()
    np.testing.assert_array_equal(sim.state, before)


def test_contacts_and_limits_that_do_not_act_do_not_matter():
    mech = pendulum(ground=True)
    mech.add_joint(
        "pin", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0), limits=(-1.0, 1.0), effort=1.0
    )
    free = pendulum()
    free.add_joint("pin", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0), effort=1.0)
    mech.add_contact("tip", "arm", (0, 0, 0.5))
    for found, expected in zip(
        Simulator(mech).linearize(), Simulator(free).linearize(), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_wrong_torques_and_poses():
    mech = pendulum()
    mech.add_joint("pin", "revolute", "world", "arm", (0, 0, 0), (0, 1, 0), effort=1.0)
    sim = Simulator(mech)
    with pytest.raises(ValueError, match=r"torques: found shape \(2,\), expected \(1,\)"):
        sim.linearize([1.0, 2.0])
    with pytest.raises(ValueError, match="beyond an effort"):
        sim.linearize([1.5])
    with pytest.raises(ValueError, match="substeps"):
        sim.linearize(substeps=0)
    with pytest.raises(ValueError, match="singular pose of the loops"):
        Simulator(ladder(1, up=(1.0, 0.0, 0.0))).linearize()


def test_steps_that_need_halves():
    sim = Simulator(whip(), timestep=0.03)
    with pytest.raises(RuntimeError, match="a step that"):
        sim.linearize(40.0 * (-1.0) ** np.arange(12))
    assert not sim.state[:3].any()  # time, and the sizes of steps: as before


def test_forces_that_no_formula_has_are_noticed():
    mech = scenes.pendulum(effort=1.0)
    sim, weighted = Simulator(mech), scenes.pendulum(effort=1.0)
    sim.reset({"pin": 1.0})
    weighted.add_spring("tie", "world", "arm", (0, 0, 1), (0, 0, -0.5), 50.0, 0.1)
    sim._linearizer._linear_steps = lambda: [
        LinearStep(weighted)
    ]  # the formulas of another mechanism
    with pytest.raises(ValueError, match="no torque, spring or damper gave"):
        sim.linearize()


def test_nothing_that_moves():
    mech = pendulum()
    mech.add_joint("weld", "fixed", "world", "arm", (0, 0, 0))
    A, B = Simulator(mech).linearize()
    assert (A.shape, B.shape) == ((0, 0), (0, 0))
