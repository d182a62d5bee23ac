"""Kernels of plain trees leave out what such trees have not; what is left does the same arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from scenes.trees import TYPES, random_positions, random_tree
from vigym import Mechanism, Simulator, load_urdf
from vigym.assets import path
from vigym.core import tables as T
from vigym.core.gathered import Whole
from vigym.core.groups import FULL, PLAIN, group
from vigym.core.jit import phase
from vigym.core.tables import CONTACTS, LINKS, LOOP_ROWS
from vigym.simulation.compile.model import build_model
from vigym.simulation.state.batch import LaneGroups

STEPS = 40


def driven():
    """Every joint type, damped; a motor, a limit and dry friction of its own."""
    mech = random_tree(3, TYPES, damping=0.3)
    mech.add_body("arm", 1.0, (0.2, 0.3, 0.25), (0.5, 0, 0))
    mech.add_joint("elbow", "revolute", "b1", "arm", (0, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), friction=0.2)
    mech.add_body("hand", 0.5, (0.2, 0.3, 0.25), (1, 0, 0))
    mech.add_joint("wrist", "revolute", "arm", "hand", (0.8, 0, 0), (0, 0, 1))
    mech.add_motor("wrist", kp=20.0, kd=1.0, effort=3.0)
    return mech


def everything(mech, extent, **options):
    """State, status and readings of steps, with the kernels of this extent."""
    sim = Simulator(mech, timestep=0.01, **options)
    sim._plant.groups.extent = extent
    sim.reset(random_positions(5, mech, 0.1))
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


@pytest.mark.parametrize("batch", [None, 3])
def test_they_do_what_the_full_ones_do(batch):
    mech = driven()
    plain, full = (everything(mech, extent, batch=batch) for extent in (PLAIN, FULL))
    assert np.all(plain["status.converged"])
    for name, value in plain.items():
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
        mech.add_spring("spring", "world", "b", (0, 0, 0), (0, 0, 0), stiffness=10.0, rest_length=1.0)
    return mech


@pytest.mark.parametrize(
    ("has", "extent"),
    [({}, PLAIN), ({"closed": True}, FULL), ({"contact": True}, FULL), ({"spring": True}, FULL)],
)
@pytest.mark.parametrize("batch", [None, 9])
def test_who_gets_them(has, extent, batch):
    assert LaneGroups(build_model(hanging(**has)), batch, 1, False, False).extent is extent


def test_robots_get_the_full_ones():
    assert Simulator(load_urdf(path("minitaur"), base="floating", ground=True))._plant.groups.extent is FULL


@phase
def reaches_for_more(t):
    """Asks in all the ways that kernels ask, for what no tables have."""
    if t.plan[CONTACTS] > 0 or t.plan[LOOP_ROWS] + t.plan[LINKS] > 0:
        return t.nothing_of_the_kind
    for _ in range(t.plan[CONTACTS]):
        return t.nothing_of_the_kind
    return t.m


@njit(error_model="numpy", pipeline_class=Whole)
def reaching(plan, model, state, work, extent):
    return reaches_for_more(group(plan, model, state, work, 0, 0, 0, extent))


def test_what_is_left_out_is_not_even_compiled():
    groups = LaneGroups(build_model(hanging()), None, 1, False, False)
    assert reaching(*groups.tables, PLAIN) == groups.plan[T.MODEL_BODIES]
    with pytest.raises(TypingError, match="nothing_of_the_kind"):
        reaching(*groups.tables, FULL)
