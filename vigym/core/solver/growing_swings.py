"""Energy created by large smooth steps: steps that would add to it are halved.

A variational step keeps energy in the long run if it resolves the motion. If bodies turn far in a
step, Newton may find a root of the equations that does not continue the motion, and energy jumps.
The rise of energy beyond the work of all forces, from the middle of a step to that of the next, is
summed, never below zero. The sum is the rise of energy from its lowest level, the cumulative sum of
E. S. Page ("Continuous inspection schemes", Biometrika 41, 1954).

The steps that follow begin with parts of the same size, until none had to be shortened for a number
of calm steps: short steps among long ones would take or give energy themselves. If longer parts
fail soon in a mechanism with contacts, that number is doubled.

Light bodies that are pulled hard, by joints or springs between points, may swing ever farther in
steps that are too long for them, see `vigym.core.tree.tension`. Such steps are made in short parts,
too.
"""

from vigym.core.body.pose import max_angular_speed, max_angular_speed_change
from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.math.vectors import dot
from vigym.core.solver.explained_work import stored_energy
from vigym.core.solver.iteration import reject_lanes
from vigym.core.tree.tension import find_swings, largest_pull, largest_swing_of_springs

FAR = 0.1  # [rad] rotation of a body in a step above which energy is watched
# Largest surplus, in parts of the kinetic energy, and its growth with the square of the rotation.
# In resolved motion energies in the middle of steps rise and fall, by 0.18 in a pendulum of sixteen
# steps a period.
SURPLUS, SURPLUS_OF_TURN = 0.15, 0.5
MOST_SURPLUS = 0.3  # largest sum of both
SHARE_OF_STEP = 0.5  # part of the largest surplus that one step may add
MEMORY = 63.0 / 64.0  # factor on surpluses from step to step
# Number of calm steps after which shortened parts are doubled: least and largest
CALM_STEPS, MOST_CALM_STEPS = 64.0, 1024.0
LEAST_FIRST_PART = 0.25  # least part of a step that the next begins with
UNLIKE = 1e-6  # relative difference of step sizes whose energies are not compared
# Square of a swing's rate times the step above which the swing counts as growing, and the largest
# square in parts chosen for it. The limit is 4 in theory; the estimate for a chain of equal rods is
# 2.5 then, and large swings grow earlier.
FAST_SWING, SLOW_SWING = 2.0, 1.1
SWINGING_SHARE = 0.05  # rise of energy of growing swings, in parts of the energy of the jerks
# The same square above which a step does not resolve a chain that snaps taut, and the rise of
# energy then, in parts of the kinetic energy
SNAPPING, SNAPPING_SHARE = 0.7, 0.005
JUMPING_SHARE = 0.1  # such a rise if only the estimate of the swing is fast
# Rise of energy in a burst, in parts of the kinetic energy, and in force times length scales
BURSTING_SHARE, LEAST_BURST = 0.1, 1e-3
LEAST_SWINGING_PART, MOST_SWINGING_HALVINGS = 1.0 / 256.0, 8  # least part for such swings
SMALLEST_WATCHED = 1.0 / 16.0  # largest part of the step that never fails for its surplus


@phase
def find_lanes_of_surplus(d, change, turn, watched, long):
    """Find lanes in which energy rises too much, and add its rise to the surplus in the others."""
    environment = d.environment
    share = SURPLUS + SURPLUS_OF_TURN * turn * turn
    share = minimum(share, MOST_SURPLUS)
    last = environment.allowed_surplus
    # springs may release their first energy at once, in steps that do not resolve it
    released = where(last > 0.0, 0.0, stored_energy(d))
    most = share * change.about_base + released
    most, rise = maximum(most, MEMORY * last), change.rise
    surplus = maximum(MEMORY * environment.surplus + rise, 0.0)
    gains = (surplus > most) | (rise > SHARE_OF_STEP * most)
    gains = watched & long & gains & (rise > 0.0)
    kept = watched & ~gains
    surplus = minimum(surplus, most)
    environment.surplus = where(kept, surplus, environment.surplus)
    environment.allowed_surplus = where(kept, most, environment.allowed_surplus)
    return gains


