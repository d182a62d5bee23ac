"""Runs: consecutive rows of one environment that are read and written together, in lanes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.core.compiler.kernel import entry
from vigym.core.compiler.packs import add_lanes, add_lanes_from_last, lanes_of_rows, run_of_rows
from vigym.core.compiler.rows import group_data
from vigym.core.compiler.simd import LANES
from vigym.core.model.layout import header_of, plan_rows
from vigym.core.tables.features import LOOPS_AND_CONTACTS, PLAIN_TREE
from vigym.core.tables.plan import BODY_PLAN, HEADER
from vigym.core.tables.work import BODY_WORK, DOF_WORK

CONTACTS = LOOPS_AND_CONTACTS.token
LINKS = 3 * LANES
LENGTH = 0.1  # of a link [m]


@entry
def scale_run(plan, model, state, work, first, end):
    """Double a field of a run of dofs, and sum what its bodies and their parents have."""
    d = group_data(plan, model, state, work, 0, 0, 0, CONTACTS, None)
    w = d.wide
    run = run_of_rows(first, end)
    body = w.body(run)
    dof = w.dof(body.first_dof)
    f = dof.forces
    dof.forces = (2.0 * f[0], 2.0 * f[1], 2.0 * f[2])
    own = lanes_of_rows(run, f[0])
    forward = add_lanes(0.0, body.torque[1], own)
    back = add_lanes_from_last(0.0, w.body(body.parent).force[2], own)
    return forward, back


@pytest.fixture(scope="module")
def chain():
    """Return a chain with more hinges than a block has lanes, and contacts."""
    mech = Mechanism(ground=True)
    for i in range(LINKS):
        place = (LENGTH * i, 0.0, 0.5)
        mech.add_body(f"link{i}", 1.0, (1e-3, 2e-3, 2e-3), position=place)
        mech.add_contact(f"ball{i}", f"link{i}", (0.0, 0.0, 0.0), radius=0.02)
        if i > 0:
            at = (LENGTH * (i - 0.5), 0.0, 0.5)
            mech.add_joint(f"hinge{i}", "revolute", f"link{i - 1}", f"link{i}", at, (0.0, 1.0, 0.0))
    return Simulator(mech, timestep=1e-3)._plant.groups


def numbers_of(work, start, table, name, count):
    """Return a view (blocks, width, LANES) of a field of the first ``count`` rows of a table."""
    blocks = -(-count // LANES)
    rows = work[start : start + blocks * table.width * LANES]
    return rows.reshape(blocks, table.width, LANES)[:, table.columns(name)]


RUNS = [*itertools.product(range(2, LANES + 4), (1, 2, LANES // 2 + 1, LANES))]


@pytest.mark.parametrize(("first", "count"), RUNS)
def test_a_run_is_read_and_written_wherever_it_begins(chain, first, count):
    header = header_of(chain.plan)
    bodies = int(header["body_count"])
    rows = plan_rows(chain.plan, BODY_PLAN, HEADER.width, bodies)[first : first + count]
    work = chain.work[0]
    work[:] = np.random.default_rng(first).normal(size=work.size)
    expected = work.copy()
    forces = numbers_of(
        expected, int(header["work_dofs"]), DOF_WORK, "forces", int(header["dof_count"])
    )
    for p in rows["first_dof"]:
        forces[p // LANES, :, p % LANES] *= 2.0
    torque = numbers_of(work, 0, BODY_WORK, "torque", bodies)
    force = numbers_of(work, 0, BODY_WORK, "force", bodies)
    forward = back = 0.0
    for i in range(first, first + count):
        forward += torque[i // LANES, 1, i % LANES]
    for i in rows["parent"][::-1]:
        back += force[i // LANES, 2, i % LANES]
    assert scale_run(*chain.tables, first, first + count) == (forward, back)
    np.testing.assert_array_equal(work, expected)


@pytest.mark.parametrize("batch", [None, 3])
def test_alike_motors_alone_ask_for_no_other_kernels(batch):
    mech = Mechanism()
    for i in range(5):
        parent = "world" if i == 0 else f"link{i - 1}"
        mech.add_body(f"link{i}", 1.0, (0.1, 0.1, 0.1), position=(i + 0.5, 0.0, 0.0))
        mech.add_joint(
            f"hinge{i}", "revolute", parent, f"link{i}", (i, 0.0, 0.0), (0.0, 1.0, 0.0), effort=1.0
        )
        mech.add_motor(f"hinge{i}", kp=1.0, kd=0.1)
    assert Simulator(mech, batch=batch)._plant.groups.features is PLAIN_TREE
