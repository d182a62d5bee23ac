"""Policies that stable-baselines3 has saved, with the normalisation that lies beside them."""

import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from vigym.evaluation.episodes import Array

NORMALISATION = "normalisation.pkl"  # of `VecNormalize`, beside the model
# A key of the saved data that an algorithm has and those above it have not.
_ALGORITHMS = (("clip_range", "PPO"), ("gae_lambda", "A2C"), ("target_policy_noise", "TD3"), ("ent_coef", "SAC"))


class Model:
    """A saved policy without its noise, for a batch of observations."""

    batched = True

    def __init__(self, model: Any, normalisation: Any) -> None:
        self._model, self._normalisation = model, normalisation

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return the actions (n, n_actions) of observations (n, n_observations)."""
        if self._normalisation is not None:
            observation = self._normalisation.normalize_obs(observation)
        actions: Array = self._model.predict(observation, deterministic=True)[0]
        return actions


def load_model(path: Path, env: gymnasium.Env[Any, Any]) -> Model:
    """Return the policy of a model.zip, with `normalisation.pkl` beside it if there is one.

    Both are pickles, programs in other words: load those of people you trust.

    Raises:
        ValueError: no such file, no model, or one of other observations or actions than those of `env`.
        ImportError: stable-baselines3 is not installed.
    """
    if not path.is_file():
        raise ValueError(f"controller {str(path)!r}: no such file")
    algorithm = _algorithm(path)
    try:
        import stable_baselines3
    except ImportError as error:
        raise ImportError(
            f"{path}: this needs torch and stable-baselines3: pip install torch stable-baselines3"
        ) from error
    model = getattr(stable_baselines3, algorithm).load(path, device="cpu")
    for what in ("observation_space", "action_space"):
        found, expected = getattr(model, what).shape, getattr(env, what).shape
        if found != expected:
            raise ValueError(f"model {path}: found {what.replace('_', ' ')} {found}, expected {expected}")
    beside = path.with_name(NORMALISATION)
    return Model(model, pickle.loads(beside.read_bytes()) if beside.is_file() else None)


def _algorithm(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"model {path}: {error}; expected what stable-baselines3 saves") from error
    for key, name in _ALGORITHMS:
        if key in data:
            return name
    raise ValueError(f"model {path}: expected one of {', '.join(name for _, name in _ALGORITHMS)}")
