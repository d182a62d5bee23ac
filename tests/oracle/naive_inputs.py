"""The slow twin with held wrenches on bodies and prescribed motions of joints."""

from __future__ import annotations

import numpy as np

from oracle.naive import Twin
from oracle.naive_joints import conj, cross, rotate, wrapped
from oracle.naive_linear import least_motion


class DrivenTwin(Twin):
    """One mechanism without loops; `held` is body -> (force, torque, point, whether they turn with it)."""

    def __init__(self, mech, timestep=0.01):
        self.numbers = {name: i for i, name in enumerate(mech.bodies)}
        self.moved = [mech.velocity_names.index(name) for name in mech.motions]
        self.motions = list(mech.motions.values())
        self.held, self.last = {}, {}
        self.t, self.steps_work = 0.0, 0.0
        super().__init__(mech, timestep)

    def reset(self, positions=None, velocities=None, held=None):
        self.held, self.last = {}, {}
        self.t, self.steps_work = 0.0, 0.0
        self.goal = np.array([motion.at(0.0)[0] for motion in self.motions])
        return super().reset(positions, velocities, held)

    def wrench(self, held, x, q):
        """Forces [N, world] and torques [N m, body axes] on all bodies (6 n,)."""
        W = np.zeros((self.n, 6))
        for name, (force, torque, point, turns) in held.items():
            i = self.numbers[name]
            back = conj(q[i + 1])
            force, torque, point = np.array([force, torque, point], float)
            own = force if turns else rotate(back, force)
            W[i, :3] = rotate(q[i + 1], own)
            W[i, 3:] = (torque if turns else rotate(back, torque)) + cross(point, own)
        return W.ravel()

    def balance(self, V, u, h):
        rho = self.h1 / h
        now, before = (self.wrench(held, self.x, self.q) for held in (self.held, self.last))
        return super().balance(V, u, h) - 0.5 * (rho * before + now)

    def rows(self, x=None, q=None, joints=None):
        G, J = super().rows(x, q, joints)
        return (np.vstack([G, J[self.moved]]), J) if joints is None else (G, J)

    def constraint(self, x, q):
        parts = []
        for joint in self.joints:
            s, angles, _ = joint.coordinates(x, q)
            turns = np.zeros((*s.shape[:-1], 3)) if angles is None else angles
            parts += [s, turns]
        off = np.concatenate(parts, axis=-1)[..., self.moved] - self.goal
        off = np.where(self.angular[self.moved] * self.turning[self.moved], wrapped(off), off)
        return np.concatenate([super().constraint(x, q), off], axis=-1)

    @property
    def turning(self):
        """Whether a freedom is a rotation."""
        parts = [[False] * len(j.slides) + [True] * len(j.turns) for j in self.joints]
        return np.concatenate(parts)

    def substep(self, u, h):
        before, rates = (self.x, self.q), self.speeds[0]
        self.goal = np.array([motion.at(self.t + h)[0] for motion in self.motions])
        super().substep(u, h)
        self.t += h
        V = self.motion()
        ends = [self.wrench(self.held, *pose) for pose in (before, (self.x, self.q))]
        self.steps_work += 0.5 * h * sum(ends) @ V
        lam = self.lam[len(self.lam) - len(self.moved) :]
        self.steps_work += 0.5 * h * lam @ (rates + self.speeds[0])[self.moved]
        self.last = dict(self.held)

    def knot_velocities(self):
        return self.knot()[:2]

    def knot(self):
        """(V (n, 6), joint rates, impulses of the prescribed motions) at the knot."""
        G, J = self.rows()
        momentum = np.hstack(
            [
                self.mass[:, None] * (self.v + 0.5 * self.h1 * self.gravity),
                self.spin(self.w, self.h1, -1.0),
            ]
        ).ravel()
        half = 0.5 * self.h1
        given = half * (self.u - self.stiffness * self.mean_stretch) + self.armature * self.p12
        p = momentum + given @ J + half * self.wrench(self.last, self.x, self.q)
        p, M = self.damped(p, self.inertia_matrix(J), J, self.springs.rows(self.x, self.q))
        wished = np.zeros(len(G))
        wished[len(G) - len(self.moved) :] = [motion.at(self.t)[1] for motion in self.motions]
        V = least_motion(M, np.linalg.solve(M, p), G, wished)
        impulses = np.linalg.lstsq(G.T, M @ V - p, rcond=None)[0]
        return V.reshape(self.n, 6), J @ V, impulses[len(G) - len(self.moved) :]

    @property
    def work(self):
        """Work of wrenches and motions up to the knot [J]."""
        _, rates, impulses = self.knot()
        return self.steps_work + 0.5 * impulses @ (rates + self.speeds[0])[self.moved]

    @work.setter
    def work(self, value):
        """Leave out the work of actuators: there are none."""
