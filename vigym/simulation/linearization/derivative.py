"""The derivative of a smooth step by the implicit function theorem.

With y the freedoms of the tree that follow no other one, T the rates of all of them at a rate of one of each y, K the
loop rows over y and N the motions that these allow, a step from knot 2 to 3 solves

    T' (leaving(q2, q3) - carried(q2, v2) - h/2 u) + K2' lam = 0,      K3 dq3 = 0,
    T' (carried(q3, v3) - arriving(q2, q3) - h/2 u) + K3' mu = 0,      K3 v3 = 0,

``carried`` less what motors gave. Each term is differentiated exactly (see ``motion``); the equations of the
derivatives are solved at the step's solution, dense, along N, where multipliers do no work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.simulation.linearization.loop_tangent import Knot, LoopRows, Tangent
from vigym.simulation.linearization.motion import gradient
from vigym.simulation.linearization.motors import Command
from vigym.simulation.linearization.step import SmoothStep

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

NOTHING = Command(*(np.zeros(1) for _ in range(3)))  # is what motors are told in no time
UNEXPLAINED = 1e-6  # part of the largest momentum, or of what the weight gives in a step, that may be missing
Terms = Callable[[Array, Array], Array]  # of an equation, (S, leaders), by the coordinates at knots 2 and 3


class Inputs(NamedTuple):
    """What acts on a step; NaN: a motor idles.

    Attributes:
        torques, targets: held over it (n_actuated,) [N, N m], (n_motors,) [rad, m or their rates].
        last: the same of the step before, (torques, targets).
        goes_on: whether that was part of the same inputs: a change of these is one of those.
    """

    torques: Array
    targets: Array
    last: tuple[Array, Array]
    goes_on: bool


class LinearStep:
    """Derivatives of smooth steps of a mechanism; dimensions: d degrees of freedom, n velocities of all joints."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._step = SmoothStep(mechanism)
        self._loops, self._lead = LoopRows(mechanism, self._step.tree), self._step.tree.motions
        names = mechanism.velocity_names
        driven = [names.index(name) for name in mechanism.actuator_names]
        free, motors = np.where(self._step.drives.moved, 0.0, 1.0), len(mechanism.motors)
        push = self._lead.T @ np.eye(len(names))[: len(self._lead), driven] * free
        self._driven, self._size = np.hstack([push, np.zeros((len(push), motors))]), len(names)
        gravity = max(float(np.linalg.norm(mechanism.gravity)), 1.0)
        self._weight = gravity * sum(body.mass for body in mechanism.bodies.values())

    def derivatives(self, ends: tuple[Knot, Knot], inputs: Inputs, h: float, before: float) -> tuple[Array, Array]:
        """A (2 n, 2 n) and B (2 n, actuators + motors) of the step of size h that led from one knot to the other.

        Args:
            ends: knots 2 and 3.
            inputs: torques and targets that were held.
            h: size of the step [s].
            before: size of the step before, 0 after a reset [s].

        Raises:
            ValueError: a pose at which the loops leave more motions than elsewhere, or forces that are not smooth.
        """
        start, end = ends
        here, there = self._loops.tangent(start), self._loops.tangent(end)
        last, told = self._commands(ends, inputs, h, before)
        held, d = 0.5 * h * self._driven, here.motions.shape[1]
        u = np.append(inputs.torques, np.nan_to_num(inputs.targets))
        gains = self._lead.T @ self._step.drives.gains(inputs.targets)
        push = held + 0.5 * (h if inputs.goes_on else h + before) * gains
        inertia2, inertia3 = self._inertia(start, before, last), self._inertia(end, h, told)
        least = self._weight * abs(h)
        terms, q = self._leaves(start, (h, before), (last, told)), (start.q[None], end.q[None])
        multipliers = self._multipliers(terms(*q)[0] - held @ u, start, here, least)
        by_q2, by_q3 = self._slopes(terms, ends, 0, multipliers)
        # what is given: motions of knot 2, rates of these, torques
        dq2 = np.hstack([here.motions, np.zeros((len(push), d + push.shape[1]))])
        dv2 = np.hstack([self._least_bend(start, here), here.motions, np.zeros_like(push)])
        du = np.hstack([np.zeros((len(push), 2 * d)), push])
        arrived = np.hstack([np.zeros((len(push), 2 * d)), held + 0.5 * h * gains])
        dq3 = -_solved(here.motions, by_q3, there.motions, by_q2 @ dq2 - inertia2 @ dv2 - du)
        terms = self._arrives(start, end, h, told)
        multipliers = self._multipliers(terms(*q)[0] - held @ u, end, there, least)
        by_q2, by_q3 = self._slopes(terms, ends, 1, multipliers)
        dv3 = there.bend @ dq3
        left = by_q2 @ dq2 + by_q3 @ dq3 + inertia3 @ dv3 - arrived
        dv3 = dv3 - _solved(there.motions, inertia3, there.motions, left)
        led_to = self._told(end, dq3, dv3)
        return led_to[:, : 2 * d] @ self._given(start, here), led_to[:, 2 * d :]

    def _commands(self, ends: tuple[Knot, Knot], inputs: Inputs, h: float, before: float) -> tuple[Command, Command]:
        """What motors were told in the step before, and in this one.

        Raises:
            ValueError: a motor at its largest force or rate in either half of the step.
        """
        drives, (start, end) = self._step.drives, ends
        last, told = drives.command(*inputs.last), drives.command(inputs.torques, inputs.targets)
        if before:
            drives.check(last, start.q, start.rates)
        drives.check(told, end.q, self._step.mean_rates(start.q, end.q, h, start.closing))
        drives.check(told, end.q, end.rates)
        return last, told

    def _leaves(self, start: Knot, sizes: tuple[float, float], told: tuple[Command, Command]) -> Terms:
        """The terms of the first equation, by the sizes of this step and the one before, and what motors were told."""
        (h, before), (last, now) = sizes, told

        def terms(q2: Array, q3: Array) -> Array:
            momentum = self._step.leaving(q2, q3, h, before, start.closing, now)
            carried = self._step.carried(q2, start.rates[None], before, last) - self._step.commanded(q2, before, last)
            return (momentum - carried) @ self._lead

        return terms

    def _arrives(self, start: Knot, end: Knot, h: float, told: Command) -> Terms:
        """The terms of the second equation."""

        def terms(q2: Array, q3: Array) -> Array:
            momentum = self._step.arriving(q2, q3, h, start.closing)
            carried = self._step.carried(q3, end.rates[None], h, told) - self._step.commanded(q3, h, told)
            return (carried - momentum) @ self._lead

        return terms

    def _multipliers(self, left: Array, knot: Knot, tangent: Tangent, least: float) -> Array:
        """Multipliers (rows,) that balance what the terms of an equation leave (leaders,) at the step's solution.

        Raises:
            ValueError: they cannot; some force is missing, and more than a part of ``least`` or of the knot's momentum.
        """
        most = np.abs(self._step.carried(knot.q[None], knot.rates[None], 0.0, NOTHING)).max(initial=least)
        missing = np.abs(tangent.motions.T @ left).max(initial=0.0)
        if not missing <= UNEXPLAINED * most:
            raise ValueError(
                f"linearize: found a momentum of {missing:.3g} N s or N m s that no torque, spring or damper gave in "
                "this step, expected a smooth step"
            )
        return np.asarray(-tangent.inverse.T @ left)

    def _slopes(self, terms: Terms, ends: tuple[Knot, Knot], at: int, multipliers: Array) -> tuple[Array, Array]:
        """Derivatives (leaders, leaders) of an equation by y of knots 2 and 3.

        The multipliers are held; knot 2 (``at`` = 0) or 3 (1) has the loop rows that they act with.
        """
        tree, q2, q3 = self._step.tree, ends[0].q, ends[1].q

        def by_2(q: Array) -> Array:
            value = terms(q, q3[None])
            return value + multipliers @ self._loops.rows(q) if at == 0 and len(multipliers) else value

        def by_3(q: Array) -> Array:
            value = terms(q2[None], q)
            return value + multipliers @ self._loops.rows(q) if at == 1 and len(multipliers) else value

        return gradient(by_2, tree, q2), gradient(by_3, tree, q3)

    def _inertia(self, knot: Knot, h: float, told: Command = NOTHING) -> Array:
        """Derivative (leaders, leaders) of the carried momentum by the rates, dampers of a step of size h included."""
        rates = self._lead.T
        return np.asarray((self._step.carried(knot.q[None], rates, h, told) @ self._lead).T)

    def _least_bend(self, knot: Knot, tangent: Tangent) -> Array:
        """Change of the rates (leaders, d) by a motion that keeps them on the loops, of the least kinetic energy."""
        N, M = tangent.motions, self._inertia(knot, 0.0)
        bend = tangent.bend @ N
        return np.asarray(bend - _solved(N, M, N, M @ bend))

    def _given(self, knot: Knot, tangent: Tangent) -> Array:
        """Motions and their rates (2 d, 2 n) that deviations mean: the nearest allowed ones, in kinetic energy."""
        N, rates = tangent.motions, np.eye(len(self._lead))
        M = self._step.carried(knot.q[None], rates, 0.0, NOTHING)  # armatures included
        E = self._lead @ N
        nearest = np.zeros((N.shape[1], self._size))
        nearest[:, : len(rates)] = np.linalg.solve(E.T @ M @ E, E.T @ M)
        o = np.zeros_like(nearest)
        return np.block([[nearest, o], [o, nearest]])

    def _told(self, knot: Knot, dq: Array, dv: Array) -> Array:
        """Deviations (2 n, columns) of all joints from those of y and its rates (leaders, columns)."""
        told = self._step.rates(knot.q[None], np.eye(len(self._lead))).T @ self._lead
        turning = gradient(lambda q: self._step.rates(q, knot.rates[None]), self._step.tree, knot.q)
        return np.vstack([told @ dq, told @ dv + turning @ dq])


def _solved(left: Array, matrix: Array, right: Array, values: Array) -> Array:
    """The motions x along ``right`` with left' matrix x = left' values."""
    result: Array = right @ np.linalg.solve(left.T @ matrix @ right, left.T @ values)
    return result
