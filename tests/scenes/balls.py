"""Bodies on ball joints."""

from vigym import Mechanism


def ball_pendulum(**options):
    """A body that hangs on a ball joint."""
    mech = Mechanism()
    mech.add_body("bob", 1.0, (0.02, 0.03, 0.01), position=(0.1, 0.0, -0.5))
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
