"""Torques that hold a pose: statics by the derivative of the simulator's own step."""

from __future__ import annotations

import numpy as np

from vigym.control.actuators import Array
from vigym.simulation.simulator import Simulator

HELD = 1e-6  # part of the velocities gained without torques that may be left with those that hold


def holding_torques(sim: Simulator) -> Array:
    """Return the torques (n_actuated,) [N, N m] with which the present pose, at rest, stays as it is; the least ones.

    The simulator is left as it was.

    Args:
        sim: one environment, at rest.

    Raises:
        ValueError: the mechanism moves, no torques hold the pose, or a step there is not smooth.
    """
    if sim.joint_velocities.any():
        raise ValueError("holding_torques: found a motion, expected a pose at rest")
    n = len(sim.mechanism.velocity_names)
    torques = np.zeros(len(sim.mechanism.actuator_names))
    gained = fastest = _gained(sim, torques)
    for _ in range(2):  # the first is good but for what the torques do to the end of the step
        _, B = sim.linearize(torques)
        torques = torques - np.linalg.lstsq(B[n:], gained, rcond=1e-9)[0]
        gained = _gained(sim, torques)
    left = np.abs(gained).max(initial=0.0)
    if left > HELD * max(float(np.abs(fastest).max(initial=0.0)), sim.timestep):
        raise ValueError(
            f"holding_torques: found a pose that gains {left:.3g} m/s or rad/s in a step with the best torques, "
            "expected one that torques within the efforts can hold"
        )
    return torques


def _gained(sim: Simulator, torques: Array) -> Array:
    """Return the velocities (n_velocities,) after a step from the present state, which stays as it is."""
    kept = sim.state
    sim.step(torques)
    gained = sim.joint_velocities
    sim.state = kept
    return gained
