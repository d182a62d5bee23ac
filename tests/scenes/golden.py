"""Golden trajectories: what every registered environment does with one seed and random actions.

An id promises its motion, rewards and observations. What changes them gets a new id (v1), but for
ids that no release has had: `PYTHONPATH=tests python -m scenes.golden ID ...` writes those anew.
"""

import json
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np

from scenes.env_cases import CASES, NEEDED
from vigym.envs.registry import EARLIER

FILE = Path(__file__).resolve().parents[1] / "envs" / "golden.json"
OPTIONS = dict(reversed(CASES))  # of several cases of an id the first
OPTIONS |= {entry.id: NEEDED.get(entry.id.replace("v0", "v1"), {}) for entry in EARLIER}
STEPS = 10


def trajectory(name, count=STEPS, **options):
    """Return first and last observation and the rewards of a few steps."""
    env = gym.make(name, **OPTIONS[name], **options)
    first, _ = env.reset(seed=0)
    moves = np.random.default_rng(0).uniform(-1.0, 1.0, (STEPS, *env.action_space.shape))
    steps = [env.step(move.astype(np.float32)) for move in moves[:count]]
    env.close()
    found = {"first": first, "last": steps[-1][0], "rewards": [step[1] for step in steps]}
    return {key: [float(f"{value:.12g}") for value in values] for key, values in found.items()}


def main(names):
    """Write the trajectories of some ids anew, and those of new ids."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    kept = {name: known[name] for name in OPTIONS if name in known and name not in names}
    found = kept | {name: trajectory(name) for name in OPTIONS if name not in kept}
    rows = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
