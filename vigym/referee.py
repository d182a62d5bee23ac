"""One MJCF file in vigym and in MuJoCo: motions, energies, gaps and times side by side."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mjcf.actuators import read_actuators
from vigym.mjcf.bodies import Robot
from vigym.mjcf.chains import joint_name
from vigym.mjcf.compiled import compile_file
from vigym.mjcf.load import load_mjcf
from vigym.simulation.simulator import Simulator
from vigym.simulation.state.coordinates import Coordinates

READINGS = 100  # of a run
SHARES = (0.1, 0.3, 1.0)  # of the time, at which motions are compared


@dataclass(frozen=True, eq=False)
class Side:
    """Run of one simulator, without controls.

    Attributes:
        name: "vigym" or "mujoco".
        timestep: [s].
        step_us: processor time of a step [us].
        unsolved: steps that the solver did not solve; 0 of MuJoCo, which has no such steps.
        times: of the readings (n,) [s].
        places: centres of mass of the bodies of the mechanism (n, bodies, 3) [m].
        energies: less that of the start (n,) [J].
        gap: largest opening of a loop [m, rad].
        depth: largest depth of a contact [m].
    """

    name: str
    timestep: float
    step_us: float
    unsolved: int
    times: Array
    places: Array
    energies: Array
    gap: float
    depth: float

    def distances(self, other: "Side") -> list[float]:
        """Return the largest distance of a body from that of another side [m], at `SHARES`."""
        ours, theirs = self._at_shares(), other._at_shares()
        apart: list[float] = np.linalg.norm(ours - theirs, axis=2).max(axis=1).tolist()
        return apart

    def _at_shares(self) -> Array:
        """Return the places at `SHARES` of the time (shares, bodies, 3) [m]."""
        return self.places[[round(share * (len(self.times) - 1)) for share in SHARES]]


def compare_with_mujoco(path: Path, timestep: float, seconds: float) -> list[Side]:
    """Return runs by vigym with half the step and the step, by MuJoCo with the step and its own.

    All start at rest, in the first keyframe or the reference pose of the file; robots that float
    are placed on the ground. Controls are zero: springs and dampers of actuators act in both, but
    motors idle, and so do actuators that vigym leaves out.

    Args:
        path: of an MJCF file.
        timestep: [s].
        seconds: of a run [s].

    Raises:
        MechanismError: a file that cannot be read, or a step that is no tenth of the time.
    """
    if not 0.0 < timestep <= 0.1 * seconds:
        raise MechanismError(f"timestep: found {timestep:g} s, expected at most {0.1 * seconds:g}")
    mech, compiled = load_mjcf(path), compile_file(path, None, "error", "error")
    robot = Robot(compiled, mech)
    steps = dict.fromkeys((timestep, float(compiled.model.opt.timestep)))
    ours = [_run_vigym(mech, step, seconds) for step in (0.5 * timestep, timestep)]
    start = ours[0].places[0]
    return [*ours, *(_run_mujoco(robot, step, seconds, start) for step in steps)]


def _run(
    name: str,
    step_size: float,
    seconds: float,
    step: Callable[[int], int],
    read: Callable[[], tuple[Array, float, float, float]],
) -> Side:
    """Return the run of a simulator.

    Args:
        name: of the simulator.
        step_size: [s].
        seconds: of the run [s].
        step: makes a number of steps, and returns how many of them failed.
        read: returns places, energy, gap and depth.
    """
    rows = [read()]
    unsolved, taken = 0, 0.0
    last = max(1, round(seconds / step_size))
    ends = np.round(np.linspace(0, last, min(last, READINGS) + 1)).astype(int)
    for count in np.diff(ends).tolist():
        start = time.process_time()
        unsolved += step(count)
        taken += time.process_time() - start
        rows.append(read())
    places, energies, gaps, depths = map(np.array, zip(*rows, strict=True))
    step_us = 1e6 * taken / int(ends[-1])
    times, gains = step_size * ends, energies - energies[0]
    gap, depth = float(gaps.max()), float(depths.max())
    return Side(name, step_size, step_us, unsolved, times, places, gains, gap, depth)


def _run_vigym(mech: Mechanism, timestep: float, seconds: float) -> Side:
    sim = Simulator(mech, timestep=timestep)
    for _ in range(2):
        sim.step()  # compiles what is not compiled yet
        sim.reset(next(iter(mech.starts.values()), None), place_on_ground=True)
    bodies = [body.name for body in mech.bodies.values() if body.mass]

    def step(count: int) -> int:
        return int(not sim.step(substeps=count).converged)

    def read() -> tuple[Array, float, float, float]:
        places = np.array([sim.body_position(body) for body in bodies])
        gap = float(np.max(sim.constraint_residual(), initial=0.0))
        depth = float(np.max(-sim.contacts.gap, initial=0.0))
        return places, float(sim.energy().total), gap, depth

    return _run("vigym", timestep, seconds, step, read)


def _run_mujoco(robot: Robot, timestep: float, seconds: float, start: Array) -> Side:
    import mujoco

    mech, model = robot.mechanism, robot.model
    model.opt.timestep = timestep
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    idle = np.ones(model.nu, bool)
    idle[[each.number for each in read_actuators(robot).values() if each.control == "force"]] = 0
    for array in (model.actuator_gainprm, model.actuator_biasprm):
        array[idle] = 0.0
    data = mujoco.MjData(model)
    if mech.starts:
        mujoco.mj_resetDataKeyframe(model, data, _first_start(mech, model))
        for given in (data.qvel, data.ctrl, data.act):
            given[:] = 0.0
    else:
        zeros = dict(zip(mech.position_names, Coordinates.assembled_pose(mech), strict=True))
        for joint in np.flatnonzero(model.jnt_type >= 2):
            data.qpos[model.jnt_qposadr[joint]] += zeros.get(joint_name(robot, int(joint)), 0.0)
    mujoco.mj_kinematics(model, data)
    moving = [body for body in range(model.nbody) if model.body_weldid[body]]
    roots = [b for b in moving if model.body_weldid[b] == b and model.body_jntnum[b] > 0]
    groups = [[b for b in moving if model.body_weldid[b] == root] for root in roots]

    def places() -> Array:
        means = [np.average(data.xipos[g], axis=0, weights=model.body_mass[g]) for g in groups]
        return np.array(means)

    _shift(model, data, roots, start - places())

    def step(count: int) -> int:
        mujoco.mj_step(model, data, count)
        return 0

    def read() -> tuple[Array, float, float, float]:
        mujoco.mj_forward(model, data)
        loops = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        gap = float(np.abs(data.efc_pos[loops]).max(initial=0.0))
        depth = float(np.max(-data.contact.dist, initial=0.0))
        return places(), float(data.energy.sum()), gap, depth

    return _run("mujoco", timestep, seconds, step, read)


def _shift(model: Any, data: Any, roots: list[int], shifts: Array) -> None:
    """Move bodies that hang on the world along their free joints and slides, by shifts (n, 3)."""
    for root, shift in zip(roots, shifts, strict=True):
        first = int(model.body_jntadr[root])
        if model.body_parentid[root]:
            continue
        for joint in range(first, first + int(model.body_jntnum[root])):
            q = int(model.jnt_qposadr[joint])
            if model.jnt_type[joint] == 0:
                data.qpos[q : q + 3] += shift
            elif model.jnt_type[joint] == 2:
                data.qpos[q] += data.xaxis[joint] @ shift


def _first_start(mech: Mechanism, model: Any) -> int:
    """Return the number of the keyframe that is the first start of the mechanism."""
    name = next(iter(mech.starts))
    names = [model.key(key).name or f"key{key}" for key in range(model.nkey)]
    return names.index(name)
