"""Joint coordinates of a chain whose end is held by rows of accelerations, not of places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import vigym
from vigym.baselines import RungeKutta4, recursion

Array = NDArray[np.float64]
NUDGE = 1e-5  # [s] of the difference that gives the acceleration of the end at constant rates


class LoopRows(RungeKutta4):
    """Runge-Kutta 4 on joint coordinates of a chain of rods; rows J q'' + J' q' = 0 hold its end.

    Rows of accelerations are satisfied, the place of the end drifts (MC Fig. 4b, SIM Fig. 7a).

    Args:
        chain: rods without the joint that closes the loop.
        timestep: step size [s].
    """

    def __init__(self, chain: vigym.Mechanism, timestep: float) -> None:
        tip = list(chain.bodies.values())[-1]
        self._arm = np.array([0.0, 0.0, np.sqrt(3.0 * tip.inertia[0, 0] / tip.mass)])  # half a rod
        super().__init__(chain, timestep)
        self._place = self._end(self._q, self._rates)[0]

    def _end(self, q: Array, rates: Array) -> tuple[Array, Array]:
        """Return place [m] and velocity [m/s] of the end."""
        links, joints = self.tree.links, self.tree.joints(q, rates)
        R, x = recursion.poses(links, joints)
        twist = recursion.twists(links, joints, rates)[-1]
        return x[-1] + R[-1] @ self._arm, R[-1] @ (twist[3:] + np.cross(twist[:3], self._arm))

    def _accelerations(self, q: Array, rates: Array) -> Array:
        tree, ahead = self.tree, NUDGE * rates
        later, earlier = (self._end(tree.integrate_rates(q, s * ahead), rates)[1] for s in (1, -1))
        J = np.array([self._end(q, unit)[1] for unit in np.eye(tree.dofs)]).T
        free = tree.accelerations(q, rates)
        answers = np.array([tree.accelerations(q, rates, row) - free for row in J]).T
        lacking = J @ free + (later - earlier) / (2.0 * NUDGE)
        if not np.isfinite([*(J @ answers).ravel(), *lacking]).all():
            return np.full_like(rates, np.nan)  # LAPACK would refuse them; `Method.step` tells it
        result: Array = free - answers @ np.linalg.lstsq(J @ answers, lacking, rcond=1e-10)[0]
        return result

    def _slope(self, y: Array) -> Array:
        q, rates = np.split(y, [len(self._q)])
        self.factorisations += 1
        return np.append(self.tree.coordinate_rates(q, rates), self._accelerations(q, rates))

    def gap(self) -> float:
        """Return how far the end is from its place [m]."""
        return float(np.linalg.norm(self._end(self._q, self._rates)[0] - self._place))
