"""Kernels leave out what a mechanism has not, loops and contacts; the rest does the same arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from scenes.trees import TYPES, random_positions, random_tree
from vigym import Mechanism, Simulator, load_urdf
from vigym.assets import path
from vigym.core.compiler.kernel import entry, phase
from vigym.core.compiler.rows import group_data
from vigym.core.tables.features import LOOPS, LOOPS_AND_CONTACTS, PLAIN_TREE
from vigym.simulation.compile.model import build_model
from vigym.simulation.state.batch import LaneGroups

STEPS = 40


def driven():
    """Every joint type, damped; a motor, a limit and dry friction of its own."""
    mech = random_tree(3, TYPES, damping=0.3)
    mech.add_body("arm", 1.0, (0.2, 0.3, 0.25), (0.5, 0, 0))
    mech.add_joint(
        "elbow", "revolute", "b1", "arm", (0, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), friction=0.2
    )
    mech.add_body("hand", 0.5, (0.2, 0.3, 0.25), (1, 0, 0))
    mech.add_joint("wrist", "revolute", "arm", "hand", (0.8, 0, 0), (0, 0, 1))
    mech.add_motor("wrist", kp=20.0, kd=1.0, effort=3.0)
    return mech


def everything(mech, features, **options):
    """State, status and readings of steps, with the kernels of these features."""
    sim = Simulator(mech, timestep=0.01, **options)
    sim._plant.groups.features = features
    sim.reset(None if mech.closing_joints else random_positions(5, mech, 0.1))
    rows = 1 if sim.batch is None else sim.batch
    given = np.random.default_rng(1).normal(size=(rows, len(mech.actuator_names)))
    status = sim.step(torques=given[0] if sim.batch is None else given, substeps=STEPS)
    return {
        "state": sim.state,
        **{f"status.{name}": value for name, value in status._asdict().items()},
        **{f"metrics.{name}": value for name, value in sim.metrics().items()},
        "positions": sim.joint_positions,
        "velocities": sim.joint_velocities,
    }


def chain():
    """A tree that ends in a chain of a hinge and a ball joint."""
    mech = random_tree(5, ["revolute", "revolute", "spherical", "universal"], to_world=False)
    for name, kind, parent in (("c", "revolute", "b3"), ("d", "spherical", "c")):
        mech.add_body(name, 0.7, (0.1, 0.2, 0.25), (0.3, 0.1, 0.4))
        mech.add_joint(f"to_{name}", kind, parent, name, (0.2, 0.0, 0.4), (0, 0, 1))
    return mech


def closed():
    """The same with a loop, which a spring closes once more."""
    mech = driven()
    mech.add_joint("closing", "spherical", "world", "hand", (1.2, 0.1, 0))
    mech.add_spring("spring", "world", "arm", (0, 0, 1), (0, 0, 0), stiffness=10.0, rest_length=0.5)
    return mech


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize(
    ("make", "features"),
    [(driven, PLAIN_TREE), (chain, PLAIN_TREE), (driven, LOOPS), (closed, LOOPS)],
)
def test_they_do_what_the_full_ones_do(make, features, batch):
    own, full = (everything(make(), each, batch=batch) for each in (features, LOOPS_AND_CONTACTS))
    assert np.all(own["status.converged"])
    for name, value in own.items():
        np.testing.assert_array_equal(value, full[name], err_msg=name)


def hanging(closed=False, contact=False, spring=False):
    """Two rods on hinges, with what makes more than a plain tree of them."""
    mech = Mechanism(ground=True)
    for name, parent, x in (("a", "world", 0.0), ("b", "a", 1.0)):
        mech.add_body(name, 1.0, (0.01, 0.1, 0.1), (x + 0.5, 0, 2))
        mech.add_joint(f"to_{name}", "revolute", parent, name, (x, 0, 2), (0, 1, 0))
    if closed:
        mech.add_joint("closing", "revolute", "world", "b", (2, 0, 2), (0, 1, 0))
    if contact:
        mech.add_contact("tip", "b", (0.5, 0, 0))
    if spring:
        mech.add_spring(
            "spring", "world", "b", (0, 0, 0), (0, 0, 0), stiffness=10.0, rest_length=1.0
        )
    return mech


@pytest.mark.parametrize(
    ("has", "features"),
    [
        ({}, PLAIN_TREE),
        ({"closed": True}, LOOPS),
        ({"spring": True}, LOOPS),
        ({"contact": True}, LOOPS_AND_CONTACTS),
        ({"closed": True, "contact": True}, LOOPS_AND_CONTACTS),
    ],
)
@pytest.mark.parametrize("batch", [None, 9])
def test_who_gets_them(has, features, batch):
    assert LaneGroups(build_model(hanging(**has)), batch, 1, False, False).features is features


def test_robots_get_the_full_ones():
    assert (
        Simulator(load_urdf(path("minitaur"), base="floating", ground=True))._plant.groups.features
        is LOOPS_AND_CONTACTS
    )


@phase(needs="contacts")
def needs_contacts(d):
    """Read an attribute that no data has."""
    return d.nothing_of_the_kind


@phase
def reaches_for_more(d):
    """Call a phase that plain trees do without, also where a count forbids it."""
    needs_contacts(d)
    for _ in range(d.contact_count):
        needs_contacts(d)
    return d.contact_count + d.loop_row_count + d.loop_count


@entry
def reaching(plan, model, state, work, features):
    return reaches_for_more(group_data(plan, model, state, work, 0, 0, 0, features, None))


def test_phases_that_a_plain_tree_does_without_are_not_even_compiled():
    groups = LaneGroups(build_model(hanging()), None, 1, False, False)
    assert reaching(*groups.tables, PLAIN_TREE.token) == 0
    with pytest.raises(TypingError, match="nothing_of_the_kind"):
        reaching(*groups.tables, LOOPS_AND_CONTACTS.token)
