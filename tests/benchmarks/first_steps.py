"""Time of the first step of every environment in a new process, and how many functions compile for it.

    python tests/benchmarks/first_steps.py

Ends with an error where something compiles: installed from a wheel with kernels, nothing does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import gymnasium as gym

import vigym
from vigym.evaluation.speed.timing import machine, table

PROGRAM = """
import json, sys, time
begin = time.perf_counter()
import gymnasium as gym
import vigym
from numba.core import event
make, env_id, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with event.install_recorder("numba:compile") as compiled:
    env = getattr(gym, make)(env_id, **options)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    seconds = time.perf_counter() - begin
names = [e.data["dispatcher"].py_func.__name__ for _, e in compiled.buffer if e.is_start]
print(json.dumps([seconds, names]))
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
    rows, compiled = [], 0
    for make, name, given in cases():
        command = [sys.executable, "-c", PROGRAM, make, name, json.dumps(given)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        seconds, functions = json.loads(done.stdout.splitlines()[-1])
        compiled += len(functions)
        said = f"{len(functions)}, first {functions[0]}" if functions else "nothing"
        environments = "4" if make == "make_vec" else "1"
        what = Path(str(given["robot"])).name if "robot" in given else name
        rows.append([what, environments, f"{seconds:.2f}", said])
    print(machine(), end="\n\n")
    print(table("first step, new process", ["", "environments", "seconds", "compiled"], rows))
    return int(compiled > 0)


if __name__ == "__main__":
    sys.exit(main())
