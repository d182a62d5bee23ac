"""Search for the parameters of a controller; candidates play side by side as one batch.

Two methods: the hill climb with which the paper on contacts and loops learns to walk (appendix E),
and CMA-ES of the library `cma`. Both draw candidates around a centre, in units of the spreads.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import gymnasium
import numpy as np

from vigym.evaluation.blocks import play_episode
from vigym.evaluation.controllers import make_policy
from vigym.evaluation.environments import make_env
from vigym.evaluation.episodes import Array, Episode, Flags, Policy, Progress
from vigym.evaluation.policies import Context

MEASURES = [each.name for each in fields(Episode) if each.type in (float, int)]


@dataclass(frozen=True)
class Parameter:
    """Parameter of a controller that is searched.

    Attributes:
        start: value of the first candidate.
        spread: standard deviation of the first draws around it, in its unit.
        lower: smallest value.
        upper: largest value.

    Raises:
        ValueError: a spread that is not positive, or a start outside of the bounds.
    """

    start: float
    spread: float
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        if not 0.0 < self.spread < math.inf:
            raise ValueError(f"parameter spread: found {self.spread}, expected a number > 0")
        if not (math.isfinite(self.start) and self.lower <= self.start <= self.upper):
            expected = f"a number in [{self.lower}, {self.upper}]"
            raise ValueError(f"parameter start: found {self.start}, expected {expected}")

    def value(self, draw: float) -> float:
        """Return the value of a draw, in units of the spread: six digits, within the bounds."""
        value = float(f"{self.start + self.spread * draw:.6g}")
        return min(max(value, self.lower), self.upper)


# parameters that are searched by default, of controllers by name
SPACES: dict[str, dict[str, Parameter]] = {
    "sine_gait": {
        "frequency": Parameter(2.5, 0.5, lower=0.0),
        "hip_swing": Parameter(0.15, 0.1),
        "hip_lean": Parameter(0.0, 0.05),
        "knee_swing": Parameter(0.25, 0.15),
        "knee_lean": Parameter(0.0, 0.1),
        "knee_lag": Parameter(1.57, 0.4),
    },
    "tracking": {
        "shoulder_kp": Parameter(200.0, 30.0, lower=0.0),
        "shoulder_kd": Parameter(10.0, 2.0, lower=0.0),
        "elbow_kp": Parameter(60.0, 15.0, lower=0.0),
        "elbow_kd": Parameter(3.0, 1.0, lower=0.0),
    },
}


@dataclass(frozen=True, kw_only=True)
class Search:
    """Search: parameters, method and measure.

    Attributes:
        env_id: id of an environment of vigym, or of your own as "module:id".
        controller: its name, or "module:name", with parameters that stay: "sine_gait,ramp=1".
        parameters: that are searched, by name; empty: those of `SPACES`.
        options: of the environment.
        method: "climb" or "cma".
        measure: figure of an episode that is to be large, a number of
            `vigym.evaluation.episodes.Episode`; with "-" before it one that is to be small.
        episodes: number of candidates, an episode each.
        batch: number of candidates that are drawn and played at once.
        threads: of the simulator.
        seed: of the draws, and of the start, which is the same for all candidates.
    """

    env_id: str
    controller: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    method: str = "climb"
    measure: str = "return_"
    episodes: int = 100
    batch: int = 8
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: found {self.method!r}, expected one of {list(METHODS)}")
        if self.measure.removeprefix("-") not in MEASURES:
            raise ValueError(f"measure: found {self.measure!r}, expected one of {MEASURES}")
        for name, least in (("episodes", 1), ("batch", 1), ("threads", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: found {getattr(self, name)}, expected {least} or more")
        if not self.space:
            names = ", ".join(SPACES)
            expected = f"parameters, or one that has them by default: {names}"
            raise ValueError(
                f"controller {self.controller!r}: found none to search, expected {expected}"
            )

    @property
    def space(self) -> Mapping[str, Parameter]:
        """Parameters that are searched, by name."""
        return self.parameters or SPACES.get(self.controller.partition(",")[0], {})


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Candidate of a search, and how it did.

    Attributes:
        controller: with all its parameters, as `vigym evaluate -c` takes it.
        parameters: by name.
        episode: its figures.
        score: the measure, of which more is better.
    """

    controller: str
    parameters: dict[str, float]
    episode: Episode
    score: float

    @property
    def merit(self) -> tuple[bool, float]:
        """Order of candidates: failed candidates are worse than all others."""
        return not self.episode.failed, self.score


class Method(Protocol):
    """Method that draws candidates, in units of the spreads, and learns from their merits."""

    def draw(self) -> Array:
        """Return the points (batch, n) of the next candidates."""

    def learn(self, points: Array, merits: list[tuple[bool, float]]) -> None:
        """Update by the merits of points (m, n) that were drawn."""


