"""A task's environments under disturbances: other mechanisms, late actions, pushes, noisy observations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vigym.envs.disturbances import Disturbances, Ranges
from vigym.envs.task import Array, Flags, require
from vigym.mechanism.parameters import FactorTable
from vigym.mechanism.simulator import Simulator

Streams = Callable[[], Sequence[np.random.Generator]]


class Disturbed:
    """Disturbances at work in one environment or a batch; arrays (count, ...) also for one.

    Args:
        how: the options.
        sim: of all environments.
        actuators: number of actuators.
        bounds: name and bound of every observation.
        dt: length of a control step [s].
        streams: the random stream of every environment.

    Raises:
        MechanismError: a quantity or element that the mechanism has not.
        ValueError: noise of an observation that is none.
    """

    def __init__(
        self,
        how: Disturbances,
        sim: Simulator,
        actuators: int,
        bounds: Mapping[str, float],
        dt: float,
        streams: Streams,
    ) -> None:
        self._sim, self._streams, self._bounds = sim, streams, np.array(list(bounds.values()))
        count = sim.batch or 1
        self._table = FactorTable(sim.mechanism)
        ends = (self._table.rows(_ends(how.ranges, k), 1, True)[0] for k in (0, 1))
        self._low, self._high = ends
        self._varied = bool(how.ranges)
        self._noise = _deviations(how, bounds)
        self._late = how.action_latency > 0
        self._waiting = np.zeros((count, how.action_latency, actuators))  # actions, the next to act first
        self._impulse, pause = how.pushes or (0.0, np.inf)
        self._chance = dt / pause
        self._observed = np.zeros((count, len(bounds)))
        self._bodies = list(sim.mechanism.bodies)

    def start(self, chosen: Flags) -> None:
        """Forget actions that wait, and draw the factors of the chosen environments (count,); they start afresh."""
        self._waiting[chosen] = 0.0
        if not self._varied:
            return
        rows, streams = np.ones((len(chosen), self._table.size)), self._streams()
        for lane in np.flatnonzero(chosen).tolist():
            rows[lane] = streams[lane].uniform(self._low, self._high)
        values: Any = rows[0] if self._sim.batch is None else rows
        parameters = {q: {name: values[..., k] for name, k in at.items()} for q, at in self._table.columns.items()}
        self._sim.set_parameters(parameters, chosen)

    def act(self, action: Array, idle: Flags | None) -> Array:
        """Push, and return the action (..., n_actuated) that acts now; on `idle` environments (count,) none does."""
        if self._impulse > 0.0:
            self._push(np.ones(len(self._waiting), dtype=np.bool_) if idle is None else ~idle)
        if not self._late:
            return action
        queue = np.concatenate([self._waiting, action.reshape(len(self._waiting), 1, -1)], axis=1)
        self._waiting = queue[:, 1:]
        acting: Array = queue[:, 0].reshape(action.shape)
        if idle is not None:
            acting[idle] = 0.0
        return acting

    def _push(self, active: Flags) -> None:
        impulses, streams = np.zeros((len(active), len(self._bodies), 3)), self._streams()
        for lane in np.flatnonzero(active).tolist():
            if streams[lane].random() < self._chance:
                body, direction = streams[lane].integers(len(self._bodies)), streams[lane].normal(size=3)
                impulses[lane, body] = self._impulse * direction / np.sqrt(direction @ direction)
        if impulses.any():
            self._sim.push(impulses[0] if self._sim.batch is None else impulses)

    def observe(self, observation: Array, chosen: Flags | None) -> Array:
        """Return observations (..., n) with noise; those that are not `chosen` (count,) as they were last."""
        if not self._noise.any():
            return observation
        exact, streams = observation.reshape(self._observed.shape), self._streams()
        lanes = range(len(exact)) if chosen is None else np.flatnonzero(chosen).tolist()
        noisy = self._observed.copy()
        for lane in lanes:
            noisy[lane] = exact[lane] + self._noise * streams[lane].normal(size=len(self._bounds))
        self._observed = np.minimum(np.maximum(noisy, -self._bounds), self._bounds)
        seen: Array = self._observed.reshape(observation.shape).copy()
        return seen


def _ends(ranges: Ranges, k: int) -> dict[str, Any]:
    """Lower (k = 0) or upper ends of ranges, by the same names."""
    return {
        quantity: {name: pair[k] for name, pair in given.items()} if isinstance(given, Mapping) else given[k]
        for quantity, given in ranges.items()
    }


def _deviations(how: Disturbances, bounds: Mapping[str, float]) -> Array:
    given = how.observation_noise
    if not isinstance(given, Mapping):
        return np.full(len(bounds), float(given))
    unknown = sorted(set(given) - set(bounds))
    require(not unknown, "observation_noise", unknown, f"names among {', '.join(bounds)}")
    return np.array([float(given.get(name, 0.0)) for name in bounds])
