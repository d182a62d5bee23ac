"""Array expressions of tasks: the same bits for one environment and for a batch of them."""

import numpy as np
import pytest

from vigym.envs.arrays import (
    cosine,
    rotate_to_body,
    sine,
    stack,
    unstack,
    world_up_in_body,
    wrap_angle,
)

ROWS = np.random.default_rng(0).uniform(-20.0, 20.0, (6, 4))


def turns(count):
    quaternions = np.random.default_rng(1).normal(size=(count, 4))
    return quaternions / np.sqrt((quaternions * quaternions).sum(axis=-1, keepdims=True))


def test_parts_of_one_environment_are_numbers():
    assert unstack(ROWS[0]) == ROWS[0].tolist()
    assert all(type(part) is float for part in unstack(ROWS[0]))
    np.testing.assert_array_equal(unstack(ROWS), ROWS.T)
    np.testing.assert_array_equal(stack(*unstack(ROWS)), ROWS)
    np.testing.assert_array_equal(stack(*unstack(ROWS[0])), ROWS[0])
    np.testing.assert_array_equal(stack(ROWS, -ROWS), np.stack((ROWS, -ROWS), axis=-1))


def test_wrapped_angles():
    angles = wrap_angle(ROWS)
    assert angles.min() >= -np.pi
    assert angles.max() < np.pi
    np.testing.assert_allclose(np.exp(1j * angles), np.exp(1j * ROWS), atol=1e-14)
    assert [wrap_angle(angle) for angle in ROWS[0].tolist()] == angles[0].tolist()
    assert wrap_angle(np.pi) == -np.pi


@pytest.mark.parametrize(("function", "expected"), [(sine, np.sin), (cosine, np.cos)])
def test_sines_and_cosines(function, expected):
    np.testing.assert_array_equal(function(ROWS), expected(ROWS))
    alone = [function(angle) for angle in ROWS[0].tolist()]
    assert alone == function(ROWS)[0].tolist()
    assert all(type(part) is float for part in alone)


@pytest.mark.parametrize("count", [1, 5])
def test_vectors_in_the_axes_of_bodies(count):
    orientation, vector = turns(count), np.random.default_rng(2).normal(size=(count, 3))
    found, up = rotate_to_body(orientation, vector), world_up_in_body(orientation)
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), np.linalg.norm(vector, axis=-1))
    np.testing.assert_allclose(
        up, rotate_to_body(orientation, np.tile([0.0, 0.0, 1.0], (count, 1))), atol=1e-15
    )
    for k in range(count):
        np.testing.assert_array_equal(rotate_to_body(orientation[k], vector[k]), found[k])
        np.testing.assert_array_equal(world_up_in_body(orientation[k]), up[k])
    quarter = np.array(
        [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
    )  # turned left: what lies ahead in the world is right
    np.testing.assert_allclose(
        rotate_to_body(quarter, np.array([1.0, 0.0, 0.0])), [0.0, -1.0, 0.0], atol=1e-15
    )
