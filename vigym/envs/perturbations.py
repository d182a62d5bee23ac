"""Uncertainty of environments: other mechanisms, late actions, pushes, noisy observations; all off by default."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from vigym.envs.task import Array, Flags, is_number, require
from vigym.simulation.parameters.quantities import FactorTable
from vigym.simulation.simulator import Simulator

LATEST = 10_000  # control steps: more than an episode has, and what waits is kept for every environment
Range = tuple[float, float]
Ranges = Mapping[str, Range | Mapping[str, Range]]
Streams = Callable[[], Sequence[np.random.Generator]]


@dataclass(frozen=True, kw_only=True)
class Disturbances:
    """Options of every environment, single or in a vector, beside those of its task.

    What is random comes from the environment's own stream: it follows from its seed and actions, whatever the number of
    environments. What is off draws nothing. In order: at a reset the start, then the factors, then the noise of the
    first observation; in a step the push, then the noise.

    Attributes:
        randomization: {quantity: (low, high)} or {quantity: {element: (low, high)}}: at every reset each element's
            quantity is what it is as built times a factor, uniform within the range. Quantities and elements as in
            `Simulator.set_parameters`: "gravity", "mass", "inertia", "length", "friction", "joint_friction", "damping",
            "stiffness", "strength" (with it goes the torque that an action means). Rewards, observations and pictures
            stay those of the mechanism as built. `sim.parameters` tells the factors.
        observation_noise: standard deviation of normal noise on every entry of the observation, in its unit, or one for
            each by name; the sum is clipped to the space. `info` is exact.
        action_latency: control steps until an action acts, at most 10,000; before the first one it is the middle of
            every action. Reward terms are those of the action that acts.
        pushes: (impulse [N s], seconds between two on average): in a control step, with the chance that makes it so, a
            body is struck at its centre of mass; body and direction are random. What a push gives is no work of the
            actuators, and not in the balance of energies.

    Raises:
        ValueError: an option out of range.
    """

    randomization: Ranges | None = None
    observation_noise: float | Mapping[str, float] = 0.0
    action_latency: int = 0
    pushes: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        noise, late, pushes = self.observation_noise, self.action_latency, self.pushes
        sizes = list(noise.values()) if isinstance(noise, Mapping) else [noise]
        fine = all(is_number(size) and size >= 0.0 for size in sizes)
        require(fine, "observation_noise", noise, "a number >= 0, or one for observations by name")
        whole = isinstance(late, int | np.integer) and not isinstance(late, bool) and 0 <= late <= LATEST
        require(whole, "action_latency", late, f"a whole number of control steps from 0 to {LATEST}")
        if pushes is not None:
            fine = _is_pair(pushes) and pushes[0] >= 0.0 and pushes[1] > 0.0
            require(fine, "pushes", pushes, "None or (impulse >= 0 N s, seconds between two > 0)")
        for quantity, given in self.ranges.items():
            for pair in given.values() if isinstance(given, Mapping) else [given]:
                fine = _is_pair(pair) and 0.0 < pair[0] <= pair[1]
                require(fine, f"randomization of {quantity}", pair, "factors (low, high), 0 < low <= high")

    @property
    def ranges(self) -> Ranges:
        """The randomization, {} for None.

        Raises:
            ValueError: it is no mapping.
        """
        given: Any = self.randomization
        require(given is None or isinstance(given, Mapping), "randomization", given, "None or {quantity: (low, high)}")
        return given or {}

    @property
    def off(self) -> bool:
        """Whether nothing disturbs."""
        noise = self.observation_noise
        noisy = any(noise.values()) if isinstance(noise, Mapping) else noise > 0.0
        return not (self.ranges or noisy or self.action_latency or self.pushes)


def split_options(options: dict[str, Any]) -> tuple[Disturbances, dict[str, Any]]:
    """Return the disturbances among the options of an environment, and the other options."""
    names = {field.name for field in fields(Disturbances)}
    mine = {name: value for name, value in options.items() if name in names}
    return Disturbances(**mine), {name: value for name, value in options.items() if name not in names}


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(is_number(number) for number in value)


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
