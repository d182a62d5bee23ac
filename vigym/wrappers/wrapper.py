"""Wrappers that add a term to every step, and functions that choose the term and the wrapper.

The term is data (`vigym.wrappers.terms`). One wrapper is for a single environment, the other for a
vector of them.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from vigym.wrappers.terms import (
    ENERGY_KINDS,
    Term,
    cost,
    objectives_of,
    penalty,
    require_kind,
    require_reported,
)

Infos = dict[str, Any]
EnvT = TypeVar("EnvT", gym.Env[Any, Any], VectorEnv[Any, Any, Any])


class PhysicsWrapper(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Wrapper of one environment that adds a term to every step, to its reward or to `info`.

    The info of a reset has the same keys, with value 0, since no action has been taken.

    Args:
        env: the environment.
        term: the term.
        arguments: of the function `term.name` of `vigym.wrappers`, for the spec.

    Attributes:
        term: the term.
    """

    def __init__(self, env: gym.Env[Any, Any], term: Term, **arguments: Any) -> None:
        RecordConstructorArgs.__init__(self, **arguments)
        gym.Wrapper.__init__(self, env)
        self.term = term

    @property
    def spec(self) -> EnvSpec | None:  # type: ignore[override]
        """Specification of the environment, from which `gym.make` makes it with the term."""
        spec = super().spec
        if spec is not None:
            own = spec.additional_wrappers[-1]
            own.name = self.term.name
            own.entry_point = f"vigym.wrappers:{self.term.name}"
        return spec

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Reset the environment; entries of the term in `info` are 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with_entries(info, 0.0)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Infos]:
        """Step the environment and add the term."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        value = self.term(info)
        value = value if getattr(value, "ndim", 0) else float(value)
        reward = self.term.reward(reward, value)
        return observation, reward, terminated, truncated, self._with_entries(info, value)

    def _with_entries(self, info: Infos, value: Any) -> Infos:
        return info | {key: info.get(key, 0.0) + value for key in self.term.entries}

    def __str__(self) -> str:
        return f"<{self.term.name}{self.env}>"


class VectorPhysicsWrapper(VectorWrapper, RecordConstructorArgs):
    """Wrapper of a vector environment that adds a term to every step of each environment.

    Every autoreset mode gives the same values as `PhysicsWrapper` on each environment alone. In
    mode NEXT_STEP the step that resets an environment has reward 0 and no term. In mode SAME_STEP
    the term of an episode's last step comes from `infos["final_info"]` and is added there.

    Args:
        env: the vector environment.
        term: the term.
        arguments: of the function `term.name` of `vigym.wrappers`.

    Attributes:
        term: the term.

    Raises:
        ValueError: the option `info_keys` of `env` leaves out entries that the term reads.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], term: Term, **arguments: Any) -> None:
        require_reported(env, term)
        RecordConstructorArgs.__init__(self, **arguments)
        VectorWrapper.__init__(self, env)
        self.term = term
        self._mode = env.metadata["autoreset_mode"]
        self._done = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Reset the environments; entries of the term in `infos` are 0."""
        mask = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._done = self._done & ~mask
        return observations, self._with_entries(infos, 0.0, mask)

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Step the environments and add the term."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        done = np.logical_or(terminated, truncated)
        values = last = self.term(infos)  # last: before environments restart
        if self._mode == AutoresetMode.NEXT_STEP:
            values = last = _where(~self._done, values, 0.0)
        elif self._mode == AutoresetMode.SAME_STEP and done.any():
            final = self.term(infos["final_info"])
            last = _where(done, final, values)
            values = _where(~done, values, 0.0)
            final_info = self._with_entries(infos["final_info"], _where(done, final, 0.0), done)
            infos = infos | {"final_info": final_info}
        self._done = done
        rewards = self.term.reward(rewards, last)
        infos = self._with_entries(infos, values, np.ones_like(done))
        return observations, rewards, terminated, truncated, infos

    def _with_entries(self, infos: Infos, values: Any, mask: NDArray[np.bool_]) -> Infos:
        """Return infos with the entries of the term, valid where `mask` (num_envs,) is set."""
        infos = dict(infos)
        for key in self.term.entries:
            infos[key] = infos.get(key, np.zeros(self.num_envs)) + values
            infos[f"_{key}"] = infos.get(f"_{key}", False) | mask
        return infos

    def __repr__(self) -> str:
        return f"<{self.term.name}, {self.env}>"


def require_same_step(env: VectorEnv[Any, Any, Any]) -> None:
    """Raise ValueError unless environments restart in the step that ends their episode."""
    mode = env.metadata.get("autoreset_mode")
    if mode != AutoresetMode.SAME_STEP:
        expected = 'SAME_STEP: make it with autoreset_mode="SameStep"'
        raise ValueError(f"env: found autoreset mode {mode}, expected {expected}")


def _where(mask: NDArray[np.bool_], values: NDArray[Any], others: Any) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) where the mask is set, of `others` elsewhere."""
    return np.where(mask.reshape(-1, *(1,) * (values.ndim - 1)), values, others)


