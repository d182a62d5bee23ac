"""How robust is a controller? 64 double pendulums, each with masses, lengths and motor of its own, late and struck.

python examples/robust_balance.py
"""

from typing import Any

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.lqr import lqr

ID = "vigym/InvertedDoublePendulum-v0"
CASES: dict[str, dict[str, Any]] = {
    "as built": {},
    "masses, lengths, motor off by up to 20 %": {
        "randomization": dict.fromkeys(("mass", "length", "strength"), (0.8, 1.2))
    },
    "struck with 0.05 N s twice a second": {"pushes": (0.05, 0.5)},
    "actions 20 ms late": {"action_latency": 1},
    "actions 60 ms late": {"action_latency": 3},
}


def main(environments: int = 64, steps: int = 500) -> dict[str, int]:
    """Balance all of them for some time; print and return how many fall in each case."""
    env: Any = gym.make(ID).unwrapped
    balance = lqr(env.mechanism, timestep=env.task.timestep, substeps=env.task.frame_skip)  # of the one as built
    fallen = {}
    for name, options in CASES.items():
        many = gym.make_vec(ID, environments, **options)
        observation, info = many.reset(seed=0)
        down = np.zeros(environments, bool)
        for _ in range(steps):
            observation, _, terminated, _, info = many.step(balance(observation, info))
            down |= terminated
        fallen[name] = int(down.sum())
        many.close()
        print(f"{name}: {fallen[name]} of {environments} fell")
    return fallen


if __name__ == "__main__":
    main()
