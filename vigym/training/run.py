"""Training run with PPO or SAC: from an environment to a policy, its figures, curve and film."""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import EvalCallback, ProgressBarCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.vec_env import VecNormalize

import vigym
from vigym.envs.options import find_callable, require
from vigym.envs.tasks.robot import Robot
from vigym.evaluation.blocks import check_limit
from vigym.evaluation.environments import make_env
from vigym.evaluation.episodes import Progress
from vigym.evaluation.video import record_video
from vigym.files import read_json, restore_folder, write_file
from vigym.training.checkpoints import (
    A_RUN,
    CURVE,
    MODEL,
    RESULTS,
    CheckpointCallback,
    newest_checkpoint,
    write_configuration,
)
from vigym.training.environments import (
    Curriculum,
    CurriculumCallback,
    TimedVecEnv,
    is_own,
)
from vigym.training.learners import (
    algorithm_class,
    check_hyperparameters,
    new_model,
    refusals_named,
    saved_model,
)
from vigym.training.recipes import Recipe, recipe_of
from vigym.training.results import Result, evaluate, evaluate_other, plot_curve, record_other

EVALUATIONS = 10  # in training, per run
EVALUATION_ENVS = 16  # environments, and episodes, of one evaluation in training
FRESH_SEED = 1_000_000  # first seed of the last evaluation, whose episodes training never plays
_RESUMED_SEED = 2**31  # seeds of runs that go on are no smaller, those of others are


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """Training run: environment, learner, settings and folder.

    Attributes:
        env_id: id of a registered environment.
        out: folder of the run.
        options: of the environment.
        algo: "ppo" or "sac".
        learner: "sb3" (stable-baselines3) or "sbx" (its twin on JAX).
        hyperparameters: in place of those of the recipe; names are those of rl_zoo3.
        seed: of networks and environments.
        episodes: of the last evaluation.
        resume: whether to continue from the newest checkpoint of the folder, if it has one.
        tensorboard: whether to write curves for tensorboard.
        processes: in which the environments of training are stepped; None: this one.
        curriculum: a callable or "module:function", see `CurriculumCallback`; None for none.
    """

    env_id: str
    out: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    algo: str = "ppo"
    learner: str = "sb3"
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    episodes: int = 100
    resume: bool = False
    tensorboard: bool = False
    processes: int | None = None
    curriculum: Curriculum | str | None = None

    @property
    def recipe(self) -> Recipe:
        """Recipe with the hyperparameters of the run."""
        return recipe_of(self.env_id, self.algo).with_hyperparameters(self.hyperparameters)

    @property
    def best(self) -> Path:
        """Model of the best policy."""
        return self.out / "best" / MODEL

    @property
    def video(self) -> Path:
        """Film of an episode of the best policy."""
        return self.out / "video.mp4"

    def configuration(self) -> dict[str, Any]:
        """Return the arguments of the run, as in `config.json`."""
        names = ("env_id", "options", "algo", "learner", "hyperparameters", "seed", "curriculum")
        return {name: getattr(self, name) for name in names} | {"vigym": vigym.__version__}


def train(run: TrainingRun) -> tuple[dict[str, Any], Result]:
    """Train, evaluate the best policy over fresh episodes, write all files of the run.

    These are `config.json`, `checkpoints/`, `best/` (model.zip and vecnormalize.pkl), `curve.csv`
    and `.png`, and `results.json`.

    Returns:
        Content of `results.json`, and the result of the last evaluation.

    Raises:
        ValueError: an option, hyperparameter or curriculum that does not fit, a robot without a
            reward, or a damaged file of a run that is resumed.
        ImportError: the learner is not installed, or no module of the curriculum.
    """
    algorithm = algorithm_class(run.algo, run.learner)
    check_hyperparameters(algorithm, run.hyperparameters)
    find_callable("curriculum", run.curriculum)
    fits = run.curriculum is None or is_own(run.env_id)
    require(fits, "curriculum", run.curriculum, f"none: {run.env_id} is not of vigym")
    recipe = run.recipe
    _require_reward(run)
    torch.set_num_threads(1)  # the networks are too small for more
    run.out.mkdir(parents=True, exist_ok=True)
    write_configuration(run.out, run.configuration())
    _compile_kernels(run, recipe)
    start, start_of_work = time.perf_counter(), time.process_time()
    steps, environment_seconds = _learn(algorithm, run, recipe)
    seconds = time.perf_counter() - start
    processor_seconds = time.process_time() - start_of_work
    plot_curve(run.out / CURVE, run.out / "curve.png")
    result = _evaluate(run, recipe)
    row: dict[str, Any] = {"env": run.env_id, "seed": run.seed, "timesteps": steps}
    row |= {"algo": run.algo, "learner": run.learner, "minutes": round(seconds / 60.0, 2)}
    row |= {"processor_minutes": round(processor_seconds / 60.0, 2)}
    row |= {"learner_share": round(1.0 - environment_seconds / seconds, 3)}
    row |= result.figures
    run.video.unlink(missing_ok=True)  # of a policy before
    write_file(run.out / RESULTS, json.dumps(row, indent=2) + "\n")
    return row, result


def _require_reward(run: TrainingRun) -> None:
    """Raise ValueError for a robot without a reward, endless episodes, options that do not fit."""
    if not is_own(run.env_id):
        return
    env: Any = make_env(run.env_id, run.options)
    task = env.unwrapped.task
    check_limit(env, run.options)
    env.close()
    if isinstance(task, Robot) and not task.has_reward:
        expected = "reward=module:function: there is nothing to learn without one"
        found = "a robot that does not float"
        raise ValueError(f"environment {run.env_id!r}: found {found}, expected {expected}")


