"""vigym and MuJoCo with snakes under random held targets, ready to be timed and to be watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from minitaur_contenders import rollout
from robot_models import Options
from snake_models import PRECISE, mujoco_snake

import vigym
from vigym.envs.tasks.snake import Snake
from vigym.envs.tasks.snake_sidewinding import SnakeSidewinding
from vigym.evaluation.speed.timing import Job, interleaved

HOLD = Snake.timestep * Snake.frame_skip  # of both snakes, between two targets [s]
TRIED = 4  # robots that settings are tried with
LOOKS = 400  # states of a run in MuJoCo that are looked at
FLOWN = 1.0  # [m] heads above that flew off; the snakes are 0.9 and 1.0 m long
SPUN = 200.0  # [rad/s] joints faster than that came apart
HALVED = 0.01  # of the steps; more often halved is too long a step
ITERATIONS = 100  # most of them, by MuJoCo's own default; they end where it converges
SOLVERS = (("Newton", ITERATIONS), ("PGS", ITERATIONS), ("CG", 5), ("PGS", 5))


@dataclass(frozen=True)
class Scene:
    """A snake, and how MuJoCo, whose joints have no largest rate, is told its targets.

    Attributes:
        name: of the environment, and what is different.
        mech: the snake of vigym.
        rate: largest one of the targets in MuJoCo [rad/s]; None: they jump, as in vigym.
    """

    name: str
    mech: Callable[[], vigym.Mechanism]
    rate: float | None = None


def _sidewinding() -> vigym.Mechanism:
    """The snake of vigym/SnakeSidewinding-v0."""
    return SnakeSidewinding().mechanism()


def _unlimited() -> vigym.Mechanism:
    """The same without a largest rate of its joints."""
    mech = _sidewinding()
    joints = {name: replace(joint, velocity=None) for name, joint in mech.joints.items()}
    return mech.with_replaced_elements(joints=joints)


SCENES = (
    Scene("Snake", lambda: Snake().mechanism()),
    Scene("Sidewinding, rates", _sidewinding, _sidewinding().joints["joint1"].velocity),
    Scene("Sidewinding", _sidewinding),
    Scene("Sidewinding, no rates", _unlimited),
)


@dataclass(frozen=True)
class Setting:
    """What both simulate: a snake, a step [s], robots, so long [s]."""

    scene: Scene
    timestep: float
    robots: int
    seconds: float

    @property
    def substeps(self) -> int:
        return round(HOLD / self.timestep)

    @property
    def steps(self) -> int:
        """Steps of one robot."""
        return round(self.seconds / HOLD) * self.substeps

    def targets(self, motors: int) -> np.ndarray:
        """Random angles (controls, robots, motors) [rad]."""
        shape = round(self.seconds / HOLD), self.robots, motors
        return np.random.default_rng(0).uniform(-1.0, 1.0, shape)


@dataclass(frozen=True)
class Motion:
    """How a run went.

    Attributes:
        fine: every step was made, without a warning, and no robot flew off.
        energy: kinetic, mean over robots and time [J].
        depth: deepest penetration [m].
        iterations: of the solver in a step, mean.
    """

    fine: bool
    energy: float
    depth: float
    iterations: float


@dataclass(frozen=True)
class Contender:
    """What to time and, off the clock, how it goes."""

    name: str
    job: Job
    watch: Callable[[], Motion]


def vigym_held(setting: Setting) -> Contender:
    """Robots in vigym on one thread; a single one is no batch."""
    batch = setting.robots if setting.robots > 1 else None
    sim = vigym.Simulator(setting.scene.mech(), timestep=setting.timestep, batch=batch)
    targets = setting.targets(len(sim.mechanism.motor_names))
    targets = targets if batch else targets[:, 0]

    def prepare() -> None:
        sim.reset(place_on_ground=True)

    def run() -> None:
        for row in targets:
            sim.step(targets=row, substeps=setting.substeps)

    def watch() -> Motion:
        prepare()
        fine = True
        halvings, iterations = 0, 0
        energies, depths = [], []
        for row in np.repeat(targets, setting.substeps, axis=0):
            status = sim.step(targets=row)
            fine &= bool(np.all(status.converged))
            halvings += int(np.sum(status.halvings))
            iterations += int(np.sum(status.iterations))
            energies.append(np.mean(sim.energy().kinetic))
            depths.append(np.max(sim.metrics()["penetration"]))
        steps = setting.steps * setting.robots
        fine &= halvings <= HALVED * steps
        return Motion(fine, float(np.mean(energies)), float(max(depths)), iterations / steps)

    return Contender("vigym", Job(prepare, run, setting.steps * setting.robots), watch)


def mujoco_held(setting: Setting, options: Options) -> Contender:
    """Robots in MuJoCo's C loop on the calling thread, contacts as stiff as it takes them."""
    import mujoco

    h = setting.timestep
    model = mujoco_snake(setting.scene.mech(), h, f"{2 * h} 1", options)
    data = mujoco.MjData(model)
    controls = _controls(setting, model.nu)
    run, states = rollout(model, data, np.tile(model.qpos0, (setting.robots, 1)), controls)

    def watch() -> Motion:
        run()
        seen = [_look(model, data, state) for state in _some(states)]
        energy, depth, iterations = np.array(seen).T
        motion = Motion(
            _held_together(model, states, setting), energy.mean(), depth.max(), iterations.mean()
        )
        return replace(motion, fine=motion.fine and bool(np.isfinite(energy).all()))

    name = f"{options.integrator}, {options.cone}, {options.solver} {options.iterations}"
    return Contender(name, Job(lambda: None, run, setting.steps * setting.robots), watch)


