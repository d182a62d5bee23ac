"""Contacts of two bodies in batches, copies and saved states, in loops and trees, and what the builder says of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scenes import pair_scenes as scenes
from scenes.pair_scenes import started, stepped
from vigym import Ground, Mechanism, Simulator
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder

FALLING = {
    "ball": lambda: scenes.laid("ball", height=0.02),
    "rod": lambda: scenes.laid("rod", height=0.02),
    "three balls": lambda: scenes.three_balls(0.02),
    "four-bar": scenes.struck_four_bar,
    "coil": lambda: scenes.coil(4),
}


def starts(mech, count):
    """Rates of what floats (count, n_velocities)."""
    rates = np.zeros((count, len(mech.velocity_names)))
    free = [i for i, name in enumerate(mech.velocity_names) if ":floating" in name]
    rates[:, free] = 0.2 * np.random.default_rng(0).normal(size=(count, len(free)))
    return rates


def targets_of(mech):
    return {"targets": np.full(len(mech.motor_names), 1.9)} if mech.motor_names else {}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("name", FALLING)
def test_every_environment_moves_as_it_would_alone(name, count):
    mech = FALLING[name]()
    rates, aim = starts(mech, count), targets_of(mech)
    batch = Simulator(mech, batch=count)
    batch.reset(velocities=rates)
    for _ in range(40):
        assert np.all(batch.step(**{k: np.tile(v, (count, 1)) for k, v in aim.items()}).converged)
    assert batch.contacts.force.any()
    for e in range(count):
        single = started(mech, rates=rates[e])
        for _ in range(40):
            assert single.step(**aim).converged
        np.testing.assert_array_equal(batch.state[e], single.state, err_msg=f"environment {e}")
        for here, there in zip(batch.contacts, single.contacts, strict=True):
            np.testing.assert_array_equal(here[e], there)


@pytest.mark.parametrize("way", ["state", "pickle", "deepcopy"])
@pytest.mark.parametrize("name", FALLING)
def test_a_copy_continues_bit_for_bit(name, way):
    mech = FALLING[name]()
    sim, aim = started(mech, rates=starts(mech, 1)[0]), targets_of(mech)
    for _ in range(20):
        sim.step(**aim)
    if way == "state":
        other = Simulator(mech)
        other.state = sim.state
    else:
        other = pickle.loads(pickle.dumps(sim)) if way == "pickle" else copy.deepcopy(sim)
    for here, there in zip(sim.contacts, other.contacts, strict=True):
        np.testing.assert_array_equal(here, there)
    for each in (sim, other):
        for _ in range(20):
            each.step(**aim)
    np.testing.assert_array_equal(sim.state, other.state)
    assert sim.metrics() == other.metrics()


@pytest.mark.parametrize("name", FALLING)
def test_both_orders_of_elimination_agree(name):
    mech, found = FALLING[name](), []
    for loops in ("tail", "local"):
        sim = Simulator(mech, loops=loops)
        sim.reset(velocities=starts(mech, 1)[0])
        for _ in range(40):
            assert sim.step(**targets_of(mech)).converged
        found.append(sim.body_states[:, :7])
    np.testing.assert_allclose(found[0], found[1], atol=1e-7)


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_coupler_of_a_four_bar_strikes_a_ball(h):
    """The loop stays closed through the impact, and the ball flies off with what the linkage loses."""
    sim = started(scenes.struck_four_bar(), h)
    struck = False
    for _ in stepped(sim, round(1.0 / h)):
        struck |= sim.contacts.force.any()
        assert sim.metrics()["constraint_residual_max"] <= 1e-8
    assert struck
    assert abs(sim.metrics()["energy_balance"]) <= 0.2 * (h / 0.02) ** 2


def test_pair_that_is_held_by_a_joint_may_touch_too():
    """Two rods on one hinge fold until their ends meet: centres 0.1 m from it, as far apart as they are thick."""
    mech, rod = scenes.space(), Capsule(radius=0.05, length=0.3)
    scenes.add(mech, "a", rod, (0.25, 0, 0), scenes.LYING)
    scenes.add(mech, "b", rod, (-0.25, 0, 0), scenes.LYING)
    mech.add_joint("hinge", "revolute", "a", "b", (0.0, 0, 0), (0, 0, 1), effort=5.0)
    mech.add_pair("a", "b")
    sim = started(mech)
    assert sim.contacts.gap.min() == pytest.approx(0.5 - 0.3 - 0.1, abs=1e-9)
    for _ in stepped(sim, 200, torques=(1.0,)):
        pass
    assert sim.joint_positions[-1] == pytest.approx(2.0 * np.pi / 3.0, abs=1e-6)


def test_gap_changes_as_the_points_move():
    """The gap against the normal, of small displacements of both bodies, for every pair of shapes."""
    eps = 1e-6
    for seed, kinds in enumerate(scenes.MEETS):
        mech, _ = scenes.meeting(kinds, seed + 3)
        sim = Simulator(mech)
        sim.reset()
        base, contacts = sim.joint_positions.copy(), sim.contacts
        for i in (0, 1, 2, 7, 8, 9):
            ends = []
            for sign in (1.0, -1.0):
                moved = base.copy()
                moved[i] += sign * eps
                sim.reset(moved)
                ends.append(sim.contacts.gap)
            sign = 1.0 if (i < 7) == mech.contact_names[0].startswith("a/") else -1.0
            slope = (ends[0][0] - ends[1][0]) / (2.0 * eps)
            assert slope == pytest.approx(sign * contacts.normal[0][i % 7], abs=1e-4)


def test_without_a_ground_pairs_alone_touch():
    mech = scenes.space()
    scenes.add(mech, "a", scenes.BALL, (0, 0, 0))
    scenes.add(mech, "b", scenes.ROD, (1.0, 0, 0))
    assert mech.contact_names == []
    mech.add_pair("b", "a")
    assert mech.contact_names == ["a/b"]
    assert len(Simulator(mech).contacts.gap) == 1


def test_names_of_contacts():
    mech = Mechanism(ground=Ground())
    scenes.add(mech, "rod", scenes.ROD, (0, 0, 1.0))
    scenes.add(mech, "brick", scenes.BRICK, (0, 0, 2.0))
    mech.add_pair("brick", "rod")
    assert mech.contact_names[:2] == ["rod:0", "rod:1"]
    assert mech.contact_names[-3:] == ["rod/brick:0", "rod/brick:1", "rod/brick:2"]
    assert mech.ground_contact_names == mech.contact_names[:-3]


def test_what_cannot_touch_is_refused():
    mech = scenes.space()
    for name in ("a", "b", "c"):
        scenes.add(mech, name, scenes.BRICK, (0, 0, 0))
    scenes.add(mech, "d", scenes.BALL, (0, 0, 0))
    scenes.add(mech, "can", Cylinder(radius=0.1, length=0.2), (0, 0, 0))
    with pytest.raises(MechanismError, match="can.*found a cylinder"):
        mech.add_pair("can", "d")
    with pytest.raises(
        MechanismError,
        match=r"pair 'a', 'b': found two boxes, 'a' and 'b'.*expected a sphere or caps",
    ):
        mech.add_pair("a", "b")
    mech.add_pair("a", "d")
    with pytest.raises(
        MechanismError,
        match="collision 'extra': found a box, and its body paired with one that has a",
    ):
        mech.add_collision("extra", "d", Box(size=(0.1, 0.1, 0.1)))
    assert mech.pairs == (("a", "d"),)


def test_start_in_each_other_is_pushed_out_slowly():
    """A micrometre a step at most, never deeper, without energy; the whole depth is told."""
    mech = scenes.space()
    scenes.add(mech, "a", scenes.BALL, (0, 0, 0))
    scenes.add(mech, "b", scenes.BALL, (0.19, 0, 0))
    mech.add_pair("a", "b")
    sim = started(mech)
    last = sim.contacts.gap[0]
    assert last == pytest.approx(-0.01, abs=1e-12)
    for _ in range(50):
        assert sim.step().converged
        now = sim.contacts.gap[0]
        assert -1e-9 <= now - last <= 1.01e-6
        last = now
    assert sim.energy().kinetic <= 1e-8


def test_order_four_is_refused():
    with pytest.raises(ValueError, match="order"):
        Simulator(scenes.row(2), order=4)
