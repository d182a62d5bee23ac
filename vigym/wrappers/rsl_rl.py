"""Adapter of vector environments to rsl_rl; torch and tensordict must be installed."""

from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from tensordict import TensorDict

from vigym.envs.vector import TaskVectorEnv
from vigym.wrappers.wrapper import require_same_step


class RslRlVecEnv:
    """Adapter of a vector environment of vigym to the `VecEnv` interface of rsl_rl.

    Observations are a TensorDict with the group "policy". Of environments with the option
    `privileged` the group "critic" is the same and the privileged readings behind it. Where an
    episode ends by its time limit `extras["time_outs"]` is 1. `extras["log"]` has the mean of every
    reward term.

    Args:
        env: vector environment, wrapped or not, in autoreset mode SAME_STEP, such as
            `gym.make_vec(id, num_envs, autoreset_mode="SameStep")`.
        seed: of the first episodes; None: random.
        device: of the tensors; the environments run on the CPU.

    Attributes:
        env: the vector environment.
        cfg: options of the environment by name.
        num_envs: number of environments.
        num_actions: number of actions of one environment.
        max_episode_length: largest number of steps of an episode.

    Raises:
        TypeError: not a vector environment of vigym.
        ValueError: another autoreset mode.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        seed: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        inner = getattr(env, "unwrapped", env)
        if not isinstance(inner, TaskVectorEnv):
            expected = "a vector environment of vigym, of gymnasium.make_vec"
            raise TypeError(f"env: found {type(inner).__name__}, expected {expected}")
        require_same_step(env)
        self.env, self._inner = env, inner
        self.device = device
        self.cfg: dict[str, Any] = dict(env.spec.kwargs) if env.spec is not None else {}
        self.num_envs = inner.num_envs
        self.num_actions = int(np.prod(inner.single_action_space.shape or ()))
        self.max_episode_length = inner.max_episode_steps
        self.reset(seed)

    @property
    def unwrapped(self) -> TaskVectorEnv:
        """Vector environment without wrappers."""
        return self._inner

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps of the current episodes (num_envs,); settable, to spread the time limits."""
        return torch.as_tensor(self._inner.episode_steps.copy(), device=self.device)

    @episode_length_buf.setter
    def episode_length_buf(self, steps: torch.Tensor) -> None:
        self._inner.episode_steps[:] = steps.cpu().numpy()

    def reset(self, seed: int | None = None) -> tuple[TensorDict, dict[str, Any]]:
        """Start new episodes; return observations and no extras."""
        self._observations, infos = self.env.reset(seed=seed)
        self._readings = infos.get("privileged")
        return self.get_observations(), {}

    def get_observations(self) -> TensorDict:
        """Return the current observations (num_envs, n) by their groups."""
        values = {"policy": self._tensor(self._observations)}
        if self._readings is not None:
            critic = np.concatenate((self._observations, self._readings), axis=1)
            values["critic"] = self._tensor(critic)
        return TensorDict(values, batch_size=[self.num_envs], device=self.device)

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Apply `actions` (num_envs, num_actions), clipped to [-1, 1].

        Returns:
            Observations, rewards (num_envs,), ends of episodes (num_envs,) and extras.
        """
        step = self.env.step(actions.detach().cpu().numpy())
        self._observations, rewards, terminated, truncated, infos = step
        self._readings = infos.get("privileged")
        terms = {key: value for key, value in infos.items() if key.startswith("reward_")}
        extras = {
            "time_outs": self._tensor(truncated & ~terminated),
            "log": {f"/{key}": float(np.mean(value)) for key, value in terms.items()},
        }
        dones = torch.as_tensor(terminated | truncated, dtype=torch.long, device=self.device)
        return self.get_observations(), self._tensor(rewards), dones, extras

    def close(self) -> None:
        """Close the environments."""
        self.env.close()

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self.device)
