"""A small mechanism with a joint of every kind that contacts, motors and couplings can meet."""

from vigym.mechanism.mechanism import Mechanism

ONE = (1.0, 1.0, 1.0)


def arm(**options) -> Mechanism:
    """Bodies a (floats), b (hinge with effort), c (cylindrical), d (ball), e (slide); a hinge from a to e closes."""
    mech = Mechanism(**options)
    for name in "abcde":
        mech.add_body(name, 1.0, ONE)
    mech.add_joint("hinge", "revolute", "a", "b", (0, 0, 0), effort=2.0)
    mech.add_joint("bolt", "cylindrical", "a", "c", (0, 0, 0))
    mech.add_joint("ball", "spherical", "a", "d", (0, 0, 0))
    mech.add_joint("slide", "prismatic", "b", "e", (0, 0, 0))
    mech.add_joint("weld", "fixed", "a", "d", (0, 0, 0))
    mech.add_joint("closing", "revolute", "a", "e", (0, 0, 0))
    mech.add_frame("toe", "b", (0, 0, -1))
    return mech
