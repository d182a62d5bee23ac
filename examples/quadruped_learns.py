"""Quadruped that learns to walk in a hundred episodes by random search around its best gait so far.

python examples/quadruped_learns.py 3         # seeds
"""

import sys

from vigym.training.search import Search, search_parameters

SHOWN = 20  # episodes between two numbers of a row


def main(seeds: int = 3, episodes: int = 100) -> list[float]:
    """Print the way of the best gait so far as a search goes on; return the last of every seed."""
    found = []
    for seed in range(seeds):
        search = Search(
            env_id="vigym/Quadruped-v1",
            controller="sine_gait",
            measure="distance",
            episodes=episodes,
            seed=seed,
        )
        candidates = search_parameters(search)
        ways = [
            max(candidates[: count + 1], key=lambda one: one.merit).score
            for count in range(len(candidates))
        ]
        unsolved = sum(one.episode.unconverged_steps for one in candidates)
        row = " ".join(f"{way:5.1f}" for way in [*ways[:-1:SHOWN], ways[-1]])
        print(f"seed {seed}: {row} m in 10 s, {unsolved} steps unsolved")
        found.append(ways[-1])
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
