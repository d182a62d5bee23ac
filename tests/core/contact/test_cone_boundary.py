"""How far an increment goes inside the second-order cone of friction: law tests over many cones."""

from __future__ import annotations

import numpy as np

from vigym.core.compiler.kernel import entry
from vigym.core.contact.laws.interior_point_law import step_to_cone_boundary


@entry
def boundary_shares(points, changes, out):
    """Write how far each point goes along its change."""
    for k in range(points.shape[0]):
        x = points[k, 0], points[k, 1], points[k, 2]
        dx = changes[k, 0], changes[k, 1], changes[k, 2]
        out[k] = step_to_cone_boundary(x, dx)


def shares(points, changes):
    out = np.full(len(points), np.nan)
    boundary_shares(np.array(points), np.array(changes), out)
    return out


def distance(points):
    """How far points are inside the cone; negative outside."""
    return points[:, 0] - np.linalg.norm(points[:, 1:], axis=1)


def cones(seed, count=2000):
    """Points inside the cone, of sizes that differ by nine decades, and changes of other sizes."""
    generator = np.random.default_rng(seed)
    sizes, lengths = 10.0 ** generator.uniform((-3, -3), (6, 6), (count, 2)).T
    aside = generator.normal(size=(count, 2))
    aside *= (generator.uniform(0.0, 0.99, count) / np.linalg.norm(aside, axis=1))[:, None]
    points = sizes[:, None] * np.column_stack((np.ones(count), aside))
    return points, lengths[:, None] * generator.normal(size=(count, 3)), generator


def test_an_increment_ends_at_the_boundary_or_inside():
    points, changes, _ = cones(1)
    found = shares(points, changes)
    assert ((found > 0.0) & (found <= 1.0)).all()
    size = np.abs(points).max(axis=1) + np.abs(changes).max(axis=1)
    ends = distance(points + found[:, None] * changes)
    assert (ends >= -1e-10 * size).all()
    cut = found < 1.0
    assert 500 < cut.sum() < 1900
    assert (np.abs(ends[cut]) <= 1e-6 * size[cut]).all()


def test_an_increment_along_the_point_ends_at_the_apex():
    """The boundary is a double root there, which rounding must not lose."""
    points, _, generator = cones(2)
    for aside in (1.0, 0.0):  # with friction and without
        x = points * (1.0, aside, aside)
        factors = -(10.0 ** generator.uniform(-3, 3, len(x)))
        found = shares(x, factors[:, None] * x)
        np.testing.assert_allclose(found, np.minimum(1.0, -1.0 / factors), rtol=1e-6)
