"""Loop closure: Newton on the rows of loop-closing joints, and the rank of these rows."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.loop_constraints import LoopSystem

CLOSED = 1e-10  # largest value of a row of a closed loop, in parts of the loop's size
RANK = 1e-7  # relative singular value that counts as zero: far above rounding, below any mobility
NEAR_RANK = 1e-5  # of rows that are almost dependent: steps take thousands of iterations
_EXACT = 1e-9  # largest error of poses in random walks
_BLUR = 100.0  # singular values that are zero may reach so many times the error of the pose
_ITERATIONS = 100
_ROUNDING = 1e-14  # smallest values and steps worth a step
_PATIENCE = 12  # steps in a row that may fail
_LONGEST = 0.3  # longest step, a loop's size or one radian being 1: keeps to the nearest branch
_WALKERS, _STEPS = 4, 8
_STRIDE = 0.4  # of a walker
_SHARE = 1e-3  # of a row in a combination of rows that vanishes, below which it has none


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tree coordinates at which loops may be closed.

    Attributes:
        coordinates: (S, n_q) tree coordinates.
        gap: (S,) largest value of a row there.
        error: (S,) largest entry of the Newton step that is left, dimensionless: how exact the
            coordinates are.
    """

    coordinates: Array
    gap: Array
    error: Array


def close_loops(system: LoopSystem, start: Array, moving: Array | None = None) -> Candidates:
    """Close all loops by damped least-norm Newton; nothing moves that closes no loop.

    The damping is Levenberg's, mu |values|^2: steps stay short where rows depend on each other
    (stretched out, bars in line), and convergence is quadratic where they do not.

    Args:
        system: constraint rows of the loops.
        start: tree coordinates (S, n_q).
        moving: (S, dofs) whether a degree of freedom may move; None: all.
    """
    tree, best = system.tree, start.copy()
    allowed = np.tile(system.moving, (len(start), 1))
    allowed = allowed if moving is None else moving & allowed
    values, derivatives = system.evaluate(tree.poses(best))
    mu, stalled = np.ones(len(start)), np.zeros(len(start), int)
    active = np.arange(len(start))
    for _ in range(_ITERATIONS):
        step = np.zeros((len(active), system.dofs))
        step[:, system.moving] = _damped_step(
            values[active],
            (derivatives[active] * allowed[active, None])[:, :, system.moving],
            mu[active],
        )
        step *= allowed[active]
        smaller = np.minimum(_largest(step), _largest(values[active]))
        goes_on = (smaller > _ROUNDING) & (stalled[active] < _PATIENCE)
        active, step = active[goes_on], step[goes_on]
        if not len(active):
            break
        trial = system.integrate_rates(best[active], step)
        new_values, new_derivatives = system.evaluate(tree.poses(trial))
        norms = np.linalg.norm(new_values, axis=1), np.linalg.norm(values[active], axis=1)
        better = norms[0] < norms[1]
        moved = active[better]
        best[moved], values[moved] = trial[better], new_values[better]
        derivatives[moved] = new_derivatives[better]
        mu[active] = np.where(better, np.maximum(mu[active] / 10.0, 1e-4), mu[active] * 10.0)
        stalled[active] = np.where(better, 0, stalled[active] + 1)
    return evaluate_candidates(system, best)


def evaluate_candidates(system: LoopSystem, coordinates: Array) -> Candidates:
    """Return gaps and errors at tree coordinates (S, n_q)."""
    values, derivatives = system.evaluate(system.tree.poses(coordinates))
    step = _damped_step(values, derivatives, np.zeros(len(values)))
    return Candidates(coordinates, _largest(values), _largest(step))


def _largest(rows: Array) -> Array:
    return np.asarray(np.abs(rows).max(axis=1, initial=0.0))


def _damped_step(values: Array, derivatives: Array, mu: Array) -> Array:
    """Return the least-norm solution (S, dofs) of derivatives step = -values, damped and cut."""
    if 0 in derivatives.shape:
        return np.zeros((len(values), derivatives.shape[2]))
    U, s, Vt = np.linalg.svd(derivatives, full_matrices=False)
    damping = mu * np.sum(values**2, axis=1) + (1e-9 * s[:, 0]) ** 2 + 1e-300
    gains = s / (s**2 + damping[:, None])
    parts = gains * (values[:, None] @ U)[:, 0]
    step: Array = -(parts[:, None] @ Vt)[:, 0]
    longest = np.abs(step).max(axis=1, keepdims=True)
    step *= np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300))
    return step


