"""Acceleration-level Lagrange multipliers in maximal coordinates, in linear time (BAR 3 to 8).

Bodies obey M v' = J' lambda + F, and constraints J v' + c = 0:

    H (v', lambda) = (F, c),    H = [M -J'; -J 0]                                     (BAR 8)

The graph of H, bodies and joints as nodes, is the tree of the mechanism: eliminated from the leaves
on, H = L D L' fills no other block (BAR 7.1). Rows that close loops are auxiliary constraints: k of
them ask for k more solutions, O(n k), and a dense system of k (BAR 8).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.baselines.explicit import RK4, Tableau
from vigym.baselines.methods import (
    BALLS,
    CURVES,
    CUSTOM,
    LOOPS,
    SURFACES,
    Method,
    make_energy,
)
from vigym.baselines.recursion import poses, twists
from vigym.baselines.rows.constraint_rows import Rows
from vigym.baselines.sparse import Blocks, sparse_factor, sparse_solve
from vigym.baselines.tree import body_inertia, mechanism_tree
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import Poses
from vigym.mechanism.topology.loop_constraints import joint_gaps
from vigym.simulation.state.readings import Energy
from vigym.spatial import (
    Array,
    batch_quaternion_product,
    batch_rotation_matrix,
    cross,
    quaternion_from_matrix,
    rotate,
)


class MaximalSystem:
    """Masses, constraint rows and factors of H of a mechanism at given poses.

    Args:
        mechanism: a tree, or with loops.

    Attributes:
        rows: constraint rows of all joints.
        primary: which of them are joints of a tree (rows,); others are auxiliary.
        mass: of the world, zero, and all bodies (n + 1,) [kg].
        inertia: in body axes (n + 1, 3, 3) [kg m^2].
        solutions: number of solutions with the factors of H so far.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        bodies = [body_inertia(body) for body in mechanism.bodies.values()]
        inertia = np.array([np.zeros((6, 6)), *bodies])
        self.mass, self.inertia = inertia[:, 5, 5], inertia[:, :3, :3]
        self.rows = Rows(mechanism)
        self.solutions = 0
        ends, closing = self.rows.ends, range(len(mechanism.tree_joints))
        closing = range(closing.stop, closing.stop + len(mechanism.closing_joints))
        sizes = np.bincount(self.rows.joint, minlength=len(ends))
        held = {k: ends[k] for k in range(len(ends)) if sizes[k] and k not in closing}
        self._count_nodes(elimination_order(held, len(self.mass)), sizes)

    def _count_nodes(self, order: list[tuple[int, int, int]], sizes: NDArray[Any]) -> None:
        """Assign nodes to bodies and joints of the tree, from the leaves on."""
        self.body_node, self.joint_node = np.zeros(len(self.mass), int), np.zeros(len(sizes), int)
        child, count = np.full(len(sizes), -1), 0
        for joint, _, body in reversed(order):
            self.body_node[body] = count
            count += 1
            if joint >= 0:
                self.joint_node[joint], child[joint] = count, body
                count += 1
        self._parent, self._size = np.full(count, -1), np.full(count, 6)
        for joint, parent, body in order:
            if joint >= 0:
                node = self.joint_node[joint]
                self._parent[self.body_node[body]], self._size[node] = node, sizes[joint]
                self._parent[node] = self.body_node[parent] if parent else -1
        self.primary = child[self.rows.joint] >= 0
        self._reversed = (child[self.rows.joint] == self.rows.a)[self.primary, None]

    def place(self, x: Array, R: Array) -> None:
        """Set poses of all bodies (n + 1, 3) and (n + 1, 3, 3), and factorise H there."""
        rows, nodes = self.rows, len(self._parent)
        rows.place(x, R)
        self.world_inertia = R @ self.inertia @ R.transpose(0, 2, 1)
        diagonal, beside = np.zeros((nodes, 6, 6)), np.zeros((nodes, 6, 6))
        at = self.body_node[1:]
        diagonal[at, :3, :3] = self.mass[1:, None, None] * np.eye(3)
        diagonal[at, 3:, 3:] = self.world_inertia[1:]
        p, turned = self.primary, self._reversed
        self._node = self.joint_node[rows.joint[p]]
        on_child = np.where(turned, rows.on_a[p], rows.on_b[p])
        on_parent = np.where(turned, rows.on_b[p], rows.on_a[p])
        child, parent = np.where(turned.T, (rows.a[p], rows.b[p]), (rows.b[p], rows.a[p]))
        beside[self.body_node[child], :, rows.slot[p]] = -on_child
        inner = parent > 0
        beside[self._node[inner], rows.slot[p][inner]] = -on_parent[inner]
        self.H = Blocks(self._parent, self._size, diagonal, beside)
        self.factors = sparse_factor(self.H)
        self._loops = Auxiliary(self, rows.matrix(~self.primary))

    def solve(self, F: Array, c: Array) -> tuple[Array, Array]:
        """Return V' (n + 1, 6) and lambda, of forces F (n + 1, 6) and J V' + c = 0 of the tree."""
        z = np.zeros((len(self._parent), 6))
        z[self.body_node[1:]] = F[1:]
        z[self._node, self.rows.slot[self.primary]] = c
        x = sparse_solve(self.factors, z)
        self.solutions += 1
        V = np.zeros_like(F)
        V[1:] = x[self.body_node[1:]]
        return V, x[self._node, self.rows.slot[self.primary]]

    def answers(self, pushes: Array) -> Array:
        """Return velocities M^-1 p (k, n + 1, 6) of free bodies by impulses p (k, n + 1, 6)."""
        result = np.zeros_like(pushes)
        result[:, 1:, :3] = pushes[:, 1:, :3] / self.mass[1:, None]
        turning = pushes[:, 1:, 3:, None]
        result[:, 1:, 3:] = np.linalg.solve(self.world_inertia[1:], turning)[..., 0]
        return result

    def accelerate(self, F: Array, c: Array) -> Array:
        """Return V' (n + 1, 6) of forces F (n + 1, 6) such that J V' + c = 0 in all rows.

        Where loops leave multipliers undetermined they are the least ones.
        """
        V, _ = self.solve(F, c[self.primary])
        return self._loops.correct(V, c[~self.primary])


