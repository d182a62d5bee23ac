"""Adapter of vector environments to stable-baselines3, which must be installed to import this."""

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from vigym.envs.infos import Infos, info_of, plain
from vigym.envs.vector import TaskVectorEnv
from vigym.wrappers.wrapper import VectorPhysicsWrapper, require_same_step

Indices = None | int | Iterable[int]
_SINGLE = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
_PER_ENVIRONMENT = ("np_random", "np_random_seed")  # attributes with a value for every environment


class SB3VecEnv(VecEnv):
    """Adapter of a `gymnasium.vector.VectorEnv` to the `VecEnv` interface of stable-baselines3.

    The last step of an episode reports the whole info of the environment, with
    "terminal_observation" and "TimeLimit.truncated". Other steps report the latter and `info_keys`
    only: learners read no more, and building dictionaries for every environment and step takes
    longer than the physics.

    Observations of environments with the option `privileged` are {"policy": observation,
    "privileged": readings}, for `AsymmetricPolicy`.

    Attributes and methods are those of the vector environment, which the environments share; of
    gymnasium's `SyncVectorEnv` and `AsyncVectorEnv` those of each environment come first.

    Args:
        env: vector environment, wrapped or not, in autoreset mode SAME_STEP, such as
            `gym.make_vec(id, num_envs, autoreset_mode="SameStep")`.
        info_keys: keys of `infos` reported at every step; None: all.

    Attributes:
        env: the vector environment.
        reset_infos: info of the last reset of every environment.

    Raises:
        TypeError: not a vector environment.
        ValueError: another autoreset mode, or keys that its infos do not have.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], info_keys: Sequence[str] | None = ()) -> None:
        if not isinstance(env, VectorEnv):
            raise TypeError(
                f"env: found {type(env).__name__}, "
                "expected a vector environment of gymnasium.make_vec"
            )
        require_same_step(env)
        self.env = env
        self._require_reported(info_keys)
        self._info_keys = info_keys
        self._actions: NDArray[Any] | None = None
        space = getattr(env.unwrapped, "privileged_space", None)
        self._privileged, seen = space is not None, env.single_observation_space
        if space is not None:
            seen = spaces.Dict({"policy": seen, "privileged": space})
        super().__init__(env.num_envs, seen, env.single_action_space)

    def reset(self) -> Any:
        """Reset all environments with the seeds and options set before; return observations."""
        seeds: Any = self._seeds
        observations, infos = self.env.reset(seed=seeds, options=_merged(self._options))
        self.reset_infos = [info_of(infos, lane) for lane in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self._seen(observations, infos)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions (num_envs, ...) of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[Infos]]:
        """Step; return observations, rewards, ends of episodes (num_envs,) and a list of infos."""
        observations, rewards, terminated, truncated, infos = self.env.step(self._actions)
        done = np.logical_or(terminated, truncated)
        single_infos = [self._step_info(infos, lane) for lane in range(self.num_envs)]
        for info in single_infos:
            info["TimeLimit.truncated"] = False
        for lane in np.flatnonzero(done).tolist():
            self.reset_infos[lane] = info_of(infos, lane)
            last = info_of(infos["final_info"], lane)
            last["terminal_observation"] = self._seen(infos["final_obs"][lane], last)
            last["TimeLimit.truncated"] = bool(truncated[lane] and not terminated[lane])
            single_infos[lane] = last
        return self._seen(observations, infos), rewards.astype(np.float32), done, single_infos

    def _seen(self, observed: Any, infos: Infos) -> Any:
        """Return observations, with the privileged readings of infos if there are any."""
        if not self._privileged:
            return observed
        return {"policy": observed, "privileged": infos["privileged"]}

    def _step_info(self, infos: Infos, lane: int) -> Infos:
        if self._info_keys is None:
            return info_of(infos, lane)
        return {key: plain(infos[key][lane]) for key in self._info_keys}

    def close(self) -> None:
        """Close the environments."""
        self.env.close()

    def get_images(self) -> list[NDArray[np.uint8] | None]:
        """Return a picture of every environment."""
        pictures: Any = self.env.render()
        return [None] * self.num_envs if pictures is None else list(pictures)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return the value of an attribute for each environment; most have one value for all."""
        copies = self._copies(attr_name)
        if copies is not None:
            values = copies.call("get_wrapper_attr", attr_name)
            return [values[lane] for lane in self._get_indices(indices)]
        name = _SINGLE.get(attr_name, attr_name)
        value = getattr(self._owner(name), name)
        return [
            value[lane] if name in _PER_ENVIRONMENT else value
            for lane in self._get_indices(indices)
        ]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the environments.

        Raises:
            ValueError: indices of some environments only, which share the attribute.
        """
        lanes = set(self._get_indices(indices))
        copies = self._copies(attr_name, new=len(lanes) == self.num_envs)
        if copies is not None:
            before = [value] * self.num_envs
            if len(lanes) < self.num_envs:
                before = self.get_attr(attr_name)
            values = [value if lane in lanes else old for lane, old in enumerate(before)]
            copies.set_attr(attr_name, values)
            return
        self._require_all(attr_name, indices)
        owner = self._owner(attr_name)
        if isinstance(owner, TaskVectorEnv):  # which may be in several processes
            owner.set_attr(attr_name, [value] * self.num_envs)
        else:
            setattr(owner, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all environments, or of each; return its result for each.

        Raises:
            ValueError: indices of some environments only.
        """
        self._require_all(method_name, indices)
        copies = self._copies(method_name)
        if copies is not None:
            return list(copies.call(method_name, *method_args, **method_kwargs))
        result = getattr(self._owner(method_name), method_name)(*method_args, **method_kwargs)
        if method_name == "render" and result is not None:
            return list(result)
        return [result] * self.num_envs

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """Return whether the wrapper class is applied, once for each environment.

        Those of an `AsyncVectorEnv` are in other processes: there the name of the class is sought.
        """
        inner = self.env.unwrapped
        found = [any(isinstance(env, wrapper_class) for env in self._layers())] * self.num_envs
        if isinstance(inner, SyncVectorEnv):
            found = [found[0] or is_wrapped(env, wrapper_class) for env in inner.envs]
        elif isinstance(inner, AsyncVectorEnv):
            mark = f"<{wrapper_class.__name__}<"  # as in <Monitor<TimeLimit<...>>>
            found = [found[0] or mark in text for text in inner.call("__str__")]
        return [found[lane] for lane in self._get_indices(indices)]

    def _copies(self, name: str, new: bool = False) -> SyncVectorEnv | AsyncVectorEnv | None:
        """Return gymnasium's vector of separate environments that have an attribute.

        It is None for a vector whose environments share attributes, and for attributes that the
        environments do not have, unless they may be new.
        """
        inner = self.env.unwrapped
        if not isinstance(inner, SyncVectorEnv | AsyncVectorEnv):
            return None
        return inner if new or all(inner.call("has_wrapper_attr", name)) else None

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

    def _require_reported(self, keys: Sequence[str] | None) -> None:
        """Raise ValueError for keys that infos do not have, so far as is known before a step."""
        if isinstance(keys, str):
            raise ValueError(f"info_keys: found {keys!r}, expected a sequence of keys, [{keys!r}]")
        *wrappers, inner = self._layers()
        own = all(isinstance(layer, VectorPhysicsWrapper) for layer in wrappers)
        if keys is None or not (own and isinstance(inner, TaskVectorEnv)):
            return
        added = {key for layer in wrappers for key in layer.term.entries}
        read = [key for key in keys if key not in added]
        inner.checked_info_keys(read)
        reported = inner.info_keys
        missing = [key for key in read if reported is not None and key not in reported]
        if missing:
            expected = "among them, or no such option of gymnasium.make_vec"
            raise ValueError(
                f"info_keys: found {list(reported or ())} of the vector environment, "
                f"expected {missing} {expected}"
            )

    def _require_all(self, name: str, indices: Indices) -> None:
        lanes = list(self._get_indices(indices))
        if sorted(lanes) != list(range(self.num_envs)):
            expected = f"all of {self.num_envs} environments: they are called together"
            raise ValueError(f"{name}: found indices {lanes}, expected {expected}")


def _merged(options: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the options of the vector environment: states stacked along a first axis.

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
