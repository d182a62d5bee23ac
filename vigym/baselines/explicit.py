"""Explicit integrators in joint coordinates, by articulated bodies (MC 4, SIM 7, 12)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.baselines.methods import BALL_DAMPERS, BALLS, DAMPERS, SPRINGS, Method, make_energy
from vigym.baselines.tree import mechanism_tree
from vigym.simulation.state.readings import Energy
from vigym.spatial import Array


class JointCoordinates(Method):
    """Method whose state are coordinates and rates of a tree: joints have no gap."""

    def _prepare(self) -> None:
        self.tree = mechanism_tree(self.mechanism)

    def _start(self, q: Array, rates: Array) -> None:
        self._q = q
        self._rates = rates

    @property
    def positions(self) -> Array:
        """Coordinates of the tree's joints."""
        return self._q.copy()

    @property
    def velocities(self) -> Array:
        """Rates of the tree's joints."""
        return self._rates.copy()

    def energy(self) -> Energy:
        """Return kinetic, potential (springs included) and total energy at present [J]."""
        return make_energy(*self.tree.energy(self._q, self.velocities))

    def gap(self) -> float:
        """Return zero: joint coordinates have no gaps."""
        return 0.0


class SemiImplicitEuler(JointCoordinates):
    """Rates by the accelerations now, then coordinates by the new rates (LEE Fig. 2)."""

    name = "semi-implicit-euler"
    knows = frozenset((BALLS, SPRINGS, DAMPERS, BALL_DAMPERS))

    def _advance(self) -> None:
        h = self.timestep
        self._rates = self._rates + h * self.tree.accelerations(self._q, self._rates)
        self._q = self.tree.integrate_rates(self._q, h * self._rates)
        self.factorisations += 1


@dataclass(frozen=True)
class Tableau:
    """Explicit Runge-Kutta method that evaluates each stage from the slope before alone.

    Attributes:
        parts: of the step from the start to each stage.
        weights: of the slopes in the step.
    """

    parts: tuple[float, ...]
    weights: tuple[float, ...]

    def advance(self, slope: Callable[[Array], Array], y: Array, h: float) -> Array:
        """Return the state a step h after y, by the derivative `slope` of a state."""
        total, dy = y, np.zeros_like(y)
        for part, weight in zip(self.parts, self.weights, strict=True):
            dy = slope(y + h * part * dy)
            total = total + h * weight * dy
        return total


EULER = Tableau((0.0,), (1.0,))
HEUN = Tableau((0.0, 1.0), (0.5, 0.5))
RK4 = Tableau((0.0, 0.5, 0.5, 1.0), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0))


class RungeKutta(JointCoordinates):
    """Explicit Runge-Kutta method; quaternions are integrated as numbers, then of length one."""

    knows = frozenset((BALLS, SPRINGS, DAMPERS, BALL_DAMPERS))
    tableau: ClassVar[Tableau]

    def _advance(self) -> None:
        y = np.append(self._q, self._rates)
        q, self._rates = np.split(
            self.tableau.advance(self._slope, y, self.timestep), [len(self._q)]
        )
        self._q = self.tree.normalised(q)

    def _slope(self, y: Array) -> Array:
        q, rates = np.split(y, [len(self._q)])
        self.factorisations += 1
        accelerations = self.tree.accelerations(q, rates)
        return np.append(self.tree.coordinate_rates(q, rates), accelerations)


class ExplicitEuler(RungeKutta):
    """Euler's method: gains energy at every step."""

    name = "explicit-euler"
    tableau = EULER


class Heun(RungeKutta):
    """Heun's method of second order (MC Fig. 4a)."""

    name = "heun"
    order = 2
    tableau = HEUN


class RungeKutta4(RungeKutta):
    """Classical Runge-Kutta method of fourth order (SIM Fig. 7a)."""

    name = "rk4"
    order = 4
    tableau = RK4
