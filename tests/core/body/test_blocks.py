"""Blocks of bodies are those of dense matrices."""

import numpy as np
import pytest

from scenes.plain_python import Fields, random_vector
from vigym.core.body import blocks
from vigym.core.math.vectors import skew

RNG = np.random.default_rng(0)
ARM2, ARM3, LEVER2, LEVER3 = (random_vector(RNG) for _ in range(4))
MASS = 2.5
K = RNG.normal(size=(3, 3))
BODY = Fields(mass_term=np.float64(MASS), rotational_block=tuple(K.ravel()))


def dense(block):
    A, B, C, D = (np.reshape(part, (3, 3)) for part in block)
    return np.block([[A, B], [C, D]])


def shift(arm):
    """Motion of a point an arm away, from (shift, rotation): dy - [arm]x dphi."""
    S = np.eye(6)
    S[:3, 3:] = -np.reshape(skew(arm), (3, 3))
    return S


def test_a_body_about_its_anchors():
    """Force and torque at the anchor of knot 2, by a motion of that of knot 3."""
    own = np.zeros((6, 6))
    own[:3, :3], own[3:, 3:] = MASS * np.eye(3), K
    centre2, centre3 = shift(tuple(-np.array(ARM2))), shift(tuple(-np.array(ARM3)))
    assert dense(blocks.anchored_block(BODY, ARM2, ARM3)) == pytest.approx(
        centre2.T @ own @ centre3
    )


def test_a_block_seen_by_the_parent():
    block = blocks.anchored_block(BODY, ARM2, ARM3)
    expected = shift(LEVER2).T @ dense(block) @ shift(LEVER3)
    assert dense(blocks.shift_block_to_parent(block, LEVER2, LEVER3)) == pytest.approx(expected)


def test_blocks_are_added():
    one, other = blocks.anchored_block(BODY, ARM2, ARM3), blocks.anchored_block(BODY, ARM3, ARM2)
    assert dense(blocks.add_blocks(one, other)) == pytest.approx(dense(one) + dense(other))
    assert not dense(blocks.zero_block(Fields())).any()
