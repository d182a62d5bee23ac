"""Perturbations of environments: random parameters, action latency, random impulses and noise.

All are off by default.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from vigym.envs.arrays import Array, Flags
from vigym.envs.options import is_number, is_whole, require
from vigym.simulation.parameters.quantities import FactorTable
from vigym.simulation.simulator import Simulator

MAX_LATENCY = 10_000  # control steps: longer than any episode; every environment stores its queue
Range = tuple[float, float]
Ranges = Mapping[str, Range | Mapping[str, Range]]
RandomStreams = Callable[[], Sequence[np.random.Generator]]


@dataclass(frozen=True, kw_only=True)
class Perturbations:
    """Perturbation options, which every environment has beside those of its task.

    Random numbers come from the environment's own stream: they depend on its seed and its actions
    alone, whatever the number of environments. Perturbations that are off draw none. Order of the
    draws: at a reset the initial state, the factors, the noise of the first observation; in a step
    the impulse, then the noise.

    Attributes:
        randomization: {quantity: (low, high)} or {quantity: {element: (low, high)}}: at every reset
            the quantity of each element is its nominal value times a factor, uniform within the
            range. Quantities and elements are those of `Simulator.set_parameters`: "gravity",
            "mass", "inertia", "length", "friction", "joint_friction", "damping", "stiffness",
            "strength" (which also scales the torque of an action). Rewards, observations and
            pictures remain those of the nominal mechanism; `sensors` read the random one, and costs
            of transport are over its weight. `sim.parameters` has the factors.
        observation_noise: standard deviation of normal noise on every entry of the observation, in
            its unit, or one for each by name; the sum is clipped to the space. `info` is exact.
        action_latency: control steps until an action takes effect, at most 10,000; before the first
            one does, actions are zero. Reward terms are those of the action in effect.
        pushes: (impulse [N s], mean time between two [s]): random impulses. In a control step, with
            the probability that gives this mean, a random body receives the impulse at its centre
            of mass in a random direction. Its work is neither counted as work of the actuators nor
            in the energy balance.

    Raises:
        ValueError: an option out of range.
    """

    randomization: Ranges | None = None
    observation_noise: float | Mapping[str, float] = 0.0
    action_latency: int = 0
    pushes: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        noise = self.observation_noise
        deviations = noise.values() if isinstance(noise, Mapping) else [noise]
        valid = all(is_number(deviation) and deviation >= 0.0 for deviation in deviations)
        expected = "a number >= 0, or one for observations by name"
        require(valid, "observation_noise", noise, expected)
        latency = self.action_latency
        valid = is_whole(latency) and 0 <= latency <= MAX_LATENCY
        expected = f"a whole number of control steps from 0 to {MAX_LATENCY}"
        require(valid, "action_latency", latency, expected)
        if self.pushes is not None:
            valid = _is_pair(self.pushes) and self.pushes[0] >= 0.0 and self.pushes[1] > 0.0
            expected = "None or (impulse >= 0 N s, seconds between two > 0)"
            require(valid, "pushes", self.pushes, expected)
        for quantity, given in self.ranges.items():
            for pair in given.values() if isinstance(given, Mapping) else [given]:
                valid = _is_pair(pair) and 0.0 < pair[0] <= pair[1]
                expected = "factors (low, high), 0 < low <= high"
                require(valid, f"randomization of {quantity}", pair, expected)

    @property
    def ranges(self) -> Ranges:
        """Ranges of the randomization, {} for None.

        Raises:
            ValueError: it is no mapping.
        """
        given: Any = self.randomization
        valid = given is None or isinstance(given, Mapping)
        require(valid, "randomization", given, "None or {quantity: (low, high)}")
        return given or {}

    @property
    def off(self) -> bool:
        """Whether all perturbations are off."""
        noise = self.observation_noise
        noisy = any(noise.values()) if isinstance(noise, Mapping) else noise > 0.0
        return not (self.ranges or noisy or self.action_latency or self.pushes)


def split_options(options: dict[str, Any]) -> tuple[Perturbations, dict[str, Any]]:
    """Return the perturbations among the options of an environment, and the other options."""
    names = {field.name for field in fields(Perturbations)}
    perturbations = Perturbations(**{name: options[name] for name in options if name in names})
    return perturbations, {name: options[name] for name in options if name not in names}


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(is_number, value))


class Perturber:
    """Perturbations applied to one environment or a batch; arrays (count, ...) also for one.

    Args:
        perturbations: the options.
        sim: of all environments.
        n_actuated: number of actuators.
        bounds: name and bound of every entry of the observation.
        dt: length of a control step [s].
        streams: returns the random stream of every environment.

    Raises:
        MechanismError: a quantity or element that the mechanism has not.
        ValueError: noise of an unknown observation.

    Attributes:
        impulse: (count, 3) sum of the random impulses of the last control step [N s].
    """

    def __init__(
        self,
        perturbations: Perturbations,
        sim: Simulator,
        n_actuated: int,
        bounds: Mapping[str, float],
        dt: float,
        streams: RandomStreams,
    ) -> None:
        self._sim = sim
        self._streams = streams
        self._bounds = np.array(list(bounds.values()))
        count = sim.batch or 1
        self._table = FactorTable(sim.mechanism)
        self._dt = dt
        self._names = bounds
        self._randomized = False  # whether factors may differ from 1
        # actions that have not taken effect yet, the oldest first
        self._queue = np.zeros((count, perturbations.action_latency, n_actuated))
        self._observed: Array | None = None  # last ones with noise
        self._bodies = list(sim.mechanism.bodies)
        self.impulse = np.zeros((count, 3))
        self.set_options(perturbations)

    def set_options(self, perturbations: Perturbations) -> None:
        """Change all perturbations but the action latency: factors at the next resets."""
        ranges = perturbations.ranges
        low = self._table.rows(_range_ends(ranges, 0), 1, True)[0]
        high = self._table.rows(_range_ends(ranges, 1), 1, True)[0]
        self._deviations = _noise_deviations(perturbations, self._names)
        self._low, self._high = low, high
        self._draws = bool(ranges)
        self._randomized = self._randomized or self._draws
        self._impulse, interval = perturbations.pushes or (0.0, np.inf)
        self._impulse_probability = self._dt / interval

    def reset(self, mask: Flags) -> None:
        """Clear the action queues and draw the factors of environments in the mask (count,)."""
        self._queue[mask] = 0.0
        self.impulse[mask] = 0.0
        if not self._randomized:
            return
        rows = np.ones((len(mask), self._table.size))
        streams = self._streams()
        for lane in np.flatnonzero(mask).tolist() if self._draws else ():
            rows[lane] = streams[lane].uniform(self._low, self._high)
        values: Any = rows[0] if self._sim.batch is None else rows
        parameters = {
            quantity: {name: values[..., column] for name, column in columns.items()}
            for quantity, columns in self._table.columns.items()
        }
        self._sim.set_parameters(parameters, mask)

    def act(self, action: Array, idle: Flags | None) -> Array:
        """Apply random impulses and return the action (..., n_actuated) that its latency lets act.

        Environments that are `idle` (count,) receive neither.
        """
        self.impulse[:] = 0.0
        if self._impulse > 0.0:
            self._apply_impulses(
                np.ones(len(self._queue), dtype=np.bool_) if idle is None else ~idle
            )
        if not self._queue.shape[1]:
            return action
        queue = np.concatenate([self._queue, action.reshape(len(self._queue), 1, -1)], axis=1)
        self._queue = queue[:, 1:]
        current: Array = queue[:, 0].reshape(action.shape)
        if idle is not None:
            current[idle] = 0.0
        return current

    def _apply_impulses(self, active: Flags) -> None:
        impulses = np.zeros((len(active), len(self._bodies), 3))
        streams = self._streams()
        for lane in np.flatnonzero(active).tolist():
            stream = streams[lane]
            if stream.random() < self._impulse_probability:
                body = stream.integers(len(self._bodies))
                direction = stream.normal(size=3)
                impulses[lane, body] = self._impulse * direction / np.sqrt(direction @ direction)
        self.impulse[:] = impulses.sum(axis=1)
        if impulses.any():
            self._sim.push(impulses[0] if self._sim.batch is None else impulses)

    def observe(self, observation: Array, mask: Flags | None) -> Array:
        """Return observations (..., n) with noise; outside the mask (count,) the previous ones."""
        if not self._deviations.any():
            self._observed = None
            return observation
        exact = observation.reshape(len(self._queue), -1)
        streams = self._streams()
        lanes = range(len(exact)) if mask is None else np.flatnonzero(mask).tolist()
        noisy = (exact if self._observed is None else self._observed).copy()
        for lane in lanes:
            noise = self._deviations * streams[lane].normal(size=len(self._bounds))
            noisy[lane] = exact[lane] + noise
        self._observed = np.minimum(np.maximum(noisy, -self._bounds), self._bounds)
        observed: Array = self._observed.reshape(observation.shape).copy()
        return observed


def _range_ends(ranges: Ranges, end: int) -> dict[str, Any]:
    """Return the lower (end = 0) or upper (end = 1) ends of ranges, under the same names."""
    return {
        quantity: {name: pair[end] for name, pair in given.items()}
        if isinstance(given, Mapping)
        else given[end]
        for quantity, given in ranges.items()
    }


def _noise_deviations(perturbations: Perturbations, bounds: Mapping[str, float]) -> Array:
    """Return the standard deviation of the noise on every entry of the observation."""
    given = perturbations.observation_noise
    if not isinstance(given, Mapping):
        return np.full(len(bounds), float(given))
    unknown = sorted(set(given) - set(bounds))
    require(not unknown, "observation_noise", unknown, f"names among {', '.join(bounds)}")
    return np.array([float(given.get(name, 0.0)) for name in bounds])
