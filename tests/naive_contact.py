"""The slow twin with contact, limits, dry friction, motors, couplings, skates and wheels.

Forces of the laws of `naive_laws` are unknowns of their own, next to those of the joints: the step's equations are
linearised with dense differences, all constraints are eliminated by least squares, and the laws are solved in what is
left (Josephy's Newton method). A step is accepted when the equations as they stand and the laws by their definitions
are met.

Redundant contacts leave their forces undetermined, and with friction the motion, too. So the stepper measures a small
part of each force against the last step's, which makes rows of contacts slightly soft for changes of force. With
`prox` this twin does the same; with 0 it solves the laws as they are.
"""

from __future__ import annotations

import numpy as np
from naive import Twin
from naive_drives import Drives, Freedoms, Rolling
from naive_joints import conj, mul, rotation_vector
from naive_laws import miss, solve
from naive_linear import least_motion, newton_directions
from naive_touching import QUARTERS, Touching, TwinContact

from vigym.mechanism.touching import touch_points

PROX = 1e-6  # the part of a contact's force that is measured against the last step's
SHUT, STOPPED = 1e-6, 1e-7  # gap [m] and distance from a limit [m, rad] below which they hold the velocity of a knot
PUSH = 1e-6  # of a start in penetration, at most this much is pushed out in a step [m, rad]


def heft(body, point):
    """The least mass that a force at a point of a free body moves [kg]."""
    arm = np.cross(np.eye(3), point)
    compliance = np.eye(3) / body.mass + arm @ np.linalg.solve(body.inertia, arm.T)
    return 1.0 / np.linalg.eigvalsh(compliance)[-1]


def contacts_of(mech, index):
    found = []
    for collision in mech.collisions.values():
        for touch in touch_points(collision):
            for quarter in QUARTERS if touch.kind == "rim" else [None]:
                found.append(TwinContact(collision, touch, index[collision.body], mech.ground, quarter))
    return found


