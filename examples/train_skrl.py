"""Training of PPO of skrl, and the score of its policy.

pip install skrl
python examples/train_skrl.py
"""

from typing import Any

import gymnasium as gym
import torch
from skrl.agents.torch.base import ExperimentCfg
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
from torch import nn

import vigym

NAME = "vigym/Pendulum-v0"
STEPS = 128  # of every environment between two updates


class Value(DeterministicMixin, Model):  # type: ignore[misc]
    """Value of observations."""

    def __init__(self, envs: Any) -> None:
        Model.__init__(
            self, observation_space=envs.observation_space, action_space=envs.action_space
        )
        DeterministicMixin.__init__(self)
        layers = (nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.net = nn.Sequential(*layers)

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, Any]:
        """Return the values (n, 1)."""
        return self.net(inputs["observations"] / torch.tensor([1.0, 1.0, 8.0])), {}


class Policy(GaussianMixin, Value):  # type: ignore[misc]
    """Distribution of actions; its mean is a network like that of the value."""

    def __init__(self, envs: Any) -> None:
        Value.__init__(self, envs)
        GaussianMixin.__init__(self)
        self.spread = nn.Parameter(torch.zeros(1))

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, Any]:
        """Return the mean (n, 1) and the logarithm of the standard deviation."""
        return Value.compute(self, inputs)[0], {"log_std": self.spread}


def main(iterations: int = 40) -> float:
    """Train, print and return the mean return of ten episodes."""
    torch.manual_seed(0)
    vector = gym.make_vec(NAME, num_envs=32, reset_noise_scale=3.0, autoreset_mode="SameStep")
    envs = wrap_env(vector, verbose=False)
    agent = PPO(
        models={"policy": Policy(envs), "value": Value(envs)},
        memory=RandomMemory(memory_size=STEPS, num_envs=envs.num_envs),
        observation_space=envs.observation_space,
        action_space=envs.action_space,
        cfg=PPO_CFG(
            rollouts=STEPS,
            learning_epochs=10,
            mini_batches=8,
            value_clip=0.0,
            time_limit_bootstrap=True,
            experiment=ExperimentCfg(write_interval=0, checkpoint_interval=0),  # no files
        ),
    )
    settings: dict[str, Any] = {"timesteps": STEPS * iterations, "headless": True}
    settings["close_environment_at_exit"] = False
    SequentialTrainer(env=envs, agents=agent, cfg=settings).train()

    def controller(observation, info):  # type: ignore[no-untyped-def]
        inputs = {"observations": torch.as_tensor(observation, dtype=torch.float32)}
        return agent.policy.act(inputs)[1]["mean_actions"].detach().numpy()

    controller.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    score = float(vigym.evaluate(NAME, controller, episodes=10, seed=1000).column("return_").mean())
    print(f"return {score:.1f} after {iterations} iterations")
    return score


if __name__ == "__main__":
    main()
