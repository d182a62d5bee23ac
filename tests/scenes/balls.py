"""Bodies on ball joints, and the angles of a ball without its limits."""

import numpy as np

from vigym import Mechanism


def ball_pendulum(inertia=(0.02, 0.03, 0.01), place=(0.1, 0.0, -0.5), **options):
    """A body that hangs on a ball joint, whose axis is z."""
    mech = Mechanism()
    mech.add_body("bob", 1.0, inertia, position=place)
    mech.add_joint("ball", "spherical", "world", "bob", (0, 0, 0), **options)
    return mech


def ball_chain(closes=False, **options):
    """Two bodies on ball joints, and with ``closes`` a third joint that holds the end."""
    mech = Mechanism()
    mech.add_body("arm", 1.0, (0.02, 0.03, 0.01), position=(0, 0, -0.5))
    mech.add_body("bob", 1.0, (0.02, 0.03, 0.01), position=(0.1, 0, -1.2))
    mech.add_joint("shoulder", "spherical", "world", "arm", (0, 0, 0), **options)
    mech.add_joint("elbow", "spherical", "arm", "bob", (0, 0.05, -1), **options)
    if closes:
        mech.add_joint("hand", "spherical", "world", "bob", (0.1, 0, -1.5), **options)
    return mech


def angles_of(q):
    """Swing from z, twist about z and turn of quaternions (..., 4) [rad]."""
    w, x, y, z = np.moveaxis(np.where(q[..., :1] < 0.0, -q, q), -1, 0)
    swing = 2.0 * np.arctan2(np.hypot(x, y), np.hypot(w, z))
    return {
        "swing": swing,
        "twist": 2.0 * np.arctan2(z, w),
        "turn": 2.0 * np.arctan2(np.sqrt(x * x + y * y + z * z), w),
    }
