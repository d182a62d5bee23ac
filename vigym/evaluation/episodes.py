"""Episodes played side by side, each from its own seed: what is asked of a controller, and the row each one leaves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Progress = Callable[[float], None]  # told the part that is done, in [0, 1]

TIME, ENERGY = "time", "energy_total"
WAYS = ("travelled", "x_position")  # what tells how far a robot is along its way: the first of them in `info`
POWERS = ("power", "power_mech")  # the same for the power of its motors


class Policy(Protocol):
    """What plays episodes side by side."""

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions (n, n_actions); rows that are not `playing` (n,) do not matter."""


@dataclass(frozen=True, eq=False)
class Episode:
    """Figures of one episode.

    Attributes:
        seed: it was reset with.
        return_: sum of its rewards.
        length: control steps.
        seconds: of simulated time [s].
        terminated: whether it ended before its time was up.
        failed: whether it did so without reaching an aim.
        done: whether it did so by reaching the aim; None where no aim ends an episode.
        failures: steps the solver could not make.
        distance: along the way, `travelled` or else x [m]; nan where `info` tells neither.
        speed: distance over time [m/s]; nan where no step could be made.
        power: of the motors, mean over the episode of the sum of |torque * rate| [W].
        cost_of_transport: power over weight and |speed|.
        energy_balance: largest |E - E0 - work + dissipated| [J].
        energy_change: largest |E - E0| [J].
        constraint_residual: largest joint gap [m or rad].
        penetration: deepest contact below the ground [m].
        solver_iterations: mean over the control steps, of the last step of each.
        solver_iterations_most: most of them.
        traces: the asked quantities of `info` over time, (length + 1, ...) with the start.
    """

    seed: int
    return_: float
    length: int
    seconds: float
    terminated: bool
    failed: bool
    done: bool | None
    failures: int
    distance: float
    speed: float
    power: float
    cost_of_transport: float
    energy_balance: float
    energy_change: float
    constraint_residual: float
    penetration: float
    solver_iterations: float
    solver_iterations_most: int
    traces: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)


class Tally:
    """Counts of episodes while they are played; every array is (n,), one entry an episode."""

    def __init__(self, infos: Mapping[str, Any], traces: tuple[str, ...]) -> None:
        self.way, self.power_of = _first_of(WAYS, infos), _first_of(POWERS, infos)
        self.start = {name: np.array(infos[name]) for name in (ENERGY, *([self.way] if self.way else []))}
        count = len(infos[TIME])
        zero = np.zeros(count)
        self.reward, self.power, self.iterations, self.most = (zero.copy() for _ in range(4))
        self.balance, self.change, self.gap, self.depth = (zero.copy() for _ in range(4))
        self.seconds, self.distance = zero.copy(), zero.copy()
        self.length, self.failures = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.terminated, self.playing = np.zeros(count, dtype=np.bool_), np.ones(count, dtype=np.bool_)
        self.traced = {name: [np.array(infos[name])] for name in traces}

    def add(self, rewards: Array, terminated: Flags, truncated: Flags, infos: Mapping[str, Any]) -> None:
        """Count a step of those that still play."""
        on = self.playing.copy()
        self.reward[on] += rewards[on]
        self.length[on] += 1
        self.failures[on] += ~np.asarray(infos["solver_converged"])[on]
        self.seconds[on] = infos[TIME][on]
        self.power[on] += infos[self.power_of][on]
        self.iterations[on] += infos["solver_iterations"][on]
        highest = (
            (self.most, infos["solver_iterations"]),
            (self.balance, np.abs(infos["energy_balance"])),
            (self.change, np.abs(infos[ENERGY] - self.start[ENERGY])),
            (self.gap, infos["constraint_residual_max"]),
            (self.depth, infos["penetration"]),
        )
        for most, now in highest:
            most[on] = np.maximum(most[on], now[on])
        if self.way:
            self.distance[on] = (infos[self.way] - self.start[self.way])[on]
        for name, seen in self.traced.items():
            seen.append(np.array(infos[name]))
        self.terminated |= on & terminated
        self.playing &= ~(terminated | truncated)

    def episode(self, row: int, seed: int, weight: float, aims_to_end: bool) -> Episode:
        """Return the figures of one of the episodes; `weight` of what moves [N], whether an aim ends them."""
        length, seconds = int(self.length[row]), float(self.seconds[row])
        distance = float(self.distance[row]) if self.way else np.nan
        speed, power = distance / seconds if seconds else np.nan, float(self.power[row]) / length
        ended = bool(self.terminated[row])
        done = ended and aims_to_end and not self.failures[row]
        return Episode(
            seed=seed,
            return_=float(self.reward[row]),
            length=length,
            seconds=seconds,
            terminated=ended,
            failed=ended and not done,
            done=done if aims_to_end else None,
            failures=int(self.failures[row]),
            distance=distance,
            speed=speed,
            power=power,
            cost_of_transport=power / (weight * abs(speed)) if speed else np.inf,
            energy_balance=float(self.balance[row]),
            energy_change=float(self.change[row]),
            constraint_residual=float(self.gap[row]),
            penetration=float(self.depth[row]),
            solver_iterations=float(self.iterations[row]) / length,
            solver_iterations_most=int(self.most[row]),
            traces={name: np.array([now[row] for now in seen[: length + 1]]) for name, seen in self.traced.items()},
        )


def _first_of(names: tuple[str, ...], infos: Mapping[str, Any]) -> str:
    return next((name for name in names if name in infos), "")
