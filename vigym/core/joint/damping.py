"""Damping of a degree of freedom: its own, and that of vibrations which its spring makes too fast.

A spring acts at the middle of a step: it is stable at any stiffness k, and by itself it keeps its
energy. But where a step of size h is longer than its vibration of a mass m, x = h^2 k / (4 m) above
one, it turns back and forth in every step. That is in resonance with all slow motion, and a
mechanism whose inertia changes as it moves would take energy out of nothing. So such vibrations are
damped,

    c = damping + h k x^3 / (10 + x^3).

At six steps a period, x = 1/4, the damping ratio is 8e-4; it falls with the seventh power of the
step. Where x is large a vibration shrinks to 1/sqrt(5) in each step, and a spring that starts
stretched does not swing past its rest. Of three free rotations each has the mass about its own axis
of the child.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import where

SLOW = 10.0  # x^3 at which it has half of what it has in long steps
FAST = 1e3  # x from which on it is all the same


@inline
def dof_damping(dof, h):
    """Compute the damping of a dof in a step of size h [N s/m or N m s/rad]."""
    k = dof.stiffness
    x = 0.25 * h * h * k / where(k, dof.effective_mass, 1.0 + 0.0 * k)
    x = where(x - FAST, FAST + 0.0 * x, x)
    cube = x * x * x
    return dof.damping + h * k * (cube / (SLOW + cube))


@inline
def dof_damping_at_knot(dof, h, rho):
    """Compute the damping of a dof at the knot between a step of size rho h and one of size h.

    Half of each step's damping acts there, per h. A vibration that the last step damped, and this
    one need not, would burst out without the last step's half.
    """
    return 0.5 * (dof_damping(dof, h) + rho * dof_damping(dof, rho * h))
