"""Blocks (6, 6) of bodies, as tuples of their 3x3 blocks (A, B, C, D).

A is force by shift, B force by rotation, C torque by shift, D torque by rotation.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.math.vectors import (
    mat_add,
    mat_sub,
    matmul_skew,
    scale,
    skew,
    skew_matmul,
)
from vigym.core.tables.plan import CHAIN_BLOCK, STORED_BLOCK


@inline
def anchored_block(body, arm2, arm3):
    """Compute a body's own 6x6 block about its anchors, which acts on (dy, dphi).

        [mu I, mu [arm3]x; -mu [arm2]x, K - mu [arm2]x [arm3]x]

    mu is the mass term and K the rotational block.
    """
    mu = body.mass_term
    o = mu * 0.0
    A = (mu, o, o, o, mu, o, o, o, mu)
    B = skew(scale(mu, arm3))
    C = skew(scale(-mu, arm2))
    return A, B, C, mat_sub(body.rotational_block, skew_matmul(arm2, B))


@inline
def stored_block(body):
    """Read a body's 6x6 block."""
    return body.block_a, body.block_b, body.block_c, body.block_d


@inline
def store_block(body, block):
    """Write a body's 6x6 block."""
    A, B, C, D = block
    body.block_a = A
    body.block_b = B
    body.block_c = C
    body.block_d = D


@inline
def set_own_block(d, body, mass_term, rotational_block, arm2, arm3):
    """Write the terms of a body's own block, and the block itself if any body's is stored."""
    body.mass_term = mass_term
    body.rotational_block = rotational_block
    if d.unstored_block_count < d.body_count:
        store_block(body, anchored_block(body, arm2, arm3))


@inline
def add_blocks(one, other):
    """Add two 6x6 blocks."""
    A, B, C, D = one
    A0, B0, C0, D0 = other
    return mat_add(A, A0), mat_add(B, B0), mat_add(C, C0), mat_add(D, D0)


@inline
def zero_block(d):
    """Make a 6x6 block of zeros."""
    o = d.full(0.0)
    Z = (o, o, o, o, o, o, o, o, o)
    return Z, Z, Z, Z


@inline
def block_of(d, i, knot2, knot3, rest):
    """Find a body's 6x6 block with its children's remainders; ``rest`` is the next body's.

    Remainders along chains stay out of memory, and so do the bodies' own blocks in a plain tree.
    """
    body = d.body(i)
    if body.block_kind == STORED_BLOCK or d.unstored_block_count == 0:
        own = stored_block(body)
    else:
        own = anchored_block(body, d.pose(knot2, i).arm, d.pose(knot3, i).arm)
    return add_blocks(rest, own) if body.block_kind == CHAIN_BLOCK else own


@inline
def add_to_parent(d, body, block):
    """Add the remainder of a child's block to its parent's, unless they are a chain; return it."""
    parent = d.body(body.parent)
    if parent.block_kind == STORED_BLOCK:
        store_block(parent, add_blocks(block, stored_block(parent)))
    return block


@inline
def shift_block_to_parent(block, lever2, lever3):
    """See a block from the parent's anchor: torques gain lever2 x f, shifts lose lever3 x dphi."""
    A, B, C, D = block
    B = mat_sub(B, matmul_skew(A, lever3))
    D = mat_sub(D, matmul_skew(C, lever3))
    return A, B, mat_add(C, skew_matmul(lever2, A)), mat_add(D, skew_matmul(lever2, B))
