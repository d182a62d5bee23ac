"""Training run with an algorithm of stable-baselines3, from command line to table and video."""

import argparse
import csv
import json
import os
import pickle
import shutil
import sys
import time
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from evaluation import Result, evaluate, plot_curve, show
from hyperparameters import Settings
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import vigym  # noqa: F401  registers the environments
from vigym.evaluation.policies import NORMALISATION
from vigym.evaluation.video import record_video
from vigym.wrappers import SB3VecEnv

EVALUATIONS = 10  # in training, per run
EVALUATION_ENVS = 16  # environments, and episodes, of one evaluation in training
FRESH_SEED = 1_000_000  # first seed of the last evaluation, whose episodes training never plays
MODEL, REPLAY = "model.zip", "replay.pkl"


def run(
    algorithm: type[BaseAlgorithm],
    table: Mapping[str, Settings],
    description: str | None,
    arguments: list[str] | None,
) -> Result:
    """Train, evaluate the best policy over fresh episodes, write results.json, record a video.

    Args:
        algorithm: class of stable-baselines3.
        table: settings of every environment.
        description: of the script, for its help text.
        arguments: of the command line; None: those of this process.
    """
    options = parse(table, description, arguments)
    settings = table[options.env]
    torch.set_num_threads(1)  # the networks are too small for more
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    steps, environment_seconds = train(algorithm, options, settings)
    seconds = time.perf_counter() - start
    plot_curve(options.out / "curve.csv", options.out / "curve.png")
    best = str(options.out / "best" / MODEL)
    seed = FRESH_SEED + options.seed * options.episodes
    result = evaluate(options.env, best, settings.success, options.episodes, seed)
    learner_share = round(1.0 - environment_seconds / seconds, 3)
    row: dict[str, Any] = {"env": options.env, "seed": options.seed, "timesteps": steps}
    row |= {"minutes": round(seconds / 60.0, 2), "learner_share": learner_share}
    row |= result.figures()
    (options.out / "results.json").write_text(json.dumps(row, indent=2) + "\n")
    minutes = f"{seconds / 60.0:.1f} minutes"
    show(result, f"{options.env}, seed {options.seed}, {steps} steps in {minutes}")
    print(f"the learner took {100.0 * learner_share:.0f} % of the time, the environments the rest")
    print(f"results in {options.out}")
    if not options.no_video:
        record_video(options.env, best, options.out / "video.mp4", FRESH_SEED)
        print(f"video {options.out / 'video.mp4'}")
    return result


def parse(
    table: Mapping[str, Settings], description: str | None, arguments: list[str] | None
) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", required=True, choices=table, help="environment")
    parser.add_argument("--seed", type=int, default=0, help="of networks and environments")
    parser.add_argument(
        "--timesteps", type=int, help="number of control steps (default: hyperparameters.py)"
    )
    parser.add_argument("--episodes", type=int, default=100, help="episodes of the last evaluation")
    parser.add_argument("--out", type=Path, help="folder of the results (default: runs/NAME-seedN)")
    parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint")
    parser.add_argument("--tensorboard", action="store_true", help="write curves for tensorboard")
    parser.add_argument("--no-video", action="store_true", help="do not record a video")
    options = parser.parse_args(arguments)
    name = options.env.rpartition("/")[2]
    options.out = options.out or Path("runs") / f"{name}-seed{options.seed}"
    if options.timesteps is None:
        options.timesteps = table[options.env].timesteps
    for name in ("timesteps", "episodes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: found {getattr(options, name)}, expected a number >= 1")
    if options.seed < 0:
        parser.error(f"--seed: found {options.seed}, expected a number >= 0")
    if options.tensorboard and find_spec("tensorboard") is None:
        parser.error("--tensorboard: the package is not installed; pip install tensorboard")
    options.last = newest_checkpoint(options.out) if options.resume else None
    earlier = options.last if options.resume else checkpoints(options.out)
    if bool(earlier) != options.resume:
        found = "no checkpoint" if options.resume else "an earlier run"
        advice = (
            "train without --resume" if options.resume else "add --resume, or give another --out"
        )
        parser.error(f"{options.out}: found {found}; {advice}")
    return options


