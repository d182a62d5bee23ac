"""Closing loops: Newton on the rows of the closing joints, and the rank of these rows along the assembled motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.loop_constraints import System

CLOSED = 1e-10  # largest value of a row where a loop counts as closed; measured by the loop's size
RANK = 1e-7  # singular values below this part of the largest are zero: far above rounding, below any real mobility
_SETTLED = 1e-9  # walks keep to poses that are exact to this
_BLUR = 100.0  # a pose that is wrong by one part leaves singular values of some parts where there are none
_ITERATIONS = 100
_ROUNDING, _PATIENCE = 1e-14, 12  # smallest values and steps worth a step; steps in a row that may fail
_LONGEST = 0.3  # longest step, a loop's size or one radian being 1: keeps to the nearest branch
_WALKERS, _STEPS, _STRIDE = 4, 8, 0.4


@dataclass(frozen=True, eq=False)
class Closing:
    """What Newton found for several starts.

    Attributes:
        coordinates: (S, n_q) tree coordinates.
        gap: (S,) largest value of a row there.
        error: (S,) length of the Newton step that is left, dimensionless: how exact the coordinates are.
    """

    coordinates: Array
    gap: Array
    error: Array


def close_loops(system: System, start: Array, moving: Array | None = None) -> Closing:
    """Close all loops by damped least-norm Newton from tree coordinates (S, n_q); nothing moves that closes no loop.

    `moving` (S, freedoms) says which freedoms may; None: all.

    The damping is Levenberg's, mu |values|^2: steps stay short where rows depend on each other (stretched out, bars in
    line), and convergence is quadratic where they do not.
    """
    tree, best = system.tree, start.copy()
    moving = np.tile(system.moving, (len(start), 1)) if moving is None else moving & system.moving
    values, derivatives = system.evaluate(tree.poses(best))
    mu, stalled = np.ones(len(start)), np.zeros(len(start), int)
    for _ in range(_ITERATIONS):
        step = _least_step(values, derivatives * moving[:, None], mu) * moving
        sizes = [np.abs(part).max(axis=1, initial=0.0) for part in (step, values)]
        active = (np.minimum(*sizes) > _ROUNDING) & (stalled < _PATIENCE)
        if not active.any():
            break
        trial = system.move(best, step)
        new_values, new_derivatives = system.evaluate(tree.poses(trial))
        found = active & (np.linalg.norm(new_values, axis=1) < np.linalg.norm(values, axis=1))
        best[found], values[found], derivatives[found] = trial[found], new_values[found], new_derivatives[found]
        mu, stalled = np.where(found, np.maximum(mu / 10.0, 1e-4), mu * 10.0), np.where(found, 0, stalled + 1)
    return measure(system, best)


def measure(system: System, coordinates: Array) -> Closing:
    """How far loops are closed at tree coordinates (S, n_q)."""
    values, derivatives = system.evaluate(system.tree.poses(coordinates))
    left = _least_step(values, derivatives, np.zeros(len(values)))
    return Closing(coordinates, np.abs(values).max(axis=1, initial=0.0), np.abs(left).max(axis=1, initial=0.0))


def _least_step(values: Array, derivatives: Array, mu: Array) -> Array:
    """Least-norm solution (S, freedoms) of derivatives step = -values, damped and cut to the longest step."""
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


def generic_rank(system: System, assembly: Array, generator: np.random.Generator) -> int:
    """Largest rank of the rows on random walks along the assembled motion from tree coordinates (1, n_q).

    The assembly itself may be singular: a parallelogram folded flat has less rank there than anywhere near.
    """
    tree, here, error = system.tree, assembly, measure(system, assembly).error
    stride, best, limit = np.full(_WALKERS, _STRIDE), 0, min(system.count, int(system.moving.sum()))
    if limit == 0:
        return 0
    for _ in range(_STEPS):
        derivatives = system.evaluate(tree.poses(here))[1]
        _, s, Vt = np.linalg.svd(derivatives, full_matrices=False)
        independent = s > np.maximum(RANK, _BLUR * error)[:, None] * s[:, :1]
        best = max(best, int(independent.sum(axis=1).max()))
        if best == limit:
            break
        if len(here) == 1:
            here, error, Vt = (np.repeat(part, _WALKERS, axis=0) for part in (here, error, Vt))
            independent = np.repeat(independent, _WALKERS, axis=0)
        rates = generator.normal(size=(_WALKERS, system.freedoms)) * system.moving
        held = (Vt @ rates[..., None])[..., 0] * independent
        rates -= (held[:, None] @ Vt)[:, 0]
        largest = np.abs(rates).max(axis=1, keepdims=True)
        if largest.max() < RANK:
            break  # nothing can move
        rates *= stride[:, None] / np.maximum(largest, RANK)
        led = np.abs(rates) < np.abs(rates).max(axis=1, keepdims=True)  # one leads: none falls back to where it was
        there = close_loops(system, system.move(here, rates), led)
        moved = (there.gap < CLOSED) & (there.error < _SETTLED)
        here, error = np.where(moved[:, None], there.coordinates, here), np.where(moved, there.error, error)
        stride = np.where(moved, stride, stride / 2.0)
    return best
