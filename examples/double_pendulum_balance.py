"""Balance of two poles on a cart by a linear-quadratic regulator of the simulator's own step.

python examples/double_pendulum_balance.py
"""

from typing import Any

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.lqr import lqr


def main(episodes: int = 10) -> dict[str, float]:
    """Play episodes side by side; print and return how they end."""
    env: Any = gym.make("vigym/InvertedDoublePendulum-v0").unwrapped
    task = env.task
    # the assembly pose is upright
    balance = lqr(env.mechanism, timestep=task.timestep, substeps=task.frame_skip)
    envs = gym.make_vec("vigym/InvertedDoublePendulum-v0", num_envs=episodes)
    observation, info = envs.reset(seed=0)
    returns, fallen = np.zeros(episodes), np.zeros(episodes, bool)
    for _ in range(1000):
        observation, reward, terminated, truncated, info = envs.step(balance(observation, info))
        returns, fallen = returns + reward, fallen | terminated
    envs.close()
    print("gain [N, per rad, m and their rates]", balance.gain.round(0))
    print(f"{episodes} episodes of 20 s: {fallen.sum()} fell")
    print(f"returns {returns.min():.1f} to {returns.max():.1f}")
    print(f"final cart positions within {np.abs(info['cart_position']).max():.1e} m of the middle")
    return {"fallen": int(fallen.sum()), "worst": float(returns.min())}


if __name__ == "__main__":
    main()
