"""Newton's method for one step, all lanes at once, each lane on its own terms.

Chord iteration: one factorisation per step, made anew in a lane only when its residual shrinks by less than a factor
of four. A lane that has converged is frozen, so its neighbours never change it. A step is accepted when its scaled
residual is below the tolerance, measured, or bounded from the measured contraction: the chord's next residual is about
(residual)^2 / (last residual). Damped full Newton, the second attempt, factorises in every iteration. In single
precision rounding is most of what is asked: every guess is improved once, whatever its residual.
"""

from .body import update
from .drives import reanchor_laws
from .evaluate import CAREFUL_PROX, PROX, begin, evaluate, keep_found, take
from .groups import block_count
from .interior import next_relaxation, relaxation
from .jit import inline, phase
from .lanes import above, any_lane, both, but_not, of_precision
from .ldu import solve_to_leaves
from .links import follow_links
from .pressed import forget_duals
from .recheck import overlooked, reanchor
from .simd import load, maximum, spread, where
from .tables import FORCE_SCALE, H1, LAWS, LOOP_ROWS

ITERATIONS, CAREFUL_ITERATIONS = 12, 60  # chord attempt, damped full Newton
SLOW = 0.25  # contraction above which the chord's factorisation is renewed
DAMPED = 15  # half steps of the careful attempt, where forces hold
FLOOR = 100.0  # times the tolerance: where what forces hold stops to converge, it is their stiffness that rounds
SAFETY = 1.5  # on the predicted next residual (measured on chains: 0.4 to 0.7 of residual^2 / last residual)
STEP_LIMIT, CAREFUL_LIMIT = 1.0, 0.3  # [rad] largest rotation of one Newton increment
# pairs of numbers: in double and in single precision
SETTLED = 1e-7, 1e-5  # [rad] of the next increment: next to singular poses a small gap leaves much of the motion open
WANDERS = 1e-3  # [rad] an increment beyond this that is not half of the last one leads away: loops have other roots
STIFFENS = 0.1  # by which the careful attempt's proximal term falls whenever a converged lane has to go on
ROUND_OFF = 4e-15, 5e-7  # residuals are not asked to fall below this part of their largest term


@inline
def stiffened(prox, late, token):
    """Proximal part of a contact's force after the ``late`` lanes were looked at anew: their anchors have to arrive."""
    return where(late, maximum(spread(PROX, token), STIFFENS * prox), prox)


@inline
def arrived(t, k2, k3, h, prox, finished, inside, token):
    """The finished lanes, but those where a contact that seemed far is below the ground, or what holds gives way.

    Their forces are kept. Also returns the proximal part with which the others go on.
    """
    late = overlooked(t, k2, k3, h, finished, token)
    if not inside:
        late = maximum(late, reanchor(t, h, prox, finished, token))
    if t.plan[LAWS] > 0:
        late = maximum(late, reanchor_laws(t, h, finished, token))
    finished = but_not(finished, late)
    keep_found(t, finished, token)
    return finished, stiffened(prox, late, token)


@inline
def stride(turn, part, held, careful, iteration, token):
    """Size of what is taken of an increment: no more than ``part``, and no body turns too far.

    Held forces are damped at first where careful: full steps may flip between slipping one way and another for ever.
    """
    limit = spread(CAREFUL_LIMIT if careful else STEP_LIMIT, token)
    size = limit / maximum(turn, limit)
    size = where(size - part, part, size)
    if careful and iteration < DAMPED:
        return where(held, 0.5 * size, size)
    return size


@inline
def begin_inside(t, inside, h, token):
    """Relaxation of contacts at the start and at the end; none but of the interior point, whose duals are forgotten."""
    kappa, tight = relaxation(t, 1.0 / h, token)
    if inside:
        forget_duals(t, token)
        return kappa, tight
    return tight, tight


@inline
def settled(now, theta, moves, held, goal, iteration, token):
    """Lanes whose residual is small, or where forces hold as small as it becomes, and that hardly move any more."""
    small = above(goal, now)
    if iteration > 0:
        small = maximum(small, both(both(held, above(theta, spread(SLOW, token))), above(FLOOR * goal, now)))
    return both(small, above(spread(of_precision(SETTLED, token), token), moves))