class Ranks(NamedTuple):
    """Ranks of the constraint rows of loops along their motion.

    Attributes:
        rank: largest rank.
        near: largest rank of rows that are well apart.
        is_stuck: whether motions that the rows allow at the assembly lead nowhere, as in taut nets.
    """

    rank: int
    near: int
    is_stuck: bool


def generic_ranks(system: LoopSystem, assembly: Array, generator: np.random.Generator) -> Ranks:
    """Return the largest ranks of the rows on random walks along the assembled motion.

    The assembly itself may be singular: a parallelogram folded flat has less rank there than
    anywhere near.

    Args:
        system: constraint rows of the loops.
        assembly: tree coordinates (1, n_q) where loops are closed.
        generator: random numbers.
    """
    here, error = assembly, evaluate_candidates(system, assembly).error
    stride, best = np.full(_WALKERS, _STRIDE), np.zeros(2, int)
    limit, stuck = min(system.count, int(system.moving.sum())), False
    if limit == 0:
        return Ranks(0, 0, False)
    for _ in range(_STEPS):
        derivatives = system.evaluate(system.tree.poses(here))[1]
        _, s, Vt = np.linalg.svd(derivatives, full_matrices=False)
        blur = _BLUR * error
        independent = s > np.maximum(RANK, blur)[:, None] * s[:, :1]
        apart = s > np.maximum(NEAR_RANK, blur)[:, None] * s[:, :1]
        found = [int(rows.sum(axis=1).max()) for rows in (independent, apart)]
        best = np.maximum(best, found)
        if best.min() == limit:
            break
        if len(here) == 1:
            here, error, Vt, independent = (
                np.repeat(part, _WALKERS, axis=0) for part in (here, error, Vt, independent)
            )
        rates = _rates_along_motion(system, Vt, independent, generator)
        largest = np.abs(rates).max(axis=1, keepdims=True)
        if largest.max() < RANK:
            break  # nothing can move
        rates *= stride[:, None] / np.maximum(largest, RANK)
        # the fastest degree of freedom is held: no walker falls back to where it was
        free = np.abs(rates) < np.abs(rates).max(axis=1, keepdims=True)
        there = close_loops(system, system.integrate_rates(here, rates), free)
        moved = (there.gap < CLOSED) & (there.error < _EXACT)
        stuck = not moved.any() and (here == assembly).all()
        here = np.where(moved[:, None], there.coordinates, here)
        error = np.where(moved, there.error, error)
        stride = np.where(moved, stride, stride / 2.0)
    return Ranks(int(best[0]), int(best[1]), bool(stuck))


def rows_singular_at_assembly(system: LoopSystem, assembly: Array, ranks: Ranks) -> Array:
    """Return the rows (rows,) that become dependent at a singular assembly pose, or almost so.

    A pose is singular where the rows have a lower rank than at a generic one, and where they allow
    motions that lead nowhere. No row is returned at other poses.

    Args:
        system: constraint rows of the loops.
        assembly: tree coordinates (1, n_q) where loops are closed.
        ranks: of the rows at generic poses.
    """
    derivatives = system.evaluate(system.tree.poses(assembly))[1][0]
    none = np.zeros(len(derivatives), bool)
    if ranks.rank == 0:
        return none
    U, s, _ = np.linalg.svd(derivatives)
    here = int((s > NEAR_RANK * s[0]).sum())
    if here == len(derivatives) or (here >= ranks.near and not ranks.is_stuck):
        return none
    return np.asarray(np.abs(U[:, here:]).max(axis=1) > _SHARE)


def _rates_along_motion(
    system: LoopSystem, Vt: Array, independent: Array, generator: np.random.Generator
) -> Array:
    """Return random rates (walkers, dofs) that independent rows with right vectors Vt allow."""
    rates: Array = generator.normal(size=(_WALKERS, system.dofs)) * system.moving
    held = (Vt @ rates[..., None])[..., 0] * independent
    rates -= (held[:, None] @ Vt)[:, 0]
    return rates
