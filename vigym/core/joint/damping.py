"""Damping of a degree of freedom: its own, and that of vibrations which its spring makes too fast.

A spring acts at the middle of a step: it is stable at any stiffness k, and by itself it keeps its
energy. But where a step of size h is longer than its vibration of a mass m, x = h^2 k / (4 m) above
one, it turns back and forth in every step. That is in resonance with all slow motion, and a
mechanism whose inertia changes as it moves would take energy out of nothing. So such vibrations are
damped,

    c = damping + b h k x^3 / (1 + x^3).

At six steps a period, x = 1/4, the damping ratio is 8e-4; it falls with the seventh power of the
step. Where x is large a vibration shrinks to 0.85 in each step. So does other motion of the spring,
however slow: b h w / 2 is its damping ratio at the rate w. A larger b would stop a beam of many
hinges. Of three free rotations each has the mass about its own axis of the child.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import where

UNRESOLVED = 0.1  # b
FAST = 1e3  # x from which on it is all the same


@inline
def dof_damping(dof, h):
    """Compute the damping of a dof in a step of size h [N s/m or N m s/rad]."""
    k = dof.stiffness
    x = 0.25 * h * h * k / where(k, dof.effective_mass, 1.0 + 0.0 * k)
    x = where(x - FAST, FAST + 0.0 * x, x)
    cube = x * x * x
    return dof.damping + UNRESOLVED * h * k * (cube / (1.0 + cube))


@inline
def dof_damping_at_knot(dof, h, rho):
    """Compute the damping of a dof at the knot between a step of size rho h and one of size h.

    Half of each step's damping acts there, per h. A vibration that the last step damped, and this
    one need not, would burst out without the last step's half.
    """
    return 0.5 * (dof_damping(dof, h) + rho * dof_damping(dof, rho * h))
