"""What `vigym evaluate` tells of scripted gaits, beside their own benchmarks and their MuJoCo twins, in one run.

    python tests/benchmarks/evaluation.py              # needs `pip install 'vigym[bench]'`
    python tests/benchmarks/evaluation.py --gaits trot

An evaluation plays whole episodes of an environment: starts with noise, gaits that grow, speed
along the task's way. The benchmarks (snake.py, minitaur.py) leave out the start, take shorter steps
and note every one; speed there is that of the centre of mass whatever its way, the Minitaur's along
its heading. Targets are held for a control step of the environment in all of them. MuJoCo has the
same bodies, motors and ground: a planar snake with equal loads on all its points, the others with
the stiffest contacts and loops with which they work.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from minitaur_contenders import Setting, robot, stiffest, vigym_trot
from snake import (
    FINE,
    MODULES,
    STIFF,
    STIFFER,
    TIMESTEP,
    Crawl,
    in_mujoco,
    in_vigym,
    planar,
    undulation,
)
from snake_models import mujoco_snake, mujoco_suspended

import vigym
from vigym.control.minitaur_gaits import bound, pronk, trot
from vigym.control.serpenoid import sidewinding
from vigym.envs.tasks import snake_sidewinding
from vigym.envs.tasks.snake import Snake
from vigym.evaluation.speed.timing import machine, table

EPISODES = 5
HOLD = Snake.timestep * Snake.frame_skip  # of both snakes [s]
GAITS = {"trot": trot(), "bound": bound(), "pronk": pronk()}
WALK = {"timestep": 0.002, "seconds": 10.0}


class Figures(NamedTuple):
    """Speed [m/s], power [W] and cost of transport."""

    speed: float
    power: float
    cost: float


Row = tuple[
    Figures, Figures, Figures
]  # as evaluated, as the benchmark has it in vigym, and in MuJoCo


def evaluated(env_id: str, gait: str) -> Figures:
    """Means over the episodes."""
    column = vigym.evaluate(env_id, gait, EPISODES).column
    return Figures(
        *(float(column(name).mean()) for name in ("speed", "power", "cost_of_transport"))
    )


def undulating() -> Row:
    """The planar snake of vigym/Snake-v0."""
    mech = planar((Snake.friction_along, Snake.friction_across))
    twin = in_mujoco(mujoco_suspended(mech, FINE, STIFFER), undulation(), hold=HOLD)
    found = evaluated("vigym/Snake-v0", "lateral_undulation")
    return found, _crawled(mech, in_vigym(mech, undulation(), hold=HOLD)), _crawled(mech, twin)


def sidewinding_too() -> Row:
    """The snake of alternating axes of vigym/SnakeSidewinding-v0."""
    mech = snake_sidewinding.SnakeSidewinding(links=MODULES).mechanism()
    gait = sidewinding(MODULES - 1, snake_sidewinding.ACTION_SCALE)
    twin = in_mujoco(mujoco_snake(mech, TIMESTEP, STIFF), gait, hold=HOLD)
    found = evaluated("vigym/SnakeSidewinding-v0", "sidewinding")
    return found, _crawled(mech, in_vigym(mech, gait, hold=HOLD)), _crawled(mech, twin)


def _crawled(mech: vigym.Mechanism, crawl: Crawl) -> Figures:
    return Figures(crawl.speed, crawl.power, crawl.cost_of_transport(mech))


def walking(name: str) -> Callable[[], Row]:
    """A gait of the Minitaur of vigym/Minitaur-v0."""

    def row() -> Row:
        setting = Setting(gait=GAITS[name], **WALK)
        ours, twin = (run.watch() for run in (vigym_trot(setting), stiffest(setting, "elliptic")))
        weight = 9.81 * sum(body.mass for body in robot().bodies.values())
        figures = (
            Figures(walk.speed, walk.power, walk.power / (weight * abs(walk.speed)))
            for walk in (ours, twin)
        )
        return evaluated("vigym/Minitaur-v0", name), *figures

    return row


ROWS = {
    "lateral_undulation": undulating,
    "sidewinding": sidewinding_too,
    **{name: walking(name) for name in GAITS},
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gaits", nargs="+", choices=ROWS, default=list(ROWS))
    print(machine())
    lines = []
    for name in parser.parse_args().gaits:
        row = ROWS[name]()
        for kind, label in enumerate(("speed [m/s]", "power [W]", "cost of transport")):
            found, ours, twin = (figures[kind] for figures in row)
            values = [f"{value:.3g}" for value in (found, ours, twin)]
            lines.append(
                [
                    name if kind == 0 else "",
                    label,
                    *values,
                    f"{found / twin:.2f}",
                    f"{ours / twin:.2f}",
                ]
            )
    head = [
        "gait",
        "",
        "evaluated",
        "benchmark",
        "MuJoCo",
        "evaluated / MuJoCo",
        "benchmark / MuJoCo",
    ]
    print(table(f"means of {EPISODES} episodes, and of the benchmarks", head, lines))


if __name__ == "__main__":
    main()
