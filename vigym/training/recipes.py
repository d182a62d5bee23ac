"""Recipes of training: hyperparameters of each environment and algorithm, and default ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from math import inf, pi
from typing import Any


@dataclass(frozen=True)
class Success:
    """Condition of a successful episode: a quantity is in its range at the end.

    Attributes:
        quantity: key of `info`.
        low: lower end of the range.
        high: upper end of the range.
        seconds: length of the checked time at the end of the episode [s].
        terminates: whether success itself ends an episode; else an early end is a failure.
        share: least share of the checked time in which the quantity has to be in its range.
    """

    quantity: str
    low: float
    high: float
    seconds: float
    terminates: bool = False
    share: float = 1.0


@dataclass(frozen=True)
class Recipe:
    """Recipe of a training run; names of hyperparameters are those of rl_zoo3.

    Attributes:
        n_timesteps: number of control steps.
        success: condition of a successful episode; None: the environment's reward threshold.
        n_envs: number of environments in the vector environment.
        learning_rate: a number, or "lin_" before one that decreases linearly to zero.
        normalize: whether observations and rewards are normalised.
        policy: class of the policy; "auto": the one for the observations.
        training: options of the environment in training, for wider starts than in evaluation.
        algorithm: other arguments of the algorithm.
    """

    n_timesteps: int
    success: Success | None = None
    n_envs: int = 64
    learning_rate: float | str = "lin_1e-3"
    normalize: bool = True
    policy: str = "auto"
    training: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] = field(default_factory=dict)

    def with_hyperparameters(self, values: Mapping[str, Any]) -> "Recipe":
        """Return the recipe with other hyperparameters: fields of it, or of the algorithm."""
        own = {name: value for name, value in values.items() if name in HYPERPARAMETERS}
        others = {name: value for name, value in values.items() if name not in own}
        return replace(self, **own, algorithm=self.algorithm | others)


# fields of a recipe that are hyperparameters
HYPERPARAMETERS = [
    each.name for each in fields(Recipe) if each.name not in ("success", "training", "algorithm")
]

# Rollouts of 64 x 64 steps, few large batches: on one core the learner takes most of the time.
_PPO = {
    "n_steps": 64,
    "batch_size": 512,
    "n_epochs": 10,
    "gamma": 0.99,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "ent_coef": 0.0,
}

PPO = {
    "vigym/Pendulum-v0": Recipe(
        n_timesteps=400_000,
        success=Success("angle", -0.1, 0.1, seconds=5.0),
        training={"reset_noise_scale": pi},
        algorithm=_PPO,
    ),
    # Rollouts of 64 steps have ended in swinging, without a balance.
    "vigym/CartPole-v0": Recipe(
        n_timesteps=500_000,
        n_envs=16,
        success=Success("angle", -0.1, 0.1, seconds=5.0),
        learning_rate="lin_5e-4",
        algorithm=_PPO | {"n_steps": 256},
    ),
    "vigym/InvertedDoublePendulum-v0": Recipe(
        n_timesteps=600_000,
        success=Success("tip_height", 0.9, inf, seconds=20.0),
        training={"reset_noise_scale": 0.3, "max_episode_steps": 300},
        algorithm=_PPO,
    ),
    "vigym/Acrobot-v0": Recipe(
        n_timesteps=500_000,
        success=Success("tip_height", 1.0, inf, seconds=0.0, terminates=True),
        algorithm=_PPO,
    ),
    "vigym/PendulumChain-v0": Recipe(
        n_timesteps=400_000,
        success=Success("tip_height", 0.8, inf, seconds=5.0),
        algorithm=_PPO,
    ),
    # Rewards of an action follow within tenths of a second.
    "vigym/FourBar-v0": Recipe(
        n_timesteps=600_000,
        success=Success("speed_error", -2.0, 2.0, seconds=4.0),
        training={"reset_noise_scale": pi},
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Rewards of an action follow within half a second.
    "vigym/MinitaurLeg-v0": Recipe(
        n_timesteps=600_000,
        success=Success("apex", 0.42, 0.48, seconds=4.0, share=0.6),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -0.7}},
    ),
    # Success is 0.8 of the distance of the scripted trot in ten seconds.
    "vigym/Minitaur-v0": Recipe(
        n_timesteps=400_000,
        success=Success("x_position", 2.9, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is the 12 m in ten seconds that a search of six parameters reaches.
    "vigym/Quadruped-v1": Recipe(
        n_timesteps=1_000_000,
        success=Success("x_position", 12.0, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is a velocity within 0.2 m/s of the command for most of the time.
    "vigym/QuadrupedCommand-v1": Recipe(
        n_timesteps=800_000,
        success=Success("reward_velocity", 0.41, inf, seconds=8.0, share=0.8),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is an elbow within 0.1 rad of its course for most of the time.
    # Small initial exploration: torques above the limit cost more than tracking brings.
    "vigym/Exoskeleton-v0": Recipe(
        n_timesteps=600_000,
        success=Success("elbow_error", -0.1, 0.1, seconds=7.0, share=0.9),
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -2.0}},
    ),
    # Large initial exploration: else a snake that does not crawl yet learns to save power at rest.
    "vigym/Snake-v0": Recipe(
        n_timesteps=400_000,
        success=Success("travelled", 8.0, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": 0.0}},
    ),
    "vigym/SnakeSidewinding-v0": Recipe(
        n_timesteps=400_000,
        success=Success("travelled", 3.2, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": 0.0}},
    ),
    # With the default recipe it falls after 145 steps, here as in MuJoCo.
    "vigym/Hopper-v0": Recipe(
        n_timesteps=300_000,
        n_envs=8,
        success=Success("z_distance_from_origin", -0.55, inf, seconds=8.0),
        learning_rate="lin_3e-4",
        algorithm=_PPO | {"n_steps": 256, "batch_size": 64, "policy_kwargs": {"log_std_init": 0.0}},
    ),
    # Success is 0.8 m/s without a fall. With a rate of 1e-3 the robot falls in all of the training.
    "vigym/Humanoid-v0": Recipe(
        n_timesteps=3_000_000,
        success=Success("x_position", 12.0, inf, seconds=0.0),
        learning_rate="lin_3e-4",
        algorithm=_PPO | {"batch_size": 1024, "policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Rewards of an action follow within tenths of a second.
    "vigym/Reacher-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("distance", 0.0, 0.03, seconds=0.2),
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is 0.8 of the way at the desired speed.
    "vigym/Jansen-v0": Recipe(
        n_timesteps=150_000,
        success=Success("x_position", 3.84, inf, seconds=0.0),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is a gripper within 2 cm of its place.
    "vigym/Delta-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("error", 0.0, 0.2, seconds=1.0, share=0.9),
        training={"power_weight": 0.0},
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -2.0}},
    ),
    # At first random actions cost twenty times the power that tracking is worth.
    "vigym/Stewart-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("error", 0.0, 0.5, seconds=7.0, share=0.9),
        training={"power_weight": 0.0},
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -2.0}},
    ),
    "vigym/Excavator-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("error", 0.0, 0.5, seconds=8.0, share=0.8),
        training={"power_weight": 0.0},
        algorithm=_PPO | {"gamma": 0.9, "policy_kwargs": {"log_std_init": -2.0}},
    ),
    # Success is a velocity within 0.25 m/s of the command for most of the time.
    "vigym/WheelLeg-v0": Recipe(
        n_timesteps=1_500_000,
        success=Success("reward_velocity", 0.56, inf, seconds=8.0, share=0.8),
        learning_rate="lin_3e-4",
        algorithm=_PPO | {"gamma": 0.95, "policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is a velocity within 0.2 m/s of the command for most of the time.
    "vigym/BennettQuadruped-v0": Recipe(
        n_timesteps=800_000,
        success=Success("reward_velocity", 0.41, inf, seconds=8.0, share=0.8),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is a height within 2 cm of the command for most of the time.
    "vigym/Cassie-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("reward_height", 0.4, inf, seconds=7.0, share=0.9),
        training={"energy_weight": 0.0},
        algorithm=_PPO | {"gamma": 0.95, "policy_kwargs": {"log_std_init": -2.0}},
    ),
    # Success is a speed within 0.25 m/s of the command for most of the time.
    "vigym/CassieWalk-v0": Recipe(
        n_timesteps=2_000_000,
        success=Success("reward_velocity", 0.31, inf, seconds=8.0, share=0.8),
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is 10 s without a fall. Without `slip_weight` the robot drags a foot.
    "vigym/Biped-v0": Recipe(
        n_timesteps=1_500_000,
        success=Success("upright", 0.8, inf, seconds=0.0),
        training={"slip_weight": 1.0},
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    # Success is a speed within 1 rad/s of the command.
    # Rewards of an action follow within tenths of a second.
    "vigym/Engine-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("speed_error", -1.0, 1.0, seconds=6.0),
        learning_rate="lin_3e-4",
        training={"power_weight": 0.0},
        algorithm=_PPO | {"gamma": 0.95, "policy_kwargs": {"log_std_init": 0.0}},
    ),
    # Success is a ball within 1.5 cm of its place for most of the time.
    # Exploration that lasts for a third of a second: independent noise hardly lifts the ball.
    "vigym/Gripper-v0": Recipe(
        n_timesteps=1_000_000,
        success=Success("error", 0.0, 0.3, seconds=3.0, share=0.9),
        algorithm=_PPO
        | {
            "gamma": 0.95,
            "use_sde": True,
            "sde_sample_freq": 16,
            "policy_kwargs": {"log_std_init": -1.0},
        },
    ),
}
# of earlier versions, with smaller steps
PPO |= {
    "vigym/Quadruped-v0": replace(PPO["vigym/Quadruped-v1"], n_timesteps=600_000),
    "vigym/QuadrupedCommand-v0": PPO["vigym/QuadrupedCommand-v1"],
}

# One gradient step per four control steps: 16 after each step of the 64 environments.
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
    "vigym/Pendulum-v0": replace(PPO["vigym/Pendulum-v0"], n_timesteps=60_000, algorithm=_SAC),
}

RECIPES: dict[str, dict[str, Recipe]] = {"ppo": PPO, "sac": SAC}
# of all other environments: small first actions, which a robot survives
DEFAULTS = {
    "ppo": Recipe(
        n_timesteps=500_000,
        algorithm=_PPO | {"policy_kwargs": {"log_std_init": -1.0}},
    ),
    "sac": Recipe(n_timesteps=200_000, learning_rate="lin_5e-4", algorithm=_SAC),
}


def recipe_of(env_id: str, algo: str) -> Recipe:
    """Return the recipe of an environment and an algorithm: its own, or the default one.

    Without one of its own for the algorithm the condition of success is that of the other one.
    """
    if env_id in RECIPES[algo]:
        return RECIPES[algo][env_id]
    others = [table[env_id] for table in RECIPES.values() if env_id in table]
    if not others:
        return DEFAULTS[algo]
    return replace(DEFAULTS[algo], success=others[0].success, training=others[0].training)
