"""Options of a simulator: their values, defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.core.kernels.compositions import COMPOSITIONS
from vigym.mechanism.elements.checks import require_one_of
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.state.float32 import TOLERANCES
from vigym.simulation.state.inputs import positive_integer, real_number

MAX_THREADS = 256
SHORTEST = 1e-300  # [s] step whose inverse is a number


@dataclass(frozen=True)
class Options:
    """Options of a simulator; fixed, because they are checked against each other.

    Attributes:
        timestep: step size h [s].
        order: order of the integrator, 2, 4 or 6.
        loops: elimination of loops, "auto", "tail" or "local".
        tolerance: largest scaled residual of an accepted step.
        max_iterations: largest number of iterations of a step.
        batch: number of environments, None for one without a leading axis.
        threads: largest number of threads that share a call.
        friction_cone: "cone" or "pyramid".
        contact_solver: "newton" or "interior_point".
        precision: number type of the steps, "float64" or "float32".
    """

    timestep: float = 0.01
    order: int = 2
    loops: str = "auto"
    tolerance: float = TOLERANCES["float64"]
    max_iterations: int = 3000
    batch: int | None = None
    threads: int = 1
    friction_cone: str = "cone"
    contact_solver: str = "newton"
    precision: str = "float64"


def checked_options(mechanism: Mechanism, **given: Any) -> Options:
    """Check all options of a simulator.

    Args:
        mechanism: mechanism to simulate.
        given: values by name; a tolerance of None is the precision's default.

    Raises:
        ValueError: names the first value that is out of range.
    """
    if not isinstance(mechanism, Mechanism):
        raise ValueError(f"mechanism: found {mechanism!r}, expected a vigym.Mechanism")
    timestep = real_number(given["timestep"], "timestep [s]")
    precision = require_one_of(given["precision"], [*TOLERANCES], "precision")
    tolerance = TOLERANCES[precision]
    if given["tolerance"] is not None:
        tolerance = real_number(given["tolerance"], "tolerance")
    if not (0.0 < timestep < np.inf):
        raise ValueError(f"timestep: found {timestep!r}, expected a positive finite number [s]")
    if timestep < SHORTEST:
        raise ValueError(f"timestep: found {timestep!r}, expected at least {SHORTEST:g} s")
    _check_order(given["order"], mechanism)
    if not (1e-14 <= tolerance < 1.0):
        raise ValueError(f"tolerance: found {tolerance!r}, expected a number from 1e-14 to 1")
    positive_integer(given["max_iterations"], "max_iterations")
    _check_threads(given["threads"], given["batch"])
    require_one_of(given["loops"], ["auto", "tail", "local"], "loops")
    cone = require_one_of(given["friction_cone"], ["cone", "pyramid"], "friction_cone")
    solver = require_one_of(given["contact_solver"], ["newton", "interior_point"], "contact_solver")
    if (cone, solver) == ("pyramid", "interior_point"):
        raise ValueError(
            'contact_solver: found "interior_point" with friction_cone="pyramid", expected "newton"'
        )
    return Options(**given | {"timestep": timestep, "tolerance": tolerance})


def _check_threads(threads: Any, batch: Any) -> None:
    if batch is not None:
        positive_integer(batch, "batch")
    positive_integer(threads, "threads")
    if threads > MAX_THREADS:
        raise ValueError(f"threads: found {threads!r}, expected at most {MAX_THREADS}")
    if threads > 1 and batch is None:
        raise ValueError(
            f"threads: found {threads!r} for one environment, expected 1; "
            "a batch is shared by threads"
        )


def _check_order(order: Any, mechanism: Mechanism) -> None:
    if order not in list(COMPOSITIONS):
        raise ValueError(
            f"order: found {order!r}, expected one of {', '.join(map(str, COMPOSITIONS))}"
        )
    irreversible = _irreversible_elements(mechanism) if order > 2 else []
    if irreversible:
        raise ValueError(
            f"order={order}: found {irreversible[0]}; a composition with a negative step needs a "
            "system without dissipation, motors, limits and contact"
        )


def _irreversible_elements(mechanism: Mechanism) -> list[str]:
    """Describe the elements whose forces are not reversible in time."""
    joints = mechanism.joints.values()
    springs = mechanism.springs.values()
    found = [f"joint {joint.name!r}, damped" for joint in joints if joint.is_damped]
    found += [f"joint {joint.name!r} with limits" for joint in joints if joint.limits is not None]
    found += [f"joint {joint.name!r} with friction" for joint in joints if joint.friction > 0]
    found += [f"spring {spring.name!r}, damped" for spring in springs if spring.damping > 0]
    found += [f"the motor of joint {name!r}" for name in mechanism.motors]
    found += [f"limits, damping or friction of joint {name!r}" for name in _dissipative(mechanism)]
    found += [f"the prescribed motion of {name!r}" for name in mechanism.motions]
    found += [f"velocity constraint {name!r}" for name in mechanism.velocity_constraints]
    return found + [f"contact {name!r}" for name in mechanism.contact_names]


def _dissipative(mechanism: Mechanism) -> list[str]:
    """Return the names of curve and surface joints along which forces are not reversible."""
    return [
        track.name
        for track, slide in mechanism.slides
        if slide.has_limits or slide.forces.damping > 0 or slide.forces.friction > 0
    ]
