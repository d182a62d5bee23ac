"""Convergence of Newton's iterations, by a residual that is measured or predicted.

A step is accepted when its scaled residual is below the tolerance. The residual is measured, or
bounded by the measured contraction: the chord's next residual is about
(residual)^2 / (last residual).
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import select_by_precision
from vigym.core.compiler.simd import maximum, where
from vigym.core.loop.solve import find_rounded_multipliers
from vigym.core.solver.residual import PROX

SLOW_CONTRACTION = 0.25  # ratio of residuals above which the chord factorises anew
SAFETY = 1.5  # factor on predicted residuals (chains: 0.4 to 0.7 of residual^2 / last residual)
# Full Newton squares the contraction in each iteration, apart from the motion of the anchors
NEWTON_SAFETY, ANCHOR_LAG = 5.0, 1e-6
ALMOST_WHOLE = 0.999  # part of an increment above which its prediction holds
SOFT_PROX = 1e-3  # proximal part at the start of later attempts: it makes contacts easier
STALLED_NONSMOOTH = 100.0  # factor on the goal of stalled nonsmooth lanes: stiff slopes round
# Pairs of numbers: in double and in single precision.
NONSMOOTH_GOAL = 100.0, 1.0  # residual of nonsmooth lanes over the tolerance; 2e-9 of the motion
# Next increment [rad]: near singular poses a small gap may leave a large error of the motion
CONVERGED_ROTATION = 1e-7, 1e-5
ROUND_OFF = 4e-15, 5e-7  # part of its largest term below which a residual need not fall
# Iterations after which rounding of multipliers is checked in nonsmooth lanes: most have converged
ITERATIONS_ABOVE_ROUNDING = 10


@inline
def rounding_tolerance_factor(d, term, tolerance):
    """Find by which factor the rounding of a term [N] exceeds the tolerance, at least one."""
    round_off = select_by_precision(ROUND_OFF, d.full(0.0))
    return maximum(1.0, round_off / tolerance * term / d.environment.force_scale)


@inline
def residual_tolerance(d, nonsmooth, iteration):
    """Find the residual below which a lane is solved: larger in nonsmooth lanes.

    Gaps of joints and loops are to be below the tolerance itself.
    """
    goal = iteration.tolerance * iteration.slack
    rough = select_by_precision(NONSMOOTH_GOAL, goal)
    if iteration.number == 0:  # the error of a prediction exceeds the rounding of stiff slopes
        return where(nonsmooth, maximum(rough * iteration.tolerance, goal), goal)
    return where(nonsmooth, rough * goal, goal)


@inline
def find_soft_lanes(d, iteration):
    """Find the lanes whose laws are too soft for a solution."""
    method = iteration.method
    return iteration.prox > (SOFT_PROX if method.damped or method.warm else PROX)


@inline
def find_relaxed_lanes(nonsmooth, iteration):
    """Find the nonsmooth lanes of the interior point whose relaxation is not final yet."""
    return nonsmooth & (iteration.kappa > iteration.tight)


@inline
def find_stalled_multipliers(d, found, slow, iteration):
    """Find the slow lanes whose residual is within the rounding of multipliers.

    Their gaps are closed. In nonsmooth lanes forces follow their laws, and the first iterations are
    left out, as they may converge further.
    """
    exact = iteration.tolerance * iteration.slack
    slow = slow & (exact > found.gap)
    if iteration.number < ITERATIONS_ABOVE_ROUNDING:
        slow = slow & ~found.nonsmooth
    error = select_by_precision(NONSMOOTH_GOAL, exact) * exact * d.environment.force_scale
    slow = slow & ~(found.nonsmooth & (found.squared_errors > error * error))
    return find_rounded_multipliers(d, slow, found.residual)


@inline
def converged(d, found, contraction, active, iteration):
    """Find the active lanes with a small measured residual and a small increment.

    A residual that has stalled at its round-off, or at that of multipliers, counts as small.
    Nonsmooth lanes of the interior point converge only when their relaxation is final.
    """
    nonsmooth = found.nonsmooth
    goal = residual_tolerance(d, nonsmooth, iteration)
    if iteration.number == 0:
        goal = select_by_precision((goal, d.full(iteration.tolerance)), goal)
    exact = iteration.tolerance * iteration.slack
    small = (goal > found.residual) & (exact > found.gap)
    if iteration.number > 0:
        floor = iteration.tolerance * iteration.stalled_slack
        floor = where(nonsmooth, maximum(floor, STALLED_NONSMOOTH * exact), floor)
        slow = contraction > SLOW_CONTRACTION
        small = small | slow & (floor > found.residual)
        if d.loop_row_count > 0:
            stalled = find_stalled_multipliers(d, found, active & slow, iteration)
            small = small | stalled
    moves = where(nonsmooth, found.rotation, 0.0)
    if d.loop_row_count > 0:
        moves = found.rotation
    still = select_by_precision(CONVERGED_ROTATION, goal) > moves
    relaxed = find_relaxed_lanes(nonsmooth, iteration)
    unfinished = relaxed | find_soft_lanes(d, iteration)
    return active & small & still & ~unfinished


@inline
def predict_contraction(found, contraction, iteration):
    """Bound the factor from the present increment to the next one.

    Increments of a chord shrink as before, and so do those of attempts that start with soft laws.
    Full Newton, in nonsmooth lanes of the first attempt, converges quadratically if no law changes
    its branch, which is measured by the errors of the laws. The anchors of joint forces are those
    of the last iteration, and leave a part of its increment.
    """
    chord, method = SAFETY * contraction, iteration.method
    if method.damped or method.warm:
        return chord
    newton = maximum(NEWTON_SAFETY * contraction * contraction, ANCHOR_LAG / contraction)
    return where(found.nonsmooth & (chord > newton), newton, chord)


@inline
def predict_residual(d, found, contraction, rotation, length, iteration):
    """Bound the residual after the increment just taken.

    The interior point measures its laws before the increment, and takes only a part of it: the
    share that it leaves out stays in the residual. Returns (bound, lanes in which the bound is
    small and joints close; with loops only if the rotation of the next increment will be tiny).
    """
    bound, unfinished = found.residual, find_soft_lanes(d, iteration)
    if iteration.number > 0:
        contraction = predict_contraction(found, contraction, iteration)
        bound = contraction * found.residual
    if iteration.method.interior_point:
        rest = 1.0 - length
        bound, contraction = maximum(bound, rest * found.residual), maximum(contraction, rest)
        exact = iteration.tolerance * iteration.slack
        closed = (length > 0.0) & (exact > rest * found.gap)
        unfinished = unfinished | find_relaxed_lanes(found.nonsmooth, iteration)
    else:
        bound, closed = maximum(bound, found.errors.largest), length > ALMOST_WHOLE
    promising = residual_tolerance(d, found.nonsmooth, iteration) > bound
    promising = closed & promising & ~unfinished
    gap = maximum(found.gap_left, rotation * rotation)  # left by the solve, and by the curvature
    promising = promising & (iteration.tolerance > gap)
    if d.loop_row_count > 0:
        bound = maximum(bound, iteration.slack * gap)
        tiny = select_by_precision(CONVERGED_ROTATION, length)
        promising = promising & ~(contraction * rotation > tiny)
    return bound, promising
