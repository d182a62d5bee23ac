"""Moving pictures of the environments' pages, by `vigym record`.

python docs/make_pictures.py                # all of them
python docs/make_pictures.py Snake-v0       # some
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vigym.assets import path
from vigym.cli.app import run
from vigym.envs.registry import ENVIRONMENTS

FOLDER = Path(__file__).parent / "pictures"
SIZE = ("-o", "width=320", "-o", "height=240")
OTHERS = ("-c", "random", "--seconds", "4")


def camera(distance: float, x: float = 0.0, z: float = 0.0) -> tuple[str, str]:
    """Return the option of a camera that rests: so does the floor, which makes small files."""
    view = {"target": (x, 0.0, z), "distance": distance, "azimuth": -1.3, "elevation": 0.4}
    return "-o", f"camera={view}"


def rock(observation: Any, info: Mapping[str, Any]) -> Any:
    """Push a cart to and fro."""
    return np.array([0.4 * np.cos(4.0 * info["time"])])


def turn(observation: Any, info: Mapping[str, Any]) -> Any:
    """Turn a crank at about the speed that is asked for."""
    error = info["command"] - info["crank_speed"]
    return np.clip([0.2 * error + 0.03 * info["command"]], -1.0, 1.0)


# name: arguments of `vigym record`; OTHERS without an entry
ARGUMENTS = {
    "Pendulum-v0": ("-c", "energy_swing_up", "--seconds", "8"),
    "CartPole-v0": ("-c", "make_pictures:rock", *camera(4.5), "--seconds", "4"),
    "InvertedDoublePendulum-v0": ("-c", "lqr", "--seconds", "3"),
    "Acrobot-v0": ("-c", "energy_swing_up", "--seconds", "8"),
    "FourBar-v0": ("-c", "make_pictures:turn", "--seconds", "2.4"),
    "MinitaurLeg-v0": ("-c", "hop", "--seconds", "4"),
    "Minitaur-v0": ("-c", "trot", *camera(1.8, x=0.32, z=0.15), "--seconds", "2.2"),
    "Quadruped-v0": ("-c", "sine_gait", *camera(1.9, x=0.35, z=0.2), "--seconds", "2.2"),
    "QuadrupedCommand-v0": (
        *("-c", "sine_gait,hip_swing=0.2", "-o", "command=(0.7,0,0)"),
        *(*camera(1.9, x=0.35, z=0.2), "--seconds", "2.2"),
    ),
    "Exoskeleton-v0": ("-c", "tracking", *camera(1.8, x=0.1, z=-0.2), "--seconds", "2.6"),
    "Snake-v0": ("-c", "lateral_undulation", *camera(2.3, x=0.05), "--seconds", "3"),
    "SnakeSidewinding-v0": ("-c", "sidewinding", *camera(2.1, x=-0.3), "--seconds", "4"),
    "Urdf-v0": (
        *("-c", "random", "-o", f"urdf={path('minitaur')}"),
        *(*camera(1.7, x=0.1, z=0.15), "--seconds", "1.9"),
    ),
}


def main(names: list[str]) -> int:
    """Record the pictures of some environments, of all without names; return the exit code."""
    known = [entry.id.removeprefix("vigym/") for entry in ENVIRONMENTS]
    for name in names or known:
        file = FOLDER / f"{name}.webp"
        arguments = [*ARGUMENTS.get(name, OTHERS), *SIZE, "--video", str(file), "--overwrite"]
        code = run(["record", f"vigym/{name}", *arguments])
        if code:
            return code
        print(f"{file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
