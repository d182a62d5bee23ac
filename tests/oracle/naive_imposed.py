"""The slow twin with constraints of velocities, and with potentials of bodies."""

from __future__ import annotations

import numpy as np

from oracle.naive_inputs import DrivenTwin
from oracle.naive_joints import conj, matrix, mul, rotate


class ImposedTwin(DrivenTwin):
    """One mechanism; the rows of its velocity constraints come behind all others."""

    def __init__(self, mech, timestep=0.01):
        self.constraints = list(mech.velocity_constraints.values())
        self.fields = [(list(mech.bodies).index(p.body), p) for p in mech.potentials.values()]
        self.made = np.zeros(len(self.constraints))
        super().__init__(mech, timestep)

    def reset(self, positions=None, velocities=None, held=None):
        self.made = np.zeros(len(self.constraints))
        return super().reset(positions, velocities, held)

    def directions(self, weights, frame_of, q):
        """Weights (n + 1, 2, 3) of all bodies, the world first, in world axes at orientations q."""
        wide = np.zeros((self.n + 1, 2, 3))
        for body, own in weights.items():
            frame = frame_of(body)
            turn = np.eye(3) if frame == "world" else matrix(q[self.numbers[frame] + 1])
            wide[self.numbers[body] + 1] = own.reshape(2, 3) @ turn.T
        return wide

    def velocity_rows(self, q, pushed=False):
        """Rows (n_constraints, 6 n) of the weights, or of the pushes, at one knot."""
        found = []
        for each in self.constraints:
            weights = each.pushes if pushed and each.pushes is not None else each.terms
            wide = self.directions(weights, each.frame_of, q)
            for i in range(1, self.n + 1):
                wide[i, 1] = rotate(conj(q[i]), wide[i, 1])
            found.append(wide[1:].reshape(6 * self.n))
        return np.reshape(found, (-1, 6 * self.n))

    def way(self, x3, q3):
        """What the constraints' sums make from the knot now to poses (n_constraints,)."""
        turns = mul(conj(self.q), q3)
        turns = 6.0 / (2.0 + turns[:, :1]) * turns[:, 1:]
        moved = np.stack(
            [x3 - self.x, [rotate(q, t) for q, t in zip(self.q, turns, strict=True)]], 1
        )
        ends = [
            [self.directions(each.terms, each.frame_of, q) for each in self.constraints]
            for q in (self.q, q3)
        ]
        return np.array([0.5 * np.sum((a + b) * moved) for a, b in zip(*ends, strict=True)])

    def way_derivative(self, x3, q3, e=1e-6):
        """Derivative (n_constraints, 6 n) of the way by shifts and rotations, by differences."""
        columns = []
        for i in range(1, self.n + 1):
            for k in range(6):
                ends = []
                for sign in (1.0, -1.0):
                    x, q = x3.copy(), q3.copy()
                    if k < 3:
                        x[i, k] += sign * e
                    else:
                        turn = np.append(1.0, 0.5 * sign * e * np.eye(3)[k - 3])
                        q[i] = mul(q3[i], turn / np.linalg.norm(turn))
                    ends.append(self.way(x, q))
                columns.append((ends[0] - ends[1]) / (2.0 * e))
        return np.array(columns).T.reshape(len(self.constraints), 6 * self.n)

    def rows(self, x=None, q=None, joints=None):
        G, J = super().rows(x, q, joints)
        if joints is not None or not self.constraints:
            return G, J
        own = self.velocity_rows(self.q, pushed=True) if x is None else self.way_derivative(x, q)
        return np.vstack([G, own]), J

    def constraint(self, x, q):
        if not self.constraints:
            return super().constraint(x, q)
        return np.append(super().constraint(x, q), self.way(x, q) - self.made)

    def field(self, q=None):
        """Forces [N] and torques [N m, body axes] of all potentials at the knot now (6 n,)."""
        W = np.zeros((self.n, 6))
        for i, potential in self.fields:
            force, torque = potential.forces(self.x[i + 1].copy(), self.q[i + 1].copy())
            W[i, :3] += force
            W[i, 3:] += rotate(conj(self.q[i + 1]), np.array(torque))
        return W.ravel()

    def balance(self, V, u, h):
        return super().balance(V, u, h) - 0.5 * (1.0 + self.h1 / h) * self.field()

    def start(self, rates, held):
        """Knot velocities from tree rates, as near to them as the constraints allow."""
        constraints, self.constraints = self.constraints, []
        super().start(rates, held)
        self.constraints = constraints
        if constraints:
            self.lam = np.zeros(len(self.rows()[0]))
            V, speeds, _ = self.knot()
            self.speeds = speeds, self.speeds[1]
            self.p12 = speeds
            self.v, self.w = V[:, :3], V[:, 3:]

    def substep(self, u, h):
        self.made = np.array([each.over_step(self.t, self.t + h)[0] for each in self.constraints])
        pushes = self.velocity_rows(self.q, pushed=True)
        rates = np.array([each.rate_at(self.t) for each in self.constraints])
        before = self.motion()
        super().substep(u, h)
        along = 0.5 * pushes @ (before + self.motion())
        own = [each.pushes is not None for each in self.constraints]
        lam = self.lam[len(self.lam) - len(self.constraints) :]
        self.steps_work += h * lam @ np.where(own, along, rates)
        self.made = np.zeros(len(self.constraints))

    def knot(self):
        """(V (n, 6), joint rates, impulses of the velocity constraints) at the knot."""
        P, J = self.rows()
        G = P.copy()
        first = len(P) - len(self.constraints)
        G[first:] = self.velocity_rows(self.q)
        S = self.springs.rows(self.x, self.q)
        half = 0.5 * self.h1
        linear = self.mass[:, None] * (self.v + half * self.gravity)
        p = np.hstack([linear, self.spin(self.w, self.h1, -1.0)]).ravel()
        given = half * (self.u - self.stiffness * self.mean_stretch) + self.armature * self.p12
        p += given @ J - half * self.springs.pull(*self.lengths) @ S
        p, M = self.damped(p, self.inertia_matrix(J), J, S)
        p += half * (self.wrench(self.last, self.x, self.q) + self.field())
        wished = np.zeros(len(G))
        wished[first:] = [each.rate_at(self.t) for each in self.constraints]
        K = np.block([[M, -P.T], [G, np.zeros((len(G), len(G)))]])
        found = np.linalg.lstsq(K, np.append(p, wished), rcond=1e-13)[0]
        V = found[: len(M)]
        return V.reshape(self.n, 6), J @ V, found[len(M) + first :]

    @property
    def work(self):
        """Work of wrenches and velocity constraints up to the knot [J]."""
        V, _, impulses = self.knot()
        pushes = self.velocity_rows(self.q, pushed=True)
        along = 0.5 * pushes @ (V.ravel() + self.motion())
        rates = np.array([each.rate_at(self.t) for each in self.constraints])
        own = [each.pushes is not None for each in self.constraints]
        return self.steps_work + impulses @ np.where(own, along, rates)

    @work.setter
    def work(self, value):
        """Leave out the work of actuators: there are none."""

    def energy(self):
        kinetic, potential = super().energy()
        own = [p.energy(self.x[i + 1].copy(), self.q[i + 1].copy()) for i, p in self.fields]
        return kinetic, potential + sum(own)
