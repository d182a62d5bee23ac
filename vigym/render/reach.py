"""Where a mechanism can go: the balls its trees sweep, for a camera that never loses it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.graph import spanning_tree
from vigym.mechanism.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.parts import WORLD
from vigym.render.pieces import Piece, travel
from vigym.render.pose import matrix
from vigym.render.surface import MeshFile

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reach:
    """Balls that hold the mechanism.

    Attributes:
        centres: (n, 3) [m], in the world; of floating trees at assembly.
        radii: (n,) [m].
        floating: indices in `mech.bodies` of the bodies that no joint holds to a place; the balls travel with them.
        hinge: direction that all rotation axes share at assembly (3,); None where they differ.
    """

    centres: Array
    radii: Array
    floating: tuple[int, ...]
    hinge: Array | None


@dataclass(frozen=True, eq=False)
class _Part:
    """Balls (n, 3), (n,) at assembly that hold what one body shows, and the joints it carries."""

    centres: Array
    radii: Array
    joints: list[Joint]


def reach_of(mech: Mechanism, pieces: list[Piece]) -> Reach:
    """Return where `mech`, drawn as `pieces`, can go."""
    parts = _parts(mech, pieces)
    extents: dict[str, float] = {}
    for joint, child in reversed(spanning_tree(mech)):
        extents[child] = _extent(joint, parts[child], extents)
    balls = _balls(parts[WORLD], parts, extents, [np.zeros(3)])
    names = list(mech.bodies)
    floating = tuple(names.index(joint.child) for joint in mech.tree_joints if _floats(joint))
    centres, radii = [centre for centre, _ in balls], [radius for _, radius in balls]
    return Reach(np.array(centres).reshape(-1, 3), np.array(radii), floating, _hinge(mech))


def _parts(mech: Mechanism, pieces: list[Piece]) -> dict[str, _Part]:
    parts = {}
    for index, name in enumerate([*mech.bodies, WORLD]):
        outlines = [_outline(piece) for piece in pieces if piece.body == index] or [(np.zeros((0, 3)), np.zeros(0))]
        points, radii = (np.concatenate(arrays) for arrays in zip(*outlines, strict=True))
        if name != WORLD:
            body = mech.bodies[name]
            points = points @ matrix(body.orientation).T + body.position
        parts[name] = _Part(points, radii, [joint for joint in mech.tree_joints if joint.parent == name])
    return parts


def _outline(piece: Piece) -> tuple[Array, Array]:
    """Return balls (n, 3), (n,) in the body frame that hold the piece: its corners, or one for a mesh file."""
    if isinstance(piece.surface, MeshFile):
        return piece.position[None], np.array([piece.radius])
    corners = piece.surface.vertices @ matrix(piece.orientation).T + piece.position
    return corners, np.zeros(len(corners))


def _extent(joint: Joint, part: _Part, extents: dict[str, float]) -> float:
    """Return how far from its anchor the tree that hangs on `joint` can ever get [m]."""
    own = np.linalg.norm(part.centres - joint.position, axis=1) + part.radii
    hanging = [
        float(np.linalg.norm(other.position - joint.position)) + extents[other.child] + _slide(other, extents)
        for other in part.joints
    ]
    return max([float(own.max()) if len(own) else 0.0, *hanging])


def _slide(joint: Joint, extents: dict[str, float]) -> float:
    if not joint.prototype.translations:
        return 0.0
    return max(abs(end) for end in travel(joint, extents[joint.child]))


def _balls(
    part: _Part, parts: dict[str, _Part], extents: dict[str, float], shifts: list[Array]
) -> list[tuple[Array, float]]:
    """Return the balls of a part that does not turn, in all places `shifts` it can slide to."""
    own = list(zip(part.centres, part.radii, strict=True))
    balls = [(centre + shift, radius) for centre, radius in own for shift in shifts]
    for joint in part.joints:
        places = [shift + step for shift in shifts for step in _steps(joint, extents)]
        if joint.prototype.rotations:
            balls += [(joint.position + place, extents[joint.child]) for place in places]
        else:
            balls += _balls(parts[joint.child], parts, extents, places)
    return balls


def _steps(joint: Joint, extents: dict[str, float]) -> list[Array]:
    """Return the ends of a joint's travel (3,) [m]; a joint that is free along several axes is followed instead."""
    if len(joint.prototype.translations) != 1:
        return [np.zeros(3)]
    return [end * joint.axis for end in travel(joint, extents[joint.child])]


def _floats(joint: Joint) -> bool:
    return len(joint.prototype.translations) > 1 and joint.parent == WORLD


def _hinge(mech: Mechanism) -> Array | None:
    turning = [joint for joint in mech.tree_joints if joint.prototype.rotations]
    if not turning or any(len(joint.prototype.rotations) > 1 for joint in turning):
        return None
    axis: Array = turning[0].axis
    shared = all(abs(float(joint.axis @ axis)) > 0.999 for joint in turning)
    return axis if shared else None