class TouchingTwin(Twin):
    """One mechanism that touches the ground; `targets` of its motors (motors,)."""

    def __init__(self, mech, timestep=0.01, prox=PROX):
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        self.freedoms, self.rolling = Freedoms(mech), Rolling(mech, index)
        self.contacts, self.drives = contacts_of(mech, index), Drives(self.freedoms)
        self.driven = [at for at, _, _ in self.freedoms.motors]
        self.targets = np.zeros(len(self.driven))
        self.prox, self.hefts = prox, [heft(list(mech.bodies.values())[c.body - 1], c.point) for c in self.contacts]
        super().__init__(mech, timestep)

    def place(self, positions):
        closed = super().place(positions)
        self.touching = Touching(self.contacts, self.x, self.q)
        self.forces = np.zeros(self.touching.size + len(self.drives.along))
        self.approach, self.mean_stretch = np.zeros(len(self.contacts)), np.zeros(self.freedoms.count)
        self.torques, self.weight = np.zeros(self.freedoms.count), 0.5
        return closed

    def start(self, rates, held):
        super().start(rates, held)
        A = self.rolling.rows(self.q, self.n)
        if len(A):
            rows = np.vstack([self.rows()[0], A])
            V = least_motion(self.inertia_matrix(), np.hstack([self.v, self.w]).ravel(), rows, np.zeros(len(rows)))
            self.v, self.w = np.split(V.reshape(self.n, 6), 2, axis=1)

    def rows(self, x=None, q=None, joints=None):
        G, J = super().rows(x, q, joints)
        tied = [J[a] - ratio * J[b] for a, b, ratio, _ in self.freedoms.couplings] if joints is None else []
        return np.vstack([G, *tied]), J

    def constraint(self, x, q):
        gap = super().constraint(x, q)
        if not self.freedoms.couplings:
            return gap
        s = self.now + self.rates(x, q, 1.0)[2]
        tied = [s[..., a] - ratio * s[..., b] - offset for a, b, ratio, offset in self.freedoms.couplings]
        return np.concatenate([gap, np.stack(tied, axis=-1)], axis=-1)

    @property
    def now(self):
        """Coordinates at the knot now (n_free,); zero for three rotations."""
        parts = []
        for joint in self.joints:
            parts += [joint.coordinates(self.x, self.q)[0], np.zeros(3) if joint.ball else self.angles[joint.name]]
        return np.concatenate(parts)

    def stretch_at(self, x, q):
        """Joint coordinates minus rest (..., n_free) at poses one step from the knot now."""
        parts, change, start = [], self.rates(x, q, 1.0)[2], 0
        for joint in self.joints:
            s = joint.stretch(self.x, self.q, self.angles[joint.name]) + change[..., start : start + joint.n_free]
            if joint.ball:
                turn = rotation_vector(mul(conj(joint.q_rest), joint.coordinates(x, q)[2])) - joint.rest[-3:]
                s = np.concatenate([s[..., :-3], turn], axis=-1)
            parts.append(s)
            start += joint.n_free
        return np.concatenate(parts, axis=-1)

    def pull(self, x3, q3, rho):
        """Of the mean of the stretches at both ends of a step, half at each knot."""
        ahead = self.stiffness * 0.5 * (self.stretch() + self.stretch_at(x3, q3))
        return 0.5 * (rho * self.stiffness * self.mean_stretch + ahead)

    def last_pull(self):
        return self.stiffness * self.mean_stretch

    def prepare(self, h, torques):
        """Laws, rows and floors at the knot now."""
        last, self.weight, self.torques = self.forces / self.weight, 0.5 * (1.0 + self.h1 / h), torques
        self.touching = Touching(self.contacts, self.x, self.q)
        self.laws = self.touching.laws() + self.drives.laws(self.touching.size, self.weight)
        self.B, self.A = np.vstack([self.touching.rows(), self.drives.rows(self.J)]), self.rolling.rows(self.q, self.n)
        gaps, bounce = self.touching.gaps, h * np.array([c.restitution for c in self.contacts]) * self.approach
        self.floors = np.where(gaps < 0.0, np.minimum(0.0, gaps + PUSH), bounce)
        self.soften(h, last)
        self.stop_floors = np.minimum(0.0, self.drives.stops(self.now) + PUSH)

    def soften(self, h, last):
        """Compliance (rows,) of the contacts' rows and the forces from which it counts."""
        self.soft, self.anchor = np.zeros(len(last)), self.weight * last
        for start, contact, mass in zip(self.touching.starts, self.contacts, self.hefts, strict=True):
            mu = contact.friction
            part = mu.max() ** 2 / np.array([1.0, mu[0] ** 2 or np.inf, mu[1] ** 2 or np.inf])
            part[0] = 1.0
            self.soft[start : start + 3] = self.prox * h / mass / self.weight * part

    def quantities(self, V, h):
        """What the laws relate to the forces, over the step with velocities V (..., 6 n)."""
        V = V.reshape(*V.shape[:-1], self.n, 6)
        x3, q3 = self.ahead(V[..., :3], V[..., 3:], h)
        rate, _, change = self.rates(x3, q3, h)
        touch, s = self.touching.quantities(x3, q3, V[..., 3:], h, self.floors), self.now + change
        stops = (self.drives.stops(s) - self.stop_floors) / h
        drive = self.drives.quantities(stops, s, rate, self.weight, self.torques, self.targets)
        return np.concatenate([touch, drive], axis=-1)

    def solve(self, u, h, tolerance=1e-12):
        """Newton's method on the equations, the laws solved within; returns V (6 n,) and the least multipliers."""
        torques = np.zeros(len(u))
        torques[self.driven] = u[self.driven]
        self.prepare(h, torques)
        u, V, f, best = u - torques, np.hstack([self.v, self.w]).ravel(), self.forces, (np.inf,)
        scale = 1.0 + self.mass.max() * (1.0 / h + np.abs(self.gravity).max())
        for _ in range(60):
            gap, balance, right, b, W = self.linear(V, u, h)
            rows = np.vstack([self.G, self.A])
            lam = np.linalg.lstsq(rows.T, balance - f @ self.B, rcond=1e-9)[0]
            error = np.abs(np.append(balance - lam @ rows - f @ self.B, gap)).max(initial=0.0) / scale
            error += miss(self.laws, f, self.softened(self.quantities(V, h), f), W) / (1.0 + np.abs(f).max(initial=0.0))
            if error >= 0.5 * best[0] and best[0] <= 1e2 * tolerance:
                _, V, lam, f = best
                self.forces = np.where(np.abs(f) > 1e-12 * np.abs(f).max(initial=0.0), f, 0.0)
                return V, lam[: len(self.G)]
            best = min(best, (error, V, lam, f), key=lambda found: found[0])
            f = solve(self.laws, W, b, f)
            dV = right[:, 0] + right[:, 1:] @ f
            while np.linalg.norm((V + dV).reshape(-1, 6)[:, 3:], axis=1).max() * h > 1.98:
                dV *= 0.5
            V = V + dV
        raise RuntimeError(f"the twin did not converge: error {best[0]:.1e}")

    def linear(self, V, u, h):
        """(gaps, balance, motion without and by the forces of the laws, quantities b + W f) around V."""
        x3, q3 = self.ahead(*np.split(V.reshape(self.n, 6), 2, axis=1), h)
        gap, balance = np.append(self.constraint(x3, q3) / h, self.A @ V), self.balance(V, u, h)
        probe = 1e-5 / h * np.eye(6 * self.n)
        D = (self.balance(V + probe, u, h) - self.balance(V - probe, u, h)).T / (2.0 * probe[0, 0])
        slopes = (self.quantities(V + probe, h) - self.quantities(V - probe, h)).T / (2.0 * probe[0, 0])
        ahead = np.vstack([self.rows(x3, q3)[0] @ self.turned(V.reshape(self.n, 6)[:, 3:], h), self.A])
        rows, sides = np.vstack([self.G, self.A]), np.column_stack([-h * balance, h * self.B.T])
        gaps = np.column_stack([-gap, np.zeros((len(gap), len(self.B)))])
        along = newton_directions(self.inertia_matrix(), h * D, rows, ahead, sides, gaps)
        b, W = self.quantities(V, h) + slopes @ along[:, 0], slopes @ along[:, 1:]
        W[: len(self.soft)] += np.diag(self.soft)
        b[: len(self.soft)] -= self.soft * self.anchor
        return gap, balance, along, b, W

    def softened(self, u, f):
        u[: len(f)] += self.soft * (f - self.anchor)
        return u

    def substep(self, u, h):
        before = self.stretch()
        super().substep(u, h)
        self.mean_stretch = 0.5 * (before + self.stretch())
        self.u = self.u - self.torques

    @property
    def touched(self):
        """Forces of the contacts in the last step, (contacts, 3) [N], world axes."""
        return self.touching.forces(self.forces) / self.weight

    def knot_velocities(self):
        """(V (n, 6), joint rates): the left momentum, and impulses of half a step that obey the laws at the knot."""
        (G, J), S, half = self.rows(), self.springs.rows(self.x, self.q), 0.5 * self.h1
        p = np.hstack([self.mass[:, None] * (self.v + half * self.gravity), self.spin(self.w, self.h1, -1.0)])
        M = self.inertia_matrix(J) + half * (J.T * self.damping @ J + S.T * self.springs.damping @ S)
        p = p.ravel() + (half * (self.u - self.last_pull()) + self.armature * self.p12) @ J
        p = np.linalg.solve(M, p - half * self.springs.pull(*self.lengths) @ S)
        tied = np.vstack([G, self.rolling.rows(self.q, self.n)])
        loaded = [self.h1 > 0.0 and contact.gap(self.x, self.q) < SHUT for contact in self.contacts]
        touching = Touching([c for c, on in zip(self.contacts, loaded, strict=True) if on], self.x, self.q)
        met = self.drives.stops(self.now) < (STOPPED if self.h1 > 0.0 else -np.inf)
        drives = Drives(self.freedoms, [stop for stop, on in zip(self.drives.limits, met, strict=True) if on])
        laws, B = touching.laws() + drives.laws(touching.size, half), np.vstack([touching.rows(), drives.rows(J)])

        def quantities(V):
            stops, rate = B[touching.size : touching.size + len(drives.limits)] @ V, J @ V
            drive = drives.quantities(stops, self.now, rate, half, self.torques, self.targets)
            return np.append(B[: touching.size] @ V, drive)

        along = np.column_stack([p, np.linalg.solve(M, B.T)])
        along = np.column_stack([least_motion(M, V, tied, np.zeros(len(tied))) for V in along.T])
        rest = quantities(np.zeros(len(M)))
        slopes = np.array([quantities(V) - rest for V in np.eye(len(M))]).T
        f = solve(laws, slopes @ along[:, 1:], rest + slopes @ along[:, 0], np.zeros(len(B)))
        V = along[:, 0] + along[:, 1:] @ f
        return V.reshape(self.n, 6), J @ V
