"""A training run with an algorithm of stable-baselines3, from the command line to the table and the film."""

import argparse
import csv
import json
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from evaluation import Figures, as_row, evaluate, plot_curve, show
from hyperparameters import Settings
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import vigym  # noqa: F401  registers the environments
from vigym.evaluation.policies import NORMALISATION
from vigym.evaluation.video import film
from vigym.wrappers import SB3VecEnv

EVALUATIONS = 10  # per run, while training
JUDGES = 16  # environments and episodes of one
FRESH = 1_000_000  # seeds of the last evaluation start here: no episode of it is seen in training
MODEL, REPLAY = "model.zip", "replay.pkl"


def run(
    algorithm: type[BaseAlgorithm], table: Mapping[str, Settings], about: str | None, arguments: list[str] | None
) -> Figures:
    """Train, evaluate the best policy over fresh episodes, write results.json, and film an episode.

    Args:
        algorithm: the class.
        table: settings of every environment.
        about: what the script says of itself.
        arguments: of the command line; None: those of this process.
    """
    options = parse(table, about, arguments)
    settings = table[options.env]
    torch.set_num_threads(1)  # the networks are too small for more
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    steps, busy = train(algorithm, options, settings)
    seconds = time.perf_counter() - start
    plot_curve(options.out / "curve.csv", options.out / "curve.png")
    best = str(options.out / "best" / MODEL)
    figures = evaluate(options.env, best, settings.success, options.episodes, FRESH + options.seed * options.episodes)
    row: dict[str, Any] = {"env": options.env, "seed": options.seed, "timesteps": steps}
    row |= {"minutes": round(seconds / 60.0, 2), "learner_share": round(1.0 - busy / seconds, 3)}
    (options.out / "results.json").write_text(json.dumps(row | as_row(figures), indent=2) + "\n")
    show(figures, f"{options.env}, seed {options.seed}, {steps} steps in {seconds / 60.0:.1f} minutes")
    print(f"the learner took {100.0 * row['learner_share']:.0f} % of the time, the environments the rest")
    print(f"results in {options.out}")
    if not options.no_video:
        film(options.env, best, options.out / "video.mp4", FRESH)
        print(f"video {options.out / 'video.mp4'}")
    return figures


def parse(table: Mapping[str, Settings], about: str | None, arguments: list[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", required=True, choices=table, help="environment")
    parser.add_argument("--seed", type=int, default=0, help="of networks and environments")
    parser.add_argument("--timesteps", type=int, help="control steps in all (default: as in hyperparameters.py)")
    parser.add_argument("--episodes", type=int, default=100, help="evaluation episodes at the end")
    parser.add_argument("--out", type=Path, help="folder of the results (default: runs/NAME-seedN)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    parser.add_argument("--tensorboard", action="store_true", help="write curves for tensorboard into the folder")
    parser.add_argument("--no-video", action="store_true", help="do not film an episode")
    options = parser.parse_args(arguments)
    options.out = options.out or Path("runs") / f"{options.env.rpartition('/')[2]}-seed{options.seed}"
    options.timesteps = table[options.env].timesteps if options.timesteps is None else options.timesteps
    for name in ("timesteps", "episodes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: found {getattr(options, name)}, expected a number >= 1")
    if options.seed < 0:
        parser.error(f"--seed: found {options.seed}, expected a number >= 0")
    if options.tensorboard and find_spec("tensorboard") is None:
        parser.error("--tensorboard: the package is not installed; pip install tensorboard")
    if bool(checkpoints(options.out)) != options.resume:
        found = "no checkpoint" if options.resume else "an earlier run"
        mend = "train without --resume" if options.resume else "add --resume, or give another --out"
        parser.error(f"{options.out}: found {found}; {mend}")
    return options


def train(algorithm: type[BaseAlgorithm], options: argparse.Namespace, settings: Settings) -> tuple[int, float]:
    """Train from scratch or from the last checkpoint, and leave everything in the folder.

    Returns:
        Control steps in all, and how long this process's took [s], those of evaluations too.
    """
    envs, judges = Timed(options.env, settings.envs, settings.training), Timed(options.env, JUDGES, {})
    envs.seed(options.seed)
    judges.seed(FRESH // 2 + options.seed)
    model = _model(algorithm, options, settings, envs)
    judge = EvalCallback(
        VecNormalize(judges, training=False, norm_reward=False),
        callback_after_eval=Keep(options.out),
        n_eval_episodes=JUDGES,
        eval_freq=max(settings.algorithm.get("n_steps", 1), options.timesteps // (EVALUATIONS * settings.envs)),
    )
    remaining = max(0, options.timesteps - model.num_timesteps)
    model.learn(remaining, callback=judge, reset_num_timesteps=not options.resume, progress_bar=True)
    return model.num_timesteps, envs.seconds + judges.seconds


def _model(
    algorithm: type[BaseAlgorithm], options: argparse.Namespace, settings: Settings, envs: "Timed"
) -> BaseAlgorithm:
    log = str(options.out / "tensorboard") if options.tensorboard else None
    if options.resume:
        last = checkpoints(options.out)[-1]
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


class Timed(VecEnvWrapper):
    """Environments stepped together, returns and lengths of their episodes, and how long they took.

    Args:
        name: environment.
        count: how many.
        options: of the environment.

    Attributes:
        seconds: in their steps so far.
    """

    def __init__(self, name: str, count: int, options: Mapping[str, Any]) -> None:
        super().__init__(VecMonitor(SB3VecEnv(gym.make_vec(name, count, autoreset_mode="SameStep", **options))))
        self.seconds = 0.0

    def reset(self) -> Any:
        """Reset all environments."""
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all environments."""
        start = time.perf_counter()
        returned = self.venv.step_wait()
        self.seconds += time.perf_counter() - start
        return returned


def checkpoints(out: Path) -> list[Path]:
    """Return the folders of all checkpoints, the newest last."""
    return sorted((out / "checkpoints").glob("*"), key=lambda folder: int(folder.name))


def save(model: BaseAlgorithm, folder: Path) -> None:
    """Write the model and the normalisation it was trained with."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / MODEL)
    envs = model.get_vec_normalize_env()
    assert envs is not None
    envs.save(str(folder / NORMALISATION))


class Keep(BaseCallback):
    """After each evaluation: keep a checkpoint, the best model with its normalisation, and a row of the curve."""

    parent: EvalCallback

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out

    def best_so_far(self) -> float:
        """Return the best mean return of the curve written so far."""
        if not (self.out / "curve.csv").is_file():
            return -float("inf")
        with open(self.out / "curve.csv", newline="") as file:
            return max(float(row["return"]) for row in csv.DictReader(file))

    def _on_step(self) -> bool:
        steps, score = self.model.num_timesteps, float(self.parent.last_mean_reward)
        save(self.model, self.out / "checkpoints" / str(steps))
        if isinstance(self.model, OffPolicyAlgorithm):
            self.model.save_replay_buffer(self.out / REPLAY)  # the newest only: it is large
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        fresh = not (self.out / "curve.csv").is_file()
        with open(self.out / "curve.csv", "a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["steps", "return"]] * fresh + [[steps, score]])
        return True
