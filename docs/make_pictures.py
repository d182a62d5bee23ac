"""Moving pictures of the environments' pages, by `vigym record`.

python docs/make_pictures.py                # all of them
python docs/make_pictures.py Snake-v0       # some
"""

import sys
from pathlib import Path

from vigym.assets import path
from vigym.cli.app import run
from vigym.envs.registry import ENVIRONMENTS

FOLDER = Path(__file__).parent / "pictures"
SIZE = ("-o", "width=320", "-o", "height=240")
# name: arguments of `vigym record`; others are moved by random actions
ARGUMENTS = {
    "Pendulum-v0": ("-c", "energy_swing_up", "--seconds", "8"),
    "InvertedDoublePendulum-v0": ("-c", "lqr", "--seconds", "3"),
    "Acrobot-v0": ("-c", "energy_swing_up", "--seconds", "8"),
    "MinitaurLeg-v0": ("-c", "hop", "--seconds", "4"),
    "Minitaur-v0": ("-c", "trot", "--seconds", "3"),
    "Snake-v0": ("-c", "lateral_undulation", "--seconds", "4"),
    "SnakeSidewinding-v0": ("-c", "sidewinding", "--seconds", "5"),
    "Urdf-v0": ("-c", "random", "-o", f"urdf={path('minitaur')}", "--seconds", "3"),
}
OTHERS = ("-c", "random", "--seconds", "4")


def main(names: list[str]) -> int:
    """Record the pictures of some environments, of all without names; return the exit code."""
    known = [entry.id.removeprefix("vigym/") for entry in ENVIRONMENTS]
    for name in names or known:
        file = FOLDER / f"{name}.webp"
        arguments = ARGUMENTS.get(name, OTHERS)
        code = run(["record", f"vigym/{name}", *arguments, *SIZE, "--video", str(file), "--overwrite"])
        if code:
            return code
        print(f"{file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
