"""A task in motion: actions to torques, simulator to observation, reward and info, for one environment or a batch."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.envs.task import Array, Quantities, Start, Task
from vigym.mechanism.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.simulator import Simulator


class Outcome(NamedTuple):
    """What one control step led to, over leading dimensions `...`."""

    observation: Array
    reward: Array
    terminated: NDArray[np.bool_]
    info: dict[str, Any]


class TaskRun:
    """A task with its mechanism and simulator: everything that does not depend on how episodes are strung together.

    Args:
        task: constants and hooks.
        batch: None for one environment, else how many the simulator holds.
        threads: of the simulator.

    Raises:
        MechanismError: a mechanism without an actuated joint, or with an unlimited one.
    """

    def __init__(self, task: Task, batch: int | None = None, threads: int = 1) -> None:
        self.task = task
        self.mechanism = task.mechanism()
        self.efforts = efforts(self.mechanism)
        self.sim = Simulator(self.mechanism, timestep=task.timestep, batch=batch, threads=threads)
        self.bounds = np.array(list(task.observation(self.mechanism).values()), dtype=np.float64)
        self._lowest = -self.bounds
        self.action_shape = (*(() if batch is None else (batch,)), *self.efforts.shape)

    def checked_action(self, action: ArrayLike) -> Array:
        """Return `action` as float64 (..., n_actuated).

        Raises:
            ValueError: another shape, or numbers that are not finite.
        """
        try:
            values = np.asarray(action, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"action: found {action!r}, expected numbers of shape {self.action_shape}") from error
        if values.shape != self.action_shape:
            raise ValueError(f"action: found shape {values.shape}, expected {self.action_shape}")
        if not np.isfinite(values).all():
            raise ValueError(f"action: found {values.tolist()}, expected finite numbers in [-1, 1]")
        return values

    def start(self, positions: Start, velocities: Start) -> None:
        """Start an episode, or one in each lane of the batch, from joint coordinates as `Task.initial` gives them."""
        if self.task.grounded:
            self.sim.reset(positions, velocities, lift=True)
        else:
            self.sim.reset(positions, velocities)

    def step(self, action: ArrayLike) -> Outcome:
        """Hold `action` (..., n_actuated) in [-1, 1], clipped to it, for one control step."""
        wanted = self.checked_action(action)
        action = np.minimum(np.maximum(wanted, -1.0), 1.0)
        torques = self._drive(action)
        now = self.quantities()
        terms = self.task.rewards(now, action)
        weighted = {name: weight * terms[name] for name, weight in self.task.weights.items()}
        info = self.info(now, weighted, torques)
        info["action_clipped"] = (wanted != action).any(axis=-1)
        terminated = np.logical_or(self.task.terminated(now), np.logical_not(info["solver_converged"]))
        reward = sum(weighted.values(), start=np.zeros(terminated.shape))
        return Outcome(self.observe(now), reward, terminated, info)

    def _drive(self, action: Array) -> Array:
        """Step with the torques, or to the motors' targets, that `action` means; return the torques."""
        targets, sim = self.task.targets(action), self.sim
        if targets is None:
            torques = action * self.efforts
            sim.step(torques, substeps=self.task.frame_skip)
            return torques
        sim.step(targets=targets, substeps=self.task.frame_skip)
        return sim.actuator_torques

    def quantities(self) -> Quantities:
        """Return the time of the episode [s], joint coordinates and the task's own quantities."""
        sim = self.sim
        now = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
        now["time"] = np.asarray(sim.time)
        return now | self.task.quantities(sim)

    def observe(self, now: Quantities) -> Array:
        """Return the observation (..., n_observations), clipped to the space's bounds."""
        return np.minimum(np.maximum(self.task.observe(now), self._lowest), self.bounds)

    def info(self, now: Quantities, terms: Quantities, torques: Array) -> dict[str, Any]:
        """Return quantities, weighted reward terms and the simulator's metrics."""
        info: dict[str, Any] = {**now, **{f"reward_{name}": value for name, value in terms.items()}}
        info.update(self.sim.metrics())
        info["torque_squared"] = (torques * torques).sum(axis=-1)
        return info

    def first(self) -> tuple[Array, dict[str, Any]]:
        """Return observation and info of a state no action led to: the same keys, reward terms zero."""
        now, idle = self.quantities(), np.zeros(self.action_shape)
        info = self.info(now, dict.fromkeys(self.task.weights, idle[..., 0]), idle)
        info["action_clipped"] = np.zeros(self.action_shape[:-1], dtype=np.bool_)
        return self.observe(now), info


def efforts(mechanism: Mechanism) -> Array:
    """Return the largest force of every actuator (n_actuated,) [N or N m], in the order of `actuator_names`.

    Raises:
        MechanismError: no actuated joint, or one without a limit.
    """
    driven = [joint for joint in mechanism.tree_joints if joint.actuated]
    if not driven:
        raise MechanismError(
            f"mechanism {mechanism.name!r}: found no actuated joint, expected one with effort > 0 to scale actions by"
        )
    for joint in driven:
        if not np.isfinite(joint.effort or 0.0):
            raise MechanismError(f"joint {joint.name!r} effort: found inf, expected a finite one to scale actions by")
    return np.array([joint.effort for joint in driven for _ in joint.prototype.velocities], dtype=np.float64)
