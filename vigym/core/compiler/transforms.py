"""Joints of the user's own, given by the pose G(q) of the child in the parent: their closure.

The gap of such a joint is (r - p(q), theta): the place of the child's frame less that of G(q), and
the rotation from G(q) to it, in the parent's frame. Its derivative by the n coordinates is -S, S
the twists of G. As many of the six gaps as there are coordinates, those with the largest pivots of
S, give q by Newton's method; what is left are the rows of the joint,

    gap_j - Y_j gap_I = 0,    Y = S S_I^-1,    j not in I,

whose directions do no work along S. S comes from complex steps: G(q + 1e-100 i) has 1e-100 times
the derivative as its imaginary part, exact to rounding.

The functions here work on numbers of one lane. They are compiled with G, apart from kernels.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.core.compiler.callbacks import (
    Compiled,
    compilable,
    compilable_of_user,
    compile_function,
    make_caller,
)

STEP = 1e-100  # of complex derivatives: nothing is subtracted, so that it may be tiny
ITERATIONS = 30
STILL = 1e-7  # [unit of a coordinate] largest change behind which q is exact to rounding
TINY = 1e-300
PREFERRED = 1.5  # part by which a later row has to be larger to become a pivot: ties stay
# given: coordinates (6), those that choose the pivots (6), place (3) and columns of the rotation
# (9) of the child's frame in the parent's, whether the coordinates found choose the pivots
INPUTS = 25
# found: coordinates (6), gaps of the rows (5), regularity, then six rows (force, moment): those of
# the joint from the first on, those along the coordinates from the last on
OUTPUTS = 48
call_transform = make_caller(INPUTS, *[3] * (OUTPUTS // 3))


def read_quaternion_pose(position, turn, p, M):
    """Write a position (3,) and the matrix (3, 3) of a quaternion (w, x, y, z), complex."""
    w, x = turn[0] + 0j, turn[1] + 0j
    y, z = turn[2] + 0j, turn[3] + 0j
    M[0, 0], M[1, 1] = 1.0 - 2.0 * (y * y + z * z), 1.0 - 2.0 * (x * x + z * z)
    M[2, 2] = 1.0 - 2.0 * (x * x + y * y)
    M[0, 1], M[1, 0] = 2.0 * (x * y - w * z), 2.0 * (x * y + w * z)
    M[0, 2], M[2, 0] = 2.0 * (x * z + w * y), 2.0 * (x * z - w * y)
    M[1, 2], M[2, 1] = 2.0 * (y * z - w * x), 2.0 * (y * z + w * x)
    p[0], p[1] = position[0], position[1]
    p[2] = position[2]


def read_matrix_pose(position, turn, p, M):
    """Write a position (3,) and a rotation matrix (3, 3), complex."""
    first, second = turn[0], turn[1]
    third = turn[2]
    M[0, 0], M[0, 1] = first[0], first[1]
    M[0, 2], M[1, 0] = first[2], second[0]
    M[1, 1], M[1, 2] = second[1], second[2]
    M[2, 0], M[2, 1] = third[0], third[1]
    M[2, 2] = third[2]
    p[0], p[1] = position[0], position[1]
    p[2] = position[2]


@compilable
def length(S, k):
    """Return the length of column k."""
    square = 0.0
    for i in range(6):
        square += S[i, k] * S[i, k]
    return math.sqrt(square)


@compilable
def volume(S):
    """Return the volume that the columns (6, n) span, each scaled to length one."""
    left, product = S.copy(), 1.0
    for k in range(S.shape[1]):
        product /= max(length(S, k), TINY)
        for j in range(k):
            along = 0.0
            for i in range(6):
                along += left[i, j] * left[i, k]
            for i in range(6):
                left[i, k] -= along * left[i, j]
        size = length(left, k)
        product *= size
        for i in range(6):
            left[i, k] /= max(size, TINY)
    return product


@compilable
def add_column(A, target, source, factor):
    """Add a multiple of a column to another one."""
    for i in range(A.shape[0]):
        A[i, target] += factor * A[i, source]


@compilable
def choose_pivot(Y, pivots, k):
    """Choose the row of the largest element of column k that is no pivot before."""
    best = -1.0
    for i in range(6):
        free = True
        for m in range(k):
            free = free and pivots[m] != i
        if free and abs(Y[i, k]) > PREFERRED * best:
            best = abs(Y[i, k])
            pivots[k] = i


@compilable
def reduce_columns(S, pivots, chooses):
    """Return Y = S T (6, n) and T (n, n), where rows ``pivots`` of Y are those of the identity.

    Where it ``chooses``, it finds the pivots first, and writes them.
    """
    n = S.shape[1]
    Y, T = S.copy(), np.eye(n)
    for k in range(n):
        if chooses:
            choose_pivot(Y, pivots, k)
        pivot = Y[pivots[k], k]
        part = 1.0 / (pivot if pivot != 0.0 else TINY) - 1.0
        add_column(Y, k, k, part)
        add_column(T, k, k, part)
        for j in range(n):
            if j != k:
                factor = -Y[pivots[k], j]
                add_column(Y, j, k, factor)
                add_column(T, j, k, factor)
    return Y, T


@compilable
def write_gaps(given, p, R, gaps):
    """Write the six gaps of the child's frame from the pose (p, R) of the transform."""
    for k in range(3):
        gaps[k] = given[12 + k] - p[k]
        i, j = (k + 1) % 3, (k + 2) % 3
        turned = 0.0
        for m in range(3):
            turned += given[15 + 3 * m + j] * R[i, m] - given[15 + 3 * m + i] * R[j, m]
        gaps[3 + k] = 0.5 * turned


