"""Fresh evaluation episodes of a trained policy: figures, table, video."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import nan
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from hyperparameters import Success
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

Policy = Callable[[NDArray[Any]], NDArray[Any]]  # observations (n, ...) -> actions (n, ...)

TOGETHER = 25  # episodes played side by side, so that the policy is asked for many actions at once


@dataclass
class Episode:
    """Figures of one episode.

    Attributes:
        total: return.
        length: control steps.
        success: as the settings define it.
        balance: largest |energy balance| [J].
        scale: largest change of the total energy [J].
        residual: largest position residual of the constraints [m or rad].
        failures: steps the solver could not make.
        power: mean power of the actuators [W].
        distance: `travelled`, or else gone along x [m]; nan where `info` tells neither.
        seconds: length [s].
    """

    total: float = 0.0
    length: int = 0
    success: bool = False
    balance: float = 0.0
    scale: float = 0.0
    residual: float = 0.0
    failures: int = 0
    power: float = 0.0
    distance: float = nan
    seconds: float = 0.0


@dataclass(frozen=True)
class Figures:
    """Means and extremes over all episodes, and environment steps per second without the policy.

    Speed and cost of transport, its power over weight and speed, are nan where nothing moves along x.
    """

    episodes: int
    mean_return: float
    return_deviation: float
    success_rate: float
    mean_length: float
    energy_balance: float
    energy_change: float
    constraint_residual: float
    solver_failures: int
    steps_per_second: float
    power: float
    speed: float
    slowest: float
    cost_of_transport: float


class _Player:
    """One environment playing one episode."""

    def __init__(self, env: gym.Env[Any, Any], seed: int, success: Success) -> None:
        self.env, self.success, self.episode = env, success, Episode()
        self.observation, info = env.reset(seed=seed)
        self.energy, self.seconds = info["energy_total"], 0.0
        self.inside: list[bool] = []  # whether the quantity was where it should be
        self.start, self.done = distance_of(info), False

    def step(self, action: NDArray[Any]) -> None:
        self.observation, reward, terminated, truncated, info = self.env.step(action)
        dt, episode = self.env.unwrapped.dt, self.episode  # type: ignore[attr-defined]
        self.inside.append(bool(self.success.low <= info[self.success.quantity] <= self.success.high))
        episode.total += float(reward)
        episode.length += 1
        episode.balance = max(episode.balance, abs(info["energy_balance"]))
        episode.scale = max(episode.scale, abs(info["energy_total"] - self.energy))
        episode.residual = max(episode.residual, info["constraint_residual_max"])
        episode.failures += not info["solver_converged"]
        episode.power += (info.get("power", info["power_mech"]) - episode.power) / episode.length
        episode.distance, episode.seconds = distance_of(info) - self.start, episode.length * dt
        self.done = terminated or truncated
        asked = max(1, round(self.success.seconds / dt))
        lasted = episode.length >= asked and np.mean(self.inside[-asked:]) >= self.success.share
        episode.success = bool(lasted) and terminated == self.success.terminates


def distance_of(info: dict[str, Any]) -> float:
    """Return how far a robot is along its way [m], nan where it goes nowhere."""
    return float(info.get("travelled", info.get("x_position", nan)))


def evaluate(
    make: Callable[[], gym.Env[Any, Any]], policy: Policy, success: Success, episodes: int, seed: int
) -> Figures:
    """Play episodes with the seeds seed, seed + 1, ... and return their figures."""
    played: list[Episode] = []
    envs = [make() for _ in range(min(TOGETHER, episodes))]
    busy = 0.0
    for first in range(0, episodes, len(envs)):
        count = min(len(envs), episodes - first)
        players = [_Player(env, seed + first + k, success) for k, env in enumerate(envs[:count])]
        while playing := [player for player in players if not player.done]:
            actions = policy(np.stack([player.observation for player in playing]))
            start = time.perf_counter()
            for player, action in zip(playing, actions, strict=True):
                player.step(action)
            busy += time.perf_counter() - start
        played += [player.episode for player in players]
    weight = _weight(envs[0])
    for env in envs:
        env.close()
    return _figures(played, busy, weight)


def show(figures: Figures, title: str) -> None:
    """Print the table."""
    table = Table("quantity", "value", title=title)
    rows = {
        "episodes": f"{figures.episodes}",
        "return": f"{figures.mean_return:.1f} +- {figures.return_deviation:.1f}",
        "success rate": f"{100.0 * figures.success_rate:.0f} %",
        "episode length": f"{figures.mean_length:.0f} control steps",
        "energy balance, largest |E - E0 - work + dissipated|": f"{figures.energy_balance:.2e} J",
        "energy, largest change": f"{figures.energy_change:.2e} J",
        "constraint residual, largest": f"{figures.constraint_residual:.1e} m, rad",
        "steps the solver could not make": f"{figures.solver_failures}",
        "power of the actuators": f"{figures.power:.2f} W",
        "speed, mean and slowest": f"{figures.speed:.3f}, {figures.slowest:.3f} m/s",
        "cost of transport": f"{figures.cost_of_transport:.2f}",
        "environment speed": f"{figures.steps_per_second:.0f} control steps/s",
    }
    for row in rows.items():
        if "nan" not in row[1]:
            table.add_row(*row)
    Console().print(table)


def record(make: Callable[[], gym.Env[Any, Any]], policy: Policy, path: Path, seed: int) -> Path:
    """Play one episode into a file `path`/*.mp4 and return its name; `make` gives a mode "rgb_array" environment."""
    env = gym.wrappers.RecordVideo(make(), str(path), name_prefix=path.name, disable_logger=True)
    observation, _ = env.reset(seed=seed)
    done = False
    while not done:
        observation, _, terminated, truncated, _ = env.step(policy(observation[None])[0])
        done = terminated or truncated
    env.close()
    return max(path.glob("*.mp4"), key=lambda file: file.stat().st_mtime)


def plot_curve(curve: Path, picture: Path) -> None:
    """Draw the mean return of the evaluations while training, a csv with columns steps and return."""
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*np.loadtxt(curve, delimiter=",", skiprows=1, ndmin=2).T, marker=".")
    axes.set(xlabel="control steps", ylabel="mean return of an evaluation")
    figure.savefig(picture, dpi=120)


def as_row(figures: Figures) -> dict[str, Any]:
    """Return the figures by name, None for nan, which JSON does not have."""
    return {name: None if value != value else value for name, value in asdict(figures).items()}


def _weight(env: gym.Env[Any, Any]) -> float:
    """Return the weight of what moves [N]."""
    mechanism = env.unwrapped.mechanism  # type: ignore[attr-defined]
    return float(np.linalg.norm(mechanism.gravity) * sum(body.mass for body in mechanism.bodies.values()))


def _figures(played: list[Episode], busy: float, weight: float) -> Figures:
    totals = np.array([episode.total for episode in played])
    speeds = np.array([episode.distance / episode.seconds for episode in played])
    powers = np.array([episode.power for episode in played])
    return Figures(
        episodes=len(played),
        mean_return=float(totals.mean()),
        return_deviation=float(totals.std()),
        success_rate=float(np.mean([episode.success for episode in played])),
        mean_length=float(np.mean([episode.length for episode in played])),
        energy_balance=max(episode.balance for episode in played),
        energy_change=max(episode.scale for episode in played),
        constraint_residual=max(episode.residual for episode in played),
        solver_failures=sum(episode.failures for episode in played),
        steps_per_second=sum(episode.length for episode in played) / busy,
        power=float(powers.mean()),
        speed=float(speeds.mean()),
        slowest=float(speeds.min()),
        cost_of_transport=float((powers / (weight * np.abs(speeds))).mean()),
    )
