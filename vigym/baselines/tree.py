"""Tree of bodies in joint coordinates, and joints that are given as a transform G(q) (SI 3, 4)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vigym.baselines import recursion
from vigym.baselines.recursion import Factors, Joints, Links
from vigym.baselines.screws import adjoint_back
from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.mechanism.topology.joint_frames import JointFrames, joint_frames
from vigym.spatial import (
    Array,
    quaternion_from_matrix,
    quaternion_product,
    rotate,
    rotation_matrix,
)

Transform = Callable[[Any], Any]


class GeneralJoint:
    """Joint whose S and dS/dt are derived from its transform, symbolically (SI 9, 12).

    Args:
        transform: function of a sequence of symbols that returns the pose of the child's body frame
            in the parent's as a SymPy matrix (4, 4).
        dofs: number of coordinates.

    Raises:
        ImportError: SymPy is not installed.
    """

    def __init__(self, transform: Transform, dofs: int) -> None:
        import sympy

        self.dofs = dofs
        q, rates = sympy.symbols(f"q:{dofs}"), sympy.symbols(f"r:{dofs}")
        G = sympy.Matrix(transform(q))
        R, p = G[:3, :3], G[:3, 3]
        S = sympy.Matrix.hstack(*(_twist(R.T * R.diff(x), R.T * p.diff(x)) for x in q))
        dS = sum((S.diff(x) * rate for x, rate in zip(q, rates, strict=True)), S * 0)
        entries = [*R, *p, *S.T, *dS.T]
        self._derived = sympy.lambdify([q, rates], entries, "math", cse=True)

    def evaluate(self, q: Array, rates: Array) -> tuple[Array, Array, Array, Array]:
        """Return R (3, 3), p (3,), S and dS/dt (dofs, 6) at coordinates and rates (dofs,)."""
        values = np.array(self._derived(q.tolist(), rates.tolist()))
        R, p, S, dS = np.split(values, np.cumsum([9, 3, 6 * self.dofs]))
        return R.reshape(3, 3), p, S.reshape(-1, 6), dS.reshape(-1, 6)


def _twist(W: Any, v: Any) -> Any:
    """Return the column (6,) of a skew matrix and a vector."""
    import sympy

    return sympy.Matrix([W[2, 1], W[0, 2], W[1, 0], *v])


class Tree:
    """Tree of bodies with their joints, springs and dampers.

    Args:
        links: bodies, parents first.
        gravity: (3,) [m/s^2].
        general: joints that are given as transforms, by the number of their body.

    Attributes:
        links, gravity: as given.
        dofs: number of velocities.
        zero: coordinates (n_q,) of no displacement.
        scalars: columns of coordinates that are the integral of one rate, and those rates.
        balls: columns of quaternions, and of their rates.
        stiffness, rest: of springs along the scalars (n,) [N/m or N m/rad], [m or rad].
        damping: of all degrees of freedom (dofs,) [N s/m or N m s/rad].
    """

    def __init__(
        self, links: Links, gravity: Array, general: Mapping[int, GeneralJoint] | None = None
    ) -> None:
        self.links = links
        self.gravity = np.array(gravity, float)
        self.dofs = int(links.dofs.sum())
        balls = links.dofs > links.scalars
        at = (links.place + links.scalars)[balls], (links.start + links.scalars)[balls]
        self.balls = [(slice(k, k + 4), slice(j, j + 3)) for k, j in zip(*at, strict=True)]
        self.zero = np.zeros(self.dofs + len(self.balls))
        self.zero[at[0]] = 1.0
        table = [
            (place + k, start + k)
            for place, start, count in zip(links.place, links.start, links.scalars, strict=True)
            for k in range(count)
        ]
        columns = np.array(table, int).reshape(-1, 2)
        self.scalars = columns[:, 0], columns[:, 1]
        self.stiffness = np.zeros(len(columns))
        self.rest = np.zeros(len(columns))
        self.damping = np.zeros(self.dofs)
        self._general = dict(general or {})

    def joints(self, q: Array, rates: Array) -> Joints:
        """Return poses, screws and their derivatives of all joints."""
        found: Joints = recursion.standard_joints(self.links, q, rates)
        for i, joint in self._general.items():
            at, first = self.links.place[i], self.links.start[i]
            span = slice(first, first + joint.dofs)
            values = joint.evaluate(q[at : at + joint.dofs], rates[span])
            found.R[i], found.p[i], found.S[span], found.dS[span] = values
        return found

    def forces(self, q: Array, rates: Array) -> Array:
        """Return the forces (dofs,) of springs and dampers along the degrees of freedom."""
        tau: Array = -self.damping * rates
        columns, dofs = self.scalars
        tau[dofs] -= self.stiffness * (q[columns] - self.rest)
        return tau

    def accelerations(self, q: Array, rates: Array, tau: Array | float = 0.0) -> Array:
        """Return accelerations (dofs,), by joint forces tau (dofs,) beside springs and dampers."""
        total = self.forces(q, rates) + tau
        result: Array = recursion.aba(self.links, self.joints(q, rates), rates, total, self.gravity)
        return result

    def joint_forces(self, q: Array, rates: Array, accelerations: Array) -> Array:
        """Return the joint forces (dofs,) of a motion, beside those of springs and dampers."""
        joints = self.joints(q, rates)
        needed = recursion.rnea(self.links, joints, rates, accelerations, self.gravity)
        result: Array = needed - self.forces(q, rates)
        return result

    def factor(self, q: Array) -> tuple[Joints, Factors]:
        """Return the joints and the factors of the mass matrix at coordinates."""
        joints = self.joints(q, np.zeros(self.dofs))
        return joints, recursion.factor(self.links, joints)

    def integrate_rates(self, q: Array, rates: Array) -> Array:
        """Return coordinates (n_q,) after unit time at constant rates (dofs,)."""
        moved: Array = recursion.integrate_rates(self.links, q, rates)
        return moved

    def coordinate_rates(self, q: Array, rates: Array) -> Array:
        """Return the derivatives of coordinates (n_q,) by time at rates (dofs,)."""
        result = np.zeros(len(self.zero))
        result[self.scalars[0]] = rates[self.scalars[1]]
        for span, dofs in self.balls:
            result[span] = 0.5 * quaternion_product(q[span], np.append(0.0, rates[dofs]))
        return result

    def normalised(self, q: Array) -> Array:
        """Return coordinates (n_q,) with quaternions of length one."""
        result = q.copy()
        for span, _ in self.balls:
            result[span] /= np.linalg.norm(result[span])
        return result

    def coordinates(self, R: Array, p: Array, near: Array) -> Array:
        """Return the coordinates (n_q,) of poses in parents, angles nearest to those of `near`."""
        links, q = self.links, near.copy()
        E = links.R_a.transpose(0, 2, 1) @ R @ links.R_b
        shift = p - links.p_a + rotate(R, links.p_b)
        shift = rotate(links.R_a.transpose(0, 2, 1), shift)
        for i, place in enumerate(links.place):
            first = links.start[i]
            columns = np.argmax(links.axis[first : first + links.scalars[i]], axis=1)
            for k, column in enumerate(columns):
                if links.rotates[first + k]:  # about z, or about z and then x
                    angle = np.arctan2(E[i, 1, 0], E[i, 0, 0])
                    if column == 0:
                        angle = np.arctan2(E[i, 2, 1], E[i, 2, 2])
                    turns = np.round((near[place + k] - angle) / (2.0 * np.pi))
                    q[place + k] = angle + 2.0 * np.pi * turns
                else:
                    q[place + k] = shift[i, column]
            if links.dofs[i] > links.scalars[i]:
                at = place + links.scalars[i]
                found = quaternion_from_matrix(E[i])
                q[at : at + 4] = found if found @ near[at : at + 4] >= 0.0 else -found
        return q

    def rates(self, q: Array, v: Array) -> Array:
        """Return the rates (dofs,) next to the twists of all bodies (n, 6)."""
        links, joints = self.links, self.joints(q, np.zeros(self.dofs))
        result = np.zeros(self.dofs)
        for i, first in enumerate(links.start):
            before = v[links.parent[i]] if links.parent[i] >= 0 else np.zeros(6)
            relative = v[i] - adjoint_back(joints.R[i], joints.p[i]) @ before
            span = slice(first, first + links.dofs[i])
            result[span] = np.linalg.lstsq(joints.S[span].T, relative)[0]
        return result

    def energy(self, q: Array, rates: Array) -> tuple[float, float]:
        """Return kinetic and potential energy [J], that of springs included."""
        joints = self.joints(q, rates)
        v = recursion.twists(self.links, joints, rates)
        _, x = recursion.poses(self.links, joints)
        kinetic = 0.5 * np.einsum("ni,nij,nj", v, self.links.inertia, v)
        stretch = q[self.scalars[0]] - self.rest
        springs = 0.5 * self.stiffness @ stretch**2
        return float(kinetic), float(springs - self.links.inertia[:, 5, 5] @ x @ self.gravity)


def mechanism_tree(mechanism: Mechanism) -> Tree:
    """Return the tree of a mechanism; coordinates as `Mechanism.tree_joints`, loops left open."""
    frames = [joint_frames(mechanism, joint) for joint, _ in spanning_tree(mechanism)]
    numbers = {each.b: i for i, each in enumerate(frames)}
    bodies = list(mechanism.bodies.values())
    starts, places = {}, {}
    start = place = 0
    for joint in mechanism.tree_joints:
        starts[joint.name], places[joint.name] = start, place
        start, place = start + joint.dofs, place + len(joint.joint_type.positions)
    links = make_links(
        parents=[numbers.get(each.a, -1) for each in frames],
        starts=[starts[each.joint.name] for each in frames],
        places=[places[each.joint.name] for each in frames],
        frames=frames,
        inertias=[body_inertia(bodies[each.b - 1]) for each in frames],
    )
    tree = Tree(links, mechanism.gravity)
    joints = mechanism.tree_joints
    for start, joint in ((starts[joint.name], joint) for joint in joints):
        tree.damping[start : start + joint.dofs] = joint.dof_damping
        springs = (tree.scalars[1] >= start) & (tree.scalars[1] < start + joint.dofs)
        tree.stiffness[springs] = joint.dof_stiffness[tree.scalars[1][springs] - start]
        tree.rest[springs] = joint.rest if joint.rest else 0.0
    return tree


def body_inertia(body: Body) -> Array:
    """Return the inertia (6, 6) of a body about its centre of mass, in its axes."""
    inertia = np.zeros((6, 6))
    inertia[:3, :3], inertia[3:, 3:] = body.inertia, body.mass * np.eye(3)
    return inertia


def make_links(
    parents: Sequence[int],
    starts: Sequence[int],
    places: Sequence[int],
    frames: Sequence[JointFrames],
    inertias: Sequence[Array],
) -> Links:
    """Return the `Links` of joints by their frames; the order of the sequences is the bodies'."""
    kinds = [each.joint_type for each in frames]
    dofs = sum(kind.dofs for kind in kinds)
    rotates, axis = np.zeros(dofs, bool), np.zeros((dofs, 3))
    for start, kind in zip(starts, kinds, strict=True):
        rotations = () if kind.has_quaternion else kind.rotations
        for k, column in enumerate((*kind.translations, *rotations)):
            rotates[start + k] = k >= len(kind.translations)
            axis[start + k, column] = 1.0
    # a ball's rates are in the axes of the child
    balls = [kind.has_quaternion for kind in kinds]
    R_a = [
        rotation_matrix(each.offset) if ball else each.frame_a
        for each, ball in zip(frames, balls, strict=True)
    ]
    R_b = [np.eye(3) if ball else each.frame_b for each, ball in zip(frames, balls, strict=True)]
    return Links(
        parent=np.array(parents, np.int64),
        start=np.array(starts, np.int64),
        dofs=np.array([kind.dofs for kind in kinds], np.int64),
        place=np.array(places, np.int64),
        scalars=np.array([k.dofs - 3 if k.has_quaternion else k.dofs for k in kinds], np.int64),
        rotates=rotates,
        axis=axis,
        R_a=np.array(R_a).reshape(-1, 3, 3),
        p_a=np.array([each.anchor_a for each in frames]).reshape(-1, 3),
        R_b=np.array(R_b).reshape(-1, 3, 3),
        p_b=np.array([each.anchor_b for each in frames]).reshape(-1, 3),
        inertia=np.array(inertias).reshape(-1, 6, 6),
    )


def general_tree(
    parents: Sequence[int],
    joints: Sequence[GeneralJoint],
    inertias: Sequence[Array],
    gravity: Array,
) -> Tree:
    """Return a tree of joints that are given as transforms.

    Args:
        parents: number of the body that carries each, -1 for the world; parents come first.
        joints: of each body.
        inertias: of each body about its centre of mass (6, 6).
        gravity: (3,) [m/s^2].
    """
    n, counts = len(parents), np.array([joint.dofs for joint in joints], np.int64)
    starts = np.cumsum(counts) - counts
    frames, origins = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
    dofs = int(counts.sum())
    links = Links(
        parent=np.array(parents, np.int64),
        start=starts,
        dofs=counts,
        place=starts,
        scalars=counts,
        rotates=np.zeros(dofs, bool),
        axis=np.zeros((dofs, 3)),
        R_a=frames,
        p_a=origins,
        R_b=frames,
        p_b=origins,
        inertia=np.array(inertias),
    )
    return Tree(links, gravity, dict(enumerate(joints)))