@compilable
def move_coordinates(q, T, gaps, pivots):
    """Move the coordinates where the gaps of the pivots vanish; returns the largest change."""
    largest = 0.0
    for k in range(len(q)):
        change = 0.0
        for m in range(len(q)):
            change += T[k, m] * gaps[pivots[m]]
        q[k] += change
        largest = max(largest, abs(change))
    return largest


@compilable
def write_rows(found, pivots, Y, T, gaps):
    """Write the rows of the joint with their gaps, and those along its coordinates."""
    n, row = T.shape[0], 0
    for j in range(6):
        gap, is_row = gaps[j], True
        for m in range(n):
            is_row = is_row and pivots[m] != j
        if is_row:
            found[12 + 6 * row + j] = 1.0
            for m in range(n):
                gap -= Y[j, m] * gaps[pivots[m]]
                found[12 + 6 * row + pivots[m]] = -Y[j, m]
            found[6 + row] = gap
            row += 1
    for k in range(n):
        for m in range(n):
            found[12 + 6 * (5 - k) + pivots[m]] = T[k, m]


@compilable
def take_derivative(S, k, x, M, R):
    """Write column k of S, the imaginary parts of a pose over the step."""
    for i in range(3):
        S[i, k] = x[i].imag / STEP
        a, b = (i + 1) % 3, (i + 2) % 3
        turned = 0.0
        for m in range(3):
            turned += M[b, m].imag * R[a, m] - M[a, m].imag * R[b, m]
        S[3 + i, k] = 0.5 * turned / STEP


@functools.cache  # compiled once, and kept as long as kernels may call it
def compile_transform(transform: Callable[..., Any], dofs: int, of_matrix: bool) -> Compiled:
    """Compile the closure of a joint to a function of C from INPUTS to OUTPUTS numbers.

    Args:
        transform: of complex coordinates (dofs,) to (position (3,), orientation).
        dofs: number of coordinates, 1 to 5.
        of_matrix: whether the orientation is a matrix (3, 3), else a quaternion (w, x, y, z).

    Raises:
        TypeError: numba does not compile the function.
    """
    of_user = compilable_of_user(transform)
    read_pose = compilable(read_matrix_pose if of_matrix else read_quaternion_pose)

    def evaluate(q, p, R, S):
        z, x = np.zeros(dofs, np.complex128), np.zeros(3, np.complex128)
        M = np.zeros((3, 3), np.complex128)
        for k in range(dofs):
            for j in range(dofs):
                z[j] = complex(q[j], STEP if j == k else 0.0)
            position, turn = of_user(z)
            read_pose(position, turn, x, M)
            for i in range(3):
                p[i] = x[i].real
                for j in range(3):
                    R[i, j] = M[i, j].real
            take_derivative(S, k, x, M, R)

    at = compilable(evaluate)

    def close(given, found):
        p, R = np.zeros(3), np.zeros((3, 3))
        S, gaps = np.zeros((6, dofs)), np.zeros(6)
        pivots, own = np.zeros(dofs, np.int64), given[24] > 0.0
        q = given[:dofs].copy()
        at(given[6 : 6 + dofs], p, R, S)
        Y, T = reduce_columns(S, pivots, True)
        still = False
        for _ in range(ITERATIONS):
            at(q, p, R, S)
            write_gaps(given, p, R, gaps)
            Y, T = reduce_columns(S, pivots, own)
            if still:
                break
            still = move_coordinates(q, T, gaps, pivots) < STILL
        for k in range(OUTPUTS):
            found[k] = 0.0
        for k in range(dofs):
            found[k] = q[k]
        found[11] = volume(S) if still else 0.0
        write_rows(found, pivots, Y, T, gaps)

    return compile_function(close, INPUTS, OUTPUTS)
