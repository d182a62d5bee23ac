"""Dynamics of a simulator in joint coordinates: forces and accelerations of joints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import Array
from vigym.simulation.dynamics.joint_dynamics import JointDynamics
from vigym.simulation.linearization.loop_tangent import Knot
from vigym.simulation.linearization.motors import driven_loops
from vigym.simulation.parameters.parameters import Parameters
from vigym.simulation.plant import Plant
from vigym.simulation.state.inputs import acceleration_rows, point_rows
from vigym.simulation.state.readings import Readings

# rows of environments that share a mechanism, and their present knots
Rows = NDArray[np.int64]
Query = Callable[[JointDynamics, Rows, Knot], Array]


class Dynamics:
    """Equations of motion of all environments at their present state, without a step.

    n is the number of velocities of the tree's joints: the first n of ``mechanism.velocity_names``.
    Those of loop-closing joints come after them; they follow from the others, and are left out.
    Forces are smooth ones: gravity, potentials, springs, dampers, armatures, actuators and motors.
    Contacts, joint limits, dry friction, skates, wheels, the efforts of actuators and motors and
    the largest rates of motors do not act.

    Args:
        plant: mechanism and memory.
        readings: its readings.
        parameters: its parameters.
    """

    def __init__(self, plant: Plant, readings: Readings, parameters: Parameters) -> None:
        self._plant = plant
        self._readings = readings
        self._parameters = parameters
        self._models: dict[int, JointDynamics] = {}  # by the identity of their mechanism

    def mass_matrix(self) -> Array:
        """Compute the mass matrix M (..., n, n) of the tree, armatures included.

        1/2 v' M v is the kinetic energy at velocities v of the tree's joints. It is symmetric and
        positive definite. Entries are in kg, kg m and kg m^2, as the velocities are in m/s or
        rad/s. Constraints of loops and couplings are not eliminated; armatures of loop-closing
        joints are included.
        """
        return self._evaluate(lambda model, rows, knot: model.mass_matrix(knot.q))

    def point_jacobian(self, body: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Compute the velocity of a point fixed in a body at unit velocities of the tree's joints.

        Args:
            body: body or frame.
            point: in its axes, from its centre of mass or the frame's origin (3,) [m]; in a batch
                also (batch, 3).

        Returns:
            (..., 6, n): rows 0 to 2 are the point's velocity [m/s], 3 to 5 the body's angular
            velocity [rad/s], world axes. The transpose maps a force at the point, and a moment, to
            forces of the joints.

        Raises:
            MechanismError: no body or frame has this name.
            ValueError: a point of the wrong shape, or not finite.
        """
        points = point_rows(point, self._plant.count, self._plant.single)
        return self._evaluate(
            lambda model, rows, knot: model.point_jacobian(knot.q, body, points[rows])
        )

    def forward(self, torques: ArrayLike | None = None, targets: ArrayLike | None = None) -> Array:
        """Compute the accelerations of the tree's joints under torques, as of smooth forces.

        They are the limit of (change of velocity in a step) / (size of the step) for small steps.
        Loops and couplings stay closed.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m]; None is zero. Efforts do not
                clip them.
            targets: (n_motors,) or (batch, n_motors) [rad, m or their rates]; None: motors idle.

        Returns:
            (..., n) [m/s^2, rad/s^2]; of three free rotations the rate of the angular velocity in
            the child's axes.

        Raises:
            ValueError: inputs of the wrong shape or not finite, a target for a motor with an
                electric model, a prescribed motion, a held wrench, a pose where loops leave more
                motions than elsewhere.
        """
        self._require_no_inputs("dynamics.forward")
        u, goals = self._plant.torque_rows(torques), self._plant.target_rows(targets)

        def query(model: JointDynamics, rows: Rows, knot: Knot) -> Array:
            return model.forward(knot, model.actuator_forces(knot, u[rows], goals[rows]))

        return self._evaluate(query)

    def inverse(self, accelerations: ArrayLike, actuated: bool | None = None) -> Array:
        """Compute the forces of joints that give accelerations, motors being idle.

        In a tree they are unique. With loops or couplings many forces have the same effect: the
        forces of least norm are returned (N and N m being added without weights).

        Args:
            accelerations: (n,) or (batch, n) of the tree's joints [m/s^2, rad/s^2]. They keep loops
                and couplings closed to 1e-6, as those of `forward` do.
            actuated: True: the torques of actuators alone, as a step takes them. False: forces
                along all velocities of the tree. None: True with loops or couplings, else False.

        Returns:
            (..., n_actuated) or (..., n) [N, N m].

        Raises:
            ValueError: accelerations of the wrong shape, not finite, or that open a loop or
                coupling (the error has the misfit); forces that actuators alone cannot give; a
                prescribed motion, a held wrench, a pose where loops leave more motions than
                elsewhere.
        """
        self._require_no_inputs("dynamics.inverse")
        plant = self._plant
        n = plant.coordinates.tree_velocities
        given = acceleration_rows(accelerations, plant.count, n, plant.single)

        def query(model: JointDynamics, rows: Rows, knot: Knot) -> Array:
            only = model.is_constrained if actuated is None else bool(actuated)
            return model.least_forces(knot, model.inverse(knot, given[rows]), only)

        return self._evaluate(query)

    def _evaluate(self, query: Query) -> Array:
        """Return the answers to a query of all environments, (count, ...) or of a single one."""
        coordinates, q = self._plant.coordinates, self._readings.position_rows
        tree = coordinates.tree_positions
        rates = self._readings.velocity_rows[:, : coordinates.tree_velocities]
        answers: dict[int, Array] = {}
        for model, rows in self._groups():
            knot = Knot(q[rows, :tree], rates[rows], q[rows, tree:])
            answers.update(zip(rows.tolist(), query(model, rows, knot), strict=True))
        return self._plant.squeeze(np.array([answers[e] for e in range(self._plant.count)]))

    def _require_no_inputs(self, name: str) -> None:
        """Raise ValueError for imposed motions and forces, which the equations do not have.

        Args:
            name: of the method that is called, for the error.
        """
        mechanism = self._plant.mechanism
        others = [f"the prescribed motion of {one!r}" for one in mechanism.motions]
        others += [f"velocity constraint {one!r}" for one in mechanism.velocity_constraints]
        others += [f"the curve or surface joint {one!r}" for one in mechanism.tracks]
        loops = driven_loops(mechanism)
        others += [f"the actuator of {one!r}, which closes a loop" for one in loops]
        for found in others:
            raise ValueError(f"{name}: found {found}, expected a mechanism without")
        if self._plant.any_wrench:
            raise ValueError(f"{name}: found a held wrench, expected none; a reset clears them")

    def _groups(self) -> list[tuple[JointDynamics, Rows]]:
        """Return the equations of every mechanism, and the environments that have it."""
        mechanisms = self._parameters.mechanisms
        present = {id(mechanism): mechanism for mechanism in mechanisms}
        self._models = {k: self._models.get(k) or JointDynamics(m) for k, m in present.items()}
        keys = np.array([id(mechanism) for mechanism in mechanisms])
        return [(model, np.flatnonzero(keys == key)) for key, model in self._models.items()]
