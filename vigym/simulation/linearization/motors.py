"""Motors in the formulas of a smooth step: forces linear in coordinate and rate, below bounds.

A motor exerts torque + kp (target - s) - kd rate, or torque + kd (target - rate) without kp; s and
rate are those at the end of the step at the knot where it leaves, and those of the knot where it
arrives: as in ``vigym.core``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.kinematics import TreeKinematics

AT_BOUND = 1e-6  # part of a motor's force or velocity limit within which it counts as reached


def driven_loops(mechanism: Mechanism) -> list[str]:
    """Return the names of the loop-closing joints with an actuator or motor."""
    joints = mechanism.closing_joints
    return [joint.name for joint in joints if joint.actuated or joint.name in mechanism.motors]


class Command(NamedTuple):
    """Motor law along the dofs of the tree: force = offset - stiffness s - damping rate.

    Attributes:
        offset: (tree dofs,) [N, N m].
        stiffness: (tree dofs,).
        damping: (tree dofs,).
    """

    offset: Array
    stiffness: Array
    damping: Array


class Motors:
    """Motors of a mechanism along the dofs of its tree.

    Args:
        mechanism: mechanism with the motors.
        tree: kinematics of its tree.

    Attributes:
        on_motors: (n_actuated,) whether an actuator's torque is part of a motor's force.
        torque_map: (tree dofs, n_actuated) 1.0 where an actuator drives a dof.
    """

    def __init__(self, mechanism: Mechanism, tree: TreeKinematics) -> None:
        names = mechanism.velocity_names
        motors = list(mechanism.motors.values())
        self._names = [motor.joint for motor in motors]
        self._dofs = np.array([names.index(name) for name in self._names], np.int64)
        self._kp = np.array([motor.kp for motor in motors], float)
        self._kd = np.array([motor.kd for motor in motors], float)
        self._force_limit = np.array([motor.effort for motor in motors])
        limits = [mechanism.joints[name].velocity for name in self._names]
        self._velocity_limit = np.array([np.inf if limit is None else limit for limit in limits])
        actuated = [names.index(name) for name in mechanism.actuator_names]
        self.on_motors = np.isin(actuated, self._dofs)
        self.torque_map = np.eye(len(names))[: tree.dofs, actuated]
        self._tree_dofs = tree.dofs
        self._plain = tree.scalar_coordinates

    def command(self, torques: Array, targets: Array) -> Command:
        """Return the motors' law under torques and targets.

        Args:
            torques: (n_actuated,) [N, N m].
            targets: (n_motors,), NaN where a motor idles.
        """
        offset = self.gains(targets) @ np.concatenate((torques, np.nan_to_num(targets)))
        idle = np.isnan(targets)
        stiffness = self._expand_to_dofs(np.where(idle, 0.0, self._kp))
        damping = self._expand_to_dofs(np.where(idle, 0.0, self._kd))
        return Command(offset, stiffness, damping)

    def gains(self, targets: Array) -> Array:
        """Return the derivative of the offset by torques and targets (tree dofs, inputs)."""
        gain = np.where(self._kp > 0.0, self._kp, self._kd)
        gain = np.where(np.isnan(targets), 0.0, gain)
        by_target = np.zeros((self._tree_dofs, len(gain)))
        by_target[self._dofs, np.arange(len(gain))] = gain
        return np.hstack([self.torque_map * self.on_motors, by_target])

    def coordinates(self, q: Array) -> Array:
        """Return the coordinate of each dof (S, tree dofs), zero for those of quaternions."""
        positions, velocities = self._plain
        found = np.zeros((len(q), self._tree_dofs), q.dtype)
        found[:, velocities] = q[:, positions]
        return found

    def check(self, command: Command, q: Array, rates: Array) -> None:
        """Check that all motors are below their limits.

        Args:
            command: the motors' law.
            q: (n_q,) coordinates of the tree.
            rates: (tree dofs,).

        Raises:
            ValueError: a motor at its largest force or velocity.
        """
        s = self.coordinates(q[None])[0]
        force = (command.offset - command.stiffness * s - command.damping * rates)[self._dofs]
        self._check_below(force, self._force_limit, "effort")
        self._check_below(rates[self._dofs], self._velocity_limit, "velocity limit")

    def _check_below(self, values: Array, limits: Array, name: str) -> None:
        reached = np.flatnonzero(~(np.abs(values) < (1.0 - AT_BOUND) * limits))
        if len(reached):
            raise ValueError(
                f"linearize: found the motor of joint {self._names[reached[0]]!r} at its {name}, "
                "expected one below it"
            )

    def _expand_to_dofs(self, values: Array) -> Array:
        found = np.zeros(self._tree_dofs)
        found[self._dofs] = values
        return found