def _controls(setting: Setting, motors: int) -> np.ndarray:
    """Targets of every step (robots, steps, motors) [rad]: held, or as fast as they may move."""
    targets = np.repeat(setting.targets(motors), setting.substeps, axis=0)
    if setting.scene.rate is not None:
        most = setting.scene.rate * setting.timestep
        last = np.zeros(targets.shape[1:])
        for row in targets:
            last = last + np.clip(row - last, -most, most)
            row[:] = last
    return targets.swapaxes(0, 1)


def _held_together(model, states: np.ndarray, setting: Setting) -> bool:
    """Whether all steps were made (a robot with a warning stands still) and no robot flew off."""
    end = setting.steps * setting.timestep
    whole = bool(np.isfinite(states).all()) and bool(np.allclose(states[:, -1, 0], end))
    height, rates = states[..., 3], states[..., 1 + model.nq + 6 : 1 + model.nq + model.nv]
    return whole and height.max() < FLOWN and float(np.abs(rates).max()) < SPUN


def _some(states: np.ndarray) -> np.ndarray:
    """States of a run, of any robot at any time."""
    flat = states.reshape(-1, states.shape[-1])
    return flat[np.random.default_rng(0).integers(len(flat), size=LOOKS)]


def _look(model, data, state: np.ndarray) -> tuple[float, float, float]:
    """Kinetic energy [J], penetration [m] and iterations in a state."""
    import mujoco

    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    mujoco.mj_forward(model, data)
    mujoco.mj_energyVel(model, data)
    depth = -float(data.contact.dist.min(initial=0.0))
    return float(data.energy[1]), depth, float(data.solver_niter[: max(1, data.nisland)].sum())


def every_option() -> Iterator[Options]:
    """MuJoCo's settings that are tried: one island and a dense Jacobian are faster for snakes."""
    for cone, integrator, (solver, iterations) in product(
        ("elliptic", "pyramidal"), ("Euler", "implicitfast"), SOLVERS
    ):
        yield Options(cone, integrator, "dense", ("island",), iterations, solver)


def solved(options: Options) -> bool:
    """Whether MuJoCo solves what vigym solves: friction in true cones, until it converges."""
    return options.cone == "elliptic" and options.iterations == ITERATIONS


def fastest(setting: Setting, sound: Callable[[Motion], bool]) -> tuple[Options, Options]:
    """MuJoCo's fastest settings of those that solve, and of all.

    They go well with all robots; where none does, they are MuJoCo's most precise.
    """
    few = replace(setting, robots=min(TRIED, setting.robots))
    tried = [(options, mujoco_held(few, options)) for options in every_option()]
    able = [(options, contender) for options, contender in tried if sound(contender.watch())]
    costs = interleaved([contender.job for _, contender in able], 4)
    order = [able[k][0] for k in np.argsort([cost.best for cost in costs])]

    def first(group: Iterable[Options]) -> Options:
        goes_well = (each for each in group if sound(mujoco_held(setting, each).watch()))
        return next(goes_well, PRECISE)

    return first(filter(solved, order)), first(order)
