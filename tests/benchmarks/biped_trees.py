"""Loss of policies that are trained on the tree of `vigym/Biped-v0` and played on the robot with loops.

    vigym train vigym/Biped-v0 --seed 0 --out runs/closed-0
    vigym train vigym/Biped-v0 -o tree=True --seed 0 --out runs/tree-0
    python tests/benchmarks/biped_trees.py runs    # needs `pip install 'vigym[train]' scipy`
    python tests/benchmarks/biped_trees.py runs --strength 0.3

Plays the best policy of each run on the robot, those of the tree on the tree, too, over the same episodes.
Prints the means of each run as a Markdown table. Below are the means over the runs, with 95 % intervals
(BCa bootstrap) of three and more. The last row is robot minus tree of the tree's policies, run by run.
"""

import argparse
from pathlib import Path

import gymnasium as gym
import numpy as np
from scipy.stats import bootstrap

import vigym  # noqa: F401  registers the environments
from vigym.evaluation.policies import load_model

EPISODES, STEPS = 100, 500
SEED = 1_000_000  # of the first episode, which training never plays
HEADS = ("return", "length", "without a fall", "speed [m/s]", "power [W]")
MOTORS = {"robot": ("outer_crank", "inner_crank"), "tree": ("ankle_pitch", "ankle_roll")}


def play(run: Path, place: str, strength: float) -> list[float]:
    """Return the means of `HEADS` over the episodes of a policy on the robot or on the tree."""
    names = [f"{side}_{motor}" for side in ("left", "right") for motor in MOTORS[place]]
    weaker = {"strength": dict.fromkeys(names, (strength, strength))}
    options = {"tree": place == "tree", "randomization": weaker if strength != 1.0 else None}
    keys = ["forward_velocity", "power"]
    envs = gym.make_vec(
        "vigym/Biped-v0", EPISODES, autoreset_mode="SameStep", info_keys=keys, **options
    )
    policy = load_model(run / "best" / "model.zip", gym.make("vigym/Biped-v0", **options))
    observation, info = envs.reset(seed=SEED)
    going, sums = np.ones(EPISODES, dtype=np.bool_), np.zeros((4, EPISODES))
    for _ in range(STEPS):
        action = policy(observation, info).clip(-1.0, 1.0)
        observation, reward, terminated, truncated, info = envs.step(action)
        gained = (reward, np.ones(EPISODES), *(info[key] for key in keys))
        sums[:, going] += np.array(gained)[:, going]
        going &= ~(terminated | truncated)
    returns, lengths, *others = sums
    speed, power = (each / lengths for each in others)
    return [float(each.mean()) for each in (returns, lengths, lengths == STEPS, speed, power)]


def interval(values: np.ndarray) -> str:
    """Return the mean of values (n,), and its 95 % interval for three and more that differ."""
    text = f"{values.mean():.3g}"
    if len(values) < 3 or np.ptp(values) == 0.0:
        return text
    low, high = bootstrap((values,), np.mean, rng=0).confidence_interval
    return f"{text} ({low:.3g} to {high:.3g})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, help="folder of the runs closed-SEED and tree-SEED")
    parser.add_argument("--strength", type=float, default=1.0, help="of the motors of the ankles")
    arguments = parser.parse_args()
    print("| trained on | played on |", " | ".join(HEADS), f"|\n{'|---' * (2 + len(HEADS))}|")
    found = {}
    for kind, place in (("tree", "tree"), ("tree", "robot"), ("closed", "robot")):
        rows = found[kind, place] = []
        for results in sorted(arguments.runs.glob(f"{kind}-*/results.json")):
            rows.append(play(results.parent, place, arguments.strength))
            print(f"| {results.parent.name} | {place} |", end=" ")
            print(" | ".join(f"{value:.3g}" for value in rows[-1]), "|", flush=True)
    tables = {f"{kind} | {place}": np.array(rows) for (kind, place), rows in found.items() if rows}
    tables["tree | robot - tree"] = tables["tree | robot"] - tables["tree | tree"]
    for pair, table in tables.items():
        print(f"| {pair} |", " | ".join(map(interval, table.T)), "|")


if __name__ == "__main__":
    main()
