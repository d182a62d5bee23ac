"""Motions, velocity constraints and potentials that are imposed, as rows of the core's tables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vigym.core.compiler.callbacks import Compiled, compilable_of_user, compile_function
from vigym.core.tables.constants import LOOP_ROW_MODEL, TERM_MODEL
from vigym.core.tables.plan import (
    MOTION_PLAN,
    POTENTIAL_PLAN,
    PRESCRIBED_ROW,
    TERM_PLAN,
    VELOCITY_ROW,
)
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.couplings import VelocityConstraint
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.mechanism.tracks.rows import track_rates
from vigym.simulation.compile.elimination_order import LoopRow, Loops
from vigym.simulation.compile.layout import Rows

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

# part of the largest singular value of the mobility along all that is imposed, each of length one
DEPENDENT = 1e-9


def velocity_rows(mechanism: Mechanism, rows: Rows) -> list[LoopRow]:
    """Return the loop rows of velocity constraints, in their order."""
    found = []
    for number, constraint in enumerate(mechanism.velocity_constraints.values()):
        names = [*constraint.bodies, *(constraint.frame_of(body) for body in constraint.bodies)]
        ends = [rows.body[name] for name in dict.fromkeys(names) if name != WORLD]
        constants = LOOP_ROW_MODEL.rows(1)[0]
        row = LoopRow(VELOCITY_ROW, number, ends[0], ends[0], -1, constants, others=tuple(ends))
        found.append(row)
    return found


def term_rows(mechanism: Mechanism, rows: Rows, loops: Loops) -> tuple[np.ndarray, np.ndarray]:
    """Return plan and constants of the terms of velocity constraints, (n_terms,) each."""
    places = {row.owner: r for r, row in enumerate(loops.rows) if row.kind == VELOCITY_ROW}
    constraints = list(mechanism.velocity_constraints.values())
    count = sum(len(constraint.bodies) for constraint in constraints)
    plan, constants = TERM_PLAN.rows(count), TERM_MODEL.rows(count)
    n = 0
    for number, constraint in enumerate(constraints):
        for body in constraint.bodies:
            frame = constraint.frame_of(body)
            plan[n]["body"], plan[n]["frame"] = rows.body[body], rows.body[frame]
            plan[n]["body_fill_in"] = loops.fill_in(rows.body[body], places[number])
            plan[n]["frame_fill_in"] = loops.fill_in(rows.body[frame], places[number])
            weights, push = _weights_of(constraint, body)
            constants[n]["linear"], constants[n]["angular"] = weights[:3], weights[3:]
            constants[n]["push"], constants[n]["push_torque"] = push[:3], push[3:]
            n += 1
    return plan, constants


def imposed_rows(
    mechanism: Mechanism, rows: Rows, loops: Loops
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the lists of the plan by entry of the header, and the constants of terms.

    Raises:
        MechanismError: functions of potentials that numba does not compile.
    """
    terms, constants = term_rows(mechanism, rows, loops)
    lists = {
        "plan_motions": motion_rows(mechanism, rows, loops),
        "plan_terms": terms,
        "plan_potentials": potential_rows(mechanism, rows),
    }
    return lists, constants


def _weights_of(constraint: VelocityConstraint, body: str) -> tuple[Array, Array]:
    """Return weights and push (6,) of a body, as the equations have them: divided by the size."""
    none = np.zeros(6)
    weights = constraint.terms.get(body, none)
    push = weights if constraint.pushes is None else constraint.pushes.get(body, none)
    return weights / constraint.size, push / constraint.size


def motion_rows(mechanism: Mechanism, rows: Rows, loops: Loops) -> np.ndarray:
    """Return the plan of prescribed motions, then of velocity constraints."""
    dofs = rows.velocity_dofs
    of_dofs = {row.dof: r for r, row in enumerate(loops.rows) if row.kind == PRESCRIBED_ROW}
    others = {row.owner: r for r, row in enumerate(loops.rows) if row.kind == VELOCITY_ROW}
    found = [(of_dofs[dofs[name]], 0, 0, 0) for name in mechanism.motions]
    first = 0
    for number, constraint in enumerate(mechanism.velocity_constraints.values()):
        count = len(constraint.bodies)
        found.append((others[number], first, count, constraint.pushes is not None))
        first += count
    return np.array(found, MOTION_PLAN.dtype)


