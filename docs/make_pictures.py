"""Moving pictures of the pages, most of trained policies, by `vigym record`.

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


def camera(
    distance: float, x: float = 0.0, y: float = 0.0, z: float = 0.0, **angles: float
) -> tuple[str, str]:
    """Return the option of a camera that rests: so does the floor, which makes small files."""
    view = {"target": (x, y, z), "distance": distance, "azimuth": -1.3, "elevation": 0.4}
    return "-o", f"camera={view | angles}"


# name: arguments of `vigym record` beside the policy that comes with vigym
ARGUMENTS = {
    "Pendulum-v0": ("--seconds", "8"),
    "CartPole-v0": (*camera(4.5), "--seconds", "6"),
    "InvertedDoublePendulum-v0": ("--seconds", "3"),
    "Acrobot-v0": ("--seconds", "4"),
    "PendulumChain-v0": ("--seconds", "4"),
    "FourBar-v0": ("--seconds", "2.4"),
    "MinitaurLeg-v0": ("--seconds", "4"),
    "Minitaur-v0": (*camera(2.6, x=1.0, z=0.15), "--seconds", "1.2"),
    "Quadruped-v1": (*camera(4.0, x=1.4, z=0.2), "--seconds", "1.2"),
    "QuadrupedCommand-v1": (
        *("-o", "command=(0.5,0.0,0.8)"),
        *(*camera(2.2, x=0.3, y=0.5, z=0.2), "--seconds", "3"),
    ),
    "Exoskeleton-v0": (*camera(1.8, x=0.1, z=-0.2), "--seconds", "3"),
    "Snake-v0": (*camera(3.0, x=1.2), "--seconds", "3"),
    "SnakeSidewinding-v0": (*camera(4.0, x=-0.4, y=1.4, azimuth=0.2), "--seconds", "3"),
    "InvertedPendulum-v0": (*camera(3.0, z=0.2), "--seconds", "3"),
    "StandardDoublePendulum-v0": (*camera(4.0, z=0.5), "--seconds", "3"),
    "Reacher-v0": (*camera(0.9, elevation=1.2), "--seconds", "1"),
    "HalfCheetah-v0": (*camera(6.5, x=2.0, z=0.4), "--seconds", "1.5"),
    "Hopper-v0": (*camera(5.5, x=1.5, z=0.7), "--seconds", "1.2"),
    "Walker2d-v0": (*camera(5.5, x=1.5, z=0.7), "--seconds", "1.5"),
    "Ant-v0": (*camera(9.0, x=2.5, z=0.3), "--seconds", "1.5"),
    "Humanoid-v0": (*camera(4.5, x=0.6, z=0.8), "--seconds", "1.6"),
    "Delta-v0": (*camera(3.2, z=-0.55, azimuth=-1.0), "--seconds", "1.8"),
    "Stewart-v0": (*camera(4.6, z=0.9, elevation=0.3), "--seconds", "1.6"),
    "Excavator-v0": (*camera(17.0, x=3.0, z=1.5, azimuth=-1.2, elevation=0.25), "--seconds", "2"),
    "Jansen-v0": (*camera(5.0, x=0.4, z=0.6), "--seconds", "1.1"),
    "Engine-v0": (*camera(3.2, z=0.65, elevation=0.2), "--seconds", "1.9"),
    "Gripper-v0": (*camera(1.15, z=0.26, azimuth=-0.2, elevation=0.2), "--seconds", "4"),
    "WheelLeg-v0": (*camera(3.2, x=0.85, z=0.25), "--seconds", "2.4"),
    "BennettQuadruped-v0": (
        *("-o", "command=(0.4,0.3,0.0)"),
        *(*camera(2.2, x=0.4, y=0.3, z=0.15, azimuth=-0.9), "--seconds", "2"),
    ),
    "Cassie-v0": (
        *("-o", "period=3.0"),
        *(*camera(2.9, z=0.5, azimuth=-0.9, elevation=0.2), "--seconds", "2.2"),
    ),
    "CassieWalk-v0": (
        *("-o", "speed=0.6"),
        *(*camera(3.6, x=0.6, z=0.5, elevation=0.2), "--seconds", "2.5"),
    ),
    "Biped-v0": (
        *("-o", "speed=0.6"),
        *(*camera(2.4, x=0.6, z=0.35, azimuth=-1.2, elevation=0.2), "--seconds", "2"),
    ),
    "Robot-v0": (
        *("-c", "zero", "-o", f"robot={path('quadruped')}"),
        *(*camera(1.7, x=0.1, z=0.15), "--seconds", "1.2"),
    ),
    "Urdf-v0": (
        *("-c", "random", "-o", f"urdf={path('minitaur')}"),
        *(*camera(1.7, x=0.1, z=0.15), "--seconds", "1.9"),
    ),
}
# other pictures: their environment and arguments
BEHIND = {"azimuth": -2.3, "elevation": 0.25}  # where steps and slopes are seen
OTHERS = {
    "quadruped_on_steps": (
        "QuadrupedCommand-v1",
        ("-o", "command=(0.6,0.0,0.0)", "-o", "terrain=steps"),
        (*camera(3.0, x=0.7, z=0.2, **BEHIND), "--seconds", "3.6"),
    ),
    "minitaur_on_a_slope": (
        "Minitaur-v0",
        ("-o", "terrain=slope"),
        (*camera(3.6, x=0.9, z=0.2, **BEHIND), "--seconds", "1.6"),
    ),
}


def main(names: list[str]) -> int:
    """Record some pictures, all without names; return the exit code."""
    known = [entry.id.removeprefix("vigym/") for entry in ENVIRONMENTS]
    for name in names or [*known, *OTHERS]:
        file = FOLDER / f"{name}.webp"
        env, *parts = OTHERS.get(name) or (name, ARGUMENTS[name])
        given = [argument for part in parts for argument in part]
        policy = () if "-c" in given else ("-c", "trained")
        arguments = [*policy, *given, *SIZE, "--video", str(file), "--overwrite"]
        code = run(["record", f"vigym/{env}", *arguments])
        if code:
            return code
        print(f"{file.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
