"""Sets of features that kernels are compiled for: a mechanism takes the smallest with its own."""

from typing import NamedTuple


class FeatureSet(NamedTuple):
    """Features of mechanisms that share their kernels.

    Attributes:
        name: of such mechanisms, for messages.
        token: what a kernel is called with; its type alone tells the set. Numba finds types of
            numbers in C, but those of other objects in Python, which takes longer than a step.
        features: phases that need one of them are compiled; others are left out. "plain" is an open
            tree that touches nothing, "loops" are closing joints, springs between points and
            couplings, "contacts" those with the ground or of two bodies, "terrain" is ground that
            is not flat, "imposed" are held forces, prescribed motions, velocity constraints and
            potentials, "tracks" are curve, surface and custom joints.
    """

    name: str
    token: complex | None
    features: frozenset[str]


PLAIN_TREE = FeatureSet("trees", None, frozenset({"plain"}))
LOOPS = FeatureSet("loops", True, frozenset({"loops"}))
LOOPS_AND_CONTACTS = FeatureSet("loops and contacts", 1, LOOPS.features | {"contacts"})
# A set between these two would step no faster, and take minutes to compile.
ALL_FEATURES = FeatureSet(
    "terrain, motions, curves", 1.0j, LOOPS_AND_CONTACTS.features | {"terrain", "imposed", "tracks"}
)
FEATURE_SETS = (PLAIN_TREE, LOOPS, LOOPS_AND_CONTACTS, ALL_FEATURES)


def smallest_set(features: set[str | None]) -> FeatureSet:
    """Return the smallest set that has some features; an open tree without contact needs none."""
    return next(found for found in FEATURE_SETS if features <= found.features)
