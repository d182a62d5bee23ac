"""Stabilised index-2 equations of Gear, Gupta and Leimkuhler in maximal coordinates (SIM Fig. 12).

Bodies move at their velocities and along the constraints, so that gaps and their rates vanish both:

    x' = V + M^-1 J' mu,    M V' = F + J' lambda,    g(x) = 0,    J V = 0

A step is semi-implicit: F, M and J are those at its start, g and J V those at its end. Simplified
Newton iterations with the factors of the start find first h lambda + mu, which moves bodies, by g,
then h lambda, which gives them their velocities, by J V.
"""

import numpy as np

from vigym.baselines.methods import BALLS, LOOPS
from vigym.baselines.multipliers import Maximal
from vigym.spatial import Array, batch_quaternion_product, batch_rotation_matrix

GIVEN_UP = 100  # iterations


class GearGuptaLeimkuhler(Maximal):
    """Semi-implicit GGL method: gaps and their rates are at most `tolerance` after each step."""

    name = "ggl"
    order = 1
    knows = frozenset((LOOPS, BALLS))

    def _advance(self) -> None:
        system, rows = self.system, self.system.rows
        h = self.timestep
        x, q = self._x, self._q
        R = batch_rotation_matrix(q)
        system.place(x, R)
        self.factorisations += 1
        forces = self._wrenches(R, self._V)
        V = self._V + h * system.accelerate(forces, np.zeros(len(rows.a)))
        U = V
        while True:
            self._x, self._q = x + h * U[:, :3], turned(q, h * U[:, 3:])
            rows.place(self._x, batch_rotation_matrix(self._q))
            if self._solved(rows.gaps):
                break
            U = U - self._along_rows(rows.gaps / h)
        while not self._solved(rows.rates(V)):
            V = V - self._along_rows(rows.rates(V))
        self._V = V

    def _along_rows(self, rates: Array) -> Array:
        """Return velocities M^-1 J' nu (n + 1, 6) that give rates J M^-1 J' nu at the start."""
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
