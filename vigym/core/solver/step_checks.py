"""Checks of a solved step: steps whose energy would be wrong are halved.

The equations of a large step have several roots. At a root that does not continue the motion
before, bodies turn abruptly. In smooth motion only stiff springs do that: they turn bodies back and
forth at every step. Impacts turn bodies abruptly, too. Neither springs nor impacts add kinetic
energy that no force explains. Rebounds that would give more energy than their landings took are
reduced.
"""

from typing import Any, NamedTuple

from vigym.core.body.pose import max_angular_speed_change
from vigym.core.body.potentials import find_lanes_without_potential
from vigym.core.compiler.kernel import inline, no_lanes, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.contact.rebounds import (
    LEAST_REBOUND_GAIN,
    energy_allowed_to_rebounds,
    find_lanes_of_landings,
    find_lanes_that_rebound,
    scale_rebounds,
)
from vigym.core.joint.coordinates import dof_rate_over_step
from vigym.core.model.context import knot_weight
from vigym.core.solver.explained_work import measure_energy_change, spring_energy_at_knot
from vigym.core.solver.growing_swings import (
    find_lanes_that_may_swing,
    reject_growing_swings,
    shorten_next_steps,
)
from vigym.core.solver.iteration import reject_lanes
from vigym.core.solver.parts import find_parts, find_short_parts
from vigym.core.tables.plan import SKATE

# Part of the step up to which rebounds may give a little more energy. Below twice that part they
# are removed where the step has no solution.
SHORT_REBOUNDING = 1.0 / 16.0
SMOOTH_TURN = 0.25  # [rad] change of a body's rotation per step above that of smooth motion
ABRUPT_TURN = 0.12  # [rad] such a change with impacts where work is known only roughly
HALF_TURN = 1.0  # [rad] such a change with impacts: bodies turn by at most 2 in a step
SLIGHT_TURN = 0.005  # [rad] such a change with impacts where kinetic energy appears
FEW = 4.0  # most iterations of a step whose forces are nearly those of the last one
GAIN = 0.01  # gain of kinetic energy that is too large, in parts of the energy before
SLACK_SPRING = 1e-3  # square of a spring's rate times the step below which it hardly acts
SMOOTH_GAIN, SMOOTH_GAIN_OF_TURN = 0.05, 1.5  # the same in a smooth step, and per rotation^2
MOST_SMOOTH_GAIN = 0.23  # largest sum of both
LOOSE_GAIN = 0.1  # the same where the work of forces is known only roughly
LEAST_GAIN = 1e-3  # gain that is allowed in any case, in force times length scales
REDUCED, LEAST_SHARE = 0.99, 0.1  # factor on a rebound of too much energy, and its least
HALVED = 0.5  # factor on a rebound in a step whose kinetic energy rises too much
SEPARATE = 0.2  # part of the step above which a rebound and the landings it causes are separated
LEAST_REBOUNDING = 1.0 / 1024.0  # part of the step down to which rebounds are checked


@inline
def find_lanes_with_springs(d, step):
    """Find the lanes in which springs of joints, or between points, act in this or the last step.

    The energy of a vibration that a long step did not resolve appears in a shorter step after it.
    Potentials may be as stiff as springs: in mechanisms with potentials all lanes are found.
    """
    springs = d.full(d.potential_count > 0)
    longer = maximum(absolute(step.h), absolute(step.rho * step.h))
    for p in range(d.dof_count):
        dof = d.dof(p)
        square = longer * longer * dof.stiffness
        springs = springs | (square > SLACK_SPRING * dof.effective_mass)
    return springs


@inline
def find_lanes_of_rough_work(d, step):
    """Find the lanes in which the work that explains a gain is known only roughly.

    Work estimates are inaccurate with springs, imposed motions, held wrenches and rebounds.
    """
    imposed = d.wrench_count + d.motion_count > 0
    return imposed | find_lanes_with_springs(d, step) | find_lanes_that_rebound(d)


@inline
def find_lanes_that_gain(change, share):
    """Find the lanes in which kinetic energy appears that no force explains.

    A gain below a share of the energy before is allowed.
    """
    return change.gain > share * change.before + LEAST_GAIN * change.scale + change.explained


@inline
def find_lanes_that_jump(d, change, turn):
    """Find the lanes in which no force explains a part of the kinetic energy after a smooth step.

    ``turn`` is the largest rotation [rad]: the energies in the middle of steps differ in proportion
    to its square.
    """
    share = SMOOTH_GAIN + SMOOTH_GAIN_OF_TURN * turn * turn
    least = minimum(share, MOST_SMOOTH_GAIN) * change.after
    return change.gain - change.explained > least + LEAST_GAIN * change.scale


