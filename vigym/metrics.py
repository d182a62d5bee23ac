"""Physics metrics of a simulator's present state: what wrappers, environments, tests and examples share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vigym.core import readout

if TYPE_CHECKING:
    from vigym.simulation.simulator import Simulator

METRICS = (
    "energy_kinetic", "energy_potential", "energy_total", "energy_balance", "work_actuator", "dissipated",
    "constraint_residual_max", "velocity_residual_max", "solver_iterations", "solver_residual", "solver_converged",
    "power_mech", "power_dissipated", "penetration", "slip", "work_absolute",
)  # fmt: skip


def metrics(sim: Simulator) -> dict[str, Any]:
    """Metrics of the present knot; floats, or arrays (batch,).

    Returns:
        energy_kinetic, energy_potential, energy_total [J] (springs potential, armatures kinetic);
        work_actuator: work of torques and motors since reset [J]; dissipated: loss in dampers, dry friction, limits and
            contacts since reset [J];
        energy_balance: E - E0 - work + dissipated [J], the integrator's own error;
        constraint_residual_max: largest joint gap [m or rad];
        velocity_residual_max: largest constrained relative velocity [m/s or rad/s];
        solver_iterations, solver_residual, solver_converged: of the last step call;
        work_absolute: sum of |work| of every actuator and motor in every step since reset [J]: what drives costs as
            much as what brakes;
        power_mech: what the last call of `step` added to that over its time, the mean of the sum of |torque * rate|
            [W]; zero after a reset. A motor's force acts at the knots, half before and half after each: it is counted
            up to half a step before the last one;
        power_dissipated: loss in dampers and friction at the knot [W];
        penetration: deepest contact below the ground [m]; slip: fastest of those that carry a force [m/s].
    """
    tables: tuple[Any, Any, Any] = sim.readings, sim.status_rows, sim.start_energy
    if sim.batch is None:
        scalars, outcome, start = (table[0].tolist() for table in tables)
    else:
        scalars, outcome, start = list(tables[0].T), tables[1].T.copy(), tables[2]
    converged, iterations, residual, _, _, power = outcome
    fine = converged > 0 if sim.batch is None else converged.astype(np.bool_)
    kinetic, potential = scalars[readout.READ_KINETIC], scalars[readout.READ_POTENTIAL]
    work, lost, total = scalars[readout.READ_WORK], scalars[readout.READ_DISSIPATED], kinetic + potential
    values = (
        kinetic, potential, total, total - start - work + lost, work, lost,
        scalars[readout.READ_GAP], scalars[readout.READ_SLIP], iterations, residual, fine,
        power, scalars[readout.READ_LOSS], scalars[readout.READ_DEPTH],
        scalars[readout.READ_SLIDING], scalars[readout.READ_SPENT],
    )  # fmt: skip
    return dict(zip(METRICS, values, strict=True))


def momentum(sim: Simulator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Linear momentum [N s] and angular momentum about the world's origin [N m s] at the knot, (..., 3) each."""
    states = sim.body_states
    mass, inertia = sim.body_inertias
    x, q, v, w = states[..., 0:3], states[..., 3:7], states[..., 7:10], states[..., 10:13]
    spin = np.einsum("...bij,...bj->...bi", inertia, w)
    u = q[..., 1:]
    turned = spin + 2.0 * np.cross(u, np.cross(u, spin) + q[..., :1] * spin)
    momentum = mass[..., None] * v
    return momentum.sum(axis=-2), (np.cross(x, momentum) + turned).sum(axis=-2)
