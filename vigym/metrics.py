"""Physics metrics of a simulator's present state, shared by wrappers and environments."""

from __future__ import annotations

from typing import Any, Protocol

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


class SimulatorReadings(Protocol):
    """Readings of a `Simulator` that metrics are computed from."""

    batch: int | None
    readings: Array
    status_rows: Array
    start_energy: Array
    body_states: Array
    body_inertias: tuple[Array, Array]


def metrics(sim: SimulatorReadings) -> dict[str, Any]:
    """Compute the metrics of the present state; floats, or arrays (batch,).

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
    tables: tuple[Any, Any, Any] = sim.readings, sim.status_rows, sim.start_energy
    if sim.batch is None:
        scalars, status, start = (table[0].tolist() for table in tables)
    else:
        scalars, status = list(tables[0].T), tables[1].T.copy()
        start = tables[2]
    converged, iterations, residual, _, _, power = status
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
        "solver_converged": converged > 0 if sim.batch is None else converged.astype(np.bool_),
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