@inline
def whole_fraction(d, size):
    """Find the largest of 1, 1/2, 1/4 .. 1/256 of a step that is no longer than a part.

    Equal parts of another size would leave a tiny one at the end of the step.
    """
    fraction = d.full(1.0)
    for _ in range(MOST_SWINGING_HALVINGS):
        fraction = where(fraction > size, 0.5 * fraction, fraction)
    return fraction


@inline
def shorten_next_steps(d, lanes, size):
    """Let the next steps begin with halved parts, too, in lanes whose step is to be halved."""
    environment = d.environment
    half = maximum(0.5 * whole_fraction(d, size), LEAST_FIRST_PART)
    if d.contact_count > 0:
        wait_until_longer(d, lanes)
    environment.first_part = where(lanes, half, environment.first_part)
    environment.calm_steps = where(lanes, 0.0, environment.calm_steps)


@inline
def wait_until_longer(d, lanes):
    """Choose the number of calm steps after which parts are doubled in lanes that are to be halved.

    It is doubled if parts were chosen, or doubled, a short while ago. Arms that swing on a body at
    rest gain a little energy by each return to longer parts. In mechanisms without contacts the
    number stays: chains in free air lose some energy by each return, and keep it otherwise.
    """
    environment = d.environment
    last = environment.calm_steps_needed
    soon = maximum(last, CALM_STEPS) > environment.calm_steps
    needed = maximum(where(soon, 2.0 * last, CALM_STEPS), CALM_STEPS)
    needed = minimum(needed, MOST_CALM_STEPS)
    environment.calm_steps_needed = where(lanes, needed, last)


@inline
def choose_first_part(d, lanes):
    """Find the part of a step to begin with, which is doubled after a number of calm steps."""
    environment = d.environment
    calm, size = environment.calm_steps + 1.0, environment.first_part
    needed = maximum(environment.calm_steps_needed, CALM_STEPS)
    longer = lanes & (size < 1.0) & (calm > needed)
    size = where(longer, 2.0 * size, size)
    environment.first_part = minimum(size, 1.0)
    environment.calm_steps = where(lanes, where(longer, 0.0, calm), environment.calm_steps)
    return environment.first_part


@inline
def find_unlike_steps(d, dt, lanes):
    """Find lanes whose last whole step had another size, or that made none since a reset."""
    environment, size = d.environment, d.full(dt)
    unlike = absolute(dt - environment.whole_step_size) > UNLIKE * absolute(size)
    environment.whole_step_size = where(lanes, dt, environment.whole_step_size)
    return lanes & unlike


@inline
def find_lanes_that_turn_far(d, step, parts, turn, solved):
    """Find the smooth lanes in which bodies turn far, and the largest rotation in two steps [rad].

    Steps are watched only if the last whole step had the same size: energies in the middle of
    unlike steps differ, as in a composition.
    """
    before = max_over_body_lanes(max_angular_speed(d.wide, step.knot2), step.h)
    turn = maximum(turn, absolute(step.h) * before)
    watched = solved.done & ~solved.nonsmooth & ~parts.unlike
    return watched & (turn > FAR), turn


@inline
def reject_surplus(d, parts, change, turn, watched, solved):
    """Let watched lanes fail in which energy has risen too much.

    Steps that lower the sum are accepted, and so are short steps and the longer parts tried after
    the shortest failed.
    """
    watched = watched & solved.done
    if watched.any():
        long = (parts.size > SMALLEST_WATCHED) & ~parts.seeking
        gains = find_lanes_of_surplus(d, change, turn, watched, long)
        shorten_next_steps(d, gains, parts.size)
        return reject_lanes(solved, gains)
    return solved


@inline
def find_lanes_that_may_swing(d, step, parts, done):
    """Find the lanes in which a body may swing too fast for the step, by a bound of its load.

    The load is bounded by the weight of all bodies, the forces that turn and stop them, and all
    pulling forces. Springs between points count if their swing may grow.
    """
    environment = d.environment
    rate, gravity = environment.angular_speed, environment.gravity
    change = max_angular_speed_change(d.wide, step.knot2, step.knot3)
    change = max_over_body_lanes(change, rate) / absolute(step.h)
    fall = environment.length_scale * maximum(rate * rate, change)
    weight = sqrt(dot(gravity, gravity))
    unit = where(weight > 0.0, weight, 1.0)  # of the force scale, over the mass of all bodies
    fall = fall + weight + largest_pull(d, step.rho) * unit / environment.force_scale
    square = step.h * step.h
    fast = square * fall * environment.load_ratio > SNAPPING
    by_springs = square * largest_swing_of_springs(d, step) > FAST_SWING
    fast = fast | by_springs
    return fast & done & (parts.size > LEAST_SWINGING_PART)


