"""Checks of a solved step: those whose energy would be wrong are halved.

Where contacts work otherwise than their laws say, the step was too long for the places where bodies
touch. Rebounds that would give more than their landings took are reduced.

The equations of a large step have several roots. At those that do not continue the motion before,
bodies turn abruptly. Smooth motion never does so, but for stiff springs, which turn bodies back and
forth at every step. Impacts do too. Neither adds kinetic energy that no force explains.
"""

import math

from vigym.core.body.pose import max_angular_speed_change
from vigym.core.compiler.kernel import inline, phase, zero
from vigym.core.compiler.lanes import above, any_lane, both, but_not, max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, where
from vigym.core.model.tables.plan import SKATE
from vigym.core.solver.accounting import LEAST_REBOUND_GAIN, energy_allowed_to_rebounds
from vigym.core.solver.energy_surplus import (
    reject_growing_swings,
    reject_surplus,
    remember_part,
)
from vigym.core.solver.explained_work import explained_work, kinetic_energy
from vigym.core.solver.parts import find_parts, find_short_parts

# Part of the step at which halved steps stop where the work of contacts stays inexact
SMALLEST_INEXACT = 1.0 / 16.0
SMOOTH_TURN = 0.25  # [rad] change of a body's rotation from step to step that smooth motion has not
ABRUPT_TURN = 0.12  # [rad] such a change with impacts where work is known roughly only
HALF_TURN = 1.0  # [rad] such a change with impacts: bodies turn by 2 in a step at most
SLIGHT_TURN = 0.005  # [rad] such a change with impacts where kinetic energy appears
FEW = 4.0  # most iterations of a step whose forces are nearly those of the last one
GAIN = 0.02  # gain of kinetic energy that is too large, in parts of the energy before
SLACK_SPRING = 1e-3  # square of a spring's rate times the step below which it hardly acts
SMOOTH_GAIN, SMOOTH_GAIN_OF_TURN = 0.05, 1.5  # the same in a smooth step, more for its rotation^2
MOST_SMOOTH_GAIN = 0.23  # the most of both
GAIN_OF_PARTS = 0.01  # the same in a part of a step
SOUGHT_GAIN = 1.0  # the same in a longer part that is sought where the smallest one failed
LOOSE_GAIN = 0.1  # the same where the work of forces is not known well enough for that
LEAST_GAIN = 1e-3  # gain that is too large in any case, in force times length scales
REDUCED, LEAST_SHARE = 0.99, 0.1  # factor on a rebound that gives too much, and the least one
HALVED = 0.5  # factor on a rebound in a step whose kinetic energy rises too much
LEAST_REBOUNDING = 1.0 / 1024.0  # part of the step down to which rebounds are looked at
INEXACT_SHARE = 0.1  # error of the work of contacts in a step, in parts of that work
INEXACT_WORK = 1e-3  # error of the work of contacts in a step, in force times length scales


@inline
def find_lanes_with_springs(d, h):
    """Find the lanes in which a spring of a joint, or between points, acts within a step.

    Potentials may be as stiff: with them all lanes are found.
    """
    springs = d.full(1.0 if d.potential_count > 0 else 0.0)
    for p in range(d.dof_count):
        dof = d.dof(p)
        square = h * h * dof.stiffness
        springs = maximum(springs, above(square, SLACK_SPRING * dof.effective_mass))
    return springs


@inline
def find_lanes_of_rough_work(d, h):
    """Find the lanes in which the work that explains a gain is known roughly only.

    Springs give half of their impulse to the step before, motions and wrenches that are imposed
    have bounds, and rebounds bring back what a landing leaves of the motion of joints.
    """
    imposed = d.full(1.0 if d.wrench_count + d.motion_count > 0 else 0.0)
    return maximum(maximum(imposed, find_lanes_with_springs(d, h)), find_lanes_that_rebound(d))


@phase(needs="contacts", otherwise=zero)
def find_lanes_that_rebound(d):
    """Find the lanes in which a contact rebounds in this step."""
    rebounds = d.full(0.0)
    for c in range(d.contact_count):
        rebounds = maximum(rebounds, d.contact(c).rebound_velocity)
    return above(rebounds, d.full(0.0))


@inline
def find_lanes_that_gain(d, step, share):
    """Find the lanes in which kinetic energy appears that no force explains.

    A gain below a share of the energy before is allowed.
    """
    before = kinetic_energy(d, step.knot2)
    gain = kinetic_energy(d, step.knot3) - before
    scale = d.environment.force_scale * d.environment.length_scale
    return above(gain, share * before + LEAST_GAIN * scale + explained_work(d, step))


