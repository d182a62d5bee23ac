"""Train PPO of stable-baselines3 on a vigym environment, then evaluate the best policy and film it.

python train/ppo.py --env vigym/Pendulum-v0 --seed 0
"""

import argparse
import csv
import json
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from evaluation import Figures, Policy, as_row, evaluate, plot_curve, record, show
from hyperparameters import PPO as SETTINGS
from hyperparameters import Settings
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import vigym  # noqa: F401  registers the environments

EVALUATIONS = 20  # per run, while training
FRESH = 1_000_000  # seeds of the last evaluation start here: no episode of it is seen in training
MODEL, NORMALISATION = "model.zip", "normalisation.pkl"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", required=True, choices=SETTINGS, help="environment")
    parser.add_argument("--seed", type=int, default=0, help="of networks and environments")
    parser.add_argument("--timesteps", type=int, help="control steps in all (default: as in hyperparameters.py)")
    parser.add_argument("--episodes", type=int, default=100, help="evaluation episodes at the end")
    parser.add_argument("--out", type=Path, help="folder of the results (default: runs/NAME-seedN)")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    parser.add_argument("--tensorboard", action="store_true", help="write curves for tensorboard into the folder")
    parser.add_argument("--no-video", action="store_true", help="do not film an episode")
    options = parser.parse_args(arguments)
    options.out = options.out or Path("runs") / f"{options.env.rpartition('/')[2]}-seed{options.seed}"
    options.timesteps = SETTINGS[options.env].timesteps if options.timesteps is None else options.timesteps
    for name in ("timesteps", "episodes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: found {getattr(options, name)}, expected a number >= 1")
    if options.tensorboard and find_spec("tensorboard") is None:
        parser.error("--tensorboard: the package is not installed; pip install tensorboard")
    if bool(checkpoints(options.out)) != options.resume:
        found = "no checkpoint" if options.resume else "an earlier run"
        mend = "train without --resume" if options.resume else "add --resume, or give another --out"
        parser.error(f"{options.out}: found {found}; {mend}")
    return options


def checkpoints(out: Path) -> list[Path]:
    """Return the folders of all checkpoints, the newest last."""
    return sorted((out / "checkpoints").glob("*"), key=lambda folder: int(folder.name))


def save(model: PPO, folder: Path) -> None:
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
        assert isinstance(self.model, PPO)
        steps, score = self.model.num_timesteps, float(self.parent.last_mean_reward)
        save(self.model, self.out / "checkpoints" / str(steps))
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        fresh = not (self.out / "curve.csv").is_file()
        with open(self.out / "curve.csv", "a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["steps", "return"]] * fresh + [[steps, score]])
        return True


def train(options: argparse.Namespace, settings: Settings) -> PPO:
    """Train from scratch or from the last checkpoint, and leave everything in the folder."""
    envs = make_vec_env(options.env, settings.envs, seed=options.seed, env_kwargs=settings.training)
    judges = make_vec_env(options.env, settings.envs, seed=FRESH // 2 + options.seed)
    log = str(options.out / "tensorboard") if options.tensorboard else None
    if options.resume:
        last = checkpoints(options.out)[-1]
        model = PPO.load(last / MODEL, VecNormalize.load(str(last / NORMALISATION), envs), tensorboard_log=log)
    else:
        model = PPO(
            "MlpPolicy",
            VecNormalize(envs, gamma=settings.algorithm["gamma"]),
            learning_rate=LinearSchedule(settings.learning_rate, 0.0, 1.0),
            seed=options.seed,
            device="cpu",
            tensorboard_log=log,
            **settings.algorithm,
        )
    judge = EvalCallback(
        VecNormalize(judges, training=False, norm_reward=False),
        callback_after_eval=Keep(options.out),
        n_eval_episodes=settings.envs,
        eval_freq=max(settings.algorithm["n_steps"], options.timesteps // (EVALUATIONS * settings.envs)),
    )
    remaining = max(0, options.timesteps - model.num_timesteps)
    model.learn(remaining, callback=judge, reset_num_timesteps=not options.resume, progress_bar=True)
    return model


def policy_of(options: argparse.Namespace, folder: Path) -> Policy:
    """Return the deterministic policy saved in `folder`."""
    model = PPO.load(folder / MODEL, device="cpu")
    shape = DummyVecEnv([partial(gym.make, options.env)])
    normalisation = VecNormalize.load(str(folder / NORMALISATION), shape)
    return lambda observations: model.predict(normalisation.normalize_obs(observations), deterministic=True)[0]


def main(arguments: list[str] | None = None) -> Figures:
    """Train, evaluate the best policy over fresh episodes, write results.json, and film an episode."""
    options = parse(arguments)
    settings = SETTINGS[options.env]
    torch.set_num_threads(1)  # the networks are too small for more
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    steps = train(options, settings).num_timesteps
    minutes = (time.perf_counter() - start) / 60.0
    plot_curve(options.out / "curve.csv", options.out / "curve.png")
    policy = policy_of(options, options.out / "best")
    make = partial(gym.make, options.env)
    figures = evaluate(make, policy, settings.success, options.episodes, FRESH + options.seed * options.episodes)
    run: dict[str, Any] = {"env": options.env, "seed": options.seed, "timesteps": steps, "minutes": round(minutes, 2)}
    (options.out / "results.json").write_text(json.dumps(run | as_row(figures), indent=2) + "\n")
    show(figures, f"{options.env}, seed {options.seed}, {steps} steps in {minutes:.1f} minutes")
    print(f"results in {options.out}")
    if not options.no_video:
        print("video", record(partial(make, render_mode="rgb_array"), policy, options.out / "video", FRESH))
    return figures


if __name__ == "__main__":
    main()
