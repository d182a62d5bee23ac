"""A slow twin of the variational step: dense, plain numpy, written from the equations alone.

Every body has six unknown velocities, every joint six rows: the constrained ones (G, with
multipliers) and the free ones (J, along which springs, dampers, armature and actuators act). A
joint that closes a loop brings all its rows like
any other, dependent or not: linear systems are consistent, and solved by least squares. One step is
Newton's method on the full system, the Jacobian of the forces by central differences. Nothing here
knows of trees, elimination or lanes.

Notation: knots 1 (last), 2 (now), 3 (next); a step has half-step velocities v [m/s, world] and w
[rad/s, body]; h1, h are the sizes of the last and of this step; e is a joint's relative
orientation, the unit quaternion at zero.
"""

from __future__ import annotations

import numpy as np

from oracle import naive_vibrations as vibrations
from oracle.naive_joints import (
    IDENTITY,
    TINY,
    TwinJoint,
    conj,
    dot,
    increment,
    mean_rate,
    mul,
    single_rate,
    turn_slopes,
    wrapped,
)
from oracle.naive_linear import least_motion, newton_direction
from oracle.naive_springs import TwinSprings

SUZUKI = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
COMPOSITION = {2: (1.0,), 4: (SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI)}


def joined(parts):
    return np.concatenate(list(parts), axis=-1)


