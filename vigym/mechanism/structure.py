"""How a mechanism's loops close: its assembled pose, the rows its closing joints impose, its degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym.mechanism.check import Array
from vigym.mechanism.errors import MechanismError

if TYPE_CHECKING:
    from vigym.mechanism.listing import Listing


@dataclass(frozen=True, eq=False)
class ClosureRows:
    """Rows that a closing joint imposes.

    Attributes:
        translations: (n, 3) directions fixed in the parent body along which the two anchors coincide.
        rotations: (m, 2, 3) pairs of a vector fixed in the parent body and one fixed in the child that stay
            perpendicular.
        implied: number of rows of the joint's type that no motion of the tree can change; they are not imposed.
    """

    translations: Array
    rotations: Array
    implied: int


@dataclass(frozen=True, eq=False)
class Structure:
    """What is known of a mechanism before it moves.

    Attributes:
        assembly: coordinates of the tree joints at which all loops are closed, next to zero (floating, spherical:
            their assembly pose).
        closures: rows of each closing joint, by name.
        degrees_of_freedom: number of independent velocities at a generic assembled pose.
        redundant_constraints: number of dependent constraint rows there.
    """

    assembly: Array
    closures: dict[str, ClosureRows]
    degrees_of_freedom: int
    redundant_constraints: int


def analyse(mechanism: Listing) -> Structure:
    """Return the structure of a mechanism."""
    if mechanism.closing_joints:
        raise MechanismError("loops are being built")
    freedoms = sum(len(joint.prototype.velocities) for joint in mechanism.tree_joints)
    return Structure(np.zeros(0), {}, freedoms, 0)
