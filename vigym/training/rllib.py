"""Training with PPO of RLlib, on processes and machines of Ray, by the recipes of `vigym train`."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig

from vigym.evaluation.rllib import CHECKPOINTS
from vigym.files import write_file
from vigym.training.recipes import Recipe, recipe_of
from vigym.training.results import Result, evaluate
from vigym.training.run import EVALUATIONS, FRESH_SEED


@dataclass(frozen=True, kw_only=True)
class RllibRun:
    """Training run with PPO of RLlib.

    Attributes:
        env_id: id of an environment of vigym, or of your own as "module:id".
        out: folder of the run.
        options: of the environment.
        runners: number of processes that step environments; 0: the one that learns.
        timesteps: number of control steps; None: that of the recipe.
        seed: of networks and environments.
        episodes: of the evaluation at the end.
    """

    env_id: str
    out: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    runners: int = 0
    timesteps: int | None = None
    seed: int = 0
    episodes: int = 100

    @property
    def recipe(self) -> Recipe:
        """Recipe of the environment, with the steps of the run."""
        recipe = recipe_of(self.env_id.rpartition(":")[2], "ppo")
        given = {} if self.timesteps is None else {"n_timesteps": self.timesteps}
        return recipe.with_hyperparameters(given)


def train(run: RllibRun) -> tuple[dict[str, Any], Result]:
    """Train, keep checkpoints, evaluate the last policy over fresh episodes.

    The folder of the run gets `checkpoints/STEPS/` and `results.json`. RLlib replaces a process
    that is lost. Observations are not normalised.

    Returns:
        Content of `results.json`, and the result of the evaluation.
    """
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    recipe = run.recipe
    start = time.perf_counter()
    algorithm = configuration(run).build_algo()
    steps, saved = 0, 0
    while steps < recipe.n_timesteps:
        steps = int(algorithm.train()["num_env_steps_sampled_lifetime"])
        if steps >= min(saved + recipe.n_timesteps / EVALUATIONS, recipe.n_timesteps):
            algorithm.save_to_path((run.out / CHECKPOINTS / str(steps)).absolute())
            saved = steps
    algorithm.stop()
    minutes = (time.perf_counter() - start) / 60.0
    seed = FRESH_SEED + run.seed * run.episodes
    place = str(run.out)
    result = evaluate(run.env_id, place, recipe.success, run.episodes, seed, run.options)
    row: dict[str, Any] = {"env": run.env_id, "seed": run.seed, "timesteps": steps}
    row |= {"algo": "ppo", "learner": "rllib", "runners": run.runners}
    row |= {"minutes": round(minutes, 2)} | result.figures
    write_file(run.out / "results.json", json.dumps(row, indent=2) + "\n")
    return row, result


def configuration(run: RllibRun) -> PPOConfig:
    """Return RLlib's configuration of a run: the hyperparameters of its recipe."""
    recipe = run.recipe
    rate, given = str(recipe.learning_rate), recipe.algorithm
    initial = float(rate.removeprefix("lin_"))
    is_linear = rate.startswith("lin_")
    # Every process imports the module before the colon. Without infos RLlib has less to copy.
    name = run.env_id if ":" in run.env_id else f"vigym:{run.env_id}"
    options = {**recipe.training, **run.options, "info_keys": ()}
    return (
        PPOConfig()
        .environment(name, env_config=options)
        .env_runners(
            num_env_runners=run.runners,
            num_envs_per_env_runner=max(1, recipe.n_envs // max(1, run.runners)),
            gym_env_vectorize_mode="vector_entry_point",  # vigym's own vectors
        )
        .training(
            lr=[[0, initial], [recipe.n_timesteps, 0.0]] if is_linear else initial,
            gamma=given["gamma"],
            lambda_=given["gae_lambda"],
            clip_param=given["clip_range"],
            entropy_coeff=given["ent_coef"],
            num_epochs=given["n_epochs"],
            minibatch_size=given["batch_size"],
            train_batch_size_per_learner=recipe.n_envs * given["n_steps"],
            use_kl_loss=False,
            vf_clip_param=float("inf"),
            grad_clip=0.5,
        )
        .rl_module(model_config={"fcnet_hiddens": [64, 64], "vf_share_layers": False})
        .debugging(seed=run.seed, log_level="ERROR")
    )
