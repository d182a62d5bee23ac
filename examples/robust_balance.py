"""Robustness of a controller on 64 double pendulums with random parameters, latency or impulses.

python examples/robust_balance.py
"""

from typing import Any

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.lqr import lqr

ID = "vigym/InvertedDoublePendulum-v0"
CASES: dict[str, dict[str, Any]] = {
    "nominal": {},
    "masses, lengths, motors within 20 %": {
        "randomization": dict.fromkeys(("mass", "length", "strength"), (0.8, 1.2))
    },
    "impulses of 0.05 N s twice a second": {"pushes": (0.05, 0.5)},
    "latency of 20 ms": {"action_latency": 1},
    "latency of 60 ms": {"action_latency": 3},
}


def main(environments: int = 64, steps: int = 500) -> dict[str, int]:
    """Balance all environments; print and return how many fall in each case."""
    env: Any = gym.make(ID).unwrapped
    task = env.task
    # for nominal parameters
    balance = lqr(env.mechanism, timestep=task.timestep, substeps=task.frame_skip)
    fallen = {}
    for name, options in CASES.items():
        envs = gym.make_vec(ID, environments, **options)
        observation, info = envs.reset(seed=0)
        down = np.zeros(environments, bool)
        for _ in range(steps):
            observation, _, terminated, _, info = envs.step(balance(observation, info))
            down |= terminated
        fallen[name] = int(down.sum())
        envs.close()
        print(f"{name}: {fallen[name]} of {environments} fell")
    return fallen


if __name__ == "__main__":
    main()
