"""Vectors and 3x3 matrices as tuples: (x, y, z) and row-major nine. Every element is a float or a Lanes value."""

from .jit import inline
from .simd import LANES, absolute, fma, load, maximum, store


@inline
def load3(table, at, token):
    """Three fields from element ``at`` on."""
    return load(table, at, token), load(table, at + LANES, token), load(table, at + 2 * LANES, token)


@inline
def load4(table, at, token):
    """Four fields from element ``at`` on."""
    return (
        load(table, at, token),
        load(table, at + LANES, token),
        load(table, at + 2 * LANES, token),
        load(table, at + 3 * LANES, token),
    )


@inline
def load9(table, at, token):
    """A 3x3 matrix from element ``at`` on."""
    a, b, c = load3(table, at, token), load3(table, at + 3 * LANES, token), load3(table, at + 6 * LANES, token)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline
def store3(table, at, a):
    """Write three fields from element ``at`` on."""
    store(table, at, a[0])
    store(table, at + LANES, a[1])
    store(table, at + 2 * LANES, a[2])


@inline
def store4(table, at, a):
    """Write four fields from element ``at`` on."""
    store3(table, at, (a[0], a[1], a[2]))
    store(table, at + 3 * LANES, a[3])


@inline
def store9(table, at, A):
    """Write a 3x3 matrix from element ``at`` on."""
    store3(table, at, (A[0], A[1], A[2]))
    store3(table, at + 3 * LANES, (A[3], A[4], A[5]))
    store3(table, at + 6 * LANES, (A[6], A[7], A[8]))


@inline
def load_block(table, at, token):
    """The 3x3 blocks A, B, C, E of a 6x6 matrix [A B; C E]."""
    return (
        load9(table, at, token),
        load9(table, at + 9 * LANES, token),
        load9(table, at + 18 * LANES, token),
        load9(table, at + 27 * LANES, token),
    )


@inline
def store_block(table, at, A, B, C, E):
    """Write the 6x6 matrix [A B; C E], block after block."""
    store9(table, at, A)
    store9(table, at + 9 * LANES, B)
    store9(table, at + 18 * LANES, C)
    store9(table, at + 27 * LANES, E)


@inline
def add(a, b):
    """The vector a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def sub(a, b):
    """The vector a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def scale(s, a):
    """The vector s a."""
    return s * a[0], s * a[1], s * a[2]


@inline
def axpy(s, a, b):
    """The vector s a + b."""
    return fma(s, a[0], b[0]), fma(s, a[1], b[1]), fma(s, a[2], b[2])


@inline
def dot(a, b):
    """The scalar product a . b."""
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]))


@inline
def cross(a, b):
    """The vector product a x b."""
    return fma(a[1], b[2], -(a[2] * b[1])), fma(a[2], b[0], -(a[0] * b[2])), fma(a[0], b[1], -(a[1] * b[0]))


@inline
def mul(A, x):
    """A x."""
    a, b, c = rows(A)
    return dot(a, x), dot(b, x), dot(c, x)


@inline
def tmul(A, x):
    """A^T x."""
    a, b, c = columns(A)
    return dot(a, x), dot(b, x), dot(c, x)


@inline
def rows(A):
    """The rows of A."""
    return (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])


@inline
def columns(A):
    """The columns of A."""
    return (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])


@inline
def from_rows(a, b, c):
    """The matrix with rows a, b, c."""
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline
def matmul(A, B):
    """A B."""
    a, b, c = rows(A)
    return from_rows(tmul(B, a), tmul(B, b), tmul(B, c))


@inline
def matmul_t(A, B):
    """A B^T."""
    a, b, c = rows(A)
    return from_rows(mul(B, a), mul(B, b), mul(B, c))


@inline
def madd(A, B):
    """A + B."""
    a, b, c = rows(A)
    d, e, f = rows(B)
    return from_rows(add(a, d), add(b, e), add(c, f))


@inline
def msub(A, B):
    """A - B."""
    a, b, c = rows(A)
    d, e, f = rows(B)
    return from_rows(sub(a, d), sub(b, e), sub(c, f))


@inline
def mscale(s, A):
    """The matrix s A."""
    a, b, c = rows(A)
    return from_rows(scale(s, a), scale(s, b), scale(s, c))


@inline
def skew(a):
    """[a]x, so that [a]x b = a x b."""
    o = a[0] * 0.0
    return o, -a[2], a[1], a[2], o, -a[0], -a[1], a[0], o


@inline
def mul_skew(A, a):
    """A [a]x: each row crossed with a."""
    x, y, z = rows(A)
    return from_rows(cross(x, a), cross(y, a), cross(z, a))


@inline
def skew_mul(a, A):
    """[a]x A."""
    x, y, z = rows(A)
    return from_rows(axpy(a[1], z, scale(-a[2], y)), axpy(a[2], x, scale(-a[0], z)), axpy(a[0], y, scale(-a[1], x)))


@inline
def minus_outer(A, a, b):
    """A - a b^T."""
    x, y, z = rows(A)
    return from_rows(axpy(-a[0], b, x), axpy(-a[1], b, y), axpy(-a[2], b, z))


@inline
def inverse(A):
    """A^-1 by cofactors."""
    a, b, c = rows(A)
    p, q, r = cross(b, c), cross(c, a), cross(a, b)
    s = 1.0 / dot(a, p)
    return s * p[0], s * q[0], s * r[0], s * p[1], s * q[1], s * r[1], s * p[2], s * q[2], s * r[2]


@inline
def symmetric(s):
    """The full matrix of (xx, yy, zz, xy, xz, yz)."""
    return s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]


@inline
def largest3(a):
    """The largest absolute value of a vector's elements."""
    return maximum(absolute(a[0]), maximum(absolute(a[1]), absolute(a[2])))
