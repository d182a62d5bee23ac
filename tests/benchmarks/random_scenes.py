"""Random scenes of contact: steps that are not solved, iterations, and energy from nothing.

    python tests/benchmarks/random_scenes.py                       # 20 scenes of each kind
    python tests/benchmarks/random_scenes.py --kinds legs walker --first 100 --count 200

Sizes, mass ratios, friction and steps are those of `tests/scenes/random_scenes.py`. A gain is by how
much the energy exceeds those of the last four knots, in weights times size; scenes with motors have
none. A scene ends with its first step that is not solved; its seed is printed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scenes.random_scenes import KINDS, random_scene  # noqa: E402
from vigym.evaluation.speed.timing import machine, table  # noqa: E402

STEPS, SLOW = 150, 1000  # of a scene; iterations of a slow step
READ = 4  # knots of an impact, whose energies are read with the mean of two velocities


def play(kind: str, seed: int) -> tuple[list[int], float, bool]:
    """Play a scene; returns the iterations of its steps, its largest gain, and whether all were solved."""
    scene, h = random_scene(kind, seed)
    sim = scene.simulator(h)
    energies, iterations = [sim.energy().total], []
    gain = 0.0
    for k in range(STEPS):
        status = scene.step(sim, k)
        iterations.append(int(status.iterations))
        if not status.converged:
            return iterations, gain, False
        energies.append(sim.energy().total)
        if scene.targets is None:
            more = energies[-1] - max(energies[-1 - READ : -1])
            gain = max(gain, more / (scene.weight * scene.size))
    return iterations, gain, True


def measure(kind: str, seeds: range) -> list[str]:
    """One row of the table."""
    played = {seed: play(kind, seed) for seed in seeds}
    iterations = np.concatenate([taken for taken, _, _ in played.values()])
    gains = np.array([gain for _, gain, _ in played.values()])
    unsolved = [seed for seed, (_, _, solved) in played.items() if not solved]
    slow = sum(max(taken) > SLOW for taken, _, _ in played.values())
    row = [len(seeds), len(unsolved), slow, f"{iterations.mean():.2f}"]
    row += [round(np.percentile(iterations, 99)), iterations.max()]
    row += [(gains > 0.01).sum(), f"{gains.max():.1e}", " ".join(map(str, unsolved))]
    return [kind, *map(str, row)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=20, help="number of scenes of each kind")
    given = parser.parse_args()
    print(machine())
    seeds = range(given.first, given.first + given.count)
    heads = ["kind", "scenes", "unsolved", f"with > {SLOW}", "iterations", "p99", "most"]
    heads += ["gains > 1 %", "largest gain", "unsolved seeds"]
    title = f"{STEPS} steps of each scene"
    print(table(title, heads, [measure(kind, seeds) for kind in given.kinds]))


if __name__ == "__main__":
    main()
