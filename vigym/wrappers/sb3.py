"""A vector environment as stable-baselines3 wants it; importing this needs stable-baselines3."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

Infos = dict[str, Any]
_SINGLE = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
_EACH = ("np_random", "np_random_seed")  # attributes with a value for every environment


class SB3VecEnv(VecEnv):
    """A `gymnasium.vector.VectorEnv` in autoreset mode SAME_STEP as a `VecEnv` of stable-baselines3.

    An episode's end has the environment's whole last info, with "terminal_observation" and "TimeLimit.truncated";
    other steps have the latter and `info_keys` only: learners look at no more, and dictionaries for every environment
    and step take longer than the physics.

    Args:
        env: the environments, wrapped or not, as `gym.make_vec(id, num_envs, autoreset_mode="SameStep")` gives them.
        info_keys: what the info of every step has, by key of `infos`; None: everything.

    Attributes:
        env: the environments.
        reset_infos: of every environment, the info of its last reset.

    Raises:
        TypeError: not a vector environment.
        ValueError: another autoreset mode.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], info_keys: Sequence[str] | None = ()) -> None:
        if not isinstance(env, VectorEnv):
            raise TypeError(f"env: found {type(env).__name__}, expected a vector environment of gymnasium.make_vec")
        mode = env.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f'env: found autoreset mode {mode}, expected SAME_STEP: make it with autoreset_mode="SameStep"'
            )
        self.env, self._info_keys = env, info_keys
        self._actions: NDArray[Any] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:
        """Reset all environments, with the seeds and options set before; return observations (num_envs, ...)."""
        observations, infos = self.env.reset(seed=self._seeds, options=_merged(self._options))  # type: ignore[arg-type]
        self.reset_infos = [_info_of(infos, lane) for lane in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (num_envs, ...) of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[Infos]]:
        """Step; return observations, rewards, ends of episodes (num_envs,) and an info for each."""
        observations, rewards, terminated, truncated, infos = self.env.step(self._actions)
        done = np.logical_or(terminated, truncated)
        if self._info_keys is None:
            each = [_info_of(infos, lane) for lane in range(self.num_envs)]
        else:
            each = [{key: _plain(infos[key][lane]) for key in self._info_keys} for lane in range(self.num_envs)]
        for info in each:
            info["TimeLimit.truncated"] = False
        for lane in np.flatnonzero(done).tolist():
            self.reset_infos[lane] = _info_of(infos, lane)
            each[lane] = _info_of(infos["final_info"], lane)
            each[lane]["terminal_observation"] = infos["final_obs"][lane]
            each[lane]["TimeLimit.truncated"] = bool(truncated[lane] and not terminated[lane])
        return observations, rewards.astype(np.float32), done, each

    def close(self) -> None:
        """Close the environments."""
        self.env.close()

    def get_images(self) -> list[NDArray[np.uint8] | None]:
        """Return a picture of every environment."""
        pictures: Any = self.env.render()
        return [None] * self.num_envs if pictures is None else list(pictures)

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        """Return an attribute for each of the environments; most are one for all."""
        name = _SINGLE.get(attr_name, attr_name)
        value = getattr(self._owner(name), name)
        return [value[lane] if name in _EACH else value for lane in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        """Set an attribute that the environments share.

        Raises:
            ValueError: for some of them only.
        """
        self._require_all(attr_name, indices)
        setattr(self._owner(attr_name), attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the environments once, for all of them; return its result for each.

        Raises:
            ValueError: for some of them only.
        """
        self._require_all(method_name, indices)
        result = getattr(self._owner(method_name), method_name)(*method_args, **method_kwargs)
        return list(result) if method_name == "render" and result is not None else [result] * self.num_envs

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: None | int | Iterable[int] = None
    ) -> list[bool]:
        """Return for each of the environments whether they are in such a wrapper, all being in the same."""
        wrapped = any(isinstance(env, wrapper_class) for env in self._layers())
        return [wrapped for _ in self._get_indices(indices)]

    def _layers(self) -> list[Any]:
        layers: list[Any] = [self.env]
        while hasattr(layers[-1], "env"):
            layers.append(layers[-1].env)
        return layers

    def _owner(self, name: str) -> Any:
        """Return the outermost layer with an attribute of this name."""
        for layer in self._layers():
            if hasattr(layer, name):
                return layer
        raise AttributeError(f"{self.env} has no attribute {name!r}")

    def _require_all(self, name: str, indices: None | int | Iterable[int]) -> None:
        lanes = list(self._get_indices(indices))
        if sorted(lanes) != list(range(self.num_envs)):
            raise ValueError(
                f"{name}: found indices {lanes}, expected all of {self.num_envs} environments: they share one object"
            )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _info_of(infos: Mapping[str, Any], lane: int) -> Infos:
    """Return one environment's info: all but the masks, what they leave out, and `final_*`."""
    return {
        key: _info_of(value, lane) if isinstance(value, Mapping) else _plain(value[lane])
        for key, value in infos.items()
        if not (key.startswith("final_") or (key.startswith("_") and key[1:] in infos))
        and (f"_{key}" not in infos or infos[f"_{key}"][lane])
    }


def _merged(options: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the options of every environment as those of all: states one below the other.

    Raises:
        ValueError: options other than "state", or not the same for all environments.
    """
    names = {name for each in options for name in each}
    if not names:
        return None
    if names != {"state"} or not all(options):
        found = sorted(names)
        raise ValueError(f"options: found {found}, expected 'state', for every environment")
    return {"state": np.stack([each["state"] for each in options])}
