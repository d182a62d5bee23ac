"""Dampers of joints and of springs between points in a smooth step, see `vigym.core.joint.damping`.

Vibrations that a step does not resolve have dampers of their own, which act on the rates less the
slow rates. Arrays have the dofs of all joints, then the springs between points (n,).
"""

from __future__ import annotations

import numpy as np

from vigym.core.joint.damping import FAST, RECENT, UNRESOLVED
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import Mobility


class Dampers:
    """Dampers of all joints and springs of a mechanism.

    Args:
        mechanism: mechanism with the joints and springs.

    Attributes:
        own: (n,) damping of joints and springs [N s/m or N m s/rad].
        sprung: numbers of the rows that have a spring.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        joints, springs = mechanism.ordered_joints, mechanism.springs.values()
        dampings = [joint.dof_damping for joint in joints]
        self.own = np.concatenate([*dampings, [spring.damping for spring in springs]])
        stiffnesses = [joint.dof_stiffness for joint in joints]
        self._stiffness = np.concatenate([*stiffnesses, [spring.stiffness for spring in springs]])
        self.sprung = np.flatnonzero(self._stiffness)
        mobility = Mobility(mechanism, mechanism.structure)
        masses = mobility.effective_inertias(), mobility.closing_inertias()
        self._masses = np.concatenate([*masses, mobility.spring_masses()])

    def _of_vibrations(self, h: float) -> Array:
        """Return the damping of vibrations (n,) in a step of size h [N s/m or N m s/rad]."""
        x = np.minimum(0.25 * h * h * self._stiffness / self._masses, FAST)
        damping: Array = UNRESOLVED * h * self._stiffness * x**3 / (1.0 + x**3)
        return damping

    def impulses(self, h: float) -> Array:
        """Return the impulses (n,) of half a step of size h for each rate [N s/m or N m s/rad]."""
        return 0.5 * h * (self.own + self._of_vibrations(h))

    def slow_impulses(self, h: float, before: float) -> tuple[Array, Array]:
        """Return the impulses (n,) for each slow rate in the halves of steps about two knots.

        Args:
            h: size of a step [s].
            before: size of the step before [s].

        Returns:
            Where the step leaves its first knot, and where it arrives at its second.
        """
        arriving = 0.5 * h * self._of_vibrations(h)
        return np.minimum(arriving, 0.5 * before * self._of_vibrations(before)), arriving

    def slow_rates(self, last: Array, rates: Array) -> Array:
        """Return the slow rates (..., n) after a step, from those before it and its rates."""
        after: Array = last + RECENT * (rates - last)
        return after
