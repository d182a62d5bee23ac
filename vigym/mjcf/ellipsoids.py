"""Ellipsoids as balls inside them: smooth where they roll, and bodies touch them too."""

import numpy as np

from vigym.mechanism.elements.checks import Array

SIDES = 7  # sets of balls along an axis: at 2 to 1 the balls miss 2.6 % of the smallest half axis


def balls_of(half_axes: Array) -> tuple[Array, Array, float]:
    """Return balls that touch an ellipsoid from inside.

    At a point p with the normal n, which is along p / half_axes^2, the largest ball that is inside
    near the plane across the shortest half axis c has its centre in that plane.

    Args:
        half_axes: (3,) [m].

    Returns:
        Centres (n, 3) and radii (n,) [m], and how far the ellipsoid reaches beyond them [m].
    """
    order = np.argsort(half_axes)[::-1]
    axes = np.asarray(half_axes, np.float64)[order]
    sides = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, SIDES))
    first = np.repeat(sides, SIDES)
    second = np.sqrt(1.0 - first**2) * np.tile(sides, SIDES)
    third = np.sqrt(np.maximum(1.0 - first**2 - second**2, 0.0))
    points = np.stack([first, second, third], axis=1)  # of the unit sphere
    centers = points * (axes**2 - axes[2] ** 2) / axes
    radii = axes[2] ** 2 * np.linalg.norm(points / axes, axis=1)
    size = axes[0] * 1e-9
    _, kept = np.unique(np.round(np.c_[centers, radii] / size), axis=0, return_index=True)
    centers, radii = centers[kept], radii[kept]
    found = np.zeros_like(centers)
    found[:, order] = centers
    normals = np.random.default_rng(0).normal(size=(2000, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    reach = (normals @ found.T + radii).max(axis=1)
    missed = np.linalg.norm(normals * half_axes, axis=1) - reach
    return found, radii, float(missed.max())
