"""Start-up time of a new process: import, compilation, first step."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

Row = dict[str, Any]
SCRIPT = """
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


def time_startup(repeats: int = 5, cold: bool = False) -> list[Row]:
    """Time the start of new processes that step a pendulum once.

    Args:
        repeats: number of processes with compiled kernels.
        cold: whether to time a process without compiled kernels first: half a minute.

    Returns:
        Rows of the stages and of their sum: stage, seconds (median), compiling_seconds (None unless
        cold).
    """
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "VIGYM_CACHE_DIR": folder} if cold else dict(os.environ)
        first = _run(variables)
        later = [_run(variables) for _ in range(repeats)]
    return [
        {
            "stage": name,
            "seconds": statistics.median(one[name] for one in later),
            "compiling_seconds": seconds if cold else None,
        }
        for name, seconds in first.items()
    ]


def _run(variables: dict[str, str]) -> dict[str, float]:
    """Run the script in a new process; return the time of its stages [s]."""
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    stages: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**stages, "all": sum(stages.values())}
