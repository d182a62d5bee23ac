"""vigym and MuJoCo with a chain of four-bar windows each, ready to be timed and to be watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from loop_models import Bar, Motion, absolute, chain, motion, mujoco_chain, vigym_chain

import vigym
from vigym.evaluation.speed.timing import Job

SOLVED = 1e-9  # [m] gap of a loop that was solved, for an engine that closes loops exactly
APART = 0.05  # [m] loops further open came apart
LOST = 0.25  # of the largest kinetic energy; a run that gains or loses more is not a simulation of this chain
FACTORS = (
    0.5,
    1.0,
    1.25,
    1.5,
    2.0,
    3.0,
    4.0,
    6.0,
    10.0,
)  # time constants of MuJoCo's constraints tried, in steps


@dataclass(frozen=True)
class Setting:
    """What all simulate: a chain of windows, a step [s], a number of steps."""

    windows: int
    shape: str
    timestep: float
    steps: int

    @property
    def bars(self) -> list[Bar]:
        return chain(self.windows, self.shape)


@dataclass(frozen=True)
class Record:
    """How a run went.

    Attributes:
        gap: widest loop gap [m].
        energy: largest error of the total energy, of the largest kinetic energy of the run.
        healthy: it converged, stayed together and kept its energy.
        tip: centre of the last bar at the end (x, z) [m].
        note: anything to print beside it.
    """

    gap: float
    energy: float
    healthy: bool
    tip: np.ndarray
    note: str = ""


@dataclass(frozen=True)
class Contender:
    """What to time and, off the clock, how it goes.

    Attributes:
        name: engine and setting.
        job: what to time.
        watch: repeats the run, looks that many times, and stops where a loop is further open than
            the gap given [m].
    """

    name: str
    job: Job
    watch: Callable[[int, float], Record]


def record(
    seen: Sequence[Motion], apart: float = APART, failed: bool = False, note: str = ""
) -> Record:
    """Judge a run by its first state and those after it."""
    gap = max(m.gap for m in seen)
    kinetic = max(m.kinetic for m in seen)
    energy = max(abs(m.total - seen[0].total) for m in seen) / kinetic if kinetic > 0 else 0.0
    fine = bool(np.isfinite([gap, energy, kinetic]).all()) and gap <= apart and energy <= LOST
    return Record(gap, energy, fine and not failed, seen[-1].tip, note)


def instants_of(steps: int, instants: int) -> list[int]:
    """Steps between looks; all steps together."""
    looks = min(steps, instants)
    return [int(n) for n in np.diff(np.linspace(0, steps, looks + 1).round().astype(int))]


def vigym_loops(setting: Setting, loops: str, order: int = 2) -> Contender:
    """One chain in vigym."""
    bars = setting.bars
    sim = vigym.Simulator(vigym_chain(bars), timestep=setting.timestep, order=order, loops=loops)

    def watch(instants: int, gap: float = APART) -> Record:
        sim.reset()
        seen = [_vigym_motion(sim, bars)]
        fine = True
        iterations = 0
        for n in instants_of(setting.steps, instants):
            status = sim.step(substeps=n)
            fine &= bool(status.converged)
            iterations += int(status.iterations)
            seen.append(_vigym_motion(sim, bars))
            if not (fine and seen[-1].gap <= gap):
                break
        return record(seen, SOLVED, not fine, f"{iterations / setting.steps:.2f} iterations")

    name = f"vigym {loops}" + (f", order {order}" if order != 2 else "")
    return Contender(
        name, Job(sim.reset, lambda: sim.step(substeps=setting.steps), setting.steps), watch
    )


def _vigym_motion(sim: vigym.Simulator, bars: list[Bar]) -> Motion:
    """Energies as the simulator tells them, the rest from the poses of the bodies alone."""
    centres = np.array([sim.body_position(bar.name)[[0, 2]] for bar in bars])
    turns = np.array([sim.body_orientation(bar.name) for bar in bars])
    angles = 2 * np.arctan2(turns[:, 2], turns[:, 0])
    still = absolute(bars, centres, angles, np.zeros_like(centres), np.zeros(len(bars)))
    energy = sim.energy()
    return Motion(float(energy.kinetic), float(energy.total), still.gap, still.tip)


def vigym_batch(setting: Setting, loops: str, start: np.ndarray) -> tuple[Job, Callable[[], bool]]:
    """A batch in vigym on one thread, its left rods at the coordinates `start` (batch, windows); did it go well?"""
    mech = vigym_chain(setting.bars)
    sim = vigym.Simulator(mech, timestep=setting.timestep, batch=len(start), threads=1, loops=loops)
    names = [name for name in mech.joints if name.startswith("hinge_left")]
    sim.reset(positions={name: start[:, i] for i, name in enumerate(names)})
    initial = sim.state
    last: dict[str, Any] = {}

    def prepare() -> None:
        sim.state = initial

    def run() -> None:
        last["status"] = sim.step(substeps=setting.steps)

    def healthy() -> bool:
        return (
            bool(np.all(last["status"].converged))
            and float(np.max(sim.constraint_residual())) <= SOLVED
        )

    return Job(prepare, run, setting.steps * len(start)), healthy


def mujoco_loops(
    setting: Setting, integrator: str = "Euler", factor: float | None = None, tuned: bool = False
) -> Contender:
    """One chain in MuJoCo; `factor` is the time constant of its constraints in steps, None its defaults."""
    import mujoco

    mujoco.set_mju_user_warning(
        lambda _: None
    )  # they are counted; left alone it prints them and writes a file
    bars = setting.bars
    model = mujoco_chain(bars, setting.timestep, integrator, factor, tuned)
    data = mujoco.MjData(model)

    def watch(instants: int, gap: float = APART) -> Record:
        mujoco.mj_resetData(model, data)
        seen = [motion(bars, data.qpos, data.qvel)]
        for n in instants_of(setting.steps, instants):
            mujoco.mj_step(model, data, nstep=n)
            seen.append(motion(bars, data.qpos, data.qvel))
            if not seen[-1].gap <= gap or any(warning.number for warning in data.warning):
                return record(seen, failed=True)
        return record(seen)

    name = f"MuJoCo {integrator}, " + ("defaults" if factor is None else f"solref {factor:g}h")
    reset, step = mujoco.mj_resetData, mujoco.mj_step
    job = Job(
        lambda: reset(model, data), lambda: step(model, data, nstep=setting.steps), setting.steps
    )
    return Contender(name + (", tuned" if tuned else ""), job, watch)


def stiffest(setting: Setting, integrator: str = "Euler") -> float | None:
    """The smallest of FACTORS with which MuJoCo keeps the chain together, or None where none does."""
    for factor in FACTORS:
        if mujoco_loops(setting, integrator, factor, True).watch(setting.steps, APART).healthy:
            return factor
    return None


def mujoco_rollout(
    setting: Setting, factor: float | None, start: np.ndarray, tuned: bool = True
) -> tuple[Job, Callable[[], bool]]:
    """A batch in MuJoCo's C loop on the calling thread, from the tree's coordinates `start` (batch, 3 windows)."""
    import mujoco
    from mujoco.rollout import Rollout

    mujoco.set_mju_user_warning(lambda _: None)
    model = mujoco_chain(setting.bars, setting.timestep, "Euler", factor, tuned)
    data = mujoco.MjData(model)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    initial = np.zeros((len(start), mujoco.mj_stateSize(model, full)))
    for row, positions in zip(initial, start, strict=True):
        data.qpos[:] = positions
        mujoco.mj_getState(model, data, row, full)
    states = np.zeros((len(start), setting.steps, initial.shape[1]))
    nothing = np.zeros((len(start), setting.steps, model.nsensordata))
    loop = Rollout(nthread=0)  # 0: no pool, the calling thread works

    def run() -> None:
        loop.rollout(model, [data], initial, nstep=setting.steps, state=states, sensordata=nothing)

    def healthy() -> bool:
        ends = states[:, -1, 1 : 1 + model.nq]
        closed = all(motion(setting.bars, q, np.zeros(model.nq)).gap <= APART for q in ends)
        return closed and not any(warning.number for warning in data.warning)

    return Job(lambda: None, run, setting.steps * len(start)), healthy
