"""Bases: what moves freely in space or in a plane, and what only looks like it."""

import pytest

from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import free_bases


def gantry(limits=None, coupled=False):
    """A cart that moves along x and z and turns about y."""
    mech = Mechanism(ground=True)
    for body in ("rail", "post", "cart"):
        mech.add_body(body, 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, 0.5))
    mech.add_joint("x", "prismatic", "world", "rail", (0.0, 0.0, 0.5), axis=(1.0, 0.0, 0.0))
    mech.add_joint(
        "z", "prismatic", "rail", "post", (0.0, 0.0, 0.5), axis=(0.0, 0.0, 1.0), limits=limits
    )
    mech.add_joint("pitch", "revolute", "post", "cart", (0.0, 0.0, 0.5), axis=(0.0, 1.0, 0.0))
    if coupled:
        mech.add_coupling("belt", "mimic", "z", "pitch", 0.3)
    return mech


@pytest.mark.parametrize(
    ("options", "free"),
    [
        ({}, True),
        ({"limits": (-0.1, 0.1)}, False),
        ({"limits": (-float("inf"), 0.1)}, False),
        ({"coupled": True}, False),
    ],
)
def test_slides_with_limits_or_couplings_carry_no_base(options, free):
    """They could not be put wherever the ground is."""
    assert [base.body for base in free_bases(gantry(**options))] == (["cart"] if free else [])