def elimination_order(held: dict[int, tuple[int, int]], bodies: int) -> list[tuple[int, int, int]]:
    """Return (joint, parent, body) of a spanning tree of all bodies, parents before children.

    Args:
        held: bodies of the joints with rows, of which earlier ones go first into the tree.
        bodies: number of bodies; the world is 0.

    Returns:
        A row for each body but the world; joint and parent are -1 of one that hangs on nothing.
    """
    group = list(range(bodies))
    near: dict[int, list[tuple[int, int]]] = {body: [] for body in range(bodies)}
    for joint, (a, b) in held.items():
        if group[a] != group[b]:
            old = group[b]
            group = [group[a] if each == old else each for each in group]
            near[a].append((joint, b))
            near[b].append((joint, a))
    order: list[tuple[int, int, int]] = []
    seen: set[int] = set()
    for root in range(bodies):
        stack = [] if root in seen else [(-1, -1, root)]
        while stack:
            order.append(stack.pop())
            body = order[-1][2]
            seen.add(body)
            stack += [(joint, body, to) for joint, to in near[body] if to not in seen]
    return order[1:]


class Auxiliary:
    """Auxiliary rows J V' + c = 0 over any bodies, whose multipliers push along K (BAR 8).

    The tree's own multipliers are anticipated: k solutions of O(n) give its answers to unit
    multipliers, and a dense matrix of k.

    Args:
        system: with factors of H at the present poses.
        J: rows (k, n + 1, 6), linear and angular, world axes.
        K: forces and moments of unit multipliers (k, n + 1, 6); None: J, which do no work.
    """

    def __init__(self, system: MaximalSystem, J: Array, K: Array | None = None) -> None:
        self._J = J
        self._J[:, 0] = 0.0  # the world stands still
        still = np.zeros(int(system.primary.sum()))
        answers = [system.solve(push, still)[0] for push in (J if K is None else K)]
        self._answers = np.array(answers).reshape(J.shape)
        self._coefficients = np.einsum("inc,jnc->ij", J, self._answers)

    def correct(self, V: Array, c: Array) -> Array:
        """Return accelerations V' (n + 1, 6) that satisfy the rows, from those without them."""
        if not len(self._J):
            return V
        lacking = np.einsum("inc,nc->i", self._J, V) + c
        if not np.isfinite([*self._coefficients.ravel(), *lacking]).all():
            return np.full_like(V, np.nan)  # LAPACK would refuse them; `Method.step` tells it
        mu = np.linalg.lstsq(self._coefficients, -lacking, rcond=1e-12)[0]
        corrected: Array = V + np.einsum("i,inc->nc", mu, self._answers)
        return corrected


