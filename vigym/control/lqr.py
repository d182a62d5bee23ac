"""The linear-quadratic regulator about a pose that torques can hold, and the Riccati equation that it solves.

R. E. Kalman, Contributions to the theory of optimal control, Boletin de la Sociedad Matematica Mexicana 5 (1960). The
model is the derivative of the simulator's own step, with the torques held for as long as an action is.

The discrete-time algebraic Riccati equation is solved by the structure-preserving doubling algorithm, which squares the
closed loop in every iteration and needs no inverse of A (that of a mechanism with loops is singular): E. K.-W. Chu,
H.-Y. Fan, W.-W. Lin and C.-S. Wang, Structure-preserving algorithms for periodic discrete-time algebraic Riccati
equations, International Journal of Control 77 (2004). It converges quadratically to the stabilising solution where
(A, B) can be stabilised and Q sees every unstable motion, in ten lines of numpy: nothing more has to be installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.control.actuators import Actuators, Array, Info, coordinates, each
from vigym.control.static_torques import holding_torques
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.deviation import deviation
from vigym.simulation.simulator import Simulator

DOUBLINGS, CHANGE = 60, 1e-13  # iterations at most; relative change of the solution at which they end
UNBOUNDED = 1e100  # costs beyond that never end
CHEAPEST = 1e-9  # cost of a squared action: the equation needs one


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return P (n, n) with P = Q + A' P A - A' P B (R + B' P B)^-1 B' P A that makes the closed loop stable.

    Args:
        A: (n, n) of x' = A x + B u.
        B: (n, m).
        Q: (n, n) cost of the state, symmetric, not negative.
        R: (m, m) cost of the control, symmetric, positive.

    Raises:
        ValueError: there is no such solution: the controls do not reach an unstable motion, or Q does not see it.
    """
    F, G, H = A, B @ np.linalg.solve(R, B.T), Q
    one = np.eye(len(A))
    for _ in range(DOUBLINGS):
        W = np.linalg.solve(one + G @ H, np.hstack([F, G]))
        step = F.T @ H @ W[:, : len(A)]
        G, H = G + F @ W[:, len(A) :] @ F.T, H + 0.5 * (step + step.T)
        F = F @ W[:, : len(A)]
        if not np.abs(H).max(initial=0.0) < UNBOUNDED:
            break
        if np.abs(step).max(initial=0.0) <= CHANGE * np.abs(H).max(initial=0.0):
            closed = A - B @ gain(A, B, R, H)
            if np.abs(np.linalg.eigvals(closed)).max(initial=0.0) < 1.0:
                return np.asarray(H)
            break
    raise ValueError(
        "riccati: found no stabilising solution, expected controls that reach every unstable motion and a cost of the "
        "state that sees it"
    )


def gain(A: Array, B: Array, R: Array, P: Array) -> Array:
    """Return K (m, n) of the optimal control u = -K x."""
    result: Array = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    return result


class Lqr:
    """Torques = those that hold the pose - gain (deviation from it); as an action.

    The deviation is that of `Simulator.linearize`: displacements, angles the shorter way round, then velocities, along
    the freedoms of all joints. The gain makes the sum over all control steps of

        position_cost |displacement|^2 + velocity_cost |velocity|^2 + control_cost |action|^2

    the least, for small deviations and actions in their bounds.

    Args:
        mechanism: of an environment whose actions are torques.
        positions: joint or coordinate name -> value at the pose; others are at the assembly pose, loops close.
        timestep: step of the integrator [s].
        substeps: integrator steps per control step.
        position_cost: of squared displacements, one for all or (n_velocities,) [1/rad^2, 1/m^2].
        velocity_cost: of squared velocities, likewise [s^2/rad^2, s^2/m^2].
        control_cost: of the squared action, one for all or (n_actuated,).

    Attributes:
        gain: (n_actuated, 2 n_velocities) [N m/rad, ...].
        torques: (n_actuated,) that hold the pose [N, N m].
        positions: (n_positions,) the pose.
        value: (2 n_velocities, 2 n_velocities) the cost to come is deviation' value deviation.

    Raises:
        AssemblyError: the pose leaves a loop open.
        MechanismError: unknown names, motors, actuators without a largest torque.
        ValueError: costs of the wrong shape or too low, no torques hold the pose, it cannot be stabilised, or steps
            there are not smooth.
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
        self._mechanism, self._actuators = mechanism, Actuators(mechanism)
        sim = Simulator(mechanism, timestep=timestep)
        sim.reset(positions)
        self.positions, self.torques = sim.joint_positions, holding_torques(sim)
        n, efforts = len(mechanism.velocity_names), self._actuators.efforts
        weights = each("position_cost", position_cost, n, 0.0), each("velocity_cost", velocity_cost, n, 0.0)
        A, B = sim.linearize(self.torques, substeps)
        R = np.diag(each("control_cost", control_cost, len(efforts), CHEAPEST) / efforts**2)
        self.value = riccati(A, B, np.diag(np.concatenate(weights)), R)
        self.gain = gain(A, B, R, self.value)

    def deviation(self, info: Info) -> Array:
        """Return the deviation (..., 2 n_velocities) of the state in `info` from the pose at rest."""
        positions, velocities = coordinates(info)
        return np.concatenate((deviation(self._mechanism, positions, self.positions), velocities), axis=-1)

    def cost(self, info: Info) -> Array:
        """Return the cost to come (...,) that the linear model tells of the state in `info`."""
        x = self.deviation(info)
        result: Array = np.sum((x @ self.value) * x, axis=-1)
        return result

    def __call__(self, observation: Any, info: Info) -> NDArray[np.float32]:
        """Return the action (..., n_actuated) by the joint positions and velocities of `info`."""
        return self._actuators.action(self.torques - self.deviation(info) @ self.gain.T)


def lqr(mechanism: Mechanism, positions: Mapping[str, ArrayLike] | None = None, **parameters: Any) -> Lqr:
    """Return the controller; arguments as of `Lqr`."""
    return Lqr(mechanism, positions, **parameters)
