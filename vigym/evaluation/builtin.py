"""Built-in controllers by name, with the environments they drive."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from vigym.control import (
    energy_swing_up,
    hop,
    lqr,
    minitaur_gaits,
    pd,
    quadruped_gaits,
    serpenoid,
    skating,
    tracking,
)
from vigym.control.energy_swing_up import EnergySwingUp
from vigym.control.kinematics.biped import Squat
from vigym.control.kinematics.cassie import Stand
from vigym.control.kinematics.delta import delta_angles
from vigym.control.kinematics.engine import Governor
from vigym.control.kinematics.excavator import cylinder_strokes
from vigym.control.kinematics.gripper import holding_positions
from vigym.control.kinematics.inverse import Inverse
from vigym.control.kinematics.steady import Steady
from vigym.control.kinematics.stewart import stewart_strokes
from vigym.control.kinematics.wheel_leg import Balance
from vigym.control.serpenoid import lateral_undulation
from vigym.envs.robots.actuation import effort_limits
from vigym.envs.tasks import snake, snake_sidewinding
from vigym.envs.zoo.follower import Follower
from vigym.evaluation.environments import task_env
from vigym.evaluation.episodes import Array
from vigym.evaluation.policies import Context, Controller, load_trained, settable_parameters
from vigym.policies.shipped import shipped_ids

MINITAUR, LEG = "vigym/Minitaur-v0", "vigym/MinitaurLeg-v0"
QUADRUPEDS = (
    *("vigym/Quadruped-v1", "vigym/QuadrupedCommand-v1"),
    *("vigym/Quadruped-v0", "vigym/QuadrupedCommand-v0"),
)
EXOSKELETON = "vigym/Exoskeleton-v0"
PENDULUM, ACROBOT = "vigym/Pendulum-v0", "vigym/Acrobot-v0"
CARTPOLE, DOUBLE_PENDULUM = "vigym/CartPole-v0", "vigym/InvertedDoublePendulum-v0"
CHAIN, FOUR_BAR = "vigym/PendulumChain-v0", "vigym/FourBar-v0"
SNAKE, SIDEWINDER = "vigym/Snake-v0", "vigym/SnakeSidewinding-v0"
# inverse kinematics of robots of the zoo
INVERSE = {
    "vigym/Delta-v0": delta_angles,
    "vigym/Stewart-v0": stewart_strokes,
    "vigym/Excavator-v0": cylinder_strokes,
    "vigym/Gripper-v0": holding_positions,
}
# gains over the efforts of the joints, which have dampers of their own [1/rad, s/rad]
CHAIN_KP, CHAIN_KD = 3.0, 0.04
TORQUE_DRIVEN = (PENDULUM, CARTPOLE, DOUBLE_PENDULUM, ACROBOT, CHAIN, FOUR_BAR)


@dataclass(frozen=True)
class BuiltinController:
    """Controller with a name.

    Attributes:
        name: unique name.
        make: factory of a context and of parameters by name.
        parameters: names of these; None: any name.
        summary: behaviour in a few words.
        ids: of the environments it drives; empty: any.
    """

    name: str
    make: Callable[..., Controller]
    parameters: list[str] | None
    summary: str
    ids: tuple[str, ...] = ()


class Random:
    """Uniform random actions, with a random stream for each episode: a baseline."""

    def __init__(self, context: Context) -> None:
        self._streams = [np.random.default_rng(seed) for seed in context.seeds]
        self._actions = context.action_count

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return actions (n, n_actions) in [-1, 1]."""
        return np.array([stream.uniform(-1.0, 1.0, self._actions) for stream in self._streams])


class Zero:
    """Zero actions: a baseline."""

    def __init__(self, context: Context) -> None:
        self._actions = context.action_count

    def __call__(self, observation: Array, info: Mapping[str, Any]) -> Array:
        """Return zeros (n, n_actions)."""
        return np.zeros((len(observation), self._actions))


def _hop(context: Context, **parameters: float) -> Controller:
    return hop.Hop(**parameters)


def _gait(make: Callable[..., minitaur_gaits.Gait], summary: str) -> BuiltinController:
    parameters = settable_parameters(minitaur_gaits.Gait, but="phases")  # they define the gait

    def factory(context: Context, **values: float) -> Controller:
        return make(**values)

    return BuiltinController(make.__name__, factory, parameters, summary, (MINITAUR,))


def _sine_gait(context: Context, **parameters: float) -> Controller:
    return quadruped_gaits.SineGait(**parameters)


def _tracking(context: Context, **parameters: float) -> Controller:
    return tracking.Tracking(**parameters)


def _inverse(context: Context, **parameters: float) -> Controller:
    """Return the controller, ahead by the lag of the motors and half a control step."""
    env = task_env(context.env)
    low, high = cast(Follower, env.task).motor_range
    lag = max(motor.kd / motor.kp for motor in env.mechanism.motors.values())
    settings = {"lead": lag + 0.5 * env.dt, **parameters}
    return Inverse(kinematics=INVERSE[context.id], low=low, high=high, **settings)


def _steady(context: Context, **parameters: float) -> Controller:
    return Steady(**parameters)


def _governor(context: Context, **parameters: float) -> Controller:
    return Governor(**parameters)


