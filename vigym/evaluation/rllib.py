"""Controllers from checkpoints of RLlib's PPO."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from vigym.evaluation.episodes import Array
from vigym.files import open_file

CHECKPOINTS = "checkpoints"  # folder of a run: that has one folder for each, named by its steps
_MODULE = "learner_group/learner/rl_module/default_policy"


class RllibPolicy:
    """Deterministic policy of an RLModule, for a batch of observations.

    Args:
        module: with Gaussian actions: its outputs are their means and logarithms of their spreads.
        actions: number of actions.
    """

    batched = True

    def __init__(self, module: Any, actions: int) -> None:
        self._module, self._actions = module, actions

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return the actions (n, n_actions) of observations (n, n_observations)."""
        import torch

        with torch.no_grad():
            batch = {"obs": torch.as_tensor(observation, dtype=torch.float32)}
            outputs = self._module.forward_inference(batch)["action_dist_inputs"]
        actions: Array = np.clip(outputs[:, : self._actions].double().numpy(), -1.0, 1.0)
        return actions


def newest_checkpoint(folder: Path) -> Path | None:
    """Return the newest checkpoint of a run in a folder, or the folder if it is one; else None."""
    found = [(0, folder)]
    if (folder / CHECKPOINTS).is_dir():
        parts = (folder / CHECKPOINTS).iterdir()
        found += [(int(path.name), path) for path in parts if path.name.isdecimal()]
    complete = [(steps, path) for steps, path in found if (path / _MODULE).is_dir()]
    return max(complete)[1] if complete else None


def load_checkpoint(folder: Path, env: gymnasium.Env[Any, Any]) -> RllibPolicy:
    """Return the policy of the newest checkpoint of a run, or of the checkpoint in a folder.

    It is a pickle, a program in other words: load only files that you trust.

    Raises:
        ValueError: no checkpoint, or one of other observations or actions than `env`.
        ImportError: RLlib is not installed.
    """
    checkpoint = newest_checkpoint(folder)
    if checkpoint is None:
        expected = f"expected a checkpoint of RLlib, or a folder with {CHECKPOINTS}/STEPS"
        raise ValueError(f"controller {str(folder)!r}: found no {_MODULE}, {expected}")
    try:
        from ray.rllib.core.rl_module.rl_module import RLModule
    except ImportError as error:
        hint = 'pip install torch "ray[rllib]"'
        raise ImportError(f"{folder}: a checkpoint needs RLlib: {hint}") from error
    for file in (checkpoint / _MODULE).rglob("*"):
        if not file.is_dir():
            open_file(file, "a part of the checkpoint", most=None, owner=folder).close()
    module = RLModule.from_checkpoint((checkpoint / _MODULE).absolute())
    for name in ("observation_space", "action_space"):
        found, expected = getattr(module, name).shape, getattr(env, name).shape
        if found != expected:
            text = f"found {name.replace('_', ' ')} {found}, expected {expected}"
            raise ValueError(f"checkpoint {checkpoint}: {text}")
    return RllibPolicy(module, module.action_space.shape[0])