@inline
def find_lanes_that_double(d, step, change):
    """Find the lanes in which the sum of kinetic and spring energy doubles without another force.

    If springs are too fast for a step, no other check detects another root.
    """
    energy = change.before + spring_energy_at_knot(d, step)
    return change.rise > energy + LEAST_GAIN * change.scale


@inline
def find_lanes_that_turn_round(d, step):
    """Find the lanes in which a joint with limits turns by more than 2.8 rad in a step.

    Beyond that angle the momentum of a step falls, and its rate falls beyond 4.2 rad. The equations
    then have roots at which a joint beside one limit turns on to the other limit.
    """
    found = d.full(False)
    for r in range(d.active_joint_count):
        i = d.active_joint(r).body
        body = d.body(i)
        if body.has_limit > 0:
            for j in range(body.translation_count + body.rotation_count):
                _, slope, _, momentum_slope = dof_rate_over_step(d, i, j, step.knot3, step.h)
                falls = (step.h * slope < 0.0) | (step.h * momentum_slope < 0.0)
                found = found | falls
    return found


@phase
def find_lanes_of_other_roots(d, step, parts, change, turn, nonsmooth):
    """Find the lanes in which a step leads to another root, or gains energy.

    A smooth step without springs does so if a body turns abruptly, or if no force explains a part
    of the kinetic energy. Stiff springs turn bodies back and forth: with springs only a doubled
    energy counts. A step with impacts does so if a body turns otherwise than in the step before,
    and kinetic energy appears, or the turn changes by a radian without springs, or a joint with
    limits turns by more than 2.8 rad. Larger gains and turns are allowed where work is known only
    roughly, and where shorter parts failed. In other parts of a step no turn is needed for a gain.
    """
    more = max_angular_speed_change(d.wide, step.knot2, step.knot3)
    more = absolute(step.h) * max_over_body_lanes(more, step.h)
    slight, part = more > SLIGHT_TURN, find_parts(parts)
    if not (slight | part).any():
        return d.full(False)
    abrupt, springs = more > SMOOTH_TURN, find_lanes_with_springs(d, step)
    loose = parts.seeking | find_lanes_of_rough_work(d, step)
    gains = find_lanes_that_gain(change, where(loose, LOOSE_GAIN, GAIN))
    kinked = (more > where(loose, ABRUPT_TURN, SLIGHT_TURN)) | part & ~loose
    impact = (more > HALF_TURN) & ~springs | gains
    if d.has_limits > 0:
        impact = impact | abrupt & find_lanes_that_turn_round(d, step)
    jumps = slight & find_lanes_that_jump(d, change, turn)
    doubles = find_lanes_that_double(d, step, change) & ~parts.seeking
    smooth = where(springs, doubles, abrupt | jumps) | find_short_parts(parts) & ~loose & gains
    return where(nonsmooth, kinked & impact, smooth)


@inline
def reject_other_roots(d, step, parts, change, turn, suspects, solved):
    """Let suspect lanes fail in which another root was found.

    ``turn`` is the largest rotation of the step [rad]. If such a step is smooth, the next steps
    begin with halves, too. In mechanisms with contacts they do so after any such step: arms may
    swing on a body at rest, and halves in the same phase of every swing would add energy to it.
    """
    if suspects.any():
        others = find_lanes_of_other_roots(d, step, parts, change, turn, solved.nonsmooth)
        others = suspects & others
        lasting = others if d.contact_count > 0 else others & ~solved.nonsmooth
        shorten_next_steps(d, lasting, parts.size)
        return reject_lanes(solved, others)
    return solved


