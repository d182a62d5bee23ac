"""Robots with loops: gaps and times of vigym and of MuJoCo, and returns of controllers, as a Markdown table.

    python tests/benchmarks/zoo.py                 # needs `pip install 'vigym[bench,train]'`
    python tests/benchmarks/zoo.py --ids vigym/Delta-v0 --episodes 5

The environment plays an episode of random actions, each held for five control steps. vigym and MuJoCo
play its torques and targets again, from the same start and without velocity limits of motors, which
MuJoCo lacks; MuJoCo on what the mechanism writes as MJCF.
"gap" is the largest of a loop at any step [m, rad], "balance" the largest error of the energy
balance as a part of the largest kinetic energy, "iterations" those of Newton's method in a step.
MuJoCo has implicitfast, its Newton solver and the environment's step, or a smaller part where it
warns. It is shown with its default softness, and with the time constant of loops and contacts whose
gap is smallest: one step with its check off, or 2 to 20 steps. "tight" is its time for a step of
vigym's, in parts that are halved until the gap is at most 1e-4; a dash where 64 are too few. Times
are processor time of a physics step on one thread, the best of the repeats, all in turn; each
control step is one call from Python. Returns are means of the episodes with the first seeds. Dashes:
no such controller, or bodies that touch each other, which are not written as MJCF.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import gymnasium as gym
import numpy as np
from robot_models import Options, Softness, mujoco_robot

from vigym import Mechanism, Simulator, evaluate
from vigym.envs.registry import ENVIRONMENTS, ZOO
from vigym.evaluation.builtin import BUILTIN
from vigym.evaluation.speed.timing import Job, interleaved, machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scenes.mujoco_states import data_of, loop_gap  # noqa: E402

OTHERS = ("FourBar", "MinitaurLeg", "Minitaur", "Exoskeleton")  # with loops, outside of the zoo
IDS = [f"vigym/{name}-v0" for name in OTHERS]
IDS += [entry.id for entry in ENVIRONMENTS if entry.task.startswith(ZOO)]
METRICS = ("constraint_residual_max", "energy_balance", "energy_kinetic")
CONTROL_STEPS, HELD = 50, 5  # in an episode; of one random action
PARTS = (1, 2, 4, 8, 16, 32, 64)  # of a step, in MuJoCo
TIGHT = 1e-4  # [m, rad]
LARGEST = 1e300  # any gap without a warning
CONSTANTS = (2.0, 3.0, 5.0, 10.0, 20.0)  # of MuJoCo's softness, in steps
HEADS = ["id", "degrees of freedom", "loops", "step [ms]"]
HEADS += [f"vigym: {name}" for name in ("gap", "balance", "iterations", "us")]
HEADS += [f"MuJoCo: {name}" for name in ("step [ms]", "gap", "us", "stiff: gap", "us", "tight: us")]
HEADS += ["trained", "scripted"]


@dataclass(frozen=True)
class Play:
    """An episode of random actions.

    Attributes:
        sim: of the robot, without velocity limits of motors.
        substeps: of a control step.
        start: state of the simulator.
        inputs: torques and targets of each control step.
    """

    sim: Simulator
    substeps: int
    start: np.ndarray
    inputs: list[tuple[np.ndarray | None, np.ndarray | None]]

    def job(self) -> Job:
        def run() -> None:
            for torques, targets in self.inputs:
                self.sim.step(torques, targets, self.substeps)

        return Job(lambda: self.sim.set_state(self.start), run, len(self.inputs) * self.substeps)

    def figures(self) -> tuple[float, float, float]:
        """Gap, balance and iterations, as in the table."""
        self.sim.set_state(self.start)
        found, iterations = [], 0
        for each in self.inputs:
            status = self.sim.step(*each, self.substeps)
            assert status.converged
            iterations += int(status.iterations)
            metrics = self.sim.metrics()
            found.append([abs(float(metrics[key])) for key in METRICS])
        gap, surplus, energy = np.max(found, axis=0)
        return gap, surplus / energy, iterations / (len(found) * self.substeps)


def play(name: str) -> Play:
    """Random actions as torques or targets, by the environment until it ends."""
    env = gym.make(name)
    env.reset(seed=0)
    one, draw = env.unwrapped, np.random.default_rng(0)
    task, mech = one.task, one.mechanism
    start, inputs = np.array(one.sim.state), []
    for k in range(CONTROL_STEPS):
        if k % HELD == 0:
            action = draw.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)
        given = action.astype(np.float64)
        targets = task.motor_targets(given, one.sim.time, one._runner.goals())
        torques = one.sim.parameters.scaled_torques(given) if targets is None else None
        inputs.append(
            tuple(None if each is None else np.array(each) for each in (torques, targets))
        )
        if env.step(action)[2]:
            break
    joints = {key: replace(joint, velocity=None) for key, joint in mech.joints.items()}
    sim = Simulator(mech.with_replaced_elements(joints=joints), timestep=task.timestep)
    return Play(sim, task.frame_skip, start, inputs)


def mujoco_play(played: Play, softness: Softness, parts: int) -> tuple[float, Job]:
    """Largest gap of the same in MuJoCo, infinite where it warns, and its job; `parts` of a step each."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # they are counted
    mech, options = played.sim.mechanism, Options(integrator="implicitfast")
    model = mujoco_robot(mech, played.sim.options.timestep / parts, softness, options)
    played.sim.set_state(played.start)
    begin, data = data_of(model, mech, played.sim), mujoco.MjData(model)
    controls = [controls_of(model, mech, *each) for each in played.inputs]
    substeps = parts * played.substeps

    def prepare() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = begin.qpos, begin.qvel

    def run() -> None:
        for row in controls:
            data.ctrl[:] = row
            mujoco.mj_step(model, data, nstep=substeps)

    prepare()
    gap = 0.0
    for row in controls:
        data.ctrl[:] = row
        for _ in range(substeps):
            mujoco.mj_step(model, data)
            gap = max(gap, loop_gap(data))
    fine = not any(warning.number for warning in data.warning) and np.isfinite(gap)
    return gap if fine else np.inf, Job(prepare, run, substeps * len(controls))


