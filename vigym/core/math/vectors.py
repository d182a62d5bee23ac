"""Vectors and 3x3 matrices as tuples: (x, y, z) and row-major nine.

Every element is a float or a lane value.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import absolute, fma, maximum, where


@inline
def zero3(d):
    """Make a vector of zeros, of the type that the data is read as."""
    o = d.full(0.0)
    return o, o, o


@inline
def select3(mask, a, b):
    """Select vector ``a`` in the lanes of the mask, else ``b``."""
    return where(mask, a[0], b[0]), where(mask, a[1], b[1]), where(mask, a[2], b[2])


@inline
def select4(mask, a, b):
    """Select four values of ``a`` in the lanes of the mask, else of ``b``."""
    return (
        where(mask, a[0], b[0]),
        where(mask, a[1], b[1]),
        where(mask, a[2], b[2]),
        where(mask, a[3], b[3]),
    )


@inline
def select6(mask, a, b):
    """Select six values of ``a`` in the lanes of the mask, else of ``b``."""
    return select3(mask, a[:3], b[:3]) + select3(mask, a[3:], b[3:])


@inline
def select9(mask, A, B):
    """Select matrix ``A`` in the lanes of the mask, else ``B``."""
    a, b, c = extract_rows(A)
    d, e, f = extract_rows(B)
    return matrix_of_rows(select3(mask, a, d), select3(mask, b, e), select3(mask, c, f))


@inline
def element(a, j):
    """Select element j of a vector."""
    return a[0] if j == 0 else (a[1] if j == 1 else a[2])


@inline
def add(a, b):
    """Add two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def sub(a, b):
    """Subtract vector b from a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def scale(s, a):
    """Scale a vector: s a."""
    return s * a[0], s * a[1], s * a[2]


@inline
def axpy(s, a, b):
    """Compute s a + b."""
    return fma(s, a[0], b[0]), fma(s, a[1], b[1]), fma(s, a[2], b[2])


@inline
def dot(a, b):
    """Compute the scalar product a . b."""
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]))


@inline
def cross(a, b):
    """Compute the vector product a x b."""
    return (
        fma(a[1], b[2], -(a[2] * b[1])),
        fma(a[2], b[0], -(a[0] * b[2])),
        fma(a[0], b[1], -(a[1] * b[0])),
    )


@inline
def mat_vec(A, x):
    """Multiply a vector by a matrix: A x."""
    a, b, c = extract_rows(A)
    return dot(a, x), dot(b, x), dot(c, x)


@inline
def mat_t_vec(A, x):
    """Multiply a vector by a transposed matrix: A^T x."""
    a, b, c = extract_columns(A)
    return dot(a, x), dot(b, x), dot(c, x)


@inline
def extract_rows(A):
    """Split a matrix into its rows."""
    return (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])


@inline
def extract_columns(A):
    """Split a matrix into its columns."""
    return (A[0], A[3], A[6]), (A[1], A[4], A[7]), (A[2], A[5], A[8])


@inline
def matrix_of_rows(a, b, c):
    """Join rows a, b, c to a matrix."""
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@inline
def matmul(A, B):
    """Multiply two matrices: A B."""
    a, b, c = extract_rows(A)
    return matrix_of_rows(mat_t_vec(B, a), mat_t_vec(B, b), mat_t_vec(B, c))


@inline
def matmul_t(A, B):
    """Multiply by a transposed matrix: A B^T."""
    a, b, c = extract_rows(A)
    return matrix_of_rows(mat_vec(B, a), mat_vec(B, b), mat_vec(B, c))


@inline
def mat_add(A, B):
    """Add two matrices."""
    a, b, c = extract_rows(A)
    d, e, f = extract_rows(B)
    return matrix_of_rows(add(a, d), add(b, e), add(c, f))


@inline
def mat_sub(A, B):
    """Subtract matrix B from A."""
    a, b, c = extract_rows(A)
    d, e, f = extract_rows(B)
    return matrix_of_rows(sub(a, d), sub(b, e), sub(c, f))


@inline
def mat_scale(s, A):
    """Scale a matrix: s A."""
    a, b, c = extract_rows(A)
    return matrix_of_rows(scale(s, a), scale(s, b), scale(s, c))


@inline
def skew(a):
    """Make the cross product matrix [a]x, so that [a]x b = a x b."""
    o = a[0] * 0.0
    return o, -a[2], a[1], a[2], o, -a[0], -a[1], a[0], o


@inline
def matmul_skew(A, a):
    """Multiply by a cross product matrix: A [a]x, each row crossed with a."""
    x, y, z = extract_rows(A)
    return matrix_of_rows(cross(x, a), cross(y, a), cross(z, a))


@inline
def skew_matmul(a, A):
    """Multiply by a cross product matrix from the left: [a]x A."""
    x, y, z = extract_rows(A)
    return matrix_of_rows(
        axpy(a[1], z, scale(-a[2], y)),
        axpy(a[2], x, scale(-a[0], z)),
        axpy(a[0], y, scale(-a[1], x)),
    )


@inline
def mat_sub_outer(A, a, b):
    """Subtract an outer product: A - a b^T."""
    x, y, z = extract_rows(A)
    return matrix_of_rows(axpy(-a[0], b, x), axpy(-a[1], b, y), axpy(-a[2], b, z))


@inline
def lu_factors(A):
    """Factorise a matrix, A = L U, with ones on the diagonal of L.

    Unlike the inverse, the factors of a stiff A are accurate along its soft directions. Returns L
    below the diagonal, U above, and 1 over U's diagonal.
    """
    a, b, c = extract_rows(A)
    p = 1.0 / a[0]
    l1, l2 = p * b[0], p * c[0]
    b1, b2 = b[1] - l1 * a[1], b[2] - l1 * a[2]
    q = 1.0 / b1
    l3 = q * (c[1] - l2 * a[1])
    r = 1.0 / (c[2] - l2 * a[2] - l3 * b2)
    return p, a[1], a[2], l1, q, b2, l2, l3, r


@inline
def solve_lower(F, x):
    """Solve L y = x with the factors of a matrix."""
    y = x[1] - F[3] * x[0]
    return x[0], y, x[2] - F[6] * x[0] - F[7] * y


@inline
def solve_upper(F, x):
    """Solve U y = x with the factors of a matrix."""
    z = F[8] * x[2]
    y = F[4] * (x[1] - F[5] * z)
    return F[0] * (x[0] - F[1] * y - F[2] * z), y, z


@inline
def solve_upper_t(F, x):
    """Solve y U = x for a row y with the factors of a matrix."""
    a = F[0] * x[0]
    b = F[4] * (x[1] - F[1] * a)
    return a, b, F[8] * (x[2] - F[2] * a - F[5] * b)


@inline
def mat_solve_lower(F, A):
    """Solve L Y = A with the factors of a matrix."""
    a, b, c = extract_rows(A)
    b = axpy(-F[3], a, b)
    return matrix_of_rows(a, b, axpy(-F[7], b, axpy(-F[6], a, c)))


@inline
def mat_solve_upper(A, F):
    """Solve Y U = A with the factors of a matrix."""
    a, b, c = extract_rows(A)
    return matrix_of_rows(solve_upper_t(F, a), solve_upper_t(F, b), solve_upper_t(F, c))


@inline
def symmetric_matrix(s):
    """Make the full matrix of (xx, yy, zz, xy, xz, yz)."""
    return s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]


@inline
def max_abs3(a):
    """Find the largest absolute value of a vector's elements."""
    return maximum(absolute(a[0]), maximum(absolute(a[1]), absolute(a[2])))
