"""Vector environments to train in, of vigym and of any other Gymnasium id, and a curriculum."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from vigym.envs.options import require
from vigym.envs.registry import VECTOR
from vigym.evaluation.policies import is_asymmetric
from vigym.wrappers.asymmetric import AsymmetricPolicy
from vigym.wrappers.sb3 import SB3VecEnv

Curriculum = Callable[[float, Sequence[float]], Mapping[str, Any]]
MOST_SPREAD = 100_000  # control steps of episodes that are spread; others are endless


def is_own(env_id: str) -> bool:
    """Return whether the environment of an id is a task of vigym, or of a user."""
    return gym.spec(env_id).vector_entry_point == VECTOR


class TimedVecEnv(VecEnvWrapper):
    """Vector environment with the time of its steps, and returns and lengths of its episodes.

    Tasks of vigym are stepped as one batch, other environments one after the other.

    Args:
        env_id: id of the environment.
        count: number of environments.
        options: of the environment.
        processes: in which a task of vigym is stepped; None: this one.
        spread: whether the first episodes of a task of vigym end one after the other, so that later
            rollouts have all parts of episodes, not the same part in all environments.

    Attributes:
        seconds: time of all steps so far.

    Raises:
        ValueError: several processes for an environment that is no task of vigym.
    """

    def __init__(
        self,
        env_id: str,
        count: int,
        options: Mapping[str, Any],
        processes: int | None = None,
        spread: bool = False,
    ) -> None:
        if is_own(env_id):
            vector: Any = {"autoreset_mode": "SameStep", "processes": processes}
            envs = gym.make_vec(env_id, count, **vector, **options)
        else:
            require(processes is None, "processes", processes, f"none: {env_id} is not of vigym")
            mode = {"autoreset_mode": AutoresetMode.SAME_STEP}
            envs = gym.make_vec(env_id, count, "sync", vector_kwargs=mode, **options)
        super().__init__(VecMonitor(SB3VecEnv(envs)))
        self.seconds = 0.0
        self._vector: Any = envs.unwrapped if spread and is_own(env_id) else None

    def reset(self) -> Any:
        """Reset all environments."""
        observations = self.venv.reset()
        if self._vector is not None and self._vector.max_episode_steps < MOST_SPREAD:
            parts = np.arange(self.num_envs) * self._vector.max_episode_steps
            self._vector.episode_steps[:] = parts // self.num_envs
        return observations

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all environments."""
        start = time.perf_counter()
        result = self.venv.step_wait()
        self.seconds += time.perf_counter() - start
        return result


class CurriculumCallback(BaseCallback):
    """Callback that changes options of the environments before each rollout.

    Args:
        curriculum: called with the finished part of the training, in [0, 1], and the returns of the
            latest episodes, at most 100; returns the options to change. None: nothing changes.
        n_timesteps: number of control steps of the training.
    """

    def __init__(self, curriculum: Curriculum | None, n_timesteps: int) -> None:
        super().__init__()
        self._curriculum = curriculum
        self._n_timesteps = n_timesteps
        self._options: Mapping[str, Any] = {}

    def change(self, envs: VecEnv, steps: int, returns: Sequence[float]) -> None:
        """Change the options of environments after so many control steps.

        Raises:
            ValueError: what is returned is no dictionary, or an option that cannot be changed.
        """
        if self._curriculum is None:
            return
        options = self._curriculum(min(1.0, steps / self._n_timesteps), returns)
        expected = "a dictionary of options from it"
        require(isinstance(options, Mapping), "curriculum", options, expected)
        if options != self._options:
            try:
                envs.env_method("set_options", **options)
            except TypeError as error:  # of an option that is unknown
                raise ValueError(f"curriculum: {error}") from error
            self._options = dict(options)

    def _on_rollout_start(self) -> None:
        returns = [float(episode["r"]) for episode in self.model.ep_info_buffer or ()]
        self.change(self.training_env, self.model.num_timesteps, returns)

    def _on_step(self) -> bool:
        return True


def normalised(envs: VecEnv, gamma: float, normalize: bool) -> VecNormalize:
    """Return environments with normalised rewards, and observations that are numbers.

    Args:
        envs: the environments.
        gamma: discount factor, by which returns are estimated.
        normalize: whether anything is normalised.
    """
    space = envs.observation_space
    if isinstance(space, spaces.Dict):
        keys = [key for key, part in space.spaces.items() if _is_numeric(part)]
        observed = normalize and bool(keys)
        return VecNormalize(envs, observed, normalize, gamma=gamma, norm_obs_keys=keys)
    return VecNormalize(envs, normalize and _is_numeric(space), normalize, gamma=gamma)


def policy_class(space: spaces.Space[Any], algorithm: type[BaseAlgorithm]) -> Any:
    """Return the policy, or its name, for observations of a space.

    Raises:
        ValueError: privileged observations, and an algorithm without a critic for them.
    """
    if is_asymmetric(space):
        if algorithm is not PPO:
            found = f"option privileged: found it with {algorithm.__name__}"
            raise ValueError(f"{found}, expected PPO of stable-baselines3")
        return AsymmetricPolicy
    if isinstance(space, spaces.Dict):
        return "MultiInputPolicy"
    return "CnnPolicy" if is_image_space(space) else "MlpPolicy"


def _is_numeric(space: spaces.Space[Any]) -> bool:
    return isinstance(space, spaces.Box) and not is_image_space(space)
