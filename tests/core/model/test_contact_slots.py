"""Contacts of one environment lie in slots, in the lanes of their bodies where that pays; in a batch they do not.

So whatever touches the ground, a single environment moves bit for bit as one of a batch.
"""

from __future__ import annotations

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.core.compiler.simd import LANES
from vigym.core.model.contact_slots import place_contacts
from vigym.core.tables.plan import (
    ALIGNED,
    BALL_CONTACT,
    CONTACT_PLAN,
    IN_BLOCK,
    LONE,
    RIM_CONTACT,
    SKATE,
)
from vigym.mechanism.elements.shapes import Capsule, Cylinder, Sphere

LINKS = 7
SIZE = 0.1  # half length of a link [m]


def rows_of(bodies, kinds=None):
    rows = CONTACT_PLAN.rows(len(bodies))
    rows["body"] = bodies
    rows["kind"] = BALL_CONTACT if kinds is None else kinds
    return rows


def random_rows(seed):
    draw = np.random.default_rng(seed)
    bodies = np.sort(draw.integers(1, draw.integers(2, 40), draw.integers(1, 60)))
    if seed % 2:
        draw.shuffle(bodies)
    kinds = np.where(draw.random(len(bodies)) < 0.1 * (seed % 3), RIM_CONTACT, BALL_CONTACT)
    return rows_of(bodies, kinds)


@pytest.mark.parametrize("seed", range(30))
def test_every_contact_has_a_slot_of_its_own(seed):
    rows = random_rows(seed)
    placed = place_contacts(rows, False)
    assert len(set(placed.slots.tolist())) == len(rows)
    np.testing.assert_array_equal(placed.contacts[placed.slots], np.arange(len(rows)))
    np.testing.assert_array_equal(placed.bodies[placed.slots], rows["body"])
    assert not placed.empty[placed.slots].any()
    assert placed.empty.sum() == len(placed.empty) - len(rows)
    in_blocks = placed.slots < placed.block_count * LANES
    np.testing.assert_array_equal(placed.membership != LONE, in_blocks)


@pytest.mark.parametrize("seed", range(30))
def test_aligned_contacts_lie_in_the_lanes_of_their_bodies(seed):
    rows = random_rows(seed)
    placed = place_contacts(rows, False)
    aligned = placed.membership == ALIGNED
    np.testing.assert_array_equal(placed.slots[aligned] % LANES, rows["body"][aligned] % LANES)
    for block in range(placed.block_count if aligned.any() else 0):
        of_block = slice(block * LANES, (block + 1) * LANES)
        first = placed.bodies[of_block][0]
        np.testing.assert_array_equal(placed.bodies[of_block], first + np.arange(LANES))
        assert first % LANES == 0
        assert not placed.empty[of_block].all()


@pytest.mark.parametrize("seed", range(30))
def test_forces_on_a_body_are_added_up_in_the_order_of_its_contacts(seed):
    rows = random_rows(seed)
    placed = place_contacts(rows, False)
    for body in np.unique(rows["body"]):
        own = np.flatnonzero(rows["body"] == body)
        lone = placed.membership[own] == LONE
        assert (np.diff(lone.astype(int)) >= 0).all()
        assert (np.diff(placed.slots[own[~lone]]) > 0).all()


def test_few_contacts_and_others_than_balls_are_not_aligned():
    assert (place_contacts(rows_of([1, 2]), False).membership == LONE).all()
    assert (place_contacts(rows_of([1, 2, 3], SKATE), False).membership == LONE).all()
    assert (place_contacts(rows_of([1, 2, 3], RIM_CONTACT), False).membership == IN_BLOCK).all()
    assert (place_contacts(rows_of([1] * 8), False).membership == IN_BLOCK).all()
    assert (place_contacts(rows_of([1, 2, 3]), False).membership == ALIGNED).all()
    assert (place_contacts(rows_of([1, 2, 3]), True).membership == LONE).all()