class Maximal(Method):
    """Method whose state are poses and velocities of bodies, row 0 of which is the world.

    Angles are read modulo 2 pi, nearest to the last readings.
    """

    knows = frozenset((LOOPS, BALLS, CURVES, SURFACES, CUSTOM))

    def _prepare(self) -> None:
        joints = self.mechanism.ordered_joints
        self._frames = [joint_frames(self.mechanism, joint) for joint in joints]
        tree = [joint.name for joint, _ in spanning_tree(self.mechanism)]
        numbers = {frames.joint.name: frames.b for frames in self._frames}
        self._order = np.array([numbers[name] for name in tree])
        self.tree = mechanism_tree(self.mechanism)
        self.system = MaximalSystem(self.mechanism)

    def _start(self, q: Array, rates: Array) -> None:
        count = len(self._order) + 1
        joints = self.tree.joints(q, rates)
        self.system.rows.restart()
        R, x = poses(self.tree.links, joints)
        v = twists(self.tree.links, joints, rates)
        self._last = q
        y = np.zeros((count, 13))
        y[0, 3] = 1.0
        self._x, self._q, self._V = np.split(y, [3, 7], axis=1)
        self._x[self._order] = x
        self._q[self._order] = [quaternion_from_matrix(each) for each in R]
        self._V[self._order] = np.hstack([rotate(R, v[:, 3:]), rotate(R, v[:, :3])])

    def _wrenches(self, R: Array, V: Array) -> Array:
        """Return weights and gyroscopic moments (n + 1, 6) of all bodies."""
        inertia = R @ self.system.inertia @ R.transpose(0, 2, 1)
        weight = self.system.mass[:, None] * self.mechanism.gravity
        return np.hstack([weight, -cross(V[:, 3:], rotate(inertia, V[:, 3:]))])

    def _check_places(self) -> None:
        """Raise StepError for a joint without a place, or beyond an end of its curve or surface."""
        for held in self.system.rows.places:
            if held.trouble():
                raise self._error(held.trouble())

    @property
    def _joint_poses(self) -> tuple[Array, Array]:
        """Poses of all bodies in their parents, in the order of the tree."""
        R, parents = batch_rotation_matrix(self._q), np.append(0, self._order)
        a, b = parents[self.tree.links.parent + 1], self._order
        Rt = R[a].transpose(0, 2, 1)
        return Rt @ R[b], rotate(Rt, self._x[b] - self._x[a])

    @property
    def positions(self) -> Array:
        """Coordinates of the tree's joints."""
        self._last = self.tree.coordinates(*self._joint_poses, self._last)
        return self._last.copy()

    @property
    def velocities(self) -> Array:
        """Rates of the tree's joints, next to the velocities of the bodies."""
        R, b = batch_rotation_matrix(self._q).transpose(0, 2, 1), self._order
        v = np.hstack([rotate(R, self._V[:, 3:])[b], rotate(R, self._V[:, :3])[b]])
        return self.tree.rates(self.positions, v)

    def energy(self) -> Energy:
        """Return kinetic, potential and total energy at present [J]."""
        system, w = (
            self.system,
            rotate(batch_rotation_matrix(self._q).transpose(0, 2, 1), self._V[:, 3:]),
        )
        kinetic = system.mass @ np.sum(self._V[:, :3] ** 2, axis=1)
        kinetic += np.einsum("ni,nij,nj", w, system.inertia, w)
        potential = -system.mass @ self._x @ self.mechanism.gravity
        return make_energy(0.5 * float(kinetic), float(potential))

    def gap(self) -> float:
        """Return the largest joint gap [m or rad]."""
        R = batch_rotation_matrix(self._q)
        placed = Poses(self._x[None], self._q[None], R[None], np.zeros((1, 0, 6)))
        gaps = [*np.ravel([joint_gaps(frames, placed) for frames in self._frames])]
        gaps += [np.abs(each).max() for each in self.system.rows.place_gaps(self._x, R)]
        return float(np.max(gaps))


class Multipliers(Maximal):
    """Multipliers that keep accelerations within the constraints: gaps grow (BAR; MC Fig. 4b).

    Attributes:
        tableau: Runge-Kutta method that integrates the accelerations.
        settling_time: of gaps by Baumgarte's feedback [s]; infinite without.
    """

    name = "multipliers"
    order = 4
    tableau: Tableau = RK4
    settling_time: float = np.inf

    def _advance(self) -> None:
        y = np.hstack([self._x, self._q, self._V])
        y = self.tableau.advance(self._slope, y, self.timestep)
        self._x, self._q, self._V = np.split(y, [3, 7], axis=1)
        self._q /= np.linalg.norm(self._q, axis=1, keepdims=True)
        self._check_places()

    def _slope(self, y: Array) -> Array:
        """Return the derivative of a state (n + 1, 13) by time."""
        rows = self.system.rows
        x, q, V = np.split(y, [3, 7], axis=1)
        R = batch_rotation_matrix(q / np.linalg.norm(q, axis=1, keepdims=True))
        self.system.place(x, R)
        self.factorisations += 1
        rate = 1.0 / self.settling_time
        c = rows.drift(V) + 2.0 * rate * rows.rates(V) + rate**2 * rows.gaps
        spin = np.hstack([np.zeros((len(V), 1)), V[:, 3:]])
        dq = 0.5 * batch_quaternion_product(spin, q)
        slope = self.system.accelerate(self._wrenches(R, V), c)
        return np.hstack([V[:, :3], dq, slope])


class Baumgarte(Multipliers):
    """Multipliers with gaps led back to zero by Baumgarte's feedback."""

    name = "baumgarte"
    settling_time = 0.1