@phase(needs="contacts", otherwise=no_lanes)
def reduce_rebounds_that_gain(d, step, parts, change, rebounds):
    """Reduce rebounds in the lanes in which they give more energy than their landings took.

    By Newton's law of restitution they give more if friction reverses within an impact, or if the
    rebound hits other contacts. Short parts are allowed `LEAST_GAIN` more. A long part with
    landings is halved before its rebounds are reduced: a rebound in a part of its own is right. If
    bodies turn far in a step, the work of an impact is inaccurate: rebounds are halved in lanes
    whose kinetic energy rises by more than a tenth beyond the work that explains it.

    Returns the lanes of both.
    """
    long = parts.size > SHORT_REBOUNDING
    more = where(long, LEAST_REBOUND_GAIN, LEAST_GAIN)
    allowed, given = energy_allowed_to_rebounds(d, more), energy_given_by_contacts(d, step)
    gains = rebounds & (given > allowed)
    share = REDUCED * sqrt(allowed / where(gains, given, allowed))
    share = where(share > LEAST_SHARE, share, LEAST_SHARE)
    rises = rebounds & find_lanes_that_gain(change, LOOSE_GAIN)
    share = where(rises & ~gains, HALVED, share)
    gains = gains | rises
    separable = (parts.size > SEPARATE) & find_lanes_of_landings(d)
    scale_rebounds(d, gains & ~separable, share)
    return gains


@inline
def energy_given_by_contacts(d, step):
    """Find the energy that contacts give in this step, less the energy that they take [J]."""
    power = d.full(0.0)
    for c in range(d.contact_count):
        contact = d.contact(c)
        if contact.kind < SKATE:
            power = power - contact.power
    return knot_weight(step.rho) * step.h * power


@inline
def remove_rebounds_of_short_steps(d, parts, failed):
    """Remove the rebounds of lanes whose short steps have no solution.

    Two contacts may hold a body while the rebound of each would release it.
    """
    stuck = failed & (parts.size < 2.0 * SHORT_REBOUNDING)
    if stuck.any():
        scale_rebounds(d, stuck, d.full(0.0))


@inline
def reject_rebounds_that_gain(d, step, parts, change, rebounds, solved):
    """Let lanes fail whose rebounds gave too much energy; short steps are allowed more.

    In the shortest steps rebounds are almost zero already, so another force causes the gain.
    """
    rebounds = rebounds & solved.done & (parts.size > LEAST_REBOUNDING)
    if rebounds.any():
        gains = reduce_rebounds_that_gain(d, step, parts, change, rebounds)
        return reject_lanes(solved, gains)
    return solved


class Suspects(NamedTuple):
    """Lanes whose energy is to be checked; lane values.

    Attributes:
        roots: bodies turn, and another root may have been found.
        swings: a body may swing too fast for the step.
        rebounds: a contact rebounds.
    """

    roots: Any
    swings: Any
    rebounds: Any


@inline
def find_lanes_to_check_roots(d, parts, turn, solved):
    """Find the lanes in which another root may have been found.

    If bodies turn little, only steps of many iterations count: in other steps the forces are nearly
    those of the step before.
    """
    hard = (solved.iterations > FEW) & (turn > 0.5 * SLIGHT_TURN)
    hard = hard | find_parts(parts) & (solved.nonsmooth | find_short_parts(parts))
    return solved.done & ((turn > 0.5 * ABRUPT_TURN) | hard)


@inline
def find_suspects(d, step, parts, turn, solved):
    """Find the lanes whose energy is to be checked, before any energy is computed."""
    done = solved.done
    rebounds = d.full(False)
    if d.contact_count > 0:
        rebounds = done & find_lanes_that_rebound(d)
    swings = find_lanes_that_may_swing(d, step, parts, done)
    roots = find_lanes_to_check_roots(d, parts, turn, solved)
    return Suspects(roots, swings, rebounds)


@inline
def find_any_suspects(suspects):
    """Return the lanes that at least one check examines."""
    return suspects.roots | suspects.swings | suspects.rebounds


@inline
def reject_wrong_steps(d, step, parts, rate, solved):
    """Let lanes fail in which the energy of a solved step is wrong, or a potential has no value.

    Args:
        d: the mechanism's data.
        step: knots and sizes of the step.
        parts: part of the whole step that was solved.
        rate: largest angular speed after the step [rad/s], lane values.
        solved: solution by the attempts.

    Returns:
        The solution, in which these lanes have failed.
    """
    remove_rebounds_of_short_steps(d, parts, solved.failed)
    if d.potential_count > 0:
        undefined = solved.done & find_lanes_without_potential(d, step.knot3)
        solved = reject_lanes(solved, undefined)
    turn = absolute(step.h) * rate
    suspects = find_suspects(d, step, parts, turn, solved)
    if not find_any_suspects(suspects).any():
        return solved
    change = measure_energy_change(d, step)
    solved = reject_other_roots(d, step, parts, change, turn, suspects.roots, solved)
    solved = reject_growing_swings(d, step, parts, change, turn, suspects.swings, solved)
    return reject_rebounds_that_gain(d, step, parts, change, suspects.rebounds, solved)
