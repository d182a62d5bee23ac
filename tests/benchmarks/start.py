"""What it costs to begin and to call: import, first use with compilation, the cached start, resets, single steps.

    python tests/benchmarks/start.py                     # the cold start compiles into a folder of its own
    python tests/benchmarks/start.py --skip-cold

Starts are wall time of new processes, calls are CPU time of this thread. An environment step is `frame_skip` physics
steps, and the resets of ended episodes are part of it; Gymnasium's own InvertedDoublePendulum-v5 (MuJoCo) stands beside
ours where mujoco is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import gymnasium as gym
import numpy as np
from chain_models import vigym_chain
from timing import Cost, Job, interleaved, machine, table

import vigym

CHILD = """
import json, time
marks = {"": time.perf_counter()}
import vigym
marks["import vigym"] = time.perf_counter()
mech = vigym.Mechanism()
mech.add_body("rod", 1.0, (0.002, 0.084, 0.084), position=(0.5, 0, 0))
mech.add_joint("hinge", "revolute", "world", "rod", position=(0, 0, 0), axis=(0, 1, 0))
sim = vigym.Simulator(mech)
sim.reset(positions={"hinge": 0.3})
marks["Simulator and reset"] = time.perf_counter()
assert sim.step().converged
sim.energy()
marks["first step and energy"] = time.perf_counter()
at = list(marks.values())
print(json.dumps({name: b - a for name, a, b in zip(list(marks)[1:], at, at[1:])}))
"""
PENDULUMS = {"vigym": "vigym/InvertedDoublePendulum-v0", "gymnasium": "InvertedDoublePendulum-v5"}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-cold", action="store_true", help="do not compile from nothing")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--environments", type=int, default=64, help="of the vector environment")
    args = parser.parse_args()
    print(machine(), end="\n\n")
    print(_starts(args.repeats, args.skip_cold), end="\n\n", flush=True)
    print(_simulator(args.repeats), end="\n\n", flush=True)
    print(_environments(args.repeats, args.environments))


def _starts(repeats: int, skip_cold: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        where = dict(os.environ) if skip_cold else {**os.environ, "VIGYM_CACHE_DIR": folder}
        first = _start(where)
        later = [_start(where) for _ in range(repeats)]
    head = "first start" if skip_cold else "compiling"
    rows = [[k, f"{first[k]:.2f}", f"{statistics.median(one[k] for one in later):.2f}"] for k in first]
    return table("new process, wall time [s]", ["", head, "cached: median"], rows)


def _start(environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", CHILD], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    parts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**parts, "all": sum(parts.values())}


def _simulator(repeats: int) -> str:
    rows = []
    for links in (2, 10):
        sim = vigym.Simulator(vigym_chain(links, "hinge"), timestep=0.01)
        calls = {
            "reset": sim.reset,
            "step": sim.step,
            "step and energy": lambda s=sim: (s.step(), s.energy()),
            "step and metrics": lambda s=sim: (s.step(), s.metrics()),
        }
        jobs = [Job(sim.reset, lambda call=call: [call() for _ in range(100)], 100) for call in calls.values()]
        costs = interleaved(jobs, repeats)
        rows += [[name, str(links), _microseconds(cost)] for name, cost in zip(calls, costs, strict=True)]
    return table("one Simulator, called from Python", ["call", "hinges", "us: min (median)"], rows)


def _environments(repeats: int, many: int) -> str:
    rows = []
    for owner, name in PENDULUMS.items():
        try:
            envs = gym.make(name), gym.make_vec(name, num_envs=many)
        except gym.error.DependencyNotInstalled as missing:
            print(f"{name} left out: {missing}")
            continue
        costs = interleaved([_resets(envs[0]), _steps(envs[0]), _vector_steps(envs[1], many)], repeats)
        for what, cost in zip(("reset", "step", f"make_vec({many}) step"), costs, strict=True):
            rows.append([f"{owner} {what}", _microseconds(cost), f"{1e-3 / cost.best:.1f}"])
    title = "InvertedDoublePendulum through Gymnasium, random actions, per environment step"
    return table(title, ["", "us: min (median)", "thousand/s"], rows)


def _microseconds(cost: Cost) -> str:
    return f"{cost.best * 1e6:.1f} ({cost.median * 1e6:.1f})"


def _resets(env: gym.Env) -> Job:
    return Job(lambda: env.reset(seed=0), lambda: [env.reset() for _ in range(50)], 50)


def _steps(env: gym.Env) -> Job:
    actions = _actions(env.action_space, 500)

    def run() -> None:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return Job(lambda: env.reset(seed=0), run, len(actions))


def _vector_steps(envs: gym.vector.VectorEnv, many: int) -> Job:
    actions = _actions(envs.action_space, 50)
    return Job(lambda: envs.reset(seed=0), lambda: [envs.step(action) for action in actions], many * len(actions))


def _actions(space: gym.Space, count: int) -> list[np.ndarray]:
    space.seed(0)
    return [space.sample() for _ in range(count)]


if __name__ == "__main__":
    main()