@inline
def find_lanes_that_jump(d, step, turn):
    """Find the lanes in which a part of the kinetic energy appears in a smooth step.

    ``turn`` is the largest rotation [rad]: energies in the middle of steps differ by its square.
    """
    share, most = SMOOTH_GAIN + SMOOTH_GAIN_OF_TURN * turn * turn, d.full(MOST_SMOOTH_GAIN)
    after = kinetic_energy(d, step.knot3)
    least = where(above(share, most), most, share) * after
    scale = d.environment.force_scale * d.environment.length_scale
    gain = after - kinetic_energy(d, step.knot2) - explained_work(d, step)
    return above(gain, least + LEAST_GAIN * scale)


@phase
def find_lanes_of_other_roots(d, step, parts, rate, nonsmooth):
    """Find the lanes in which a step leads to another root.

    A smooth step does where a body turns abruptly, unless there are springs: stiff ones turn bodies
    back and forth. A step with impacts does where kinetic energy appears and a body turns otherwise
    than in the step before, or where a body turns by a radian more, without springs. Larger gains
    are allowed, and turns, where work is known roughly only, and where shorter parts failed.
    """
    change = max_angular_speed_change(d.wide, step.knot2, step.knot3)
    turn = absolute(step.h) * max_over_body_lanes(change, step.h)
    if not any_lane(above(turn, d.full(SLIGHT_TURN))):
        return d.full(0.0)
    abrupt, springs = above(turn, d.full(SMOOTH_TURN)), find_lanes_with_springs(d, step.h)
    loose = maximum(parts.seeking, find_lanes_of_rough_work(d, step.h))
    gains = find_lanes_that_gain(d, step, where(loose, d.full(LOOSE_GAIN), d.full(GAIN)))
    kinked = above(turn, where(loose, d.full(ABRUPT_TURN), d.full(SLIGHT_TURN)))
    impact = maximum(but_not(above(turn, d.full(HALF_TURN)), springs), gains)
    jumps = both(above(turn, d.full(SLIGHT_TURN)), find_lanes_that_jump(d, step, step.h * rate))
    return where(nonsmooth, both(kinked, impact), but_not(maximum(abrupt, jumps), springs))


@inline
def reject_other_roots(d, step, parts, rate, solved):
    """Let lanes fail that another root was found in.

    ``rate`` is the largest angular speed after the step [rad/s]. Where bodies turn little, only
    steps of many iterations are looked at: in others the forces are nearly those of the step
    before. Returns (lanes that are done, lanes that failed).
    """
    done, failed = solved.done, solved.failed
    turn = absolute(step.h) * rate
    hard = both(above(solved.iterations, d.full(FEW)), above(turn, d.full(0.5 * SLIGHT_TURN)))
    suspects = both(done, maximum(above(turn, d.full(0.5 * ABRUPT_TURN)), hard))
    if any_lane(suspects):
        others = both(suspects, find_lanes_of_other_roots(d, step, parts, rate, solved.nonsmooth))
        remember_part(d, but_not(others, solved.nonsmooth), parts.size)
        done, failed = but_not(done, others), maximum(failed, others)
    return done, failed


@inline
def reject_parts_that_gain(d, step, parts, nonsmooth, done, failed):
    """Let lanes fail in which a part of a step gains kinetic energy that no force explains.

    Nonsmooth parts and short ones are checked, however little bodies turn in them; not where work
    is known roughly only. Of the longer ones that are sought where the smallest one failed, those
    fail that double the energy. Returns (lanes that are done, lanes that failed).
    """
    suspects = both(find_parts(parts), maximum(nonsmooth, find_short_parts(parts)))
    suspects = both(done, suspects)
    if any_lane(suspects):
        suspects = but_not(suspects, find_lanes_of_rough_work(d, step.h))
        share = where(parts.seeking, d.full(SOUGHT_GAIN), d.full(GAIN_OF_PARTS))
        gains = both(suspects, find_lanes_that_gain(d, step, share))
        done, failed = but_not(done, gains), maximum(failed, gains)
    return done, failed


@phase(needs="contacts", otherwise=zero)
def find_lanes_of_inexact_work(d, h):
    """Find the lanes in which contacts work otherwise than their laws say.

    The force of a step acts where bodies touch at its start, and its law holds where they touch at
    its end. Where that place runs far, as on the rim of a disc that settles, the force does other
    work: it may even give energy, which contacts never do.
    """
    error, size = d.full(0.0), d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            error = error + contact.power_error
            size = size + absolute(contact.power)
    environment = d.environment
    weight = 0.5 + 0.5 * environment.step_size / h
    scale = environment.force_scale * environment.length_scale
    allowed = INEXACT_WORK * scale / (weight * h) + INEXACT_SHARE * size
    return above(error, allowed)


