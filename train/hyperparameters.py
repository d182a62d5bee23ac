"""Hyper-parameters of the training scripts, one entry per environment."""

from dataclasses import dataclass, field, replace
from math import inf, pi
from typing import Any


@dataclass(frozen=True)
class Success:
    """When an episode succeeds.

    Attributes:
        quantity: of `info`.
        low: its least value over the last seconds and at the end.
        high: its largest value there.
        seconds: how long it has to be there.
        terminates: whether success itself ends an episode; elsewhere an early end is a failure.
        share: least part of that time in which it has to be there.
    """

    quantity: str
    low: float
    high: float
    seconds: float
    terminates: bool = False
    share: float = 1.0


@dataclass(frozen=True)
class Settings:
    """One training run.

    Attributes:
        timesteps: control steps in all.
        envs: environments stepped side by side.
        success: of an episode.
        learning_rate: at the start; it falls linearly to zero.
        training: options of the environment while training, to meet more than the starts of an evaluation.
        algorithm: what else the algorithm is given.
    """

    timesteps: int
    success: Success
    envs: int = 16
    learning_rate: float = 1e-3
    training: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] = field(default_factory=dict)


# Rollouts of 16 x 256 steps, few large batches: on one core the learner costs more than the environments.
_PPO = {
    "n_steps": 256,
    "batch_size": 512,
    "n_epochs": 10,
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "ent_coef": 0.0,
}
_WIDE = _PPO | {"n_steps": 64}  # as long rollouts from 64 environments: less time for more control steps

PPO = {
    "vigym/Pendulum-v0": Settings(
        timesteps=400_000,
        envs=64,
        success=Success("angle", -0.1, 0.1, seconds=5.0),
        training={"reset_noise_scale": pi},
        algorithm=_WIDE,
    ),
    "vigym/CartPole-v0": Settings(
        timesteps=500_000,
        success=Success("angle", -0.1, 0.1, seconds=5.0),
        learning_rate=5e-4,
        algorithm=_PPO,
    ),
    "vigym/InvertedDoublePendulum-v0": Settings(
        timesteps=600_000,
        envs=64,
        success=Success("tip_height", 0.9, inf, seconds=20.0),
        training={"reset_noise_scale": 0.3, "max_episode_steps": 300},
        algorithm=_WIDE,
    ),
    "vigym/Acrobot-v0": Settings(
        timesteps=500_000,
        success=Success("tip_height", 1.0, inf, seconds=0.0, terminates=True),
        algorithm=_PPO,
    ),
    "vigym/PendulumChain-v0": Settings(
        timesteps=400_000,
        success=Success("tip_height", 0.8, inf, seconds=5.0),
        algorithm=_PPO,
    ),
    # What is asked of these two lies at most tenths of a second ahead.
    "vigym/FourBar-v0": Settings(
        timesteps=600_000,
        success=Success("speed_error", -2.0, 2.0, seconds=4.0),
        training={"reset_noise_scale": pi},
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -1.0}},
    ),
    # In flight and just after landing: half a second tells what an action is worth.
    "vigym/MinitaurLeg-v0": Settings(
        timesteps=600_000,
        envs=64,
        success=Success("apex", 0.42, 0.48, seconds=4.0, share=0.6),
        algorithm=_WIDE | {"policy_kwargs": {"log_std_init": -0.7}},
    ),
    # 0.8 of what the scripted trot walks in ten seconds.
    "vigym/Minitaur-v0": Settings(
        timesteps=400_000,
        success=Success("x_position", 2.9, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # A snake that does not yet crawl pays for every motion: large motions at first, or it learns to lie still.
    "vigym/Snake-v0": Settings(
        timesteps=400_000,
        envs=64,
        success=Success("travelled", 8.0, inf, seconds=0.0),
        algorithm=_WIDE | {"policy_kwargs": {"log_std_init": 0.0}},
    ),
    "vigym/SnakeSidewinding-v0": Settings(
        timesteps=200_000,
        success=Success("travelled", 3.2, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": 0.0}},
    ),
}

# A gradient step for every four control steps: sixteen after each of the 64 environments' steps.
_SAC = {
    "buffer_size": 200_000,
    "learning_starts": 5_000,
    "batch_size": 256,
    "train_freq": 1,
    "gradient_steps": 16,
    "gamma": 0.99,
    "tau": 0.005,
}

SAC = {
    "vigym/Pendulum-v0": replace(PPO["vigym/Pendulum-v0"], timesteps=60_000, algorithm=_SAC),
}