def controls_of(model, mech: Mechanism, torques, targets) -> np.ndarray:
    """Controls of MuJoCo (nu,): torques of joints without a motor, targets of motors."""
    given = dict.fromkeys(mech.actuator_names, 0.0)
    given |= {} if torques is None else dict(zip(given, np.ravel(torques), strict=True))
    moved = {} if targets is None else dict(zip(mech.motor_names, np.ravel(targets), strict=True))
    return np.array([(given | moved)[model.actuator(k).name] for k in range(model.nu)])


def stiffest(played: Play, parts: int) -> tuple[float, Job]:
    """Gap and job of MuJoCo with the time constant whose gap is smallest."""
    h = played.sim.options.timestep / parts
    tried = [Softness(h, safe=False), *(Softness(k * h) for k in CONSTANTS)]
    return min((mujoco_play(played, each, parts) for each in tried), key=lambda run: run[0])


def first(runs: Iterator[tuple[float, Job]], most: float) -> tuple[int, float, Job]:
    """Parts, gap and job of the first run with a gap that small, one for each of `PARTS`; else of the last."""
    for found in zip(PARTS, runs, strict=True):
        if found[1][0] <= most:
            break
    return found[0], *found[1]


def row(name: str, episodes: int, repeats: int) -> list[str]:
    """Cells of a robot."""
    played = play(name)
    mech, timestep = played.sim.mechanism, played.sim.options.timestep
    gap, balance, iterations = played.figures()
    theirs, jobs = ["-"] * 6, [played.job()]
    if not mech.pairs:  # which are not written as MJCF
        soft = first((mujoco_play(played, Softness(), parts) for parts in PARTS), LARGEST)
        stiff = stiffest(played, soft[0])
        tight = first((stiffest(played, parts) for parts in PARTS), TIGHT)
        jobs += [soft[2], stiff[1], tight[2]]
    ours, *spent = (1e6 * cost.best for cost in interleaved(jobs, repeats))
    if spent:
        theirs = [
            f"{1e3 * timestep / soft[0]:g}",
            f"{soft[1]:.1e}",
            f"{spent[0]:.1f}",
            f"{stiff[0]:.1e}",
            f"{spent[1]:.1f}",
            f"{tight[0] * spent[2]:.0f}" if tight[1] <= TIGHT else "-",
        ]
    return [
        name.rpartition("/")[2],
        str(mech.degrees_of_freedom),
        str(len(mech.closing_joints)),
        f"{1e3 * timestep:g}",
        f"{gap:.1e}",
        f"{balance:.1e}",
        f"{iterations:.2f}",
        f"{ours:.1f}",
        *theirs,
        *returns(name, episodes),
    ]


def returns(name: str, episodes: int) -> list[str]:
    """Mean returns of the trained policy and of the first scripted controller that drive a robot."""
    able = [each.name for each in BUILTIN.values() if name in each.ids]
    # without one actions correct a motion
    scripted = [each for each in able if each != "trained"][:1] or ["zero"]
    cells = []
    for controllers in (["trained"] if "trained" in able else [], scripted):
        found = [evaluate(name, each, episodes).column("return_").mean() for each in controllers]
        label = f" ({scripted[0]})" if controllers == scripted else ""
        cells.append(f"{found[0]:.1f}{label}" if found else "-")
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ids", nargs="+", default=IDS)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(machine("mujoco"), end="\n\n")
    for cells in (HEADS, ["---"] * len(HEADS)):
        print(f"| {' | '.join(cells)} |")
    for name in args.ids:
        print(f"| {' | '.join(row(name, args.episodes, args.repeats))} |", flush=True)


if __name__ == "__main__":
    main()
