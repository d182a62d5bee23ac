"""Convergence of Newton's iterations: the residual that is small enough, measured or predicted.

A step is accepted when its scaled residual is below the tolerance, measured, or bounded from the
measured contraction: the chord's next residual is about (residual)^2 / (last residual).
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import above, both, but_not, select_by_precision
from vigym.core.compiler.simd import maximum, where
from vigym.core.loop.solve import find_rounded_multipliers
from vigym.core.solver.residual import PROX

SLOW_CONTRACTION = 0.25  # ratio of residuals above which the chord factorises anew
SAFETY = 1.5  # factor on predicted residuals (chains: 0.4 to 0.7 of residual^2 / last residual)
# Of full Newton the next contraction is the square of the last, but for what anchors have moved
NEWTON_SAFETY, ANCHOR_LAG = 5.0, 1e-6
ALMOST_WHOLE = 0.999  # part of an increment above which its prediction holds
SOFT_PROX = 1e-3  # proximal part at the start of later attempts: contacts are easier with more
STALLED_NONSMOOTH = 100.0  # factor on the goal of stalled nonsmooth lanes: stiff slopes round
# Pairs of numbers: in double and in single precision.
NONSMOOTH_GOAL = 100.0, 1.0  # residual of nonsmooth lanes over the tolerance; 2e-9 of the motion
# Next increment [rad]: near singular poses a small gap leaves much of the motion open
CONVERGED_ROTATION = 1e-7, 1e-5
ROUND_OFF = 4e-15, 5e-7  # part of its largest term below which a residual need not fall
# Iterations after which the rounding of multipliers is looked at in nonsmooth lanes: most converge
ITERATIONS_ABOVE_ROUNDING = 10


@inline
def rounding_tolerance_factor(d, term, tolerance):
    """Find by which factor the rounding of a term [N] exceeds the tolerance, at least one."""
    round_off = select_by_precision(ROUND_OFF, d.full(0.0))
    return maximum(d.full(1.0), round_off / tolerance * term / d.environment.force_scale)


@inline
def residual_tolerance(d, nonsmooth, iteration):
    """Find the residual below which a lane is solved: larger in nonsmooth lanes.

    Gaps of joints and loops are to be below the tolerance itself.
    """
    goal = iteration.tolerance * iteration.slack
    rough = select_by_precision(NONSMOOTH_GOAL, goal)
    if iteration.number == 0:  # a prediction is off by more than stiff slopes round
        return where(nonsmooth, maximum(d.full(rough * iteration.tolerance), goal), goal)
    return where(nonsmooth, rough * goal, goal)


@inline
def find_soft_lanes(d, iteration):
    """Find the lanes whose laws are too soft for a solution."""
    method = iteration.method
    return above(iteration.prox, d.full(SOFT_PROX if method.damped or method.warm else PROX))


@inline
def find_relaxed_lanes(nonsmooth, iteration):
    """Find the nonsmooth lanes of the interior point whose relaxation is not at its end."""
    return both(nonsmooth, above(iteration.kappa, iteration.tight))


@inline
def find_stalled_multipliers(d, found, slow, iteration):
    """Find the slow lanes whose residual is no more than the rounding of multipliers causes.

    Their gaps are closed. In nonsmooth lanes forces follow their laws, and there is time first for
    increments to converge better than that.
    """
    exact = iteration.tolerance * iteration.slack
    slow = both(slow, above(exact, found.gap))
    if iteration.number < ITERATIONS_ABOVE_ROUNDING:
        slow = but_not(slow, found.nonsmooth)
    error = select_by_precision(NONSMOOTH_GOAL, exact) * exact * d.environment.force_scale
    slow = but_not(slow, both(found.nonsmooth, above(found.squared_errors, error * error)))
    return find_rounded_multipliers(d, slow, found.residual)


@inline
def converged(d, found, contraction, active, iteration):
    """Find the active lanes whose measured residual is small, and that hardly move any more.

    Also lanes whose residual has stalled at its round-off, or at that of multipliers. Nonsmooth
    lanes of the interior point have not converged before their relaxation is at its end.
    """
    nonsmooth = found.nonsmooth
    goal = residual_tolerance(d, nonsmooth, iteration)
    if iteration.number == 0:
        goal = select_by_precision((goal, d.full(iteration.tolerance)), goal)
    exact = iteration.tolerance * iteration.slack
    small = both(above(goal, found.residual), above(exact, found.gap))
    if iteration.number > 0:
        floor = iteration.tolerance * iteration.stalled_slack
        floor = where(nonsmooth, maximum(floor, STALLED_NONSMOOTH * exact), floor)
        slow = above(contraction, d.full(SLOW_CONTRACTION))
        small = maximum(small, both(slow, above(floor, found.residual)))
        if d.loop_row_count > 0:
            stalled = find_stalled_multipliers(d, found, both(active, slow), iteration)
            small = maximum(small, stalled)
    moves = where(nonsmooth, found.rotation, d.full(0.0))
    if d.loop_row_count > 0:
        moves = found.rotation
    still = above(d.full(select_by_precision(CONVERGED_ROTATION, goal)), moves)
    relaxed = find_relaxed_lanes(nonsmooth, iteration)
    unfinished = maximum(relaxed, find_soft_lanes(d, iteration))
    return but_not(both(active, both(small, still)), unfinished)


@inline
def predict_contraction(found, contraction, iteration):
    """Bound the factor from the present increment to the next one.

    A chord shrinks as it did before, and so do attempts that start with soft laws. Full Newton, in
    nonsmooth lanes of the first attempt, converges quadratically where no law changes its branch,
    which the errors of laws tell. The anchors of joint forces are those of the last iteration, and
    leave a part of its increment.
    """
    chord, method = SAFETY * contraction, iteration.method
    if method.damped or method.warm:
        return chord
    newton = maximum(NEWTON_SAFETY * contraction * contraction, ANCHOR_LAG / contraction)
    return where(both(found.nonsmooth, above(chord, newton)), newton, chord)


@inline
def predict_residual(d, found, contraction, rotation, length, iteration):
    """Bound the residual after the increment just taken.

    The interior point measures its laws before the increment, and takes only a part of it: what is
    not taken leaves the same share of the residual. Returns (bound, lanes in which it is small and
    joints close; with loops only if the rotation of the next increment will be tiny).
    """
    bound, unfinished = found.residual, find_soft_lanes(d, iteration)
    if iteration.number > 0:
        contraction = predict_contraction(found, contraction, iteration)
        bound = contraction * found.residual
    if iteration.method.interior_point:
        rest = 1.0 - length
        bound, contraction = maximum(bound, rest * found.residual), maximum(contraction, rest)
        exact = iteration.tolerance * iteration.slack
        closed = both(above(length, d.full(0.0)), above(exact, rest * found.gap))
        unfinished = maximum(unfinished, find_relaxed_lanes(found.nonsmooth, iteration))
    else:
        bound, closed = maximum(bound, found.errors.largest), above(length, d.full(ALMOST_WHOLE))
    promising = above(residual_tolerance(d, found.nonsmooth, iteration), bound)
    promising = both(closed, but_not(promising, unfinished))
    gap = maximum(found.gap_left, rotation * rotation)  # of the solve, and of the curvature
    promising = both(promising, above(d.full(iteration.tolerance), gap))
    if d.loop_row_count > 0:
        bound = maximum(bound, iteration.slack * gap)
        tiny = d.full(select_by_precision(CONVERGED_ROTATION, length))
        promising = but_not(promising, above(contraction * rotation, tiny))
    return bound, promising
