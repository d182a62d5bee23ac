"""Pinocchio and Exudyn with a chain of four-bar windows each (pip install 'vigym[bench]').

Pinocchio has no integrator and no loop over steps: both are written here, in Python on numpy
arrays. What its own compiled code needs is therefore shown beside it (`pinocchio_calls`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from chain_models import GRAVITY, MASS
from loop_contenders import APART, Contender, Record, Setting, instants_of, record
from loop_models import Bar, Motion, absolute, loops_of, motion, relative

from vigym.evaluation.speed.timing import Job

Acceleration = Callable[[np.ndarray, np.ndarray], np.ndarray]
ACCURACY, ITERATIONS = 1e-12, 20  # of Pinocchio's proximal solver
PROXIMAL = {
    "Cholesky": 1e-10,
    "LCABA": 1e-6,
}  # its regularisation: one row of three is redundant in each loop


def pinocchio_loops(
    setting: Setting, integrator: str = "RK4", solver: str = "Cholesky", corrector: float = 0.25
):
    """One chain in Pinocchio; open ones by its ABA.

    Args:
        setting: what to simulate.
        integrator: "RK4" or "Euler" (semi-implicit).
        solver: "Cholesky" (`constraintDynamics`) or "LCABA" (`lcaba`, which knows no corrector).
        corrector: frequency of the critically damped Baumgarte corrector times the step.
    """
    bars = setting.bars
    accelerate = _acceleration(bars, solver, corrector / setting.timestep)
    advance = {"RK4": _rk4, "Euler": _euler}[integrator]
    q, v = np.zeros(len(bars)), np.zeros(len(bars))

    def prepare() -> None:
        q[:], v[:] = 0.0, 0.0

    def watch(instants: int, gap: float = APART) -> Record:
        prepare()
        seen = [motion(bars, q, v)]
        for n in instants_of(setting.steps, instants):
            with np.errstate(all="ignore"):
                advance(accelerate, q, v, setting.timestep, n)
                seen.append(motion(bars, q, v))
            if not seen[-1].gap <= gap:
                return record(seen, failed=True)
        return record(seen)

    name = f"Pinocchio {integrator}, {solver if loops_of(bars) else 'ABA'}" + (
        f", corrector {corrector:g}/h" if loops_of(bars) and solver == "Cholesky" else ""
    )
    job = Job(
        prepare, lambda: advance(accelerate, q, v, setting.timestep, setting.steps), setting.steps
    )
    return Contender(name, job, watch)


def pinocchio_calls(setting: Setting, integrator: str = "RK4", solver: str = "Cholesky") -> Job:
    """Only the calls into Pinocchio's compiled code that these steps make, at the assembly pose."""
    n, calls = 3 * setting.windows, setting.steps * {"RK4": 4, "Euler": 1}[integrator]
    accelerate = _acceleration(setting.bars, solver, 0.0)
    q = np.zeros(n)
    v = np.zeros(n)

    def run() -> None:
        for _ in range(calls):
            accelerate(q, v)

    return Job(lambda: None, run, setting.steps)


def _acceleration(bars: list[Bar], solver: str, frequency: float) -> Acceleration:
    import pinocchio as pin

    model, joints = _pinocchio_tree(bars)
    loops, loop_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for right, bar in loops_of(bars):
        ends = [pin.SE3(np.eye(3), np.array([bars[i].length, 0.0, 0.0])) for i in (bar, right)]
        loop = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            model,
            joints[bar],
            ends[0],
            joints[right],
            ends[1],
            pin.ReferenceFrame.LOCAL,
        )
        loop.m_baumgarte_parameters.Kp, loop.m_baumgarte_parameters.Kd = frequency**2, 2 * frequency
        loops.append(loop)
        loop_data.append(loop.createData())
    data, nothing = model.createData(), np.zeros(model.nv)
    if not loops_of(bars):
        return lambda q, v: pin.aba(model, data, q, v, nothing)
    proximal = pin.ProximalSettings(ACCURACY, PROXIMAL[solver], ITERATIONS)
    if solver == "LCABA":
        pin.computeJointMinimalOrdering(model, data, loops)
        return lambda q, v: pin.lcaba(model, data, q, v, nothing, loops, loop_data, proximal)
    pin.initConstraintDynamics(model, data, loops, loop_data)
    return lambda q, v: pin.constraintDynamics(
        model, data, q, v, nothing, loops, loop_data, proximal
    )


