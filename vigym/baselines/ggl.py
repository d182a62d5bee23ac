"""Stabilised index-2 equations of Gear, Gupta and Leimkuhler in maximal coordinates (SIM Fig. 12).

Bodies move at their velocities and along the constraints, so that gaps and their rates vanish both:

    x' = V + M^-1 J' mu,    M V' = F + J' lambda,    g(x) = 0,    J V = 0

The step is that of leapfrog: half of the impulses h F and J' h lambda act at the start, with the J
there, and half at the end, with the J there. Those of the start, which also hold mu, follow from g
by Newton's method: J(x') M^-1 J(x)' is dense, and regular also between singular poses. Those of the
end follow from J V = 0 by one solution.
"""

import numpy as np

from vigym.baselines.multipliers import Maximal
from vigym.spatial import Array, batch_quaternion_product, batch_rotation_matrix

GIVEN_UP = 100  # iterations


class GearGuptaLeimkuhler(Maximal):
    """GGL method of second order: gaps are at most `tolerance`, their rates zero to rounding."""

    name = "ggl"
    order = 2

    def _start(self, q: Array, rates: Array) -> None:
        super()._start(q, rates)
        self.system.place(self._x, batch_rotation_matrix(self._q))

    def _advance(self) -> None:
        system, before = self.system, self._V
        half = 0.5 * self.timestep
        U = before + half * self._free_acceleration(before)
        U = self._move(U)
        self._check_places()
        system.place(self._x, batch_rotation_matrix(self._q))
        self.factorisations += 1
        V = U + half * self._free_acceleration(2.0 * U - before)
        self._V = V - self._along_rows(system.rows.rates(V))

    def _free_acceleration(self, V: Array) -> Array:
        """Return accelerations (n + 1, 6) at the present poses, without the curvature of rows."""
        forces = self._wrenches(batch_rotation_matrix(self._q), V)
        return self.system.accelerate(forces, np.zeros(len(self.system.rows.a)))

    def _move(self, U: Array) -> Array:
        """Move bodies by U, and along the rows at the start until gaps vanish; return the sum."""
        h, rows = self.timestep, self.system.rows
        x, q = self._x, self._q
        answers = self.system.answers(rows.matrix())
        while True:
            self._x, self._q = x + h * U[:, :3], turned(q, h * U[:, 3:])
            rows.place(self._x, batch_rotation_matrix(self._q))
            if self._solved(rows.gaps):
                return U
            self.factorisations += 1
            slopes = np.einsum("inc,jnc->ij", rows.matrix(), answers)
            impulses = np.linalg.lstsq(slopes, rows.gaps / h, rcond=1e-12)[0]
            U = U - np.einsum("i,inc->nc", impulses, answers)

    def _along_rows(self, rates: Array) -> Array:
        """Return velocities M^-1 J' nu (n + 1, 6) whose rates J M^-1 J' nu are as given (rows,)."""
        return self.system.accelerate(np.zeros_like(self._V), -rates)

    def _solved(self, residuals: Array) -> bool:
        """Return whether residuals are small; count an iteration where they are not."""
        largest = float(np.max(np.abs(residuals), initial=0.0))
        if largest <= self.tolerance:
            return True
        self.iterations += 1
        if self.iterations > GIVEN_UP or not np.isfinite(largest):
            raise self._error(f"no solution in {self.iterations} iterations")
        return False


def turned(q: Array, angles: Array) -> Array:
    """Return quaternions (n, 4) turned by rotation vectors (n, 3) [rad] in the world."""
    half = 0.5 * angles
    size = np.linalg.norm(half, axis=1, keepdims=True)
    turn = np.hstack([np.cos(size), np.sinc(size / np.pi) * half])
    result: Array = batch_quaternion_product(turn, q)
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    return result
