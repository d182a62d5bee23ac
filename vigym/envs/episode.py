"""Episode runner: actions to torques, state to observation, reward and info.

It serves one environment and a batch; how episodes follow one another is left to `env`, `vector`.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array, Flags, History, name_history, within_unit
from vigym.envs.infos import Infos, with_plain_numbers
from vigym.envs.perturbations import Perturbations, Perturber, RandomStreams
from vigym.envs.random_start import GivenStart, draw_initial_states, draw_terrain_maps
from vigym.envs.rewards import MeanRates
from vigym.envs.robots.actuation import effort_limits
from vigym.envs.robots.privileged import sensors_of_option
from vigym.envs.robots.sensors import SensorSuite
from vigym.envs.task import (
    NUMBERS,
    Quantities,
    Start,
    Task,
    first_goals,
    require,
    require_goal,
    require_observation,
    require_shape,
    require_terms,
)
from vigym.metrics import PresentState, metrics
from vigym.simulation.simulator import Simulator

_UNTIMED = {Task.motion, Task.motor_targets}  # time and goals are read for other ones alone
_REAL = "fiu"  # numpy's kinds of dtypes that actions may have


class StepResult(NamedTuple):
    """Result of one control step, over leading dimensions `...`.

    Attributes:
        observation: (..., n_observations).
        reward: (...,).
        terminated: (...,) whether the episode is over.
        read_info: computes the info, also after later steps.
    """

    observation: Array
    reward: Array
    terminated: Flags
    read_info: Callable[[], Infos]


class AppliedAction(NamedTuple):
    """Action applied for one control step, over leading dimensions `...`.

    Attributes:
        action: (..., n_actuated) within [-1, 1].
        clipped: (...,) whether the requested action was outside.
        torques: (..., n_actuated) [N or N m]; None where actions are targets of motors.
        converged: whether the steps of all environments met their tolerance.
    """

    action: Array
    clipped: Flags | bool
    torques: Array | None
    converged: bool


class EpisodeRunner:
    """Runner of a task's episodes with its mechanism and simulator.

    Args:
        task: constants and hooks.
        batch: None for one environment, else the number of environments.
        threads: of the simulator.
        precision: of the simulator.
        perturbations: None for none.
        streams: returns the random stream of every environment; needed with perturbations.

    Raises:
        MechanismError: a mechanism without an actuated joint, or with an unlimited one; a quantity
            to be randomized that it has not.
    """

    def __init__(
        self,
        task: Task,
        batch: int | None = None,
        threads: int = 1,
        precision: str = "float64",
        perturbations: Perturbations | None = None,
        streams: RandomStreams | None = None,
    ) -> None:
        self.task, self.mechanism = task, task.built
        self.efforts = effort_limits(self.mechanism)
        options: Any = {"batch": batch, "threads": threads, "precision": precision}
        options |= task.simulator or {}
        self.sim = Simulator(self.mechanism, timestep=task.timestep, **options)
        self.dt, size = task.timestep * task.frame_skip, self.efforts.size
        self._sensors = SensorSuite(task.sensors, self.sim, self.dt, size) if task.sensors else None
        own, read = task.observation(self.mechanism), self._sensors.bounds if self._sensors else {}
        twice = sorted(own.keys() & read.keys())
        require(not twice, "sensors", twice, "names that the task's observation has not")
        bounds = {**own, **read}
        self.observation_names = name_history(list(bounds), task.history)
        most = np.array(list(bounds.values()), dtype=np.float64)
        self.bounds = np.tile(most, task.history)
        self._history = History(task.history, batch or 1, most.size) if task.history > 1 else None
        self.shape: tuple[int, ...] = () if batch is None else (batch,)
        self.action_shape = (*self.shape, *self.efforts.shape)
        self._own_shape = (*self.shape, len(own))  # of an observation without sensors
        # arrays of equal shapes are clipped faster than arrays that numpy has to broadcast
        self._goals = first_goals(task, batch or 1)
        self._rates = MeanRates(task, self.sim, self.dt)
        self._is_timed = {type(task).motion, type(task).motor_targets} != _UNTIMED
        self._upper = np.broadcast_to(most, (*self.shape, most.size)).copy()
        self._lower = -self._upper
        self._perturber: Perturber | None = None
        more: Any = {"bounds": bounds, "dt": self.dt, "streams": streams}
        self._make_perturber: Any = partial(Perturber, sim=self.sim, n_actuated=size, **more)
        self._set_privileged(perturbations or Perturbations())
        self.set_task(task, perturbations or Perturbations())

    def set_task(self, task: Task, perturbations: Perturbations) -> None:
        """Go on with a task and perturbations of the same mechanism, observations and goals.

        Raises:
            MechanismError: a quantity to be randomized that the mechanism has not.
            ValueError: noise of an unknown observation. Nothing has changed then, as above.
        """
        selected = sensors_of_option(task.privileged, self.mechanism, perturbations)
        expected = (
            "the same parameters in `randomization`, and `pushes` or none as before: they are"
            " privileged observations; factors of 1 and pushes of (0.0, 1.0) change nothing"
        )
        require(selected == self._selected, "privileged", task.privileged, expected)
        if self._perturber is not None:
            self._perturber.set_options(perturbations)
        elif not perturbations.off:
            self._perturber = self._make_perturber(perturbations)
        self.task = self._rates.task = task
        self._reward_terms = [
            (f"reward_{name}", name, np.full(self.shape, weight) if self.shape else weight)
            for name, weight in task.weights.items()
        ]
        if self._perturber is not None:
            for suite in self._suites:
                suite.impulse = self._perturber.impulse

    def _set_privileged(self, perturbations: Perturbations) -> None:
        """Set the sensors of the option `privileged`."""
        selected = sensors_of_option(self.task.privileged, self.mechanism, perturbations)
        suite = SensorSuite(selected, self.sim, self.dt, self.efforts.size) if selected else None
        self.privileged_bounds = {} if suite is None else suite.bounds
        self._most_privileged = np.array(list(self.privileged_bounds.values()))
        self._privileged, self._selected = suite, selected
        self._suites = [one for one in (self._sensors, suite) if one is not None]

    def check_action(
        self, action: ArrayLike, idle: Flags | None = None
    ) -> tuple[Array, Flags | bool]:
        """Return `action` as float64, clipped to [-1, 1], and whether it was clipped (...,).

        False stands for all environments. Actions of those that are `idle` (batch,) are replaced
        by zero.

        Raises:
            ValueError: another shape, or numbers that are not real or not finite.
        """
        values = self._float64_action(action)
        if idle is not None:
            values[idle.nonzero()[0]] = 0.0
        if within_unit(values):  # actions of most learners are
            return values, False
        finite = np.isfinite(values)
        if not finite.all():
            wrong = tuple(np.argwhere(~finite.all(axis=-1))[0])  # () for one environment
            where = f" of environment {wrong[0]}" if wrong else ""
            found = values[wrong].tolist()
            raise ValueError(f"action{where}: found {found}, expected finite numbers in [-1, 1]")
        clipped = np.minimum(np.maximum(values, -1.0), 1.0)
        return clipped, (values != clipped).any(axis=-1)

    def _float64_action(self, action: ArrayLike) -> Array:
        """Return a copy of `action` as float64, of the right shape."""
        expected = f"of shape {self.action_shape}"
        try:
            given = np.asarray(action)
        except ValueError as error:  # rows of different lengths
            raise ValueError(f"action: found {action!r}, expected numbers {expected}") from error
        if given.dtype.kind not in _REAL:
            found = f"{given.dtype} values"
            raise ValueError(f"action: found {found}, expected real numbers {expected}")
        if given.shape != self.action_shape:
            raise ValueError(f"action: found shape {given.shape}, expected {self.action_shape}")
        return given.astype(np.float64)

    def start(
        self,
        positions: Start,
        velocities: Start,
        mask: Flags | None = None,
        on_ground: bool = True,
        terrain_map: ArrayLike | None = None,
    ) -> None:
        """Start an episode from the state that `Task.initial` returns.

        Args:
            positions: of the joints.
            velocities: of the joints.
            mask: (batch,) environments of a batch that start, all by default.
            on_ground: whether floating bodies are put on the ground, if the task asks for it.
            terrain_map: number of the terrain's map; None: as before.
        """
        starting = np.ones(self.sim.batch or 1, dtype=np.bool_) if mask is None else mask
        if self._perturber is not None:
            self._perturber.reset(starting)
        for suite in self._suites:
            suite.reset(starting)
        if self._history is not None:
            self._history.start(starting)
        task, sim = self.task, self.sim
        start, grounded = partial(sim.reset, positions, velocities), on_ground and task.grounded
        start(mask=mask, place_on_ground=grounded, terrain_map=terrain_map)
        if on_ground and task.unburied:
            buried = (sim.contacts.gap.min(axis=-1) < 0.0) & (mask is None or mask)
            if np.any(buried):
                start(mask=buried if sim.batch else None, place_on_ground=True)

    def start_random(
        self, streams: Sequence[np.random.Generator], mask: Flags, given: GivenStart
    ) -> None:
        """Start episodes in the mask (batch,) from random states, or from given ones.

        The random state is drawn in either case. Goals are not drawn with a state: they stay.
        Without a batch there is one environment in the mask.
        """
        task, sim = self.task, self.sim
        if sim.batch is None:
            positions, velocities = task.initial(self.mechanism, streams[0])
        else:
            positions, velocities = draw_initial_states(task, self.mechanism, streams, mask)
        drawn = draw_terrain_maps(task, self.mechanism, streams, mask)
        terrain_map = drawn[0] if drawn is not None and sim.batch is None else drawn
        self.start(
            given.merged_positions(positions, self.mechanism),
            given.merged_velocities(velocities, self.mechanism),
            mask,
            on_ground=not given.places_base(self.mechanism),
            terrain_map=terrain_map,
        )
        if given.state is None:
            self.draw_goals(streams, mask)
        else:
            sim.set_state(given.state, mask)
        self._rates.restart(mask)

    def draw_goals(self, streams: Sequence[np.random.Generator], mask: Flags | None = None) -> None:
        """Draw the goals of new episodes in the mask (batch,), of all by default."""
        if not self._goals:
            return
        lanes = np.arange(len(streams)) if mask is None else mask.nonzero()[0]
        for lane in lanes.tolist():
            goal = self.task.goal(streams[lane])
            require_goal(goal, self._goals)
            for name, value in goal.items():
                self._goals[name][lane] = value

    def goals(self) -> Quantities:
        """Return the goals of the episodes, each (...,)."""
        if self.shape:
            return {name: values.copy() for name, values in self._goals.items()}
        return {name: values.tolist()[0] for name, values in self._goals.items()}

    def step(self, action: ArrayLike) -> StepResult:
        """Apply `action` (..., n_actuated), clipped to [-1, 1], for one control step."""
        return self.step_result(self.advance(action))

    def advance(self, action: ArrayLike, idle: Flags | None = None) -> AppliedAction:
        """Step the simulator with the torques or motor targets of an action.

        Actions of environments that are `idle` (batch,) are replaced by zero.
        """
        action, clipped = self.check_action(action, idle)
        for suite in self._suites:
            suite.before_step(action)
        if self._perturber is not None:
            action = self._perturber.act(action, idle)
        self._rates.before_step()
        task, sim = self.task, self.sim
        if self._is_timed:
            targets = task.motor_targets(action, sim.time, self.goals())
        else:
            targets = task.targets(action)
        torques = sim.parameters.scaled_torques(action) if targets is None else None
        converged = sim.step_unchecked(torques, targets, task.frame_skip)
        return AppliedAction(action, clipped, torques, converged)

    def step_result(self, applied: AppliedAction, restarted: Flags | None = None) -> StepResult:
        """Return observation, reward, termination and info of the control step.

        Environments `restarted` (batch,) since then get those of `reset_result` and are not over.
        """
        quantities = self.quantities()
        terms = self._weighted_rewards(self.task.rewards(quantities, applied.action))
        torques = self.sim.actuator_torques if applied.torques is None else applied.torques
        state = self.sim.readings.present_state
        converged = True if applied.converged else state.converged
        terminated = self._terminated(quantities, converged, restarted)
        zero: Any = np.zeros(self.shape) if self.shape else 0.0
        reward: Any = reduce(add, terms.values(), zero)  # `sum` compensates Python's numbers
        if restarted is not None:
            reward[restarted] = 0.0

        def read_info() -> Infos:
            for value in () if restarted is None else terms.values():
                value[restarted] = 0.0
            return self.info(quantities, terms, torques, applied.clipped, state)

        return StepResult(self.observe(quantities), reward, terminated, read_info)

    def _weighted_rewards(self, terms: Quantities) -> Quantities:
        """Return the weighted reward terms by their keys in `info`."""
        require_terms(terms, self.task.weights)
        require_shape(terms, "reward term", self.shape, 0)
        return {key: weight * terms[name] for key, name, weight in self._reward_terms}

    def _terminated(
        self, quantities: Quantities, converged: Flags | bool, restarted: Flags | None
    ) -> Any:
        """Return whether episodes are over (...,); True stands for steps that all converged."""
        ended: Any = self.task.terminated(quantities)
        if not self.shape:
            if type(ended) not in NUMBERS:
                require_shape({"terminated": ended}, "hook", (), 0)
            return ended or not converged
        require_shape({"terminated": ended}, "hook", self.shape, 0)
        over: Flags = np.array(ended, dtype=np.bool_)
        if converged is not True:
            over |= np.logical_not(converged)
        return over if restarted is None else over & ~restarted

    def quantities(self) -> Quantities:
        """Return coordinates, time [s], privileged readings, goals, and the task's quantities."""
        sim = self.sim
        own = {**self.task.quantities(sim), **self._rates.read()}
        require_shape(own, "quantity", self.shape, 1)
        positions, velocities, time = sim.readings.coordinates
        common = {"joint_positions": positions, "joint_velocities": velocities, "time": time}
        if self._privileged is not None:
            most = self._most_privileged
            common["privileged"] = np.clip(self._privileged.read(), -most, most)
        return {**common, **self.goals(), **own}

    def observe(self, quantities: Quantities, mask: Flags | None = None) -> Array:
        """Return the observation (..., n_observations), clipped to the bounds of the space.

        Noise and history go on in environments of the mask (batch,), by default in all.
        """
        observed = self.task.observe(quantities)
        require_observation(observed, self._own_shape)
        if self._sensors is not None:
            observed = np.concatenate((observed, self._sensors.read()), axis=-1)
        exact = np.maximum(observed, self._lower)
        np.minimum(exact, self._upper, out=exact)
        seen = exact if self._perturber is None else self._perturber.observe(exact, mask)
        return seen if self._history is None else self._history.add(seen, mask)

    def info(
        self,
        quantities: Quantities,
        terms: Quantities,
        torques: Array,
        clipped: Flags | bool,
        state: PresentState,
    ) -> Infos:
        """Return quantities, weighted reward terms by their keys, and the simulator's metrics."""
        named = {name: value for name, value in quantities.items() if not name.startswith("_")}
        info: Infos = {**named, **terms, **metrics(state)}
        info["torque_squared"] = np.add.reduce(torques * torques, axis=-1)
        info["action_clipped"] = np.zeros(self.shape, np.bool_) if clipped is False else clipped
        return info if self.shape else with_plain_numbers(info)

    def reset_result(self, mask: Flags | None = None) -> tuple[Array, Callable[[], Infos]]:
        """Return observations of starts in a mask (batch,), and a function for their info."""
        quantities, state = self.quantities(), self.sim.readings.present_state

        def read_info() -> Infos:
            none = np.zeros(self.action_shape)
            terms = dict.fromkeys([key for key, _, _ in self._reward_terms], none[..., 0])
            return self.info(quantities, terms, none, False, state)

        return self.observe(quantities, mask), read_info