def _compile_kernels(run: TrainingRun, recipe: Recipe) -> None:
    """Make a step of an environment of vigym, so that compiling does not count as training."""
    if is_own(run.env_id):
        envs = gym.make_vec(run.env_id, 2, **{**recipe.training, **run.options})
        envs.reset(seed=run.seed)
        envs.step(envs.action_space.sample())
        envs.close()


def finished(run: TrainingRun) -> bool:
    """Return whether a run has all its steps and its last evaluation, in `results.json`.

    Raises:
        ValueError: the file is damaged.
    """
    file = run.out / RESULTS
    found = read_json(file, A_RUN) if file.is_file() else {}
    enough = found.get("timesteps", 0) >= run.recipe.n_timesteps
    return enough and bool(found.get("episodes") == run.episodes)


def seed_after(seed: int, steps: int) -> int:
    """Return the seed of a continued run, whose episodes are all new.

    Args:
        seed: of the run.
        steps: number of control steps of the checkpoint.
    """
    return _RESUMED_SEED | int(np.random.SeedSequence([seed, steps]).generate_state(1)[0])


def _learn(algorithm: type[BaseAlgorithm], run: TrainingRun, recipe: Recipe) -> tuple[int, float]:
    """Train from scratch or from the newest checkpoint.

    Returns:
        Number of control steps, and the time [s] of those of this process, with evaluations.
    """
    after = CheckpointCallback(run.out)
    options = {**recipe.training, **run.options}
    envs = TimedVecEnv(run.env_id, recipe.n_envs, options, run.processes, spread=True)
    evaluation_envs = TimedVecEnv(run.env_id, EVALUATION_ENVS, run.options)
    restore_folder(run.out / "best")
    log = str(run.out / "tensorboard") if run.tensorboard else None
    last = newest_checkpoint(run.out) if run.resume else None
    seed = run.seed if last is None else seed_after(run.seed, int(last.name))
    evaluation_envs.seed(FRESH_SEED // 2 + seed)
    if last is None:
        with refusals_named(algorithm, run.hyperparameters):
            model = new_model(algorithm, recipe, envs, seed, log)
    else:
        model = saved_model(algorithm, last, envs, seed, log)
    evaluation = _evaluation(model, evaluation_envs, recipe, after)
    hook = find_callable("curriculum", run.curriculum)
    curriculum = CurriculumCallback(hook, recipe.n_timesteps)
    curriculum.change(envs, model.num_timesteps, [])
    with refusals_named(algorithm, run.hyperparameters):
        _train_on(model, recipe.n_timesteps, curriculum, evaluation, after, fresh=last is None)
    envs.close()
    evaluation_envs.close()
    return model.num_timesteps, envs.seconds + evaluation_envs.seconds


def _evaluation(
    model: BaseAlgorithm, envs: TimedVecEnv, recipe: Recipe, after: CheckpointCallback
) -> EvalCallback:
    """Return the evaluation in training, ten times per run, at most once per rollout."""
    trained: Any = model.get_vec_normalize_env()
    rollout = model.n_steps if isinstance(model, OnPolicyAlgorithm) else 1
    return EvalCallback(
        VecNormalize(
            envs,
            training=False,
            norm_obs=trained.norm_obs,
            norm_reward=False,
            norm_obs_keys=trained.norm_obs_keys,
        ),
        callback_after_eval=after,
        n_eval_episodes=EVALUATION_ENVS,
        eval_freq=max(rollout, recipe.n_timesteps // (EVALUATIONS * recipe.n_envs)),
    )


def _train_on(
    model: BaseAlgorithm,
    n_timesteps: int,
    curriculum: CurriculumCallback,
    evaluation: EvalCallback,
    after: CheckpointCallback,
    fresh: bool,
) -> None:
    """Train until a number of control steps, and evaluate the end if no evaluation reached it."""
    bar = ProgressBarCallback()
    remaining = max(0, n_timesteps - model.num_timesteps)
    try:
        model.learn(remaining, callback=[curriculum, evaluation, bar], reset_num_timesteps=fresh)
    finally:
        if hasattr(bar, "pbar"):  # it was shown, and an error has not closed it
            bar.pbar.close()
    if after.steps < min(n_timesteps, model.num_timesteps):
        evaluation.eval_freq = 1
        evaluation.on_step()


def _evaluate(run: TrainingRun, recipe: Recipe) -> Result:
    """Return the result of the best policy over episodes that training never played."""
    seed = FRESH_SEED + run.seed * run.episodes
    if is_own(run.env_id):
        best = str(run.best)
        return evaluate(run.env_id, best, recipe.success, run.episodes, seed, run.options)
    return evaluate_other(run.env_id, run.best, run.episodes, seed, run.options)


def record(run: TrainingRun, progress: Progress = lambda done: None) -> Path | None:
    """Record an episode of the best policy; return the video, or None with a message why not.

    Args:
        run: that has ended.
        progress: called with the finished part, in [0, 1].
    """
    path = run.video
    if is_own(run.env_id):
        record_video(run.env_id, str(run.best), path, FRESH_SEED, run.options, progress)
        return path
    try:
        record_other(run.env_id, run.best, path, FRESH_SEED, run.options)
    except (gym.error.Error, ImportError, OSError, ValueError) as error:  # of their renderers
        print(f"no video of {run.env_id}: {error}", file=sys.stderr)
        return None
    return path
