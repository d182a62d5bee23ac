"""Controllers by name: what suits which environment. `make` is given the role and the named parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.control import energy_swing_up, hop, lqr, minitaur_gaits, pd, serpenoid, skating
from vigym.control.energy_swing_up import EnergySwingUp
from vigym.control.serpenoid import lateral_undulation
from vigym.envs.tasks import snake, snake_sidewinding
from vigym.evaluation.episodes import Array
from vigym.evaluation.policies import Controller, Role, free

MINITAUR, LEG = "vigym/Minitaur-v0", "vigym/MinitaurLeg-v0"
PENDULUM, ACROBOT, BALANCED = "vigym/Pendulum-v0", "vigym/Acrobot-v0", "vigym/InvertedDoublePendulum-v0"
TORQUES = (PENDULUM, "vigym/CartPole-v0", BALANCED, ACROBOT, "vigym/PendulumChain-v0", "vigym/FourBar-v0")
SNAKE, SIDEWINDER = "vigym/Snake-v0", "vigym/SnakeSidewinding-v0"


@dataclass(frozen=True)
class Named:
    """A controller that has a name.

    Attributes:
        name: as it is asked for.
        make: what makes it for a role, of parameters by name.
        parameters: the names of these.
        says: what it does, in a few words.
        ids: of the environments it drives; none: any.
    """

    name: str
    make: Callable[..., Controller]
    parameters: list[str] | None
    says: str
    ids: tuple[str, ...] = ()


class Random:
    """Uniform actions, a stream of its own for each episode: the yardstick of doing anything."""

    def __init__(self, role: Role) -> None:
        self._streams = [np.random.default_rng(seed) for seed in role.seeds]
        self._actions = role.actions

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return actions (n, n_actions) in [-1, 1]."""
        return np.array([stream.uniform(-1.0, 1.0, self._actions) for stream in self._streams])


class Zero:
    """Actions of zero: the yardstick of doing nothing."""

    def __init__(self, role: Role) -> None:
        self._actions = role.actions

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return zeros (n, n_actions)."""
        return np.zeros((len(observation), self._actions))


def _hop(role: Role, **parameters: float) -> Controller:
    return hop.Hop(**parameters)


def _gait(make: Callable[..., minitaur_gaits.Gait], says: str) -> Named:
    free_ones = free(minitaur_gaits.Gait, but="phases")  # which make the gait
    return Named(make.__name__, lambda role, **parameters: make(**parameters), free_ones, says, (MINITAUR,))


def _undulation(role: Role, **parameters: float) -> Controller:
    return lateral_undulation(role.actions, snake.REACH, **parameters)


def _skating(role: Role, **parameters: float) -> Controller:
    return skating.Skating(snake.REACH, snake.LENGTH, stage(role).dt, **parameters)


def _on_ground(gait: Callable[..., serpenoid.Serpenoid], says: str) -> Named:
    def make(role: Role, **parameters: float) -> Controller:
        return gait(role.actions, snake_sidewinding.REACH, **parameters)

    return Named(gait.__name__, make, free(gait), says, (SIDEWINDER,))


def _pd(role: Role, **parameters: Any) -> Controller:
    return pd.pd(stage(role).mechanism, **parameters)


def _lqr(role: Role, positions: Mapping[str, float] | None = None, **parameters: Any) -> lqr.Lqr:
    task = stage(role).task
    steps = {"timestep": task.timestep, "substeps": task.frame_skip}
    return lqr.lqr(stage(role).mechanism, positions, **{**steps, **parameters})


def _swing_up(role: Role, **parameters: Any) -> Controller:
    """Up to standing still where the motor can, past it where only its reaction swings the upper rod."""
    mechanism = stage(role).mechanism
    upright = {mechanism.position_names[0]: np.pi}
    energy = energy_swing_up.resting_energy(mechanism, upright)
    if role.id == ACROBOT:
        settings: dict[str, Any] = {"energy": energy + 5.0, "swing": mechanism.velocity_names[0], "push": -3.0}
    else:
        settings = {"energy": energy, "balance": _lqr(role, upright, position_cost=10.0, velocity_cost=1.0)}
    return energy_swing_up.energy_swing_up(mechanism, **{**settings, **parameters})


def stage(role: Role) -> Any:
    """Return the environment itself, without wrappers."""
    return role.env.unwrapped


NAMED = {
    entry.name: entry
    for entry in (
        Named("zero", Zero, free(Zero), "no action"),
        Named("random", Random, free(Random), "uniform actions"),
        Named("pd", _pd, free(pd.Pd), "actuated joints to a target", TORQUES),
        Named("lqr", _lqr, free(lqr.Lqr), "linear-quadratic, about upright", (BALANCED,)),
        Named("energy_swing_up", _swing_up, free(EnergySwingUp), "energy in, then balance", (PENDULUM, ACROBOT)),
        Named("hop", _hop, free(hop.Hop), "stretch while the hop is too low", (LEG,)),
        _gait(minitaur_gaits.trot, "diagonal legs together"),
        _gait(minitaur_gaits.bound, "front legs, then back legs"),
        _gait(minitaur_gaits.pronk, "four legs together"),
        Named("lateral_undulation", _undulation, free(lateral_undulation), "waves from head to tail", (SNAKE,)),
        Named("skating", _skating, free(skating.Skating), "the head leads; made for skates=True", (SNAKE,)),
        _on_ground(serpenoid.sidewinding, "waves sideways and upwards"),
        _on_ground(serpenoid.rolling, "an arc that rolls on its side"),
        _on_ground(serpenoid.linear_progression, "waves upwards alone"),
    )
}