def EnergyReward(env: EnvT, weight: float, kind: str = "mechanical_power") -> EnvT:
    """Wrap an environment: its reward minus an energy term, `info["reward_<kind>"]`.

    The terms in `info` still sum to the reward.

    Args:
        env: a vigym environment, or a vector of them.
        weight: per unit of the kind, >= 0.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2] or "drift", the energy error of the
            integrator [J].

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """
    require_kind(kind, ENERGY_KINDS)
    return _wrap(env, penalty("EnergyReward", kind, weight), weight=weight, kind=kind)


def ConstraintReward(env: EnvT, weight: float) -> EnvT:
    """Wrap an environment: its reward minus the largest position residual of the joints.

    The term is in `info["reward_constraint"]`.

    Args:
        env: a vigym environment, or a vector of them.
        weight: per metre or radian, >= 0.

    Raises:
        ValueError: a weight out of range.
    """
    return _wrap(env, penalty("ConstraintReward", "constraint", weight), weight=weight)


def CostOfTransportReward(env: EnvT, weight: float) -> EnvT:
    """Wrap an environment: its reward minus the cost of transport.

    The term is in `info["reward_cost_of_transport"]`. Power over weight and speed is large at rest:
    environments replace a speed below 0.01 m/s by 0.01 m/s.

    Args:
        env: a vigym environment that travels (Minitaur, Snake, SnakeSidewinding), or a vector of
            them.
        weight: of the cost of transport, >= 0.

    Raises:
        ValueError: a weight out of range.
    """
    term = penalty("CostOfTransportReward", "cost_of_transport", weight)
    return _wrap(env, term, weight=weight)


def PhysicsCost(env: EnvT, kind: str = "mechanical_power", limit: float | None = None) -> EnvT:
    """Wrap an environment: a cost of every step, read by the wrappers of Safety-Gymnasium.

    Several of these costs add up in `info["cost"]`; `info["cost_<kind>"]` has each of them.

    Args:
        env: a vigym environment, or a vector of them.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2], "drift" [J], "constraint" [m or
            rad], "cost_of_transport", "penetration" [m] or "slip" [m/s].
        limit: a step beyond it costs 1, any other 0; None: the cost is the quantity itself.

    Raises:
        ValueError: an unknown kind or a limit out of range.
    """
    return _wrap(env, cost("PhysicsCost", kind, limit), kind=kind, limit=limit)


def PhysicsVectorReward(env: EnvT, objectives: Sequence[str] | None = None) -> EnvT:
    """Wrap an environment: a reward for each objective in place of their sum, as in MO-Gymnasium.

    The attribute `reward_space`, which the unwrapped environment then has too, is the space of the
    rewards (n_objectives,) of one environment.

    Args:
        env: a vigym environment, or a native vector of them; its rewards are then (num_envs,
            n_objectives).
        objectives: names of terms of its reward, or kinds of `PhysicsCost`, which count negatively;
            None: all terms.

    Raises:
        TypeError: not a vigym environment.
        ValueError: an unknown objective, none or one twice.
    """
    term = objectives_of("PhysicsVectorReward", env, objectives)
    wrapped = _wrap(env, term, objectives=objectives)
    layers: tuple[Any, ...] = (wrapped, wrapped.unwrapped)
    for layer in layers:
        layer.reward_space = gym.spaces.Box(-np.inf, np.inf, (len(term.keys),), dtype=np.float32)
    return wrapped


def _wrap(env: EnvT, term: Term, **arguments: Any) -> EnvT:
    """Return the environment, or vector of them, in the wrapper for it."""
    wrapper: Any = VectorPhysicsWrapper if isinstance(env, VectorEnv) else PhysicsWrapper
    wrapped: EnvT = wrapper(env, term, **arguments)
    return wrapped