def _balance(context: Context, **parameters: float) -> Controller:
    return Balance(**parameters)


def _stand(context: Context, **parameters: float) -> Controller:
    return Stand(**parameters)


def _squat(context: Context, **parameters: float) -> Controller:
    return Squat(**parameters)


def _undulation(context: Context, **parameters: float) -> Controller:
    return lateral_undulation(context.action_count, snake.ACTION_SCALE, **parameters)


def _skating(context: Context, **parameters: float) -> Controller:
    dt = task_env(context.env).dt
    return skating.Skating(snake.ACTION_SCALE, snake.LENGTH, dt, **parameters)


def _crawl(make: Callable[..., serpenoid.Serpenoid], summary: str) -> BuiltinController:
    def factory(context: Context, **values: float) -> Controller:
        return make(context.action_count, snake_sidewinding.ACTION_SCALE, **values)

    parameters = settable_parameters(make)
    return BuiltinController(make.__name__, factory, parameters, summary, (SIDEWINDER,))


def _pd(context: Context, **parameters: Any) -> Controller:
    """Return the controller; the chain's light rods and long steps ask for gains of their own."""
    mechanism = task_env(context.env).mechanism
    settings: dict[str, Any] = {}
    if context.id == CHAIN:
        efforts = effort_limits(mechanism)
        settings = {"kp": CHAIN_KP * efforts, "kd": CHAIN_KD * efforts}
    return pd.pd(mechanism, **{**settings, **parameters})


def _lqr(
    context: Context, positions: Mapping[str, float] | None = None, **parameters: Any
) -> lqr.Lqr:
    env = task_env(context.env)
    steps = {"timestep": env.task.timestep, "substeps": env.task.frame_skip}
    return lqr.lqr(env.mechanism, positions, **{**steps, **parameters})


def _swing_up(context: Context, **parameters: Any) -> Controller:
    """Swing up to rest upright where the motor can balance, past upright for the acrobot."""
    mechanism = task_env(context.env).mechanism
    upright = {mechanism.position_names[0]: np.pi}
    energy = energy_swing_up.resting_energy(mechanism, upright)
    settings: dict[str, Any] = {"energy": energy}
    if context.id == ACROBOT:
        swing = mechanism.velocity_names[0]
        settings = {"energy": energy + 5.0, "swing": swing, "push": -3.0}
    else:
        settings["balance"] = _lqr(context, upright, position_cost=10.0, velocity_cost=1.0)
    return energy_swing_up.energy_swing_up(mechanism, **{**settings, **parameters})


def _trained(context: Context) -> Controller:
    return load_trained(context.id, context.env)


def _entry(
    name: str, make: Callable[..., Controller], source: Any, summary: str, *ids: str
) -> BuiltinController:
    """Return a controller with the settable parameters of `source`."""
    return BuiltinController(name, make, settable_parameters(source), summary, ids)


BUILTIN = {
    entry.name: entry
    for entry in (
        _entry("zero", Zero, Zero, "no action"),
        _entry("random", Random, Random, "uniform random actions"),
        _entry("lqr", _lqr, lqr.Lqr, "linear-quadratic, about upright", DOUBLE_PENDULUM),
        _entry(
            "energy_swing_up",
            _swing_up,
            EnergySwingUp,
            "pump energy, then balance",
            PENDULUM,
            ACROBOT,
        ),
        _entry("hop", _hop, hop.Hop, "stretch while the hop is too low", LEG),
        _gait(minitaur_gaits.trot, "diagonal legs together"),
        _gait(minitaur_gaits.bound, "front legs, then back legs"),
        _gait(minitaur_gaits.pronk, "four legs together"),
        _entry(
            "sine_gait",
            _sine_gait,
            quadruped_gaits.SineGait,
            "trot of sines, searched by train/search.py",
            *QUADRUPEDS,
        ),
        _entry("tracking", _tracking, tracking.Tracking, "gains on angles and rates", EXOSKELETON),
        BuiltinController(
            "inverse", _inverse, ["lead"], "follow by inverse kinematics", tuple(INVERSE)
        ),
        _entry("steady", _steady, Steady, "turn the crank steadily", "vigym/Jansen-v0"),
        _entry("governor", _governor, Governor, "force by the lever", "vigym/Engine-v0"),
        _entry("stand", _stand, Stand, "stand and squat", "vigym/Cassie-v0"),
        _entry("squat", _squat, Squat, "squat on both feet", "vigym/Biped-v0"),
        _entry("balance", _balance, Balance, "balance on the wheels", "vigym/WheelLeg-v0"),
        _entry(
            "lateral_undulation", _undulation, lateral_undulation, "waves from head to tail", SNAKE
        ),
        _entry("skating", _skating, skating.Skating, "links follow the head, skates=True", SNAKE),
        _crawl(serpenoid.sidewinding, "waves sideways and upwards"),
        _crawl(serpenoid.rolling, "an arc that rolls on its side"),
        _crawl(serpenoid.linear_progression, "waves upwards alone"),
        BuiltinController(
            "trained", _trained, [], "the trained policy of the package", tuple(shipped_ids())
        ),
        _entry("pd", _pd, pd.Pd, "hold a pose", *TORQUE_DRIVEN),
    )
}
