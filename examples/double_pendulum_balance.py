"""Balance two poles on a cart: a linear-quadratic regulator by the derivative of the simulator's own step.

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
    balance = lqr(env.mechanism, timestep=task.timestep, substeps=task.frame_skip)  # upright is the assembly pose
    many = gym.make_vec("vigym/InvertedDoublePendulum-v0", num_envs=episodes)
    observation, info = many.reset(seed=0)
    returns, fallen = np.zeros(episodes), np.zeros(episodes, bool)
    for _ in range(1000):
        observation, reward, terminated, truncated, info = many.step(balance(observation, info))
        returns, fallen = returns + reward, fallen | terminated
    many.close()
    print("gain [N, per rad, m and their rates]", balance.gain.round(0))
    print(f"{episodes} episodes of 20 s: {fallen.sum()} fell, returns {returns.min():.1f} to {returns.max():.1f}")
    print(f"cart within {np.abs(info['cart_position']).max():.1e} m of the middle in the end")
    return {"fallen": int(fallen.sum()), "worst": float(returns.min())}


if __name__ == "__main__":
    main()
