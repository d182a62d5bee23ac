"""A task in motion: actions to torques, simulator to observation, reward and info, for one environment or a batch.

Starts of episodes in a batch are drawn one by one: every environment has its own random stream.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.envs.perturbations import Disturbances, Disturbed, Streams
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

Rows = NDArray[np.intp]
_NUMPY = (np.ndarray, np.generic)
_REAL = "fiu"  # kinds of numpy's numbers that actions may be


def drawn(
    task: Task, mechanism: Mechanism, streams: Sequence[np.random.Generator], chosen: Flags
) -> tuple[Start, Start]:
    """Draw joint positions and velocities of the chosen environments, with a leading axis (batch,).

    Args:
        task: what to draw.
        mechanism: the task's.
        streams: a random stream for every environment; those of the others are left alone.
        chosen: (batch,) environments, at least one; what the arrays hold of the others means nothing.

    Raises:
        ValueError: the task names the joints of one environment, and not those of another.
    """
    lanes = chosen.nonzero()[0]
    rows = np.zeros(len(chosen), dtype=np.intp)  # of every environment among those that are drawn
    rows[lanes] = np.arange(len(lanes))
    positions, velocities = zip(*[task.initial(mechanism, streams[lane]) for lane in lanes.tolist()], strict=True)
    return _stacked(positions, rows), _stacked(velocities, rows)


def _stacked(starts: Sequence[Start], rows: Rows) -> Start:
    """Return one array of all, or one by joint name."""
    first = starts[0]
    if not isinstance(first, Mapping):
        return _spread(starts, rows)  # type: ignore[arg-type]
    named: list[Mapping[str, ArrayLike]] = []
    for start in starts:
        if not isinstance(start, Mapping) or start.keys() != first.keys():
            found = list(start)
            raise ValueError(f"initial: found {found} for one environment, expected {list(first)} as for another")
        named.append(start)
    numbers = [name for name, value in first.items() if isinstance(value, float)]  # most: all in one table
    table = _spread([[start[name] for name in numbers] for start in named], rows)  # type: ignore[misc]
    others = {name: _spread([start[name] for start in named], rows) for name in first.keys() - set(numbers)}
    return {**dict(zip(numbers, table.T, strict=True)), **others}


def _spread(values: Sequence[ArrayLike], rows: Rows) -> Array:
    table: Array = np.array(values, dtype=np.float64).take(rows, axis=0)
    return table


class Outcome(NamedTuple):
    """What one control step led to, over leading dimensions `...`."""

    observation: Array
    reward: Array
    terminated: Flags
    info: dict[str, Any]


class Held(NamedTuple):
    """What was held for one control step, over leading dimensions `...`.

    Attributes:
        action: (..., n_actuated) within [-1, 1].
        clipped: (...,) whether what was asked for went beyond.
        torques: (..., n_actuated) [N or N m] that it means, None where motors decide.
    """

    action: Array
    clipped: Flags | bool
    torques: Array | None


class TaskRun:
    """A task with its mechanism and simulator: everything that does not depend on how episodes are strung together.

    Args:
        task: constants and hooks.
        batch: None for one environment, else how many the simulator holds.
        threads, precision: of the simulator.
        how: what disturbs, None for nothing.
        streams: tells the random stream of every environment, where anything does.

    Raises:
        MechanismError: a mechanism without an actuated joint, or with an unlimited one; a quantity to be randomised
            that it has not.
    """

    def __init__(
        self,
        task: Task,
        batch: int | None = None,
        threads: int = 1,
        precision: str = "float64",
        how: Disturbances | None = None,
        streams: Streams | None = None,
    ) -> None:
        self.task = task
        self.mechanism = task.mechanism()
        self.efforts = efforts(self.mechanism)
        self.sim = Simulator(self.mechanism, timestep=task.timestep, batch=batch, threads=threads, precision=precision)
        bounds = task.observation(self.mechanism)
        self.bounds = np.array(list(bounds.values()), dtype=np.float64)
        self.shape: tuple[int, ...] = () if batch is None else (batch,)
        self.action_shape = (*self.shape, *self.efforts.shape)
        # numpy takes arrays of one shape sooner than what it has to broadcast
        self._highest = np.broadcast_to(self.bounds, (*self.shape, self.bounds.size)).copy()
        self._lowest = -self._highest
        weights = {name: np.full(self.shape, weight) if self.shape else weight for name, weight in task.weights.items()}
        self._terms = [(f"reward_{name}", name, weight) for name, weight in weights.items()]
        self._disturbed: Disturbed | None = None
        if how is not None and streams is not None and not how.off:
            dt = task.timestep * task.frame_skip
            self._disturbed = Disturbed(how, self.sim, self.efforts.size, bounds, dt, streams)

    def checked_action(self, action: ArrayLike, idle: Flags | None = None) -> tuple[Array, Flags | bool]:
        """Return `action` as float64 (..., n_actuated), clipped to [-1, 1], and whether it was (...,).

        That of the environments that are `idle` (batch,) counts as zero.

        Raises:
            ValueError: another shape, or numbers that are not real or not finite.
        """
        values = self._real(action)
        if idle is not None:
            values[idle] = 0.0
        if _within(values):  # so is every action of most learners
            return values, np.zeros(self.shape, dtype=np.bool_) if self.shape else False
        finite = np.isfinite(values)
        if not finite.all():
            wrong = tuple(np.argwhere(~finite.all(axis=-1))[0])  # () for one environment
            where = f" of environment {wrong[0]}" if wrong else ""
            raise ValueError(f"action{where}: found {values[wrong].tolist()}, expected finite numbers in [-1, 1]")
        clipped = np.minimum(np.maximum(values, -1.0), 1.0)
        return clipped, (values != clipped).any(axis=-1)

    def _real(self, action: ArrayLike) -> Array:
        """Return a copy of `action` as float64, of the right shape."""
        try:
            given = np.asarray(action)
        except ValueError as error:  # rows of different lengths
            raise ValueError(f"action: found {action!r}, expected numbers of shape {self.action_shape}") from error
        if given.dtype.kind not in _REAL:
            expected = f"numbers, real ones, of shape {self.action_shape}"
            raise ValueError(f"action: found {given.dtype} values, expected {expected}")
        if given.shape != self.action_shape:
            raise ValueError(f"action: found shape {given.shape}, expected {self.action_shape}")
        return given.astype(np.float64)

    def start(self, positions: Start, velocities: Start, chosen: Flags | None = None) -> None:
        """Start an episode, or one in the chosen lanes of the batch, from what `Task.initial` gives."""
        if self._disturbed is not None:
            self._disturbed.start(np.ones(self.sim.batch or 1, dtype=np.bool_) if chosen is None else chosen)
        self.sim.reset(positions, velocities, mask=chosen, place_on_ground=self.task.grounded)

    def start_drawn(self, streams: Sequence[np.random.Generator], chosen: Flags, state: ArrayLike | None) -> None:
        """Draw starts of the chosen lanes from their random streams; then take `state` (..., n_state), if any."""
        self.start(*drawn(self.task, self.mechanism, streams, chosen), chosen)
        if state is not None:
            self.sim.set_state(state, chosen)

    def step(self, action: ArrayLike) -> Outcome:
        """Hold `action` (..., n_actuated) in [-1, 1], clipped to it, for one control step."""
        return self.outcome(self.advance(action))

    def advance(self, action: ArrayLike, idle: Flags | None = None) -> Held:
        """Step the simulator with the torques, or to the motors' targets, that `action` means.

        What environments that are `idle` are given is not looked at: theirs is the middle of every action.
        """
        action, clipped = self.checked_action(action, idle)
        if self._disturbed is not None:
            action = self._disturbed.act(action, idle)
        targets, torques = self.task.targets(action), None
        if targets is None:
            torques = action * self.sim.actuator_efforts
        self.sim.step_held(torques, targets, self.task.frame_skip)
        return Held(action, clipped, torques)

    def outcome(self, held: Held, fresh: Flags | None = None) -> Outcome:
        """Return what the control step led to.

        Of environments that are `fresh` (batch,), started since, it tells what `first` does, and they are not over.
        """
        now = self.quantities()
        terms = self._weighted(self.task.rewards(now, held.action), fresh)
        info = self.info(now, terms, self.sim.actuator_torques if held.torques is None else held.torques)
        info["action_clipped"] = held.clipped
        terminated = self._over(now, info["solver_converged"], fresh)
        reward: Any = sum(terms.values(), start=np.zeros(self.shape) if self.shape else 0.0)
        return Outcome(self.observe(now), reward, terminated, info)

    def _weighted(self, terms: Quantities, fresh: Flags | None) -> Quantities:
        """Return the reward terms as `info` has them; those of environments that are `fresh` are zero."""
        require_rows(terms, "reward term", self.shape, 0)
        weighted = {key: weight * terms[name] for key, name, weight in self._terms}
        if fresh is not None:
            for value in weighted.values():
                value[fresh] = 0.0
        return weighted

    def _over(self, now: Quantities, converged: Flags, fresh: Flags | None) -> Flags:
        """Return whether episodes are over; those of environments that are `fresh` are not."""
        ended: Any = self.task.terminated(now)
        require_rows({"terminated": ended}, "hook", self.shape, 0)
        over: Any = np.logical_or(ended, ~converged) if self.shape else ended or not converged
        still: Flags = over if fresh is None else over & ~fresh
        return still

    def quantities(self) -> Quantities:
        """Return the time of the episode [s], joint coordinates and the task's own quantities."""
        sim = self.sim
        now = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
        now["time"] = np.asarray(sim.time)[()]  # a numpy number of one environment is quicker than an array
        own = self.task.quantities(sim)
        require_rows(own, "quantity", self.shape, 1)
        return now | own

    def observe(self, now: Quantities, chosen: Flags | None = None) -> Array:
        """Return the observation (..., n_observations), clipped to the space's bounds.

        Noise is drawn for the chosen environments (batch,), all by default.
        """
        exact = np.maximum(self.task.observe(now), self._lowest)
        np.minimum(exact, self._highest, out=exact)
        return exact if self._disturbed is None else self._disturbed.observe(exact, chosen)

    def info(self, now: Quantities, terms: Quantities, torques: Array) -> dict[str, Any]:
        """Return quantities, weighted reward terms by their keys, and the simulator's metrics."""
        info = {**now, **terms, **self.sim.metrics()}
        info["torque_squared"] = (torques * torques).sum(axis=-1)
        return info

    def first(self, chosen: Flags | None = None) -> tuple[Array, dict[str, Any]]:
        """Return observation and info of a state no action led to: the same keys, reward terms zero.

        Environments that are not `chosen` (batch,) have not been started, and are observed as they were.
        """
        now, idle = self.quantities(), np.zeros(self.action_shape)
        info = self.info(now, {key: idle[..., 0] for key, _, _ in self._terms}, idle)
        info["action_clipped"] = np.zeros(self.action_shape[:-1], dtype=np.bool_)
        return self.observe(now, chosen), info


def _within(values: Array) -> bool:
    """Whether all values are numbers in [-1, 1]; of a few it is told soonest one by one."""
    if values.ndim == 1:
        return all(-1.0 <= value <= 1.0 for value in values.tolist())
    return bool(np.abs(values).max() <= 1.0)


def require_rows(values: Quantities, what: str, shape: tuple[int, ...], more: int) -> None:
    """Raise ValueError unless all values have a row for each environment: `shape`, at most `more` axes behind it."""
    value: Any
    for name, value in values.items():
        if isinstance(value, float) and not shape:  # as most are of one environment
            continue
        found = value.shape if isinstance(value, _NUMPY) else np.shape(value)  # slow
        if found != shape and (found[: len(shape)] != shape or len(found) > len(shape) + more):
            raise ValueError(
                f"{what} {name!r}: found shape {found}, expected {shape}{' or one more axis' if more else ''}: "
                "hooks of a task are array expressions, with a row for each environment"
            )


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
    return np.array([joint.effort for joint in driven for _ in range(joint.dofs)], dtype=np.float64)
