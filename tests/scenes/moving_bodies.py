"""Free bodies whose velocities are constrained."""

from __future__ import annotations

from vigym import Mechanism

NONE = (0.0, 0.0, 0.0)


def two_bodies(gravity=(0.0, 0.0, 0.0), **options):
    """Two free bodies; the speed of the second along x is twice that of the first."""
    mech = Mechanism(gravity=gravity)
    mech.add_body("first", 1.0, (0.1, 0.2, 0.15))
    mech.add_body("second", 2.0, (0.2, 0.25, 0.15), (1.0, 0.0, 0.0))
    terms = {"first": ((2.0, 0.0, 0.0), NONE), "second": ((-1.0, 0.0, 0.0), NONE)}
    mech.add_velocity_constraint("twice as fast", terms, **options)
    return mech
