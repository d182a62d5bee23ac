"""Static torques of a pose, from the derivative of the simulator's own step."""

from __future__ import annotations

import numpy as np

from vigym.control.actuators import Array
from vigym.simulation.simulator import Simulator

MAX_RESIDUAL = 1e-6  # velocity gained with the torques over that gained without


def holding_torques(sim: Simulator) -> Array:
    """Return the torques (n_actuated,) of least norm that hold the current pose at rest [N, N m].

    The state of the simulator is not changed.

    Args:
        sim: one environment, at rest.

    Raises:
        ValueError: the mechanism moves, no torques hold the pose, or its step is not smooth.
    """
    if sim.joint_velocities.any():
        raise ValueError("holding_torques: found a motion, expected a pose at rest")
    n = len(sim.mechanism.velocity_names)
    torques = np.zeros(len(sim.mechanism.actuator_names))
    velocity = free_velocity = _velocity_after_step(sim, torques)
    for _ in range(2):  # the first iteration misses the effect of torques on the end of the step
        _, B = sim.linearize(torques)
        torques = torques - np.linalg.lstsq(B[n:], velocity, rcond=1e-9)[0]
        velocity = _velocity_after_step(sim, torques)
    residual = np.abs(velocity).max(initial=0.0)
    if residual > MAX_RESIDUAL * max(float(np.abs(free_velocity).max(initial=0.0)), sim.timestep):
        raise ValueError(
            "holding_torques: found a pose that no torques hold within the efforts (it gains "
            f"{residual:.3g} m/s or rad/s in a step), expected one that some do"
        )
    return torques


def _velocity_after_step(sim: Simulator, torques: Array) -> Array:
    """Return the joint velocities (n_velocities,) after a step; the state is restored."""
    state = sim.state
    sim.step(torques)
    velocity = sim.joint_velocities
    sim.state = state
    return velocity
