"""Snakes under random held targets: vigym beside MuJoCo on the same robots and ground, in one run.

    python tests/benchmarks/held_targets.py              # all; needs `pip install 'vigym[bench]'`
    python tests/benchmarks/held_targets.py --scenes Snake --tables step

The snakes of vigym/Snake-v0 and vigym/SnakeSidewinding-v0, from rest; every 40 ms, the control step
of these environments, each motor gets another random target. MuJoCo has the same bodies, hinges,
position motors and friction, and contacts as stiff as it takes them, a time constant of two steps.
Its joints have no largest rate, those of SnakeSidewinding-v0 have: 3.5 rad/s. "Sidewinding, rates"
moves MuJoCo's targets at this rate, "Sidewinding" lets them jump, whereupon MuJoCo's snakes leap,
and "Sidewinding, no rates" is that of both without a largest rate.

A run is sound where every step converged (vigym) or was made without a warning (MuJoCo), no robot
flew off, nothing sank in by more than 1 cm, few steps were halved, and the mean kinetic energy is
within 30 % of the same engine's at 0.5 ms; `!` marks others. Of its settings (Euler, implicitfast;
elliptic, pyramidal cones; Newton and PGS until they converge, CG and PGS with 5 iterations) MuJoCo
has the fastest sound one, and the fastest of those that solve what vigym solves (elliptic, until
they converge). All steps of a run are one call in MuJoCo (its C loop, mujoco.rollout); vigym is
called once in 40 ms. CPU time of the one thread that works, engines in turn within each repeat, the
best counts.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache

from held_contenders import SCENES, Motion, Scene, Setting, fastest, mujoco_held, vigym_held
from snake_models import PRECISE

from vigym.evaluation.speed.timing import interleaved, machine, table

FINE = 5e-4  # step of the references [s]
TIMESTEP = 0.002  # of the first table [s]
STEPS = (0.002, 0.004, 0.005, 0.008, 0.01, 0.02)  # that divide a control step [s]
MANY = 64
ROBOTS = (1, MANY)
ENGINES = ("vigym", "MuJoCo, solved", "MuJoCo, fastest")
SAME = 0.3  # of the kinetic energy; motions further from the reference's are others
DEEP = 0.01  # [m]


@dataclass(frozen=True)
class Result:
    """An engine with a snake at a step: how it goes, and what it costs.

    Attributes:
        motion: of many robots.
        sound: whether it is a simulation of this snake.
        costs: CPU time of a step of one robot, by the number of robots [s].
        name: of the engine's settings.
    """

    motion: Motion
    sound: bool
    costs: list[float]
    name: str

    @property
    def mark(self) -> str:
        return "" if self.sound else "!"


@cache
def reference(engine: str, scene: Scene, seconds: float) -> float:
    """Mean kinetic energy at a short step [J]."""
    setting = Setting(scene, FINE, MANY, seconds)
    contender = vigym_held(setting) if engine == "vigym" else mujoco_held(setting, PRECISE)
    return contender.watch().energy


def sound(engine: str, scene: Scene, seconds: float, motion: Motion) -> bool:
    """Whether a motion is one of this snake."""
    energy = reference(engine, scene, seconds)
    same = abs(motion.energy - energy) <= SAME * energy
    return motion.fine and motion.depth <= DEEP and same


@cache
def measure(scene: Scene, timestep: float, seconds: float, repeats: int) -> list[Result]:
    """All engines at a step."""
    settings = [Setting(scene, timestep, robots, seconds) for robots in ROBOTS]
    options = fastest(settings[-1], lambda motion: sound("MuJoCo", scene, seconds, motion))
    runs = [[vigym_held(setting) for setting in settings]]
    runs += [[mujoco_held(setting, each) for setting in settings] for each in options]
    costs = iter(interleaved([each.job for pair in runs for each in pair], repeats))
    results = []
    for engine, pair in zip(ENGINES, runs, strict=True):
        motion = pair[-1].watch()
        good = sound(engine.partition(",")[0], scene, seconds, motion)
        results.append(Result(motion, good, [next(costs).best for _ in pair], pair[0].name))
    return results


def of_a_step(args: argparse.Namespace) -> str:
    """Table of the cost of a step."""
    rows = []
    for scene in args.scenes:
        found = measure(scene, TIMESTEP, args.seconds, args.repeats)
        for engine, one in zip(ENGINES, found, strict=True):
            ratios = [b / a for a, b in zip(found[0].costs, one.costs, strict=True)]
            costs = [f"{1e6 * cost:.1f}{one.mark}" for cost in one.costs]
            figures = [*costs, *(f"{ratio:.2f}" for ratio in ratios), *_motion(one)]
            rows.append([scene.name, engine, *figures, one.name])
    title = f"CPU time of a step of {1e3 * TIMESTEP:g} ms of one robot [us], alone and among {MANY}"
    title += "; that over vigym's"
    numbers = [str(number) for number in ROBOTS]
    head = ["snake", "", *numbers, *(f"over vigym, {number}" for number in numbers)]
    return table(title, [*head, *MOTION, "settings"], rows)


MOTION = ("iterations", "kinetic energy [J]", "depth [m]")


def _motion(result: Result) -> list[str]:
    motion = result.motion
    return [f"{motion.iterations:.2f}", f"{motion.energy:.3f}", f"{motion.depth:.0e}"]


def of_a_second(args: argparse.Namespace) -> str:
    """Table of the cost of a simulated second by step."""
    rows = []
    for scene in args.scenes:
        for k, engine in enumerate(ENGINES):
            for timestep in STEPS:
                one = measure(scene, timestep, args.seconds, args.repeats)[k]
                costs = [f"{1e3 * cost / timestep:.2f}{one.mark}" for cost in one.costs]
                figures = [*costs, *_motion(one), one.name]
                rows.append([scene.name, engine, f"{1e3 * timestep:g}", *figures])
    title = f"CPU time of a simulated second of one robot [ms], alone and among {MANY}"
    return table(title, ["snake", "", "step [ms]", *map(str, ROBOTS), *MOTION, "settings"], rows)


def at_the_largest_step(args: argparse.Namespace) -> str:
    """Table of the cost of a simulated second at the largest sound step of each engine."""
    rows = []
    for scene in args.scenes:
        steps = {h: measure(scene, h, args.seconds, args.repeats) for h in STEPS}
        for k, engine in enumerate(ENGINES):
            able = {h: found[k] for h, found in steps.items() if found[k].sound}
            if not able:
                rows.append([scene.name, engine, "none", *[""] * 4])
                continue
            largest = max(able)
            costs = [
                {h: 1e3 * one.costs[n] / h for h, one in able.items()} for n in range(len(ROBOTS))
            ]
            figures = [f"{each[largest]:.2f}" for each in costs]
            figures += [f"{min(each.values()):.2f}" for each in costs]
            rows.append([scene.name, engine, f"{1e3 * largest:g}", *figures])
    title = f"CPU time of a simulated second of one robot [ms], alone and among {MANY}:"
    title += " at the largest sound step, and at the cheapest"
    head = ["snake", "", "step [ms]", *map(str, ROBOTS), *(f"least, {each}" for each in ROBOTS)]
    return table(title, head, rows)


TABLES = {"step": of_a_step, "second": of_a_second, "largest": at_the_largest_step}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = {scene.name: scene for scene in SCENES}
    parser.add_argument("--scenes", nargs="+", choices=names, default=list(names))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run [s]")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    args.scenes = [names[name] for name in args.scenes]
    print(machine())
    for name in args.tables:
        print("\n" + TABLES[name](args), flush=True)


if __name__ == "__main__":
    main()