def _pinocchio_tree(bars: list[Bar]) -> tuple[Any, list[int]]:
    import pinocchio as pin

    model, joints = pin.Model(), []
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    for bar, angle in zip(bars, relative(bars), strict=True):
        place = pin.SE3(pin.utils.rotate("y", angle), np.array([bar.arm[0], 0.0, bar.arm[1]]))
        joints.append(
            model.addJoint(
                joints[bar.parent] if bar.parent >= 0 else 0,
                pin.JointModelRY(),
                place,
                f"hinge_{bar.name}",
            )
        )
        inertia = pin.Inertia(MASS, np.array([bar.length / 2, 0.0, 0.0]), np.diag(bar.inertia))
        model.appendBodyToJoint(joints[-1], inertia, pin.SE3.Identity())
    return model, joints


def _rk4(f: Acceleration, q: np.ndarray, v: np.ndarray, h: float, steps: int) -> None:
    for _ in range(steps):
        a1 = f(q, v).copy()
        v2 = v + h / 2 * a1
        a2 = f(q + h / 2 * v, v2).copy()
        v3 = v + h / 2 * a2
        a3 = f(q + h / 2 * v2, v3).copy()
        v4 = v + h * a3
        a4 = f(q + h * v3, v4)
        q += h / 6 * (v + 2 * (v2 + v3) + v4)
        v += h / 6 * (a1 + 2 * (a2 + a3) + a4)


def _euler(f: Acceleration, q: np.ndarray, v: np.ndarray, h: float, steps: int) -> None:
    for _ in range(steps):
        v += h * f(q, v)
        q += h * v