@functools.cache  # compiled once, and kept as long as kernels may call it
def compile_potential(energy: Callable[..., Any], forces: Callable[..., Any]) -> Compiled:
    """Compile a potential to a function of C: from 7 numbers of a pose to its 7 numbers.

    Args:
        energy: of (position, orientation) to a number.
        forces: of the same to (force, torque), three numbers each.

    Raises:
        TypeError: functions that are no Python functions, or that numba does not compile.
    """
    of_energy, of_forces = compilable_of_user(energy), compilable_of_user(forces)

    def potential(pose: Array, found: Array) -> None:
        position, orientation = pose[:3].copy(), pose[3:].copy()
        found[0] = of_energy(position, orientation)
        force, torque = of_forces(position, orientation)
        for k in range(3):
            found[1 + k] = force[k]
            found[4 + k] = torque[k]

    return compile_function(potential, 7, 7)


def potential_rows(mechanism: Mechanism, rows: Rows) -> np.ndarray:
    """Return the plan of potentials, their functions compiled.

    Raises:
        MechanismError: functions that numba does not compile.
    """
    found = []
    for potential in mechanism.potentials.values():
        try:
            compiled = compile_potential(potential.energy, potential.forces)
        except TypeError as error:
            raise MechanismError(
                f"potential {potential.name!r}: found functions that numba does not compile "
                f"({error}), expected arithmetic of numbers and numpy"
            ) from error
        found.append((rows.body[potential.body], compiled.address))
    return np.array(found, POTENTIAL_PLAN.dtype)


def check_imposed(mechanism: Mechanism) -> None:
    """Raise MechanismError for motions and velocity constraints that something else sets already.

    Loops, couplings, curve and surface joints and other ones may; also forces that cannot make the
    velocities they have to.
    """
    if not (mechanism.motions or mechanism.velocity_constraints):
        return
    mobility = Mobility(mechanism, mechanism.structure)
    if mechanism.tracks:
        mobility.hold(track_rates(mechanism, mobility))
    names = [name for joint in mechanism.tree_joints for name in joint.velocity_names]
    dofs = [names.index(name) for name in mechanism.motions]
    for count, name in enumerate(mechanism.motions, start=1):
        if mobility.rank_along(dofs[:count]) < count:
            raise MechanismError(
                f"motion of {name!r}: found a coordinate that loops, couplings, curve or surface "
                "joints or other prescribed motions set already, expected one that is free"
            )
    _check_velocity_constraints(mechanism, mobility, dofs)


def _check_velocity_constraints(mechanism: Mechanism, mobility: Mobility, dofs: list[int]) -> None:
    """Raise MechanismError for a velocity constraint that cannot be met.

    Args:
        mechanism: with the constraints.
        mobility: of its bodies.
        dofs: degrees of freedom of the tree whose motion is prescribed.
    """
    units = np.eye(mobility.dofs)[dofs]
    measured, forces = list(units), list(units)
    for name, constraint in mechanism.velocity_constraints.items():
        pushes = constraint.terms if constraint.pushes is None else constraint.pushes
        own = [mobility.along(each, constraint.frame_of) for each in (constraint.terms, pushes)]
        if mobility.is_still(own[0]):
            raise MechanismError(
                f"velocity constraint {name!r}: found velocities that joints and loops hold at "
                "zero, expected some that bodies can have"
            )
        measured.append(own[0])
        forces.append(own[1])
        if mobility.least_response(measured, forces) < DEPENDENT:
            raise MechanismError(
                f"velocity constraint {name!r}: found a velocity that prescribed motions, curve or "
                "surface joints or other velocity constraints set already, or that its pushes "
                "cannot change, expected one that is free"
            )