class Twin:
    """The stepper of one mechanism; in arrays of poses body 0 is the world, other arrays leave the world out."""

    def __init__(self, mech, timestep=0.01, order=2):
        bodies = list(mech.bodies.values())
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        poses = {"world": (np.zeros(3), IDENTITY)} | {
            body.name: (body.position, body.orientation) for body in bodies
        }
        joints = mech.ordered_joints
        self.joints = [
            TwinJoint(j, index[j.parent], index[j.child], poses[j.parent], poses[j.child])
            for j in joints
        ]
        self.tree = self.joints[: len(mech.tree_joints)]
        self.springs = TwinSprings(mech.springs.values(), index)
        self.n = len(bodies)
        self.h = timestep
        self.order = order
        self.gravity = mech.gravity
        self.mass, self.inertia = (
            np.array([b.mass for b in bodies]),
            np.array([b.inertia for b in bodies]),
        )
        freedoms = [j for j in joints for _ in range(j.dofs)]
        parts = [
            np.append(np.ones(len(j.slides)), np.full(len(j.turns), not j.ball))
            for j in self.joints
        ]
        self.angular = np.concatenate(parts)  # 1 where a freedom has a coordinate of its own
        self.n_tree = sum(joint.n_free for joint in self.tree)
        self.armature = np.array([j.armature for j in freedoms])
        self.damping, self.stiffness = (
            np.concatenate([np.zeros(0), *(getattr(j, name) for j in joints)])
            for name in ("dof_damping", "dof_stiffness")
        )
        self.assembled = [np.array(each) for each in zip(*poses.values(), strict=True)]
        self.reset()

    def reset(self, positions=None, velocities=None, held=None):
        """Coordinates of tree joints by name (assembly where absent), which have to close all loops; knot rates.

        Velocities (tree freedoms,) move as little as the loops ask, in the metric of the bodies'
        masses and inertias; those of `held` (tree freedoms,) stay. Returns whether the loops are
        closed.
        """
        closed = self.place(positions)
        self.h1 = 0.0
        self.made_dampers = None
        self.work = 0.0
        self.dissipated_steps = 0.0
        self.u = np.zeros(len(self.damping))
        self.start(
            np.zeros(self.n_tree) if velocities is None else np.asarray(velocities, float), held
        )
        return closed

    def place(self, positions):
        """Poses from coordinates of tree joints; returns whether the loops are closed."""
        x, q = np.zeros((self.n + 1, 3)), np.tile(IDENTITY, (self.n + 1, 1))
        placed, self.angles = {0}, {}
        while len(placed) <= self.n:
            joint = next(j for j in self.tree if j.a in placed and j.b not in placed)
            value = np.atleast_1d(
                np.asarray((positions or {}).get(joint.name, joint.assembly), float)
            )
            x[joint.b], q[joint.b] = joint.pose(x[joint.a], q[joint.a], value)
            self.angles[joint.name] = value[len(joint.slides) :]
            placed.add(joint.b)
        for joint in self.joints[len(self.tree) :]:
            self.angles[joint.name] = None if joint.ball else joint.coordinates(x, q)[1]
        self.x = x
        self.q = q
        self.lengths = (self.springs.lengths(x, q),) * 2
        self.mean_stretch = np.zeros(len(self.stiffness))
        return np.abs(self.constraint(x, q)).max(initial=0.0) < 1e-9

    def start(self, rates, held):
        """Knot velocities from tree rates."""
        G, J = self.rows()
        tree = self.rows(self.x, self.q, self.tree)
        V = np.linalg.solve(np.vstack(tree), np.append(np.zeros(len(tree[0])), rates))
        if len(self.tree) < len(self.joints):
            fixed = J[: self.n_tree][np.zeros(self.n_tree, bool) if held is None else held]
            V = least_motion(
                self.inertia_matrix(),
                V,
                np.vstack([G, fixed]),
                np.append(np.zeros(len(G)), fixed @ V),
            )
        self.speeds = J @ V, self.springs.rows(self.x, self.q) @ V
        self.p12 = J @ V
        self.lam = np.zeros(len(G))
        V = V.reshape(self.n, 6)
        self.v, self.w = V[:, :3], V[:, 3:]

    def rows(self, x=None, q=None, joints=None):
        """(G (m, 6 n), J (n_free, 6 n)) of all joints at poses x, q, or at the knot now."""
        x, q = (self.x, self.q) if x is None else (x, q)
        blocks = ([], [])
        for joint in self.joints if joints is None else joints:
            for block, rows in zip(blocks, joint.rows(x, q), strict=True):
                wide = np.zeros((len(rows), self.n + 1, 6))
                wide[:, joint.a], wide[:, joint.b] = rows[:, :6], rows[:, 6:]
                block.append(wide[:, 1:].reshape(len(rows), 6 * self.n))
        return np.vstack(blocks[0]), np.vstack(blocks[1])

    def stretch(self):
        """Joint coordinates minus rest at the knot now, (n_free,)."""
        return joined(j.stretch(self.x, self.q, self.angles[j.name]) for j in self.joints)

    def constraint(self, x, q):
        return np.concatenate([joint.constraint(x, q) for joint in self.joints], axis=-1)

    def ahead(self, v, w, h):
        """Poses at knot 3 of all bodies; v, w (..., n, 3)."""
        still = np.zeros(v.shape[:-2] + (1, 3))
        v, w = np.concatenate([still, v], axis=-2), np.concatenate([still, w], axis=-2)
        return self.x + h * v, mul(self.q, increment(w, h))

    def rates(self, x3, q3, h):
        """(rate, armature momentum rate, change of coordinate) over the step of every freedom, (..., n_free)."""
        parts = []
        for joint in self.joints:
            s2, _, e2 = joint.coordinates(self.x, self.q)
            s3, th3, e3 = joint.coordinates(x3, q3)
            slide = (s3 - s2) / h
            if joint.ball:
                change = mul(conj(e2), e3)
                turn = 6.0 / h * change[..., 1:] / (2.0 + change[..., :1])
                parts.append((slide, turn, slide, turn, s3 - s2, h * turn))  # no armature here
            else:
                turn = wrapped(th3 - self.angles[joint.name])
                momentum = 0.5 * h * (single_rate(turn + 1j * TINY, h) ** 2).imag / TINY
                parts.append((slide, single_rate(turn, h), slide, momentum, s3 - s2, turn))
        return tuple(
            np.concatenate([a for part in parts for a in part[k : k + 2]], axis=-1)
            for k in (0, 2, 4)
        )

    def spin(self, w, h, sign):
        """Angular momentum at an end of the step (+1 its first knot, -1 its second); of no step J w."""
        if h == 0.0:
            return np.einsum("nij,...nj->...ni", self.inertia, w)
        return -sign / h * turn_slopes(increment(w, h), self.inertia, sign < 0.0)

    def motion(self):
        """Velocities and rates of rotation over the last step (6 n,)."""
        return np.hstack([self.v, mean_rate(self.w, self.h1)]).ravel()

    def balance(self, V, u, h):
        """Momentum balance of all bodies without constraint forces [N, N m] over h; V (..., 6 n)."""
        rho, V = self.h1 / h, V.reshape(*V.shape[:-1], self.n, 6)
        v, w = V[..., :3], V[..., 3:]
        x3, q3 = self.ahead(v, w, h)
        rate, momentum, change = self.rates(x3, q3, h)
        force = self.dampers[0].force(rate) + self.pull(x3, q3, change, rho)
        force += self.armature * (momentum - self.p12) / h - 0.5 * (rho * self.u + u)
        linear = self.mass[:, None] * ((v - self.v) / h - 0.5 * (1.0 + rho) * self.gravity)
        angular = (self.spin(w, h, 1.0) - self.spin(self.w, self.h1, -1.0)) / h
        balance = (
            np.concatenate([linear, angular], axis=-1).reshape(*V.shape[:-2], 6 * self.n)
            + force @ self.J
        )
        lengths = self.springs.lengths(x3, q3)
        tension = self.springs.force(*self.lengths, lengths, rho)
        tension = tension + self.dampers[1].force((lengths - self.lengths[1]) / h)
        return balance + tension @ self.S

    def pull(self, x3, q3, change, rho):
        """Force of the joints' springs (..., n_free): of the mean of the stretches at both ends, half at each knot.

        Those of three free rotations, of the mean of the relative quaternions at both ends.
        """
        stretch = self.stretch() + 0.5 * self.angular * change
        for at, joint in self.balls():
            stretch[..., at] = joint.mean_moment(self.x, self.q, x3, q3)[0]
        return 0.5 * self.stiffness * (rho * self.mean_stretch + stretch)

    def balls(self):
        """Joints with three free rotations, and where these are among the freedoms."""
        ends = np.cumsum([joint.n_free for joint in self.joints])
        return [
            (slice(end - 3, end), joint)
            for end, joint in zip(ends, self.joints, strict=True)
            if joint.ball
        ]

    def turned(self, w, h):
        """Derivatives (6 n, 6 n) of (x3, th3) over h with respect to (v, w)."""
        blocks = np.zeros((self.n, 6, self.n, 6))
        for i, back in enumerate(conj(increment(w, h))):
            half = 0.5 * h * w[i]
            change = np.vstack(
                [-half / back[0], np.eye(3)]
            ).T  # of the step's quaternion, along each of w
            blocks[i, :3, i, :3], blocks[i, 3:, i, 3:] = np.eye(3), mul(back, change)[:, 1:].T
        return blocks.reshape(6 * self.n, 6 * self.n)

    def solve(self, u, h, tolerance=1e-12):
        """Newton's method to rounding level, and one iteration more; returns V (6 n,) and the least multipliers."""
        V, lam = np.hstack([self.v, self.w]).ravel(), self.lam
        probe = 1e-5 / abs(h) * np.eye(6 * self.n)
        probes = np.vstack([0.0 * probe[:1], probe, -probe])  # one call for all is fast
        best = np.inf
        met = False
        scale = 1.0 + self.mass.max() * (1.0 / abs(h) + np.abs(self.gravity).max())
        scale += 1e-3 * np.max(
            self.springs.stiffness * self.lengths[1], initial=0.0
        )  # the rounding of their forces
        M = self.inertia_matrix()
        for _ in range(60):
            x3, q3 = self.ahead(*np.split(V.reshape(self.n, 6), 2, axis=1), h)
            (balance,), above, below = np.split(self.balance(V + probes, u, h), [1, 1 + len(V)])
            gap = self.constraint(x3, q3) / h
            error = np.abs(np.append(balance - lam @ self.G, gap)).max()
            if met and error <= 1e3 * tolerance * scale:
                return V, np.linalg.lstsq(self.G.T, balance, rcond=1e-9)[0]
            met = (
                error <= tolerance * scale or 0.5 * best <= error <= best <= 1e3 * tolerance * scale
            )
            best = min(best, error)
            D = (above - below).T / (2.0 * probe[0, 0])
            ahead = self.rows(x3, q3)[0] @ self.turned(V.reshape(self.n, 6)[:, 3:], h)
            dV, lam = newton_direction(M, h * D, self.G, ahead, -h * balance, -gap, h)
            while np.linalg.norm((V + dV).reshape(-1, 6)[:, 3:], axis=1).max() * abs(h) > 1.98:
                dV *= 0.5
            V = V + dV
        raise RuntimeError(f"the twin did not converge: residual {error:.1e}, scale {scale:.1e}")

    def step(self, u=None):
        """One time step with forces u (n_free,) held over it; those of closing joints may be left out."""
        u = np.zeros(0) if u is None else np.asarray(u, float)
        for fraction in COMPOSITION[self.order]:
            self.substep(np.append(u, np.zeros(len(self.damping) - len(u))), fraction * self.h)

    @property
    def dampers(self):
        """Dampers of joints, and of springs between points and along curves; their masses need all joints."""
        if self.made_dampers is None:
            self.made_dampers = self.make_dampers()
        return self.made_dampers

    def make_dampers(self):
        x, q = self.assembled
        G, J = self.rows(x, q)
        mobile = vibrations.mobility(self.inertia_matrix(J), G)
        rates = vibrations.end_rates(self.springs, x, q)
        slides = self.springs.rows(x, q)[len(rates) :]
        between = [vibrations.masses(each, mobile) for each in (rates, slides[:, None])]
        masses = vibrations.masses(J[:, None], mobile), np.concatenate(between)
        return (
            vibrations.Dampers(self.damping, self.stiffness, masses[0]),
            vibrations.Dampers(self.springs.damping, self.springs.stiffness, masses[1]),
        )

    def substep(self, u, h):
        for dampers in self.dampers:
            dampers.start(h, self.h1)
        self.G, self.J = self.rows()
        self.S = self.springs.rows(self.x, self.q)
        V, self.lam = self.solve(u, h)
        self.v, self.w = np.split(V.reshape(self.n, 6), 2, axis=1)
        x3, q3 = self.ahead(self.v, self.w, h)
        rate, self.p12, change = self.rates(x3, q3, h)
        self.work += u @ change
        for joint in self.joints:
            if not joint.ball:
                old = self.angles[joint.name]
                self.angles[joint.name] = old + wrapped(joint.coordinates(x3, q3)[1] - old)
        self.lengths = self.lengths[1], self.springs.lengths(x3, q3)
        after = joined(j.stretch(x3, q3, self.angles[j.name]) for j in self.joints)
        self.mean_stretch = after - 0.5 * self.angular * change
        for at, joint in self.balls():
            self.mean_stretch[at] = joint.mean_moment(self.x, self.q, x3, q3)[1]
        self.dissipated_steps += (
            0.5 * (self.h1 + h) * self.lost(rate, (self.lengths[1] - self.lengths[0]) / h)
        )
        self.speeds = rate, (self.lengths[1] - self.lengths[0]) / h
        for dampers, rates in zip(self.dampers, self.speeds, strict=True):
            dampers.end(rates)
        self.x = x3
        self.q = q3 / np.linalg.norm(q3, axis=1, keepdims=True)
        self.h1 = h
        self.u = u

    def inertia_matrix(self, J=None):
        """Mass and inertia of all bodies (6 n, 6 n), with J those of the armatures."""
        M = np.zeros((self.n, 6, self.n, 6))
        for i in range(self.n):
            M[i, :3, i, :3], M[i, 3:, i, 3:] = self.mass[i] * np.eye(3), self.inertia[i]
        M = M.reshape(6 * self.n, 6 * self.n)
        return M if J is None else M + J.T @ (self.armature[:, None] * J)

    def damped(self, p, M, J, S):
        """Momentum p and its inertia M with dampers of half the last step, along rows J and S."""
        for rows, dampers in zip((J, S), self.dampers, strict=True):
            slope, impulse = dampers.half(self.h1)
            p, M = p + impulse @ rows, M + rows.T * slope @ rows
        return p, M

    def knot_velocities(self):
        """(V (n, 6), joint rates (n_free,)): the left discrete momentum, projected on the velocity constraints."""
        G, J = self.rows()
        S = self.springs.rows(self.x, self.q)
        p = np.hstack(
            [
                self.mass[:, None] * (self.v + 0.5 * self.h1 * self.gravity),
                self.spin(self.w, self.h1, -1.0),
            ]
        )
        given = (
            0.5 * self.h1 * (self.u - self.stiffness * self.mean_stretch) + self.armature * self.p12
        )
        p = p.ravel() + given @ J - 0.5 * self.h1 * self.springs.pull(*self.lengths) @ S
        p, M = self.damped(p, self.inertia_matrix(J), J, S)
        V = least_motion(M, np.linalg.solve(M, p), G, np.zeros(len(G)))
        return V.reshape(self.n, 6), J @ V

    def energy(self):
        """(kinetic, potential) [J] at the knot; armature is kinetic, springs are potential."""
        V, rates = self.knot_velocities()
        kinetic = self.mass @ dot(V[:, :3], V[:, :3]) + np.einsum(
            "ni,nij,nj", V[:, 3:], self.inertia, V[:, 3:]
        )
        potential = 0.5 * self.stiffness @ self.stretch() ** 2 - self.mass @ (
            self.x[1:] @ self.gravity
        )
        return 0.5 * (kinetic + self.armature @ rates**2), potential + self.springs.energy(
            self.x, self.q
        )

    def dissipated(self):
        """Energy taken by dampers up to the knot now [J]."""
        V, rates = self.knot_velocities()
        stretching = self.springs.rows(self.x, self.q) @ V.ravel()
        return self.dissipated_steps + 0.5 * self.h1 * self.lost(rates, stretching)

    def lost(self, rates, stretching):
        """Power of dampers at these rates [W], at the mean of them and of those of the last step."""
        before, pulled = self.speeds
        of_joints, of_springs = (dampers.own for dampers in self.dampers)
        return 0.5 * (
            of_joints * rates @ (rates + before) + of_springs * stretching @ (stretching + pulled)
        )
