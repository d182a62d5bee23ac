"""Step of the product, with the interface of the methods to compare with."""

from vigym.baselines.methods import EVERYTHING, PRODUCT, Method
from vigym.simulation.simulator import Simulator
from vigym.simulation.state.readings import Energy
from vigym.spatial import Array


class Product(Method):
    """Variational integrator of `vigym.Simulator`: maximal coordinates, second order.

    `tolerance` is that of the scaled residual.
    """

    name = PRODUCT
    order = 2
    knows = EVERYTHING

    def _prepare(self) -> None:
        self._simulator = Simulator(self.mechanism, self.timestep, tolerance=self.tolerance)

    def _start(self, q: Array, rates: Array) -> None:
        self._sizes = len(q), len(rates)

    def _advance(self) -> None:
        status = self._simulator.step()
        self.iterations = self.factorisations = int(status.iterations)
        if not status.converged:
            raise self._error(f"no solution in {self.iterations} iterations")

    @property
    def positions(self) -> Array:
        """Coordinates of the tree's joints."""
        return self._simulator.joint_positions[: self._sizes[0]]

    @property
    def velocities(self) -> Array:
        """Rates of the tree's joints."""
        return self._simulator.joint_velocities[: self._sizes[1]]

    def energy(self) -> Energy:
        """Return kinetic, potential (springs included) and total energy at present [J]."""
        return self._simulator.energy()

    def gap(self) -> float:
        """Return the largest joint gap [m or rad]."""
        return float(self._simulator.constraint_residual())
