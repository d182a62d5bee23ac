"""The two engines with a chain each, ready to be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from chain_models import mujoco_chain, vigym_chain

import vigym
from vigym.evaluation.speed.timing import Job

GAP = {
    "float64": 1e-9,
    "float32": 1e-5,
}  # [m, rad] joints that are further apart at the end were not solved


@dataclass(frozen=True)
class Setting:
    """What both simulate: a chain, a step [s], a number of steps."""

    links: int
    joint: str
    timestep: float
    steps: int


@dataclass(frozen=True)
class Contender:
    """What to time and, after it, how it went.

    Attributes:
        job: what to time.
        healthy: did all steps go well?
        energy: size of the total energy [J], zero for the level chain at rest.
        iterations: of the solver per step; MuJoCo needs none here.
    """

    job: Job
    healthy: Callable[[], bool]
    energy: Callable[[], float]
    iterations: Callable[[], float]


def vigym_single(setting: Setting) -> Contender:
    """One environment in vigym."""
    sim = vigym.Simulator(vigym_chain(setting.links, setting.joint), timestep=setting.timestep)
    return _vigym(sim, setting.steps, setting.steps, None)


def vigym_batch(setting: Setting, start: np.ndarray, precision: str = "float64") -> Contender:
    """A batch in vigym on one thread, started from the joint positions `start` (batch, n_positions)."""
    mech = vigym_chain(setting.links, setting.joint)
    sim = vigym.Simulator(
        mech, timestep=setting.timestep, batch=len(start), threads=1, precision=precision
    )
    return _vigym(sim, setting.steps, setting.steps * len(start), start)


def _vigym(sim: vigym.Simulator, substeps: int, steps: int, start: np.ndarray | None) -> Contender:
    last: dict[str, Any] = {}

    def run() -> None:
        last["status"] = sim.step(substeps=substeps)

    return Contender(
        Job(lambda: sim.reset(positions=start), run, steps),
        lambda: (
            bool(np.all(last["status"].converged))
            and float(np.max(sim.constraint_residual())) <= GAP[sim.options.precision]
        ),
        lambda: float(np.max(np.abs(sim.energy().total))),
        lambda: float(np.mean(last["status"].iterations)) / substeps,
    )


def mujoco_single(setting: Setting) -> Contender:
    """One environment in MuJoCo."""
    import mujoco

    model = mujoco_chain(setting.links, setting.joint, setting.timestep)
    data = mujoco.MjData(model)

    def energy() -> float:
        mujoco.mj_forward(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        return abs(float(sum(data.energy)))

    return Contender(
        Job(
            lambda: mujoco.mj_resetData(model, data),
            lambda: mujoco.mj_step(model, data, nstep=setting.steps),
            setting.steps,
        ),
        lambda: not any(warning.number for warning in data.warning),
        energy,
        lambda: 0.0,
    )


def mujoco_rollout(setting: Setting, start: np.ndarray) -> Contender:
    """A batch in MuJoCo: its C loop over environments, on the calling thread, output arrays made beforehand."""
    import mujoco
    from mujoco.rollout import Rollout

    model = mujoco_chain(setting.links, setting.joint, setting.timestep)
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

    return Contender(
        Job(lambda: None, run, setting.steps * len(start)),
        lambda: (
            bool(np.all(np.isfinite(states)))
            and not any(warning.number for warning in data.warning)
        ),
        lambda: float("nan"),
        lambda: 0.0,
    )


def vigym_tip(setting: Setting, start: np.ndarray) -> np.ndarray:
    """Where vigym has the centre of the last link after all steps (3,) [m]."""
    sim = vigym.Simulator(vigym_chain(setting.links, setting.joint), timestep=setting.timestep)
    sim.reset(positions=start)
    sim.step(substeps=setting.steps)
    return np.asarray(sim.body_position(f"link{setting.links - 1}"))


def mujoco_tip(setting: Setting, start: np.ndarray) -> np.ndarray:
    """Where MuJoCo, with its fourth-order Runge-Kutta integrator, has it (3,) [m]."""
    import mujoco

    model = mujoco_chain(setting.links, setting.joint, setting.timestep, "RK4")
    data = mujoco.MjData(model)
    data.qpos[:] = start
    mujoco.mj_step(model, data, nstep=setting.steps)
    mujoco.mj_kinematics(model, data)
    return np.array(data.xipos[-1])
