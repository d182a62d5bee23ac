"""Steps that are too long for a swing: they are halved, and the next ones begin with parts, too.

Light bodies that are pulled hard, by joints or springs between points, may swing ever farther in
steps that are too long for them, see `vigym.core.tree.tension`.

The steps that follow, and those after another root, begin with parts of the same size, until none
had to be shortened for a number of calm steps: short steps among long ones would take or give
energy themselves. If longer parts fail soon in a mechanism with contacts, that number is doubled.
"""

from vigym.core.body.pose import max_angular_speed_change
from vigym.core.compiler.kernel import inline
from vigym.core.compiler.lanes import max_over_body_lanes
from vigym.core.compiler.simd import absolute, maximum, minimum, sqrt, where
from vigym.core.math.vectors import dot
from vigym.core.solver.iteration import reject_lanes
from vigym.core.tree.tension import find_swings, largest_pull, largest_swing_of_springs

FAR = 0.1  # [rad] rotation of a body in a step above which it counts as far
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