@inline
def shorten_for_swings(d, lanes, size, square):
    """Let the next steps of some lanes begin with parts in which swings do not grow.

    ``square`` is the square of the fastest swing's rate times the part ``size``. The next parts are
    at most half as long, but not shorter than the least part.
    """
    environment = d.environment
    half = maximum(0.5 * whole_fraction(d, size), LEAST_SWINGING_PART)
    size, square = half, square * (half / size) * (half / size)
    for _ in range(MOST_SWINGING_HALVINGS - 1):
        fast = (square > SLOW_SWING) & (size > LEAST_SWINGING_PART)
        size, square = where(fast, 0.5 * size, size), where(fast, 0.25 * square, square)
    environment.first_part = where(lanes, size, environment.first_part)
    environment.calm_steps = where(lanes, 0.0, environment.calm_steps)


@inline
def find_lanes_of_bursts(d, change, least):
    """Find the lanes of a burst of energy, as when springs move a loop past a singular pose.

    Kinetic energy rises, and so does its part that no force explains, each by more than ``least``
    [J] and by more than a share of the kinetic energy.
    """
    before, about = change.before, change.about_base
    least = maximum(least, BURSTING_SHARE * minimum(about, before))
    least = maximum(least, LEAST_BURST * change.scale)
    # unresolved springs store and give back much energy, but kinetic energy stays small
    return (change.gain > least) & (change.rise > least)


@inline
def find_lanes_of_growing_swings(d, change, swings, jerks):
    """Find lanes in which energy rises with a swing, by the squares of its rate times the step.

    ``swings`` are three such squares: an estimate, the square in the jerks of the bodies, and its
    part by joints alone; ``jerks`` is the energy of the jerks [J].

    Returns:
        Lanes in which energy grows from step to step.
        Lanes in which it jumps, as when a chain snaps taut. The jerks may not show it yet.
        Lanes in which it bursts out, whatever the swing.
    """
    estimate, swing, by_joints = swings
    rise, kinetic = change.rise, change.about_base
    growing = SWINGING_SHARE * jerks
    grows = (swing > FAST_SWING) & (rise > growing)
    least = maximum(jerks, SNAPPING_SHARE * kinetic)
    snaps = (by_joints > SNAPPING) & (rise > least)
    least = maximum(growing, JUMPING_SHARE * kinetic)
    jumps = (estimate > FAST_SWING) & (rise > least)
    return grows, snaps | jumps, find_lanes_of_bursts(d, change, jerks)


@inline
def reject_growing_swings(d, step, parts, change, turn, watched, solved):
    """Let watched lanes fail in which joints or springs pull a body so hard that its swing grows.

    The first step, and the first one after parts were doubled, fail if a swing could grow, unless
    bodies turn far and no springs between points swing them. Other steps fail if energy rises with
    a swing. Jumps and bursts of energy are checked only between steps of the same size, bursts only
    in smooth lanes. The next steps begin with parts that are short enough.
    """
    environment = d.environment
    watched = watched & solved.done
    if not watched.any():
        return solved
    square = step.h * step.h
    estimate, by_joints, across, jerks = find_swings(d, step)
    estimate, by_joints = square * estimate, square * by_joints
    swing = by_joints + square * across
    longer = ~(environment.calm_steps > 0.0)
    begins = longer | ~(absolute(environment.step_size) > 0.0)
    most = where(longer, SLOW_SWING, FAST_SWING)
    by_springs = square * largest_swing_of_springs(d, step) > most
    far = (turn > FAR) & ~by_springs
    begins = begins & (estimate > most) & ~far
    swings = estimate, swing, by_joints
    grows, jumps, bursts = find_lanes_of_growing_swings(d, change, swings, jerks)
    jumps = (jumps | bursts & ~solved.nonsmooth) & ~parts.unlike
    wrong = watched & (begins | grows | jumps)
    in_jerks = (swing > SNAPPING) & ~begins
    shorten_for_swings(d, wrong, parts.size, where(in_jerks, swing, estimate))
    return reject_lanes(solved, wrong)
