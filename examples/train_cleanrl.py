"""PPO in one file on a vector environment, as CleanRL writes it.

python examples/train_cleanrl.py
"""

from typing import Any

import gymnasium as gym
import torch
from torch import Tensor, nn
from torch.distributions import Normal

import vigym

NAME = "vigym/Pendulum-v0"
ENVS, STEPS = 32, 128  # environments, and steps of each between two updates
EPOCHS, BATCH = 10, 512
GAMMA, LAMBDA = 0.99, 0.95
CLIP = 0.2


class Agent(nn.Module):
    """Policy and value of observations."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d, e, f = (nn.Linear(*size) for size in [(3, 64), (64, 64), (64, 1)] * 2)
        self.mean = nn.Sequential(a, nn.Tanh(), b, nn.Tanh(), c)
        self.value = nn.Sequential(d, nn.Tanh(), e, nn.Tanh(), f)
        self.spread = nn.Parameter(torch.zeros(1))

    def forward(self, observation: Tensor) -> tuple[Normal, Tensor]:
        """Return the distribution of actions (n, 1) and the values (n,)."""
        scaled = observation.float() / torch.tensor([1.0, 1.0, 8.0])
        return Normal(self.mean(scaled), self.spread.exp()), self.value(scaled).squeeze(-1)


@torch.no_grad()
def collect(agent: Agent, envs: Any, observation: Tensor) -> tuple[list[Tensor], Tensor]:
    """Step the environments; return what PPO learns from, and the next observation."""
    rows = []
    for _ in range(STEPS):
        policy, value = agent(observation)
        action = policy.sample()
        following, reward, terminated, truncated, infos = envs.step(action.numpy())
        last, over = torch.tensor(following), terminated | truncated
        for lane in over.nonzero()[0]:  # the last observation of an episode is its own
            last[lane] = torch.tensor(infos["final_obs"][lane])
        error = torch.tensor(reward) - value + GAMMA * agent(last)[1] * torch.tensor(~terminated)
        ahead = GAMMA * LAMBDA * torch.tensor(~over)
        rows.append((observation, action, policy.log_prob(action), value, error, ahead))
        observation = torch.tensor(following)
    *columns, errors, aheads = (torch.stack(column) for column in zip(*rows, strict=True))
    advantages = errors.float()
    for t in reversed(range(STEPS - 1)):
        advantages[t] += aheads[t] * advantages[t + 1]
    return [column.flatten(0, 1) for column in (*columns, advantages)], observation


def main(iterations: int = 40) -> float:
    """Train, print and return the mean return of ten episodes."""
    torch.manual_seed(0)
    envs = gym.make_vec(NAME, ENVS, reset_noise_scale=3.0, autoreset_mode="SameStep")
    agent, observation = Agent(), torch.tensor(envs.reset(seed=0)[0])
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    for _ in range(iterations):
        data, observation = collect(agent, envs, observation)
        for part in [p for _ in range(EPOCHS) for p in torch.randperm(STEPS * ENVS).split(BATCH)]:
            states, actions, old, values, advantages = (column[part] for column in data)
            policy, value = agent(states)
            gains = (advantages - advantages.mean()) / advantages.std()
            ratio = (policy.log_prob(actions) - old).exp().squeeze(-1)
            gain = torch.min(ratio * gains, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gains).mean()
            loss = 0.5 * ((value - values - advantages) ** 2).mean() - gain
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()

    def controller(observation, info):  # type: ignore[no-untyped-def]
        return agent(torch.tensor(observation))[0].mean.detach().numpy()

    controller.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    score = float(vigym.evaluate(NAME, controller, episodes=10, seed=1000).column("return_").mean())
    print(f"return {score:.1f} after {iterations} iterations")
    return score


if __name__ == "__main__":
    main()
