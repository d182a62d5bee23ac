"""Derivative of a smooth step by the implicit function theorem.

With y the independent dofs of the tree, T the rates of all its dofs at unit rate of each y, K the
constraint Jacobian of the loops over y and N the motions that it allows, a step from knot 2 to 3
solves

    T' (leaving(q2, q3) - knot(q2, v2) - h/2 u) + K2' lam = 0,      K3 dq3 = 0,
    T' (knot(q3, v3) - arriving(q2, q3) - h/2 u) + K3' mu = 0,      K3 v3 = 0,

``knot`` less the impulse of motors. Springs that a step does not resolve have slow rates, see
`vigym.core.joint.damping`: they are a part of the state, and have impulses in both equations. Each
term is differentiated exactly (see ``motion``); the equations of the derivatives are solved at the
step's solution, dense, along N, where multipliers do no work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vigym.core.joint.damping import RECENT
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.linearization.loop_tangent import Knot, LoopJacobian, Tangent
from vigym.simulation.linearization.motion import gradient
from vigym.simulation.linearization.motors import Command
from vigym.simulation.linearization.step import SmoothStep

NO_COMMAND = Command(*(np.zeros(1) for _ in range(3)))
# part of the largest momentum, or of the weight's impulse in a step, that may be left unexplained
UNEXPLAINED = 1e-6
# equation (S, independent dofs) by the coordinates at knots 2 and 3
Equation = Callable[[Array, Array], Array]


class Inputs(NamedTuple):
    """Inputs of a step; NaN: a motor idles.

    Attributes:
        torques: constant over the step (n_actuated,) [N, N m].
        targets: constant over the step (n_motors,) [rad, m or their rates].
        last: torques and targets of the step before.
        is_continued: whether the step before had the same inputs, which change together.
        slow_rates: of all joints and springs before the step (n,) [m/s, rad/s].
    """

    torques: Array
    targets: Array
    last: tuple[Array, Array]
    is_continued: bool
    slow_rates: Array


class LinearStep:
    """Derivatives of smooth steps of a mechanism.

    Dimensions: d degrees of freedom, n velocities of all joints.

    Args:
        mechanism: mechanism to step.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._step = SmoothStep(mechanism)
        self._loops = LoopJacobian(mechanism, self._step.tree)
        self._T = self._step.tree.velocity_map
        names = mechanism.velocity_names
        actuated = [names.index(name) for name in mechanism.actuator_names]
        direct = np.where(self._step.motors.on_motors, 0.0, 1.0)
        torque_map = self._T.T @ np.eye(len(names))[: len(self._T), actuated] * direct
        target_map = np.zeros((len(torque_map), len(mechanism.motors)))
        self._input_map = np.hstack([torque_map, target_map])
        self._size = len(names)
        gravity = max(float(np.linalg.norm(mechanism.gravity)), 1.0)
        self._weight = gravity * sum(body.mass for body in mechanism.bodies.values())

    @property
    def size(self) -> int:
        """Number of values in a deviation: of coordinates, velocities, slow rates of springs."""
        return 2 * self._size + len(self._step.dampers.sprung)

    def derivatives(
        self, knots: tuple[Knot, Knot], inputs: Inputs, h: float, before: float
    ) -> tuple[Array, Array]:
        """Return A (size, size) and B (size, actuators + motors) of the step between two knots.

        Args:
            knots: knots 2 and 3.
            inputs: torques, targets and slow rates of the step.
            h: size of the step [s].
            before: size of the step before, 0 after a reset [s].

        Raises:
            ValueError: a pose at which the loops allow more motions than elsewhere, or forces that
                are not smooth.
        """
        start, end = knots
        tangent2, tangent3 = self._loops.tangent(start), self._loops.tangent(end)
        last, command = self._commands(knots, inputs, h, before)
        d = tangent2.motions.shape[1]
        dp2, dp3 = self._impulses(knots, inputs, h, before)
        given = 0.5 * h * self._input_map
        given = given @ np.append(inputs.torques, np.nan_to_num(inputs.targets))
        inertia2 = self._inertia(start, before, last)
        inertia3 = self._inertia(end, h, command)
        # columns: motions of knot 2, rates of these, inputs, slow rates
        no_motion, no_inputs = np.zeros((len(dp2), 2 * d)), np.zeros_like(dp2)
        dq2 = np.hstack([tangent2.motions, no_motion[:, :d], no_inputs])
        dv2 = np.hstack([self._least_curvature(start, tangent2), tangent2.motions, no_inputs])
        equation = self._start_equation(start, (h, before), (last, command), inputs.slow_rates)
        by_q2, by_q3 = self._slopes(equation, knots, tangent2, given, (0, h))
        left = by_q2 @ dq2 - inertia2 @ dv2 - np.hstack([no_motion, dp2])
        dq3 = -_solve(tangent2.motions, by_q3, tangent3.motions, left)
        equation = self._end_equation(start, end, h, command, inputs.slow_rates)
        by_q2, by_q3 = self._slopes(equation, knots, tangent3, given, (1, h))
        dv3 = tangent3.curvature @ dq3
        left = by_q2 @ dq2 + by_q3 @ dq3 + inertia3 @ dv3 - np.hstack([no_motion, dp3])
        dv3 = dv3 - _solve(tangent3.motions, inertia3, tangent3.motions, left)
        slow = self._slow_deviations(knots, h, dq2, dq3)
        result = np.vstack([self._joint_deviations(end, dq3, dv3), slow])
        allowed = result[:, : 2 * d] @ self._allowed_deviations(start, tangent2)
        by_inputs, by_slow_rates = np.split(result[:, 2 * d :], [self._input_map.shape[1]], axis=1)
        return np.hstack([allowed, by_slow_rates]), by_inputs

    def _impulses(
        self, knots: tuple[Knot, Knot], inputs: Inputs, h: float, before: float
    ) -> tuple[Array, Array]:
        """Return the impulses (independent dofs, inputs + slow rates) at both knots, for each one.

        The slow rates after the step change with its motion, too: that is in the equation.
        """
        impulse = 0.5 * h * self._input_map
        gains = self._T.T @ self._step.motors.gains(inputs.targets)
        leaving_time = h if inputs.is_continued else h + before
        leaving, arriving = self._slow_directions(knots, h, before)
        by_inputs = impulse + 0.5 * leaving_time * gains, impulse + 0.5 * h * gains
        sprung = self._step.dampers.sprung
        at_end = (1.0 - RECENT) * arriving[:, sprung]
        return np.hstack([by_inputs[0], leaving[:, sprung]]), np.hstack([by_inputs[1], at_end])

    def _slow_directions(
        self, knots: tuple[Knot, Knot], h: float, before: float
    ) -> tuple[Array, Array]:
        """Return the impulses (independent dofs, n) at both knots for each slow rate there."""
        step = self._step
        along = [
            step.project_impulses(step.tree.poses(knot.q[None]), np.diag(impulses)) @ self._T
            for knot, impulses in zip(knots, step.dampers.slow_impulses(h, before), strict=True)
        ]
        return along[0].T, along[1].T

    def _slow_deviations(self, knots: tuple[Knot, Knot], h: float, dq2: Array, dq3: Array) -> Array:
        """Return the deviations (springs, columns) of the slow rates after the step.

        Args:
            knots: knots 2 and 3.
            h: size of the step [s].
            dq2: (independent dofs, columns) deviations of y at knot 2.
            dq3: the same at knot 3.
        """
        step = self._step
        start, end = knots
        sprung = step.dampers.sprung
        q2, q3 = start.q[None], end.q[None]

        def rates_by_2(q: Array) -> Array:
            return step.rates_over_step(q, q3, h, start.closing)[:, sprung]

        def rates_by_3(q: Array) -> Array:
            return step.rates_over_step(q2, q, h, start.closing)[:, sprung]

        rates = gradient(rates_by_2, step.tree, start.q) @ dq2
        rates = rates + gradient(rates_by_3, step.tree, end.q) @ dq3
        last = np.zeros_like(rates)
        last[:, rates.shape[1] - len(sprung) :] = np.eye(len(sprung))
        return step.dampers.slow_rates(last, rates)

    def _commands(
        self, knots: tuple[Knot, Knot], inputs: Inputs, h: float, before: float
    ) -> tuple[Command, Command]:
        """Return the motors' law in the step before, and in this one.

        Raises:
            ValueError: a motor at its largest force or velocity in either half of the step.
        """
        motors = self._step.motors
        start, end = knots
        last = motors.command(*inputs.last)
        command = motors.command(inputs.torques, inputs.targets)
        if before:
            motors.check(last, start.q, start.rates)
        motors.check(command, end.q, self._step.mean_rates(start.q, end.q, h, start.closing))
        motors.check(command, end.q, end.rates)
        return last, command

    def _start_equation(
        self,
        start: Knot,
        sizes: tuple[float, float],
        commands: tuple[Command, Command],
        slow: Array,
    ) -> Equation:
        """Return the equation of momentum at the start of the step.

        Args:
            start: knot 2.
            sizes: sizes of this step and the one before [s].
            commands: motors' laws in the step before and in this one.
            slow: (n,) slow rates before the step.
        """
        step, before = self._step, sizes[1]
        last, command = commands

        def equation(q2: Array, q3: Array) -> Array:
            leaving = step.leaving_momentum((q2, q3), sizes, start.closing, command, slow)
            knot = step.knot_momentum(q2, start.rates[None], before, last)
            knot = knot - step.motor_momentum(q2, before, last)
            return (leaving - knot) @ self._T

        return equation

    def _end_equation(
        self, start: Knot, end: Knot, h: float, command: Command, slow: Array
    ) -> Equation:
        """Return the equation of momentum at its end; arguments as of `_start_equation`."""
        step = self._step

        def equation(q2: Array, q3: Array) -> Array:
            arriving = step.arriving_momentum((q2, q3), h, start.closing, slow)
            knot = step.knot_momentum(q3, end.rates[None], h, command)
            knot = knot - step.motor_momentum(q3, h, command)
            return (knot - arriving) @ self._T

        return equation

    def _slopes(
        self,
        equation: Equation,
        knots: tuple[Knot, Knot],
        tangent: Tangent,
        impulse: Array,
        place: tuple[int, float],
    ) -> tuple[Array, Array]:
        """Differentiate an equation by y of knots 2 and 3, with constant multipliers.

        Args:
            equation: equation of the step.
            knots: knots 2 and 3.
            tangent: motions that the loops allow at the knot of the equation.
            impulse: (independent dofs,) of the inputs.
            place: 0 or 1 for the knot at which multipliers act, 2 or 3; size of the step [s].

        Returns:
            Derivatives (independent dofs, independent dofs).

        Raises:
            ValueError: the equation does not hold: a force is missing.
        """
        at, h = place
        tree = self._step.tree
        q2, q3 = knots[0].q, knots[1].q
        residual = equation(q2[None], q3[None])[0] - impulse
        multipliers = self._multipliers(residual, knots[at], tangent, self._weight * abs(h))

        def with_loop_forces(values: Array, q: Array, knot: int) -> Array:
            if knot != at or not len(multipliers):
                return values
            forces: Array = values + multipliers @ self._loops.evaluate(q)
            return forces

        def by_2(q: Array) -> Array:
            return with_loop_forces(equation(q, q3[None]), q, 0)

        def by_3(q: Array) -> Array:
            return with_loop_forces(equation(q2[None], q), q, 1)

        return gradient(by_2, tree, q2), gradient(by_3, tree, q3)

    def _multipliers(self, residual: Array, knot: Knot, tangent: Tangent, least: float) -> Array:
        """Return the multipliers (rows,) that balance an equation's residual at the solution.

        Args:
            residual: (independent dofs,).
            knot: knot at which multipliers act.
            tangent: motions that the loops allow there.
            least: impulse that is large enough to compare with.

        Raises:
            ValueError: the residual has a part along the allowed motions, larger than a part of
                ``least`` or of the knot's momentum: a force is missing.
        """
        momentum = self._step.knot_momentum(knot.q[None], knot.rates[None], 0.0, NO_COMMAND)
        largest = np.abs(momentum).max(initial=least)
        missing = np.abs(tangent.motions.T @ residual).max(initial=0.0)
        if not missing <= UNEXPLAINED * largest:
            raise ValueError(
                f"linearize: found a momentum of {missing:.3g} N s or N m s that no torque, spring "
                "or damper gave in this step, expected a smooth step"
            )
        return np.asarray(-tangent.inverse.T @ residual)

    def _inertia(self, knot: Knot, h: float, command: Command = NO_COMMAND) -> Array:
        """Differentiate the knot's momentum by its rates (independent dofs, independent dofs).

        Dampers of a step of size h are included.
        """
        rates = self._T.T
        return np.asarray((self._step.knot_momentum(knot.q[None], rates, h, command) @ self._T).T)

    def _least_curvature(self, knot: Knot, tangent: Tangent) -> Array:
        """Return the change of the rates (independent dofs, d) by an allowed motion.

        It keeps the rates on the loops, with the least kinetic energy.
        """
        N, M = tangent.motions, self._inertia(knot, 0.0)
        change = tangent.curvature @ N
        return np.asarray(change - _solve(N, M, N, M @ change))

    def _allowed_deviations(self, knot: Knot, tangent: Tangent) -> Array:
        """Return the allowed motions and their rates (2 d, 2 n) nearest to joint deviations.

        Nearest in kinetic energy.
        """
        N, rates = tangent.motions, np.eye(len(self._T))
        M = self._step.knot_momentum(knot.q[None], rates, 0.0, NO_COMMAND)  # with armatures
        E = self._T @ N
        nearest = np.zeros((N.shape[1], self._size))
        nearest[:, : len(rates)] = _solve_square(E.T @ M @ E, E.T @ M)
        o = np.zeros_like(nearest)
        return np.block([[nearest, o], [o, nearest]])

    def _joint_deviations(self, knot: Knot, dq: Array, dv: Array) -> Array:
        """Return the deviations (2 n, columns) of all joints.

        Args:
            knot: knot of the deviations.
            dq: (independent dofs, columns) deviations of y.
            dv: (independent dofs, columns) deviations of its rates.
        """
        T = self._step.rates(knot.q[None], np.eye(len(self._T))).T @ self._T
        turning = gradient(lambda q: self._step.rates(q, knot.rates[None]), self._step.tree, knot.q)
        return np.vstack([T @ dq, T @ dv + turning @ dq])


def _solve(left: Array, matrix: Array, right: Array, values: Array) -> Array:
    """Return the motions x along ``right`` with left' matrix x = left' values."""
    result: Array = right @ _solve_square(left.T @ matrix @ right, left.T @ values)
    return result


def _solve_square(matrix: Array, values: Array) -> Array:
    """Return the solution x of matrix x = values.

    Raises:
        ValueError: the matrix has no inverse.
    """
    try:
        return np.asarray(np.linalg.solve(matrix, values), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "linearize: found masses that are too different for double precision, expected an "
            "inertia with an inverse"
        ) from error
