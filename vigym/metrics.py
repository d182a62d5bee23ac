"""Physics metrics of a simulator's present state, shared by wrappers and environments."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vigym.core.kernels import read

Array = NDArray[np.float64]
METRICS = (
    "energy_kinetic",
    "energy_potential",
    "energy_total",
    "energy_balance",
    "work_actuator",
    "dissipated",
    "constraint_residual_max",
    "velocity_residual_max",
    "solver_iterations",
    "solver_residual",
    "solver_converged",
    "power_mech",
    "power_dissipated",
    "penetration",
    "slip",
    "work_absolute",
)


class PresentState(NamedTuple):
    """State that metrics are computed from, in arrays that later steps do not change.

    Attributes:
        single: whether there is one environment without a leading axis.
        readings: (count, n) scalars of the read kernel, not to be written to.
        status_rows: (count, 6) the last `Status` as numbers, and its mean power [W].
        start_energy: (count,) total energy at reset [J].
    """

    single: bool
    readings: Array
    status_rows: Array
    start_energy: Array

    @property
    def converged(self) -> Any:
        """Whether the last step met its tolerance: bool, or an array (count,)."""
        converged = self.status_rows[:, 0] > 0.0
        return bool(converged[0]) if self.single else converged


class SimulatorReadings(Protocol):
    """Readings of a `Simulator` that momentum is computed from."""

    @property
    def body_states(self) -> Array:
        """States (..., n_bodies, 13)."""

    @property
    def body_inertias(self) -> tuple[Array, Array]:
        """Masses (..., n_bodies) and inertias (..., n_bodies, 3, 3)."""


def metrics(state: PresentState) -> dict[str, Any]:
    """Compute the metrics of a state; floats, or arrays (batch,).

    Returns:
        energy_kinetic, energy_potential, energy_total [J] (springs potential, armatures kinetic);
        work_actuator: work of torques and motors since reset [J]; dissipated: loss in dampers, dry
            friction, limits and contacts since reset [J];
        energy_balance: E - E0 - work + dissipated [J], the integrator's own error;
        constraint_residual_max: largest joint gap [m or rad];
        velocity_residual_max: largest constrained relative velocity [m/s or rad/s];
        solver_iterations, solver_residual, solver_converged: of the last step call;
        work_absolute: sum of |work| of every actuator and motor in every step since reset [J]:
            braking counts as much as driving;
        power_mech: increase of that in the last call of `step` over its time, the mean of the sum
            of |torque * rate| [W]; zero after a reset. A motor's force acts where steps meet, half
            of it in each of both: the last half step is not counted yet;
        power_dissipated: present loss in dampers and friction [W];
        penetration: deepest contact below the ground [m]; slip: fastest of the contacts that carry
            a force [m/s].
    """
    scalars: Any
    status: Any
    start: Any = state.start_energy
    if state.single:
        scalars, status = state.readings[0].tolist(), state.status_rows[0].tolist()
        start = float(start[0])
    else:
        scalars, status = state.readings.T.copy(), state.status_rows.T.copy()
    _, iterations, residual, _, _, power = status
    kinetic, potential = scalars[read.READ_KINETIC], scalars[read.READ_POTENTIAL]
    work, lost = scalars[read.READ_WORK], scalars[read.READ_DISSIPATED]
    total = kinetic + potential
    return {
        "energy_kinetic": kinetic,
        "energy_potential": potential,
        "energy_total": total,
        "energy_balance": total - start - work + lost,
        "work_actuator": work,
        "dissipated": lost,
        "constraint_residual_max": scalars[read.READ_GAP],
        "velocity_residual_max": scalars[read.READ_SLIP],
        "solver_iterations": iterations,
        "solver_residual": residual,
        "solver_converged": state.converged,
        "power_mech": power,
        "power_dissipated": scalars[read.READ_LOSS],
        "penetration": scalars[read.READ_DEPTH],
        "slip": scalars[read.READ_SLIDING],
        "work_absolute": scalars[read.READ_ABSOLUTE_WORK],
    }


def momentum(sim: SimulatorReadings) -> tuple[Array, Array]:
    """Compute linear [N s] and angular momentum about the world's origin [N m s], (..., 3) each."""
    states = sim.body_states
    mass, inertia = sim.body_inertias
    x, q = states[..., 0:3], states[..., 3:7]
    v, w = states[..., 7:10], states[..., 10:13]
    spin = np.einsum("...bij,...bj->...bi", inertia, w)
    u = q[..., 1:]
    turned = spin + 2.0 * np.cross(u, np.cross(u, spin) + q[..., :1] * spin)
    linear = mass[..., None] * v
    return linear.sum(axis=-2), (np.cross(x, linear) + turned).sum(axis=-2)
