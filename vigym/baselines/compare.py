"""Comparison of methods on one mechanism from one start."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from vigym.baselines.methods import METHODS, PRODUCT, StepError, elements
from vigym.mechanism.elements.checks import require_one_of
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.simulation.state.coordinates import Given
from vigym.spatial import Array

SAMPLES = 500  # readings of a run


@dataclass(frozen=True, eq=False)
class Run:
    """Result of a simulation by one method.

    Attributes:
        method: key in `METHODS`.
        steps: number of steps that were made.
        failure: message of the step that could not be made; None.
        iterations: mean of all steps.
        factorisations: mean of all steps.
        step_us: processor time of a step [us], without readings.
        times: of the readings (n,) [s].
        energies: minus that of the start (n,) [J].
        gaps: largest joint gaps (n,) [m or rad].
    """

    method: str
    steps: int
    failure: str | None
    iterations: float
    factorisations: float
    step_us: float
    times: Array
    energies: Array
    gaps: Array

    def row(self) -> dict[str, float | str | None]:
        """Return the numbers of a table's row."""
        return {
            "method": self.method,
            "order": METHODS[self.method].order,
            "steps": self.steps,
            "energy_error_J": float(np.abs(self.energies).max()),
            "energy_error_end_J": float(self.energies[-1]),
            "gap": float(self.gaps.max()),
            "iterations": self.iterations,
            "factorisations": self.factorisations,
            "step_us": self.step_us,
            "failure": self.failure,
        }


@dataclass(frozen=True)
class Setting:
    """Start, step and length of a comparison.

    Attributes:
        timestep: step size [s].
        seconds: simulated time [s].
        tolerance: of the equations that a step solves, see each method.
        positions, velocities: start, as `Simulator.reset` takes them.
    """

    timestep: float = 0.01
    seconds: float = 10.0
    tolerance: float = 1e-10
    positions: Given = None
    velocities: Given = None


def able_methods(mechanism: Mechanism) -> list[str]:
    """Return the names of the methods that simulate a mechanism, the product's step first."""
    kinds = {kind for kind, _ in elements(mechanism)}
    able = [name for name, method in METHODS.items() if kinds <= method.knows]
    return sorted(able, key=lambda name: name != PRODUCT)


def left_out(mechanism: Mechanism) -> dict[str, list[str]]:
    """Return the methods that refuse a mechanism, each with the first unsupported element."""
    found: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        unknown = [
            name if name.startswith(kind) else f"{kind}, {name}"
            for kind, name in elements(mechanism)
            if kind not in method.knows
        ]
        if unknown:
            found.setdefault(unknown[0], []).append(name)
    return found


def energy_takers(mechanism: Mechanism) -> list[str]:
    """Return the kinds of elements of a mechanism that take or give energy while motors idle."""
    joints, motors = mechanism.joints.values(), mechanism.motors
    slides = [slide for _, slide in mechanism.slides]
    dampers = [joint.is_damped for joint in joints] + [slide.forces.damping for slide in slides]
    dampers += [spring.damping for spring in mechanism.springs.values()]
    friction = [joint.friction for joint in joints] + [slide.forces.friction for slide in slides]
    kinds = {
        "dampers": np.any(dampers),
        "friction": any(friction),
        "limits": any(joint.limits is not None for joint in joints)
        or any(slide.has_limits for slide in slides),
        "contacts": mechanism.contact_names,
        "skates": mechanism.skates,
        "wheels": mechanism.wheels,
        "motors at their largest rates": any(j.velocity and j.name in motors for j in joints),
        "prescribed motions": mechanism.motions,
        "velocity constraints": mechanism.velocity_constraints,
    }
    return [kind for kind, present in kinds.items() if present]


def bare(mechanism: Mechanism) -> Mechanism:
    """Return bodies, joints and couplings alone: no limits, forces of joints, springs, contacts.

    Curve, surface and custom joints are joints.
    """
    result = Mechanism(mechanism.gravity, ground=False, name=mechanism.name)
    for body in mechanism.bodies.values():
        result.add_body(body.name, body.mass, body.inertia, body.position, body.orientation)
    for joint in mechanism.joints.values():
        result.add_joint(
            joint.name,
            joint.type,
            joint.parent,
            joint.child,
            joint.position,
            joint.axis,
            axis2=joint.axis2,
            child_position=joint.child_position,
            child_rotation=joint.child_rotation,
        )
    for name, track in mechanism.tracks.items():
        if isinstance(track, CustomJoint):
            result.tracks.add(name, replace(track, slides=(None,) * len(track.slides)))
        else:
            result.tracks.add(name, replace(track, slide=None))
    for name, one in mechanism.couplings.items():
        result.add_coupling(name, one.type, one.joint, one.other, one.ratio, one.offset)
    return result


def compare(
    mechanism: Mechanism, methods: Iterable[str] | None = None, setting: Setting = Setting()
) -> list[Run]:
    """Simulate a mechanism by several methods from one start.

    Args:
        mechanism: moves freely; motors idle.
        methods: keys in `METHODS`; None: all that simulate this mechanism.
        setting: start, step and length.

    Raises:
        MechanismError: a method is unknown, or does not support an element.
    """
    names = able_methods(mechanism) if methods is None else list(methods)
    for name in names:
        require_one_of(name, METHODS, "method")
    if not (setting.seconds > 0.0 and np.isfinite(setting.seconds)):
        found = f"found {setting.seconds!r}"
        raise MechanismError(f"seconds: {found}, expected a positive finite number [s]")
    return [simulate(name, mechanism, setting) for name in names]


def simulate(name: str, mechanism: Mechanism, setting: Setting) -> Run:
    """Simulate a mechanism by one method, to the end or to the first step that fails."""
    method = METHODS[name](mechanism, setting.timestep, setting.tolerance)
    method.step()  # compiles the kernels of the method
    method.reset(setting.positions, setting.velocities)
    with np.errstate(all="ignore"):
        start = method.energy().total
    readings = [(0.0, 0.0, method.gap())]
    count = max(1, round(setting.seconds / setting.timestep))
    pause = -(-count // SAMPLES)
    steps, seconds = 0, 0.0
    iterations, factorisations = 0, 0
    failure: str | None = None
    while steps < count and failure is None:
        begun = time.process_time()
        try:
            for _ in range(min(pause, count - steps)):
                method.step()
                steps += 1
                iterations += method.iterations
                factorisations += method.factorisations
        except StepError as error:
            failure = str(error)
        seconds += time.process_time() - begun
        with np.errstate(all="ignore"):  # a number that is not finite is a failure
            reading = method.time, method.energy().total - start, method.gap()
        if failure is None and not np.isfinite(reading).all():
            failure = f"method {name!r} at {method.time:.6g} s: found an energy that is not finite"
        if failure is None:
            readings.append(reading)
    made = max(1, steps)
    each = iterations / made, factorisations / made, 1e6 * seconds / made
    return Run(name, steps, failure, *each, *np.array(readings).T)
