"""Linear-quadratic regulator about a pose held by torques, and the Riccati equation it solves.

R. E. Kalman, Contributions to the theory of optimal control, Boletin de la Sociedad Matematica
Mexicana 5 (1960). The model is the derivative of the simulator's own step, with constant torques
during an action.

The discrete-time algebraic Riccati equation is solved by the structure-preserving doubling
algorithm, which squares the closed loop in every iteration and needs no inverse of A (which is
singular for a mechanism with loops): E. K.-W. Chu, H.-Y. Fan, W.-W. Lin and C.-S. Wang,
Structure-preserving algorithms for periodic discrete-time algebraic Riccati equations,
International Journal of Control 77 (2004). It converges quadratically to the stabilising solution
if (A, B) is stabilisable and Q detects every unstable mode, and needs no library but numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Array, Info, broadcast_parameter, joint_state
from vigym.control.static_torques import holding_torques
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.deviation import deviation
from vigym.simulation.simulator import Simulator

MAX_DOUBLINGS = 60  # iterations
TOLERANCE = 1e-13  # relative change of the solution at which the iterations end
UNBOUNDED = 1e100  # costs beyond this diverge
MIN_CONTROL_COST = 1e-9  # of a squared action: the equation needs a positive cost


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising P (n, n) of P = Q + A' P A - A' P B (R + B' P B)^-1 B' P A.

    Args:
        A: (n, n) of x' = A x + B u.
        B: (n, m).
        Q: (n, n) cost of the state, symmetric, positive semidefinite.
        R: (m, m) cost of the control, symmetric, positive definite.

    Raises:
        ValueError: there is no such solution: the controls do not reach an unstable mode, or Q does
            not detect it.
    """
    F = A
    G = B @ np.linalg.solve(R, B.T)
    H = Q
    one = np.eye(len(A))
    for _ in range(MAX_DOUBLINGS):
        W = np.linalg.solve(one + G @ H, np.hstack([F, G]))
        step = F.T @ H @ W[:, : len(A)]
        G = G + F @ W[:, len(A) :] @ F.T
        H = H + 0.5 * (step + step.T)
        F = F @ W[:, : len(A)]
        if not np.abs(H).max(initial=0.0) < UNBOUNDED:
            break
        if np.abs(step).max(initial=0.0) <= TOLERANCE * np.abs(H).max(initial=0.0):
            closed = A - B @ gain(A, B, R, H)
            if np.abs(np.linalg.eigvals(closed)).max(initial=0.0) < 1.0:
                return np.asarray(H)
            break
    raise ValueError(
        "riccati: found no stabilising solution, expected controls that influence every unstable "
        "motion and a Q in which it has a cost"
    )


def gain(A: Array, B: Array, R: Array, P: Array) -> Array:
    """Return K (m, n) of the optimal control u = -K x."""
    return np.asarray(np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), dtype=np.float64)


class Lqr:
    """Controller with torque = holding torque - gain @ deviation from a pose.

    The deviation is that of `Simulator.linearize`: displacements, shortest for angles, then
    velocities of all degrees of freedom. The gain minimises the sum over all control steps of

        position_cost |displacement|^2 + velocity_cost |velocity|^2 + control_cost |action|^2

    for small deviations and actions within their bounds.

    Args:
        mechanism: of an environment whose actions are torques.
        positions: joint or coordinate name -> value in the pose; the others are those of the
            assembly pose, with loops closed.
        timestep: integrator step [s].
        substeps: integrator steps per control step.
        position_cost: of squared displacements, one for all or (n_velocities,) [1/rad^2, 1/m^2].
        velocity_cost: of squared velocities, likewise [s^2/rad^2, s^2/m^2].
        control_cost: of the squared action, one for all or (n_actuated,).

    Attributes:
        gain: (n_actuated, 2 n_velocities) [N m/rad, ...].
        torques: (n_actuated,) that hold the pose [N, N m].
        positions: (n_positions,) of the pose.
        value: (2 n_velocities, 2 n_velocities); the cost to go is deviation' value deviation.

    Raises:
        AssemblyError: the pose leaves a loop open.
        MechanismError: unknown names, motors, actuators without a largest torque.
        ValueError: costs of the wrong shape or too low, no torques hold the pose, it cannot be
            stabilised, or steps there are not smooth.
    """

    batched = True

    def __init__(
        self,
        mechanism: Mechanism,
        positions: Mapping[str, ArrayLike] | None = None,
        *,
        timestep: float = 0.01,
        substeps: int = 1,
        position_cost: ArrayLike = 1.0,
        velocity_cost: ArrayLike = 0.1,
        control_cost: ArrayLike = 0.1,
    ) -> None:
        self._mechanism = mechanism
        self._actuators = Actuators(mechanism)
        sim = Simulator(mechanism, timestep=timestep)
        sim.reset(positions)
        self.positions = sim.joint_positions
        self.torques = holding_torques(sim)
        n, efforts = len(mechanism.velocity_names), self._actuators.efforts
        costs = (
            broadcast_parameter("position_cost", position_cost, n, 0.0),
            broadcast_parameter("velocity_cost", velocity_cost, n, 0.0),
        )
        m = len(efforts)
        action_cost = broadcast_parameter("control_cost", control_cost, m, MIN_CONTROL_COST)
        A, B = sim.linearize(self.torques, substeps)
        R = np.diag(action_cost / efforts**2)
        self.value = riccati(A, B, np.diag(np.concatenate(costs)), R)
        self.gain = gain(A, B, R, self.value)

    def deviation(self, info: Info) -> Array:
        """Return the deviation (..., 2 n_velocities) of the state in `info` from the pose."""
        positions, velocities = joint_state(info)
        displacement = deviation(self._mechanism, positions, self.positions)
        return np.concatenate((displacement, velocities), axis=-1)

    def cost(self, info: Info) -> Array:
        """Return the cost to go (...,) of the linear model from the state in `info`."""
        x = self.deviation(info)
        result: Array = np.sum((x @ self.value) * x, axis=-1)
        return result

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) for the joint state in `info`."""
        return self._actuators.action(self.torques - self.deviation(info) @ self.gain.T)


def lqr(
    mechanism: Mechanism, positions: Mapping[str, ArrayLike] | None = None, **parameters: Any
) -> Lqr:
    """Return a linear-quadratic regulator; arguments are those of `Lqr`."""
    return Lqr(mechanism, positions, **parameters)
