"""Evaluation of a trained policy over fresh episodes: successes, figures, curve and film."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure
from stable_baselines3.common.evaluation import evaluate_policy

from vigym.evaluation.episodes import Episode
from vigym.evaluation.evaluate import Evaluation
from vigym.evaluation.evaluate import evaluate as play
from vigym.evaluation.policies import load_model
from vigym.evaluation.tables import deviation_of, table_of, with_deviation
from vigym.evaluation.video import film
from vigym.files import whole_file
from vigym.training.checkpoints import read_curve, read_normalisation
from vigym.training.environments import TimedVecEnv
from vigym.training.recipes import Success

USUAL_RATE = 30  # pictures per second of environments that name none, as in Gymnasium
TOGETHER = 16  # environments of an evaluation of others' ids


@dataclass(frozen=True)
class Result:
    """Result of a trained policy.

    Attributes:
        figures: means and extremes over the episodes by name, as `results.json` has them; None
            for what an environment does not have.
        table: rows of quantity, unit and value.
    """

    figures: dict[str, float | None]
    table: list[list[str]]

    @property
    def success_rate(self) -> float | None:
        """Share of successful episodes; None without a condition of success."""
        return self.figures["success_rate"]


def evaluate(
    env_id: str,
    controller: str | Callable[..., Any],
    success: Success | None,
    episodes: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
) -> Result:
    """Play episodes of a task with the seeds seed, seed + 1, ... and return the result.

    Args:
        env_id: id of a task of vigym or of a user.
        controller: as for `vigym.evaluate`, such as the path of a model or a callable.
        success: condition of a successful episode; None: a return of the reward threshold.
        episodes: number of episodes.
        seed: of the first one.
        options: of the environment.
    """
    traces = () if success is None else (success.quantity,)
    evaluation = play(env_id, controller, episodes, seed, options=options, traces=traces)
    if success is None:
        rate = _share_above_threshold(env_id, evaluation.column("return_"))
    else:
        rate = float(np.mean([is_successful(episode, success) for episode in evaluation.rows]))
    rows = [list(row) for row in table_of([evaluation])]
    return Result(_figures(evaluation, rate), [*_success_row(rate), *rows])


def evaluate_other(
    env_id: str, model: Path, episodes: int, seed: int, options: Mapping[str, Any]
) -> Result:
    """Play episodes of an environment that is no task of vigym and return the result.

    Args:
        env_id: its id.
        model: path of the policy.
        episodes: number of episodes.
        seed: of the first environment.
        options: of the environment.
    """
    envs = TimedVecEnv(env_id, min(episodes, TOGETHER), options)
    envs.seed(seed)
    single = gym.make(env_id, **options)
    policy = load_model(model, single).model
    single.close()
    normalised = read_normalisation(model.parent, envs, model)
    normalised.training = normalised.norm_reward = False
    found: Any = evaluate_policy(policy, normalised, episodes, return_episode_rewards=True)
    returns, lengths = np.array(found[0]), np.array(found[1])
    envs.close()
    rate = _share_above_threshold(env_id, returns)
    figures = {
        "episodes": len(returns),
        "mean_return": float(returns.mean()),
        "return_deviation": deviation_of(returns),
        "success_rate": rate,
        "mean_length": float(lengths.mean()),
    }
    table = [["return", "", with_deviation(returns.mean(), deviation_of(returns), ".5g")]]
    table.append(["length", "steps", f"{lengths.mean():.5g}"])
    return Result(figures, [*_success_row(rate), *table])


def _share_above_threshold(env_id: str, returns: Any) -> float | None:
    threshold = gym.spec(env_id).reward_threshold
    return None if threshold is None else float(np.mean(np.asarray(returns) >= threshold))


def _success_row(rate: float | None) -> list[list[str]]:
    return [] if rate is None else [["success rate", "%", f"{100.0 * rate:.0f}"]]


def _figures(evaluation: Evaluation, success_rate: float | None) -> dict[str, float | None]:
    """Return means and extremes over the episodes by name.

    Environment steps per second exclude the policy. Speed and cost of transport are None where
    nothing travels, since JSON has no nan; so is the deviation of one return.
    """
    column = evaluation.column
    figures = {
        "episodes": len(evaluation.rows),
        "mean_return": float(column("return_").mean()),
        "return_deviation": deviation_of(column("return_")),
        "lowest_return": float(column("return_").min()),
        "highest_return": float(column("return_").max()),
        "mean_length": float(column("length").mean()),
        "energy_balance": float(column("energy_balance").max()),
        "energy_change": float(column("energy_change").max()),
        "constraint_residual": float(column("constraint_residual").max()),
        "solver_failures": int(column("unconverged_steps").sum()),
        "steps_per_second": evaluation.steps_per_second,
        "power": float(column("power").mean()),
        "speed": float(column("speed").mean()),
        "slowest": float(column("speed").min()),
        "cost_of_transport": float(column("cost_of_transport").mean()),
    }
    finite = {key: x if x is not None and np.isfinite(x) else None for key, x in figures.items()}
    return finite | {"success_rate": success_rate}


def is_successful(episode: Episode, success: Success) -> bool:
    """Return whether the quantity stayed in its range for long enough at the end of an episode."""
    values = episode.traces[success.quantity][1:]
    inside = (success.low <= values) & (values <= success.high)
    required = max(1, round(success.seconds * episode.length / episode.seconds))
    lasted = episode.length >= required and inside[-required:].mean() >= success.share
    return bool(lasted) and episode.terminated == success.terminates


def plot_curve(curve: Path, picture: Path) -> None:
    """Draw the mean return of the evaluations in training.

    Args:
        curve: csv file with columns steps and return.
        picture: file to write.

    Raises:
        ValueError: the curve is damaged.
    """
    rows = np.reshape(read_curve(curve), (-1, 2))
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(*rows.T, marker=".")
    axes.set(xlabel="control steps", ylabel="mean return of an evaluation")
    with whole_file(picture) as new:
        figure.savefig(new, dpi=120)


def record_other(
    env_id: str, model: Path, path: Path, seed: int, options: Mapping[str, Any]
) -> None:
    """Record an episode of an environment that is no task of vigym.

    Args:
        env_id: its id.
        model: path of the policy.
        path: of the video, an .mp4.
        seed: of the episode.
        options: of the environment.
    """
    env = gym.make(env_id, render_mode="rgb_array", **options)
    try:
        policy = load_model(model, env)
        observation, info = env.reset(seed=seed)
        picture: Any = env.render()
        with film(path, picture, env.metadata.get("render_fps", USUAL_RATE)) as write:
            done = False
            while not done:
                observation, _, terminated, truncated, info = env.step(policy(observation, info))
                write(env.render())
                done = terminated or truncated
    finally:
        env.close()
