"""Damping of a degree of freedom: its own, and that of vibrations which its spring makes too fast.

A spring acts at the middle of a step: it is stable at any stiffness, and takes no energy. But where
a step h is longer than its vibration, x = h^2 k / (4 m) above one, the spring turns back and forth
in every step. Such vibrations are in resonance with all slow motion, and mechanisms whose inertia
changes as they move may take energy out of them without end. So they are damped,

    c = damping + b h k x^3 / (1 + x^3),

as vibrations of a steel are. What a step resolves is not: at 30 steps a period the damping ratio is
some 1e-9, and it falls with the seventh power of the step.
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
