"""Records of Newton's iterations: step, method, options and result."""

from typing import Any, NamedTuple

from vigym.core.compiler.kernel import inline

ITERATIONS = 20  # of a chord iteration
BRIEF_ITERATIONS = 4  # from a solution, if the last steps needed many
TIGHTENING_ITERATIONS = 12  # of the interior point with less relaxation
DAMPED_ITERATIONS = 60  # of damped full Newton
SPLITTING_ITERATIONS = 150  # where contacts are split from the equations of motion


class Step(NamedTuple):
    """A step between two knots.

    Attributes:
        knot2: buffer of the knot where it starts.
        knot3: buffer of the knot that is solved for.
        h: its size [s].
        rho: size of the step before over h.
    """

    knot2: int
    knot3: int
    h: Any
    rho: Any


class Method(NamedTuple):
    """Choices of how an attempt solves a step.

    Attributes:
        damped: whether full Newton steps are damped, instead of a chord iteration.
        interior_point: whether the interior point solves contacts and limits, not projections.
        splitting: whether contacts are split from the equations of motion.
        breaks_cycles: whether contacts that alternate between two branches take the third, and no
            motor is taken past its largest rate at once.
        warm: whether the attempt starts from the forces and the knot 3 of the last one.
        brief: whether the attempt is given up after a few iterations.
        resumes: whether the interior point solved the last steps, too.
    """

    damped: bool
    interior_point: bool
    splitting: bool
    breaks_cycles: bool
    warm: bool
    brief: bool
    resumes: bool


class Iteration(NamedTuple):
    """Options of one Newton iteration; lane values except number, method and tolerance.

    Attributes:
        number: how many iterations were made before.
        method: how the attempt solves the step.
        prox: proximal part of contact forces.
        kappa: relaxation of the interior point [N m/s].
        tight: final relaxation of the interior point [N m/s].
        scale: factor on the slopes of the splitting.
        slack: factor by which rounding loosens the tolerance.
        stalled_slack: the same for a residual that has stopped falling, with the rounding of
            positions.
        tolerance: largest scaled residual of a step.
    """

    number: int
    method: Method
    prox: Any
    kappa: Any
    tight: Any
    scale: Any
    slack: Any
    stalled_slack: Any
    tolerance: float


class LawErrors(NamedTuple):
    """Distances of the forces of contacts, motors, limits and dry friction from their laws.

    They are measured after the increment, those of the interior point at the guess.

    Attributes:
        largest: largest distance, scaled.
        squared: sum of the squared distances [N^2].
        max_step: largest part of the increment that stays inside cones and limits.
        velocity: distance of velocities from the laws of a splitting, as a force [N].
        force: distance of forces from the laws of a splitting [N].
    """

    largest: Any
    squared: Any
    max_step: Any
    velocity: Any
    force: Any


class Evaluation(NamedTuple):
    """Equations of a step at a guess of knot 3.

    Attributes:
        residual: largest residual, scaled.
        rotation: largest rotation of the increment [rad], if the increment was solved for.
        gap: largest gap of joints and loops, scaled.
        gap_left: gap that the increment leaves.
        nonsmooth: lanes in which a contact, motor, limit or dry friction has a force.
        squared_errors: sum of the squared distances of forces from their laws at the guess [N^2].
        errors: distances of forces from their laws after the increment.
    """

    residual: Any
    rotation: Any
    gap: Any
    gap_left: Any
    nonsmooth: Any
    squared_errors: Any
    errors: LawErrors


@inline
def max_iterations(method):
    """Find the number of iterations after which an attempt has failed."""
    if method.splitting:
        return SPLITTING_ITERATIONS
    if method.brief:
        return TIGHTENING_ITERATIONS if method.interior_point else BRIEF_ITERATIONS
    return DAMPED_ITERATIONS if method.damped else ITERATIONS


class Solution(NamedTuple):
    """Result of the attempts at a step; lane values.

    Attributes:
        done: lanes that converged.
        failed: lanes that did not.
        iterations: number of factorisations.
        residual: scaled residual.
        nonsmooth: lanes in which contacts, motors, limits or dry friction have a force.
    """

    done: Any
    failed: Any
    iterations: Any
    residual: Any
    nonsmooth: Any


@inline
def reject_lanes(solved, wrong):
    """Return a solution in which some lanes that were done have failed."""
    done, failed = solved.done & ~wrong, solved.failed | wrong
    return Solution(done, failed, solved.iterations, solved.residual, solved.nonsmooth)
