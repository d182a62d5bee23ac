"""Rigid motions and screws, compiled, for the recursions over trees.

A pose is a rotation matrix R (3, 3) and an origin p (3,); a twist (w, v) is an angular and a linear
velocity in the axes of the moving frame, at its origin, and a wrench (m, f) its dual (SI 3). Plain
loops, because numba's matrix product asks for SciPy.
"""

from math import atan2, cos, sin, sqrt

import numpy as np

from vigym.core.compiler.kernel import entry


def _even_series(count):
    """Return B_2j / (2j)! for j = 1 ... count; B are the Bernoulli numbers."""
    below = 1.0 / np.cumprod(np.arange(2.0, 2 * count + 2))  # 1 / (k + 1)!
    series = [1.0]  # of x / (exp(x) - 1)
    for n in range(1, 2 * count + 1):
        series.append(-float(below[:n] @ np.array(series[::-1])))
    return np.array(series[2::2])


DLOG = _even_series(20)  # exact to rounding for turns below two radians


@entry
def mul(A, B):
    """Return the product of two matrices."""
    C = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(B.shape[1]):
                C[i, j] += a * B[k, j]
    return C


@entry
def tmul(A, B):
    """Return the product of a transposed matrix and another one."""
    C = np.zeros((A.shape[1], B.shape[1]))
    for k in range(A.shape[0]):
        for i in range(A.shape[1]):
            a = A[k, i]
            for j in range(B.shape[1]):
                C[i, j] += a * B[k, j]
    return C


@entry
def apply(A, x):
    """Return the product of a matrix and a vector."""
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
    return y


@entry
def tapply(A, x):
    """Return the product of a transposed matrix and a vector."""
    y = np.zeros(A.shape[1])
    for j in range(A.shape[0]):
        for i in range(A.shape[1]):
            y[i] += A[j, i] * x[j]
    return y


@entry
def dot(a, b):
    """Return the scalar product of two vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@entry
def inverse(A):
    """Return the inverse of a symmetric matrix that is positive or negative definite, by LDL'."""
    n = len(A)
    L = np.eye(n)
    D = np.zeros(n)
    for j in range(n):
        D[j] = A[j, j]
        for k in range(j):
            D[j] -= L[j, k] ** 2 * D[k]
        for i in range(j + 1, n):
            L[i, j] = A[i, j]
            for k in range(j):
                L[i, j] -= L[i, k] * L[j, k] * D[k]
            L[i, j] /= D[j]
    X = np.eye(n)
    for c in range(n):
        for i in range(n):
            for k in range(i):
                X[i, c] -= L[i, k] * X[k, c]
        for i in range(n - 1, -1, -1):
            X[i, c] /= D[i]
            for k in range(i + 1, n):
                X[i, c] -= L[k, i] * X[k, c]
    return X


@entry
def cross(a, b):
    """Return the cross product of two vectors (3,)."""
    c = np.empty(3)
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]
    return c


@entry
def skew(a):
    """Return the matrix (3, 3) of the cross product of a vector with others."""
    A = np.zeros((3, 3))
    A[0, 1] = -a[2]
    A[0, 2] = a[1]
    A[1, 0] = a[2]
    A[1, 2] = -a[0]
    A[2, 0] = -a[1]
    A[2, 1] = a[0]
    return A


@entry
def turn(axis, angle):
    """Return the rotation matrix by an angle about a unit vector (3,)."""
    K = skew(axis)
    s = sin(angle)
    c = 2.0 * sin(0.5 * angle) ** 2
    return np.eye(3) + s * K + c * mul(K, K)


@entry
def quaternion_matrix(q):
    """Return the rotation matrix of a quaternion (w, x, y, z) of any length."""
    K = skew(q[1:])
    return np.eye(3) + (2.0 / dot(q, q)) * (q[0] * K + mul(K, K))


@entry
def lower_blocks(B, C):
    """Return the matrix [B 0; C B] (6, 6)."""
    A = np.zeros((6, 6))
    for i in range(3):
        for j in range(3):
            A[i, j] = B[i, j]
            A[3 + i, j] = C[i, j]
            A[3 + i, 3 + j] = B[i, j]
    return A


@entry
def adjoint(R, p):
    """Return Ad (6, 6): it takes twists in the frame (R, p) to those in its parent (SI 2)."""
    return lower_blocks(R, mul(skew(p), R))


@entry
def adjoint_back(R, p):
    """Return the inverse of Ad (6, 6): it takes twists in the parent to those in the frame."""
    return lower_blocks(R.T, tmul(R, skew(-p)))


@entry
def ad(v):
    """Return the matrix (6, 6) of the bracket of twists with v (SI 3)."""
    return lower_blocks(skew(v[:3]), skew(v[3:]))


@entry
def bracket(a, b):
    """Return the bracket of two twists (6,): ad(a) b."""
    c = np.empty(6)
    c[:3] = cross(a[:3], b[:3])
    c[3:] = cross(a[3:], b[:3]) + cross(a[:3], b[3:])
    return c


@entry
def dual_bracket(a, f):
    """Return ad(a)' f (6,) of a twist and a wrench."""
    c = np.empty(6)
    c[:3] = cross(f[:3], a[:3]) + cross(f[3:], a[3:])
    c[3:] = cross(f[3:], a[:3])
    return c


@entry
def log_pose(R, p):
    """Return the twist (6,) that in unit time moves a frame from the origin to a pose [LEE 10]."""
    w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = sqrt(dot(w, w))
    angle = atan2(sine, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0))
    if sine > 0.0:
        w *= angle / sine
    series = 1.0 / 12.0
    if angle > 1e-3:
        series = (1.0 - 0.5 * angle * cos(0.5 * angle) / sin(0.5 * angle)) / angle**2
    v = np.empty(6)
    v[:3] = w
    v[3:] = p - 0.5 * cross(w, p) + series * cross(w, cross(w, p))
    return v


@entry
def dlog_series(v):
    """Return the numbers (A, B, A', B') of dlog(v) = 1 - ad(v)/2 + A ad(v)^2 + B ad(v)^4 [LEE 13].

    With t the square of the angle, x = ad(v)^2 obeys x (x + t)^2 = 0, which leaves two of its
    powers; A' and B' are the derivatives by t.
    """
    t = dot(v[:3], v[:3])
    A, B = 0.0, 0.0
    A_t, B_t = 0.0, 0.0
    a, b = 0.0, 1.0  # x^j = a x^2 + b x
    a_t, b_t = 0.0, 0.0
    for c in DLOG:
        A += c * b
        B += c * a
        A_t += c * b_t
        B_t += c * a_t
        a_t, b_t = b_t - 2.0 * a - 2.0 * t * a_t, -2.0 * t * a - t * t * a_t
        a, b = b - 2.0 * t * a, -t * t * a
    return A, B, A_t, B_t


@entry
def dlog(v):
    """Return the inverse (6, 6) of the right-trivialised tangent of the exponential map at v."""
    A, B, _, _ = dlog_series(v)
    X = ad(v)
    X2 = mul(X, X)
    return np.eye(6) - 0.5 * X + A * X2 + B * mul(X2, X2)
