"""Export of a finished run: its best policy as files that run no code when they are read."""

from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

import vigym
from vigym.evaluation.environments import make_env
from vigym.evaluation.policies import Model, is_asymmetric, load_model
from vigym.files import read_json
from vigym.policies.network import Array, Network, write_network
from vigym.training.checkpoints import (
    A_RUN,
    CONFIGURATION,
    MODEL,
    RESULTS,
    read_configuration,
)
from vigym.training.environments import is_own
from vigym.training.recipes import recipe_of
from vigym.training.results import evaluate
from vigym.wrappers.asymmetric import ActorExtractor

# first seed of the card's episodes: neither training nor the choice of recipes played them
CARD_SEED = 2_000_000
_ACTIVATIONS: dict[type[nn.Module], str] = {nn.Tanh: "tanh", nn.ReLU: "relu"}
# figures of the evaluation that a card has
_FIGURES = (
    "episodes",
    "mean_return",
    "return_deviation",
    "lowest_return",
    "highest_return",
    "success_rate",
    "mean_length",
    "solver_failures",
)


def export(run: Path, file: Path, episodes: int = 100) -> Network:
    """Write the best policy of a finished run to `file` (.safetensors), and its card beside it.

    The card has returns of the written policy, over episodes that were used nowhere else.

    Args:
        run: folder of a run of `vigym train`; its pickles are loaded, which can run code.
        file: to write.
        episodes: number of episodes of the card.

    Raises:
        ValueError: a folder without a finished run, a damaged file, an environment that is no task
            of vigym or of a user, or a policy that is not made of dense layers on a vector of
            observations.
    """
    configuration = _configuration(run)
    env_id, options = configuration["env_id"], configuration["options"]
    env = make_env(env_id, options)
    loaded = load_model(run / "best" / MODEL, env, run)
    env.close()
    recipe = recipe_of(env_id, configuration["algo"])
    recipe = recipe.with_hyperparameters(configuration["hyperparameters"])
    network = network_of(loaded, {"env_id": env_id})
    result = evaluate(env_id, network, recipe.success, episodes, CARD_SEED, options)
    finished = read_json(run / RESULTS, A_RUN)
    hyperparameters = {key: value for key, value in asdict(recipe).items() if key != "success"}
    more = {
        "vigym": vigym.__version__,
        "training": {
            "algo": configuration["algo"],
            "learner": configuration["learner"],
            "seed": configuration["seed"],
            "options": options,
            "recipe": hyperparameters,
            "curriculum": configuration.get("curriculum"),
            "control_steps": finished["timesteps"],
            "minutes": finished["minutes"],
            "processor_minutes": finished.get("processor_minutes"),
            "trained_with_vigym": configuration["vigym"],
        },
        "evaluation": {"first_seed": CARD_SEED} | {key: result.figures[key] for key in _FIGURES},
    }
    network.card.update(more)
    write_network(network, file)
    return network


def _configuration(run: Path) -> dict[str, Any]:
    """Return the arguments of a finished run."""
    found = read_configuration(run)
    missing = [name for name in (RESULTS, f"best/{MODEL}") if not (run / name).is_file()]
    if not found or missing:
        names = " and ".join(missing or [CONFIGURATION])
        expected = "expected the folder of a finished run of vigym train"
        raise ValueError(f"run {str(run)!r}: found no {names}, {expected}")
    if not is_own(found["env_id"]):
        expected = "expected a task of vigym or of yours"
        raise ValueError(f"run {run}: found the environment {found['env_id']!r}, {expected}")
    return found


def network_of(loaded: Model, card: Mapping[str, Any]) -> Network:
    """Return the deterministic policy of a model of stable-baselines3 as a network in numpy.

    Args:
        loaded: model and normalisation.
        card: first entries of the card.

    Raises:
        ValueError: a policy that is not made of dense layers on a vector of observations.
    """
    model = loaded.model
    space = model.observation_space
    if not isinstance(model, BaseAlgorithm) or type(model).__module__.startswith("sbx"):
        raise ValueError(f"policy: found {type(model).__module__}, expected stable-baselines3")
    if is_asymmetric(space):
        space = space["policy"]
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        raise ValueError(f"policy: found observations {space}, expected a vector")
    layers, activation, squashed = _layers(model)
    mean, scale, clip = _normalisation(loaded.normalisation, space.shape[0])
    actions = model.action_space
    assert isinstance(actions, gym.spaces.Box)
    return Network(
        weights=[_array(layer.weight) for layer in layers],
        biases=[_array(layer.bias) for layer in layers],
        mean=mean,
        scale=scale,
        clip=clip,
        low=actions.low.astype(np.float32),
        high=actions.high.astype(np.float32),
        activation=activation,
        squashed=squashed,
        card=dict(card),
    )


def _layers(model: Any) -> tuple[list[nn.Linear], str, bool]:
    """Return dense layers, activation, and whether actions are squashed, of PPO or SAC."""
    policy = model.policy
    if hasattr(policy, "actor"):  # of SAC
        hidden, last = policy.actor.latent_pi, policy.actor.mu
        extractor, squashed = policy.actor.features_extractor, True
    else:
        hidden, last = policy.mlp_extractor.policy_net, policy.action_net
        extractor, squashed = policy.features_extractor, policy.squash_output
    parts = list(hidden)
    kinds = {type(part) for part in parts[1::2]}
    dense = [*parts[::2], last]
    known = len(kinds) == 1 and kinds <= set(_ACTIVATIONS)
    flat = isinstance(extractor, FlattenExtractor | ActorExtractor)
    if not (known and flat and all(type(layer) is nn.Linear for layer in dense)):
        expected = "dense layers with one activation, tanh or ReLU"
        raise ValueError(f"policy: found {hidden} and {last}, expected {expected}")
    return dense, _ACTIVATIONS[kinds.pop()], squashed


def _normalisation(found: VecNormalize | None, count: int) -> tuple[Array, Array, float]:
    """Return mean, scale and largest absolute value of normalised observations."""
    if found is None or not found.norm_obs:
        return np.zeros(count), np.ones(count), inf
    statistics: Any = found.obs_rms
    if isinstance(statistics, dict):
        statistics = statistics["policy"]
    scale = np.sqrt(statistics.var + found.epsilon)
    return np.array(statistics.mean), scale, float(found.clip_obs)


def _array(parameter: Any) -> Array:
    found: Array = parameter.detach().cpu().numpy().astype(np.float32)
    return found