@inline
def reject_inexact_work(d, step, parts, done, failed):
    """Let lanes fail in which the work of contacts is inexact, unless their step is short already.

    Where all shorter parts failed they fail only if kinetic energy appears. Returns (lanes that are
    done, lanes that failed).
    """
    if d.contact_count > 0:
        inexact = find_lanes_of_inexact_work(d, step.h)
        inexact = both(both(done, inexact), above(parts.size, d.full(SMALLEST_INEXACT)))
        last_resort = both(inexact, parts.seeking)
        if any_lane(last_resort):
            gains = find_lanes_that_gain(d, step, d.full(GAIN_OF_PARTS))
            inexact = but_not(inexact, but_not(last_resort, gains))
        return but_not(done, inexact), maximum(failed, inexact)
    return done, failed


@inline
def energy_given_by_contacts(d, step):
    """Find what the contacts give in this step, friction deducted [J]."""
    power = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            power = power - contact.power
    return (0.5 + 0.5 * step.rho) * step.h * power


@phase(needs="contacts", otherwise=zero)
def reduce_rebounds_that_gain(d, step, lanes, short):
    """Reduce rebounds in the lanes in which they give more energy than their landings took.

    Newton's law of restitution does so where friction turns round within an impact, or where other
    contacts are hit by the rebound. In ``short`` lanes `LEAST_GAIN` more is allowed.
    Where bodies turn far in a step the work of an impact is not known as well: rebounds are halved
    in lanes whose kinetic energy rises by more than a tenth without them.

    Returns these lanes.
    """
    rebounds = both(lanes, find_lanes_that_rebound(d))
    if not any_lane(rebounds):
        return rebounds
    more = where(short, d.full(LEAST_GAIN), d.full(LEAST_REBOUND_GAIN))
    allowed, given = energy_allowed_to_rebounds(d, more), energy_given_by_contacts(d, step)
    gains = both(rebounds, above(given, allowed))
    least = d.full(LEAST_SHARE)
    share = REDUCED * math.sqrt(allowed / where(gains, given, allowed))
    share = where(share - least, share, least)
    rises = both(rebounds, find_lanes_that_gain(d, step, d.full(LOOSE_GAIN)))
    share = where(but_not(rises, gains), d.full(HALVED), share)
    gains = maximum(gains, rises)
    for c in range(d.contact_count):
        contact = d.contact(c)
        rebound = contact.rebound_velocity
        contact.rebound_velocity = where(gains, share * rebound, rebound)
    return gains


@phase(needs="contacts", otherwise=zero)
def remove_rebounds(d, lanes):
    """Remove the rebounds of some lanes; returns zero."""
    o = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        contact.rebound_velocity = where(lanes, o, contact.rebound_velocity)
    return o


@inline
def remove_rebounds_of_short_steps(d, parts, failed):
    """Remove the rebounds of lanes whose short steps have no solution.

    Two contacts may hold a body, and each be to let it go.
    """
    stuck = both(failed, above(d.full(2.0 * SMALLEST_INEXACT), parts.size))
    if any_lane(stuck):
        remove_rebounds(d, stuck)


@inline
def reject_rebounds_that_gain(d, step, part, done, failed):
    """Let lanes fail whose rebounds gave too much: more is too much where their step is short.

    By the shortest ones rebounds have been reduced to next to nothing, and what gains is another
    force. Returns (lanes that are done, lanes that failed).
    """
    if d.contact_count > 0:
        short = but_not(d.full(1.0), above(part, d.full(SMALLEST_INEXACT)))
        candidates = both(done, above(part, d.full(LEAST_REBOUNDING)))
        gains = reduce_rebounds_that_gain(d, step, candidates, short)
        return but_not(done, gains), maximum(failed, gains)
    return done, failed


@inline
def reject_wrong_steps(d, step, parts, rate, solved):
    """Let lanes fail in which the energy of a solved step is wrong.

    Args:
        d: the mechanism's data.
        step: knots and sizes of the step.
        parts: part of the whole step that was solved.
        rate: largest angular speed after the step [rad/s], lane values.
        solved: findings of the attempts.

    Returns:
        Lanes that are done, lanes that failed.
    """
    remove_rebounds_of_short_steps(d, parts, solved.failed)
    done, failed = reject_other_roots(d, step, parts, rate, solved)
    done, failed = reject_parts_that_gain(d, step, parts, solved.nonsmooth, done, failed)
    done, failed = reject_inexact_work(d, step, parts, done, failed)
    done, failed = reject_growing_swings(d, step, parts, rate, solved.nonsmooth, done, failed)
    done, failed = reject_surplus(d, step, parts, rate, solved.nonsmooth, done, failed)
    return reject_rebounds_that_gain(d, step, parts.size, done, failed)
