"""Wrappers of a vector environment that add physics to the rewards."""

from typing import Any

import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from vigym.wrappers.terms import PhysicsTerm, constraint_term, energy_term

Infos = dict[str, Any]


class PhysicsReward(VectorWrapper, RecordConstructorArgs):
    """Adds a physics term to the rewards and to `infos`, in every autoreset mode as the single wrapper does.

    In mode NEXT_STEP the step that resets an environment has reward 0 and no term. In mode SAME_STEP the term of an
    episode's last step comes from `infos["final_info"]` and is added there.
    """

    term: PhysicsTerm

    def __init__(self, env: VectorEnv[Any, Any, Any], term: PhysicsTerm) -> None:
        super().__init__(env)
        self.term = term
        self._mode = env.metadata["autoreset_mode"]
        self._done = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Reset the environments; the term is 0 in `infos`, since no action has been taken."""
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        chosen = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        self._done = self._done & ~chosen
        return observations, self._with(infos, np.zeros(self.num_envs), chosen)

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], Infos]:
        """Step the environments and add the term."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        done, every = np.logical_or(terminated, truncated), np.ones(self.num_envs, dtype=np.bool_)
        values = self.term(infos)
        if self._mode == AutoresetMode.NEXT_STEP:
            values = np.where(self._done, 0.0, values)
        elif self._mode == AutoresetMode.SAME_STEP and done.any():
            final = np.where(done, self.term(infos["final_info"]), 0.0)
            infos = self._with(infos, np.where(done, 0.0, values), every)
            infos["final_info"] = self._with(infos["final_info"], final, done)
            return observations, rewards + np.where(done, final, values), terminated, truncated, infos
        self._done = done
        return observations, rewards + values, terminated, truncated, self._with(infos, values, every)

    def _with(self, infos: Infos, values: NDArray[Any], mask: NDArray[np.bool_]) -> Infos:
        """Return infos with the term added where `mask` is set."""
        key = self.term.key
        before = infos.get(key, np.zeros(self.num_envs))
        return {**infos, key: before + values, f"_{key}": infos.get(f"_{key}", False) | mask}


class EnergyReward(PhysicsReward):
    """Takes energy from the rewards, as `infos["reward_<kind>"]`.

    Args:
        env: a vector environment of vigym environments.
        weight: per unit of the kind, >= 0.
        kind: "mechanical_power" [W], "torque_squared" [N^2 m^2] or "drift", the integrator's own energy error [J].

    Raises:
        ValueError: an unknown kind or a weight out of range.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], weight: float, kind: str = "mechanical_power") -> None:
        RecordConstructorArgs.__init__(self, weight=weight, kind=kind)
        super().__init__(env, energy_term(weight, kind))


class ConstraintReward(PhysicsReward):
    """Takes the largest position residual of the constraints from the rewards, as `infos["reward_constraint"]`.

    Args:
        env: a vector environment of vigym environments.
        weight: per metre or radian, >= 0.

    Raises:
        ValueError: a weight out of range.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], weight: float) -> None:
        RecordConstructorArgs.__init__(self, weight=weight)
        super().__init__(env, constraint_term(weight))
