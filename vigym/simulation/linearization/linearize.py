"""Linearisation of a simulator's steps about its present state."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.core.kernels.compositions import COMPOSITIONS
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.derivative import Inputs, LinearStep
from vigym.simulation.linearization.loop_tangent import Knot
from vigym.simulation.linearization.motors import driven_loops
from vigym.simulation.parameters.parameters import Parameters
from vigym.simulation.plant import Plant
from vigym.simulation.state.inputs import positive_integer
from vigym.simulation.state.readings import Readings
from vigym.simulation.state.saved_state import SavedState

AT_LIMIT = 1e-6  # [m or rad] distance within which a joint limit acts
TOUCHING = 1e-6  # [m] gap within which a contact acts


class Linearizer:
    """Linearisation of the steps of all environments, see `Simulator.linearize`.

    Args:
        plant: mechanism and memory.
        readings: its readings.
        parameters: its parameters.
        saved_state: its state, which is restored after the steps.
    """

    def __init__(
        self, plant: Plant, readings: Readings, parameters: Parameters, saved_state: SavedState
    ) -> None:
        self._plant = plant
        self._readings = readings
        self._parameters = parameters
        self._saved_state = saved_state

    def linearize(
        self, torques: ArrayLike | None, substeps: int, targets: ArrayLike | None
    ) -> tuple[Array, Array]:
        """Linearise steps about the present state, which is restored.

        Arguments, results and errors are those of `Simulator.linearize`.
        """
        plant = self._plant
        _check_smooth(plant.mechanism)
        if plant.any_wrench:
            raise ValueError("linearize: found a held wrench, expected none; a reset clears them")
        inputs = plant.torque_rows(torques), plant.target_rows(targets)
        self._check_efforts(inputs[0])
        steps = self._linear_steps()
        parts = np.tile(COMPOSITIONS[plant.options.order], positive_integer(substeps, "substeps"))
        size = 2 * len(plant.mechanism.velocity_names)
        A = np.tile(np.eye(steps[0].size), (plant.count, 1, 1))
        B = np.zeros((plant.count, steps[0].size, inputs[0].shape[1] + inputs[1].shape[1]))
        state = self._saved_state.save()
        try:
            for k, part in enumerate(parts):
                h = part * plant.options.timestep
                F, G = self._one_step(steps, inputs, h, is_continued=k > 0)
                A, B = F @ A, F @ B + G
        finally:
            self._saved_state.restore(state, plant.mask(None))
        return plant.squeeze(A[:, :size, :size]), plant.squeeze(B[:, :size])

    def _one_step(
        self, steps: list[LinearStep], inputs: tuple[Array, Array], h: float, is_continued: bool
    ) -> tuple[Array, Array]:
        """Make a step of size h; return its A (count, n, n) and B (count, n, inputs).

        Deviations (n,) as of `LinearStep.derivatives`.
        """
        *last, before = self._plant.last_inputs()
        slow = self._plant.slow_rates()
        start = self._knots()
        self._readings.clear()
        self._plant.advance(inputs, h, 2, 1, self._readings.status_rows)
        self._check_converged()
        end = self._knots()
        pairs = []
        for e, step in enumerate(steps):
            last_inputs = last[0][e], last[1][e]
            constant = Inputs(inputs[0][e], inputs[1][e], last_inputs, is_continued, slow[e])
            pairs.append(step.derivatives((start[e], end[e]), constant, h, before[e]))
        return np.array([A for A, _ in pairs]), np.array([B for _, B in pairs])

    def _linear_steps(self) -> list[LinearStep]:
        """Return the linearised step of every environment; environments as built share one."""
        built = self._plant.mechanism
        shared = LinearStep(built)
        mechanisms = self._parameters.mechanisms
        return [shared if mech is built else LinearStep(mech) for mech in mechanisms]

    def _knots(self) -> list[Knot]:
        """Return the present knot of every environment, free of contacts and limits."""
        self._check_free()
        coordinates = self._plant.coordinates
        tree, velocities = coordinates.tree_positions, coordinates.tree_velocities
        q = self._readings.position_rows
        rates = self._readings.velocity_rows[:, :velocities]
        return [Knot(*row) for row in zip(q[:, :tree], rates, q[:, tree:], strict=True)]

    def _check_efforts(self, torques: Array) -> None:
        for e, row in enumerate(torques):
            if (np.abs(row) > _efforts(self._parameters.mechanism_of(e))).any():
                raise ValueError(
                    "linearize: found torques beyond an effort, expected torques that are not "
                    "clipped"
                )

    def _check_converged(self) -> None:
        converged, _, residual, halvings, *_ = self._readings.status_rows.T
        if not converged.all() or halvings.any():
            found = f"that left a residual of {residual.max():.3g}"
            if converged.all():
                found = "that had to be halved"
            raise RuntimeError(
                f"linearize: found a step {found}, expected one that converges; use a smaller "
                "timestep"
            )

    def _check_free(self) -> None:
        """Raise ValueError where a contact or joint limit acts."""
        mechanism = self._plant.mechanism
        gaps = self._readings.gaps.min(axis=0, initial=np.inf)
        for name, gap in zip(mechanism.contact_names, gaps, strict=True):
            if gap < TOUCHING:
                raise ValueError(
                    f"linearize: found contact {name!r} on the ground, expected contacts off the "
                    "ground"
                )
        rows, start = self._readings.position_rows, 0
        for joint in mechanism.ordered_joints:
            stop = start + len(joint.joint_type.positions)
            if joint.limits is not None:
                q = rows[:, start : start + len(joint.limits)]
                distance = min((q - joint.limits[:, 0]).min(), (joint.limits[:, 1] - q).min())
                if distance < AT_LIMIT:
                    raise ValueError(
                        f"linearize: found joint {joint.name!r} at its limit, expected joints off "
                        "limits"
                    )
            start = stop


def _efforts(mechanism: Mechanism) -> Array:
    """Return the largest torque of every actuator (n_actuated,) [N or N m]."""
    efforts = [joint.effort for joint in mechanism.actuated_joints for _ in range(joint.dofs)]
    return np.array(efforts, dtype=np.float64)


def _check_smooth(mechanism: Mechanism) -> None:
    """Raise ValueError for elements that are not smooth, or not in the formulas."""
    electric = [name for name, motor in mechanism.motors.items() if motor.model is not None]
    rubbing = [joint.name for joint in mechanism.ordered_joints if joint.friction > 0.0]
    found = [f"the electric model of the motor of joint {name!r}" for name in electric]
    found += [f"joint {name!r} with friction" for name in rubbing]
    found += [f"the actuator of {name!r}, which closes a loop" for name in driven_loops(mechanism)]
    found += [f"curve or surface joint {name!r}" for name in mechanism.tracks]
    found += [f"the prescribed motion of {name!r}" for name in mechanism.motions]
    found += [f"velocity constraint {name!r}" for name in mechanism.velocity_constraints]
    found += [f"potential {name!r}" for name in mechanism.potentials]
    found += [f"skate {name!r}" for name in mechanism.skates]
    found += [f"wheel {name!r}" for name in mechanism.wheels]
    if found:
        raise ValueError(
            f"linearize: found {found[0]}, expected a mechanism without electric models of motors, "
            "dry friction, actuators of loop-closing joints, prescribed motions, velocity "
            "constraints, potentials, skates and wheels: their steps are not linearised"
        )
