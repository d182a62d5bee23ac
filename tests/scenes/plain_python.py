"""What unit tests of the core share: numbers as kernels have them, rows of simulators, finite differences.

Only for plain Python (VIGYM_COMPILE=0).
"""

from types import SimpleNamespace

import numpy as np

from vigym.core.body.dynamics import apply_increment
from vigym.core.compiler.plain.values import value_of
from vigym.core.compiler.rows import group_data
from vigym.core.joint.geometry import translation_axis
from vigym.core.loop.motions import set_goals
from vigym.core.math.quaternions import quaternion_product, rotation_matrix
from vigym.core.math.vectors import axpy
from vigym.core.model.context import knot_buffer
from vigym.core.solver.attempts import PROJECTIONS, solve_step
from vigym.core.solver.iteration import Iteration, Step
from vigym.core.solver.line_search import take_step
from vigym.core.solver.newton import increment_rotation, initial_parameters, start_attempt
from vigym.core.solver.residual import evaluate_iterate

TOLERANCE = 1e-10
STEP = 1e-6  # of finite differences: 1e-12 is cut off, rounding is 1e-10


def data_of(sim):
    """Data of a simulator's first environment, as kernels read it."""
    groups = sim._plant.groups
    with np.errstate(all="ignore"):
        return group_data(*groups.tables, 0, 0, 0, groups.features.token, None)


def random_vector(rng, size=3):
    return tuple(rng.normal(size=size))


def random_quaternion(rng):
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def random_rotation(rng):
    return rotation_matrix(random_quaternion(rng))


def turn(q, axis):
    """Turn a quaternion by a small rotation vector in the world, right to the square of it."""
    half = axpy(0.5, axis, (0.0, 0.0, 0.0))
    return quaternion_product((1.0, *half), q)


def derivative(function, direction, step=STEP):
    """Central difference of a function of a vector, at zero along a direction."""
    direction = np.asarray(direction)
    ahead, behind = (np.array(function(tuple(sign * step * direction))) for sign in (1.0, -1.0))
    return (ahead - behind) / (2.0 * step)


def step_of(sim, h):
    """Data of a simulator, and a step of size h from its present knot whose iterations may begin."""
    d = data_of(sim)
    before = d.environment.step_size
    step = Step(knot_buffer(d, 0), knot_buffer(d, -1), np.float64(h), before / np.float64(h))
    d.environment.iterations_left = 100.0
    set_goals(d, np.float64(1.0), step.h)
    return d, step


def solved_step(sim, h):
    """Data, step and solution of a step of size h from the present knot; nothing is accepted yet."""
    with np.errstate(all="ignore"):
        d, step = step_of(sim, h)
        solved = solve_step(d, step, np.True_, np.False_, TOLERANCE)
    assert solved.done
    return d, step, solved


def newton_iterations(d, step, count=7):
    """Evaluations of full Newton's iterations, without a line search; each increment is solved for when it comes."""
    one, every = np.float64(1.0), np.True_
    method = PROJECTIONS._replace(damped=True)
    with np.errstate(all="ignore"):
        lanes, slack, stalled = start_attempt(d, step, every, method, TOLERANCE)
        prox, kappa, tight = initial_parameters(d, step, method)
        for number in range(count):
            iteration = Iteration(
                number, method, prox, kappa, tight, np.float64(1.0), slack, stalled, TOLERANCE
            )
            found = evaluate_iterate(d, step, lanes, lanes, ~every, iteration)
            increment_rotation(d, step.knot3, found)
            yield found
            take_step(d, step, one, lanes, False)


def newton_residuals(sim, h, count=7):
    """Residuals of full Newton's iterations for a step of size h from the present knot, without a line search."""
    d, step = step_of(sim, h)
    return [float(found.residual) for found in newton_iterations(d, step, count)]


def evaluated_step(sim, h, number=0):
    """Data, step and evaluation of Newton's iteration ``number``, whose increment is solved for and not taken."""
    d, step = step_of(sim, h)
    iterations = newton_iterations(d, step, number + 1)
    for _ in range(number + 1):
        found = next(iterations)
    return d, step, found


def derivative_by_motion(d, step, motions, function, size=STEP):
    """Derivative of a function of the data by motions {body: (shift of the anchor, rotation)} of knot 3 [world]."""
    state, work = d.state.copy(), d.work.copy()

    def moved(part):
        d.state[:] = state
        for i in range(d.body_count):
            body = d.body(i)
            body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
            body.delta_position, body.delta_rotation = motions.get(i, ((0.0,) * 3, (0.0,) * 3))
        apply_increment(d, step.knot2, step.knot3, step.h, np.float64(part[0]), np.True_)
        d.work[:] = work
        return function()

    with np.errstate(all="ignore"):
        found = derivative(moved, (1.0,), size)
    d.state[:], d.work[:] = state, work
    return found


def with_parent(lever):
    """Motion (shift of the anchor, rotation) of a body that moves with its parent."""
    P = np.eye(6)
    P[:3, 3:] = -np.cross(lever, np.eye(3)).T
    return P


def free_directions(d, i, knot, rotation):
    """Columns (6, n) of the degrees of freedom of a body's joint."""
    body = d.body(i)
    columns = [
        (*translation_axis(d, i, j, knot), 0.0, 0.0, 0.0) for j in range(body.translation_count)
    ]
    columns += [(0.0, 0.0, 0.0, *rotation(d, i, j, knot)) for j in range(body.rotation_count)]
    return np.reshape(columns, (-1, 6)).T


def motions_by_dofs(d, knot, levers, rotation):
    """Motions of all bodies (6 n, dofs) by the degrees of freedom."""
    J = np.zeros((d.body_count, 6, d.dof_count))
    for i in range(1, d.body_count):
        body = d.body(i)
        J[i] = with_parent(levers[i]) @ J[body.parent]
        count = body.translation_count + body.rotation_count
        J[i][:, body.first_dof : body.first_dof + count] = free_directions(d, i, knot, rotation)
    return J[1:].reshape(-1, d.dof_count)


def dense_block(block):
    """Matrix (6, 6) of a body's block."""
    A, B, C, D = (np.reshape(part, (3, 3)) for part in block)
    return np.block([[A, B], [C, D]])


def change_along_row(d, knot, row, anchor, ends, motions):
    """Change of a row (force, moment about an anchor) of bodies a and b by motions {body: (shift, rotation)}."""
    change = 0.0
    for i, sign in zip(ends, (-1.0, 1.0), strict=True):
        shift, rotation = motions.get(i, (np.zeros(3), np.zeros(3)))
        at = shift + np.cross(rotation, np.subtract(anchor, d.pose(knot, i).anchor))
        change += sign * (np.dot(row[:3], at) + np.dot(row[3:], rotation))
    return change


class Fields(SimpleNamespace):
    """Fields of a row, or of the data, that a function reads and writes."""

    @staticmethod
    def full(x):
        return value_of(x)
