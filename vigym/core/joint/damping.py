"""Damping of a degree of freedom: its own, and that of vibrations which its spring makes too fast.

A spring acts at the middle of a step: it is stable at any stiffness k, and by itself it keeps its
energy. But where a step of size h is longer than its vibration of a mass m, x = h^2 k / (4 m) above
one, it turns back and forth in every step. That is in resonance with all slow motion, and a
mechanism whose inertia changes as it moves would take energy out of nothing. So a damper takes such
vibrations from the rate s_dot,

    c (s_dot - u),    c = b h k x^3 / (1 + x^3),    u' = (u + s_dot) / 2.

The slow rate u is a mean of the rates of the steps before. Where x is large a vibration shrinks to
0.74 in each step. At six steps a period, x = 1/4, the damping ratio is 1.2e-3. Slow motion of the
same spring at the rate w has a damping ratio of b (h w)^3: a beam of many hinges goes on to bend.
At equal steps the damper takes energy over time, whatever the motion: its force, as a function of
the rate at knots, is that of a passive filter. It may give back a part of what it took.

Between steps of unlike size the lesser of their c holds for u, for a rate that short steps follow
may be one that a long step does not resolve. So a change of size damps slow motion, too. Sizes that
change by ten and back in every step may still give energy.

Of three free rotations each has the mass about its own axis of the child.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import maximum, minimum, where
from vigym.core.model.context import knot_weight

UNRESOLVED = 0.3  # b
RECENT = 0.5  # part of the last rate in the mean of rates
FAST = 1e3  # x from which on it is all the same


@inline
def squared_resolution(dof, h):
    """Compute x, the square of half the angle that a spring's vibration makes in a step of size h.

    It is zero without a spring.
    """
    mass = dof.effective_mass
    return 0.25 * h * h * dof.stiffness / where(mass > 0.0, mass, 1.0)


@inline
def vibration_damping(dof, h):
    """Compute the damping c of vibrations in a step of size h [N s/m or N m s/rad]."""
    x = squared_resolution(dof, h)
    x = minimum(x, FAST)
    cube = x * x * x
    return UNRESOLVED * h * dof.stiffness * (cube / (1.0 + cube))


@inline
def dof_damping(dof, h):
    """Compute the damping of a dof in a step of size h [N s/m or N m s/rad]."""
    return dof.damping + vibration_damping(dof, h)


@inline
def damper_at_knot(dof, h, rho):
    """Find the damper of a dof at the knot between a step of size rho h and one of size h.

    Half of each step's damping acts there, per h. A vibration that the last step damped, and this
    one need not, would burst out without the last step's half.

    Returns:
        (damping, part of the force that is due to the slow rate).
    """
    before, now = rho * vibration_damping(dof, rho * h), vibration_damping(dof, h)
    lesser = where(h * (before - now) > 0.0, now, before)  # both have the sign of h
    damping = knot_weight(rho) * dof.damping + 0.5 * (before + now)
    return damping, 0.5 * (before + lesser) * dof.slow_rate


@inline
def damper_before_knot(dof, h1):
    """Find the damper of a dof in the second half of a step of size h1.

    Returns:
        (impulse for each rate at the knot, part of the impulse that is due to the slow rate).
    """
    half = 0.5 * h1
    return half * dof_damping(dof, h1), half * vibration_damping(dof, h1) * dof.slow_rate


@inline
def next_slow_rate(dof, rate):
    """Compute the slow rate after a step with a given rate [m/s or rad/s]."""
    return dof.slow_rate + RECENT * (rate - dof.slow_rate)


@inline
def work_of_vibration_damping(dof, rate, h, rho):
    """Compute the work that the damper of vibrations gives back at such a knot [J], at least zero.

    ``rate`` is that over the step of size h.
    """
    mean = 0.5 * (rate + dof.last_rate)
    damping, by_slow_rate = damper_at_knot(dof, h, rho)
    own = knot_weight(rho) * dof.damping
    given = h * (by_slow_rate - (damping - own) * rate) * mean
    return maximum(given, 0.0)
