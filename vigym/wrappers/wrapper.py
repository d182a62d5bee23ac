"""Pair of wrappers, for one environment and for a vector of them, that add a term to every step.

The term is data (`vigym.wrappers.terms`). The classes below the pair define the arguments of each
named wrapper once; `vigym.wrappers` and `vigym.wrappers.vector` combine them with the pair.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from vigym.wrappers.terms import (
    CostTerm,
    PenaltyTerm,
    Term,
    energy_penalty,
    objectives_of,
    require_reported,
    reward_space,
)

Infos = dict[str, Any]
EnvT = TypeVar("EnvT")  # one environment, or a vector of them


class PhysicsWrapper(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Wrapper of one environment that adds a term to every step, to its reward or to `info`.

    The info of a reset has the same keys, with value 0, since no action has been taken.

    Attributes:
        term: the term.
    """

    term: Term

    def _wrap(self, env: gym.Env[Any, Any], term: Term, **arguments: Any) -> None:
        """Wrap `env`; `arguments` of the constructor go into the spec."""
        RecordConstructorArgs.__init__(self, **arguments)
        gym.Wrapper.__init__(self, env)
        self.term = term

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
        entries = self.term.info_entries(value).items()
        return info | {key: info.get(key, 0.0) + entry for key, entry in entries}


class VectorPhysicsWrapper(VectorWrapper, RecordConstructorArgs):
    """Wrapper of a vector environment that adds a term to every step of each environment.

    Every autoreset mode gives the same values as `PhysicsWrapper` on each environment alone. In
    mode NEXT_STEP the step that resets an environment has reward 0 and no term. In mode SAME_STEP
    the term of an episode's last step comes from `infos["final_info"]` and is added there.

    Attributes:
        term: the term.
    """

    term: Term

    def _wrap(self, env: VectorEnv[Any, Any, Any], term: Term, **arguments: Any) -> None:
        """Wrap `env`; `arguments` of the constructor are recorded.

        Raises:
            ValueError: the option `info_keys` of `env` leaves out entries that the term reads.
        """
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
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        mask = np.array((options or {}).get("reset_mask", everywhere))
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._done = self._done & ~mask
        return observations, self._with_entries(infos, np.zeros(self.num_envs), mask)

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Step the environments and add the term."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        done = np.logical_or(terminated, truncated)
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        values = self.term(infos)
        if self._mode == AutoresetMode.NEXT_STEP:
            values = _where(self._done, np.zeros_like(values), values)
        elif self._mode == AutoresetMode.SAME_STEP and done.any():
            last = self.term(infos["final_info"])
            last_only = _where(done, last, np.zeros_like(last))
            infos = self._with_entries(
                infos, _where(done, np.zeros_like(values), values), everywhere
            )
            infos["final_info"] = self._with_entries(infos["final_info"], last_only, done)
            rewards = self.term.reward(rewards, _where(done, last, values))
            return observations, rewards, terminated, truncated, infos
        self._done = done
        rewards = self.term.reward(rewards, values)
        infos = self._with_entries(infos, values, everywhere)
        return observations, rewards, terminated, truncated, infos

    def _with_entries(self, infos: Infos, values: NDArray[Any], mask: NDArray[np.bool_]) -> Infos:
        """Return infos with the entries of the term, valid where `mask` (num_envs,) is set."""
        infos = dict(infos)
        for key, entry in self.term.info_entries(values).items():
            infos[key] = infos.get(key, np.zeros(self.num_envs)) + entry
            infos[f"_{key}"] = infos.get(f"_{key}", False) | mask
        return infos


def _where(mask: NDArray[np.bool_], values: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) where the mask is set, of `others` elsewhere."""
    return np.where(mask.reshape(-1, *(1,) * (values.ndim - 1)), values, others)


class EnergyReward(Generic[EnvT]):
    """Reward minus an energy term, which `info["reward_<kind>"]` reports.

    The terms in `info` still sum to the reward.

    Args:
        env: a vigym environment, or a vector of them for `vigym.wrappers.vector`.
        weight: per unit of the kind, >= 0.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2] or "drift", the energy error of the
            integrator [J].

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """

    def __init__(self: Any, env: EnvT, weight: float, kind: str = "mechanical_power") -> None:
        self._wrap(env, energy_penalty(kind, weight), weight=weight, kind=kind)


class ConstraintReward(Generic[EnvT]):
    """Reward minus the largest position residual of the joints, `info["reward_constraint"]`.

    Args:
        env: a vigym environment, or a vector of them for `vigym.wrappers.vector`.
        weight: per metre or radian, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self: Any, env: EnvT, weight: float) -> None:
        self._wrap(env, PenaltyTerm("constraint", weight), weight=weight)


class CostOfTransportReward(Generic[EnvT]):
    """Reward minus the cost of transport, which `info["reward_cost_of_transport"]` reports.

    Power over weight and speed is large at rest: environments replace a speed below 0.01 m/s by
    0.01 m/s.

    Args:
        env: a vigym environment that travels (Minitaur, Snake, SnakeSidewinding), or a vector of
            them for `vigym.wrappers.vector`.
        weight: of the cost of transport, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self: Any, env: EnvT, weight: float) -> None:
        self._wrap(env, PenaltyTerm("cost_of_transport", weight), weight=weight)


class PhysicsCost(Generic[EnvT]):
    """Cost of every step as `info["cost"]`, read by the conversion wrappers of Safety-Gymnasium.

    Several of these wrappers add up there; each reports its own part as `info["cost_<kind>"]`.

    Args:
        env: a vigym environment, or a vector of them for `vigym.wrappers.vector`.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2], "drift" [J], "constraint" [m or
            rad], "cost_of_transport", "penetration" [m] or "slip" [m/s].
        limit: a step beyond it costs 1, any other 0; None: the cost is the quantity itself.

    Raises:
        ValueError: an unknown kind or a limit out of range.
    """

    def __init__(
        self: Any, env: EnvT, kind: str = "mechanical_power", limit: float | None = None
    ) -> None:
        self._wrap(env, CostTerm(kind, limit), kind=kind, limit=limit)


class PhysicsVectorReward(Generic[EnvT]):
    """Vector of rewards, one per objective, in place of their sum, as in MO-Gymnasium.

    Args:
        env: a vigym environment, or a native vector of them for `vigym.wrappers.vector`; its
            rewards are then (num_envs, n_objectives).
        objectives: names of terms of its reward, or kinds of `PhysicsCost`, which count negatively;
            None: all terms.

    Attributes:
        reward_space: of the rewards of one environment (n_objectives,); the unwrapped environment
            has it too.

    Raises:
        TypeError: not a vigym environment.
        ValueError: an unknown objective, none or one twice.
    """

    reward_space: gym.spaces.Box

    def __init__(self: Any, env: EnvT, objectives: Sequence[str] | None = None) -> None:
        term = objectives_of(env, objectives)
        self._wrap(env, term, objectives=objectives)
        self.reward_space = reward_space(term)
        self.unwrapped.reward_space = self.reward_space
