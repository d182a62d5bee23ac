"""Motors in the formulas of a smooth step: forces that are linear in coordinate and rate, away from their bounds.

A motor gives force = torque + kp (target - s) - kd rate, or torque + kd (target - rate) without kp; s and rate are
those at the end of the step where it leaves, and those of the knot where it arrives: as in ``vigym.core.laws``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.kinematics import Tree

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

AT_BOUND = 1e-6  # part of a motor's largest force or rate within which it is held by it


class Command(NamedTuple):
    """What motors are told, along the freedoms of the tree (freedoms,): force = offset - stiffness s - damping rate."""

    offset: Array
    stiffness: Array
    damping: Array


class Drives:
    """Motors of a mechanism, as laws along the freedoms of the tree."""

    def __init__(self, mechanism: Mechanism, tree: Tree) -> None:
        names, motors = mechanism.velocity_names, list(mechanism.motors.values())
        joints = mechanism.joints
        self._names = [motor.joint for motor in motors]
        self._at = np.array([names.index(name) for name in self._names], np.int64)
        self._kp, self._kd = (np.array([getattr(m, gain) for m in motors], float) for gain in ("kp", "kd"))
        self._effort = np.array([motor.effort for motor in motors])
        fastest = [joints[name].velocity for name in self._names]
        self._fastest = np.array([np.inf if limit is None else limit for limit in fastest])
        actuated = [names.index(name) for name in mechanism.actuator_names]
        self.moved = np.isin(actuated, self._at)  # actuators whose torques are part of what a motor gives
        self._torques = np.eye(len(names))[: tree.freedoms, actuated]
        self._freedoms, self._plain = tree.freedoms, tree.plain

    def command(self, torques: Array, targets: Array) -> Command:
        """Return what torques (n_actuated,) and targets (n_motors,), NaN where a motor idles, tell the motors."""
        told = self.gains(targets) @ np.concatenate((torques, np.nan_to_num(targets)))
        return Command(told, *(self._along(np.where(np.isnan(targets), 0.0, gain)) for gain in (self._kp, self._kd)))

    def gains(self, targets: Array) -> Array:
        """Return the derivative of the offset (freedoms, n_actuated + n_motors) by torques and targets."""
        gain = np.where(np.isnan(targets), 0.0, np.where(self._kp > 0.0, self._kp, self._kd))
        by_target = np.zeros((self._freedoms, len(gain)))
        by_target[self._at, np.arange(len(gain))] = gain
        return np.hstack([self._torques * self.moved, by_target])

    def coordinates(self, q: Array) -> Array:
        """Return the coordinate that each freedom is the rate of (S, freedoms), zero for those of quaternions."""
        where, which = self._plain
        found = np.zeros((len(q), self._freedoms), q.dtype)
        found[:, which] = q[:, where]
        return found

    def check(self, command: Command, q: Array, rates: Array) -> None:
        """Raise ValueError where a motor is at its largest force or rate, at coordinates (n_q,), rates (freedoms,)."""
        s = self.coordinates(q[None])[0]
        force = (command.offset - command.stiffness * s - command.damping * rates)[self._at]
        for found, most, what in ((force, self._effort, "effort"), (rates[self._at], self._fastest, "velocity limit")):
            held = np.flatnonzero(~(np.abs(found) < (1.0 - AT_BOUND) * most))
            if len(held):
                name = self._names[held[0]]
                raise ValueError(f"linearize: found the motor of joint {name!r} at its {what}, expected one below it")

    def _along(self, values: Array) -> Array:
        found = np.zeros(self._freedoms)
        found[self._at] = values
        return found
