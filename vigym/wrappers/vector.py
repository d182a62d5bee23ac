"""Wrappers of a vector environment that make something of its physics."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from vigym.wrappers.terms import ENERGY_KINDS, CostTerm, PhysicsTerm, Term, objectives_of, require_kind, reward_space

Infos = dict[str, Any]


class PhysicsWrapper(VectorWrapper, RecordConstructorArgs):
    """Adds a term to every step, to the rewards or to `infos`, in every autoreset mode as the single wrapper does.

    In mode NEXT_STEP the step that resets an environment has reward 0 and no term. In mode SAME_STEP the term of an
    episode's last step comes from `infos["final_info"]` and is added there.
    """

    term: Term

    def __init__(self, env: VectorEnv[Any, Any, Any], term: Term) -> None:
        super().__init__(env)
        self.term = term
        self._mode = env.metadata["autoreset_mode"]
        self._done = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Reset the environments; what the term notes in `infos` is 0, since no action has been taken."""
        chosen = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._done = self._done & ~chosen
        return observations, self._with(infos, np.zeros(self.num_envs), chosen)

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Step the environments and add the term."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        done, every = np.logical_or(terminated, truncated), np.ones(self.num_envs, dtype=np.bool_)
        values = self.term(infos)
        if self._mode == AutoresetMode.NEXT_STEP:
            values = _where(self._done, np.zeros_like(values), values)
        elif self._mode == AutoresetMode.SAME_STEP and done.any():
            final = self.term(infos["final_info"])
            infos = self._with(infos, _where(done, np.zeros_like(values), values), every)
            infos["final_info"] = self._with(infos["final_info"], _where(done, final, np.zeros_like(final)), done)
            rewards = self.term.rewarded(rewards, _where(done, final, values))
            return observations, rewards, terminated, truncated, infos
        self._done = done
        rewards = self.term.rewarded(rewards, values)
        return observations, rewards, terminated, truncated, self._with(infos, values, every)

    def _with(self, infos: Infos, values: NDArray[Any], mask: NDArray[np.bool_]) -> Infos:
        """Return infos with what the term notes of it where `mask` is set."""
        infos = dict(infos)
        for key, added in self.term.noted(values).items():
            infos[key] = infos.get(key, np.zeros(self.num_envs)) + added
            infos[f"_{key}"] = infos.get(f"_{key}", False) | mask
        return infos


def _where(chosen: NDArray[np.bool_], values: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) where chosen, of `others` elsewhere."""
    return np.where(chosen.reshape(-1, *(1,) * (values.ndim - 1)), values, others)


class EnergyReward(PhysicsWrapper):
    """Takes energy from the rewards, as `infos["reward_<kind>"]`, so that the terms there still sum to the rewards.

    Args:
        env: a vector environment of vigym environments.
        weight: per unit of the kind, >= 0.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2] or "drift", the integrator's own energy error [J].

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], weight: float, kind: str = "mechanical_power") -> None:
        RecordConstructorArgs.__init__(self, weight=weight, kind=kind)
        require_kind(kind, ENERGY_KINDS)
        super().__init__(env, PhysicsTerm(kind, weight))


class ConstraintReward(PhysicsWrapper):
    """Takes the largest position residual of the constraints from the rewards, as `infos["reward_constraint"]`.

    Args:
        env: a vector environment of vigym environments.
        weight: per metre or radian, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], weight: float) -> None:
        RecordConstructorArgs.__init__(self, weight=weight)
        super().__init__(env, PhysicsTerm("constraint", weight))


class CostOfTransportReward(PhysicsWrapper):
    """Takes the cost of transport from the rewards, as `infos["reward_cost_of_transport"]`.

    Args:
        env: a vector environment of vigym environments that travel: Minitaur, Snake, SnakeSidewinding.
        weight: of the cost of transport, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], weight: float) -> None:
        RecordConstructorArgs.__init__(self, weight=weight)
        super().__init__(env, PhysicsTerm("cost_of_transport", weight))


class PhysicsCost(PhysicsWrapper):
    """Tells what a step costs as `infos["cost"]`, as the single wrapper of this name does.

    Args:
        env: a vector environment of vigym environments.
        kind: of the cost, as there.
        limit: a step beyond it costs 1, another 0; None: the cost is the quantity itself.

    Raises:
        ValueError: an unknown kind or a limit out of range.
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], kind: str = "mechanical_power", limit: float | None = None
    ) -> None:
        RecordConstructorArgs.__init__(self, kind=kind, limit=limit)
        super().__init__(env, CostTerm(kind, limit))


class PhysicsVectorReward(PhysicsWrapper):
    """Gives rewards (num_envs, n_objectives) in place of their sum, as MO-Gymnasium's vector environments do.

    Args:
        env: a native vector environment of vigym.
        objectives: names of terms of its reward, or kinds of `PhysicsCost`, which count negatively; None: all terms.

    Attributes:
        reward_space: of the rewards of one environment (n_objectives,); the unwrapped environments have it too.

    Raises:
        TypeError: not a vector environment of vigym.
        ValueError: an unknown objective, none or one twice.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], objectives: Sequence[str] | None = None) -> None:
        RecordConstructorArgs.__init__(self, objectives=objectives)
        chosen = objectives_of(env, objectives)
        super().__init__(env, chosen)
        self.reward_space = env.unwrapped.reward_space = reward_space(chosen)  # type: ignore[attr-defined]
