"""Unit quaternions (w, x, y, z), body to world.

q and -q are the same rotation; a motion never jumps between them.
"""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.simd import fma


@inline
def quaternion_product(a, b):
    """Multiply a * b: first the rotation b, then a."""
    return (
        fma(-a[3], b[3], fma(-a[2], b[2], fma(-a[1], b[1], a[0] * b[0]))),
        fma(-a[3], b[2], fma(a[2], b[3], fma(a[1], b[0], a[0] * b[1]))),
        fma(a[3], b[1], fma(a[2], b[0], fma(-a[1], b[3], a[0] * b[2]))),
        fma(a[3], b[0], fma(-a[2], b[1], fma(a[1], b[2], a[0] * b[3]))),
    )


@inline
def conjugate(q):
    """Invert the rotation of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@inline
def vector_part(q):
    """Return the vector part (x, y, z)."""
    return q[1], q[2], q[3]


@inline
def renormalised(q):
    """Scale q by one Newton step of 1/|q|: exact to rounding if q left the sphere by rounding."""
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return s * q[0], s * q[1], s * q[2], s * q[3]


@inline
def rotation_matrix(q):
    """Compute the rotation matrix of q, row-major."""
    x = q[1] + q[1]
    y = q[2] + q[2]
    z = q[3] + q[3]
    wx = q[0] * x
    wy = q[0] * y
    wz = q[0] * z
    xx = q[1] * x
    xy = q[1] * y
    xz = q[1] * z
    yy = q[2] * y
    yz = q[2] * z
    zz = q[3] * z
    return (
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )
