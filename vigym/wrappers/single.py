"""Wrappers of one environment that add physics to the reward."""

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from vigym.wrappers.terms import PhysicsTerm, constraint_term, energy_term


class PhysicsReward(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds a physics term to the reward and to `info`, so that the terms there still sum to the reward."""

    term: PhysicsTerm

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; the term is 0 in `info`, since no action has been taken."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, self.term.key: info.get(self.term.key, 0.0)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step the environment and add the term."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        value = float(self.term(info))
        info = {**info, self.term.key: info.get(self.term.key, 0.0) + value}
        return observation, float(reward) + value, terminated, truncated, info


class EnergyReward(PhysicsReward):
    """Takes energy from the reward, as `info["reward_<kind>"]`.

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
        self.term = energy_term(weight, kind)


class ConstraintReward(PhysicsReward):
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
        self.term = constraint_term(weight)