def train(
    algorithm: type[BaseAlgorithm], options: argparse.Namespace, settings: Settings
) -> tuple[int, float]:
    """Train from scratch or from the last checkpoint; write all files of the run.

    Returns:
        Number of control steps, and the time [s] of those of this process, with evaluations.
    """
    envs = TimedVecEnv(options.env, settings.envs, settings.training)
    evaluation_envs = TimedVecEnv(options.env, EVALUATION_ENVS, {})
    envs.seed(options.seed)
    evaluation_envs.seed(FRESH_SEED // 2 + options.seed)
    restore(options.out / "best")
    model = _model(algorithm, options, settings, envs)
    interval = options.timesteps // (EVALUATIONS * settings.envs)
    callback = EvalCallback(
        VecNormalize(evaluation_envs, training=False, norm_reward=False),
        callback_after_eval=CheckpointCallback(options.out),
        n_eval_episodes=EVALUATION_ENVS,
        eval_freq=max(settings.algorithm.get("n_steps", 1), interval),
    )
    remaining = max(0, options.timesteps - model.num_timesteps)
    model.learn(
        remaining, callback=callback, reset_num_timesteps=not options.resume, progress_bar=True
    )
    return model.num_timesteps, envs.seconds + evaluation_envs.seconds


def _model(
    algorithm: type[BaseAlgorithm],
    options: argparse.Namespace,
    settings: Settings,
    envs: "TimedVecEnv",
) -> BaseAlgorithm:
    """Return a new model, or that of the last checkpoint."""
    log = str(options.out / "tensorboard") if options.tensorboard else None
    if options.resume:
        last: Path = options.last
        normalised = VecNormalize.load(str(last / NORMALISATION), envs)
        model = algorithm.load(last / MODEL, normalised, device="cpu", tensorboard_log=log)
        if isinstance(model, OffPolicyAlgorithm):
            model.load_replay_buffer(options.out / REPLAY)
        return model
    return algorithm(
        "MlpPolicy",
        VecNormalize(envs, gamma=settings.algorithm["gamma"]),
        learning_rate=LinearSchedule(settings.learning_rate, 0.0, 1.0),
        seed=options.seed,
        device="cpu",
        tensorboard_log=log,
        **settings.algorithm,
    )


class TimedVecEnv(VecEnvWrapper):
    """Vector environment with the time of its steps, and returns and lengths of its episodes.

    Args:
        name: id of the environment.
        count: number of environments.
        options: of the environment.

    Attributes:
        seconds: time of all steps so far.
    """

    def __init__(self, name: str, count: int, options: Mapping[str, Any]) -> None:
        envs = gym.make_vec(name, count, autoreset_mode="SameStep", **options)
        super().__init__(VecMonitor(SB3VecEnv(envs)))
        self.seconds = 0.0

    def reset(self) -> Any:
        """Reset all environments."""
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all environments."""
        start = time.perf_counter()
        result = self.venv.step_wait()
        self.seconds += time.perf_counter() - start
        return result


def checkpoints(out: Path) -> list[Path]:
    """Return the folders of all checkpoints, the newest last."""
    folders = [folder for folder in (out / "checkpoints").glob("*") if folder.name.isdigit()]
    return sorted(folders, key=lambda folder: int(folder.name))


def newest_checkpoint(out: Path) -> Path | None:
    """Return the newest checkpoint that is whole, None without; tell of others on the way."""
    for folder in reversed(checkpoints(out)):
        fault = _fault(folder)
        if not fault:
            return folder
        print(f"checkpoint {folder}: {fault}; it is skipped", file=sys.stderr)
    return None


def _fault(folder: Path) -> str:
    """Return why a checkpoint cannot be continued from, "" if it can: it may be half-written."""
    try:
        with zipfile.ZipFile(folder / MODEL) as archive:
            damaged = archive.testzip()
        pickle.loads((folder / NORMALISATION).read_bytes())
    except Exception as error:  # what a damaged pickle raises may be anything
        return f"found {type(error).__name__}: {error}"
    return f"found a damaged {damaged!r} in {MODEL}" if damaged else ""


def save(model: BaseAlgorithm, folder: Path) -> None:
    """Write the model and its normalisation; both are there, or both as they were."""
    new, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    restore(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    model.save(new / MODEL)
    envs = model.get_vec_normalize_env()
    assert envs is not None
    envs.save(str(new / NORMALISATION))
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore(folder: Path) -> None:
    """Put a folder back that `save` was about to replace when its process ended."""
    old = folder.with_name(f"{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


class CheckpointCallback(BaseCallback):
    """Callback after each evaluation: a checkpoint, the best model, a row of the curve.

    Args:
        out: folder of the run.
    """

    parent: EvalCallback

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out

    def best_so_far(self) -> float:
        """Return the best mean return of the curve so far."""
        if not (self.out / "curve.csv").is_file():
            return -float("inf")
        with open(self.out / "curve.csv", newline="") as file:
            return max(float(row["return"]) for row in csv.DictReader(file))

    def _on_step(self) -> bool:
        steps = self.model.num_timesteps
        score = float(self.parent.last_mean_reward)
        save(self.model, self.out / "checkpoints" / str(steps))
        if isinstance(self.model, OffPolicyAlgorithm):
            new = self.out / f"new-{REPLAY}"  # only the latest: it is large
            self.model.save_replay_buffer(new)
            os.replace(new, self.out / REPLAY)
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        first = not (self.out / "curve.csv").is_file()
        with open(self.out / "curve.csv", "a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["steps", "return"]] * first + [[steps, score]])
        return True