class Climb:
    """Hill climb: candidates are drawn around the best point so far, with one width throughout."""

    def __init__(self, count: int, batch: int, rng: np.random.Generator) -> None:
        self._shape = batch, count
        self._rng = rng
        self._best = np.zeros(count)
        self._merit: tuple[bool, float] | None = None

    def draw(self) -> Array:
        """Return points around the best one; the first of all is the start itself."""
        points = self._best + self._rng.standard_normal(self._shape)
        if self._merit is None:
            points[0] = self._best
        return points

    def learn(self, points: Array, merits: list[tuple[bool, float]]) -> None:
        """Move to the best of the points if it is better than all before."""
        best = max(range(len(merits)), key=merits.__getitem__)
        if self._merit is None or merits[best] > self._merit:
            self._best, self._merit = points[best].copy(), merits[best]


class CmaEs:
    """Covariance matrix adaptation of the library `cma`, with a generation for each batch.

    Raises:
        ImportError: the library is not installed.
    """

    def __init__(self, count: int, batch: int, rng: np.random.Generator) -> None:
        try:
            import cma
        except ImportError as error:
            hint = "pip install cma"
            raise ImportError(f"method 'cma' needs the library cma: {hint}") from error
        options: dict[str, Any] = {"popsize": batch, "verbose": -9, "seed": math.nan}
        options["randn"] = lambda *shape: rng.standard_normal(shape)
        self._strategy = cma.CMAEvolutionStrategy(np.zeros(count), 1.0, options)
        self._batch = batch

    def draw(self) -> Array:
        """Return the next generation."""
        return np.array(self._strategy.ask())

    def learn(self, points: Array, merits: list[tuple[bool, float]]) -> None:
        """Update the distribution by the order of a whole generation; a part is left out."""
        if len(merits) == self._batch:
            order = sorted(range(len(merits)), key=merits.__getitem__, reverse=True)
            ranks = np.empty(len(merits))
            ranks[order] = np.arange(len(merits))
            self._strategy.tell(list(points), ranks.tolist())


METHODS: dict[str, Callable[[int, int, np.random.Generator], Method]] = {
    "climb": Climb,
    "cma": CmaEs,
}


class _Candidates:
    """Policy of candidates that play side by side, each with a controller of its own."""

    def __init__(self, policies: list[Policy]) -> None:
        self._policies = policies

    def __call__(self, observations: Array, infos: Mapping[str, Any], playing: Flags) -> Array:
        """Return the actions of all candidates."""
        values = {key: value for key, value in infos.items() if not key.startswith("_")}
        actions = []
        for lane, policy in enumerate(self._policies):
            row = slice(lane, lane + 1)
            info = {key: value[row] for key, value in values.items()}
            actions.append(policy(observations[row], info, playing[row])[0])
        return np.array(actions)


class _Player:
    """Environments of a search, and the scores of the candidates in them."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._single = make_env(search.env_id, search.options)
        self._envs = gymnasium.make_vec(
            search.env_id, num_envs=search.batch, **{"threads": search.threads, **search.options}
        )

    def close(self) -> None:
        """Close the environments."""
        self._envs.close()
        self._single.close()

    def play(self, points: Array) -> list[Candidate]:
        """Return the candidates of points (batch, n)."""
        seeds = [self._search.seed] * len(points)
        drawn = [self._values(point) for point in points]
        names = [self._controller(values) for values in drawn]
        context = Context(self._search.env_id, self._single.unwrapped, seeds[:1])
        policy = _Candidates([make_policy(name, context) for name in names])
        statistics, _ = play_episode(self._envs, policy, seeds)
        episodes = [statistics.episode(lane, seeds[lane]) for lane in range(len(points))]
        return [
            Candidate(
                controller=name, parameters=values, episode=episode, score=self._score(episode)
            )
            for name, values, episode in zip(names, drawn, episodes, strict=True)
        ]

    def _values(self, point: Array) -> dict[str, float]:
        space = self._search.space.items()
        return {
            name: each.value(float(draw)) for (name, each), draw in zip(space, point, strict=True)
        }

    def _controller(self, values: Mapping[str, float]) -> str:
        settings = (f"{name}={value!r}" for name, value in values.items())
        return ",".join((self._search.controller, *settings))

    def _score(self, episode: Episode) -> float:
        measure = self._search.measure
        value = float(getattr(episode, measure.removeprefix("-")))
        if math.isnan(value):
            raise ValueError(
                f"measure: found no {measure.removeprefix('-')!r} in {self._search.env_id}"
            )
        return -value if measure.startswith("-") else value


def search_parameters(search: Search, progress: Progress = lambda done: None) -> list[Candidate]:
    """Return all candidates of a search in the order in which they were drawn.

    The best one is `max(candidates, key=lambda one: one.merit)`.

    Args:
        search: parameters, method and measure.
        progress: called with the finished part, in [0, 1].

    Raises:
        ValueError: an unknown environment, controller, parameter or option, or a measure that the
            environment has not.
        ImportError: the library of the method is not installed.
    """
    rng = np.random.default_rng(search.seed)
    method = METHODS[search.method](len(search.space), search.batch, rng)
    player = _Player(search)
    candidates: list[Candidate] = []
    while len(candidates) < search.episodes:
        points = method.draw()
        played = player.play(points)[: search.episodes - len(candidates)]
        method.learn(points[: len(played)], [one.merit for one in played])
        candidates += played
        progress(len(candidates) / search.episodes)
    player.close()
    return candidates
