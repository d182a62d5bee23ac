"""The slow twin with contact, limits, dry friction, motors, couplings, skates and wheels.

Forces of the laws of `naive_laws` are unknowns of their own, next to those of the joints: the
step's equations are linearised with dense differences, all constraints are eliminated by least
squares, and the laws are solved in what is left (Josephy's Newton method). A step is accepted when
the equations as they stand and the laws by their definitions are met. With `prox` 0 contacts are
rigid, else a little soft, as in the compiled stepper (see `naive_soft`).
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from oracle.naive import Twin
from oracle.naive_drives import Drives, Freedoms, Rolling
from oracle.naive_joints import mean_rate
from oracle.naive_knot import knot_velocities
from oracle.naive_laws import miss, solve
from oracle.naive_linear import least_motion, newton_directions
from oracle.naive_pairs import SLIDES, pair_contacts
from oracle.naive_soft import PROX, SINKS, Softness, masses
from oracle.naive_touching import QUARTERS, Touching, TwinContact
from vigym.mechanism.elements.contacts import contact_features, wheel_rim

RESTS = 2.0  # steps of free fall: what lands more slowly does not bounce
PUSH = 1e-6  # of a start in penetration, at most this much is pushed out in a step [m, rad]


PROBE = 1e-5  # step of the differences [m, rad]
FINE = 1e-7  # where bodies touch each other: the nearest point of a level segment runs along it within 4e-5 rad


def contacts_of(mech, index):
    found = []
    for collision in mech.collisions.values() if mech.ground is not None else ():
        for touch in contact_features(collision):
            for quarter in QUARTERS if touch.kind == "rim" else [None]:
                found.append(
                    TwinContact(collision, touch, index[collision.body], mech.ground, quarter)
                )
    for wheel in mech.wheels.values():
        bare = SimpleNamespace(friction=0.0, torsion=0.0, restitution=0.0, direction=wheel.axis)
        place = wheel_rim(wheel), index[wheel.body], replace(mech.ground, friction=None)
        found += [TwinContact(bare, *place, quarter) for quarter in QUARTERS]
    return found + pair_contacts(mech, index)


class TouchingTwin(Twin):
    """One mechanism that touches the ground and itself; `targets` of its motors (motors,)."""

    def __init__(self, mech, timestep=0.01, prox=PROX):
        index = {"world": 0} | {name: i + 1 for i, name in enumerate(mech.bodies)}
        self.freedoms, self.rolling = Freedoms(mech), Rolling(mech, index)
        self.contacts, self.drives = contacts_of(mech, index), Drives(self.freedoms)
        self.driven = [at for at, _, _ in self.freedoms.motors]
        self.targets, self.prox = np.zeros(len(self.driven)), prox
        self.probe = FINE if mech.pairs else PROBE
        super().__init__(mech, timestep)
        G, J = Twin.rows(self)
        self.hefts = masses(self.contacts, self.inertia_matrix(J), G, self.q)

    def place(self, positions):
        closed = super().place(positions)
        self.touching = Touching(self.contacts, self.x, self.q)
        self.forces = np.zeros(self.touching.size + len(self.drives.along))
        self.approach = np.zeros(len(self.contacts))
        self.torques = np.zeros(self.freedoms.count)
        self.weight = 0.5
        return closed

    def start(self, rates, held):
        super().start(rates, held)
        A = self.rolling.rows(self.q, self.n)
        if len(A):
            rows = np.vstack([self.rows()[0], A])
            V = least_motion(
                self.inertia_matrix(),
                np.hstack([self.v, self.w]).ravel(),
                rows,
                np.zeros(len(rows)),
            )
            self.v, self.w = np.split(V.reshape(self.n, 6), 2, axis=1)

    def rows(self, x=None, q=None, joints=None):
        G, J = super().rows(x, q, joints)
        tied = (
            [J[a] - ratio * J[b] for a, b, ratio, _ in self.freedoms.couplings]
            if joints is None
            else []
        )
        return np.vstack([G, *tied]), J

    def constraint(self, x, q):
        gap = super().constraint(x, q)
        if not self.freedoms.couplings:
            return gap
        s = self.now + self.rates(x, q, 1.0)[2]
        tied = [
            s[..., a] - ratio * s[..., b] - offset
            for a, b, ratio, offset in self.freedoms.couplings
        ]
        return np.concatenate([gap, np.stack(tied, axis=-1)], axis=-1)

    @property
    def now(self):
        """Coordinates at the knot now (n_free,); zero for three rotations."""
        parts = []
        for joint in self.joints:
            parts += [
                joint.coordinates(self.x, self.q)[0],
                np.zeros(3) if joint.ball else self.angles[joint.name],
            ]
        return np.concatenate(parts)

    def prepare(self, h, torques):
        """Laws, rows and floors at the knot now."""
        last = self.forces / self.weight
        self.weight = 0.5 * (1.0 + self.h1 / h)
        self.torques = torques
        self.face(h, None)
        self.laws = self.touching.laws() + self.drives.laws(self.touching.size, self.weight)
        self.A = self.rolling.rows(self.q, self.n)
        self.stop_floors = np.minimum(0.0, self.drives.stops(self.now) + PUSH)
        self.soft = Softness(
            self.touching, self.hefts, h / self.weight, self.weight * last, self.prox
        )

    def face(self, h, places):
        """Contacts at the knot now, of two bodies at these places of their segments or where they are nearest."""
        self.touching = Touching(self.contacts, self.x, self.q, places)
        self.B = np.vstack([self.touching.rows(), self.drives.rows(self.J)])
        bounce = h * np.array([c.restitution for c in self.contacts]) * self.approach
        self.floors = np.where(bounce > 0.0, bounce, np.minimum(0.0, self.touching.gaps + PUSH))
        self.floors[self.covered()] = -1e3  # far below

    def covered(self):
        """Ends of what is over a partner that did not press and are next to the nearest point: one will do."""
        places = self.touching.places
        found = []
        nearest = 0
        pressed = self.forces[self.touching.starts] > 0.0
        for i, contact in enumerate(self.contacts):
            nearest = i if contact.guards else nearest
            end = contact.of_segment and not contact.guards and not pressed[i]
            if end and abs(places[i] - places[nearest]) < SLIDES:
                found.append(i)
        return found

    def face_anew(self, V, h):
        """Whether bodies overlap away from where a contact was; it is there from now on."""
        parts = V.reshape(self.n, 6)
        x3, q3 = self.ahead(parts[:, :3], parts[:, 3:], h)
        there, held = [c.place(x3, q3) for c in self.contacts], self.touching.places
        off = [c.guards and abs(new - old) > SLIDES and c.gap(x3, q3) < -SINKS
               for c, new, old in zip(self.contacts, there, held, strict=True)]  # fmt: skip
        if any(off):
            self.face(
                h, [new if away else old for new, old, away in zip(there, held, off, strict=True)]
            )
        return any(off)

    def quantities(self, V, h):
        """What the laws relate to the forces, over the step with velocities V (..., 6 n)."""
        V = V.reshape(*V.shape[:-1], self.n, 6)
        x3, q3 = self.ahead(V[..., :3], V[..., 3:], h)
        rate, _, change = self.rates(x3, q3, h)
        touch, s = (
            self.touching.quantities(x3, q3, mean_rate(V[..., 3:], h), h, self.floors),
            self.now + change,
        )
        stops = (self.drives.stops(s) - self.stop_floors) / h
        drive = self.drives.quantities(stops, s, rate, self.weight, self.torques, self.targets)
        return np.concatenate([touch, drive], axis=-1)

    def gaps(self, V, h):
        """Rates of what has to vanish (..., rows): joints and couplings, then skates and wheels."""
        parts = V.reshape(*V.shape[:-1], self.n, 6)
        x3, q3 = self.ahead(parts[..., :3], parts[..., 3:], h)
        slips = self.rolling.slips(self.x, self.q, x3, q3, h)
        return np.concatenate([self.constraint(x3, q3) / h, slips], axis=-1)

    def solve(self, u, h, tolerance=1e-12):
        """Newton's method on the equations, the laws solved within; returns V (6 n,) and the least multipliers."""
        torques = np.zeros(len(u))
        torques[self.driven] = u[self.driven]
        self.prepare(h, torques)
        while True:
            V, lam = self.newton(u - torques, h, tolerance)
            if not self.face_anew(V, h) and not self.soft.count_anew(self.forces, h):
                return V, lam[: len(self.G)]

    def newton(self, u, h, tolerance):
        """The same with the contacts' softness as it is; all multipliers."""
        V = np.hstack([self.v, self.w]).ravel()
        f = self.forces
        best = (np.inf,)
        scale = 1.0 + self.mass.max() * (1.0 / h + np.abs(self.gravity).max())
        rows = np.vstack([self.G, self.A])
        for _ in range(60):
            gap, balance, along, U, slopes = self.linear(V, u, h)
            W, b = slopes @ along[:, 1:], U + slopes @ along[:, 0]
            self.soft.add_to(W, b)
            U[: len(f)] += self.soft.yielding(f)
            lam = np.linalg.lstsq(rows.T, balance - f @ self.B, rcond=1e-9)[0]
            error = (
                np.abs(np.append(balance - lam @ rows - f @ self.B, gap)).max(initial=0.0) / scale
            )
            error += miss(self.laws, f, U, W) / (1.0 + np.abs(f).max(initial=0.0))
            if error >= 0.5 * best[0] and best[0] <= 1e2 * tolerance:
                _, V, lam, f = best
                self.forces = np.where(np.abs(f) > 1e-12 * np.abs(f).max(initial=0.0), f, 0.0)
                return V, lam
            best = min(best, (error, V, lam, f), key=lambda found: found[0])
            f = solve(self.laws, W, b, f)
            dV = along[:, 0] + along[:, 1:] @ f
            while np.linalg.norm((V + dV).reshape(-1, 6)[:, 3:], axis=1).max() * h > 1.98:
                dV *= 0.5
            V = V + dV
        raise RuntimeError(f"the twin did not converge: error {best[0]:.1e}")

    def linear(self, V, u, h):
        """(gaps, balance, motion without and by the forces of the laws, quantities, their derivatives) around V."""
        probe = self.probe / h * np.eye(6 * self.n)
        probes = np.vstack([0.0 * probe[:1], probe, -probe])  # one call for all is fast

        def linearized(function, *rest):
            (found,), above, below = np.split(function(V + probes, *rest), [1, 1 + len(V)])
            return found, (above - below).T / (2.0 * probe[0, 0])

        gap, ahead = linearized(self.gaps, h)
        balance, D = linearized(self.balance, u, h)
        sides, gaps = (
            np.column_stack([-h * balance, h * self.B.T]),
            np.zeros((len(gap), 1 + len(self.B))),
        )
        gaps[:, 0] = -gap
        rows, exact = np.vstack([self.G, self.A]), self.ahead_rows(V, h)
        ahead[: len(exact)] = exact
        along = newton_directions(self.inertia_matrix(), h * D, rows, ahead, sides, gaps)
        return gap, balance, along, *linearized(self.quantities, h)

    def ahead_rows(self, V, h):
        """Derivatives of the gaps of joints by their rows, which keep dependent ones exactly so."""
        parts = V.reshape(self.n, 6)
        x3, q3 = self.ahead(parts[:, :3], parts[:, 3:], h)
        return self.rows(x3, q3)[0] @ self.turned(parts[:, 3:], h)

    def substep(self, u, h):
        pressed, approach = self.forces[self.touching.starts] > 0.0, -self.approaching()
        super().substep(u, h)
        slow = RESTS * h * np.linalg.norm(self.gravity)
        lands = (self.forces[self.touching.starts] > 0.0) & ~pressed & (approach > slow)
        self.approach = np.where(lands, approach, 0.0)
        self.u = self.u - self.torques

    def approaching(self):
        """Velocities apart (contacts,) over the last step of what is lowest now [m/s]."""
        touching = Touching(self.contacts, self.x, self.q)
        return touching.rows()[touching.starts] @ self.motion()

    @property
    def touched(self):
        """Forces of the contacts in the last step, (contacts, 3) [N], world axes."""
        return self.touching.forces(self.forces) / self.weight

    def knot_velocities(self):
        """(V (n, 6), joint rates (n_free,)) at the knot now."""
        return knot_velocities(self)