def exudyn_loops(setting: Setting, planar: bool = False, radius: float | None = 0.8) -> Contender:
    """One chain in Exudyn with its implicit integrator, sparse solver and modified Newton.

    Args:
        setting: what to simulate.
        planar: bodies of three coordinates in the plane instead of rigid bodies in space.
        radius: spectral radius of the generalised alpha method on position constraints; None: the
            trapezoidal rule on velocity constraints ("index 2").
    """
    bars = setting.bars
    made: dict[str, Any] = {}

    def prepare(sensors: bool = False) -> None:
        made["system"], made["seen"] = _exudyn_system(bars, planar, sensors)

    def run(period: float = 1e9) -> bool:
        options = _exudyn_options(setting, radius, period)
        return bool(made["system"][1].SolveDynamic(options, storeSolver=False, showHints=False))

    def watch(instants: int, gap: float = APART) -> Record:
        prepare(sensors=True)
        try:
            fine = run(setting.timestep * max(1, setting.steps // instants))
        except _exudyn().SolverError:
            fine = False
        if not fine:
            return Record(np.inf, np.inf, False, np.full(2, np.nan))
        mbs, first = made["system"][1], [motion(bars, np.zeros(len(bars)), np.zeros(len(bars)))]
        stored = [mbs.GetSensorStoredData(sensor)[:, 1:] for sensor in made["seen"]]
        return record(
            first
            + [_exudyn_motion(bars, [rows[i] for rows in stored]) for i in range(len(stored[0]))]
        )

    name = f"Exudyn {'2D' if planar else '3D'}, " + (
        "index 2" if radius is None else f"generalised alpha {radius:g}"
    )
    return Contender(name, Job(prepare, run, setting.steps), watch)


def _exudyn_motion(bars: list[Bar], rows: list[np.ndarray]) -> Motion:
    """Of displacements and rates of all bodies in turn; Exudyn's x-y plane is our x-z plane, its angles turn back."""
    n, last = len(bars), len(rows[0]) - 1
    moved, rates = np.array(rows[:n]), np.array(rows[n:])
    centres = np.array([bar.centre for bar in bars]) + moved[:, :2]
    angles = np.array([bar.angle for bar in bars]) - moved[:, last]
    return absolute(bars, centres, angles, rates[:, :2], -rates[:, last])


def _exudyn_options(setting: Setting, radius: float | None, period: float) -> Any:
    exu = _exudyn()
    options = exu.SimulationSettings()
    steps = options.timeIntegration
    steps.numberOfSteps, steps.endTime = setting.steps, setting.steps * setting.timestep
    steps.verboseMode = 0
    steps.adaptiveStep = False
    steps.newton.useModifiedNewton = True
    if radius is None:
        steps.generalizedAlpha.useIndex2Constraints = steps.generalizedAlpha.useNewmark = True
    else:
        steps.generalizedAlpha.spectralRadius = radius
    options.solution.file.write, options.solution.sensors.writePeriod = False, period
    options.show.statistics = options.show.computationTime = False
    options.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return options


@cache
def _exudyn() -> Any:
    import exudyn

    exudyn.config.printToConsole = False  # a run that fails says so by an error
    return exudyn


def _exudyn_system(bars: list[Bar], planar: bool, sensors: bool) -> tuple[Any, list[Any]]:
    import exudyn.itemInterface as items

    exu = _exudyn()
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(items.ObjectGround())
    bodies, nodes = zip(*[_exudyn_body(mbs, bar, planar) for bar in bars], strict=True)

    def join(bar: Bar, a: int, at: np.ndarray, b: int, where: float, closes: bool) -> None:
        kind = items.MarkerBodyPosition if planar or closes else items.MarkerBodyRigid
        ends = (a, [*map(float, at), 0.0]), (b, [where * bar.length / 2, 0.0, 0.0])
        markers = [
            mbs.AddMarker(kind(bodyNumber=body, localPosition=place)) for body, place in ends
        ]
        if planar:
            mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
        elif closes:  # two rows: the other three of a hinge are redundant here
            mbs.AddObject(
                items.ObjectJointSpherical(markerNumbers=markers, constrainedAxes=[1, 1, 0])
            )
        else:
            mbs.AddObject(items.ObjectJointRevoluteZ(markerNumbers=markers))

    for bar, body in zip(bars, bodies, strict=True):
        parent = bar.parent
        at = bar.arm - (np.array([bars[parent].length / 2, 0.0]) if parent >= 0 else 0.0)
        join(bar, bodies[parent] if parent >= 0 else ground, at, body, -1.0, False)
    for i, j in loops_of(bars):
        join(bars[i], bodies[j], np.array([bars[j].length / 2, 0.0]), bodies[i], 1.0, True)
    kinds = (
        (exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t)
        if sensors
        else ()
    )
    seen = [
        mbs.AddSensor(
            items.SensorNode(
                nodeNumber=node, outputVariableType=k, writeToFile=False, storeInternal=True
            )
        )
        for k in kinds
        for node in nodes
    ]
    mbs.Assemble()
    return (container, mbs), seen


def _exudyn_body(mbs: Any, bar: Bar, planar: bool) -> tuple[Any, Any]:
    import exudyn.itemInterface as items

    x, y = map(float, bar.centre)
    turn = -bar.angle
    if planar:
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, y, turn]))
        body = mbs.AddObject(
            items.ObjectRigidBody2D(mass=MASS, inertia=bar.inertia[1], nodeNumber=node)
        )
    else:  # Tait-Bryan angles, the fastest of its rigid bodies here
        node = mbs.AddNode(
            items.NodeRigidBodyRxyz(referenceCoordinates=[x, y, 0.0, 0.0, 0.0, turn])
        )
        inertia = [*bar.inertia, 0.0, 0.0, 0.0]
        body = mbs.AddObject(items.ObjectRigidBody(mass=MASS, inertia=inertia, nodeNumber=node))
    marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0.0, -GRAVITY, 0.0]))
    return body, node
