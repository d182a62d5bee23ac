"""Wrappers of one environment that make something of its physics."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from vigym.wrappers.terms import ENERGY_KINDS, CostTerm, PhysicsTerm, Term, objectives_of, require_kind, reward_space


class PhysicsWrapper(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds a term to every step, to its reward or to `info`; a reset has the same keys, zero."""

    term: Term

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; what the term notes in `info` is 0, since no action has been taken."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with(info, 0.0)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment and add the term."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        value = self.term(info)
        value = value if getattr(value, "ndim", 0) else float(value)
        return observation, self.term.rewarded(reward, value), terminated, truncated, self._with(info, value)

    def _with(self, info: dict[str, Any], value: Any) -> dict[str, Any]:
        return info | {key: info.get(key, 0.0) + added for key, added in self.term.noted(value).items()}


class EnergyReward(PhysicsWrapper):
    """Takes energy from the reward, as `info["reward_<kind>"]`, so that the terms there still sum to the reward.

    Args:
        env: a vigym environment.
        weight: per unit of the kind, >= 0.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2] or "drift", the integrator's own energy error [J].

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float, kind: str = "mechanical_power") -> None:
        RecordConstructorArgs.__init__(self, weight=weight, kind=kind)
        gym.Wrapper.__init__(self, env)
        require_kind(kind, ENERGY_KINDS)
        self.term = PhysicsTerm(kind, weight)


class ConstraintReward(PhysicsWrapper):
    """Takes the largest position residual of the constraints from the reward, as `info["reward_constraint"]`.

    Args:
        env: a vigym environment.
        weight: per metre or radian, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float) -> None:
        RecordConstructorArgs.__init__(self, weight=weight)
        gym.Wrapper.__init__(self, env)
        self.term = PhysicsTerm("constraint", weight)


class CostOfTransportReward(PhysicsWrapper):
    """Takes the cost of transport from the reward, as `info["reward_cost_of_transport"]`.

    Power over weight and speed is large at rest: environments count a speed below 0.01 m/s as that.

    Args:
        env: a vigym environment that travels: Minitaur, Snake, SnakeSidewinding.
        weight: of the cost of transport, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self, env: gym.Env[Any, Any], weight: float) -> None:
        RecordConstructorArgs.__init__(self, weight=weight)
        gym.Wrapper.__init__(self, env)
        self.term = PhysicsTerm("cost_of_transport", weight)


class PhysicsCost(PhysicsWrapper):
    """Tells what a step costs as `info["cost"]`, where Safety-Gymnasium's conversion wrappers look for it.

    Several of them add up there; each has its own part in `info["cost_<kind>"]`.

    Args:
        env: a vigym environment.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2], "drift" [J], "constraint" [m or rad],
            "cost_of_transport", "penetration" [m] or "slip" [m/s].
        limit: a step beyond it costs 1, another 0; None: the cost is the quantity itself.

    Raises:
        ValueError: an unknown kind or a limit out of range.
    """

    def __init__(self, env: gym.Env[Any, Any], kind: str = "mechanical_power", limit: float | None = None) -> None:
        RecordConstructorArgs.__init__(self, kind=kind, limit=limit)
        gym.Wrapper.__init__(self, env)
        self.term = CostTerm(kind, limit)


class PhysicsVectorReward(PhysicsWrapper):
    """Gives a reward for each of several objectives, as MO-Gymnasium's environments do, in place of their sum.

    Args:
        env: a vigym environment.
        objectives: names of terms of its reward, or kinds of `PhysicsCost`, which count negatively; None: all terms.

    Attributes:
        reward_space: of the rewards (n_objectives,); the unwrapped environment has it too.

    Raises:
        TypeError: not a vigym environment.
        ValueError: an unknown objective, none or one twice.
    """

    def __init__(self, env: gym.Env[Any, Any], objectives: Sequence[str] | None = None) -> None:
        RecordConstructorArgs.__init__(self, objectives=objectives)
        gym.Wrapper.__init__(self, env)
        self.term = chosen = objectives_of(env, objectives)
        self.reward_space = env.unwrapped.reward_space = reward_space(chosen)  # type: ignore[attr-defined]
