"""A slow twin of the variational step: dense, plain numpy, written from the equations alone.

Every body has six unknown velocities, every joint six rows: the constrained ones (G, with multipliers) and the free
ones (J, along which springs, dampers, armature and actuators act). One step is Newton's method on the full system,
its Jacobian by central differences, its linear solves dense. Nothing here knows of trees, elimination or lanes.

Notation: knots 1 (last), 2 (now), 3 (next); a step has half-step velocities v [m/s, world] and w [rad/s, body];
h1, h are the sizes of the last and of this step; e is a joint's relative orientation, the unit quaternion at zero.
"""

from __future__ import annotations

import numpy as np
from naive_joints import IDENTITY, TwinJoint, conj, cross, dot, increment, mul, wrapped

GAMMA = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
COMPOSITION = {2: (1.0,), 4: (GAMMA, 1.0 - 2.0 * GAMMA, GAMMA)}


class Twin:
    """The stepper of one mechanism; in arrays of poses body 0 is the world, other arrays leave the world out."""

    def __init__(self, mech, timestep=0.01, order=2):
        bodies = list(mech.bodies.values())
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        poses = {"world": (np.zeros(3), IDENTITY)} | {body.name: (body.position, body.orientation) for body in bodies}
        joints = mech.tree_joints
        self.joints = [TwinJoint(j, index[j.parent], index[j.child], poses[j.parent], poses[j.child]) for j in joints]
        self.n, self.h, self.order, self.gravity = len(bodies), timestep, order, mech.gravity
        self.mass, self.inertia = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
        freedoms = [j for j in joints for _ in j.prototype.velocities]
        self.damping, self.stiffness, self.armature = (
            np.array([getattr(j, name) for j in freedoms]) for name in ("damping", "stiffness", "armature")
        )
        self.reset()

    def reset(self, positions=None, velocities=None):
        """Joint coordinates by joint name (zero where absent) and knot rates of all freedoms (n_free,)."""
        x, q = np.zeros((self.n + 1, 3)), np.tile(IDENTITY, (self.n + 1, 1))
        placed, self.angles = {0}, {}
        while len(placed) <= self.n:
            joint = next(j for j in self.joints if j.a in placed and j.b not in placed)
            zero = np.append(np.zeros(len(joint.slides)), IDENTITY) if joint.ball else np.zeros(joint.n_free)
            value = np.atleast_1d(np.asarray((positions or {}).get(joint.name, zero), float))
            x[joint.b], q[joint.b] = joint.pose(x[joint.a], q[joint.a], value)
            self.angles[joint.name] = value[len(joint.slides) :]
            placed.add(joint.b)
        self.x, self.q, self.h1, self.work, self.dissipated_steps = x, q, 0.0, 0.0, 0.0
        self.u, self.p12 = np.zeros(len(self.damping)), np.zeros(len(self.damping))
        self.p12 += 0.0 if velocities is None else np.asarray(velocities, float)
        G, J = self.rows()
        V = np.linalg.solve(np.vstack([G, J]), np.append(np.zeros(len(G)), self.p12)).reshape(self.n, 6)
        self.v, self.w, self.lam = V[:, :3], V[:, 3:], np.zeros(len(G))

    def rows(self):
        """(G (m, 6 n), J (n_free, 6 n)) of all joints at the knot now."""
        blocks = ([], [])
        for joint in self.joints:
            for block, rows in zip(blocks, joint.rows(self.x, self.q), strict=True):
                wide = np.zeros((len(rows), self.n + 1, 6))
                wide[:, joint.a], wide[:, joint.b] = rows[:, :6], rows[:, 6:]
                block.append(wide[:, 1:].reshape(len(rows), 6 * self.n))
        return np.vstack(blocks[0]), np.vstack(blocks[1])

    def stretch(self):
        """Joint coordinates minus rest at the knot now, (n_free,)."""
        return np.concatenate([j.stretch(self.x, self.q, self.angles[j.name]) for j in self.joints])

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
            (s2, _, e2), (s3, th3, e3) = joint.coordinates(self.x, self.q), joint.coordinates(x3, q3)
            slide = (s3 - s2) / h
            if joint.ball:
                turn = 2.0 / h * mul(conj(e2), e3)[..., 1:]
                parts.append((slide, turn, slide, turn, s3 - s2, h * turn))  # no armature here
            else:
                turn = wrapped(th3 - self.angles[joint.name])
                parts.append((slide, 2.0 / h * np.sin(0.5 * turn), slide, np.sin(turn) / h, s3 - s2, turn))
        return tuple(np.concatenate([a for part in parts for a in part[k : k + 2]], axis=-1) for k in (0, 2, 4))

    def spin(self, w, h, sign):
        """Angular momentum c J w + sign h/2 w x J w at an end of the step (+1 its first knot, -1 its second)."""
        Jw = np.einsum("nij,...nj->...ni", self.inertia, w)
        return increment(w, h)[..., :1] * Jw + sign * 0.5 * h * cross(w, Jw)

    def residual(self, y, u, h):
        """Momentum balance of all bodies [N, N m] and position constraints at knot 3 over h; y (..., 6 n + m)."""
        rho, V = self.h1 / h, y[..., : 6 * self.n].reshape(*y.shape[:-1], self.n, 6)
        v, w = V[..., :3], V[..., 3:]
        x3, q3 = self.ahead(v, w, h)
        rate, momentum, _ = self.rates(x3, q3, h)
        force = 0.5 * (1.0 + rho) * (self.damping * rate + self.stiffness * self.stretch())
        force += self.armature * (momentum - self.p12) / h - 0.5 * (rho * self.u + u)
        linear = self.mass[:, None] * ((v - self.v) / h - 0.5 * (1.0 + rho) * self.gravity)
        angular = (self.spin(w, h, 1.0) - self.spin(self.w, self.h1, -1.0)) / h
        balance = np.concatenate([linear, angular], axis=-1).reshape(*y.shape[:-1], 6 * self.n)
        balance += force @ self.J - y[..., 6 * self.n :] @ self.G
        return np.concatenate([balance, self.constraint(x3, q3) / h], axis=-1)

    def solve(self, u, h, tolerance=1e-12):
        """Newton's method until the residual is at rounding level; returns y = (v and w of each body, lam)."""
        y = np.append(np.hstack([self.v, self.w]), self.lam)
        probe = np.where(np.arange(len(y)) < 6 * self.n, 1e-6, 1.0)  # the multipliers enter linearly
        best, scale = np.inf, 1.0 + self.mass.max() * (1.0 / abs(h) + np.abs(self.gravity).max())
        for _ in range(60):
            f = self.residual(y, u, h)
            error = np.abs(f).max()
            if error <= tolerance * scale or 0.5 * best <= error <= best <= 1e3 * tolerance * scale:
                return y
            best = min(best, error)
            up, down = (self.residual(y + sign * np.diag(probe), u, h) for sign in (1.0, -1.0))
            delta = np.linalg.solve(((up - down) / (2.0 * probe[:, None])).T, -f)
            while np.linalg.norm((y + delta)[: 6 * self.n].reshape(-1, 6)[:, 3:], axis=1).max() * abs(h) > 1.98:
                delta *= 0.5
            y = y + delta
        raise RuntimeError(f"the twin did not converge: residual {error:.1e}, scale {scale:.1e}")

    def step(self, u=None):
        """One time step with forces u (n_free,) held over it."""
        for fraction in COMPOSITION[self.order]:
            self.substep(np.zeros(len(self.damping)) if u is None else np.asarray(u, float), fraction * self.h)

    def substep(self, u, h):
        self.G, self.J = self.rows()
        y = self.solve(u, h)
        V = y[: 6 * self.n].reshape(self.n, 6)
        self.v, self.w, self.lam = V[:, :3], V[:, 3:], y[6 * self.n :]
        x3, q3 = self.ahead(self.v, self.w, h)
        rate, self.p12, change = self.rates(x3, q3, h)
        self.work += u @ change
        self.dissipated_steps += 0.5 * (self.h1 + h) * self.damping @ rate**2
        for joint in self.joints:
            if not joint.ball:
                old = self.angles[joint.name]
                self.angles[joint.name] = old + wrapped(joint.coordinates(x3, q3)[1] - old)
        self.x, self.q, self.h1, self.u = x3, q3 / np.linalg.norm(q3, axis=1, keepdims=True), h, u

    def knot_velocities(self):
        """(V (n, 6), joint rates (n_free,)): the left discrete momentum, projected on the velocity constraints."""
        G, J = self.rows()
        p = np.hstack([self.mass[:, None] * (self.v + 0.5 * self.h1 * self.gravity), self.spin(self.w, self.h1, -1.0)])
        M = np.zeros((self.n, 6, self.n, 6))
        for i in range(self.n):
            M[i, :3, i, :3], M[i, 3:, i, 3:] = self.mass[i] * np.eye(3), self.inertia[i]
        M = M.reshape(6 * self.n, 6 * self.n) + J.T @ ((0.5 * self.h1 * self.damping + self.armature)[:, None] * J)
        given = 0.5 * self.h1 * (self.u - self.stiffness * self.stretch()) + self.armature * self.p12
        K = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
        V = np.linalg.solve(K, np.append(p.ravel() + given @ J, np.zeros(len(G))))[: 6 * self.n]
        return V.reshape(self.n, 6), J @ V

    def energy(self):
        """(kinetic, potential) [J] at the knot; armature is kinetic, springs are potential."""
        V, rates = self.knot_velocities()
        kinetic = self.mass @ dot(V[:, :3], V[:, :3]) + np.einsum("ni,nij,nj", V[:, 3:], self.inertia, V[:, 3:])
        potential = 0.5 * self.stiffness @ self.stretch() ** 2 - self.mass @ (self.x[1:] @ self.gravity)
        return 0.5 * (kinetic + self.armature @ rates**2), potential

    def dissipated(self):
        """Energy taken by dampers up to the knot now [J]."""
        return self.dissipated_steps + 0.5 * self.h1 * self.damping @ self.knot_velocities()[1] ** 2