@inline
def foreseen(now, theta, off, iteration):
    """What the residual will be after the increment just taken."""
    return maximum(SAFETY * theta * now if iteration > 0 else now, off)


@inline
def astray(turn, last_turn, token):
    """Lanes in which Newton leads away: loops have other roots."""
    return both(above(turn, spread(WANDERS, token)), above(turn, 0.5 * last_turn))


@phase
def attempt(t, k2, k3, h, todo, careful, inside, tolerance, token, vectors):
    """One step of size ``h`` in the lanes of ``todo``, from knot buffer k2 into k3.

    ``careful``: damped full Newton; ``inside``: contacts by the interior point. Returns (lanes that converged,
    iterations, scaled residual).
    """
    blocks, o, looped = block_count(t, token), spread(0.0, token), t.plan[LOOP_ROWS] > 0
    rho, one = load(t.state, t.s + H1, token) / h, spread(1.0, token)
    terms = begin(t, blocks, k2, k3, h, rho, careful, token, vectors)
    kappa, tight = begin_inside(t, inside, h, token)
    # forces are not asked for beyond their rounding; gaps are
    slack = maximum(one, of_precision(ROUND_OFF, token) / tolerance * terms / load(t.model, t.e + FORCE_SCALE, token))
    goal, held, prox = tolerance * slack, o, spread(CAREFUL_PROX if careful else PROX, token)
    active, wants, previous, at_once = todo, todo, one, of_precision((goal, spread(tolerance, token)), token)
    done, iterations, residual, last_turn = o, o, spread(1e300, token), spread(1e300, token)
    for iteration in range(CAREFUL_ITERATIONS if careful else ITERATIONS):
        now, turn, left, held, off, part = evaluate(
            t, blocks, k2, k3, h, rho, active, wants, held, prox, careful, inside, kappa, slack, token, vectors
        )
        residual, theta = where(active, now, residual), now / previous
        moves = turn if looped else where(held, turn, o)
        asked = both(active, settled(now, theta, moves, held, goal if iteration > 0 else at_once, iteration, token))
        asked = but_not(asked, both(held, above(kappa, tight)))
        take(t, one, asked, inside, token)
        finished, prox = arrived(t, k2, k3, h, prox, asked, inside, token)
        missed = but_not(asked, finished)
        done, active = maximum(done, finished), but_not(active, finished)
        if not any_lane(active):
            break
        if not (looped or any_lane(held)):
            turn, _, _, _ = solve_to_leaves(t, k3, token)
        elif looped and not careful:  # the careful attempt starts from the last velocities, next to the right root
            active = but_not(active, but_not(astray(turn, last_turn, token), held))
            last_turn = turn
        size = stride(turn, part, held, careful and not inside, iteration, token)
        moving = but_not(active, missed)  # what was seen only now is in no equation yet
        update(t, blocks, k2, k3, spread(h, vectors), spread(size, vectors), spread(moving, vectors), vectors)
        take(t, size, moving, inside, token)
        kappa, iterations = next_relaxation(kappa, size, tight), iterations + active
        bound = foreseen(now, theta, off, iteration)
        if looped:
            follow_links(t, k3, token)
            bound = maximum(bound, slack * maximum(left, turn * turn))  # and what it leaves of a loop's curvature
            size = where(above(theta * turn, spread(of_precision(SETTLED, token), token)), 0.0 * size, size)
        finished = both(both(active, above(goal, bound)), above(size, spread(0.999, token)))
        finished, prox = arrived(t, k2, k3, h, prox, but_not(finished, missed), inside, token)
        residual = where(finished, bound, residual)
        done, active = maximum(done, finished), but_not(active, finished)
        active = both(active, above(spread(1e12, token), now))  # diverged, or not a number
        if not any_lane(active):
            break
        wants = active if careful else (both(active, above(theta, spread(SLOW, token))) if iteration > 0 else o)
        previous = where(active, now, previous)
    return done, iterations, residual
