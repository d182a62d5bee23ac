"""Time of the first step of every environment in a new process, and which kernels compile for it.

    python tests/benchmarks/first_steps.py

Kernels that compile are kept in an empty folder. Ends with an error where there are any: installed from a wheel with
kernels, nothing compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium as gym

import vigym
from vigym.evaluation.speed.timing import machine, table

PROGRAM = """
import json, sys, time
begin = time.perf_counter()
import gymnasium as gym
import vigym
make, env_id, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
env = getattr(gym, make)(env_id, **options)
env.reset(seed=0)
env.step(env.action_space.sample())
print(time.perf_counter() - begin)
"""
ROBOT = "vigym/Robot-v0"


def cases() -> list[tuple[str, str, dict[str, object]]]:
    """Return what is made: every id alone and four of it, and robots from files."""
    ids = sorted(name for name in gym.registry if name.startswith("vigym/"))
    made = [(make, name, {}) for name in ids for make in ("make", "make_vec")]
    made = [
        (make, name, given) for make, name, given in made if "Urdf" not in name and name != ROBOT
    ]
    robots = [
        ("make", ROBOT, {"robot": str(vigym.assets.path(name))}) for name in vigym.assets.names()
    ]
    return [
        (make, name, given | ({"num_envs": 4} if make == "make_vec" else {}))
        for make, name, given in made + robots
    ]


def main() -> int:
    """Print the table; return 1 if something compiled."""
    rows, before = [], 0
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "VIGYM_CACHE_DIR": folder}
        for make, name, given in cases():
            command = [sys.executable, "-c", PROGRAM, make, name, json.dumps(given)]
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=variables
            )
            stored = len([*Path(folder).rglob("*.nbc")])
            what = Path(str(given["robot"])).name if "robot" in given else name
            environments = "4" if make == "make_vec" else "1"
            rows.append([what, environments, f"{float(done.stdout):.2f}", str(stored - before)])
            before = stored
    print(machine(), end="\n\n")
    print(table("first step, new process", ["", "environments", "seconds", "compiled"], rows))
    return int(before > 0)


if __name__ == "__main__":
    sys.exit(main())