def link(mech, i, shapes, torsion):
    """Add a link that lies on the ground, a little above it, and what touches with."""
    place = (2.0 * SIZE * i, 0.0, 0.05)
    mech.add_body(f"link{i}", 1.0, (2e-3, 4e-3, 4e-3), position=place)
    for k in range(shapes):
        at = (SIZE * (2.0 * k / max(shapes - 1, 1) - 1.0), 0.0, 0.0)
        mech.add_contact(f"ball{i}_{k}", f"link{i}", at, radius=0.05, friction=0.6, torsion=torsion)
    if i > 0:
        pin = (2.0 * SIZE * i - SIZE, 0.0, 0.05)
        name = f"joint{i}"
        axis = (0.0, 1.0, 0.0) if i % 2 else (0.0, 0.0, 1.0)
        mech.add_joint(
            name, "revolute", f"link{i - 1}", f"link{i}", pin, axis, limits=(-1.0, 1.0), effort=2.0
        )
        mech.add_motor(name, kp=20.0, kd=0.5)


def snake(shapes, torsion=0.0):
    """Make a snake whose links have these numbers of balls each."""
    mech = Mechanism(ground=True)
    for i, count in enumerate(shapes):
        link(mech, i, count, torsion)
    return mech


def with_cylinder():
    mech = snake([1, 2, 1, 1, 2, 1, 1])
    mech.add_collision("wheel", "link3", Cylinder(radius=0.05, length=0.02))
    mech.add_contact("last", "link3", (0.0, 0.0, 0.0), radius=0.05)
    return mech


def with_pairs():
    mech = snake([1] * LINKS)
    mech.add_collision("hull0", "link0", Sphere(0.05))
    mech.add_collision("hull4", "link4", Capsule(radius=0.05, length=SIZE))
    mech.add_pair("link0", "link4")
    return mech


def with_skates():
    mech = snake([1] * LINKS)
    mech.add_skate("skate", "link2", (0.0, 0.0, -0.05), (1.0, 0.0, 0.0))
    return mech


SNAKES = {
    "one each": lambda: snake([1] * LINKS),
    "two each": lambda: snake([2] * 9),
    "uneven": lambda: snake([3, 1, 2, 1, 0, 1, 2]),
    "torsion": lambda: snake([1] * LINKS, torsion=0.02),
    "all on one": lambda: snake([8, 0, 0]),
    "cylinder": with_cylinder,
    "pairs": with_pairs,
    "skates": with_skates,
}


@pytest.mark.parametrize("solver", ["newton", "interior_point"])
@pytest.mark.parametrize("name", SNAKES)
def test_a_single_environment_moves_as_one_of_a_batch(name, solver):
    mech, count = SNAKES[name](), 3
    batch = Simulator(mech, timestep=0.005, batch=count, contact_solver=solver)
    singles = [Simulator(mech, timestep=0.005, contact_solver=solver) for _ in range(count)]
    batch.reset()
    for single in singles:
        single.reset()
    draw = np.random.default_rng(5)
    for _ in range(15):
        targets = draw.uniform(-1.0, 1.0, (count, len(mech.motors)))
        batch.step(targets=targets, substeps=4)
        for single, own in zip(singles, targets, strict=True):
            single.step(targets=own, substeps=4)
        assert batch.readings.status.converged.all()
        for e, single in enumerate(singles):
            np.testing.assert_array_equal(batch.state[e], single.state)
            np.testing.assert_array_equal(batch.readings.scalars[e], single.readings.scalars[0])


@pytest.mark.parametrize("name", ["uneven", "cylinder", "pairs"])
def test_states_pass_between_a_single_environment_and_a_batch(name):
    mech = SNAKES[name]()
    single, batch = Simulator(mech, timestep=0.005), Simulator(mech, timestep=0.005, batch=2)
    single.reset()
    batch.reset()
    single.step(targets=np.full(len(mech.motors), 0.5), substeps=20)
    batch.set_state(np.stack([single.state] * 2))
    np.testing.assert_array_equal(batch.state[1], single.state)
    for _ in range(5):
        single.step()
        batch.step()
        np.testing.assert_array_equal(batch.state[1], single.state)
