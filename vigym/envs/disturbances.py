"""What makes an environment uncertain: options that every one has, all off by default."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from vigym.envs.task import is_number, require

LATEST = 10_000  # control steps: more than an episode has, and what waits is kept for every environment
Range = tuple[float, float]
Ranges = Mapping[str, Range | Mapping[str, Range]]


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
