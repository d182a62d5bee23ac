"""vigym and MuJoCo with the trotting Minitaur each, ready to be timed and to be watched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from minitaur_walk import Walk, judge
from robot_models import Options, Softness, mujoco_robot

import vigym
from vigym import assets
from vigym.control.minitaur_gaits import Gait, trot
from vigym.control.minitaur_legs import hip_angles
from vigym.evaluation.speed.timing import Job, interleaved

HOLD = 0.01  # [s] between two targets, in all engines
KP, KD = 8.0, 0.3  # of the motors [N m/rad, N m s/rad], clipped at the joints' effort of 3.5 N m
PUBLISHED = 0.35  # [rad] amplitude of the extension in the published gait
BATCH = 32
DEFAULT, PLAIN = Softness(), Options()
CONES = ("elliptic", "pyramidal")  # of MuJoCo
FASTER = [
    (integrator, jacobian)
    for integrator in ("Euler", "implicitfast")
    for jacobian in ("dense", "sparse")
]


@dataclass(frozen=True)
class Setting:
    """What all simulate: a step [s], so long [s], a gait."""

    timestep: float
    seconds: float = 10.0
    gait: Gait = field(default_factory=trot)

    @property
    def substeps(self) -> int:
        return round(HOLD / self.timestep)

    @property
    def targets(self) -> np.ndarray:
        """Hip angles (controls, 8) [rad]."""
        return targets_of(self.gait, self.seconds)


@dataclass(frozen=True)
class Contender:
    """What to time and, off the clock, how it goes."""

    name: str
    job: Job
    watch: Callable[[], Walk]
    setting: Setting
    softness: Softness = DEFAULT
    options: Options = PLAIN


@dataclass(frozen=True)
class Batch:
    """What to time, and whether it went well the last time."""

    name: str
    job: Job
    healthy: Callable[[], bool]


def robot() -> vigym.Mechanism:
    """The Minitaur with its position motors."""
    mech = vigym.load_urdf(assets.path("minitaur"), ground=True)
    for name in mech.actuator_names:
        mech.add_motor(name, KP, KD)
    return mech


def targets_of(gait: Gait, seconds: float, late: float = 0.0) -> np.ndarray:
    """Hip angles (controls, 8) [rad] of a gait that runs `late` [s]."""
    return hip_angles(*gait.legs(HOLD * np.arange(round(seconds / HOLD)) + late))


def standing(mech: vigym.Mechanism, setting: Setting) -> dict[str, float]:
    """Hip angles of a stand at the gait's mean extension, by joint name."""
    hip = setting.gait.extension - 0.5 * np.pi
    return dict.fromkeys(mech.actuator_names, hip)


def vigym_trot(setting: Setting, **options: object) -> Contender:
    """One robot in vigym; `options` of its simulator."""
    mech = robot()
    targets = setting.targets
    n = setting.substeps
    sim = vigym.Simulator(mech, timestep=setting.timestep, **options)
    start = standing(mech, setting)

    def prepare() -> None:
        sim.reset(positions=start, place_on_ground=True)

    def run() -> None:
        for row in targets:
            sim.step(targets=row, substeps=n)

    def watch() -> Walk:
        prepare()
        notes, fine = [], True
        for row in np.repeat(targets, n, axis=0):
            status = sim.step(targets=row)
            fine &= bool(status.converged)
            states = sim.body_states[:, :7]
            notes.append((states, sim.metrics()["power_mech"], int(status.iterations)))
        return judge(mech, notes, setting.timestep, fine)

    name = "vigym" + "".join(f", {value}" for value in options.values())
    return Contender(name, Job(prepare, run, len(targets) * n), watch, setting)


def vigym_batch(setting: Setting) -> Batch:
    """A batch in vigym on one thread."""
    mech, n = robot(), setting.substeps
    sim = vigym.Simulator(mech, timestep=setting.timestep, batch=BATCH, threads=1)
    rows = np.stack(
        [targets_of(setting.gait, setting.seconds, late) for late in lateness()], axis=1
    )
    start = {name: np.full(BATCH, angle) for name, angle in standing(mech, setting).items()}
    fine: list[bool] = []

    def prepare() -> None:
        sim.reset(positions=start, place_on_ground=True)

    def run() -> None:
        fine[:] = [bool(np.all(sim.step(targets=row, substeps=n).converged)) for row in rows]

    return Batch("vigym", Job(prepare, run, len(rows) * n * BATCH), lambda: all(fine))


def lateness() -> np.ndarray:
    """How far into their gaits the robots of a batch start (BATCH,) [s]."""
    return np.linspace(0.0, 0.5, BATCH, endpoint=False)


