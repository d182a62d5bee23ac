"""Pinned rods by accelerations with multipliers and Runge-Kutta 4: energy and joint gaps drift.

python examples/runge_kutta.py
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
GRAVITY = 9.81  # [m/s^2]


class Rods:
    """Chain of uniform rods of 1 kg between `points` (n + 1, 2) [m], x and z, pinned to the world.

    Args:
        points: ends of the rods; the first one is pinned to the world.
        closed: whether the last one is, too.
    """

    def __init__(self, points: list[tuple[float, float]], closed: bool = False) -> None:
        self.ends, self.closed = np.array(points), closed
        self.centres = (self.ends[1:] + self.ends[:-1]) / 2
        self.halves = (self.ends[1:] - self.ends[:-1]) / 2
        self.inertia = (self.halves**2).sum(axis=1) / 3  # about the centres [kg m^2]
        self.masses = np.column_stack((np.ones_like(self.centres), self.inertia)).ravel()

    def arms(self, angles: Array) -> Array:
        """Return the vectors from the centres to the far ends (n, 2) [m]."""
        normals = np.column_stack((-self.halves[:, 1], self.halves[:, 0]))
        return np.asarray(np.cos(angles)[:, None] * self.halves + np.sin(angles)[:, None] * normals)

    def rates(self, state: Array) -> Array:
        """Return the derivative of x, z, angle (2, n, 3): M a + J^T lam = f, J a = bias."""
        arms, n = self.arms(state[0, :, 2]), len(self.centres)
        jacobian, bias = np.zeros((2 * n + 2, 3 * n)), np.zeros(2 * n + 2)
        rows = 2 * n + 2 * self.closed
        for rod, (x, z) in enumerate(arms):  # between the pin of its index and the next one
            ends = [[-1, 0, -z], [0, -1, x], [1, 0, -z], [0, 1, x]]
            jacobian[2 * rod : 2 * rod + 4, 3 * rod : 3 * rod + 3] = ends
            bias[2 * rod : 2 * rod + 4] += state[1, rod, 2] ** 2 * np.array([x, z, x, z])
        J, force = jacobian[:rows], np.append(np.tile((0.0, -GRAVITY, 0.0), n), bias[:rows])
        matrix = np.block([[np.diag(self.masses), J.T], [J, np.zeros((rows, rows))]])
        return np.array([state[1], np.linalg.solve(matrix, force)[: 3 * n].reshape(-1, 3)])

    def run(self, step: float, every: int = 1) -> Iterator[tuple[float, float]]:
        """Yield energy [J] and largest gap of pins [m] at rest and after every so many steps."""
        state = np.pad(self.centres[None], ((0, 1), (0, 0), (0, 1)))
        while True:
            energy = 0.5 * self.masses @ state[1].ravel() ** 2 + GRAVITY * state[0, :, 1].sum()
            centres, arms = state[0, :, :2], self.arms(state[0, :, 2])
            near, far = centres - arms, centres + arms
            gaps = np.vstack((self.ends[:1], far)) - np.vstack((near, self.ends[-1:]))
            yield float(energy), float(np.abs(gaps[: len(near) + self.closed]).max())
            for _ in range(every):
                one = self.rates(state)
                two = self.rates(state + step / 2 * one)
                three = self.rates(state + step / 2 * two)
                state = state + step / 6 * (
                    one + 2 * (two + three) + self.rates(state + step * three)
                )


DOUBLE_PENDULUM = Rods([(0.0, 0.0), (0.84, -0.54), (1.68, -1.08)])
FOUR_BAR = Rods([(0.0, 0.0), (-0.1, 0.39), (0.7, 0.6), (0.8, 0.0)], closed=True)
if __name__ == "__main__":
    for energy, gap in islice(FOUR_BAR.run(0.01, every=200), 11):
        print(f"energy {energy:.4f} J, gap {gap:.1e} m")
