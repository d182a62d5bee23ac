"""Episodes played side by side: interface of policies, metrics of each episode."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vigym.envs.task import Task

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[float], None]  # called with the finished part, in [0, 1]

TIME, ENERGY = "time", "energy_total"
PLACES = "x_position", "y_position"
DISTANCES = ("travelled", "x_position")  # first one in `info`, of a task without `course`
POWERS = ("power", "power_mech")  # motor power: first one in `info`


class Policy(Protocol):
    """Policy of episodes played side by side."""

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return actions (n, n_actions); rows of episodes not `playing` (n,) are ignored."""


@dataclass(frozen=True, eq=False)
class Episode:
    """Metrics of one episode.

    Attributes:
        seed: of its reset.
        return_: sum of its rewards.
        length: number of control steps.
        seconds: simulated time [s].
        terminated: whether it ended before its time limit.
        failed: whether it terminated without reaching the goal.
        reached_goal: whether it terminated by reaching the goal; None for a task without a goal.
        unconverged_steps: number of control steps in which the solver did not converge.
        distance: along `Task.course` where the task has one, else `travelled` or x [m]; nan where
            there is none of these.
        speed: distance over time [m/s]; nan where no step was made.
        power: mean over the episode of the motors' sum of |torque * rate| [W].
        cost_of_transport: power over weight, with the factors of `randomization`, and |speed|.
        energy_balance: largest |E - E0 - work + dissipated| [J].
        energy_change: largest |E - E0| [J].
        constraint_residual: largest joint gap [m or rad].
        penetration: deepest contact below the ground [m].
        solver_iterations: mean over the control steps, of the sum over the physics steps of each.
        solver_iterations_max: largest sum of a control step.
        traces: requested quantities of `info` over time, (length + 1, ...) with the start.
    """

    seed: int
    return_: float
    length: int
    seconds: float
    terminated: bool
    failed: bool
    reached_goal: bool | None
    unconverged_steps: int
    distance: float
    speed: float
    power: float
    cost_of_transport: float
    energy_balance: float
    energy_change: float
    constraint_residual: float
    penetration: float
    solver_iterations: float
    solver_iterations_max: int
    traces: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)


class EpisodeStatistics:
    """Sums and extremes of episodes while they are played; one entry of every array an episode.

    Args:
        infos: of the reset, arrays (n,).
        traces: quantities of `info` to record over time.
        task: of the environments.
        weights: of all bodies at the start (n,) [N].

    Attributes:
        playing: episodes that have not ended (n,).
    """

    def __init__(
        self, infos: Mapping[str, Any], traces: tuple[str, ...], task: Task, weights: Array
    ) -> None:
        self._task, self._weights = task, weights
        self._distance_name = _first_of(DISTANCES, infos)
        self._power_name = _first_of(POWERS, infos)
        names = (ENERGY, self._distance_name) if self._distance_name else (ENERGY,)
        self._start = {name: np.array(infos[name]) for name in names}
        self._place = {name: np.array(infos[name]) for name in PLACES if name in infos}
        n = len(infos[TIME])
        self.playing = np.ones(n, dtype=np.bool_)
        self._terminated = np.zeros(n, dtype=np.bool_)
        self._length = np.zeros(n, dtype=np.int64)
        self._unconverged = np.zeros(n, dtype=np.int64)
        self._seconds = np.zeros(n)
        self._distance = np.zeros(n)
        self._reward = np.zeros(n)
        self._power = np.zeros(n)
        self._iterations = np.zeros(n)
        self._iterations_max = np.zeros(n)
        self._energy_balance = np.zeros(n)
        self._energy_change = np.zeros(n)
        self._constraint_residual = np.zeros(n)
        self._penetration = np.zeros(n)
        self._traces = {name: [np.array(infos[name])] for name in traces}

    def add(
        self, rewards: Array, terminated: Flags, truncated: Flags, infos: Mapping[str, Any]
    ) -> None:
        """Add a control step of the episodes that are playing."""
        on = self.playing.copy()
        self._reward[on] += rewards[on]
        self._length[on] += 1
        self._unconverged[on] += ~np.asarray(infos["solver_converged"])[on]
        self._seconds[on] = infos[TIME][on]
        self._power[on] += infos[self._power_name][on]
        self._iterations[on] += infos["solver_iterations"][on]
        extremes = (
            (self._iterations_max, infos["solver_iterations"]),
            (self._energy_balance, np.abs(infos["energy_balance"])),
            (self._energy_change, np.abs(infos[ENERGY] - self._start[ENERGY])),
            (self._constraint_residual, infos["constraint_residual_max"]),
            (self._penetration, infos["penetration"]),
        )
        for largest, value in extremes:
            largest[on] = np.maximum(largest[on], value[on])
        self._add_distance(on, infos)
        for name, values in self._traces.items():
            values.append(np.array(infos[name]))
        self._terminated |= on & terminated
        self.playing &= ~(terminated | truncated)

    def _add_distance(self, on: Flags, infos: Mapping[str, Any]) -> None:
        """Add what episodes `on` (n,) moved along the course, or read how far they are."""
        course = self._task.course(infos)
        if course is not None:
            x, y = (infos[name] - self._place[name] for name in PLACES)
            self._distance[on] += (np.cos(course) * x + np.sin(course) * y)[on]
            self._place = {name: np.array(infos[name]) for name in PLACES}
        elif self._distance_name:
            name = self._distance_name
            self._distance[on] = (infos[name] - self._start[name])[on]

    def episode(self, row: int, seed: int) -> Episode:
        """Return the metrics of one episode.

        Args:
            row: of the episode.
            seed: of its reset.
        """
        has_goal, weight = self._task.aims_to_end, float(self._weights[row])
        length, seconds = int(self._length[row]), float(self._seconds[row])
        distance = float(self._distance[row]) if self._distance_name else np.nan
        speed = distance / seconds if seconds else np.nan
        power = float(self._power[row]) / length
        terminated = bool(self._terminated[row])
        reached_goal = terminated and has_goal and not self._unconverged[row]
        return Episode(
            seed=seed,
            return_=float(self._reward[row]),
            length=length,
            seconds=seconds,
            terminated=terminated,
            failed=terminated and not reached_goal,
            reached_goal=reached_goal if has_goal else None,
            unconverged_steps=int(self._unconverged[row]),
            distance=distance,
            speed=speed,
            power=power,
            cost_of_transport=power / (weight * abs(speed)) if speed else np.inf,
            energy_balance=float(self._energy_balance[row]),
            energy_change=float(self._energy_change[row]),
            constraint_residual=float(self._constraint_residual[row]),
            penetration=float(self._penetration[row]),
            solver_iterations=float(self._iterations[row]) / length,
            solver_iterations_max=int(self._iterations_max[row]),
            traces={
                name: np.array([value[row] for value in values[: length + 1]])
                for name, values in self._traces.items()
            },
        )


def _first_of(names: tuple[str, ...], infos: Mapping[str, Any]) -> str:
    return next((name for name in names if name in infos), "")
