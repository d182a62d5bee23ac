"""The linear algebra of one Newton iteration against finite differences and against a dense solve."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive import Twin
from oracle.naive_joints import matrix
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, Simulator
from vigym.core.body.dynamics import apply_increment, assemble_body_blocks, body_residuals
from vigym.core.compiler.kernel import entry
from vigym.core.compiler.rows import group_data
from vigym.core.compiler.simd import LANES
from vigym.core.joint.forces import assemble_joint_loads
from vigym.core.joint.geometry import rotation_axis, rotation_increment_axis, translation_axis
from vigym.core.model.context import knot_buffer
from vigym.core.model.layout import KNOT_BUFFERS, header_of, plan_rows
from vigym.core.tables.features import LOOPS_AND_CONTACTS
from vigym.core.tables.plan import BODY_PLAN, HEADER
from vigym.core.tables.state import ENVIRONMENT_STATE, POSE_STATE
from vigym.core.tables.work import BODY_WORK, DOF_WORK
from vigym.core.tree.ldu import factorise, solve_to_leaves, solve_to_root, sum_joint_closures

H = 0.01
CONTACTS = LOOPS_AND_CONTACTS.token
JOINTS = [kind for kind in TYPES if kind != "fixed"]


@entry
def moved(plan, model, state, work, h, step_length):
    """Move the present knot by a part of the increments in the work; its own wrenches, blocks and rate loads."""
    d = group_data(plan, model, state, work, 0, 0, 0, CONTACTS, None)
    w = d.wide
    knot2, knot3 = knot_buffer(d, 1), knot_buffer(d, 0)
    apply_increment(w, knot2, knot3, w.full(h), w.full(step_length), w.full(True))
    assemble_body_blocks(w, knot2, knot3, w.full(h))
    body_residuals(w, knot2, knot3, w.full(h))
    assemble_joint_loads(d, knot3, h, 1.0)
    return sum_joint_closures(d, knot3)


@entry
def solved(plan, model, state, work):
    """Factorise and solve with what `moved` left; the increments are in the work."""
    d = group_data(plan, model, state, work, 0, 0, 0, CONTACTS, None)
    knot2, knot3 = knot_buffer(d, 1), knot_buffer(d, 0)
    factorise(d, knot2, knot3)
    solve_to_root(d, knot2)
    solve_to_leaves(d, knot3)


@entry
def directions(plan, model, state, work, back, newtons, out):
    """Free directions (dofs, 6) at the knot ``back`` steps behind; with ``newtons`` those of its increment."""
    d = group_data(plan, model, state, work, 0, 0, 0, CONTACTS, None)
    knot = knot_buffer(d, back)
    for i in range(1, d.body_count):
        body = d.body(i)
        p, n = body.first_dof, body.translation_count
        for j in range(n):
            out[p + j, :3] = translation_axis(d, i, j, knot)
        for j in range(body.rotation_count):
            if newtons:
                out[p + n + j, 3:] = rotation_increment_axis(d, i, j, knot)
            else:
                out[p + n + j, 3:] = rotation_axis(d, i, j, knot)


class Step:
    """A mechanism's last step, its next knot open to changes: tables of the simulator by body and by freedom."""

    def __init__(self, mech, seed=0):
        self.sim = Simulator(mech, timestep=H, tolerance=1e-13)
        self.sim.reset(random_positions(seed, mech), by_joint(mech, random_rates(seed, mech, 2.0)))
        self.plan = self.sim._plant.groups.plan
        self.header = header_of(self.plan)
        coordinates = slice(int(self.header["state_dofs"]), int(self.header["state_knots"]))
        for _ in range(4):
            kept = self.sim._plant.groups.state[coordinates].copy()
            assert self.sim.step().converged
        # Coordinates as they are while Newton looks for the last knot: still those of the knot
        # before.
        self.sim._plant.groups.state[coordinates] = kept
        self.tables = self.sim._plant.groups.tables
        self.state = self.sim._plant.groups.state.copy()
        self.bodies, self.dofs = int(self.header["body_count"]), int(self.header["dof_count"])
        rows = plan_rows(self.plan, BODY_PLAN, HEADER.width, self.bodies)
        self.parents, self.firsts = rows["parent"], rows["first_dof"]
        self.counts = rows["translation_count"] + rows["rotation_count"]
        self.sim._plant.groups.work[0][:] = 0.0
        self.move(np.zeros((self.bodies, 6)), 0.0)  # writes the axes of springs' increments

    def rows(self, table, start, count):
        """Blocks (blocks, fields, LANES) of the rows of a table of the work: a view."""
        blocks = -(-count // LANES)
        work = self.sim._plant.groups.work[0]
        return work[start : start + blocks * table.width * LANES].reshape(
            blocks, table.width, LANES
        )

    def field(self, name):
        """Field (bodies, width) of the bodies' work, row 0 the world."""
        blocks = self.rows(BODY_WORK, 0, self.bodies)[:, BODY_WORK.columns(name)]
        return np.array([blocks[i // LANES, :, i % LANES] for i in range(self.bodies)])

    def dof_field(self, name):
        """Field (dofs,) of the work of the degrees of freedom."""
        blocks = self.rows(DOF_WORK, int(self.header["work_dofs"]), self.dofs)[
            :, DOF_WORK.offset(name)
        ]
        return np.array([blocks[i // LANES, i % LANES] for i in range(self.dofs)])

    def put(self, name, values):
        """Write (bodies, width) to the bodies' work."""
        blocks = self.rows(BODY_WORK, 0, self.bodies)
        for i, value in enumerate(values):
            blocks[i // LANES, BODY_WORK.columns(name), i % LANES] = value

    def move(self, increments, size):
        """Increments (bodies, 6) of (anchor, orientation) from the step's own knot; returns the largest joint gap."""
        self.sim._plant.groups.state[:] = self.state
        self.put("delta_position", np.vstack([np.zeros(3), increments[1:, :3]]))  # the world rests
        self.put("delta_rotation", np.vstack([np.zeros(3), increments[1:, 3:]]))
        self.put("position_correction", np.zeros((self.bodies, 3)))
        self.put("rotation_correction", np.zeros((self.bodies, 3)))
        return moved(*self.tables, H, size)

    def wrenches(self):
        return np.hstack([self.field("force"), self.field("torque")])[1:]

    def blocks(self):
        """(bodies, 6, 6) derivative of the wrenches by the increments."""
        a, b, c, d = (self.field(f"block_{name}").reshape(-1, 3, 3)[1:] for name in "abcd")
        return np.block([[a, b], [c, d]])

    def directions(self, back=0, newtons=True):
        out = np.zeros((self.dofs, 6))
        directions(*self.tables, back, newtons, out)
        return out

    def anchors(self, back):
        """(bodies, 3) joint anchors at the knot ``back`` steps behind."""
        knots = self.state[self.header["state_knots"] :].reshape(
            KNOT_BUFFERS, -1, POSE_STATE.width, LANES
        )
        present = int(self.state[ENVIRONMENT_STATE.offset("present_knot") * LANES])
        table = knots[(present - back) % KNOT_BUFFERS, :, POSE_STATE.columns("anchor")]
        return table.transpose(0, 2, 1).reshape(-1, 3)[: self.bodies]

    def spanned(self, back, newtons):
        """(bodies, 6, dofs): increments of all bodies when one dof moves and all above it rest."""
        columns, anchors = np.zeros((self.bodies, 6, self.dofs)), self.anchors(back)
        axes = self.directions(back, newtons)
        for i in range(1, self.bodies):
            up = self.parents[i]
            columns[i] = columns[up]
            columns[i, :3] += np.cross(
                columns[up, 3:], anchors[i] - anchors[up], axisa=0, axisb=0, axisc=0
            )
            own = slice(self.firsts[i], self.firsts[i] + self.counts[i])
            columns[i, :, own] += axes[own].T
        return columns


def passive_tree():
    """Balls and hinges without springs, dampers or actuators: they have eliminations of their own."""
    rng, mech = np.random.default_rng(3), Mechanism()
    for i, kind in enumerate(
        ["spherical", "revolute", "spherical", "spherical", "revolute", "spherical"]
    ):
        mech.add_body(f"b{i}", rng.uniform(0.5, 2.0), np.diag([0.2, 0.3, 0.4]), rng.normal(size=3))
        parent = "world" if i == 0 else f"b{rng.integers(i)}"
        axis = rng.normal(size=3)
        mech.add_joint(
            f"j{i}", kind, parent, f"b{i}", rng.normal(size=3), axis=axis / np.linalg.norm(axis)
        )
    return mech


def test_blocks_are_the_derivative_of_the_bodies_own_wrenches():
    one = Step(random_tree(0, TYPES, damping=0.3))
    one.move(np.zeros((one.bodies, 6)), 0.0)
    blocks, rng = one.blocks(), np.random.default_rng(0)
    for _ in range(6):
        increments, wrenches = rng.normal(size=(one.bodies, 6)), []
        for size in (1e-5, -1e-5):
            one.move(increments, size)
            wrenches.append(one.wrenches())
        expected = np.einsum("bij,bj->bi", blocks, increments[1:])
        error = (wrenches[0] - wrenches[1]) / 2e-5 - expected
        assert np.abs(error).max() <= 1e-7 * np.abs(expected).max()


def test_wrenches_foresee_the_motion_that_closes_the_joints():
    one, rng = Step(random_tree(1, TYPES)), np.random.default_rng(1)
    one.move(np.zeros((one.bodies, 6)), 0.0)
    before, repairs = one.wrenches(), rng.normal(size=(one.bodies, 6))
    one.put("position_correction", repairs[:, :3])
    one.put("rotation_correction", repairs[:, 3:])
    moved(*one.tables, H, 0.0)
    expected = np.einsum("bij,bj->bi", one.blocks(), repairs[1:])
    np.testing.assert_allclose(
        one.wrenches() - before, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max()
    )


@pytest.mark.parametrize("damping", [0.0, 0.5], ids=["undamped", "damped"])
@pytest.mark.parametrize("kind", TYPES)
def test_free_directions_leave_a_joint_closed_and_all_others_open_it(kind, damping):
    one = Step(random_tree(2, [kind], damping=damping, to_world=False))
    axes = one.directions()[one.firsts[2] : one.firsts[2] + one.counts[2]]
    open_directions = np.linalg.svd(np.vstack([axes, np.zeros((6, 6))]))[2][len(axes) :]
    increments, root = np.zeros((3, 6)), np.array([0.3, -0.2, 0.5, 0.4, 0.7, -0.6])
    lever = one.anchors(0)[2] - one.anchors(0)[1]

    def gap(own, size):
        increments[1], increments[2] = (
            root,
            root + own,
        )  # the root's own motion carries the child along
        increments[2, :3] += np.cross(root[3:], lever)
        return one.move(increments, size)

    for axis in axes:
        assert gap(axis, 1e-4) <= 1e-7
    for axis in open_directions:
        assert gap(axis, 1e-4) >= 1e-5


@pytest.mark.parametrize("kind", TYPES)
def test_free_directions_feel_no_joint_force(kind):
    mech = random_tree(3, [kind], to_world=False)
    one = Step(mech)
    twin = Twin(mech, H)
    names = list(mech.bodies)
    twin.x[1:] = [one.sim.body_position(name) for name in names]
    twin.q[1:] = [one.sim.body_orientation(name) for name in names]
    child = twin.rows()[0].reshape(-1, 2, 6)[:, 1]
    own = slice(one.firsts[2], one.firsts[2] + one.counts[2])
    R, axes = matrix(twin.q[2]), one.directions(newtons=False)[own]
    arm = one.anchors(0)[2] - twin.x[2]
    moments = child[:, 3:] @ R.T - np.cross(arm, child[:, :3])
    assert len(child) + len(axes) == 6
    np.testing.assert_allclose(axes @ np.hstack([child[:, :3], moments]).T, 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", JOINTS)
def test_slopes_of_dampers_and_armatures(kind):
    one = Step(random_tree(4, [kind], damping=2.0, to_world=False))
    own = slice(one.firsts[2], one.firsts[2] + one.counts[2])
    axes, increments = one.directions()[own], np.zeros((3, 6))
    one.move(increments, 0.0)
    slopes, found = one.dof_field("compliance")[own], []
    assert (slopes > 0.0).all()
    for axis in axes:
        loads = []
        for size in (1e-5, -1e-5):
            increments[2] = axis
            one.move(increments, size)
            loads.append(one.dof_field("load")[own])
        found.append((loads[0] - loads[1]) / 2e-5)
    # each freedom's force answers to its own motion only
    np.testing.assert_allclose(found, np.diag(slopes), rtol=0.0, atol=1e-7 * slopes.max())


@pytest.mark.parametrize(
    "mech",
    [
        random_tree(5, TYPES),
        random_tree(6, TYPES, damping=1.0),
        random_tree(7, TYPES[::-1], to_world=False),
        passive_tree(),
    ],
    ids=["undamped", "damped", "free root", "passive balls and hinges"],
)
def test_elimination_along_the_tree_is_the_dense_solve(mech):
    one, rng = Step(mech), np.random.default_rng(5)
    one.move(np.zeros((one.bodies, 6)), 0.0)
    blocks, wrenches = one.blocks(), rng.normal(size=(one.bodies, 6))  # any right-hand side
    loads, slopes = (one.dof_field(name) for name in ("load", "compliance"))
    one.put("force", wrenches[:, :3])
    one.put("torque", wrenches[:, 3:])
    motion, rows = one.spanned(0, True)[1:], one.spanned(1, False)[1:]
    pushed = np.einsum("bij,bjp->bip", blocks, motion)
    dense = np.einsum("bip,biq->pq", rows, pushed) + np.diag(slopes)
    expected = motion @ np.linalg.solve(
        dense, -(np.einsum("bip,bi->p", rows, wrenches[1:]) + loads)
    )
    solved(*one.tables)
    found = np.hstack([one.field("delta_position"), one.field("delta_rotation")])[1:]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())
