"""Linearisation of a simulator's steps about its present state: the linearising half of `Simulator`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.core import tables as T
from vigym.core.advance import GAMMA
from vigym.core.drives import IDLE
from vigym.core.simd import LANES
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.derivative import Inputs, LinearStep
from vigym.simulation.linearization.loop_tangent import Knot
from vigym.simulation.state.coordinates import Array
from vigym.simulation.state.options import targets_of, torques_of, whole
from vigym.simulation.state.readings import Reader

AT_LIMIT = 1e-6  # [m or rad] a joint that is that near to a limit is held by it
PARTS = {2: (1.0,), 4: (GAMMA, 1.0 - 2.0 * GAMMA, GAMMA)}  # of a step, by the order of the method
TOUCHING = 1e-6  # [m] so is a contact that near to the ground


class Linear(Reader):
    """The linearising half of `Simulator`."""

    state: Array
    _order: int
    _timestep: float

    def _advance(self, torques: Array, targets: Array, h: float, order: int, steps: int) -> None:
        raise NotImplementedError

    def linearize(
        self, torques: ArrayLike | None = None, substeps: int = 1, targets: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Linearise the steps that follow about the present state, which stays as it is.

        With x the deviation of a state, (displacement, velocity) along the freedoms of all joints in the order of
        ``mechanism.velocity_names``, and u that of the torques and of the motors' targets, held over all steps,

            x' = A x + B u.

        Where coordinates are numbers x is the difference of (``joint_positions``, ``joint_velocities``); that of a
        quaternion is the small rotation in the child's axes. Loops and couplings: A sees of x the motions they allow
        and that are nearest in kinetic energy, columns of closing joints are zero; A x and B u stay on the loops.

        A step is smooth without contact, limits and dry friction, and where motors are away from their largest force
        and rate. After a reset the first step of a damped joint, or one with a motor, differs from the following ones
        by about (timestep damping / inertia)^2: linearise after a step if that matters. What motors were told in the
        step before still acts on the first one, and is no part of u.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m] about which; None is zero.
            substeps: number of steps.
            targets: (n_motors,) or (batch, n_motors) [rad, m or their rates] about which; None: all motors idle.

        Returns:
            A (..., 2 n, 2 n) and B (..., 2 n, n_actuated + n_motors) with n = len(``mechanism.velocity_names``).

        Raises:
            ValueError: inputs of the wrong shape or beyond an effort, a mechanism with electric models of motors, dry
                friction, skates or wheels, a contact that touches, a joint at its limit, a motor at its largest force
                or rate, a pose where loops leave more motions than elsewhere.
            RuntimeError: a step that does not converge, or only in halves.
        """
        _check_smooth(self.mechanism)
        u = torques_of(torques, self._count, int(self._groups.plan[T.ACTUATORS]), self._single)
        aims = targets_of(targets, self._count, int(self._groups.plan[T.MOTORS]), self._single)
        if any((np.abs(row) > _efforts(self._mechanism_of(e))).any() for e, row in enumerate(u)):
            raise ValueError("linearize: found torques beyond an effort, expected torques that are not clipped")
        kept, n, linear = self.state, len(self.mechanism.velocity_names), self._linear_steps()
        inputs = u.shape[1] + aims.shape[1]
        A, B = np.tile(np.eye(2 * n), (self._count, 1, 1)), np.zeros((self._count, 2 * n, inputs))
        try:
            for k, part in enumerate(PARTS[self._order] * whole(substeps, "substeps")):
                F, G = self._one_step(linear, (u, aims), part * self._timestep, goes_on=k > 0)
                A, B = F @ A, F @ B + G
        finally:
            self.state = kept
        return self._out(A), self._out(B)

    def _one_step(
        self, linear: list[LinearStep], told: tuple[Array, Array], h: float, goes_on: bool
    ) -> tuple[Array, Array]:
        """Make a step of size h with torques and targets; its A (count, 2 n, 2 n) and B (count, 2 n, inputs)."""
        before, start, last = np.atleast_2d(self.state)[:, T.H1 // LANES], self._knots(), self._last_told()
        self._advance(*told, h, 2, 1)
        self._check_step()
        rows = enumerate(zip(start, self._knots(), *told, *last, before, strict=True))
        pairs = [
            linear[e].derivatives((a, b), Inputs(torques, targets, (torques1, targets1), goes_on), h, h1)
            for e, (a, b, torques, targets, torques1, targets1, h1) in rows
        ]
        return np.array([A for A, _ in pairs]), np.array([B for _, B in pairs])

    def _last_told(self) -> tuple[Array, Array]:
        """Torques (count, n_actuated) and targets (count, n_motors) of the last step; NaN where a motor idled."""
        plan, state, found = self._groups.plan, np.atleast_2d(self.state), []
        for first, count, field in ((T.PLAN_ACTUATORS, T.ACTUATORS, T.TORQUE), (T.PLAN_MOTORS, T.MOTORS, T.AIM)):
            rows = plan[plan[first] + T.ACTUATOR * np.arange(plan[count]) + T.ACTUATED_ROW]
            found.append(state[:, T.PHASE // LANES + rows * T.COORDINATE + field // LANES])
        return found[0], np.where(np.abs(found[1]) < IDLE, found[1], np.nan)

    def _linear_steps(self) -> list[LinearStep]:
        """Formulas of every environment."""
        built = LinearStep(self.mechanism)
        return [built if mechanism is self.mechanism else LinearStep(mechanism) for mechanism in self._mechanisms]

    def _knots(self) -> list[Knot]:
        """The present knot of every environment, free of contacts and limits."""
        self._check_free()
        table, columns = self._read(), self._coordinates
        q, rates = table[:, columns.positions], table[:, columns.velocities]
        tree, moving = columns.tree_positions, columns.tree_velocities
        return [Knot(*row) for row in zip(q[:, :tree], rates[:, :moving], q[:, tree:], strict=True)]

    def _check_step(self) -> None:
        converged, _, residual, halvings, *_ = self._status.T
        if not converged.all() or halvings.any():
            how = "that needed halves" if converged.all() else f"that left a residual of {residual.max():.3g}"
            raise RuntimeError(f"linearize: found a step {how}, expected one that converges; use a smaller timestep")

    def _check_free(self) -> None:
        """Raise ValueError where something holds that is not smooth."""
        gaps = self.contacts.gap.reshape(self._count, -1).min(axis=0, initial=np.inf)
        for name, gap in zip(self.mechanism.contact_names, gaps, strict=True):
            if gap < TOUCHING:
                raise ValueError(f"linearize: found contact {name!r} on the ground, expected contacts off the ground")
        q, start = self._read()[:, self._coordinates.positions], 0
        for joint in self.mechanism.ordered_joints:
            stop = start + len(joint.prototype.positions)
            if joint.limits is not None:
                low, up = (q[:, start:stop] - joint.limits[:, 0]).min(), (joint.limits[:, 1] - q[:, start:stop]).min()
                if min(low, up) < AT_LIMIT:
                    raise ValueError(f"linearize: found joint {joint.name!r} at its limit, expected joints off limits")
            start = stop


def _efforts(mechanism: Mechanism) -> Array:
    """Largest torque of every actuator (n_actuated,) [N or N m]."""
    driven = [joint for joint in mechanism.tree_joints if joint.actuated]
    return np.array([joint.effort for joint in driven for _ in joint.prototype.velocities], dtype=np.float64)


def _check_smooth(mechanism: Mechanism) -> None:
    """Raise ValueError for what a mechanism has that is not smooth, or not in the formulas."""
    motors = mechanism.motors.items()
    found = [f"the electric model of the motor of joint {name!r}" for name, motor in motors if motor.model is not None]
    found += [f"joint {joint.name!r} with friction" for joint in mechanism.ordered_joints if joint.friction > 0.0]
    found += [f"skate {name!r}" for name in mechanism.skates] + [f"wheel {name!r}" for name in mechanism.wheels]
    if found:
        raise ValueError(
            f"linearize: found {found[0]}, expected a mechanism without electric models of motors, dry friction, "
            "skates and wheels: their steps are not linearised"
        )