def mujoco_trot(
    setting: Setting, softness: Softness = DEFAULT, options: Options = PLAIN
) -> Contender:
    """One robot in MuJoCo, all steps of a run in its C loop on the calling thread; its own defaults by default."""
    import mujoco

    mujoco.set_mju_user_warning(
        lambda _: None
    )  # they are counted; left alone it prints them and writes a file
    mech = robot()
    targets = setting.targets
    n = setting.substeps
    model = mujoco_robot(mech, setting.timestep, softness, options)
    data = mujoco.MjData(model)
    start = coordinates(mech, setting)
    hips = [int(model.joint(name).dofadr[0]) for name in mech.motor_names]
    run, _ = rollout(model, data, start[None], np.repeat(targets, n, axis=0)[None])

    def watch() -> Walk:
        mujoco.mj_resetData(model, data)
        data.qpos[:], notes = start, []
        for row in np.repeat(targets, n, axis=0):
            data.ctrl[:] = row
            mujoco.mj_step(model, data)
            power = float(np.abs(data.actuator_force * data.qvel[hips]).sum())
            work = int(data.solver_niter[: max(1, data.nisland)].sum())
            mujoco.mj_kinematics(model, data)
            notes.append((np.hstack([data.xpos[1:], data.xquat[1:]]), power, work))
        return judge(
            mech, notes, setting.timestep, not any(warning.number for warning in data.warning)
        )

    softly = (
        "defaults" if softness.solref is None else f"solref {softness.solref / setting.timestep:g}h"
    )
    name = f"MuJoCo {options.integrator}, {options.cone}, {softly}"
    return Contender(
        name, Job(lambda: None, run, len(targets) * n), watch, setting, softness, options
    )


def stiffest(setting: Setting, cone: str) -> Contender:
    """MuJoCo with the shortest time constant with which it walks, and of the other options the fastest then."""
    h = setting.timestep
    for softness in (Softness(h, safe=False), *(Softness(k * h) for k in (2.0, 3.0, 5.0, 10.0))):
        runs = [
            mujoco_trot(setting, softness, Options(cone, *others, ("island",))) for others in FASTER
        ]
        able = [run for run in runs if run.watch().healthy]
        if able:
            costs = interleaved([run.job for run in able], 2)
            return min(zip(able, costs, strict=True), key=lambda pair: pair[1].best)[0]
    return mujoco_trot(setting)


def mujoco_batch(single: Contender) -> Batch:
    """A batch in MuJoCo's C loop on the calling thread, set like one robot."""
    import mujoco

    setting, mech = single.setting, robot()
    model = mujoco_robot(mech, setting.timestep, single.softness, single.options)
    data = mujoco.MjData(model)
    controls = np.stack([targets_of(setting.gait, setting.seconds, late) for late in lateness()])
    start = np.tile(coordinates(mech, setting), (BATCH, 1))
    run, _ = rollout(model, data, start, np.repeat(controls, setting.substeps, axis=1))
    job = Job(lambda: None, run, controls.shape[0] * controls.shape[1] * setting.substeps)
    return Batch(single.name, job, lambda: not any(warning.number for warning in data.warning))


def rollout(
    model, data, positions: np.ndarray, controls: np.ndarray
) -> tuple[Callable[[], None], np.ndarray]:
    """MuJoCo's C loop over robots and steps, and the states (robots, steps, state) that it writes."""
    import mujoco
    from mujoco.rollout import Rollout

    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    initial = np.zeros((len(positions), mujoco.mj_stateSize(model, full)))
    for row, place in zip(initial, positions, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = place
        mujoco.mj_getState(model, data, row, full)
    states = np.zeros((*controls.shape[:2], initial.shape[1]))
    nothing = np.zeros((*controls.shape[:2], model.nsensordata))
    loop, controls = (
        Rollout(nthread=0),
        np.ascontiguousarray(controls),
    )  # no pool: the calling thread works

    def run() -> None:
        loop.rollout(
            model,
            [data],
            initial,
            controls,
            nstep=controls.shape[1],
            state=states,
            sensordata=nothing,
        )

    return run, states


def coordinates(mech: vigym.Mechanism, setting: Setting) -> np.ndarray:
    """MuJoCo's coordinates of the standing robot: base pose, then hinges in the order of the tree."""
    sim = vigym.Simulator(mech, timestep=setting.timestep)
    sim.reset(positions=standing(mech, setting), place_on_ground=True)
    closing = len(mech.closing_joints)
    return np.array(sim.joint_positions)[:-closing]
